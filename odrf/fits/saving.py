"""Saving fits to files, and loading them."""

from __future__ import annotations

import pickle
import warnings
from os import PathLike
from pathlib import Path
from typing import Any

from odrf.errors import InputError
from odrf.version import __version__

__all__ = ["load", "save"]

# The first line of a file: this text and the version that wrote the file.
MARK = b"odrf fit, version "


def save(fit: Any, path: str | PathLike[str]) -> None:
    """Save the results `fit` to a file, for `odrf.results.fitted.FittedResults.save`."""
    body = pickle.dumps(fit, protocol=5)
    Path(path).write_bytes(MARK + __version__.encode() + b"\n" + body)


def load(path: str | PathLike[str]) -> Any:
    """Load a fit from a file that its method `save` wrote.

    The file is a pickle, which can run code when it is loaded.  Load only files that you trust.

    Parameters
    ----------
    path : str or path
        The file.

    Returns
    -------
    ODTResults, ODRFResults, GRAFResults or ODBTResults
        The fit as it was saved, including its data and its ``parent``.

    Raises
    ------
    InputError
        If there is no such file, or it is not a saved fit.

    Warns
    -----
    UserWarning
        If another version of the package wrote the file.

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
        raise InputError(f"path={str(path)!r} is not a fit: load() reads files that save() wrote")
    version = head[len(MARK) :].decode(errors="replace")
    if version != __version__:
        warnings.warn(
            f"{str(path)!r} was written by odrf {version}, this is {__version__}: fit again if it "
            "does not work",
            UserWarning,
            stacklevel=2,
        )
    try:
        return pickle.loads(body)
    except Exception as error:  # whatever a damaged pickle may raise
        raise InputError(
            f"path={str(path)!r} cannot be loaded ({type(error).__name__}: {error}): fit again"
        ) from error
