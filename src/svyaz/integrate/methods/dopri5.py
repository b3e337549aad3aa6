"""The pair 5(4) of Dormand and Prince with the continuous extension of order 4.

J. R. Dormand, P. J. Prince, A family of embedded Runge–Kutta formulae, J. Comp. Appl. Math. 6 (1980) 19;
the continuous extension: L. F. Shampine, Some practical Runge–Kutta formulas, Math. Comp. 46 (1986) 135, and
E. Hairer, S. P. Nørsett, G. Wanner, Solving Ordinary Differential Equations I, 2nd ed. (1993), II.6 (6.14)-(6.15).
"""

from svyaz.integrate.tableau import Controller, Tableau, printed

TABLEAU: Tableau = printed(
    name="dopri5",
    order=5,
    a="""
    0
    1/5
    3/40        9/40
    44/45      -56/15       32/9
    19372/6561 -25360/2187  64448/6561 -212/729
    9017/3168  -355/33      46732/5247  49/176  -5103/18656
    """,
    b="35/384 0 500/1113 125/192 -2187/6784 11/84",
    c="0 1/5 3/10 4/5 8/9 1",
    # b - b̂ over the six stages and the slope at the end of the step
    error=("71/57600 0 -71/16695 71/1920 -17253/339200 22/525 -1/40",),
    dense="""
    1  -8048581381/2820520608    8663915743/2820520608   -12715105075/11282082432
    0   0                        0                        0
    0   131558114200/32700410799 -68118460800/10900136933  87487479700/32700410799
    0  -1754552775/470086768     14199869525/1410260304  -10690763975/1880347072
    0   127303824393/49829197408 -318862633887/49829197408 701980252875/199316789632
    0  -282668133/205662961      2019193451/616988883     -1453857185/822651844
    0   40617522/29380423       -110615467/29380423       69997945/29380423
    """,
    controller=Controller(exponent=0.2 - 0.75 * 0.04, memory=0.04, smallest=0.2, largest=10.0),
)
