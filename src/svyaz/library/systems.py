"""Systems with verbs: what can be asked of a system, each verb a function of the package that answers it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Self, Unpack

from svyaz import control, dynamics, forms, model, motion, stability, study, synthesis
from svyaz.arguments import check_arguments, show_options
from svyaz.control import RegulateOptions
from svyaz.library.bars import with_bar
from svyaz.library.equations import WorkingEquations, derive
from svyaz.library.motions import OnFailure, WorkingMotion, simulate
from svyaz.library.prepared import PreparedRun
from svyaz.library.stated import StatedSystem
from svyaz.motion import ExportOptions, ModelOptions, PreparedOptions, RunOptions
from svyaz.stability import EquilibriaOptions, SearchOptions
from svyaz.study import SweepOptions

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from control import StateSpace
    from svyaz.control import LinearModel, LinearSpace, Regulation
    from svyaz.dynamics import Robot
    from svyaz.forms import Inertia
    from svyaz.library.explorers import Explorer
    from svyaz.motion import Check, Stabilize
    from svyaz.stability import Equilibria, SteadyBranches, SteadyMotions
    from svyaz.study import Sweep
    from svyaz.synthesis import Balanced, Helmholtz, Inverse


class WorkingSystem(StatedSystem):
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

    def derive(self, form: str | None = None, *, stabilize: Stabilize = "off") -> WorkingEquations:
        """Its equations of motion in the form asked for, else in that of the model or in the natural one.

        With ``stabilize`` the constraints contain their stabilising terms, and the system of the equations has the gains
        among its parameters; see :func:`svyaz.motion.with_gains`.
        """
        return derive(self, form, stabilize=stabilize)

    @show_options
    def export(
        self,
        language: str,
        *,
        form: str | None = None,
        stabilize: Stabilize | None = "off",
        **options: Unpack[ExportOptions],
    ) -> str:
        """Its equations as code, with stabilising terms and held integrals where that is asked for.

        A ``complete`` program makes a run with a fixed step and writes it; what is left out of ``stabilize`` (None), method,
        step, until and every is taken from the model's [run]. See :func:`svyaz.motion.program_text`.
        """
        method, step, until = options.get("method"), options.get("step"), options.get("until")
        found = motion.with_gains(self, form, stabilize=stabilize, method=method, step=step, until=until)
        return motion.program_text(found, language, **options)

    @show_options
    def check(self, **options: Unpack[ModelOptions]) -> Check:
        """What its constraints are, whether they fit together and the start, and a verdict on the gains."""
        return motion.check(self, **options)

    @with_bar("time")
    @show_options
    def simulate(self, *, on_failure: OnFailure = "raise", **options: Unpack[RunOptions]) -> WorkingMotion:
        """Its motion from the initial state, or from ``start``; what is left out is taken from the model's [run].

        ``inputs`` are laws u(t, x), an expression or a function each. ``project`` first moves the initial state onto the
        constraints; the states called ``keep`` ("u',v" or a list) stay as they are. ``initial_error`` is what the bound for
        Euler's method begins with. ``halve`` estimates the error of the trajectory by a second run with half the step,
        ``force`` runs in spite of an unstable verdict on the gains, ``beyond`` runs on where a limit is passed and tells it.
        ``rows`` are the times at which the state is wanted. Without ``foresee`` no pilot predicts what given gains will allow.
        ``progress`` is called with the time reached;
        without it a notebook shows a bar where the run takes long. A run that does not reach its end raises
        :class:`svyaz.RunFailed`, which has the motion so far; with ``on_failure="return"`` that motion is returned.
        """
        return simulate(self, on_failure=on_failure, **options)

    @show_options
    def prepare(self, *, on_failure: OnFailure = "raise", **options: Unpack[PreparedOptions]) -> PreparedRun:
        """Derive and compile once what its motions need; what comes back gives the motion for other values and starts.

        The options are those of :meth:`simulate` but for ``start`` and ``progress``.

        >>> import svyaz
        >>> run = svyaz.load("pendulum:2").prepare(until=1, every=0.5)
        >>> run(parameters={"L1": 2.0}, start={"u1": 0.3}).states.shape
        (3, 4)
        """
        return PreparedRun(self, on_failure, options)

    @with_bar("part of the box searched")
    @show_options
    def equilibria(
        self,
        fix: Mapping[str, float] | None = None,
        box: Mapping[str, tuple[float, float]] | None = None,
        **options: Unpack[EquilibriaOptions],
    ) -> Equilibria:
        """All its equilibria in a box, with their stability; see :func:`svyaz.stability.equilibria`."""
        return stability.equilibria(self, fix, box, **options)

    @with_bar("part of the box searched")
    @show_options
    def steady(
        self,
        fix: Mapping[str, float] | None = None,
        box: Mapping[str, tuple[float, float]] | None = None,
        **options: Unpack[SearchOptions],
    ) -> SteadyMotions:
        """Its steady motions, in which cyclic coordinates turn uniformly; see :func:`svyaz.stability.steady_motions`."""
        return stability.steady_motions(self, fix, box, **options)

    def steady_branches(
        self,
        along: str,
        span: tuple[float, float],
        fix: Mapping[str, float] | None = None,
        box: Mapping[str, tuple[float, float]] | None = None,
        *,
        dependent: Sequence[str] | None = None,
        seconds: float = stability.SECONDS,
    ) -> SteadyBranches:
        """Its steady motions followed along a quantity; see :func:`svyaz.stability.steady_branches`."""
        return stability.steady_branches(self, along, span, fix, box, dependent=dependent, seconds=seconds)

    @show_options
    def regulate(self, **options: Unpack[RegulateOptions]) -> Regulation:
        """A regulator (and an observer) about one of its equilibria; see :func:`svyaz.control.regulate`."""
        return control.regulate(self, **options)

    @check_arguments
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

    @check_arguments
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
    @show_options
    def sweep(
        self, vary: Mapping[str, ArrayLike], measure: Sequence[str] = (), **options: Unpack[SweepOptions]
    ) -> Sweep:
        """Its motions for every member of the product of what is varied; see :func:`svyaz.study.sweep`."""
        return study.sweep(self, vary, measure, **options)

    @check_arguments
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

    @check_arguments
    def inertia(self, aim: str = "operations") -> Inertia:
        """The shortest program found for the inertia matrix of a tree; ``aim`` is ``operations`` or ``time``."""
        return forms.write_inertia(model.constant_tree(self, "this matrix"), tuple(self.parameters), aim)

    def robot(self) -> Robot:
        """M, bias, gravity, inverse and forward dynamics of a tree of bodies as native functions of arrays.

        >>> import svyaz
        >>> svyaz.load("puma-560").robot().gravity([0.0] * 6).shape
        (6,)
        """
        return dynamics.Robot.of(self)

    def balance(self) -> Balanced:
        """Under which conditions the inertia matrix of a tree is constant, and bodies that satisfy them."""
        return synthesis.balance_tree(self)


System = WorkingSystem
System.__name__ = "System"
