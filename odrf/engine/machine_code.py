"""Machine code of kernels on disk: with a checksum, and only as long as the disk is of use.

Whatever is wrong with the folder, kernels are compiled in memory instead, and it is said once.
"""

from __future__ import annotations

import pickle
import warnings
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from numba.core.caching import FunctionCache, IndexDataCacheFile, NullCache, _CacheLocator

__all__ = ["CodeOnDisk"]

# After the content of a file: this text and the content's checksum.  Numba reads no further than
# the content's end.
MARK = b"odrf crc32 "
LENGTH = len(MARK) + 4


class CodeOnDisk:
    """The machine code of a function on disk.

    Parameters
    ----------
    function : callable
        The function to be compiled.
    files : type
        Numba's cache of machine code, or that of parts.
    """

    def __init__(self, function: Callable[..., Any], files: type = FunctionCache) -> None:
        self._cache: Any = NullCache()
        self._nowhere = False
        try:
            cache = _of_some_folder(function, files)
        except RuntimeError:
            self._nowhere = True
        else:
            plain = cache._cache_file
            cache._cache_file = _CheckedFiles(
                plain._cache_path, cache._impl.filename_base, plain._source_stamp
            )
            self._cache = cache

    def load_overload(self, signature: Any, target_context: Any) -> Any:
        """Return what was compiled for these types of arguments; None if it cannot be read."""
        try:
            return self._cache.load_overload(signature, target_context)
        except (AttributeError, ImportError):  # an older version's files name what is gone
            return None
        except Exception as error:  # whatever damaged files may raise
            self._say_that_it_is_damaged(error)
            return None

    def save_overload(self, signature: Any, compiled: Any) -> None:
        """Keep what was compiled for these types of arguments."""
        if self._nowhere:
            _say_once(
                "there is no folder to keep compiled code in, so each process compiles anew, which "
                "may take minutes: set NUMBA_CACHE_DIR to a folder that can be written"
            )
        try:
            try:
                self._cache.save_overload(signature, compiled)
            except OSError:
                raise
            except Exception:  # the list of files is damaged, or names what is gone
                self._cache.flush()
                self._cache.save_overload(signature, compiled)
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


def _of_some_folder(function: Callable[..., Any], files: type) -> Any:
    """Return Numba's cache in a folder that can be written, else in one that has code to read.

    Raises
    ------
    RuntimeError
        There is no such folder.
    """
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
    """What a file of machine code holds.

    Attributes
    ----------
    key : tuple
        What the code was compiled for, as in the list of files.
    payload : tuple
        The code, as Numba writes it.
    """

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
    if not _said:
        _said.append(message)
        warnings.warn(message, UserWarning, stacklevel=2)
