"""Fits in files: with a checksum, replaced as a whole, and without functions of the user."""

from __future__ import annotations

import hashlib
import io
import os
import pickle
import secrets
import shutil
from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import Any

from odrf.design.formulas.evaluated import Evaluation, restored
from odrf.errors import InputError
from odrf.public import public
from odrf.version import __version__
from odrf.warn import warn_user

__all__ = ["load", "replaced", "save"]

# A file is a line with this text and the version that wrote it, a line with the checksum of all the
# rest, and the pickled fit.
MARK = b"odrf fit with checksum, version "
WITHOUT_CHECKSUM = b"odrf fit, version "


def save(fit: Any, path: str | PathLike[str]) -> None:
    """Save the results `fit` to a file, for `odrf.results.fitted.FittedResults.save`."""
    buffer = io.BytesIO()
    pickler = _Pickler(buffer, protocol=5)
    pickler.dump(fit)
    version, body = __version__.encode(), buffer.getvalue()
    replaced(path, MARK + version + b"\n" + _checksum(version, body) + b"\n" + body)
    _say_what_load_needs(path, pickler.given, pickler.untrusted)


def replaced(path: str | PathLike[str], content: bytes) -> None:
    """Write a file as a whole: whoever reads `path` finds what was there before, or all of it.

    The content is written to a new file in the same folder, which then takes the name.  If the
    process is killed meanwhile, this other file, which ends in ``.part``, may remain.

    Raises
    ------
    InputError
        The folder does not exist, or the file cannot be written; `path` is then as it was.
    """
    target = Path(os.path.realpath(_named(path)))
    if not target.parent.is_dir():
        raise InputError(
            f"path={str(path)!r}: there is no folder {str(target.parent)!r}: create it first"
        )
    if target.exists() and not target.is_file():
        raise InputError(f"path={str(path)!r} is no file: use another name")
    if target.exists() and not os.access(target, os.W_OK):
        raise InputError(f"path={str(path)!r} is read-only: use another name, or remove it")
    part = target.with_name(f"{target.name}.{secrets.token_hex(4)}.part")
    try:
        with part.open("xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
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


@public
def load(
    path: str | PathLike[str], *, functions: Mapping[str, Any] | None = None, trusted: bool = False
) -> Any:
    """Load a fit from a file that its method `save` wrote.

    The file is a pickle, which can run code when it is loaded.  Load only files that you trust.

    Parameters
    ----------
    path : str or path
        The file.
    functions : mapping of str to object, optional
        The functions, modules and other objects of your own that the formula uses, by name, as in
        ``{"twice": twice}``.  A file does not hold them; `save` said which they are.
    trusted : bool, default False
        Whether the formula may run any code.  By default it may use only `functions`, those of the
        package and of patsy (such as ``log``, ``bs`` and ``C``), the functions of NumPy that
        compute (such as ``np.log`` and ``np.where``), those of ``math``, ``abs``, ``bool``,
        ``float``, ``int``, ``len``, ``max``, ``min``, ``pow``, ``round``, ``str`` and ``sum``, and
        methods of columns that compute (such as ``x.clip(0, 1)`` and ``x.str.lower()``).

    Returns
    -------
    ODTResults, ODRFResults, GRAFResults or ODBTResults
        The fit as it was saved, including its data and its ``parent``.

    Raises
    ------
    InputError
        If there is no such file, or it is not a saved fit, or it was damaged; if the formula needs
        `functions` that are not given, or code that is not trusted; if the file has no checksum,
        as those of older versions, unless it is trusted.

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
    file = _named(path)
    if not file.is_file():
        raise InputError(f"path={str(path)!r}: there is no such file")
    head, _, rest = file.read_bytes().partition(b"\n")
    if head.startswith(MARK):
        version = head[len(MARK) :]
        checksum, _, body = rest.partition(b"\n")
        if checksum != _checksum(version, body):
            raise InputError(
                f"path={str(path)!r} is damaged, its checksum is wrong: use a copy, or fit again"
            )
    elif head.startswith(WITHOUT_CHECKSUM):
        version, body = head[len(WITHOUT_CHECKSUM) :], rest
        if not trusted:
            raise InputError(
                f"path={str(path)!r} has no checksum, because an older version wrote it: if you "
                "trust it, load it with trusted=True and save it again"
            )
    else:
        raise InputError(f"path={str(path)!r} is not a fit: load() reads files that save() wrote")
    _warn_of_version(path, version.decode(errors="replace"))
    unpickler = _Unpickler(io.BytesIO(body), functions or {}, trusted)
    try:
        fit = unpickler.load()
    except InputError as error:
        raise InputError(f"path={str(path)!r} cannot be loaded: {error}") from None
    except Exception as error:  # whatever a pickle of another version may raise
        raise InputError(
            f"path={str(path)!r} cannot be loaded ({type(error).__name__}: {error}): fit again"
        ) from error
    if unpickler.absent:
        raise InputError(
            f"path={str(path)!r}: the formula uses {_listed(unpickler.absent)} of your own, which "
            f"the file does not hold: use load(path, functions={_as_mapping(unpickler.absent)})"
        )
    return fit


class _Pickler(pickle.Pickler):
    """Leaves out of formulas what is the user's own, and remembers it.

    Attributes
    ----------
    given : dict of str to None
        The names of what it left out.
    untrusted : dict of str to None
        Parts of the code that `load` refuses.
    """

    def __init__(self, file: io.BytesIO, protocol: int) -> None:
        super().__init__(file, protocol)
        self.given: dict[str, None] = {}
        self.untrusted: dict[str, None] = {}

    def persistent_id(self, obj: Any) -> Any:
        """Return names and state of an evaluation; None for all else, which is pickled."""
        if not isinstance(obj, Evaluation):
            return None
        self.given |= dict.fromkeys(obj.given)
        part = obj.untrusted_part()
        if part is not None:
            self.untrusted[part] = None
        return obj.given, obj.state(without=obj.given)


class _Unpickler(pickle.Unpickler):
    """Restores what `_Pickler` wrote; `absent` are the names that `functions` lack."""

    def __init__(self, file: io.BytesIO, functions: Mapping[str, Any], trusted: bool) -> None:
        super().__init__(file)
        self.functions, self.trusted = functions, trusted
        self.absent: dict[str, None] = {}

    def persistent_load(self, pid: Any) -> Evaluation | None:
        """Return an evaluation; None where functions are absent."""
        names, state = pid
        absent = [name for name in names if name not in self.functions]
        if absent:
            self.absent |= dict.fromkeys(absent)
            return None
        return restored(state, {name: self.functions[name] for name in names}, self.trusted)


def _named(path: Any) -> Path:
    if not isinstance(path, str | PathLike) or not str(path):
        raise InputError(f"path={path!r}: use the name of a file")
    return Path(path)


def _checksum(version: bytes, body: bytes) -> bytes:
    digest = hashlib.sha256(version + b"\n")
    digest.update(body)
    return digest.hexdigest().encode()


def _sync_folder(folder: Path) -> None:
    """Write the folder's list of names to the disk, where the system can."""
    if os.name == "posix":
        opened = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(opened)
        finally:
            os.close(opened)


def _say_what_load_needs(
    path: str | PathLike[str], given: dict[str, None], untrusted: dict[str, None]
) -> None:
    words = []
    if given:
        words.append(f"{_listed(given)} of your own, which the file does not hold")
    if untrusted:
        words.append(f"{_listed(untrusted)}, which load() does not trust unless you say so")
    options = [f"functions={_as_mapping(given)}"] * bool(given)
    options += ["trusted=True"] * bool(untrusted)
    if words:
        warn_user(
            f"the formula uses {' and '.join(words)}: load it by odrf.load({str(path)!r}, "
            f"{', '.join(options)})"
        )


def _warn_of_version(path: str | PathLike[str], version: str) -> None:
    if version != __version__:
        warn_user(
            f"{str(path)!r} was written by odrf {version}, this is {__version__}: fit again if it "
            "does not work"
        )


def _listed(names: dict[str, None]) -> str:
    return ", ".join(map(repr, names))


def _as_mapping(names: dict[str, None]) -> str:
    return "{" + ", ".join(f"{name!r}: {name}" for name in names) + "}"
