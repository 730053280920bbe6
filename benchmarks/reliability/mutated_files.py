"""What `odrf.load` does with files that somebody has changed: load them, or say what is wrong.

``python -m benchmarks.reliability.mutated_files 100000`` changes files of four kinds of fits so
many times: bits and blocks of a file, and, with all checksums made right again, its JSON and its
arrays.  It counts what was refused and loaded; lets what was loaded predict; and prints what must
not happen: another error than `InputError`, code that runs, more than 5 seconds, more memory than 4
times what the file says that it takes.
"""

from __future__ import annotations

import io
import json
import sys
import tempfile
import time
import tracemalloc
import warnings
import zipfile
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable
from copy import deepcopy
from functools import lru_cache
from itertools import accumulate
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import odrf
from odrf.fits.files.archive import ABOUT, CONTENT, ArchiveWriter
from odrf.fits.files.storable_classes import cost_of_json

__all__ = ["MUTATIONS", "Watch", "fits", "judged", "mutated", "rewritten"]

SECONDS, TIMES = 5.0, 4
# Memory that every load takes, whatever the file: a few small objects of Python.
ALWAYS = 2**20
# What the interpreter reports of code that starts something.
RUNS = ("exec", "os.system", "os.exec", "os.posix_spawn", "pickle.find_class", "subprocess.Popen")
ODD: tuple[Any, ...] = (
    None, True, -1, 0, 1, 2, 7, 2**31, 2**62, 2**80, 0.5, -1e308, "", "x", "a" * 100, "<f8", "|O8",
    "<i8", [], {}, [[]], {"part": 0}, {"part": 10**9}, {"part": -1}, {"float": "nan"},
    {"trusted": "np.load"}, {"trusted": "numpy"}, {"function": "os.system"}, {"dict": [[1, 2]]},
    {"list": [1, 2]}, {"numpy": ["object", 1]}, {"timestamp": [0, "ns", "../../etc/passwd"]},
    {"period": [1, "nonsense"]}, {"every": 1}, {"is": "Forest"}, [0] * 50,
    "__import__('os').abort()",
)  # fmt: skip


class Watch:
    """Notes what code starts while it is on."""

    def __init__(self) -> None:
        self.on, self.seen = False, Counter[str]()
        sys.addaudithook(self._note)

    def _note(self, event: str, _: tuple[Any, ...]) -> None:
        if self.on and event in RUNS:
            self.seen[event] += 1


def fits() -> list[tuple[bytes, pd.DataFrame]]:
    """Return a file of each kind of fit, and rows to predict."""
    rng = np.random.default_rng(1)
    data = pd.DataFrame({"a": rng.normal(size=40), "b": rng.normal(size=40).round(1)})
    data["f"] = rng.choice(list("uvw"), 40)
    data["y"] = data["a"] + (data["f"] == "u")
    made = [
        odrf.odt("np.exp(y) ~ bs(a, 4) + b + f", data, max_leaves=4, seed=1),
        odrf.odrf("y ~ a + b + f", data, n_trees=3, seed=1).prune(rule="oob"),
        odrf.graf("y ~ a + b + f", data.set_index("b", drop=False), n_trees=3, seed=1),
        odrf.odbt("y ~ a + b + f", data, n_trees=3, seed=1),
    ]
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "fit"
        contents = []
        for fit in made:
            fit.save(file)
            contents.append((file.read_bytes(), data.head(20)))
    return contents


def rewritten(said: dict[str, Any], members: dict[str, bytes], memory: int) -> bytes:
    """Return a file of these contents, with all checksums right."""
    file = io.BytesIO()
    archive = ArchiveWriter(file, odrf.__version__, compress=True)
    for part in said["parts"]:
        if isinstance(part, dict) and str(part.get("file")) in members:
            place = archive.add(part["file"], [members[part["file"]]], 0)
            part.update(at=place.at, stored=place.stored, check=place.check)
    content = json.dumps(said).encode()
    archive.finish(content, memory + cost_of_json(content))
    return file.getvalue()


def _bits(content: bytes, rng: np.random.Generator) -> bytes:
    changed = bytearray(content)
    for bit in rng.integers(0, 8 * len(content), rng.integers(1, 20)):
        changed[bit // 8] ^= 1 << bit % 8
    return bytes(changed)


def _block(content: bytes, rng: np.random.Generator) -> bytes:
    """Leave a block out, repeat one, or put noise into its place."""
    at, end = sorted(rng.integers(0, len(content) + 1, 2))
    inside = (b"", content[at:end] * 2, rng.bytes(int(end - at)))[rng.integers(3)]
    return content[:at] + inside + content[end:]


def _json(content: bytes, rng: np.random.Generator) -> bytes:
    said, members, memory = _parts(content)
    for _ in range(rng.integers(1, 4)):
        holder, key = _somewhere(said, rng)
        odd = rng.random() < 0.7
        # no part of it twice, so that places end
        holder[key] = deepcopy(ODD[rng.integers(len(ODD))]) if odd else _near(holder[key], rng)
        if not isinstance(said.get("parts"), list):
            break
    if not isinstance(said.get("parts"), list):
        said["parts"] = []
    return rewritten(said, members, memory)


def _arrays(content: bytes, rng: np.random.Generator) -> bytes:
    said, members, memory = _parts(content)
    if members:
        name = sorted(members)[rng.integers(len(members))]
        members[name] = (_bits, _block)[rng.integers(2)](members[name] or b"x", rng)
    return rewritten(said, members, memory)


MUTATIONS: tuple[Callable[[bytes, np.random.Generator], bytes], ...] = (
    _bits,
    _block,
    _json,
    _json,
    _arrays,
)


def _parts(content: bytes) -> tuple[dict[str, Any], dict[str, bytes], int]:
    members = dict(_members(content))
    about, said = (json.loads(members.pop(name)) for name in (ABOUT, CONTENT))
    return said, members, about["memory"]


@lru_cache
def _members(content: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def _somewhere(said: Any, rng: np.random.Generator) -> tuple[Any, Any]:
    """Return a random place in JSON: a list or object, and where in it."""
    holders = [said] if rng.random() >= 0.95 else _holders(said["parts"]) or [said]
    ends = list(accumulate(map(len, holders)))
    place = int(rng.integers(ends[-1]))
    number = bisect_right(ends, place)
    holder, at = holders[number], place - ends[number]
    return holder, list(holder)[at] if isinstance(holder, dict) else len(holder) + at


def _holders(value: Any) -> list[Any]:
    """Return the lists and objects that are not empty, with all that are in them."""
    found = [value] if value else []
    for inside in value.values() if isinstance(value, dict) else value:
        if isinstance(inside, dict | list):
            found += _holders(inside)
    return found


def _near(value: Any, rng: np.random.Generator) -> Any:
    """Return a value of the same type."""
    if isinstance(value, bool) or value is None:
        return not value
    if isinstance(value, int | float):
        return value + int(rng.integers(-3, 4)) if abs(value) < 2**40 else value // 2
    if isinstance(value, list):
        return value[: rng.integers(len(value) + 1)]
    return value[::-1] if isinstance(value, str) else {**value, "more": 1}


def mutated(contents: list[bytes], seed: int) -> tuple[int, bytes]:
    """Return the number of one of the files, and this file changed in a way of its own."""
    rng = np.random.default_rng(seed)
    which = int(rng.integers(len(contents)))
    return which, MUTATIONS[rng.integers(len(MUTATIONS))](contents[which], rng)


def judged(file: Path, rows: pd.DataFrame, watch: Watch, memory: bool) -> str:
    """Load a file and predict; return "refused", "loaded", or what is wrong."""
    if memory:
        tracemalloc.start()
    started, fit, problem, watch.on = time.perf_counter(), None, "", True
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            fit = odrf.load(file)
    except odrf.InputError as error:
        problem = "" if str(error) else "an error without a message"
    except BaseException as error:
        problem = f"load: {type(error).__name__}: {error}"
    seconds, watch.on = time.perf_counter() - started, False
    if memory:
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        allowed = TIMES * _declared(file) + ALWAYS
        problem = problem or ("" if peak <= allowed else f"memory: {peak} bytes of {allowed}")
    if seconds > SECONDS:
        problem = f"slow: {seconds:.1f} seconds"
    if watch.seen:
        problem = f"code: {dict(watch.seen)}"
        watch.seen.clear()
    if problem:
        return problem
    if fit is None:
        return "refused"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            fit.predict(rows)
        except Exception:
            return "loaded, predicts nothing"
    return "loaded"


def _declared(file: Path) -> int:
    """Return the memory that a file says it takes, or its size."""
    content = file.read_bytes()
    start = content.find(b'"memory": ')
    digits = content[start + 10 : start + 30].split(b",")[0]
    return max(int(digits) if digits.isdigit() else 0, len(content))


def main(count: int, first: int = 0) -> int:
    """Judge `count` changed files, and print what became of them; return the number of problems."""
    watch, outcomes, slowest = Watch(), Counter[str](), 0.0
    files = fits()
    contents = [content for content, _ in files]
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "fit.odrf"
        for content, rows in files:
            file.write_bytes(content)
            odrf.load(file).predict(rows)  # imports, and evaluates annotations
            assert judged(file, rows, watch, memory=True) == "loaded"
        for seed in range(first, first + count):
            which, changed = mutated(contents, seed)
            file.write_bytes(changed)
            print(f"\r{seed}", end="", file=sys.stderr, flush=True)  # the last one, after a crash
            started = time.perf_counter()
            outcome = judged(file, files[which][1], watch, memory=seed % 10 == 0)
            slowest = max(slowest, time.perf_counter() - started)
            outcomes[outcome] += 1
            if ":" in outcome:
                print(f"\nseed {seed}: {outcome}")
    problems = sum(number for outcome, number in outcomes.items() if ":" in outcome)
    print(f"\n{count} changed files, {problems} problems; the slowest took {slowest:.2f} s")
    for outcome, number in outcomes.most_common(12):
        print(f"{number:8} {outcome}")
    return problems


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:] or ["2000"])) > 0)
