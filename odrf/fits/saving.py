"""Fits on disk."""

from __future__ import annotations

import pickle
import warnings
from os import PathLike
from pathlib import Path
from typing import Any

from odrf.errors import InputError
from odrf.version import __version__

__all__ = ["load", "save"]

# Before the pickled fit: what the file is, and the version that wrote it.
MARK = b"odrf fit, version "


def save(fit: Any, path: str | PathLike[str]) -> None:
    """Write a fit to a file; `odrf.results.fitted.FittedResults.save` is this."""
    body = pickle.dumps(fit, protocol=5)
    Path(path).write_bytes(MARK + __version__.encode() + b"\n" + body)


def load(path: str | PathLike[str]) -> Any:
    """Read a fit that its `save` wrote.

    The file is a pickle, which can run code as it is read: load only what you trust.

    Parameters
    ----------
    path : str or path

    Returns
    -------
    ODTResults, ODRFResults, GRAFResults or ODBTResults
        As it was saved, its data and the tree it was pruned from included.

    Raises
    ------
    InputError
        If there is no such file, or it holds no fit.

    Warns
    -----
    UserWarning
        If another version of the package wrote it.

    Examples
    --------
    >>> import odrf, tempfile
    >>> tree = odrf.odt("progression ~ .", odrf.load_data("diabetes"), max_leaves=4, seed=1)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     tree.save(f"{folder}/tree.odrf")
    ...     again = odrf.load(f"{folder}/tree.odrf")
    >>> again.predict().equals(tree.predict())
    True
    """
    file = Path(path)
    if not file.is_file():
        raise InputError(f"path={str(path)!r}: there is no such file")
    head, _, body = file.read_bytes().partition(b"\n")
    if not head.startswith(MARK):
        raise InputError(f"path={str(path)!r} holds no fit: load() reads what save() wrote")
    version = head[len(MARK) :].decode(errors="replace")
    if version != __version__:
        warnings.warn(
            f"{str(path)!r} was written by odrf {version}, this is {__version__}: if it fails, "
            "fit again",
            UserWarning,
            stacklevel=2,
        )
    try:
        return pickle.loads(body)
    except Exception as error:  # whatever a damaged pickle may raise
        raise InputError(
            f"path={str(path)!r} cannot be read ({type(error).__name__}: {error}): fit again"
        ) from error
