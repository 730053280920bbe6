"""Random numbers inside kernels: one xoshiro256++ stream per tree.

The state of each stream is derived from the seed before any thread starts.  So a forest is the
same for any number of threads.  Generator: D. Blackman and S. Vigna, "Scrambled linear pseudorandom
number generators", ACM TOMS 47 (2021).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from odrf.engine.compiling import kernel, part

__all__ = ["below", "branched", "shuffle_front", "stream", "streams", "uniform"]


def streams(seed: int, first: int, last: int) -> NDArray[np.uint64]:
    """Return the states (last - first, 4) of the streams of trees `first` … `last` - 1."""
    states = [stream(seed, b) for b in range(first, last)]
    return np.array(states, dtype=np.uint64).reshape(-1, 4)


def stream(seed: int | list[int], *key: int) -> NDArray[np.uint64]:
    """Return the state (4,) of the stream that the seed and the `key` determine."""
    child = np.random.SeedSequence(seed, spawn_key=key)
    return np.asarray(child.generate_state(4, np.uint64), dtype=np.uint64)


def branched(state: NDArray[np.uint64], *key: int) -> NDArray[np.uint64]:
    """Return the state (4,) of another stream, which `state` (4,) and the `key` determine."""
    return stream(state.tolist(), *key)


@part
def _rotate(word, bits):
    return (word << np.uint64(bits)) | (word >> np.uint64(64 - bits))


@part
def _word(state):
    result = _rotate(state[0] + state[3], 23) + state[0]
    shifted = state[1] << np.uint64(17)
    state[2] ^= state[0]
    state[3] ^= state[1]
    state[1] ^= state[2]
    state[0] ^= state[3]
    state[2] ^= shifted
    state[3] = _rotate(state[3], 45)
    return result


@kernel
def uniform(state):
    """Return a float uniform on [0, 1) and advance `state` (4,)."""
    return np.float64(_word(state) >> np.uint64(11)) * (1.0 / 9007199254740992.0)


@kernel
def below(state, n):
    """Return an integer uniform on 0 … n - 1, for n far below 2⁵³, and advance `state` (4,)."""
    return int(uniform(state) * n)


@kernel
def shuffle_front(state, items, k):
    """Move k of the `items`, drawn without replacement, to the front (Fisher and Yates)."""
    for i in range(k):
        j = i + below(state, len(items) - i)
        items[i], items[j] = items[j], items[i]
