"""Perturbation equations: from a disturbed state every way of stabilising gives exactly the decay it promises."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.linalg import expm

from svyaz import System, gallery, loads
from svyaz.expr import ModelError
from svyaz.motion import simulate
from svyaz.stabilise import stabilisation
from svyaz.stabilise.perturbations import perturbation, rescale

ACCURATE = {"method": "dop853", "rtol": 1e-12}


def gallery_model(name: str, **settings: object) -> System:
    text = gallery.find(name)
    assert text is not None
    return loads(text, name).with_settings(settings)


def mixed() -> System:
    """Two constraints on positions and two on velocities, nonlinear, one moving with time; started off all four."""
    return System(
        name="mixed",
        coordinates=["a", "b", "c", "d", "e"],
        kinetic="(a'^2 + 2*b'^2 + c'^2 + 3*d'^2 + e'^2)/2 + a'*c'*cos(b)/4",
        potential="a^2 + b*c + 2*e",
        constraint=[
            {"name": "circle", "equation": "a^2 + b^2 = 1 + t/10"},
            {"name": "wave", "equation": "c = sin(d) + a/5"},
            {"name": "blade", "equation": "d'*cos(e) = b'*sin(e)"},
            {"name": "belt", "equation": "e' = c'*b + a/3"},
        ],
        initial={"a": 1.02, "b": 0.1, "c": 0.2, "d": 0.1, "e": 0.2, "a'": 0.1, "b'": 0.2, "d'": 0.3, "e'": 0.1},
    )


def disturbed(stabilize: object, until: float = 2.0, system: System | None = None):
    """(times, y along the motion) with y = (h, ḣ, f), and the matrix of the linear perturbation equation."""
    system = system or mixed()
    law = perturbation(system.derive(), stabilisation(stabilize))
    motion = simulate(system, **ACCURATE, until=until, every=until / 40, stabilize=stabilize, force=True)
    assert motion.finished, motion.reason
    positions = list(motion.hidden)
    speeds = [name for name in motion.residuals if name not in motion.hidden]
    columns = [motion.residuals[n] for n in positions] + [motion.hidden[n] for n in positions]
    columns += [motion.residuals[n] for n in speeds]
    return motion.times, np.column_stack(columns), law.matrix


def follows(times: np.ndarray, y: np.ndarray, w: np.ndarray, within: float = 1e-9) -> None:
    expected = np.array([expm(w * t) @ y[0] for t in times])
    assert np.abs(y[0]).min() > 1e-3, "every deviation must be disturbed for the test to mean something"
    np.testing.assert_allclose(y, expected, atol=within, rtol=0)


FULL = {
    "A": [[-9.0, 2.0], [1.0, -16.0]],
    "B": [[-6.0, 0.5], [-1.0, -8.0]],
    "C": [[0.7, -0.3], [0.2, 1.1]],
    "D": [[0.4, -0.6], [0.9, 0.3]],
    "E": [[-3.0, 1.0], [-0.5, -2.0]],
}
EXTENDED = {
    "mass": [[2.0, 0.3, 0.1, 0.2], [0.3, 1.5, 0.4, -0.1], [0.1, 0.4, 1.0, 0.2], [0.2, -0.1, 0.2, 1.2]],
    "stiffness": [[20.0, 3.0], [3.0, 15.0]],
    "damping": [[12.0, 1.0, 0.5, 0.2], [1.0, 9.0, 0.3, 0.4], [0.5, 0.3, 5.0, 1.0], [0.2, 0.4, 1.0, 6.0]],
}


@pytest.mark.parametrize(
    "stabilize",
    ["off", 4, {"alpha": 3, "beta": 25, "kappa": 2}, FULL, {"A": -9, "B": -6, "E": -3}, {"E": FULL["E"]}, EXTENDED],
    ids=["off", "one number", "Baumgarte", "full blocks", "multiples of one", "velocities only", "extended Lagrangian"],
)
def test_deviations_follow_the_linear_equation_exactly(stabilize) -> None:
    follows(*disturbed(stabilize))


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("pendulum-xy", {"initial.x": 1.01, "initial.y": -0.05, "initial.x'": 0.1}),
        ("sleigh", {"initial.x'": 0.3, "initial.y'": -0.1}),
        ("rocket-path", {"initial.y": 0.02, "initial.y'": 0.1}),
        ("slider-crank", {"initial.xB": 2.6, "initial.xA": 0.72, "initial.yA'": 2.7}),
    ],
)
def test_published_models_decay_as_promised(name, settings) -> None:
    follows(*disturbed(6, 1.5, gallery_model(name, **settings)), within=1e-8)


def test_critical_damping_has_the_closed_form() -> None:
    times, y, _ = disturbed(5, 2.0, gallery_model("pendulum-xy", **{"initial.x": 1.01, "initial.x'": 0.2}))
    h0, g0 = y[0]
    np.testing.assert_allclose(y[:, 0], (h0 + (g0 + 5 * h0) * times) * np.exp(-5 * times), atol=1e-10)


def test_baumgarte_is_an_extended_lagrangian() -> None:
    equations = gallery_model("four-bar").derive()
    plain = perturbation(equations, stabilisation({"alpha": 7, "beta": 30}))
    extended = perturbation(equations, stabilisation({"mass": 1, "stiffness": 30, "damping": 7}))
    np.testing.assert_allclose(plain.matrix, extended.matrix)


def test_positive_definite_matrices_are_stable_by_construction() -> None:
    rng = np.random.default_rng(3)
    equations = mixed().derive()
    for _ in range(40):
        parts = {}
        for key, size in (("mass", 4), ("stiffness", 2), ("damping", 4)):
            a = rng.normal(size=(size, size))
            parts[key] = (a @ a.T + 0.1 * np.eye(size)).tolist()
        assert np.linalg.eigvals(perturbation(equations, stabilisation(parts)).matrix).real.max() < 0


def test_energy_of_the_extended_lagrangian_falls_by_its_dissipation() -> None:
    """V = ½ ṽᵀÃṽ + ½ q̌ᵀȞq̌ has V̇ = -ṽᵀBṽ."""
    _, y, w = disturbed(EXTENDED)
    mass, stiffness, damping = (np.array(EXTENDED[k]) for k in ("mass", "stiffness", "damping"))
    h, v = y[:, :2], y[:, 2:]
    energy = 0.5 * np.einsum("ki,ij,kj->k", v, mass, v) + 0.5 * np.einsum("ki,ij,kj->k", h, stiffness, h)
    power = -np.einsum("ki,ij,kj->k", v, damping, v)
    slope = np.einsum("ki,ij,kj->k", v, mass, (y @ w.T)[:, 2:]) + np.einsum("ki,ij,kj->k", h, stiffness, v[:, :2])
    np.testing.assert_allclose(slope, power, atol=1e-9)
    assert np.all(np.diff(energy) < 0)


def test_every_root_is_multiplied_when_the_time_runs_faster() -> None:
    law = perturbation(mixed().derive(), stabilisation(FULL))
    roots, faster = (np.sort_complex(np.linalg.eigvals(m)) for m in (law.matrix, rescale(law, 2.5).matrix))
    np.testing.assert_allclose(faster, 2.5 * roots, rtol=1e-9)


# laws of the user


def one_law(law: object, system: System, until: float = 2.0):
    return simulate(system, **ACCURATE, until=until, every=until / 40, stabilize={"law": law})


def test_a_nonlinear_law_for_a_velocity_constraint() -> None:
    """ẏ = -2y - 40y³ from y(0) = 0.3: y = y₀ e^{-2t} / √(1 + 20 y₀² (1 - e^{-4t}))."""
    y0 = 0.3
    system = gallery_model("sleigh", **{"initial.x'": f"-{y0}*sin(pi/3)", "initial.y'": f"{y0}*cos(pi/3)"})
    motion = one_law("-2*deviation - 40*deviation^3", system)
    t = motion.times
    exact = y0 * np.exp(-2 * t) / np.sqrt(1 + 20 * y0**2 * (1 - np.exp(-4 * t)))
    np.testing.assert_allclose(motion.residuals["blade"], exact, atol=1e-9)


def test_a_nonlinear_law_for_a_position_constraint() -> None:
    system = gallery_model("slider-crank", **{"initial.xB": 2.7})
    motion = one_law({"crank": "-9*y - 6*y'", "rod": "-9*y - 6*y' - 5*y^3 - y'^3"}, system)
    for name, cubic in (("crank", 0.0), ("rod", 1.0)):
        start = [motion.residuals[name][0], motion.hidden[name][0]]
        exact = solve_ivp(
            lambda t, y, c=cubic: [y[1], -9 * y[0] - 6 * y[1] - c * (5 * y[0] ** 3 + y[1] ** 3)],
            (0, 2),
            start,
            method="DOP853",
            rtol=1e-12,
            atol=1e-13,
            t_eval=motion.times,
        )
        np.testing.assert_allclose(motion.residuals[name], exact.y[0], atol=1e-8)


@pytest.mark.parametrize("law", ["-2*deviation + 0.1", "cos(deviation)", "-deviation + t"])
def test_a_law_that_does_not_vanish_on_the_constraint_is_refused(law) -> None:
    with pytest.raises(ModelError, match="law for 'blade' must vanish"):
        one_law(law, gallery_model("sleigh"))


@pytest.mark.parametrize("law", ["deviation", "-deviation^3", "0*deviation"])
def test_a_law_with_an_unstable_linear_part_is_refused(law) -> None:
    motion = one_law(law, gallery_model("sleigh"))
    assert motion.status == "infeasible"
    assert "not asymptotically stable" in motion.reason
    assert len(motion.times) == 1


def test_a_law_whose_linear_part_changes_follows_it() -> None:
    """f' = -(2 + sin t) f: f = f0 exp(-2t - 1 + cos t)."""
    motion = one_law("-(2 + sin(t))*deviation", gallery_model("sleigh", **{"initial.x'": 0.3}))
    f, t = motion.residuals["blade"], motion.times
    np.testing.assert_allclose(f, f[0] * np.exp(-2 * t - 1 + np.cos(t)), atol=1e-9)


def test_a_law_must_speak_of_every_constraint_and_of_no_other() -> None:
    with pytest.raises(ModelError, match="says nothing about the constraint 'rod'"):
        one_law({"crank": "-9*y - 6*y'"}, gallery_model("slider-crank"))
    with pytest.raises(ModelError, match="no constraint 'crunk'"):
        one_law({"crunk": "-9*y - 6*y'"}, gallery_model("slider-crank"))


def test_a_law_may_use_parameters() -> None:
    system = gallery_model("sleigh", **{"initial.x'": 0.3})
    motion = one_law("-g*deviation", system, 1.0)
    f = motion.residuals["blade"]
    np.testing.assert_allclose(f, f[0] * np.exp(-9.8 * motion.times), atol=1e-9)


# gains that do not fit


@pytest.mark.parametrize(
    ("stabilize", "message"),
    [
        ({"A": [[-1, 0, 0], [0, -1, 0], [0, 0, -1]]}, "block A must be 2 × 2 .* it is 3 × 3"),
        ({"B": [[-1, 0]]}, "block B must be 2 × 2"),
        ({"C": [[1], [1]]}, "block C must be 2 × 2"),
        ({"E": [[-1, 0], [0]]}, "block E must be 2 × 2"),
        ({"mass": [[1, 0], [0, 1]], "damping": 1}, "'mass' must be 4 × 4"),
        ({"stiffness": [[1, 2], [0, 1]]}, "'stiffness' of the extended Lagrangian must be symmetric"),
        ({"mass": -1, "damping": 1}, "'mass' of the extended Lagrangian must be positive definite"),
        ({"alpha": "much"}, "gain 'alpha' must be a number"),
        ({"alpha": 1, "A": -1}, "do not go together"),
        ({"alfa": 1}, "no entry 'alfa'"),
        ({"A": "x"}, "unknown name 'x' in the block A"),
        ({"A": {"x": 1}}, "must be a number or a list of rows"),
        ({"A": [["a", 0]]}, "block A must be 2 × 2"),
        ({"mass": "1 + a'"}, "'mass' may depend on positions and time only, not on a'"),
        ({"mass": "a - 5", "damping": 1}, "'mass' of the extended Lagrangian must be positive definite"),
        ({"stiffness": [["1", "a"], ["b", "1"]]}, "'stiffness' of the extended Lagrangian must be symmetric"),
        ({"A": "1/deviation_circle"}, "law for 'circle' must vanish"),
        ({"law": {"circle": "nu*deviation"}}, "unknown name 'nu'"),
        ([1, 2], "cannot be"),
    ],
)
def test_gains_that_do_not_fit_are_refused_in_words(stabilize, message) -> None:
    with pytest.raises(ModelError, match=message):
        perturbation(mixed().derive(), stabilisation(stabilize))


def test_a_coupling_block_cannot_be_one_number() -> None:
    equations = gallery_model("ball-on-plane").derive()
    with pytest.raises(ModelError, match="couples 1 rows to 2"):
        perturbation(equations, stabilisation({"C": 1}))
