"""The pair 4(5) of Fehlberg, advanced by its solution of order 5.

E. Fehlberg, Low-order classical Runge–Kutta formulas with stepsize control, NASA TR R-315 (1969), table III.

Dense output: the six stages and the slope at the end of the step satisfy the eight conditions of order 4 at every θ
for a one-parameter set of weights; with b₆(θ) = (2/55)(3θ² - 2θ³) + α θ²(1 - θ)² the interpolant has a continuous
derivative, and α = -7/4 lies next to the least mean error of order 5. It costs no evaluation.
"""

from svyaz.integrate.tableau import Controller, Tableau, printed

TABLEAU: Tableau = printed(
    name="rkf45",
    order=5,
    a="""
    0
    1/4
    3/32        9/32
    1932/2197  -7200/2197  7296/2197
    439/216    -8          3680/513   -845/4104
    -8/27       2         -3544/2565   1859/4104  -11/40
    """,
    b="16/135 0 6656/12825 28561/56430 -9/50 2/55",
    c="0 1/4 3/8 12/13 1 1/2",
    error=("1/360 0 -128/4275 -2197/75240 1/50 2/55 0",),
    dense="""
    1  -7201/2880        10691/4320      -493/576
    0   0                0                0
    0   21136/4275      -100192/12825     2896/855
    0  -2106923/601920   8148673/902880  -54925/10944
    0   479/400         -623/200          139/80
    0  -361/220          377/110         -7/4
    0   3/2             -4                5/2
    """,
    controller=Controller(exponent=0.2 - 0.75 * 0.04, memory=0.04, smallest=0.2, largest=10.0),
)
