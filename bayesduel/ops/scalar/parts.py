"""The code of kernels: parts become machine code together with their callers.

Numba by itself optimizes every function and makes machine code of it, then copies it
into what calls it and optimizes it there again: two thirds of the time of compiling a
kernel of 80 short functions. A *part* is left as it was written until something that is
none is compiled, a *program*, of which it is then a piece like any other. That is
optimized once, all together.
"""

from typing import Any

from numba.core.codegen import CPUCodegen, JITCodeLibrary

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
"""Members of a library that are private to Numba."""


def lacking(library: type = JITCodeLibrary, codegen: type = CPUCodegen) -> list[str]:
    """Return which of the private names that are used here this Numba has not."""
    members = set(dir(library))
    for each in library.__mro__:
        # Attributes are given by what makes an object.
        made = getattr(vars(each).get("__init__"), "__code__", None)
        members |= set(made.co_names if made is not None else ())
    names = [name for name in _NEEDED if name not in members]
    return names + [
        name for name in ("_module_pass_manager",) if not hasattr(codegen, name)
    ]


class Part(JITCodeLibrary):
    """The code of a part, which other libraries link."""

    always_inline: bool = False
    """Whether it has no calls but its code in their place."""

    _with_all_it_calls: Any = None

    def add_ir_module(self, ir_module: Any) -> None:
        """Take in the code of one function."""
        if self.always_inline:
            for function in ir_module.functions:
                if not function.is_declaration:
                    function.attributes.add("alwaysinline")
        super().add_ir_module(ir_module)

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
        """What lowering asks for, less the address of an environment."""
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

    def _optimize_functions(self, ll_module: Any) -> None:
        """Leave that to the passes over the whole."""

    def _optimize_final_module(self) -> None:
        """Optimize once: Numba does it twice, to count references in between."""
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
    found: dict[Any, None] = {}

    def visit(library: Any) -> None:
        if library not in found:
            if isinstance(library, Part):
                for other in library._linking_libraries:
                    visit(other)
            found[library] = None

    visit(part)
    return list(found)[::-1]
