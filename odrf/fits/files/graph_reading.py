"""From the parts that a file lists to a fit: only known classes, only sound ones."""

from __future__ import annotations

import json
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from os import PathLike
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from odrf.design.design import Design, TrainingData
from odrf.design.evaluation import restored
from odrf.design.formula import Expression
from odrf.design.trusted import trusted_value
from odrf.engine.factors import with_layout
from odrf.engine.guided.forest import GuidedForest
from odrf.engine.memory import in_fewer_bits
from odrf.engine.trees.concatenate import FOLLOWING
from odrf.engine.trees.forest import Forest
from odrf.errors import InputError
from odrf.fits.calibration import Recalibration
from odrf.fits.files import storable_classes, validation
from odrf.fits.files.archive import ArchiveReader, NotAFit, Part, damaged
from odrf.fits.files.arrays import ArrayForm, decoded_array
from odrf.fits.files.values import AS_THEY_ARE, BUILDERS, SCALARS
from odrf.fits.fit import BoostedFit, Fit, GuidedFit
from odrf.fits.stack.fit import StackedFit
from odrf.fits.survival.fit import SurvivalFit
from odrf.options.sizes import RuleFunction
from odrf.projections.base import AbsentFunction
from odrf.version import __version__


@contextmanager
def errors_naming(path: str | PathLike[str], version: str = __version__) -> Iterator[None]:
    """Let errors within this context name a file, which this version of odrf wrote."""
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


# Trees from the arrays of a file, read one after the other into little more than they take.
class UnreadArray:
    """An array of the archive."""

    def __init__(self, archive: ArchiveReader, form: ArrayForm, part: Part) -> None:
        self.archive, self.form, self.part = archive, form, part

    def read(self) -> NDArray:
        """Return the array; raise `InputError` if it is damaged."""
        return decoded_array(self.form, self._after_header())

    def _after_header(self) -> Iterator[bytes]:
        header, start = self.form.header, b""
        for piece in self.archive.pieces(self.part):
            if len(start) == len(header):
                yield piece
                continue
            missing = len(header) - len(start)
            start += piece[:missing]
            if not header.startswith(start):
                raise damaged()
            yield piece[missing:]


def with_left(values: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of trees with the number of the left child of each node."""
    values = dict(values)
    divided, children = values.pop("divided"), values.pop("children")
    left = np.full(len(divided), -1, dtype=np.int64)
    left[divided] = children
    return {**values, "left": left}


def trees_read(
    kind: type, known: dict[str, Any], unread: Mapping[str, UnreadArray]
) -> dict[str, Any]:
    """Return the fields of trees, without those that follow from others."""
    later = dict(unread)  # after an interruption all of them are read again
    with ThreadPoolExecutor(4) as threads:

        def read(names: Iterable[str]) -> dict[str, Any]:
            some = {name: later.pop(name) for name in names if name in later}
            return dict(zip(some, threads.map(UnreadArray.read, some.values()), strict=True))

        if kind is not Forest:
            return with_left(known | read(list(later)))
        whole = with_left(known | read(("root", "divided", "children", "count")))
        whole["left"] = in_fewer_bits(whole["left"])
        validation.require_sound_roots(whole["root"], len(whole["left"]))
        for name in FOLLOWING:
            whole |= read([name])
            if Forest.of(whole).that_follow([name]):
                del whole[name]
        return whole | read(list(later))


def forest_of_fields(fields: dict[str, Any]) -> Forest:
    """Return the forest of these fields, from which others may follow."""
    forest = Forest.of(fields)
    forest.__post_init__()  # `of` takes the fields as they are, and files may have wider numbers
    return forest


# Trees of more bytes than this are read when they are first used.
LARGE = 2**25
# Other versions of pandas and pyarrow may take some more bytes for the same columns.
ROOM = 2**16
# What a file holds as a whole.
SAVED = Fit, GuidedFit, BoostedFit, Recalibration, StackedFit


class FitReader:
    """Builds the fit that an archive holds, with the user's `functions` by name."""

    def __init__(self, archive: ArchiveReader, functions: Mapping[str, Any], trusted: bool) -> None:
        self.absent: dict[str, None] = {}
        self._archive, self._functions, self._trusted = archive, functions, trusted
        self._built: list[Any] = []
        self._memory = 0

    def read(self) -> tuple[str, Any]:
        """Return the name of the kind of results, and the fit; `InputError` for any fault."""
        content = self._json(self._archive.content())
        for part in content["parts"]:
            self._built.append(self._build(dict(part)))
        fit = self._value(content["fit"])
        if not self.absent and not isinstance(fit, SAVED):
            raise damaged()
        return content["result"], fit

    def _take(self, memory: int) -> None:
        """Count memory that is needed; raise `InputError` if it is more than the file declares."""
        self._memory += memory
        if self._memory > self._archive.memory + ROOM:
            raise InputError("it takes more memory than it says")

    def _json(self, content: bytes) -> Any:
        self._take(storable_classes.cost_of_json(content))
        return json.loads(content)

    def _value(self, value: Any) -> Any:
        """Return the value of this JSON."""
        kind = type(value)
        if kind in AS_THEY_ARE or kind is float:
            return value
        if kind is list:
            return tuple(self._value(one) for one in value)
        ((name, content),) = value.items()
        if name == "part":
            return self._part(content)
        if name == "dict":
            return {self._value(key): self._value(value) for key, value in content}
        if name in ("list", "set", "frozenset"):
            made = {"list": list, "set": set, "frozenset": frozenset}[name]
            return made(self._value(one) for one in content)
        if name == "trusted":
            return trusted_value(content)
        if name == "function":
            return self._functions.get(content) or AbsentFunction(str(content))
        if name == "interval":
            left, right, closed = content
            return pd.Interval(self._value(left), self._value(right), closed)
        return SCALARS[name](content)

    def _part(self, number: Any) -> Any:
        if type(number) is not int or not 0 <= number < len(self._built):
            raise damaged()
        built = self._built[number]
        if isinstance(built, UnreadArray):
            built = self._built[number] = built.read()
        return built

    def _build(self, part: dict[str, Any]) -> Any:
        kind = part.pop("is")
        if kind == "array":
            return self._array(part)
        if kind == "objects":
            return self._objects(part)
        if kind in ("Forest", "GuidedForest") and self._is_large(part):
            return self._forest_later(storable_classes.CLASSES[kind], part)
        if kind == "TrainingData":
            return self._object(TrainingData, self._rows(part))
        values = {name: self._value(value) for name, value in part.items()}
        if kind in BUILDERS:
            built = BUILDERS[kind](**values)
            self._take(storable_classes.cost_of_built(built))
            return built
        if kind == "LongDouble":
            return _long_double(**values)
        if kind == "Evaluation":
            return self._evaluation(**values)
        if kind == "RuleFunction":
            option, name = str(values["option"]), str(values["name"])
            return RuleFunction.named(option, name, self._functions.get(name))
        if kind in storable_classes.ROW_COUNTS:
            values.pop("reason", None)  # the class of the fit says it
        return self._object(storable_classes.CLASSES[kind], values)

    def _rows(self, part: dict[str, Any]) -> dict[str, Any]:
        """Return the fields of training rows with their matrix in one piece."""
        X = self._matrix(*(part.pop(name) for name in ("is_whole", "whole", "others")))
        values = {name: self._value(value) for name, value in part.items()}
        return values | {"X": with_layout(X, values["X"])}

    def _matrix(self, is_whole: Any, whole: Any, others: Any) -> NDArray[np.float32]:
        """Return the matrix of training rows, whose two parts are dropped one by one."""
        of_whole: NDArray[np.bool_] = self._value(is_whole)
        if of_whole.all():
            return np.ascontiguousarray(self._once(whole), dtype=np.float32)
        values = self._once(others)
        if not of_whole.any():
            return np.ascontiguousarray(values, dtype=np.float32)
        X = np.empty((len(of_whole), values.shape[1]), dtype=np.float32)
        X[~of_whole] = values
        del values
        X[of_whole] = self._once(whole)
        return X

    def _once(self, value: Any) -> NDArray:
        """Return an array that nothing else refers to."""
        unread = self._unread(value)
        array: NDArray = self._value(value) if unread is None else unread.read()
        return array

    def _object(self, kind: type, values: dict[str, Any]) -> Any:
        if kind in (Forest, GuidedForest):
            values = with_left(values)
        values = storable_classes.with_new_names(kind, values)
        self._require_fields(kind, values)
        built = _made(kind, values)
        if isinstance(built, Design):
            validation.require_names_of_design(built)
            if not self._trusted:
                validation.require_trusted_formula(built)
        elif isinstance(built, Fit | GuidedFit | BoostedFit):
            if built.rows is not None:
                validation.require_names_of_rows(built.design, built.rows)
            validation.require_sound_fit(built)
            _require_trees(built)
        elif isinstance(built, Recalibration):
            validation.require_sound_maps(built)
        elif isinstance(built, StackedFit):
            validation.require_sound_stack(built)
        return built

    def _evaluation(
        self,
        expression: Any,
        names: dict[str, Any],
        given: tuple[str, ...],
        flags: int,
        transforms: dict[str, Any],
    ) -> Any:
        absent = [name for name in given if name not in self._functions]
        self.absent |= dict.fromkeys(absent)
        of_user = {name: self._functions.get(name) for name in given}
        learned = {"flags": _whole(flags), "transforms": transforms}
        if not isinstance(expression, Expression):
            raise damaged()
        return restored(expression, names, of_user, learned, self._trusted)

    def _array(self, part: dict[str, Any]) -> Any:
        if "numbers" in part or "every" in part:
            form = ArrayForm.of_json({**part, "kept": part["dtype"]})
            self._take(form.memory)
            dtype = np.dtype(form.dtype).newbyteorder("=")
            if "every" in part:
                return np.full(form.shape, self._value(part["every"]), dtype=dtype)
            return np.array(part["numbers"], dtype=dtype).reshape(form.shape)
        form = ArrayForm.of_json(part)
        self._take(form.memory)
        return UnreadArray(self._archive, form, _place(part, form.written))

    def _objects(self, part: dict[str, Any]) -> NDArray:
        shape = tuple(map(_whole, part["shape"]))
        if "values" in part:
            self._take(8 * len(part["values"]))
            few = np.empty(len(part["values"]), dtype=object)
            for i, value in enumerate(part["values"]):
                few[i] = self._value(value)
            return few.reshape(shape)
        content = self._archive.read(_place(part, _whole(part["size"])))
        self._take(storable_classes.cost_of_json(content))
        lines = content.split(b"\n") if content else []
        values = np.empty(len(lines), dtype=object)
        for i, line in enumerate(lines):
            values[i] = self._value(json.loads(line))
        codes = self._value(part["codes"])
        self._take(8 * codes.size)
        if codes.dtype != np.int64 or (codes.size and codes.min() < 0):
            raise damaged()
        return values[codes].reshape(shape)

    def _is_large(self, part: dict[str, Any]) -> bool:
        unread = [self._unread(value) for value in part.values()]
        return sum(array.form.memory for array in unread if array is not None) > LARGE

    def _unread(self, value: Any) -> UnreadArray | None:
        """Return the array that a field refers to if it has not been read."""
        number: Any = value.get("part") if isinstance(value, dict) else None
        known = type(number) is int and 0 <= number < len(self._built)
        built = self._built[number] if known else None
        return built if isinstance(built, UnreadArray) else None

    def _forest_later(self, kind: Any, part: dict[str, Any]) -> Any:
        """Return trees whose arrays are read when one of them is needed."""
        unread = {name: self._unread(value) for name, value in part.items()}
        later = {name: array for name, array in unread.items() if array is not None}
        known = {name: self._value(value) for name, value in part.items() if name not in later}

        def read(trees: Any) -> None:
            with errors_naming(self._archive.path, self._archive.version):
                whole = trees_read(kind, known, later)
                self._require_fields(kind, whole, FOLLOWING if kind is Forest else ())
                made = forest_of_fields(whole) if kind is Forest else kind(**whole)
                for check in trees.__dict__["_checks"]:
                    check(made)
                made = made.lean() if kind is Forest else made
            trees.set_fields(vars(made))

        trees = kind.read_by(read)
        trees.__dict__["_checks"] = []
        return trees

    def _require_fields(
        self, kind: type, values: dict[str, Any], let_go: Container[str] = frozenset()
    ) -> None:
        """Raise `InputError` unless an object has the fields of its class, of their types."""
        names, way = set(storable_classes.field_names(kind)), way_out(self._archive.version)
        needed = {name for name in storable_classes.needed_fields(kind) if name not in let_go}
        if not needed <= set(values) <= names:
            raise InputError(
                f"it has a {kind.__name__} with parts that this version, {__version__}, does not "
                f"know: {way}"
            )
        for name, value in values.items():
            if not validation.is_as_annotated(kind, name, value):
                raise InputError(f"its {kind.__name__}.{name} is of a wrong type: {way}")


def _place(part: dict[str, Any], size: int) -> Part:
    if not all(type(part[name]) is str for name in ("file", "check")):
        raise damaged()
    return Part(part["file"], _whole(part["at"]), _whole(part["stored"]), size, part["check"])


def _whole(number: Any) -> int:
    if type(number) is not int or not 0 <= number < 2**62:
        raise damaged()
    return number


def _long_double(high: NDArray, low: NDArray, is_array: bool, exponent: Any = 0) -> Any:
    """Return numbers of more digits, in which patsy adds, as far as this machine has them."""
    with np.errstate(over="ignore"):
        whole = np.asarray(np.ldexp(high.astype(np.longdouble) + low, exponent))
    return whole if is_array else whole[()]


def _made(kind: type, values: dict[str, Any]) -> Any:
    """Return an object with these fields, also those that are no arguments."""
    later = storable_classes.fields_set_later(kind)
    made = kind(**{name: value for name, value in values.items() if name not in later})
    for name in later:
        object.__setattr__(made, name, values[name])
    return made


def _require_trees(fit: Fit | GuidedFit | BoostedFit) -> None:
    """Check the trees of a fit, now or when they are read."""
    p, K = len(fit.design.columns), fit.design.response.n_classes
    if isinstance(fit, GuidedFit):
        n_trees = len(fit.streams)
        _check(fit.guided, lambda trees: validation.require_sound_guided(trees, p, K, n_trees))
    elif isinstance(fit, Fit):
        n_trees = len(fit.streams)
        _check(fit.forest, lambda trees: validation.require_sound_forest(trees, p, K, n_trees))
        if isinstance(fit, SurvivalFit):
            _check(fit.forest, partial(validation.require_curves_of, fit))
    else:
        _check(fit.forest, lambda trees: validation.require_sound_forest(trees, p, 1, None))


def _check(trees: Any, check: Callable[[Any], None]) -> None:
    later = trees.__dict__.get("_checks")
    if later is None or "_reading" not in trees.__dict__:
        check(trees)
    else:
        later.append(check)
