"""Fits in files: without code, with checksums, replaced as a whole."""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from os import PathLike
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any

from odrf.engine.running import end_if_stopped, interruptibly
from odrf.errors import InputError, warn_user
from odrf.fits.calibration import Recalibration
from odrf.fits.files.archive import ArchiveWriter
from odrf.fits.files.graph_writing import FitWriter
from odrf.fits.files.storable_classes import bytes_in_memory
from odrf.fits.fit import AnyFit
from odrf.public.progress import progress_bar
from odrf.version import __version__


def save(
    result: str,
    fit: AnyFit | Recalibration,
    path: str | PathLike[str],
    data: bool,
    progress: bool = False,
) -> None:
    """Save a fit to a file; `result` is the name of its class of results."""
    size = bytes_in_memory(fit)
    with (
        replacing(path) as file,
        progress_bar(total=size, unit="B", desc="bytes", unit_scale=True, progress=progress) as bar,
    ):

        def written() -> FitWriter:
            archive = ArchiveWriter(file, __version__, compress=True)
            writer = FitWriter(archive, data, lambda n: advance(min(n, size - bar.n)))
            if not writer.write(result, fit):
                file.seek(0)
                file.truncate()
                writer = FitWriter(ArchiveWriter(file, __version__, compress=False), data)
                writer.write(result, fit)
            return writer

        def advance(n: int) -> None:
            end_if_stopped()
            bar.update(n)

        writer = interruptibly(written)
        bar.update(size - bar.n)
    _say_what_load_needs(path, writer.given, writer.untrusted)


def saved_bytes(fit: AnyFit, data: bool) -> int:
    """Return how large the file of a fit is, with its training rows or without."""
    with TemporaryFile() as file:
        FitWriter(ArchiveWriter(file, __version__, compress=True), data).write("", fit)
        return file.seek(0, os.SEEK_END)


def replaced(path: str | PathLike[str], content: bytes) -> None:
    """Write a file as a whole: readers of `path` get the old content, or all of the new."""
    with replacing(path) as file:
        file.write(content)


@contextmanager
def replacing(path: str | PathLike[str]) -> Iterator[IO[bytes]]:
    """Open a file that takes the name `path` when it has been written; see `replaced`."""
    try:
        target = _target(path)
    except OSError as error:  # such as a name that is too long
        raise InputError(
            f"path={str(path)!r} cannot be used ({error.strerror or error}): use another name"
        ) from error
    part = target.with_name(f"{target.name}.{secrets.token_hex(4)}.part")
    try:
        with part.open("x+b") as file:
            yield file
            file.flush()
            interruptibly(partial(os.fsync, file.fileno()))
        if target.exists():
            shutil.copymode(target, part)
        part.replace(target)
        _sync_folder(target.parent)
    except OSError as error:
        raise InputError(
            f"path={str(path)!r} cannot be written ({error.strerror or error}): use another "
            "folder; what was there before is unchanged"
        ) from error
    finally:
        part.unlink(missing_ok=True)


def _target(path: str | PathLike[str]) -> Path:
    """Return the file that is written; raise `InputError` if it cannot be."""
    target = Path(os.path.realpath(path_named(path)))
    if not target.parent.is_dir():
        raise InputError(
            f"path={str(path)!r}: there is no folder {str(target.parent)!r}: create it first"
        )
    if target.exists() and not target.is_file():
        raise InputError(f"path={str(path)!r} is no file: use another name")
    if target.exists() and not os.access(target, os.W_OK):
        raise InputError(f"path={str(path)!r} is read-only: use another name, or remove it")
    return target


def path_named(path: Any) -> Path:
    """Return the path of a name; raise `InputError` if it is none."""
    if not isinstance(path, str | PathLike) or not str(path) or "\0" in str(path):
        raise InputError(f"path={path!r}: use the name of a file")
    return Path(path)


def _sync_folder(folder: Path) -> None:
    """Write the folder's list of names to the disk, where the system can."""
    if os.name == "posix":
        opened = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(opened)
        finally:
            os.close(opened)


def _say_what_load_needs(
    path: str | PathLike[str], functions: dict[str, None], untrusted: dict[str, None]
) -> None:
    words = []
    if functions:
        words.append(f"{names_listed(functions)} of your own, which the file does not hold")
    if untrusted:
        words.append(f"{names_listed(untrusted)}, which load() does not trust unless you say so")
    options = [f"functions={as_mapping(functions)}"] * bool(functions)
    options += ["trusted=True"] * bool(untrusted)
    if words:
        warn_user(
            f"the formula uses {' and '.join(words)}: load it by odrf.load({str(path)!r}, "
            f"{', '.join(options)})"
        )


def names_listed(names: Iterable[str]) -> str:
    """Return names with commas between them."""
    return ", ".join(map(repr, names))


def as_mapping(names: Iterable[str]) -> str:
    """Return the argument `functions=` with these names, as code."""
    return "{" + ", ".join(f"{name!r}: {name}" for name in names) + "}"
