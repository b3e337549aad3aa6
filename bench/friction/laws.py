"""Friction laws of the textbooks, each as the text of a model and as a formula in Python.

The force on a block is -σ·size + rest, where σ is the sign of its slip w; a law may have further states z and surfaces of its
own. The formulas are told the sides σ and never take a sign themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from math import asinh, atan, exp, log, sin
from random import Random

from bench.friction.reference import Array, Plane

Numbers = Mapping[str, float]
Formula = Callable[[Numbers, float, float, Array, Array], float]
"""(parameters, x, slip w, further states z, sides σ) → a number."""


def nothing(p: Numbers, x: float, w: float, z: Array, s: Array) -> float:
    return 0.0


@dataclass(frozen=True)
class Law:
    """``texts`` are of size and rest with {w} for the slip; ``sides`` are surfaces beside w = 0, in [x, w, z…].

    ``slips``: does the force jump where w = 0, so that the first side is that of the slip?
    """

    parameters: Mapping[str, tuple[float, float]]
    size: str = "0"
    rest: str = "0"
    size_of: Formula = nothing
    rest_of: Formula = nothing
    states: Mapping[str, str] = field(default_factory=dict)
    rates_of: tuple[Formula, ...] = ()
    begin: float = 0.0
    planes: Callable[[Numbers], list[Plane]] = lambda p: []
    sign: str = "sign({w})"
    static: str | None = None
    slips: bool = True

    def drawn(self, random: Random) -> dict[str, float]:
        """Values of the parameters, to a few digits, evenly by order of magnitude."""
        return {
            name: float(f"{exp(random.uniform(log(low), log(high))):.3g}")
            for name, (low, high) in self.parameters.items()
        }

    @property
    def text(self) -> str:
        """The whole force."""
        return " + ".join([*([f"(-({self.size})*{self.sign})"] if self.slips else []), f"({self.rest})"])


DRY = {"Fc": (0.2, 0.6), "Fs": (0.6, 1.2)}
SCALE = {"vs": (0.002, 0.1)}
VISCOUS: dict[str, tuple[float, float]] = {"b": (0.05, 0.3)}


def stribeck(exponent: float) -> Law:
    """Stribeck's law with exp(-|w/vs|^n)."""
    return Law(
        DRY | SCALE | VISCOUS,
        f"Fc + (Fs - Fc)*exp(-(abs({{w}})/vs)^{exponent:g})",
        "-b*{w}",
        lambda p, x, w, z, s: p["Fc"] + (p["Fs"] - p["Fc"]) * exp(-((abs(w) / p["vs"]) ** exponent)),
        lambda p, x, w, z, s: -p["b"] * w,
    )


def power_drag(exponent: float) -> Law:
    """Coulomb's friction and a drag c |w|^n."""
    return Law(
        {"Fc": (0.2, 0.6), "c": (0.1, 0.8)},
        f"Fc + c*abs({{w}})^{exponent:g}",
        size_of=lambda p, x, w, z, s: p["Fc"] + p["c"] * abs(w) ** exponent,
    )


def _lugre_g(p: Numbers, w: float) -> float:
    return p["Fc"] + (p["Fs"] - p["Fc"]) * exp(-((w / p["vs"]) ** 2))


def _lugre_rate(p: Numbers, x: float, w: float, z: Array, s: Array) -> float:
    return w - p["k0"] * abs(w) / _lugre_g(p, w) * float(z[0])


def _fiala(p: Numbers, x: float, w: float, z: Array, s: Array) -> float:
    part = min(p["B"] * abs(w) / 3, 1.0)
    return p["Fc"] + p["D"] * (3 * part - 3 * part**2 + part**3)


def _karnopp(p: Numbers, x: float, w: float, z: Array, s: Array) -> float:
    inside = s[1] < 0.0 < s[2]
    return p["Fs"] / p["dv"] * w if inside else p["Fc"] * s[0]


def _between(x: float, low: float, high: float) -> float:
    return max(low, min(x, high))


LUGRE_TEXT = "({w} - k0*abs({w})/(Fc + (Fs - Fc)*exp(-({w}/vs)^2))*z)"
WALL = {"gap": (0.05, 0.3), "K": (5.0, 40.0)}

LAWS: dict[str, Law] = {
    "Stribeck 1/2": stribeck(0.5),
    "Stribeck 1": stribeck(1.0),
    "Stribeck 2": stribeck(2.0),
    "Stribeck, Lorentz": Law(
        DRY | SCALE,
        "Fc + (Fs - Fc)/(1 + ({w}/vs)^2)",
        size_of=lambda p, x, w, z, s: p["Fc"] + (p["Fs"] - p["Fc"]) / (1 + (w / p["vs"]) ** 2),
    ),
    "Tustin": Law(
        DRY | SCALE | VISCOUS,
        "Fc + (Fs - Fc)*exp(-abs({w})/vs) + b*abs({w})",
        size_of=lambda p, x, w, z, s: p["Fc"] + (p["Fs"] - p["Fc"]) * exp(-abs(w) / p["vs"]) + p["b"] * abs(w),
        sign="{w}/abs({w})",
    ),
    "LuGre": Law(
        DRY | {"vs": (0.05, 0.3), "k0": (20.0, 100.0), "k1": (0.2, 1.0)} | VISCOUS,
        rest=f"-k0*z - k1*{LUGRE_TEXT} - b*{{w}}",
        rest_of=lambda p, x, w, z, s: -p["k0"] * float(z[0]) - p["k1"] * _lugre_rate(p, x, w, z, s) - p["b"] * w,
        states={"z": LUGRE_TEXT},
        rates_of=(_lugre_rate,),
        slips=False,
    ),
    "Dahl": Law(
        {"Fc": (0.2, 0.6), "k0": (10.0, 60.0)},
        rest="-k0*z",
        rest_of=lambda p, x, w, z, s: -p["k0"] * float(z[0]),
        states={"z": "{w}*(1 - k0*z/Fc*sign({w}))"},
        rates_of=(lambda p, x, w, z, s: w - abs(w) * p["k0"] * float(z[0]) / p["Fc"],),
        slips=False,
    ),
    "Coulomb and viscous": Law(
        {"Fc": (0.2, 0.8)} | VISCOUS,
        "Fc",
        "-b*{w}",
        lambda p, x, w, z, s: p["Fc"],
        lambda p, x, w, z, s: -p["b"] * w,
    ),
    "Coulomb and |w|^3/2": power_drag(1.5),
    "Coulomb and w^2": power_drag(2.0),
    "Coulomb and |w|^1/2": power_drag(0.5),
    "Coulomb, uneven": Law(
        {"Fc": (0.2, 0.6), "d": (0.1, 0.6)} | VISCOUS,
        "Fc*exp(d*sign({w}))",
        "-b*{w}",
        lambda p, x, w, z, s: p["Fc"] * exp(p["d"] * float(s[0])),
        lambda p, x, w, z, s: -p["b"] * w,
    ),
    "rate and state": Law(
        {"mu": (0.3, 0.6), "a": (0.01, 0.1), "c": (0.02, 0.1), "v0": (0.001, 0.1), "L": (0.01, 0.2)},
        "mu + a*log(1 + abs({w})/v0) + c*log(1 + theta*v0/L)",
        size_of=lambda p, x, w, z, s: (
            p["mu"] + p["a"] * log(1 + abs(w) / p["v0"]) + p["c"] * log(1 + float(z[0]) * p["v0"] / p["L"])
        ),
        states={"theta": "1 - abs({w})*theta/L"},
        rates_of=(lambda p, x, w, z, s: 1 - abs(w) * float(z[0]) / p["L"],),
        begin=0.5,
    ),
    "rate and state, regular": Law(
        {"mu": (0.3, 0.6), "a": (0.03, 0.1), "v0": (0.01, 0.1)},
        rest="-a*log({w}/(2*v0)*exp(mu/a/4) + sqrt(({w}/(2*v0)*exp(mu/a/4))^2 + 1))",
        rest_of=lambda p, x, w, z, s: -p["a"] * asinh(w / (2 * p["v0"]) * exp(p["mu"] / p["a"] / 4)),
        slips=False,
    ),
    "Hunt and Crossley": Law(
        {"Fc": (0.1, 0.4), "d": (0.1, 0.5)} | WALL,
        "Fc",
        "-max(x - gap, 0)^1.5*K*(1 + d*{w}) + max(-x - gap, 0)^1.5*K*(1 - d*{w})",
        lambda p, x, w, z, s: p["Fc"],
        lambda p, x, w, z, s: (
            -(max(x - p["gap"], 0.0) ** 1.5) * p["K"] * (1 + p["d"] * w)
            + max(-x - p["gap"], 0.0) ** 1.5 * p["K"] * (1 - p["d"] * w)
        ),
    ),
    "magic formula": Law(
        {"Fc": (0.05, 0.3), "D": (0.3, 1.0), "B": (1.0, 10.0), "C": (1.2, 1.9), "E": (0.1, 0.9)},
        "Fc + D*sin(C*atan(B*abs({w}) - E*(B*abs({w}) - atan(B*abs({w})))))",
        size_of=lambda p, x, w, z, s: (
            p["Fc"] + p["D"] * sin(p["C"] * atan(p["B"] * abs(w) - p["E"] * (p["B"] * abs(w) - atan(p["B"] * abs(w)))))
        ),
    ),
    "tyre, Fiala": Law(
        {"Fc": (0.05, 0.3), "D": (0.3, 1.0), "B": (1.0, 10.0)},
        "Fc + D*(3*min(B*abs({w})/3, 1) - 3*min(B*abs({w})/3, 1)^2 + min(B*abs({w})/3, 1)^3)",
        size_of=_fiala,
    ),
    "dead zone": Law(
        {"Fc": (0.1, 0.4)} | WALL,
        "Fc",
        "-K*(x - max(min(x, gap), -gap))",
        lambda p, x, w, z, s: p["Fc"],
        lambda p, x, w, z, s: -p["K"] * (x - _between(x, -p["gap"], p["gap"])),
    ),
    "backlash": Law(
        {"Fc": (0.1, 0.4)} | WALL,
        "Fc",
        "-K*max(abs(x) - gap, 0)*sign(x)",
        lambda p, x, w, z, s: p["Fc"],
        lambda p, x, w, z, s: -p["K"] * max(abs(x) - p["gap"], 0.0) * (1.0 if x > 0.0 else -1.0),
    ),
    "saturation": Law(
        {"Fc": (0.1, 0.4), "F": (0.2, 0.8), "K": (2.0, 10.0), "d": (0.1, 1.0)},
        "Fc",
        "-max(min(K*x + d*{w}, F), -F)",
        lambda p, x, w, z, s: p["Fc"],
        lambda p, x, w, z, s: -_between(p["K"] * x + p["d"] * w, -p["F"], p["F"]),
    ),
    "relay": Law(
        {"F": (0.3, 1.5), "c": (0.1, 0.6)},
        rest="-F*sign(x + c*{w})",
        rest_of=lambda p, x, w, z, s: -p["F"] * float(s[0]),
        planes=lambda p: [Plane((1.0, p["c"]))],
        slips=False,
    ),
    "relay with hysteresis": Law(
        {"F": (0.3, 1.5), "h": (0.02, 0.1), "tau": (0.02, 0.1)},
        rest="-F*z",
        rest_of=lambda p, x, w, z, s: -p["F"] * float(z[0]),
        states={"z": "(sign(x + h*z) - z)/tau"},
        rates_of=(lambda p, x, w, z, s: (float(s[0]) - float(z[0])) / p["tau"],),
        begin=0.3,
        planes=lambda p: [Plane((1.0, 0.0, p["h"]))],
        slips=False,
    ),
    "Karnopp": Law(
        {"Fc": (0.2, 0.4), "Fs": (0.5, 0.9), "dv": (0.02, 0.1)},
        "(1 + sign(abs({w}) - dv))/2*Fc",
        "-(1 - sign(abs({w}) - dv))/2*Fs/dv*{w}",
        rest_of=lambda p, x, w, z, s: -_karnopp(p, x, w, z, s),
        planes=lambda p: [Plane((0.0, 1.0), p["dv"]), Plane((0.0, 1.0), -p["dv"])],
    ),
    "stiction": Law(
        {"Fc": (0.2, 0.5), "b": (0.05, 0.3)},
        "Fc",
        "-b*{w}",
        lambda p, x, w, z, s: p["Fc"],
        lambda p, x, w, z, s: -p["b"] * w,
        static="1.6*Fc",
    ),
}
