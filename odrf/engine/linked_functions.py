"""Functions that only kernels call: LLVM optimises them once, inside each kernel that calls them.

By default Numba optimises every function and turns it into machine code, and does both again for
each function that calls it, up to the kernel at the top.  Most of the time of a first fit went
there.
"""

from __future__ import annotations

from typing import Any

from llvmlite.binding import parse_bitcode
from numba.core.caching import CompileResultCacheImpl, FunctionCache
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler, compile_result

__all__ = ["PartCache", "PartCompiler"]


class _NoMachine:
    """Stands where Numba registers the Python constants of machine code."""

    def set_env(self, name: str, environment: Any) -> None:
        """Do nothing: without machine code there is no place for them."""


class _Part(JITCodeLibrary):  # type: ignore[misc]
    """The code of a function before optimisation, to be linked into its callers."""

    @property
    def codegen(self) -> Any:
        return _NoMachine()

    def get_pointer_to_function(self, name: str) -> int:
        """Return 0, as Numba does for a function without machine code."""
        return 0

    def serialize_using_object_code(self) -> tuple[str, str, bytes]:
        """Return the code as it is."""
        return self.serialize_using_bitcode()

    def load(self, bitcode: bytes) -> None:
        """Take over the code of a finished part."""
        self._final_module = parse_bitcode(bitcode)
        self._finalize_final_module()

    def _optimize_final_module(self) -> None:
        pass

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._finalized = True


class PartCompiler(Compiler):  # type: ignore[misc]
    """Numba's compiler, up to the code that is linked into callers."""

    def define_pipelines(self) -> Any:
        """Return Numba's passes, and have them write to a part."""
        state = self.state
        if state.library is None:
            state.library = _Part(state.targetctx.codegen(), state.func_id.func_qualname)
        return super().define_pipelines()


class _PartFiles(CompileResultCacheImpl):  # type: ignore[misc]
    """How a part is written to a file and read from it."""

    def rebuild(self, target_context: Any, payload: Any) -> Any:
        """Return what `reduce` took apart."""
        (name, _, bitcode), description, environment, signature, objectmode, lifted, *rest = payload
        library = _Part(target_context.codegen(), name)
        library.load(bitcode)
        return compile_result(
            target_context=target_context,
            typing_context=target_context.typing_context,
            library=library,
            entry_point=target_context.get_executable(library, description, environment),
            fndesc=description,
            environment=environment,
            signature=signature,
            objectmode=objectmode,
            lifted=lifted,
            type_annotation=rest[0],
            reload_init=rest[1],
            referenced_envs=rest[2],
        )


class PartCache(FunctionCache):  # type: ignore[misc]
    """Numba's files of a part."""

    _impl_class = _PartFiles
