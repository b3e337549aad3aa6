"""What can go wrong with a program."""

from __future__ import annotations


class ProgramError(ValueError):
    """A program that is not well formed, or was given numbers that do not fit it."""


class SingularSystem(ArithmeticError):
    """A linear system inside a program has no unique solution at the state it was evaluated at."""

    def __init__(self, system: int) -> None:
        super().__init__(f"linear system {system} of the program is singular at this state")
        self.system = system
