"""The function that loads a fit from a file."""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import Any, get_args

from odrf.checks import checked_truth
from odrf.errors import InputError, warn_user
from odrf.fits.files.archive import ArchiveReader, NotAFit
from odrf.fits.files.graph_reading import FitReader, errors_naming
from odrf.fits.files.saving import as_mapping, names_listed, path_named
from odrf.public import public
from odrf.reports.checks import CalibratedFit
from odrf.results.boosted import ODBTResults
from odrf.results.chunks import StreamedResults
from odrf.results.forest import ODRFResults
from odrf.results.guided import GRAFResults
from odrf.results.stack import AutoResults
from odrf.results.survival.boosted import SurvivalBoostedResults
from odrf.results.survival.estimand import EstimandResults
from odrf.results.survival.forest import SurvivalForestResults
from odrf.results.survival.tree import SurvivalTreeResults
from odrf.results.tree import LineTreeResults, ODTResults
from odrf.version import __version__

Loaded = (
    ODTResults
    | LineTreeResults
    | ODRFResults
    | StreamedResults
    | GRAFResults
    | ODBTResults
    | AutoResults
    | SurvivalTreeResults
    | SurvivalForestResults
    | SurvivalBoostedResults
    | EstimandResults
    | CalibratedFit
)
RESULTS: dict[str, type[Any]] = {kind.__name__: kind for kind in get_args(Loaded)}
# What a file begins with that version 0.1 wrote, and a pickle.
OF_FIRST_VERSION, PICKLE = b"odrf fit", b"\x80"


@public
def load(
    path: str | PathLike[str], *, functions: Mapping[str, Any] | None = None, trusted: bool = False
) -> Loaded:
    """Load a fit, or a calibrated fit, from a file that its method `save` wrote.

    No code runs that the file holds: it has arrays and plain text, and formulas as text.  What a
    file contains, and how to read it without this package, is said in `odrf.fits.files`.

    Parameters
    ----------
    path : str or path
        The file.
    functions : mapping of str to object, optional
        The functions, modules and other objects of your own that the formula uses, by name, as in
        ``{"twice": twice}``.  A file does not hold them; `save` said which they are.  Functions
        that were given as options, too, such as ``max_leaves=rule``: without these the fit loads,
        and raises `InputError` when it needs them.
    trusted : bool, default False
        Whether the formula may run any code.  By default it may use only `functions`, those of the
        package and of patsy (such as ``log``, ``bs`` and ``C``), the functions of NumPy that
        compute (such as ``np.log`` and ``np.where``), those of ``math``, ``abs``, ``bool``,
        ``float``, ``int``, ``len``, ``max``, ``min``, ``pow``, ``round``, ``str`` and ``sum``, and
        methods of columns that compute (such as ``x.clip(0, 1)`` and ``x.str.lower()``).

    Returns
    -------
    a class of results, such as ODTResults, or CalibratedFit
        The fit as it was saved, including its data and its ``parent``.

    Raises
    ------
    InputError
        If there is no such file, or it is not a saved fit, or it was damaged; if it has parts that
        this version does not know; if the formula needs `functions` that are not given, or code
        that is not trusted; if it is a pickle, whether it is trusted or not; if `functions` is not
        a mapping, or `trusted` not True or False.
    MemoryError
        If the fit takes more memory than is free.

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
    file, trusted = _file_named(path), checked_truth("trusted", trusted)
    if functions is not None and not isinstance(functions, Mapping):
        raise InputError(
            f"functions={functions!r}: use a mapping of names to functions, such as {{'f': f}}"
        )
    named = f"path={str(path)!r}"
    try:
        with errors_naming(path):
            archive = ArchiveReader(file)
    except NotAFit:
        raise _no_fit(named, file) from None
    with errors_naming(path, archive.version):
        reader = FitReader(archive, functions or {}, trusted)
        kind, fit = reader.read()
        if not reader.absent:
            result: Loaded = RESULTS[kind](fit)
    if reader.absent:
        raise InputError(
            f"{named}: the formula uses {names_listed(reader.absent)} of your own, which the file "
            f"does not hold: use load(path, functions={as_mapping(reader.absent)})"
        )
    if archive.version != __version__:
        warn_user(
            f"{str(path)!r} was written by odrf {archive.version}, this is {__version__}: fit "
            "again if it does not work"
        )
    return result


def _file_named(path: str | PathLike[str]) -> Path:
    """Return the file of this name; raise `InputError` if there is none."""
    file = path_named(path)
    try:
        if file.is_file():
            return file
        what = "it is a folder: name a file" if file.is_dir() else "there is no such file"
    except OSError as error:  # such as a name that is too long
        what = f"it cannot be read ({error.strerror or error})"
    raise InputError(f"path={str(path)!r}: {what}")


def _no_fit(named: str, file: Path) -> InputError:
    with file.open("rb") as opened:
        start = opened.read(len(OF_FIRST_VERSION))
    if start == OF_FIRST_VERSION or start.startswith(PICKLE):
        return InputError(
            f"{named} is a pickle, as version 0.1 wrote, which can run any code when it is loaded, "
            "so load() does not read it: fit again and save that; or load it with the version that "
            "wrote it, if you trust it"
        )
    return InputError(f"{named} is not a fit: load() reads files that save() wrote")
