"""Kernels compiled faster, and to faster code, than Numba does by itself.

All that rests on names which Numba calls private is here; ``ops.scalar.compiler`` can
do without it.

Numba by itself optimizes every function and makes machine code of it, then copies it
into what calls it and optimizes it there again: two thirds of the time of compiling a
kernel of 80 short functions. A *part* is left as it was written until something that is
none is compiled, a *program*, of which it is then a piece like any other. That is
optimized once, all together.

Kernels are plain loops over numbers and arrays. So they need less than Numba does for
all of Python, which took a quarter of the time of compiling them:

- No closures are inlined, no branches dropped (LLVM drops them), and no expressions of
  whole arrays fused: there are none.
- A variable has one type throughout, and not one after every assignment. So what is
  first a constant of the module (``arm = _NOBODY``) cannot change: that is refused when
  it is compiled.
- A field is ``array.field``: ``array["field"]`` is not understood.

A program that is found on disk is read without what Numba needs to compile: all that it
knows of Python and NumPy, which takes 0.3 s to import, more than three programs take to
be read and played.
"""

from typing import Any

import numpy as np
from numba.core.caching import FunctionCache
from numba.core.codegen import CPUCodegen, JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import AnalysisPass, PassManager, register_pass
from numba.core.runtime.nrt import rtsys
from numba.core.typed_passes import (
    AnnotateTypes,
    IRLegalization,
    NativeLowering,
    NoPythonBackend,
    NopythonTypeInference,
)
from numba.core.untyped_passes import FixupArgs, IRProcessing, TranslateByteCode
from numba.np.random.generator_core import next_uint64
from numpy.random import Generator

from bayesduel.ops.scalar.compiled import compiled


@compiled
def raw_bits(rng: Generator) -> np.uint64:
    """Draw 64 random bits: the method of a generator makes an array, of one number."""
    return next_uint64(rng.bit_generator)


# Members of a library that are private to Numba
_NEEDED = (
    "_codegen",
    "_final_module",
    "_finalized",
    "_get_module_for_linking",
    "_linking_libraries",
    "_optimize_final_module",
    "_optimize_functions",
    "_reload_init",
)

# Members of a cache that are private to Numba
_NEEDED_TO_LOAD = "_guard_against_spurious_io_errors", "_load_overload"


def lacking(
    library: type = JITCodeLibrary,
    codegen: type = CPUCodegen,
    programs: type = FunctionCache,
) -> list[str]:
    """Return which of the private names that are used here this Numba has not."""
    members = set(dir(library))
    for base in library.__mro__:
        # Attributes are given by what makes an object.
        made = getattr(vars(base).get("__init__"), "__code__", None)
        members |= set(made.co_names if made is not None else ())
    names = [name for name in _NEEDED if name not in members]
    elsewhere = [(codegen, "_module_pass_manager")]
    elsewhere += [(programs, name) for name in _NEEDED_TO_LOAD]
    return names + [name for owner, name in elsewhere if not hasattr(owner, name)]


class ProgramCache(FunctionCache):
    """Programs on disk, read without the modules that are needed to compile one."""

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return the program of a signature, or None."""
        # Machine code calls functions by address: those of C and of Python are known to
        # a new context, the others are introduced by this.
        rtsys.initialize(target_context)
        with self._guard_against_spurious_io_errors():
            return self._load_overload(sig, target_context)


class Part(JITCodeLibrary):
    """The code of a part, which other libraries link."""

    _with_all_it_calls: Any = None

    def _optimize_functions(self, ll_module: Any) -> None:
        """Leave that to the program."""

    def finalize(self) -> None:
        """Be done, but for what the program does."""
        for library in self._linking_libraries:
            self._reload_init.update(library._reload_init)
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        """Say that there is none, as of all that Python cannot call."""
        return 0

    @property
    def codegen(self) -> Any:
        """The code generator for lowering, without the address of an environment."""
        return _Codegen(self._codegen)

    def _get_module_for_linking(self) -> Any:
        if self._with_all_it_calls is None:
            module = super()._get_module_for_linking().clone()
            for library in _callers_first(self)[1:]:
                kind = JITCodeLibrary if isinstance(library, Part) else type(library)
                module.link_in(kind._get_module_for_linking(library), preserve=True)
            self._with_all_it_calls = module
        return self._with_all_it_calls


class Program(JITCodeLibrary):
    """The code of a program with all its parts, which Python calls."""

    _exported: frozenset[str] = frozenset()

    def add_ir_module(self, ir_module: Any) -> None:
        """Take in the code of the program, or of what Python calls it by."""
        defined = [part for part in ir_module.functions if not part.is_declaration]
        self._exported |= {function.name for function in defined}
        super().add_ir_module(ir_module)

    def _optimize_functions(self, ll_module: Any) -> None:
        """Leave that to the passes over the whole."""

    def _optimize_final_module(self) -> None:
        """Optimize once: Numba does it twice, to count references in between.

        Nothing else calls the parts. So LLVM can inline them, and pass to the others
        only what they read of a state of 30 words: a fifth of the time of a run.

        They must not have names in the machine code either, as "internal" functions
        do: a program loaded later, with a part of the same name, would be linked to
        the part that was loaded first, which takes other arguments by now.
        """
        for function in self._final_module.functions:
            if not function.is_declaration and function.name not in self._exported:
                function.linkage = "private"
        passes, builder = self._codegen._module_pass_manager()
        passes.run(self._final_module, builder)


class _Codegen:
    """That of all libraries, for a part, which has no address yet."""

    def __init__(self, codegen: Any) -> None:
        self._codegen = codegen

    def __getattr__(self, name: str) -> Any:
        return getattr(self._codegen, name)

    def set_env(self, env_name: str, env: Any) -> None:
        """Forget the environment, which only objects of Python are read from."""


def _callers_first(part: Part) -> list[Any]:
    """Return a part and all that it calls: LLVM links what has been asked for."""
    order: dict[Any, None] = {}

    def visit(library: Any) -> None:
        if library not in order:
            if isinstance(library, Part):
                for linked in library._linking_libraries:
                    visit(linked)
            order[library] = None

    visit(part)
    return list(order)[::-1]


@register_pass(mutates_CFG=False, analysis_only=True)
class _BeginProgram(AnalysisPass):
    """Let lowering write into a program."""

    _name = "begin_program"

    def __init__(self) -> None:
        super().__init__()

    def run_pass(self, state: Any) -> Any:
        state.library = self._new_library(state)
        return False

    def _new_library(self, state: Any) -> Any:
        library = Program(state.targetctx.codegen(), state.func_id.func_qualname)
        library.enable_object_caching()
        return library


@register_pass(mutates_CFG=False, analysis_only=True)
class _BeginPart(_BeginProgram):
    """Let lowering write into a part."""

    _name = "begin_part"

    def _new_library(self, state: Any) -> Any:
        return Part(state.targetctx.codegen(), state.func_id.func_qualname)


class ProgramCompiler(CompilerBase):
    """The compiler of what Python calls: ``njit(pipeline_class=ProgramCompiler)``."""

    _begin: Any = _BeginProgram

    def define_pipelines(self) -> list[Any]:
        """Return the passes."""
        self.state.flags.enable_ssa = False
        passes = PassManager("kernel")
        for compiler_pass in (
            TranslateByteCode,
            FixupArgs,
            IRProcessing,
            NopythonTypeInference,
            IRLegalization,
            AnnotateTypes,
            self._begin,
            NativeLowering,
            NoPythonBackend,
        ):
            passes.add_pass(compiler_pass, compiler_pass._name)
        passes.finalize()
        return [passes]


class PartCompiler(ProgramCompiler):
    """The compiler of parts."""

    _begin = _BeginPart


class RulePartCompiler(CompilerBase):
    """The compiler of parts in all of Python that Numba knows."""

    def define_pipelines(self) -> list[Any]:
        """Return the passes: those of Numba, which write into a part."""
        passes = DefaultPassBuilder.define_nopython_pipeline(self.state)
        passes.add_pass_after(_BeginPart, AnnotateTypes)
        passes.finalize()
        return [passes]
