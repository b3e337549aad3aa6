"""``ball-and-beam``, the laboratory stand GBB 1005, as the text of a model file for each of its variants.

Source: A. N. Ilyina, candidate dissertation, MAI, Moscow 2019, chapter 3. A ball rolls along a beam OA that turns about
O; a rod joins A to a wheel, which is turned by a torque or by a DC motor.
"""

from __future__ import annotations

from collections.abc import Mapping

from svyaz.gallery.collection import MadeModel

CHOICES: Mapping[str, tuple[str, ...]] = {
    "control": ("torque", "voltage"),
    "energy": ("dissertation", "exact"),
    "motor": ("printed-table", "numbers"),
    "equilibrium": ("zero", "nonzero"),
    "dependent": ("theta", "alpha"),
    "coordinate": ("OP", "OC"),
}
"""What can be chosen; the first is the default."""

ENERGIES = {
    "exact": "m/2*((r' - R*alpha')^2 + r^2*alpha'^2) + J/2*(alpha' - r'/R)^2 + J0/2*theta'^2",
    "dissertation": (
        "m/2*r'^2 + m/2*(r^2 + R^2)*(alpha' - R*r'/(r^2 + R^2))^2 + J/2*(alpha' - r'/R)^2 + J0/2*theta'^2"
    ),
}

ENERGY_NOTES = {
    "exact": "The kinetic energy is exact.",
    "dissertation": (
        "The kinetic energy is the printed one: it has a term m R^2 r'^2/(2(r^2 + R^2)) too many (about one percent)."
    ),
}

COORDINATES = {
    "OP": {
        "ball": "r",
        "place": "",
        "start": """r = "r0"
"r'" = 0.01""",
        "box": """r = ["R", "L - R"]""",
    },
    "OC": {
        "ball": "s",
        "place": """r = "sqrt(s^2 - R^2)"          # OP, from OC^2 = OP^2 + R^2
""",
        "start": """s = "sqrt(r0^2 + R^2)"
"s'" = "0.01*r0/sqrt(r0^2 + R^2)\"""",
        "box": """s = ["sqrt(2)*R", "sqrt((L - R)^2 + R^2)"]""",
    },
}
"""The coordinate of the ball: the distance r from O to the point of contact P, or s to the centre C (remark 3.2.1)."""

MOTORS = {"printed-table": (0.00767, 1, 0.00676), "numbers": (1, 0.00676, 0.00767)}
"""Ka, k2, k3: as the table prints them, and as they must have stood in the program that made the printed numbers."""

BEAM = """name = "ball and beam"
notes = \"\"\"A ball rolls on a beam, which a rod joins to a wheel of radius d: one equation for alpha and theta.
The ball rests only at alpha = 0, held by a constant torque; the wheel then stands at theta = 0 or at theta = 2 atan(l/d),
where linearising the rod beforehand gives a wrong model. {energy_notes}\"\"\"
coordinates = ["{ball}", "alpha", "theta"]
kinetic = "{kinetic}"
potential = "m*g*(r*sin(alpha) + R*cos(alpha))"

[definitions]
{place}xA = "L*cos(alpha)"
yA = "L*sin(alpha)"
xB = "L - d + d*cos(theta)"
yB = "-l + d*sin(theta)"

[parameters]
m = 0.064
R = 0.0254
L = 0.425
l = 0.12
d = 0.06
g = 9.81
J = "2/5*m*R^2"
J0 = 1.152e-4
b0 = 0.3
r0 = {r0}
theta0 = "{theta0}"
ratio = "{ratio}"          # dtheta/dalpha at the equilibrium
lever = "ratio/max(ratio^2, 1e-12)"          # its inverse; with d = l no torque holds the ball at the second position
reach = "sqrt(l^2 + (L - d)^2)"
alpha_max = "acos((L^2 - L*d - l*d)/(L*reach)) - acos((L - d)/reach)"          # radius and rod in one line
alpha_min = "acos(min((L^2 - L*d + l*d)/(L*reach), 1)) - acos((L - d)/reach)"
{motor_parameters}
[forces]
theta = "{force}"

[inputs]
{inputs}
[[constraint]]
name = "rod"
equation = "(xA - xB)^2 + (yA - yB)^2 = l^2"
dependent = "{dependent}"

{motor}[[draw]]
link = [["0", "0"], ["xA", "yA"]]
name = "beam"

[[draw]]
link = [["xA", "yA"], ["xB", "yB"]]
name = "rod"

[[draw]]
circle = {{ center = ["L - d", "-l"], radius = "d" }}
name = "wheel"

[[draw]]
link = [["L - d", "-l"], ["xB", "yB"]]
name = "radius of the wheel"

[[draw]]
circle = {{ center = ["r*cos(alpha) - R*sin(alpha)", "r*sin(alpha) + R*cos(alpha)"], radius = "R" }}
name = "ball"
trace = true

[initial]
{start}
theta = "theta0"
{current}
[box]
{box}
alpha = ["alpha_min", "alpha_max"]
theta = [-0.1, "pi"]

[limits]          # on the beam; at the dead points of the rod the wheel goes on
r = ["R", "L - R"]

[units]
{units}
[run]
form = "shulgin"
method = "radau"
rtol = 1e-9
until = 2

[source]
work = "Ilyina: candidate dissertation, MAI, Moscow 2019, chapter 3"
published = ["m", "R", "L", "l", "d", "g"{published}]
recovered = ["J0", "b0", "r0"{recovered}]
chosen = ["initial.{ball}'", "run.rtol", "run.until"]
notes = "J0, b0 and r0 are not printed; they reproduce the printed matrices to every digit."
"""

MOTOR = """[[motor]]
name = "drive"
current = "I"
voltage = "e"
inductance = "La"
resistance = "Ra"
back_emf = "Ka"
supply = "k2"
torque = "k3"
shaft = "theta'"
on = "theta"

"""


UNITS = {
    "kg": "m",
    "m": "{ball} R L l d r0 reach",
    "rad": "alpha theta theta0 alpha_max alpha_min",
    "m/s^2": "g",
    "kg*m^2": "J J0",
    "N*m*s": "b0",
    "1": "ratio lever",
}
TORQUE_UNITS = {"N*m": "nu"}
MOTOR_UNITS = {"H": "La", "Ohm": "Ra", "V*s": "Ka", "1": "k2", "N*m/A": "k3", "V": "e", "A": "I"}


def _units(voltage: bool, ball: str) -> str:
    """[units]: a line for each name."""
    tables = [UNITS, MOTOR_UNITS if voltage else TORQUE_UNITS]
    return "".join(
        f'{name} = "{unit}"\n'
        for table in tables
        for unit, names in table.items()
        for name in names.format(ball=ball).split()
    )


def ball_and_beam(choices: Mapping[str, str]) -> str:
    """The model file for the choices; what is not chosen is the default."""
    chosen = {what: choices.get(what, known[0]) for what, known in CHOICES.items()}
    voltage = chosen["control"] == "voltage"
    back_emf, supply, torque = MOTORS[chosen["motor"]]
    table = chosen["motor"] == "printed-table"
    zero = chosen["equilibrium"] == "zero"
    parameters = f"La = 0.0016\nRa = 2.6\nKa = {back_emf}\nk2 = {supply}\nk3 = {torque}\n"
    names = ', "Ka", "k2", "k3"'
    return BEAM.format(
        **COORDINATES[chosen["coordinate"]],
        energy_notes=ENERGY_NOTES[chosen["energy"]],
        kinetic=ENERGIES[chosen["energy"]],
        r0=0.2 if voltage else 0.25,
        theta0="0" if zero else "2*atan(l/d)",
        ratio="L/d" if zero else "-(L/d)*(l^2 - d^2)/(l^2 + d^2)",
        motor_parameters=parameters if voltage else "",
        force="-b0*theta'" if voltage else "nu - b0*theta'",
        inputs='e = "Ra*m*g*r0*lever/(k3*k2)"\n' if voltage else 'nu = "m*g*r0*lever"\n',
        motor=MOTOR if voltage else "",
        dependent=chosen["dependent"],
        units=_units(voltage, COORDINATES[chosen["coordinate"]]["ball"]),
        current='I = "m*g*r0*lever/k3"\n' if voltage else "",
        published=', "La", "Ra"' + (names if table else "") if voltage else "",
        recovered=names if voltage and not table else "",
    )


MODEL = MadeModel(ball_and_beam, CHOICES)
