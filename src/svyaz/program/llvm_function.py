"""One LLVM function as text."""

from __future__ import annotations

import struct


def literal(value: float) -> str:
    """A double exactly, in LLVM's hexadecimal notation."""
    return f"0x{struct.unpack('<Q', struct.pack('<d', value))[0]:016X}"


class FunctionText:
    """Lines of one LLVM function; values are numbered, which LLVM reads faster than names."""

    def __init__(self, head: str) -> None:
        self.lines = [head, "entry:"]
        self.count = 0
        self.block = "entry"

    def value(self, instruction: str) -> str:
        """Append an instruction that has a value; its number."""
        name = f"%{self.count}"
        self.count += 1
        self.lines.append(f"  {name} = {instruction}")
        return name

    def do(self, instruction: str) -> None:
        """Append an instruction without a value."""
        self.lines.append(f"  {instruction}")

    def begin(self, label: str) -> None:
        """Begin a block."""
        self.lines.append(f"{label}:")
        self.block = label

    def load(self, base: str, index: int) -> str:
        """base[index], which nobody changes during the call."""
        if index == 0:
            return self.value(f"load double, ptr {base}, align 8")
        at = self.value(f"getelementptr inbounds double, ptr {base}, i64 {index}")
        return self.value(f"load double, ptr {at}, align 8")

    def store(self, value: str, base: str, index: int) -> None:
        """base[index] = value."""
        at = self.value(f"getelementptr inbounds double, ptr {base}, i64 {index}")
        self.do(f"store double {value}, ptr {at}, align 8")

    def smaller(self, a: str, b: str) -> str:
        """The smaller of two, by one instruction of the processor."""
        less = self.value(f"fcmp olt double {a}, {b}")
        return self.value(f"select i1 {less}, double {a}, double {b}")

    def magnitude(self, a: str) -> str:
        """|a|."""
        return self.value(f"call double @llvm.fabs.f64(double {a})")

    def mul(self, a: str, b: str) -> str:
        """a · b."""
        return self.value(f"fmul contract double {a}, {b}")

    def add(self, a: str, b: str) -> str:
        """a + b."""
        return self.value(f"fadd contract double {a}, {b}")

    def sub(self, a: str, b: str) -> str:
        """a - b."""
        return self.value(f"fsub contract double {a}, {b}")

    def div(self, a: str, b: str) -> str:
        """a / b."""
        return self.value(f"fdiv double {a}, {b}")

    def text(self) -> str:
        """The whole function."""
        return "\n".join([*self.lines, "}", ""])
