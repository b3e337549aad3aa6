"""Systems with verbs, from files, from the gallery, or stated in Python."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Sized
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Self, Unpack

from svyaz import control, forms, integrate, model, motion, stability, study, synthesis
from svyaz.expr import ModelError, Problem
from svyaz.gallery import find, is_path, not_found
from svyaz.library.bars import with_bar
from svyaz.library.dressing import dressed
from svyaz.library.equations import WorkingEquations, derive
from svyaz.library.motions import WorkingMotion
from svyaz.library.parts import PART_WORDS, Part, joined
from svyaz.library.sympy_words import as_words
from svyaz.shown import Shown

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from control import StateSpace
    from svyaz.arrays import Array
    from svyaz.control import LinearModel, LinearSpace, Method, Regulation, Weights
    from svyaz.expr import Expression
    from svyaz.forms import Inertia
    from svyaz.json_types import Json
    from svyaz.library.equations import WorkingEquations
    from svyaz.library.explorers import Explorer
    from svyaz.library.motions import WorkingMotion
    from svyaz.model import Choices, ModelWords, Places, Table, Tree
    from svyaz.motion import Check, Laws, Stabilize
    from svyaz.stability import Equilibria, SteadyBranches, SteadyMotions
    from svyaz.study import Sweep
    from svyaz.synthesis import Balanced, Helmholtz, Inverse

SECONDS = 60.0
"""So long equilibria are searched for, unless something else is asked for."""

MOST_NAMED = 8
"""So many coordinates are named where a system is shown in a line."""

STABILIZE = ("off", "auto", "projection")

Progress = Callable[[float], object]


def _choices() -> Choices:
    """The words of [run] that the rooms know."""
    return {
        "form": lambda: tuple(dict.fromkeys(name.partition(":")[0] for name in forms.form_names())),
        "method": integrate.method_names,
        "stabilize": lambda: STABILIZE,
    }


class WorkingSystem(Shown, model.System):
    """A system as it was stated, and all that can be asked of it.

    From Python it is made with the words of the model files; tables are dictionaries, arrays of tables are lists:

    >>> import svyaz
    >>> svyaz.System(name="pendulum", coordinates=["u"], kinetic="m*l^2/2*u'^2", potential="-m*g*l*cos(u)",
    ...              parameters={"m": 1, "l": 1, "g": 9.81}, initial={"u": "30*deg"})
    <System 'pendulum': u; 3 parameters>

    Expressions may also be those of SymPy or SymEngine, in which functions of the time are the coordinates. Tables of arrays
    may also be objects, :class:`svyaz.Body`, :class:`svyaz.Constraint` …, given first.
    """

    __qualname__ = "System"

    def __init__(self, *parts: Part, **words: Unpack[ModelWords]) -> None:
        plain = {key: as_words(value) for key, value in joined(words, parts).items()}
        super().__init__(**vars(model.system_of(plain, choices=_choices())))

    @classmethod
    def of(cls, stated: model.System) -> Self:
        """The same system with verbs."""
        return dressed(cls, stated)

    @classmethod
    def from_words(cls, words: Table, file: str | None = None, places: Places | None = None) -> Self:
        """A system from a table of words, with the places where they stand in a file."""
        return cls.of(model.system_of(words, file, places, _choices()))

    def with_settings(self, settings: Table) -> Self:
        """The same system with some values changed: a parameter, or ``initial.x``, ``run.step`` by a dotted name."""
        return self.of(model.with_settings(self, settings, _choices()))

    def with_(self, **values: object) -> Self:
        """The same system with other values, checked like a file: parameters and inputs by name, tables by theirs.

        >>> import svyaz
        >>> longer = svyaz.load("pendulum:1").with_(L1=2, initial={"u1": 0.1}, run={"until": 5})
        >>> longer.parameters["L1"], longer.initial["u1"]
        (2.0, 0.1)
        """
        settings: dict[str, object] = {}
        for name, value in values.items():
            if isinstance(value, Mapping) and name in model.DOTTED:
                settings |= {f"{name}.{key}": as_words(entry) for key, entry in value.items()}
            else:
                settings[name] = as_words(value)
        return self.with_settings(settings)

    def with_parts(self, *parts: Part, **words: Unpack[ModelWords]) -> Self:
        """The same system with further bodies, constraints …, checked like a file.

        Of further ``words`` the tables (parameters, initial values …) are added to those of the system, others take the place
        of its own.

        >>> import svyaz
        >>> pendulum = svyaz.load("pendulum:2")
        >>> pendulum.with_parts(svyaz.Constraint("u2 = k*u1", name="gear"), parameters={"k": 2}).constraints[0].text
        'u2 = k*u1'
        """
        own: Table = self.words
        given = {key: as_words(value) for key, value in joined(words, parts).items()}
        for key, value in given.items():
            before = own.get(key)
            if isinstance(value, Mapping) and isinstance(before, Mapping):
                given[key] = {**before, **value}
            elif isinstance(value, list) and isinstance(before, list | tuple) and key in PART_WORDS:
                given[key] = [*before, *value]
        return self.from_words({**own, **given}, self.file)

    @property
    def tree(self) -> Tree | None:
        """The tree of its bodies, if it is one."""
        return self.law.tree if isinstance(self.law, model.Bodies) else None

    @property
    def lagrangian(self) -> Expression:
        """L = T - P of a mechanical system."""
        return forms.lagrangian(self)

    @property
    def kinetic(self) -> Expression:
        """T of a mechanical system; of a Lagrangian, the part that moves."""
        return forms.kinetic_and_potential(self)[0]

    @property
    def potential(self) -> Expression:
        """P of a mechanical system; of a Lagrangian, minus the part at rest."""
        return forms.kinetic_and_potential(self)[1]

    def derive(self, form: str | None = None, *, stabilize: Stabilize = "off") -> WorkingEquations:
        """Its equations of motion in the form asked for, else in that of the model or in the natural one.

        With ``stabilize`` the constraints contain their stabilising terms, and the system of the equations has the gains
        among its parameters; see :func:`svyaz.motion.with_gains`.
        """
        return derive(self, form, stabilize=stabilize)

    def export(
        self,
        language: str,
        *,
        form: str | None = None,
        stabilize: Stabilize | None = "off",
        complete: bool = False,
        reactions: bool = False,
        jacobian: bool = False,
        method: str | None = None,
        step: float | None = None,
        until: float | None = None,
        every: float | None = None,
    ) -> str:
        """Its equations as code, with stabilising terms and held integrals where that is asked for.

        A ``complete`` program makes a run with a fixed step and writes it; what is left out of ``stabilize`` (None), method,
        step, until and every is taken from the model's [run]. See :func:`svyaz.motion.program_text`.
        """
        found = motion.with_gains(self, form, stabilize=stabilize, method=method, step=step, until=until)
        return motion.program_text(
            found,
            language,
            complete=complete,
            reactions=reactions,
            jacobian=jacobian,
            method=method,
            step=step,
            until=until,
            every=every,
        )

    def check(
        self,
        *,
        form: str | None = None,
        method: str | None = None,
        step: float | None = None,
        rtol: float | None = None,
        atol: float | None = None,
        until: float | None = None,
        every: float | None = None,
        stabilize: str | float | Mapping[str, Json] | None = None,
        tolerance: float | Mapping[str, float] | None = None,
        hold: str | None = None,
        charts: str | None = None,
    ) -> Check:
        """What its constraints are, whether they fit together and the start, and a verdict on the gains."""
        return motion.check(
            self,
            form=form,
            method=method,
            step=step,
            rtol=rtol,
            atol=atol,
            until=until,
            every=every,
            stabilize=stabilize,
            tolerance=tolerance,
            hold=hold,
            charts=charts,
        )

    @with_bar("time")
    def simulate(
        self,
        *,
        form: str | None = None,
        method: str | None = None,
        step: float | None = None,
        rtol: float | None = None,
        atol: float | Mapping[str, float] | None = None,
        until: float | None = None,
        every: float | None = None,
        stabilize: str | float | Mapping[str, Json] | None = None,
        tolerance: float | Mapping[str, float] | None = None,
        hold: str | None = None,
        charts: str | None = None,
        project: bool = False,
        keep: str | Sequence[str] = (),
        initial_error: float = 0.0,
        halve: bool = False,
        force: bool = False,
        beyond: bool = False,
        start: Mapping[str, float] | None = None,
        inputs: Laws | None = None,
        rows: Array | None = None,
        max_steps: int | None = None,
        progress: Progress | None = None,
    ) -> WorkingMotion:
        """Its motion from the initial state, or from ``start``; what is left out is taken from the model's [run].

        ``inputs`` are laws u(t, x), an expression or a function each. ``project`` first moves the initial state onto the
        constraints; the states called ``keep`` ("u',v" or a list) stay as they are. ``initial_error`` is what the bound for
        Euler's method begins with. ``halve`` estimates the error of the trajectory by a second run with half the step,
        ``force`` runs in spite of an unstable verdict on the gains, ``beyond`` runs on where a limit is passed and tells it.
        ``rows`` are the times at which the state is wanted. ``progress`` is called with the time reached;
        without it a notebook shows a bar where the run takes long.
        """
        found = motion.simulate(
            self,
            form=form,
            method=method,
            step=step,
            rtol=rtol,
            atol=atol,
            until=until,
            every=every,
            stabilize=stabilize,
            tolerance=tolerance,
            hold=hold,
            charts=charts,
            project=project,
            keep=keep,
            initial_error=initial_error,
            halve=halve,
            force=force,
            beyond=beyond,
            start=start,
            inputs=inputs,
            rows=rows,
            max_steps=max_steps,
            progress=progress,
        )
        from svyaz.library.motions import WorkingMotion

        return dressed(WorkingMotion, found)

    @with_bar("part of the box searched")
    def equilibria(
        self,
        fix: Mapping[str, float] | None = None,
        box: Mapping[str, tuple[float, float]] | None = None,
        *,
        dependent: Sequence[str] | None = None,
        seed: int = 0,
        seconds: float = SECONDS,
        progress: Progress | None = None,
    ) -> Equilibria:
        """All its equilibria in a box, with their stability; see :func:`svyaz.stability.equilibria`."""
        return stability.equilibria(self, fix, box, dependent=dependent, seed=seed, seconds=seconds, progress=progress)

    @with_bar("part of the box searched")
    def steady(
        self,
        fix: Mapping[str, float] | None = None,
        box: Mapping[str, tuple[float, float]] | None = None,
        *,
        dependent: Sequence[str] | None = None,
        seconds: float = SECONDS,
        progress: Progress | None = None,
    ) -> SteadyMotions:
        """Its steady motions, in which cyclic coordinates turn uniformly; see :func:`svyaz.stability.steady_motions`."""
        return stability.steady_motions(self, fix, box, dependent=dependent, seconds=seconds, progress=progress)

    def steady_branches(
        self,
        along: str,
        span: tuple[float, float],
        fix: Mapping[str, float] | None = None,
        box: Mapping[str, tuple[float, float]] | None = None,
        *,
        dependent: Sequence[str] | None = None,
        seconds: float = SECONDS,
    ) -> SteadyBranches:
        """Its steady motions followed along a quantity; see :func:`svyaz.stability.steady_branches`."""
        return stability.steady_branches(self, along, span, fix, box, dependent=dependent, seconds=seconds)

    def regulate(
        self,
        *,
        near: Mapping[str, float] | None = None,
        fix: Mapping[str, float] | None = None,
        box: Mapping[str, tuple[float, float]] | None = None,
        dependent: Sequence[str] | str | None = None,
        inputs: Sequence[str] | str | None = None,
        measure: Sequence[str] | str = (),
        weights: Weights | Mapping[str, object] | str | Path | None = None,
        method: Method | str = "schur",
        against_linearised: bool = False,
        seconds: float = SECONDS,
        progress: Progress | None = None,
        variables: str = "lagrange",
    ) -> Regulation:
        """A regulator (and an observer) about one of its equilibria; see :func:`svyaz.control.regulate`."""
        return control.regulate(
            self,
            near=near,
            fix=fix,
            box=box,
            dependent=dependent,
            inputs=inputs,
            measure=measure,
            weights=weights,
            method=method,
            against_linearised=against_linearised,
            seconds=seconds,
            progress=progress,
            variables=variables,
        )

    def linearise(
        self,
        at: Mapping[str, float] | None = None,
        *,
        outputs: Sequence[str] = (),
        form: str | None = None,
        t: float = 0.0,
    ) -> LinearModel:
        """A, B, C, D about a state, at rest or moving, with ``to_control``; see :func:`svyaz.control.linear_model`."""
        return control.linear_model(forms.derive(self, form), at, outputs=outputs, t=t)

    def to_control(
        self, at: Mapping[str, float] | None = None, *, outputs: Sequence[str] = (), form: str | None = None
    ) -> StateSpace:
        """The linear model about a state as a ``control.StateSpace`` with the names of states, inputs and outputs."""
        return self.linearise(at, outputs=outputs, form=form).to_control()

    def with_controller(
        self,
        controller: LinearSpace,
        *,
        measure: Sequence[str],
        inputs: Sequence[str] | None = None,
        about: Mapping[str, float] | None = None,
    ) -> Self:
        """The system closed by a linear controller designed elsewhere; see :func:`svyaz.control.with_controller`."""
        return self.of(control.with_controller(self, controller, measure=measure, inputs=inputs, about=about))

    def invert(self, *, method: str | None = None, step: float | None = None, until: float | None = None) -> Inverse:
        """A system of Lagrange and Rayleigh in which its velocity field attracts."""
        return synthesis.invert(self, method=method, step=step, until=until)

    def helmholtz(self) -> Helmholtz:
        """Are its equations those of Lagrange with a Rayleigh function? The conditions of Helmholtz, one by one."""
        return synthesis.helmholtz(self)

    @with_bar("motions")
    def sweep(
        self,
        vary: Mapping[str, ArrayLike],
        measure: Sequence[str] = (),
        *,
        workers: int | None = None,
        scheduler: str | None = None,
        progress: Callable[[int, int], object] | None = None,
        keep: str | Path | None = None,
        resume: bool = False,
        inputs: Laws | None = None,
        form: str | None = None,
        project: bool = False,
        kept: str | Sequence[str] = (),
        beyond: bool = False,
        method: str | None = None,
        step: float | None = None,
        rtol: float | None = None,
        atol: float | None = None,
        until: float | None = None,
        every: float | None = None,
        stabilize: str | float | Mapping[str, Json] | None = None,
        tolerance: float | Mapping[str, float] | None = None,
        hold: str | None = None,
        charts: str | None = None,
    ) -> Sweep:
        """Its motions for every member of the product of what is varied; see :func:`svyaz.study.sweep`."""
        return study.sweep(
            self,
            vary,
            measure,
            workers=workers,
            scheduler=scheduler,
            progress=progress,
            keep=keep,
            resume=resume,
            inputs=inputs,
            form=form,
            project=project,
            kept=kept,
            beyond=beyond,
            method=method,
            step=step,
            rtol=rtol,
            atol=atol,
            until=until,
            every=every,
            stabilize=stabilize,
            tolerance=tolerance,
            hold=hold,
            charts=charts,
        )

    def explore(
        self,
        vary: Mapping[str, tuple[float, float]] | Sequence[str] | None = None,
        show: str | Sequence[str] = "",
        **options: object,
    ) -> Explorer:
        """Sliders in a notebook: drag one, and the motion that follows is computed and drawn at once.

        ``vary`` names parameters, inputs and initial values (``initial.u``), with the ranges in which they are moved where it
        is a table; without it there are sliders over parameters, inputs and initial coordinates. ``show`` says what is drawn,
        as in :meth:`Motion.plot`; ``options`` are those of :meth:`simulate`. The ``system`` and ``motion`` of what comes back
        are those of where the sliders stand. Needs the extra ``notebook``.

        >>> import svyaz
        >>> found = svyaz.load("pendulum:2").explore({"L1": (0.5, 2), "initial.u1": (-3, 3)}, until=1)
        >>> found.move(L1=1.5)
        >>> found.system.parameters["L1"], found.motion.status.value
        (1.5, 'finished')
        """
        from svyaz.library.explorers import explorer

        return explorer(self, vary, show, options)

    def inertia(self, aim: str = "operations") -> Inertia:
        """The shortest program found for the inertia matrix of a tree; ``aim`` is ``operations`` or ``time``."""
        return forms.write_inertia(model.constant_tree(self, "this matrix"), tuple(self.parameters), aim)

    def balance(self) -> Balanced:
        """Under which conditions the inertia matrix of a tree is constant, and bodies that satisfy them."""
        return synthesis.balance_tree(self)

    def __repr__(self) -> str:
        moving = self.coordinates or self.states
        shown = ", ".join(moving[:MOST_NAMED]) + (f", … ({len(moving)})" if len(moving) > MOST_NAMED else "")
        told = [shown, _counted(self.parameters, "parameter")]
        told += [_counted(self.constraints, "constraint")] if self.constraints else []
        told += [f"inputs {', '.join(self.inputs)}"] if self.inputs else []
        return f"<System '{self.name}': {'; '.join(told)}>"


System = WorkingSystem
System.__name__ = "System"


def load(
    name: str | PathLike[str],
    *,
    free_base: bool = False,
    damping: bool = False,
    **variant: str,
) -> System:
    """A system from a model file, or from the gallery by its name and what is chosen of it (``control="voltage"``).

    What looks like a path is one, and so is every other name that the gallery does not know. Of a URDF file the root is
    free, and the damping of its joints acts, if that is asked for.

    >>> import svyaz
    >>> svyaz.load("ball-and-beam", control="voltage").inputs.keys()
    dict_keys(['e'])
    """
    text = find(name, variant) if isinstance(name, str) and not is_path(name) else None
    if text is not None:
        return loads(text, str(name))
    if Path(name).is_dir() or not Path(name).exists():
        raise ModelError([not_found(str(name))])
    if variant:
        message = f"'{name}' is not a model of the gallery: there is no '{next(iter(variant))}' to be chosen"
        raise ModelError([Problem(message)])
    return System.of(model.read_file(Path(name), free_base=free_base, damping=damping, choices=_choices()))


def loads(text: str, file: str = "model") -> System:
    """A system from the text of a model file, TOML or URDF; ``file`` is named in messages.

    >>> import svyaz
    >>> svyaz.loads('states = ["x"]\\nrates = { x = "-x" }\\ninitial = { x = 1 }').simulate(until=1)["x"][-1].round(4)
    np.float64(0.3679)
    """
    return System.of(model.read_text(text, file, _choices()))


def _counted(things: Sized, what: str) -> str:
    return f"{len(things)} {what}{'' if len(things) == 1 else 's'}"
