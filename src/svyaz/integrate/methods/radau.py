"""Radau IIA of three stages: implicit, stiffly accurate, S(∞) = 0, for stiff problems.

E. Hairer, G. Wanner, Solving Ordinary Differential Equations II, 2nd ed. (1996), IV.5 (table 5.6) and IV.8.
The stages are the collocation points c = (4 ∓ √6)/10, 1; the collocation polynomial is the dense output. The estimate
of the error, of order 3, and the transformation of the Newton iteration are in `svyaz.integrate.newton` and `radau`.
"""

from math import sqrt

import numpy as np

from svyaz.integrate.tableau import Controller, Tableau

R6 = sqrt(6.0)

TABLEAU: Tableau = Tableau(
    name="radau",
    order=5,
    a=np.array(
        [
            [(88 - 7 * R6) / 360, (296 - 169 * R6) / 1800, (-2 + 3 * R6) / 225],
            [(296 + 169 * R6) / 1800, (88 + 7 * R6) / 360, (-2 - 3 * R6) / 225],
            [(16 - R6) / 36, (16 + R6) / 36, 1 / 9],
        ]
    ),
    b=np.array([(16 - R6) / 36, (16 + R6) / 36, 1 / 9]),
    c=np.array([(4 - R6) / 10, (4 + R6) / 10, 1.0]),
    dense_order=3,
    controller=Controller(exponent=0.25, memory=0.0, smallest=0.2, largest=10.0),
    loops="svyaz.integrate.radau",
)
