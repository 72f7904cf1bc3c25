"""Functions of kernels that become machine code together with their callers.

Numba by itself optimizes every function and makes machine code of it, then copies it
into what calls it and optimizes it there again: two thirds of the time of compiling a
kernel of 80 short functions. A *part* is left as it was written until something that is
none is compiled, of which it is then a piece like any other.
"""

from typing import Any

from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import AnalysisPass, register_pass
from numba.core.typed_passes import AnnotateTypes


class _Part(JITCodeLibrary):
    """The code of a part, which other libraries link."""

    always_inline = False
    _with_all_it_calls: Any = None

    def add_ir_module(self, ir_module: Any) -> None:
        if self.always_inline:
            for function in ir_module.functions:
                if not function.is_declaration:
                    function.attributes.add("alwaysinline")
        super().add_ir_module(ir_module)

    def finalize(self) -> None:
        for library in self._linking_libraries:
            self._reload_init.update(library._reload_init)
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        """Say that there is none, as of all that Python cannot call."""
        return 0

    @property
    def codegen(self) -> Any:
        """What lowering asks for, less the address of an environment."""
        return _Codegen(self._codegen)

    def _get_module_for_linking(self) -> Any:
        if self._with_all_it_calls is None:
            module = super()._get_module_for_linking().clone()
            for library in _callers_first(self)[1:]:
                kind = JITCodeLibrary if isinstance(library, _Part) else type(library)
                module.link_in(kind._get_module_for_linking(library), preserve=True)
            self._with_all_it_calls = module
        return self._with_all_it_calls


class _Codegen:
    """That of all libraries, for a part, which has no address yet."""

    def __init__(self, codegen: Any) -> None:
        self._codegen = codegen

    def __getattr__(self, name: str) -> Any:
        return getattr(self._codegen, name)

    def set_env(self, env_name: str, env: Any) -> None:
        """Forget the environment, which only objects of Python are read from."""


def _callers_first(part: _Part) -> list[Any]:
    """Return a part and all that it calls: LLVM links what has been asked for."""
    found: dict[Any, None] = {}

    def visit(library: Any) -> None:
        if library not in found:
            if isinstance(library, _Part):
                for other in library._linking_libraries:
                    visit(other)
            found[library] = None

    visit(part)
    return list(found)[::-1]


@register_pass(mutates_CFG=False, analysis_only=True)
class _BeginPart(AnalysisPass):
    """Let lowering write into a part."""

    _name = "begin_part"

    def __init__(self) -> None:
        super().__init__()

    def run_pass(self, state: Any) -> Any:
        name = state.func_id.func_qualname
        state.library = _Part(state.targetctx.codegen(), name)
        return False


@register_pass(mutates_CFG=False, analysis_only=True)
class _BeginInlinedPart(_BeginPart):
    """The same, of what has no calls but its code in their place.

    Numba's own option would go on to all that the part calls.
    """

    _name = "begin_inlined_part"

    def run_pass(self, state: Any) -> Any:
        super().run_pass(state)
        state.library.always_inline = True
        return False


class PartCompiler(CompilerBase):
    """The compiler of parts: ``njit(pipeline_class=PartCompiler)``."""

    _begin = _BeginPart

    def define_pipelines(self) -> list[Any]:
        """Return the passes of Numba, which write into a part."""
        passes = DefaultPassBuilder.define_nopython_pipeline(self.state)
        passes.add_pass_after(self._begin, AnnotateTypes)
        passes.finalize()
        return [passes]


class InlinedPartCompiler(PartCompiler):
    """The compiler of parts that are inlined whatever they cost."""

    _begin = _BeginInlinedPart
