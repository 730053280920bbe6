"""From a fit to a list of its parts: each written once, however many others refer to it."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from odrf.design.design import TrainingData
from odrf.design.evaluation import Evaluation
from odrf.design.trusted import trusted_name
from odrf.design.weights import Offset
from odrf.engine.factors import layout_of, stored
from odrf.engine.guided.forest import GuidedForest
from odrf.engine.trees.forest import Forest
from odrf.errors import InputError
from odrf.fits.files.archive import ArchiveWriter
from odrf.fits.files.arrays import MadeWhenWritten, coded_array
from odrf.fits.files.storable_classes import CLASSES, cost_of_built, cost_of_json, field_names
from odrf.fits.files.values import AS_THEY_ARE, pandas_as_fields, scalar_as_json
from odrf.fits.fit import GuidedFit
from odrf.options.sizes import RuleFunction

# Arrays of up to so many numbers are written among the other contents.
FEW_NUMBERS = 400
# Codes of factors and indicators are below this.
WHOLE = 2.0**16


@dataclass
class FitWriter:
    """Writes the parts of a fit to an archive, with training rows if `data`.

    `advance` takes the bytes of each array that has been written; `given` has functions that
    formulas use and the file lacks, `untrusted` code that `load` refuses.
    """

    archive: ArchiveWriter
    data: bool
    advance: Callable[[int], object] = lambda n: None
    given: dict[str, None] = field(default_factory=dict)
    untrusted: dict[str, None] = field(default_factory=dict)
    _parts: list[dict[str, Any]] = field(default_factory=list)
    _number: dict[int, int] = field(default_factory=dict)
    _alive: list[Any] = field(default_factory=list)
    _places: dict[bytes, dict[str, Any]] = field(default_factory=dict)
    _memory: int = 0

    def write(self, result: str, fit: Any) -> bool:
        """Write the fit of a kind of results; return whether a reader accepts its size."""
        whole = {"result": result, "fit": self._value(fit, "fit"), "parts": self._parts}
        text = json.dumps(whole, separators=(",", ":"))
        content = text.replace('},{"is":', '},\n{"is":').encode()
        return self.archive.finish(content, self._memory + cost_of_json(content))

    def _value(self, value: Any, name: str) -> Any:
        """Return a value as JSON; `name` says where it belongs."""
        kind = type(value)
        if kind in AS_THEY_ARE or (kind is float and math.isfinite(value)):
            return value
        if kind is tuple:
            return [self._value(one, name) for one in value]
        if kind in (list, set, frozenset):
            values = [self._value(one, name) for one in value]
            return {kind.__name__: values if kind is list else sorted(values, key=json.dumps)}
        if kind is dict:
            pairs = value.items()
            return {"dict": [[self._value(key, name), self._value(v, name)] for key, v in pairs]}
        if kind is MadeWhenWritten:
            self._parts.append(self._of_array(value.make(), name))
            return {"part": len(self._parts) - 1}
        if id(value) in self._number:
            return {"part": self._number[id(value)]}
        if kind is pd.Interval:
            ends = [self._value(end, name) for end in (value.left, value.right)]
            return {"interval": [*ends, value.closed]}
        scalar = scalar_as_json(value)
        if scalar is not None:
            return scalar
        part = self._part(value, name)
        if part is None:
            return self._function(value, name)
        self._number[id(value)] = len(self._parts)
        self._alive.append(value)  # so that no other object gets its id
        self._parts.append(part)
        return {"part": len(self._parts) - 1}

    def _part(self, value: Any, name: str) -> dict[str, Any] | None:
        if isinstance(value, np.ndarray | np.longdouble) and value.dtype == np.longdouble:
            fields = {**_as_doubles(np.asarray(value)), "is_array": isinstance(value, np.ndarray)}
            return {"is": "LongDouble"} | {key: self._value(v, name) for key, v in fields.items()}
        if isinstance(value, np.ndarray):
            return self._of_array(value, name)
        of_pandas = pandas_as_fields(value)
        if of_pandas is not None:
            kind, fields = of_pandas
            self._memory += cost_of_built(value)
        elif isinstance(value, Evaluation):
            kind, fields = "Evaluation", self._evaluation(value)
        elif isinstance(value, RuleFunction):
            kind, fields = "RuleFunction", {"option": value.option, "name": value.name}
        elif isinstance(value, TrainingData) and not self.data:
            kind, fields = "RowCounts", self._fields(value.counts)
        elif CLASSES.get(type(value).__name__) is type(value):
            kind, fields = type(value).__name__, self._fields(value)
        else:
            return None
        return {"is": kind} | {
            field: self._value(part, f"{kind}.{field}") for field, part in fields.items()
        }

    def _fields(self, value: Any) -> dict[str, Any]:
        if type(value) is Forest:
            fields = value.every(MadeWhenWritten)
        else:
            fields = {name: getattr(value, name) for name in field_names(type(value))}
        if type(value) in (Forest, GuidedForest):
            # Children follow each other: their numbers alone are shorter than one for each node.
            left = fields.pop("left")
            fields["divided"] = MadeWhenWritten(lambda: left >= 0)
            fields["children"] = MadeWhenWritten(lambda: left[left >= 0])
        elif isinstance(value, TrainingData):
            fields |= _in_whole_numbers_and_others(stored(value.X))
            fields["X"] = layout_of(value.X)
        elif isinstance(value, GuidedFit):
            fields["reader"] = None
        if not self.data and isinstance(value, GuidedFit):
            fields["frame"] = pd.DataFrame()
        if not self.data and isinstance(value, Offset):
            fields["values"] = np.empty(0)
        return fields

    def _evaluation(self, evaluation: Evaluation) -> dict[str, Any]:
        given = evaluation.given
        self.given |= dict.fromkeys(given)
        part = evaluation.untrusted_part()
        if part is not None:
            self.untrusted[part] = None
        names = {"names": evaluation.plain_names, "given": tuple(given)}
        return {"expression": evaluation.expression, **names, **evaluation.learned}

    def _function(self, value: Any, name: str) -> dict[str, Any]:
        trusted = trusted_name(value)
        if trusted is not None:
            return {"trusted": trusted}
        if callable(value) and not isinstance(value, type):
            return {"function": str(getattr(value, "__name__", type(value).__name__))}
        raise InputError(
            f"{name} is of the type {type(value).__module__}.{type(value).__qualname__}, which a "
            "file cannot hold: use pickle or joblib, whose files run code when they are loaded"
        )

    def _of_array(self, array: NDArray, name: str) -> dict[str, Any]:
        return self._objects(array, name) if array.dtype.hasobject else self._array(array, name)

    def _array(self, array: NDArray, name: str) -> dict[str, Any]:
        self._memory += array.nbytes
        few = self._few_numbers(array)
        if few is not None:
            return {"is": "array", **few}
        try:
            form, content, strategy = coded_array(array)
        except InputError as error:
            raise InputError(f"{name}: {error}") from None
        place = self._place("arrays", name, "npy", [form.header, content], strategy)
        self.advance(array.nbytes)
        return {"is": "array", **form.as_json(), **place}

    def _place(
        self, folder: str, name: str, ending: str, content: list[Any], strategy: int
    ) -> dict[str, Any]:
        """Write a member, unless there is one of the same content; return where it is."""
        digest = hashlib.sha256()
        for piece in content:
            digest.update(piece)
        place = self._places.get(digest.digest())
        if place is None:
            file = f"{folder}/{len(self._parts)}.{name}.{ending}"
            part = self.archive.add(file, content, strategy)
            place = {"file": file, "at": part.at, "stored": part.stored, "check": part.check}
            self._places[digest.digest()] = place
        return place

    def _few_numbers(self, array: NDArray) -> dict[str, Any] | None:
        """Return a short array as a list of numbers, or one number that is in all places."""
        dtype = array.dtype.newbyteorder("<")
        if array.size > 1 and dtype.kind in "biuf" and dtype.itemsize <= 8:
            flat = np.ravel(array)
            if (flat == flat[0]).all() and not (dtype.kind == "f" and flat[0] == 0):
                form = {"dtype": dtype.str, "shape": list(array.shape)}
                return form | {"every": self._value(flat[0].item(), "")}
        if array.size > FEW_NUMBERS or dtype.kind not in "biuf" or dtype.itemsize > 8:
            return None
        flat = np.ravel(array)
        if not np.isfinite(flat).all():
            return None
        numbers = flat.tolist()
        if dtype.str == "<f4":
            numbers = [float(str(number)) for number in flat]
            if np.array(numbers, np.float32).tobytes() != flat.tobytes():
                return None
        return {"dtype": dtype.str, "shape": list(array.shape), "numbers": numbers}

    def _objects(self, array: NDArray, name: str) -> dict[str, Any]:
        """Return an array of objects: each different one once, as a line of JSON, and codes."""
        if array.size <= FEW_NUMBERS:
            self._memory += array.nbytes
            values = [self._value(value, name) for value in array.ravel().tolist()]
            return {"is": "objects", "shape": list(array.shape), "values": values}
        lines: dict[str, int] = {}
        known: dict[str, int] = {}
        codes: NDArray[np.int64] = np.empty(array.size, dtype=np.int64)
        for i, value in enumerate(array.ravel().tolist()):
            code = known.get(value) if type(value) is str else None
            if code is None:
                line = json.dumps(self._value(value, name), separators=(",", ":"))
                code = lines.setdefault(line, len(lines))
                if type(value) is str:
                    known[value] = code
            codes[i] = code
        content = "\n".join(lines).encode()
        self._memory += array.nbytes + cost_of_json(content)
        numbers = self._value(MadeWhenWritten(lambda: codes), f"{name}.codes")
        place = self._place("objects", name, "jsonl", [content], 0)
        shape = list(array.shape)
        return {"is": "objects", "shape": shape, "codes": numbers, "size": len(content), **place}


def _as_doubles(value: Any) -> dict[str, Any]:
    """Return numbers of more digits as sums of two of 64 bits, if need be times powers of two."""
    exponent: dict[str, Any] = {}
    finite = np.isfinite(value)
    if (np.abs(value, where=finite, out=np.zeros_like(value)) > np.finfo(np.float64).max).any():
        value, powers = np.frexp(value)
        exponent = {"exponent": np.asarray(powers)}
    high = np.asarray(value, dtype=np.float64)
    low = np.subtract(value, high, where=finite, out=np.zeros_like(value)).astype(np.float64)
    return {"high": high, "low": np.asarray(low), **exponent}


def _in_whole_numbers_and_others(X: NDArray[np.float32]) -> dict[str, Any]:
    """Return the rows of a matrix (r, n) of whole numbers apart, which take a few bits each."""
    whole = np.array(
        [row.min() >= 0 and row.max() < WHOLE and (row == np.floor(row)).all() for row in X],
        dtype=np.bool_,
    )
    parts = MadeWhenWritten(lambda: X[whole]), MadeWhenWritten(lambda: X[~whole])
    return {"is_whole": whole, "whole": parts[0], "others": parts[1]}
