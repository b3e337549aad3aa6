"""Two stages, order 2: Heun's method; `rk2:0.75` gives the second slope the weight 0.75.

k₁ = f(t, y), k₂ = f(t + ℓh, y + ℓh k₁), y₁ = y₀ + h((1 - w) k₁ + w k₂), ℓ = 1/(2w), w ≠ 0.
w = 1/2 is Heun's method, w = 1 the midpoint rule, w = 3/4 the method of Ralston.

W. Kutta, Beitrag zur näherungsweisen Integration totaler Differentialgleichungen, Z. Math. Phys. 46 (1901) 435;
A. Ralston, Runge–Kutta methods with minimum error bounds, Math. Comp. 16 (1962) 431.
"""

from fractions import Fraction

from svyaz.integrate.tableau import Family, Tableau, printed


def _with_weight(weight: Fraction) -> Tableau:
    """The member of the family whose second slope has the given weight."""
    if weight == 0:
        raise ValueError("rk2 needs a second slope: its weight k2 must not be zero (its node is 1/(2 k2))")
    node = 1 / (2 * weight)
    name = "rk2" if weight == Fraction(1, 2) else f"rk2:{float(weight):g}"
    return printed(name=name, order=2, a=f"0\n{node}", b=f"{1 - weight} {weight}", c=f"0 {node}")


def _member(choice: str) -> Tableau:
    try:
        weight = Fraction(choice)
    except (ValueError, ZeroDivisionError):
        raise ValueError(f"'rk2:{choice}': the weight of the second slope must be a number, as in rk2:0.75") from None
    return _with_weight(weight)


TABLEAU: Tableau = _with_weight(Fraction(1, 2))
FAMILY: Family = Family(_member, "rk2:0.75 sets the weight of the second slope")
