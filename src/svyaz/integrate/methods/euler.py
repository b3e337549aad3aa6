"""Euler's method, y₁ = y₀ + h f(t₀, y₀), of order 1.

L. Euler, Institutionum calculi integralis, vol. 1 (1768), § 650.
"""

from svyaz.integrate.tableau import Tableau, printed

TABLEAU: Tableau = printed(name="euler", order=1, a="0", b="1", c="0")
