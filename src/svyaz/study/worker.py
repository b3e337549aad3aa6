"""The work on members of a sweep, in any process: from portable text to numbers.

Run as a module it takes a task from the first frame of its input and answers each further frame, a list of members.
"""

from __future__ import annotations

import ctypes
import signal
import sys
from contextlib import suppress

from svyaz.study.answers import Answer, Answers, answers_as_text, in_columns, join, losses
from svyaz.study.measures import energy_terms, of_motion
from svyaz.study.native_runs import Left, Stop, failed, native_answers, never
from svyaz.study.tasks import Data, NativeData, Task, WholeData, WholeTask, data_from_text, task_from_text
from svyaz.study.vary import Member
from svyaz.worker_process import frame, receive, take_output


def answers(task: Task, data: Data, stop: Stop | None = None) -> Answers:
    """The answers to all members; one that svyaz itself fails at is lost, and the others are not.

    Work in other threads is left (``Left``) soon after ``stop`` has been set.
    """
    halt = never() if stop is None else stop
    try:
        return _answers(task, data, halt)
    except (Left, OSError):
        raise
    except Exception as error:
        if len(data) > 1:
            return join([answers(task, data.only(k), halt) for k in range(len(data))])
        return losses(f"internal error: {type(error).__name__}: {error}")


def _answers(task: Task, data: Data, stop: Stop) -> Answers:
    if isinstance(task, WholeTask):
        assert isinstance(data, WholeData), "a whole task has whole members"
        return in_columns([_whole(task, member) for member in data.members], task.measures)
    assert isinstance(data, NativeData), "a native task has native members"
    return native_answers(task, data, stop)


def _whole(task: WholeTask, member: Member) -> Answer:
    """A member as one simulation of the model with its settings."""
    from svyaz.expr import ModelError
    from svyaz.integrate import Status
    from svyaz.model import system_of, with_settings
    from svyaz.motion import simulate, told_beyond

    try:
        system = system_of(task.words)
        if member.settings:
            system = with_settings(system, member.settings)
        # what a run is measured by need not be foretold, unless gains are judged by it
        asked = {"foresee": "tolerance" in task.asked, **task.asked, **member.asked}
        motion = simulate(system, **asked)
        if motion.status is Status.INFEASIBLE and motion.gains is not None and not motion.steps:
            motion = simulate(system, force=True, **asked)  # gains with a bad verdict are run, and told
    except ModelError as error:
        return failed(str(error))
    if motion.status is Status.STOPPED:  # a run keeps what it has when the user stops it; here the sweep is stopped
        raise KeyboardInterrupt
    verdict = motion.gains.word if motion.gains is not None else None
    reason = motion.reason or "; ".join(told_beyond(motion.limits))
    found = of_motion(motion) | (energy_terms(motion) if task.energy else {})
    return Answer(motion.status, reason, found, None if verdict is None else verdict == "stable")


def answer_text(task: str, members: str) -> str:
    """``answers`` for a worker that is sent text and sends text back."""
    asked = task_from_text(task)
    return answers_as_text(answers(asked, data_from_text(asked, members)))


def _end_with_parent() -> None:
    """Do not go on when the one who asked has been killed (Linux: prctl(PR_SET_PDEATHSIG, SIGKILL))."""
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)


def main() -> None:
    """Answer the frames of the standard input."""
    _end_with_parent()
    out, stream = take_output(), sys.stdin.buffer
    task = task_from_text((receive(stream) or b"").decode())
    while (members := receive(stream)) is not None:
        out.write(frame(answers_as_text(answers(task, data_from_text(task, members.decode()))).encode()))
        out.flush()


if __name__ == "__main__":
    main()
