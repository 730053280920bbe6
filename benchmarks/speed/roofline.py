"""How close the kernels are to the limits of the machine, one core: bytes, operations, gathers.

    python -m benchmarks.speed.roofline --out roofline.csv [--plot roofline.png] [--turns 30]
    python -m benchmarks.speed.roofline --report roofline.csv [--plot roofline.png]

Three limits are measured, by loops compiled as the kernels are: bytes per second that a sum reads
from arrays of 16 kB to 1 GB; float32 additions and multiplications per second in SIMD lanes and
singly, not fused, as the kernels never fuse them; and seconds for a read from a random place of
arrays of these sizes, of which many are under way at the same time.

What a kernel does for each row is counted in its own code (``roofline_kernels.py``): bytes are
those of every array element that a pass reads or writes, each time; operations are additions,
multiplications, divisions, comparisons, minima and maxima of the data, not those on addresses;
gathers are reads from places in random order.  The limit is the longest of four times: all bytes at
the speed of the first cache; each array once at the speed of arrays of their size together; the
operations at the speed of SIMD lanes where the order of the sums allows these, singly where it does
not; and the gathers one by one.  The share of the limit that is reached is the limit divided by the
measured time.

Seconds are those of the processor, the lower quartile over turns.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import partial
from pathlib import Path
from time import process_time
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from numba import njit

from benchmarks.shared.markdown import table
from benchmarks.speed.roofline_kernels import KERNELS, Work
from odrf.plots.style import CLASSES, MUTED, log_scale, plain

READ = tuple(2**power for power in (14, 16, 18, 19, 20, 21, 22, 23, 24, 26, 28, 30))
"""Bytes of the arrays that are read."""
WORDS = {2**14: "16 kB", 2**19: "512 kB", 2**21: "2 MB", 2**24: "16 MB", 2**30: "1 GB"}
DRAWN = (2**14, 2**24, 2**30)
COLUMNS = ["name", "rows", "held", "bytes", "operations", "gathers", "lanes", "ns", "limit", "of"]
"""Of a limit `ns` is for a byte, an operation or a gather, of arrays of `held` bytes."""
# Seconds of a measurement, and multiplications and additions in a loop for each element.
ENOUGH, STEPS = 0.003, 32
NANO = 1e9


@njit(fastmath={"reassoc", "nsz"}, nogil=True)
def read(x: Any, times: Any) -> Any:
    """Return a sum that reads all of x (n,) again and again."""
    total = np.float32(0.0)
    for _ in range(times):
        for i in range(len(x)):
            total += x[i]
        x[0] = total * np.float32(1e-30)
    return total


@njit(nogil=True)
def in_lanes(x: Any, times: Any) -> Any:
    """Multiply and add 32 times in a row for every element of x (n,)."""
    factor, term = np.float32(0.999), np.float32(0.001)
    for _ in range(times):
        for i in range(len(x)):
            value = x[i]
            for _ in range(STEPS):
                value = value * factor + term
            x[i] = value


@njit(nogil=True)
def singly(times: Any) -> Any:
    """Multiply and add eight numbers again and again, each on its own."""
    a = b = c = d = e = f = g = h = np.float32(0.5)
    factor, term = np.float32(0.999), np.float32(0.001)
    for _ in range(times):
        a, b, c = a * factor + term, b * factor + term, c * factor + term
        d, e, f = d * factor + term, e * factor + term, f * factor + term
        g, h = g * factor + term, h * factor + term
    return a + b + c + d + e + f + g + h


@njit(fastmath={"reassoc", "nsz"}, nogil=True)
def gather(x: Any, places: Any, times: Any) -> Any:
    """Return a sum of the elements of x (n,) at `places`."""
    total = np.float32(0.0)
    for _ in range(times):
        for i in range(len(places)):
            total += x[np.uint64(places[i])]
        x[0] = total * np.float32(1e-30)
    return total


def seconds(call: Callable[[int], object], turns: int) -> float:
    """Return the seconds of a call that does its work once, of calls that do it many times."""
    call(1)
    times = 1
    while _elapsed(call, times) < ENOUGH:
        times *= 2
    return float(np.quantile([_elapsed(call, times) for _ in range(turns)], 0.25)) / times


def _elapsed(call: Callable[[int], object], times: int) -> float:
    start = process_time()
    call(times)
    return process_time() - start


def limits(turns: int) -> pd.DataFrame:
    """Measure the limits, in nanoseconds for a byte, an operation and a gather."""
    lines = []
    rng = np.random.default_rng(0)
    for size in READ:
        x = np.ones(size // 4, dtype=np.float32)
        places = rng.integers(0, len(x), 2**16).astype(np.uint32)
        few = turns if size < 2**28 else 3
        lines.append(("read", size, seconds(partial(read, x), few) / size))
        lines.append(("gather", size, seconds(partial(gather, x, places), few) / len(places)))
    block = np.ones(2**12, dtype=np.float32)
    lines.append(("lanes", 0, seconds(partial(in_lanes, block), turns) / (2 * STEPS * len(block))))
    lines.append(("singly", 0, seconds(singly, turns) / 16))
    found = pd.DataFrame(lines, columns=["name", "held", "ns"])
    return found.assign(ns=NANO * found["ns"])


def at_size(known: pd.DataFrame, name: str, held: float) -> float:
    """Return the nanoseconds for a byte or a gather of arrays of this size, between those known."""
    chosen = known[known["name"] == name]
    return float(np.interp(np.log(held), np.log(chosen["held"]), chosen["ns"]))


def limit_of(work: Work, known: pd.DataFrame) -> tuple[float, str]:
    """Return the nanoseconds for a row, and what they are for."""
    operation = known.set_index("name")["ns"]["lanes" if work.lanes else "singly"]
    times = {
        "all bytes": work.bytes * at_size(known, "read", READ[0]),
        "each array once": work.once * at_size(known, "read", work.held),
        "operations": work.operations * operation,
        "gathers": work.gathers * at_size(known, "gather", max(work.gathered, READ[0])),
    }
    bound = max(times, key=lambda each: times[each])
    return times[bound], bound


def measure(turns: int) -> pd.DataFrame:
    """Measure the limits and all kernels."""
    known = limits(turns)
    lines = []
    for name, (kernel, sizes) in KERNELS.items():
        for rows in sizes:
            work = kernel(rows)
            spent = seconds(work.run, turns)
            if work.prepare is not None:
                spent -= seconds(work.prepare, turns)
            done = work.held, work.bytes, work.operations, work.gathers, work.lanes
            ns = NANO * spent / (rows * work.repeated)
            lines.append((name, rows, *done, ns, *limit_of(work, known)))
    found = pd.DataFrame(lines, columns=COLUMNS)
    return pd.concat([known.reindex(columns=COLUMNS).astype(object), found], ignore_index=True)


def report(lines: pd.DataFrame) -> str:
    """Write the limits and the kernels as markdown."""
    known, kernels = lines[lines["rows"].isna()], lines[lines["rows"].notna()]
    sizes = pd.DataFrame(
        {
            "10⁹ bytes per second": [f"{1 / at_size(known, 'read', size):.0f}" for size in WORDS],
            "ns of a gather": [f"{at_size(known, 'gather', size):.2f}" for size in WORDS],
        },
        index=list(WORDS.values()),
    )
    speed = 1 / known.set_index("name")["ns"]
    parts = [
        table(sizes, "arrays of"),
        f"10⁹ operations per second: {speed['lanes']:.0f} in SIMD lanes, "
        f"{speed['singly']:.1f} singly",
    ]
    cells = pd.DataFrame(
        {
            "kernel": kernels["name"],
            "rows": kernels["rows"].astype(int).map("{:,}".format),
            "bytes": kernels["bytes"].map("{:.0f}".format),
            "operations": kernels["operations"].map("{:.1f}".format),
            "gathers": kernels["gathers"].map("{:.1f}".format),
            "ns": kernels["ns"].map("{:.2f}".format),
            "limit, ns": kernels["limit"].map("{:.2f}".format),
            "of": kernels["of"],
            "share": (kernels["limit"] / kernels["ns"]).map("{:.0%}".format),
        }
    ).set_index("kernel")
    return "\n\n".join([*parts, table(cells, "kernel"), table(shares(kernels), "kernel")])


def shares(kernels: pd.DataFrame) -> pd.DataFrame:
    """Return the nanoseconds for a row and the share of the limit, by kernel and rows."""
    cells = kernels["ns"].map("{:.2g} ns, ".format) + (kernels["limit"] / kernels["ns"]).map(
        "{:.0%}".format
    )
    wide = kernels.assign(cell=cells).pivot(index="name", columns="rows", values="cell")
    wide.columns = [f"{int(rows):,}" for rows in wide.columns]
    return wide.loc[list(KERNELS)].fillna("–")


def plot(lines: pd.DataFrame, path: Path) -> None:
    """Draw the roofs with the kernels under them, and the shares by the size of the node."""
    figure, (roofs, shares) = plt.subplots(1, 2, figsize=(12.4, 4.6), layout="constrained")
    kernels = lines[lines["rows"].notna()]
    _draw_roofs(roofs, lines[lines["rows"].isna()])
    for number, (name, group) in enumerate(kernels.groupby("name", sort=False)):
        look: dict[str, Any] = {
            "color": CLASSES[number % 6],
            "marker": "o" if number < 6 else "s",
            "markersize": 4.5,
            "markerfacecolor": CLASSES[number % 6] if number < 6 else "white",
        }
        speed = group["operations"] / group["ns"]
        roofs.plot(group["operations"] / group["bytes"], speed, linestyle="", **look)
        share = 100 * group["limit"] / group["ns"]
        style = "-" if number < 6 else "--"
        shares.plot(group["rows"], share, linestyle=style, label=name, **look)
    log_scale(shares, "x")
    shares.set(xlabel="rows of the node, or of the batch", ylabel="share of the limit, %")
    shares.set_ylim(0, None)
    shares.set_title("Share of the limit that is reached")
    figure.legend(*shares.get_legend_handles_labels(), loc="outside right center", frameon=False)
    plain(roofs, grid="y")
    plain(shares, grid="y")
    figure.savefig(path, dpi=120)
    plt.close(figure)


def _draw_roofs(ax: Axes, known: pd.DataFrame) -> None:
    speed = 1 / known.set_index("name")["ns"]
    x = np.geomspace(0.002, 5, 200)
    for size in DRAWN:
        roof = np.minimum(x / at_size(known, "read", size), speed["lanes"])
        ax.plot(x, roof, color=MUTED, linewidth=1)
        ax.annotate(
            f"arrays of {WORDS[size]}",
            (x[0], roof[0]),
            xytext=(10, -1),
            textcoords="offset points",
            color=MUTED,
            va="center",
            fontsize=8,
            bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.5},
        )
    for name, words in (("lanes", "in SIMD lanes"), ("singly", "singly")):
        ax.axhline(speed[name], color=MUTED, linewidth=1, linestyle="--")
        ax.annotate(words, (x[-1], speed[name]), color=MUTED, ha="right", va="bottom", fontsize=8)
    log_scale(ax, "x")
    log_scale(ax, "y")
    ax.set(xlabel="operations per byte", ylabel="10⁹ operations per second")
    ax.set_title("The kernels under the roofs, a point for each size")


def main() -> None:
    """Measure, or report an earlier run."""
    asked = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    add = asked.add_argument
    add("--out", type=Path, default=Path("roofline.csv"), help="csv that is written")
    add("--report", type=Path, help="csv to be reported, instead of a run")
    add("--plot", type=Path, help="picture that is drawn of the csv")
    add("--turns", type=int, default=30, help="measurements of each kernel")
    options = asked.parse_args()
    if options.report is None:
        lines = measure(options.turns)
        lines.to_csv(options.out, index=False, float_format="%.4g")
    lines = pd.read_csv(options.report or options.out)
    print(report(lines))
    if options.plot is not None:
        plot(lines, options.plot)


if __name__ == "__main__":
    main()
