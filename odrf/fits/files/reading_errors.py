"""What is raised if a file cannot be read: it names the file, and the way out."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike

from odrf.errors import InputError
from odrf.fits.files.archive import NotAFit
from odrf.version import __version__

__all__ = ["errors_naming", "way_out"]


@contextmanager
def errors_naming(path: str | PathLike[str], version: str = __version__) -> Iterator[None]:
    """Let what is raised within this context name a file, which this version of odrf wrote.

    Raises
    ------
    InputError
        The file cannot be read, or is not as it was written.
    MemoryError
        Memory does not hold the fit.
    """
    named = f"path={str(path)!r}"
    try:
        yield
    except NotAFit:
        raise
    except InputError as error:
        raise InputError(f"{named} cannot be loaded: {error}") from None
    except OSError as error:
        raise InputError(f"{named} cannot be read ({error.strerror or error})") from error
    except MemoryError as error:
        raise MemoryError(
            f"{named} cannot be loaded: it takes more memory than is free: free some, or load it "
            "on another machine"
        ) from error
    except Exception as error:  # whatever a file that somebody has changed may cause
        what = "it is damaged"
        if version != __version__:
            what += f", or has parts that this version, {__version__}, does not know"
        raise InputError(
            f"{named} cannot be loaded: {what} ({type(error).__name__}): {way_out(version)}"
        ) from error


def way_out(version: str) -> str:
    """Return what to do if a file that this version of odrf wrote is not understood."""
    if version == __version__:
        return "use a copy, or fit again"
    return f"load it with odrf {version}, which wrote it, or fit again"
