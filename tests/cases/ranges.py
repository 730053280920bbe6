"""Ranges of seeds in several processes: a case that does not end is ended, and counted as such."""

from __future__ import annotations

import faulthandler
import multiprocessing as mp
import re
import time
from collections import defaultdict
from dataclasses import dataclass, field, replace
from queue import Empty
from typing import Any

from cases.asking import try_case
from cases.attempts import SLOW, Attempts
from cases.case import random_case
from cases.commands import try_commands
from cases.options import usual_options

__all__ = ["Tally", "run_cases", "try_seed"]


@dataclass
class Tally:
    """How many cases and calls there were, and what is unexplained, by cause."""

    cases: int = 0
    calls: int = 0
    refused: int = 0
    causes: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))

    def add(self, kind: str, seed: int, tried: Attempts) -> None:
        """Count a case."""
        self.cases, self.calls = self.cases + 1, self.calls + tried.n
        self.refused += tried.refused
        for words in tried.unexplained:
            self.causes[cause(words)].append(f"{kind} {seed}: {words}")

    def __str__(self) -> str:
        n = sum(map(len, self.causes.values()))
        lines = [
            f"{self.cases} cases, {self.calls} calls, {self.refused} refused, {n} unexplained, "
            f"of {len(self.causes)} causes"
        ]
        for words, found in sorted(self.causes.items(), key=lambda pair: -len(pair[1])):
            lines += [f"{len(found):6} × {words}", *(f"         {one}" for one in found[:3])]
        return "\n".join(lines)


def cause(words: str) -> str:
    """Return where and how a call failed, without what is special about the case."""
    found = re.search(r"(\w+ at [\w.]+:\d+(?: in [\w.]+:\d+)?: .*)", words, re.DOTALL)
    told = (found[1] if found else words).split("\n")[0]
    place, sign, message = told.partition(": ") if found else ("", "", told)
    return place + sign + re.sub(r"'[^']*'|\"[^\"]*\"|\d[\d.e+-]*", "…", message)[:80]


def try_seed(
    kind: str, seed: int, everything: bool = False, show: bool = False, usual: bool = False
) -> Attempts:
    """Try the case of a seed; once more if it is slow, because code may have been compiled.

    With `usual`, trees are of the usual families and without surrogates.
    """
    for _ in range(2):
        if kind == "command":
            tried = try_commands(seed, show)
        else:
            case = random_case(seed, kind)
            if usual:
                case = replace(case, options=usual_options(case.options))
            if show:
                print(case, case.data.dtypes, case.data.head(), sep="\n")
            tried = try_case(case, everything, show)
        if not any(SLOW in words for words in tried.unexplained):
            break
    return tried


def run_cases(
    kind: str,
    seeds: range,
    processes: int = 1,
    seconds: float = 200.0,
    everything: bool = False,
    usual: bool = False,
) -> Tally:
    """Try the cases of these seeds; a case of more than `seconds` is ended."""
    tally, queue = Tally(), mp.get_context("spawn").Queue()
    shares = [seeds[k::processes] for k in range(processes)]
    running = {
        k: _start(queue, k, kind, share, everything, usual) for k, share in enumerate(shares)
    }
    last = {k: (None, time.monotonic()) for k in running}
    while running:
        try:
            k, seed, tried = queue.get(timeout=1.0)
        except Empty:
            pass
        else:
            if tried is not None:
                tally.add(kind, seed, tried)
            last[k] = (seed if tried is None else None, time.monotonic())
            continue
        for k, process in list(running.items()):
            seed, since = last[k]
            late = seed is not None and time.monotonic() - since > seconds
            if process.is_alive() and not late:
                continue
            process.kill()
            del running[k]
            if seed is not None:
                ended = f"does not end in {seconds:g} s" if late else "ends the process"
                tally.add(kind, seed, Attempts(unexplained=[ended], n=1))
                shares[k] = shares[k][shares[k].index(seed) + 1 :]
                running[k] = _start(queue, k, kind, shares[k], everything, usual)
                last[k] = (None, time.monotonic())
    return tally


def _start(queue: Any, k: int, kind: str, seeds: range, everything: bool, usual: bool) -> Any:
    process = mp.get_context("spawn").Process(
        target=_work, args=(queue, k, kind, seeds, everything, usual), daemon=True
    )
    process.start()
    return process


def _work(queue: Any, k: int, kind: str, seeds: range, everything: bool, usual: bool) -> None:
    faulthandler.enable()
    for seed in seeds:
        queue.put((k, seed, None))
        queue.put((k, seed, try_seed(kind, seed, everything, usual=usual)))
