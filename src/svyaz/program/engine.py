"""From LLVM text to callable machine code of this computer.

Object code is made first and loaded second, so that code from the cache and fresh code go the same way.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from threading import Lock
from typing import TYPE_CHECKING, TypeVar

from svyaz.program.cache import cache_key, read, write

if TYPE_CHECKING:
    import llvmlite.binding as llvm

Made = TypeVar("Made", bytes, bytes | None)

_OPTIONS = Lock()
LIBRARY = frozenset(
    {
        *("acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "ceil", "cos", "cosh", "exp", "exp2", "expm1"),
        *("fabs", "floor", "fmax", "fmin", "fmod", "hypot", "log", "log10", "log1p", "log2", "pow", "sin", "sinh"),
        *("sqrt", "tan", "tanh", "trunc", "memcpy", "memmove", "memset"),
    }
)
"""Functions of C that every process has."""


@cache
def _host() -> tuple[llvm.Target, str, str, str]:
    """Target, triple, name and features of the processor."""
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    triple = llvm.get_process_triple()
    features = llvm.get_host_cpu_features().flatten()
    return llvm.Target.from_triple(triple), triple, llvm.get_host_cpu_name(), features


def _has(feature: str) -> bool:
    return f"+{feature}" in _host()[3].split(",")


@cache
def fuses() -> bool:
    """Can the processor multiply and add in one instruction?"""
    return _has("fma") or _host()[1].startswith(("aarch64", "arm64"))


@cache
def vector_width() -> int:
    """How many numbers are computed at once: 8, in one register of AVX-512 or in two of AVX2, where the processor multiplies
    and adds in one instruction; else 1.

    Two registers a vector are faster than one: the processor works on one while it waits for the other.
    """
    return 8 if _has("fma") and (_has("avx512f") or _has("avx2")) else 1


def host_description() -> str:
    """Everything about compiler and processor that object code depends on."""
    import llvmlite

    _, triple, name, features = _host()
    return f"llvmlite {llvmlite.__version__}\n{triple}\n{name}\n{features}"


def _target_machine(level: int) -> llvm.TargetMachine:
    # The small code model reaches numbers and functions of the module directly; the default of a JIT, the large one,
    # would load a full address before each of them.
    target, _, name, features = _host()
    return target.create_target_machine(
        cpu=name, features=features, opt=level, reloc="pic", codemodel="small", jit=True
    )


def object_code(text: str) -> bytes:
    """Object code of a module. The text needs no passes beyond inlining: the tape has no common subexpressions left."""
    return _emit(text, _target_machine(2))


def quick_object_code(text: str) -> bytes:
    """Object code of a large module, in a small part of the time."""
    return _emit(text, _target_machine(0))


def _emit(text: str, machine: llvm.TargetMachine) -> bytes:
    import llvmlite.binding as llvm

    module = llvm.parse_assembly(text)
    module.triple = _host()[1]
    module.data_layout = str(machine.target_data)
    builder = llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options(speed_level=0))
    manager = llvm.create_new_module_pass_manager()
    manager.add_always_inliner_pass()
    manager.run(module, builder)
    # LLVM's machine scheduler takes most of the time on long straight-line code and makes it slower (it lengthens the
    # lives of values, which are then spilled); the order of the tape is better. The option is global: put it back.
    with _OPTIONS:
        llvm.set_option("svyaz", "-enable-misched=false")
        try:
            return bytes(machine.emit_object(module))
        finally:
            llvm.set_option("svyaz", "-enable-misched=true")


def standalone_text(text: str, entry: str) -> str | None:
    """The LLVM text of one function of a module, under the name ``entry``, with all that it calls, for any processor.

    None where it calls or reads something that a process does not have by itself.
    """
    import llvmlite.binding as llvm

    module = llvm.parse_assembly(text)
    for value in (*module.functions, *module.global_variables):
        if not value.is_declaration:
            value.linkage = llvm.Linkage.external if value.name == entry else llvm.Linkage.internal
    tuning = llvm.create_pipeline_tuning_options(speed_level=3)
    tuning.loop_vectorization = tuning.slp_vectorization = tuning.loop_unrolling = False
    machine = _host()[0].create_target_machine(opt=3, reloc="pic", codemodel="small", jit=True)
    builder = llvm.create_pass_builder(machine, tuning)
    builder.getModulePassManager().run(module, builder)
    outside = [value.name for value in (*module.functions, *module.global_variables) if value.is_declaration]
    if not all(name in LIBRARY or name.startswith("llvm.") for name in outside):
        return None
    module.get_function(entry).name = "entry"
    return "\n".join(
        line for line in str(module).splitlines() if not line.startswith(("target ", "; ModuleID", "source_"))
    )


def standalone_object_code(text: str) -> bytes:
    """Object code for this processor of what ``standalone_text`` gives."""
    import llvmlite.binding as llvm

    module, machine = llvm.parse_assembly(text), _target_machine(3)
    module.triple, module.data_layout = _host()[1], str(machine.target_data)
    return bytes(machine.emit_object(module))


def kept_code(parts: Sequence[str], make: Callable[[], Made]) -> bytes | Made:
    """Code that depends on ``parts`` and on this computer, as it is kept, or made and kept where it can be made."""
    return kept_text((parts[0], host_description(), *parts[1:]), make)


def kept_text(parts: Sequence[str], make: Callable[[], Made]) -> bytes | Made:
    """What depends on ``parts`` alone, as it is kept, or made and kept where it can be made."""
    key = cache_key(*parts)
    code = read(key)
    if code is not None:
        return code
    made = make()
    if made is not None:
        write(key, made)
    return made


def load_code(code: bytes) -> llvm.ExecutionEngine:
    """An engine that holds the functions of the object code for as long as it lives."""
    import llvmlite.binding as llvm

    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), _target_machine(2))
    engine.add_object_file(llvm.ObjectFileRef.from_data(code))
    engine.finalize_object()
    return engine


def publish(name: str, address: int) -> None:
    """Let code that is loaded later call the function at an address by a name."""
    import llvmlite.binding as llvm

    llvm.add_symbol(name, address)
