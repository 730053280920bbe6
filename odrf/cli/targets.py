"""Files that a command will write: checked before the work, and written as a whole."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from odrf.cli.table_files import STDIN, ending
from odrf.errors import InputError
from odrf.fits.files.saving import replaced

__all__ = ["check_targets", "write_target"]


def check_targets(targets: Mapping[str, Path | None], read: Sequence[Path | None]) -> None:
    """Raise `InputError` if writing is bound to fail, or would destroy what is read.

    Parameters
    ----------
    targets : mapping of str to Path
        The files to be written, by their options such as ``"--out"``; None for those not asked for.
    read : sequence of Path
        The files that the command reads.
    """
    others = [path for path in read if path is not None and path != STDIN]
    for option, target in targets.items():
        if target is not None:
            _check_target(option, target, others)
            others.append(target)
    out = targets.get("--out")
    if out is not None and ending(out) == ".parquet":
        raise InputError(f"--out {out}: predictions are written as csv: use another ending")


def write_target(path: Path, content: bytes) -> None:
    """Write a file as a whole; what is no file, such as a pipe, or is a stream, is written to."""
    stream = path.absolute().is_relative_to("/dev")
    if stream or (path.exists() and not path.is_file()):
        path.write_bytes(content)
    else:
        replaced(path, content)


def _check_target(option: str, target: Path, others: Sequence[Path]) -> None:
    """Raise `InputError` if a file cannot be written, or is one of the `others`."""
    if target == STDIN:
        stdout = "; predict writes to stdout without it" * (option == "--out")
        raise InputError(f"{option} - is no file: name one{stdout}")
    if not target.parent.is_dir():
        raise InputError(f"{target}: there is no folder {target.parent}: create it first")
    if target.is_dir():
        raise InputError(f"{option} {target} is a folder: name a file in it")
    if not os.access(target if target.exists() else target.parent, os.W_OK):
        raise InputError(f"{option} {target} may not be written: use another file or folder")
    for other in others:
        if target.resolve() == other.resolve() or (
            target.exists() and other.exists() and target.samefile(other)
        ):
            raise InputError(
                f"{option} {target} is the same file as {other}, which would be lost: use another "
                "name"
            )
