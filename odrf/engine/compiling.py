"""How every kernel of the engine is compiled, and where its machine code is kept."""

from __future__ import annotations

import gc
import os
import pickle
import sys
import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from functools import cache, cached_property, wraps
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir
from llvmlite.binding import parse_bitcode
from numba import config, njit, typeof, types
from numba._dispatcher import compute_fingerprint
from numba.core import cgutils
from numba.core.caching import (
    CompileResultCacheImpl,
    FunctionCache,
    IndexDataCacheFile,
    NullCache,
    _CacheLocator,
)
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler, compile_result
from numba.core.dispatcher import Dispatcher
from numba.core.typeconv import Conversion
from numba.extending import intrinsic

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

QUIET = "ODRF_QUIET"
# Measured from an empty folder on one core that does nothing else: a guided forest, and a forest of
# classes with factors and missing cells.
SECONDS = 10, 70
MESSAGE = (
    "odrf: compiling functions for the first fit of its kind on this machine, about {} to {} "
    "seconds on an idle core; `odrf --warm` does it beforehand, {}=1 hides this line"
).format(*SECONDS, QUIET)


_unannounced = ContextVar("compilation is not announced", default=False)


def announce_compilation(kernel: Any) -> None:
    """Write a line to stderr, unless code of the kernel is on disk or ``ODRF_QUIET`` is set."""
    quiet = os.environ.get(QUIET) or _unannounced.get() or sys.stderr is None
    if not quiet and not kernel._cache.is_kept():
        print(MESSAGE, file=sys.stderr, flush=True)


@contextmanager
def unannounced() -> Iterator[None]:
    """Within this context, kernels are compiled without a word."""
    token = _unannounced.set(True)
    try:
        yield
    finally:
        _unannounced.reset(token)


# Functions that only kernels call: LLVM optimises them once, inside each kernel that calls them.
# By default Numba optimises every function and turns it into machine code, and does both again for
# each function that calls it, up to the kernel at the top.  Most of the time of a first fit went
# there.


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
            target_context=target_context, typing_context=target_context.typing_context,
            library=library,
            entry_point=target_context.get_executable(library, description, environment),
            fndesc=description, environment=environment, signature=signature, objectmode=objectmode,
            lifted=lifted, type_annotation=rest[0], reload_init=rest[1], referenced_envs=rest[2],
        )  # fmt: skip


class PartCache(FunctionCache):  # type: ignore[misc]
    """Numba's files of a part."""

    _impl_class = _PartFiles


# Machine code of kernels on disk: with a checksum, and only as long as the disk is of use.
# Whatever is wrong with the folder, kernels are compiled in memory instead, and it is said once.

# After the content of a file: this text and the content's checksum.  Numba reads no further than
# the content's end.
MARK = b"odrf crc32 "
LENGTH = len(MARK) + 4


class CodeOnDisk:
    """The machine code of a `function` on disk, in Numba's `files` or in those of parts."""

    def __init__(self, function: Callable[..., Any], files: type = FunctionCache) -> None:
        self._function, self._files = function, files
        self._turn = _Turn()
        self._stamp = _stamp_when_imported(function.__code__.co_filename)
        self._nowhere = False

    @cached_property
    def _cache(self) -> Any:
        """Numba's cache.  Made at first use: most kernels are not used by most programs."""
        if _stamp(self._function.__code__.co_filename) != self._stamp:
            return NullCache()  # the file was changed: what is compiled is not what it holds
        try:
            found = _of_some_folder(self._function, self._files)
        except RuntimeError:
            self._nowhere = True
            return NullCache()
        plain = found._cache_file
        found._cache_file = _CheckedFiles(
            plain._cache_path, found._impl.filename_base, plain._source_stamp
        )
        return found

    def load_overload(self, signature: Any, target_context: Any) -> Any:
        """Return what was compiled for these types of arguments; None if it cannot be read.

        If there is none, this process is to compile it, and has its turn then; or another process
        has compiled it, while this one waited for its turn.
        """
        code = self._loaded(signature, target_context)
        if code is None and self._turn.take(self._cache):
            code = self._loaded(signature, target_context)
        return code

    def end_turn(self) -> None:
        """Let other processes compile the function."""
        self._turn.end()

    def _loaded(self, signature: Any, target_context: Any) -> Any:
        try:
            return self._cache.load_overload(signature, target_context)
        except (AttributeError, ImportError):  # an older version's files name what is gone
            return None
        except Exception as error:  # whatever damaged files may raise
            self._say_that_it_is_damaged(error)
            return None

    def save_overload(self, signature: Any, compiled: Any) -> None:
        """Keep what was compiled for these types of arguments."""
        keeping = self._cache
        if self._nowhere:
            _say_once(
                "there is no folder to keep compiled code in, so each process compiles anew, which "
                "may take minutes: set NUMBA_CACHE_DIR to a folder that can be written"
            )
        try:
            try:
                keeping.save_overload(signature, compiled)
            except OSError:
                raise
            except Exception:  # the list of files is damaged, or names what is gone
                keeping.flush()
                keeping.save_overload(signature, compiled)
        except Exception as error:
            _say_once(
                f"compiled code cannot be kept in {self._cache.cache_path} ({error}), so each "
                "process compiles anew, which may take minutes: make room there, clear the folder, "
                "or set NUMBA_CACHE_DIR to another one"
            )
            self._cache = NullCache()

    def is_kept(self) -> bool:
        """Return whether machine code of the function is on disk, for any types of arguments."""
        try:
            return bool(self._cache._cache_file._load_index())
        except Exception:  # there is no folder, or its files are damaged
            return False

    def __getattr__(self, name: str) -> Any:
        return getattr(self._cache, name)

    def _say_that_it_is_damaged(self, error: Exception) -> None:
        _say_once(
            f"compiled code in {self._cache.cache_path} is damaged ({error}) and compiled anew, "
            "which may take minutes: if you see this again, clear the folder"
        )


# One process compiles a function, and others that need it meanwhile wait for its code.
LOCK_FILE = "odrf.lock"
# After so many seconds a process that does not go on, such as a stopped one, is not waited for.
LONGEST_WAIT, BETWEEN_LOOKS = 600.0, 0.05
_lock_files: dict[str, int] = {}


class _Turn:
    """The turn to compile a function: a byte, locked in a file beside the code.

    The system unlocks what a process has locked when it ends, however it ends: no lock is left
    over.  Threads need no turn, since Numba compiles in one at a time.
    """

    def __init__(self) -> None:
        self._lock: tuple[int, int] | None = None

    def take(self, files: Any) -> bool:
        """Wait for the turn; return whether code may have come meanwhile."""
        try:
            file, place = (
                _lock_file(files.cache_path),
                zlib.crc32(files._impl.filename_base.encode()),
            )
            end = time.monotonic() + LONGEST_WAIT
            while not _locked(file, place):
                if time.monotonic() > end:
                    return True
                time.sleep(BETWEEN_LOOKS)
        except (AttributeError, OSError, TypeError):  # there is no folder, or nothing can be locked
            return False
        self._lock = file, place
        return True

    def end(self) -> None:
        """Let other processes have their turns."""
        if self._lock is not None:
            (file, place), self._lock = self._lock, None
            with suppress(OSError):
                _unlock(file, place)


def _lock_file(folder: str) -> int:
    """Return the file of locks of a folder.  It stays open: to close it would unlock all of it."""
    if folder not in _lock_files:
        _lock_files[folder] = os.open(Path(folder) / LOCK_FILE, os.O_RDWR | os.O_CREAT, 0o666)
    return _lock_files[folder]


def _locked(file: int, place: int) -> bool:
    """Return whether this process has locked a byte of a file now."""
    try:
        if sys.platform == "win32":
            os.lseek(file, place, os.SEEK_SET)
            msvcrt.locking(file, msvcrt.LK_NBLCK, 1)
        else:
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, place)
    except (BlockingIOError, PermissionError):
        return False
    return True


def _unlock(file: int, place: int) -> None:
    if sys.platform == "win32":
        os.lseek(file, place, os.SEEK_SET)
        msvcrt.locking(file, msvcrt.LK_UNLCK, 1)
    else:
        fcntl.lockf(file, fcntl.LOCK_UN, 1, place)


def _in_turn(dispatcher: Any) -> None:
    """Let other processes compile a function when this one has compiled it, or has failed."""
    compiled = dispatcher.compile

    def in_turn(signature: Any) -> Any:
        try:
            return compiled(signature)
        finally:
            dispatcher._cache.end_turn()

    dispatcher.compile = in_turn


def _stamp(file: str) -> tuple[float, int] | None:
    """Return when a file was changed, and its size; None if it cannot be read."""
    try:
        found = os.stat(file)
    except OSError:
        return None
    return found.st_mtime, found.st_size


_stamp_when_imported = cache(_stamp)


def _of_some_folder(function: Callable[..., Any], files: type) -> Any:
    """Return Numba's cache in a folder that can be written, or has code; else `RuntimeError`."""
    try:
        return files(function)
    except RuntimeError:
        plain = _CacheLocator.ensure_cache_path
        _CacheLocator.ensure_cache_path = _require_code
        try:
            return files(function)
        finally:
            _CacheLocator.ensure_cache_path = plain


def _require_code(locator: Any) -> None:
    folder = Path(locator.get_cache_path())
    if next(folder.glob("*.nbi"), None) is None:
        raise OSError(f"{folder} has no compiled code")


class _Code(NamedTuple):
    """A file of machine code: the `payload` that Numba writes, and what it was compiled for."""

    key: Any
    payload: Any


class _CheckedFiles(IndexDataCacheFile):  # type: ignore[misc]
    """Numba's files, with checksums: damaged machine code would end the process when it runs."""

    def save(self, key: Any, data: Any) -> None:
        """Write the code first, then the list, which so never names a file that is not there."""
        overloads = self._load_index()
        name = overloads.get(key)
        if name is None:
            taken = set(overloads.values())
            numbers = range(1, len(taken) + 2)
            name = next(n for n in map(self._data_name, numbers) if n not in taken)
        self._save_data(name, _Code(key, data))
        if key not in overloads:
            self._save_index({**overloads, key: name})

    def load(self, key: Any) -> Any:
        """Return the code of a key; None if there is none.

        Two processes that write their first codes at once give them the same name.  The list may
        then name the code of the other one, which would misread its arguments.
        """
        name = self._load_index().get(key)
        if name is None:
            return None
        try:
            found = self._load_data(name)
        except OSError:  # somebody is clearing the folder
            return None
        return found.payload if isinstance(found, _Code) and found.key == key else None

    def _load_index(self) -> Any:
        path, version = Path(self._index_path), pickle.dumps(self._version, protocol=-1)
        data = path.read_bytes() if path.exists() else b""
        if data.startswith(version):
            _require_whole(data[len(version) :])
        return super()._load_index()

    def _load_data(self, name: str) -> Any:
        data = Path(self._data_path(name)).read_bytes()
        _require_whole(data)
        return pickle.loads(data)

    def _dump(self, obj: Any) -> bytes:
        content = super()._dump(obj)
        return content + MARK + _checksum(content)


def _require_whole(data: bytes) -> None:
    """Raise `ValueError` if a checksum follows the content, as in our files, and is wrong."""
    content, mark = data[:-LENGTH], data[-LENGTH:]
    if mark.startswith(MARK) and mark != MARK + _checksum(content):
        raise ValueError("its checksum is wrong")


def _checksum(content: bytes) -> bytes:
    return zlib.crc32(content).to_bytes(4, "big")


_said: list[str] = []


def _say_once(message: str) -> None:
    """Write a line to stderr: a warning would name a line of this file."""
    if not _said:
        _said.append(message)
        if sys.stderr is not None:
            print(f"odrf: {message}", file=sys.stderr, flush=True)


# How every kernel of the engine is compiled.

# Kernels run without the interpreter lock and divide as IEEE 754 does instead of raising.  They
# have no C wrapper, which nothing here calls, and no reference counting of arrays, which cost a
# quarter of the time: so a kernel must not return an array to Python, nor to a kernel that counts
# references.
OPTIONS = {
    "nogil": True,
    "error_model": "numpy",
    "no_cfunc_wrapper": True,
    "_nrt": False,
}


def _compiler(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Return a decorator that compiles with these options of Numba."""
    decorate = njit(**options)

    def compiled(function: Callable[..., Any]) -> Any:
        dispatcher = decorate(function)
        if dispatcher is function:  # NUMBA_DISABLE_JIT
            return _silent(function)
        files = PartCache if "pipeline_class" in options else FunctionCache
        dispatcher._cache = CodeOnDisk(function, files)
        _in_turn(dispatcher)
        return dispatcher

    return compiled


def _silent(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that is not compiled, whose arithmetic warns as little as compiled code."""

    @wraps(function)
    def called(*args: Any) -> Any:
        with np.errstate(all="ignore"):
            return function(*args)

    return called


kernel = _compiler(**OPTIONS)

# Numba gives a literal number a type of its own and compiles the called function once more for it.
# So arguments of kernels start from these.
ZERO, ONE = np.int64(0), np.int64(1)
NO, YES = np.bool_(False), np.bool_(True)

# For a kernel that allocates arrays.
allocating = _compiler(**{**OPTIONS, "_nrt": True})

# For functions that only kernels call: without machine code of their own, and without the wrapper
# for calls from Python, whose unpacking of tuples of arrays can take longer to compile than the
# function itself.
PART = {**OPTIONS, "no_cpython_wrapper": True, "pipeline_class": PartCompiler}
part = _compiler(**PART)

# For a function with one caller, or a few lines: merged into it before compilation, so that LLVM
# does not optimise the same code twice, on its own and inside the caller.
inlined = _compiler(inline="always", **OPTIONS)

# For an overload that LLVM must merge into its caller.  A call copies all arrays of its arguments,
# of which the search has hundreds; whether LLVM merges on its own changes with every line.
MERGED = {**PART, "forceinline": True}

# The same for a function that only kernels call, where its branches on None must be compiled away.
merged = _compiler(**MERGED)

# For a sum whose terms may be added in any order, so that LLVM may use SIMD lanes.  Never for a
# projection: training and prediction must add it up in the same order.
summing = _compiler(fastmath={"reassoc", "nsz"}, **PART)


@contextmanager
def compiled_at_ease(function: Any) -> Iterator[None]:
    """Pause the garbage collector while a process compiles `function` for the first time.

    The compiler builds millions of objects that live on.  Scanning them again and again would take
    a fifth of the compilation time.  If no process of this machine has compiled the function yet,
    a line on stderr says what takes so long.
    """
    # without a compiler, by NUMBA_DISABLE_JIT, a function has no overloads
    first = not getattr(function, "overloads", True)
    if first:
        announce_compilation(function)
    pause = gc.isenabled() and first
    if pause:
        gc.disable()
    try:
        yield
    finally:
        if pause:
            gc.enable()


# What calls a kernel with arguments of some types, by the kernel and a short name of these types.
_entry_points: dict[tuple[Any, bytes], Any] = {}


def name_of_types(arguments: tuple[Any, ...]) -> bytes:
    """Return a short name of the types of the arguments.

    To ask Numba for the types takes as long as a small tree, and holds the interpreter lock.
    """
    return bytes(compute_fingerprint(arguments))


def of_these_types(function: Any, arguments: tuple[Any, ...]) -> Any:
    """Return what calls a kernel with arguments of the same types as these, which it has had.

    Each call of a kernel asks for the types of all its arguments.  For a hundred arrays in tuples
    that takes ten times as long as to hand them over.  Other types are not noticed: so this is only
    for arrays that are kept.
    """
    if not hasattr(function, "overloads"):  # without a compiler, by NUMBA_DISABLE_JIT
        return function
    key = function, name_of_types(arguments)
    entry_point = _entry_points.get(key)
    if entry_point is None:
        compiled = function.overloads.get(tuple(map(typeof, arguments)))
        if compiled is None:
            return function
        entry_point = _entry_points[key] = compiled.entry_point
    return entry_point


# Calls of functions by their address: kernels are not compiled anew for each of them.

# The type of what `write_tuple` returns, and how many int64 its memory needs.
PLACE, ROOM = types.int64, 1024


def address_of(function: Any, kinds: tuple[Any, ...]) -> Any:
    """Compile a function for these types of arguments and return its address.

    The address is good as long as the function exists.  If nothing is compiled, by
    NUMBA_DISABLE_JIT, it is the function itself.
    """
    if not isinstance(function, Dispatcher):
        return function
    function.compile(kinds)
    result = function.overloads[kinds]
    return int(result.library.get_pointer_to_function(result.fndesc.llvm_func_name))


# Addresses of functions, by the function and a short name of the types of its arguments.
_addresses: dict[tuple[Any, bytes], int] = {}


def address_for(function: Any, arguments: tuple[Any, ...]) -> Any:
    """Return the same for these arguments."""
    if not isinstance(function, Dispatcher):
        return function
    key = function, name_of_types(arguments)
    if key not in _addresses:
        _addresses[key] = address_of(function, tuple(typeof(each) for each in arguments))
    return _addresses[key]


def called_at(result: Any, *kinds: Any) -> Any:
    """Return what calls a function of these types of arguments and result by its address.

    It has two arguments: the address, and a tuple of those of the function.  What the function
    raises is raised.
    """
    if config.DISABLE_JIT:
        return _called_itself
    together = types.Tuple(kinds)

    def code(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        arguments = [builder.extract_value(values[1], i) for i in range(len(kinds))]
        convention = context.call_conv
        kind = convention.get_function_type(result, kinds)
        pointer = builder.inttoptr(values[0], kind.as_pointer())
        status, returned = convention.call_function(builder, pointer, result, kinds, arguments)
        with cgutils.if_unlikely(builder, status.is_error):
            convention.return_status_propagate(builder, status)
        return returned

    @intrinsic
    def call(typing: Any, address: Any, arguments: Any) -> Any:
        fits = [typing.can_convert(*both) for both in zip(arguments, kinds, strict=True)]
        if any(conversion is None or conversion > Conversion.safe for conversion in fits):
            return None
        return result(types.int64, together), code

    return call


def _called_itself(function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    return function(*arguments)


@intrinsic
def _called_with(typing: Any, address: Any, arguments: Any) -> Any:
    kinds = tuple(arguments)

    def code(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        unpacked = [builder.extract_value(values[1], i) for i in range(len(kinds))]
        convention = context.call_conv
        pointer = builder.inttoptr(
            values[0], convention.get_function_type(types.none, kinds).as_pointer()
        )
        status, _ = convention.call_function(builder, pointer, types.none, kinds, unpacked)
        with cgutils.if_unlikely(builder, status.is_error):
            convention.return_status_propagate(builder, status)
        return context.get_dummy_value()

    return types.none(types.int64, arguments), code


# Call a kernel that returns nothing by its address, with a tuple of its arguments: these must have
# the types for which the address was made.
called_with: Any = _called_itself if config.DISABLE_JIT else _called_with


def address_within(part: Any, *kinds: Any) -> Any:
    """Return what gives a kernel the address of a function that becomes a part of its own code.

    Its argument is a tuple.  The function is called with the place of such a tuple, from which it
    can `read_tuple`, and with arguments of these types.
    """

    def code(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        compiled = part.overloads[(types.CPointer(signature.args[0]), *kinds)]
        context.active_code_library.add_linking_library(compiled.library)
        function = context.declare_function(builder.module, compiled.fndesc)
        return builder.ptrtoint(function, ir.IntType(64))

    @intrinsic
    def address(typing: Any, values: Any) -> Any:
        part.compile((types.CPointer(values), *kinds))
        return types.int64(values), code

    return address


@intrinsic
def write_tuple(typing: Any, values: Any, memory: Any) -> Any:
    """Write a tuple, its arrays without owners, to the memory (`ROOM`,) int64; return its place."""

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        value = _without_owners(context, builder, values, arguments[0])
        if context.get_abi_sizeof(value.type) > 8 * ROOM:
            raise MemoryError(f"a tuple of {context.get_abi_sizeof(value.type)} bytes")
        data = context.make_array(memory)(context, builder, arguments[1]).data
        builder.store(value, builder.bitcast(data, value.type.as_pointer()))
        return builder.ptrtoint(data, ir.IntType(64))

    return PLACE(values, memory), code


def _without_owners(context: Any, builder: Any, kind: Any, value: Any) -> Any:
    """Return the value with the owners of its arrays removed: nothing counts references to them."""
    if isinstance(kind, types.Array):
        array = context.make_array(kind)(context, builder, value)
        for field in ("meminfo", "parent"):
            setattr(array, field, cgutils.get_null_value(getattr(array, field).type))
        return array._getvalue()
    if isinstance(kind, types.BaseTuple):
        for i, of_field in enumerate(kind):
            field = builder.extract_value(value, i)
            value = builder.insert_value(
                value, _without_owners(context, builder, of_field, field), i
            )
    return value


@intrinsic
def _read_tuple(typing: Any, place: Any) -> Any:

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kind = context.get_value_type(signature.return_type)
        return builder.load(builder.bitcast(arguments[0], kind.as_pointer()))

    return place.dtype(place), code


def _tuple_itself(place: Any) -> Any:
    return place


# Return the tuple at a place where it was `write_tuple`; where nothing is compiled, by
# NUMBA_DISABLE_JIT, the place is the tuple itself.
read_tuple: Any = _tuple_itself if config.DISABLE_JIT else _read_tuple


# Tell the processor to load memory into its cache before it is needed.

# Arguments of LLVM's prefetch: for reading, to be kept in every cache, data rather than code.
READ, KEEP, DATA = 0, 3, 1


@intrinsic
def _prefetch(typing_context: Any, array: Any, index: Any) -> Any:
    """Start loading the memory around array[index] without waiting; any index is allowed."""

    def code(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        data = context.make_array(array)(context, builder, values[0]).data
        place = builder.bitcast(builder.gep(data, [values[1]]), ir.IntType(8).as_pointer())
        how = ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [place.type, how, how, how])
        function = builder.module.declare_intrinsic("llvm.prefetch", [place.type], kind)
        builder.call(function, [place, how(READ), how(KEEP), how(DATA)])
        return context.get_dummy_value()

    return types.void(array, index), code


def _not_at_all(array: Any, index: Any) -> None:
    """Do nothing, where nothing is compiled."""


prefetch = _not_at_all if config.DISABLE_JIT else _prefetch
