"""How Numba is led from a function of a kernel to its code.

Kernels are plain loops over numbers and arrays. So they need less than Numba does for
all of Python, which took a quarter of the time of compiling them:

- No closures are inlined, no branches dropped (LLVM drops them), and no expressions of
  whole arrays fused: there are none.
- A variable has one type throughout, and not one after every assignment. So what is
  first a constant of the module (``arm = _NOBODY``) cannot change: that is refused when
  it is compiled.
- A field is ``array.field``: ``array["field"]`` is not understood.
"""

from typing import Any

from numba.core import ir
from numba.core.compiler import CompilerBase
from numba.core.compiler_machinery import (
    AnalysisPass,
    FunctionPass,
    PassManager,
    register_pass,
)
from numba.core.typed_passes import (
    AnnotateTypes,
    IRLegalization,
    NativeLowering,
    NoPythonBackend,
    NopythonTypeInference,
)
from numba.core.untyped_passes import FixupArgs, IRProcessing, TranslateByteCode

from bayesduel.ops.scalar import compiled_references, references
from bayesduel.ops.scalar.parts import Part, Program, lacking

__all__ = ["InlinedPartCompiler", "PartCompiler", "ProgramCompiler", "lacking"]


@register_pass(mutates_CFG=False, analysis_only=False)
class _ReferToStates(FunctionPass):
    """Make references where the code asks for them, which are the state in Python."""

    _name = "refer_to_states"

    def __init__(self) -> None:
        super().__init__()

    def run_pass(self, state: Any) -> Any:
        for block in state.func_ir.blocks.values():
            for assignment in block.find_insts(ir.Assign):
                read = assignment.value
                if isinstance(read, ir.Global) and read.value is references.reference:
                    read.value = compiled_references.reference
        return True


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


@register_pass(mutates_CFG=False, analysis_only=True)
class _BeginInlinedPart(_BeginPart):
    """The same, of what has no calls but its code in their place.

    Numba's own option would go on to all that the part calls.
    """

    _name = "begin_inlined_part"

    def _new_library(self, state: Any) -> Any:
        library = super()._new_library(state)
        library.always_inline = True
        return library


class ProgramCompiler(CompilerBase):
    """The compiler of what Python calls: ``njit(pipeline_class=ProgramCompiler)``."""

    _begin: Any = _BeginProgram

    def define_pipelines(self) -> list[Any]:
        """Return the passes."""
        self.state.flags.enable_ssa = False
        passes = PassManager("kernel")
        for each in (
            TranslateByteCode,
            FixupArgs,
            IRProcessing,
            _ReferToStates,
            NopythonTypeInference,
            IRLegalization,
            AnnotateTypes,
            self._begin,
            NativeLowering,
            NoPythonBackend,
        ):
            passes.add_pass(each, each._name)
        passes.finalize()
        return [passes]


class PartCompiler(ProgramCompiler):
    """The compiler of parts."""

    _begin = _BeginPart


class InlinedPartCompiler(ProgramCompiler):
    """The compiler of parts that are inlined whatever they cost."""

    _begin = _BeginInlinedPart
