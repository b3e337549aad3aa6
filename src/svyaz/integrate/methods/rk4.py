"""The classical Runge–Kutta method of order 4.

W. Kutta, Beitrag zur näherungsweisen Integration totaler Differentialgleichungen, Z. Math. Phys. 46 (1901) 435.
"""

from svyaz.integrate.tableau import Tableau, printed

TABLEAU: Tableau = printed(
    name="rk4",
    order=4,
    a="""
    0
    1/2
    0   1/2
    0   0   1
    """,
    b="1/6 1/3 1/3 1/6",
    c="0 1/2 1/2 1",
)
