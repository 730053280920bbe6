"""Numbers in kernels: random streams, sorting, sums and small linear algebra.

The state of each stream is derived from the seed before any thread starts.  So a forest is the
same for any number of threads.  Generator: D. Blackman and S. Vigna, "Scrambled linear pseudorandom
number generators", ACM TOMS 47 (2021).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from odrf.engine.compiling import ZERO, inlined, kernel, part, summing


def streams(seed: int, first: int, last: int) -> NDArray[np.uint64]:
    """Return the states (last - first, 4) of the streams of trees `first` … `last` - 1."""
    states = np.empty((last - first, 4), dtype=np.uint64)
    for b in range(first, last):
        states[b - first] = stream(seed, b)
    return states


def stream(seed: int | list[int], *key: int) -> NDArray[np.uint64]:
    """Return the state (4,) of the stream that the seed and the `key` determine."""
    child = np.random.SeedSequence(seed, spawn_key=key)
    return np.asarray(child.generate_state(4, np.uint64), dtype=np.uint64)


def branched(state: NDArray[np.uint64], *key: int) -> NDArray[np.uint64]:
    """Return the state (4,) of another stream, which `state` (4,) and the `key` determine."""
    return stream(state.tolist(), *key)


@part
def _rotate_bits(word, bits):
    return (word << np.uint64(bits)) | (word >> np.uint64(64 - bits))


@part
def _word(state):
    result = _rotate_bits(state[0] + state[3], 23) + state[0]
    shifted = state[1] << np.uint64(17)
    state[2] ^= state[0]
    state[3] ^= state[1]
    state[1] ^= state[2]
    state[0] ^= state[3]
    state[2] ^= shifted
    state[3] = _rotate_bits(state[3], 45)
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


# Sort projected values as 64-bit keys: the value's bits above, its row's position below.
# The keys of one candidate are sorted by quicksort.  The keys of many candidates on few rows are
# sorted together by a sorting network, whose comparisons run in SIMD lanes, one lane for each
# candidate.  The network makes the same comparisons whatever the values, so no branch can be
# mispredicted.

POSITION = np.uint64(0xFFFFFFFF)
VALUE_SHIFT = np.uint64(32)
SIGN_OF_VALUE = np.uint32(31)
ALL_BITS, SIGN_BIT = np.uint32(0xFFFFFFFF), np.uint32(0x80000000)
SMALL = 24


@kernel
def key_of(value, position):
    """Return one word that sorts as the float32 `value` does and ends in `position`.

    The bits of a positive float sort as an integer once the sign bit is set, those of a
    negative one once all bits are flipped.  Adding 0 changes -0 to 0, so that both sort alike.
    """
    word = np.float32(value + np.float32(0.0)).view(np.uint32)
    flip = ALL_BITS if word >> SIGN_OF_VALUE else SIGN_BIT
    return (np.uint64(word ^ flip) << VALUE_SHIFT) | np.uint64(position)


@part
def key_of_rank(rank, position):
    """Return one word that sorts as the whole number `rank` ≥ 0 does and ends in `position`."""
    return (np.uint64(rank) << VALUE_SHIFT) | np.uint64(position)


@kernel
def value_of(key):
    """Return the float32 that `key_of` made the key from."""
    word = np.uint32(key >> VALUE_SHIFT)
    flip = SIGN_BIT if word >> SIGN_OF_VALUE else ALL_BITS
    return np.uint32(word ^ flip).view(np.float32)


@part
def _insertion(keys, lo, hi):
    for i in range(lo + 1, hi):
        key = keys[i]
        j = i - 1
        while j >= lo and keys[j] > key:
            keys[j + 1] = keys[j]
            j -= 1
        keys[j + 1] = key


@part
def _sort_part(keys, lo, hi):
    """Sort ``keys[lo:hi]``, calling itself for the smaller part only: so the stack stays short."""
    while hi - lo > SMALL:
        a, b, c = keys[lo], keys[(lo + hi) >> 1], keys[hi - 1]
        pivot = max(min(a, b), min(max(a, b), c))
        i, j = lo, hi - 1
        while i <= j:
            while keys[i] < pivot:
                i += 1
            while keys[j] > pivot:
                j -= 1
            if i <= j:
                keys[i], keys[j] = keys[j], keys[i]
                i += 1
                j -= 1
        if j + 1 - lo < hi - i:
            _sort_part(keys, lo, j + 1)
            lo = i
        else:
            _sort_part(keys, i, hi)
            hi = j + 1
    _insertion(keys, lo, hi)


@kernel
def sort_keys(keys, n):
    """Sort ``keys[:n]`` ascending in place (quicksort, with insertion sort for small parts)."""
    _sort_part(keys, ZERO, np.int64(n))


@part
def _compare_lanes(keys, lo, hi, n):
    """Compare n keys from `lo` on with n keys from `hi` on; put the lower of each pair first."""
    low, high = np.uint64(lo), np.uint64(hi)
    for x in range(np.uint64(n)):
        a, b = keys[low + x], keys[high + x]
        keys[low + x], keys[high + x] = min(a, b), max(a, b)


@kernel
def sort_lanes(keys, m, lanes):
    """Sort each lane of ``keys[:m * lanes]`` ascending in place: m rows, one key for each lane.

    Batcher's merge exchange (Knuth, The Art of Computer Programming, vol. 3, algorithm 5.2.2M);
    comparisons of neighbouring rows are made in one loop over all lanes.
    """
    power = 1
    while power < m:
        power *= 2
    run = power >> 1
    while run > 0:
        reach, offset, distance = power >> 1, 0, run
        while True:
            for i in range(offset, m - distance, 2 * run):
                n = min(run, m - distance - i)
                _compare_lanes(keys, i * lanes, (i + distance) * lanes, n * lanes)
            if reach == run:
                break
            offset, distance = run, reach - run
            reach >>= 1
        run >>= 1


# Sort many keys by their digits: passes over the keys instead of comparisons.
# A comparison of quicksort sends the processor the wrong way half of the time.  Here each pass puts
# the keys in the order of one digit of 8 bits of their values, from the lowest digit to the
# highest, and keeps the order of equal digits (Knuth, The Art of Computer Programming, vol. 3,
# algorithm 5.2.5R).  Digits that all keys share take no pass.  Positions need no passes, since they
# are in order at first.

DIGITS, BITS, RADIX = 4, np.uint64(8), 256
DIGIT = np.uint64(RADIX - 1)
# Fewer keys than this are sorted faster by comparisons: the counts of a digit cost as much as keys.
FEWEST_KEYS = 32


class DigitScratch(NamedTuple):
    """Keys of up to n rows, and what sorting them needs.

    `counts` (DIGITS, RADIX): of each digit, how many keys have it, and then where the next one of
    these goes.
    """

    keys: NDArray[np.uint64]
    spare: NDArray[np.uint64]
    counts: NDArray[np.int64]


def digit_scratch(keys: NDArray[np.uint64], spare: NDArray[np.uint64]) -> DigitScratch:
    """Return the scratch with these arrays of equal length."""
    return DigitScratch(keys, spare, np.empty((DIGITS, RADIX), dtype=np.int64))


@part
def _count_digits(keys, n, counts):
    counts[:] = 0
    for i in range(np.uint64(n)):
        value = keys[i] >> VALUE_SHIFT
        for d in range(DIGITS):
            counts[d, value & DIGIT] += 1
            value >>= BITS


@part
def _put_in_order(keys, ordered, n, shift, places):
    """Write the keys to `ordered` by the digit at `shift`; places (RADIX,) are its counts."""
    first = 0
    for digit in range(RADIX):
        count = places[digit]
        places[digit] = first
        first += count
    for i in range(np.uint64(n)):
        digit = (keys[i] >> shift) & DIGIT
        ordered[np.uint64(places[digit])] = keys[i]
        places[digit] += 1


@kernel
def sort_by_digits(scratch, n):
    """Sort the first n of ``scratch.keys``, whose positions ascend before, as `sort_keys` does."""
    keys, spare, counts = scratch.keys, scratch.spare, scratch.counts
    if n < FEWEST_KEYS:
        sort_keys(keys, n)
        return
    _count_digits(keys, n, counts)
    in_spare = False
    for d in range(DIGITS):
        shift = VALUE_SHIFT + np.uint64(d) * BITS
        if counts[d, (keys[0] >> shift) & DIGIT] == n:
            continue
        if in_spare:
            _put_in_order(spare, keys, n, shift, counts[d])
        else:
            _put_in_order(keys, spare, n, shift, counts[d])
        in_spare = not in_spare
    if in_spare:
        for i in range(np.uint64(n)):
            keys[i] = spare[i]


# The least and the largest of many floats, compared as integers: so LLVM uses SIMD lanes.

SIGN_SHIFT, ALL_BUT_SIGN = np.int32(31), np.int32(0x7FFFFFFF)
LAST_PLACE = ALL_BUT_SIGN
"""Not below `place_of` any number; minus it is not above."""


@part
def place_of(bits):
    """Map the bits of a float32 to an int32 that sorts as the float does, or back."""
    return bits ^ ((bits >> SIGN_SHIFT) & ALL_BUT_SIGN)


@part
def value_at(place):
    """Return the float32 whose bits `place_of` maps to this int32."""
    return np.int32(place_of(place)).view(np.float32)


@part
def extremes(values):
    """Return the least and the largest of `values`; compared as integers, which LLVM vectorises."""
    bits = values.view(np.int32)
    low = high = place_of(bits[0])
    for i in range(np.uint64(len(bits))):
        place = place_of(bits[i])
        low, high = min(low, place), max(high, place)
    return value_at(low), value_at(high)


# Products of the values of different trees, for all pairs of kinds of trees.


@summing
def _product(a, b):
    """Return the scalar product of a and b (d,)."""
    total = 0.0
    for i in range(np.uint64(len(a))):
        total += a[i] * b[i]
    return total


@kernel
def products_of_pairs(values, sums, products):
    """Write the sums of the products of different trees' values, for each row and pair of kinds.

    `values` (G, m, b·K): for m rows, the K values of each of the b trees of G kinds, tree by tree.
    `sums` (G, m, K): their sums over the trees.  `products` (G, G, m): receives the sums over all
    trees i of the first and j ≠ i of the second kind.
    """
    G, m = len(values), values.shape[1]
    for g in range(G):
        for h in range(g + 1):
            for r in range(m):
                # all pairs of trees, less those that share a random stream
                all_pairs = _product(sums[g, r], sums[h, r])
                products[g, h, r] = all_pairs - _product(values[g, r], values[h, r])
                products[h, g, r] = products[g, h, r]


# Whole numbers in proportion to weights, by the method of largest remainders.


def apportion(weights: NDArray[np.float64], n: int) -> NDArray[np.int64]:
    """Return whole numbers (G,) that add up to n, in proportion to the weights (G,).

    The weights must add up to 1.  By the method of largest remainders.
    """
    shares = n * weights
    counts = np.floor(shares).astype(np.int64)
    first = np.argsort(counts - shares, kind="stable")[: n - int(counts.sum())]
    counts[first] += 1
    return counts


# The Cholesky factor of a symmetric positive definite matrix, and linear systems solved by it.


@inlined
def factorise(A, d):
    """Overwrite lower A by L, A = L·Lᵀ, its diagonal inverted; False if not positive definite."""
    for j in range(d):
        for k in range(j):
            for i in range(j, d):
                A[i, j] -= A[i, k] * A[j, k]
        if A[j, j] <= 0.0:
            return False
        A[j, j] = 1.0 / math.sqrt(A[j, j])
        for i in range(j + 1, d):
            A[i, j] *= A[j, j]
    return True


@inlined
def solve_lower(L, b, d):
    """Solve L·x = b in place; L as written by `factorise`."""
    for i in range(d):
        for k in range(i):
            b[i] -= L[i, k] * b[k]
        b[i] *= L[i, i]


@inlined
def solve_upper(L, b, d):
    """Solve Lᵀ·x = b in place; L as written by `factorise`."""
    for i in range(d - 1, -1, -1):
        for k in range(i + 1, d):
            b[i] -= L[k, i] * b[k]
        b[i] *= L[i, i]


@inlined
def trace_of_inverse(L, d, column):
    """Return the trace of (L·Lᵀ)⁻¹, the sum of squares of L⁻¹; `column` (≥ d,) is scratch."""
    trace = 0.0
    for j in range(d):
        column[j] = L[j, j]
        trace += column[j] ** 2
        for i in range(j + 1, d):
            column[i] = 0.0
            for k in range(j, i):
                column[i] -= L[i, k] * column[k]
            column[i] *= L[i, i]
            trace += column[i] ** 2
    return trace


# Eigenvalues and eigenvectors of small symmetric matrices, and singular vectors of small matrices.
# By Jacobi's cyclic method (Golub and Van Loan, Matrix Computations, section 8.5): rotations set
# one off-diagonal entry after another to 0.  It needs no memory but its arguments.  Eigenvectors
# are orthogonal also where eigenvalues are equal or 0.

# Off-diagonal entries count as 0 below this share of the largest entry.
NEGLIGIBLE = 1e-15
# Jacobi's method converges quadratically: about six sweeps are enough.
MOST_SWEEPS = 30


class Spectrum(NamedTuple):
    """Scratch (D, D): input `matrix`, rows of eigenvectors; `values` (D,), the largest first."""

    matrix: np.ndarray
    vectors: np.ndarray
    values: np.ndarray


def spectrum_for(D: int) -> Spectrum:
    """Allocate the scratch for matrices of order up to D."""
    return Spectrum(np.empty((D, D)), np.empty((D, D)), np.empty(D))


@inlined
def _rotate_rows(A, d, i, j, cosine, sine):
    """Rotate two rows of A in their plane."""
    for k in range(d):
        first, second = A[i, k], A[j, k]
        A[i, k], A[j, k] = cosine * first - sine * second, sine * first + cosine * second


@part
def _rotate_plane(A, V, d, i, j):
    """Set A[i, j], i < j, to 0 by a rotation of rows and columns; rotate the rows of V too."""
    half = (A[j, j] - A[i, i]) / (2.0 * A[i, j])
    tangent = 1.0 / (abs(half) + math.sqrt(1.0 + half * half))
    if half < 0.0:
        tangent = -tangent
    cosine = 1.0 / math.sqrt(1.0 + tangent * tangent)
    sine = tangent * cosine
    first, second = A[i, i] - tangent * A[i, j], A[j, j] + tangent * A[i, j]
    _rotate_rows(A, d, i, j, cosine, sine)
    _rotate_rows(V, d, i, j, cosine, sine)
    for k in range(d):
        A[k, i], A[k, j] = A[i, k], A[j, k]
    A[i, i], A[j, j], A[i, j], A[j, i] = first, second, 0.0, 0.0


@part
def _sort(values, V, d):
    """Sort d values, the largest first, and the rows of V with them."""
    for i in range(d - 1):
        first = i
        for j in range(i + 1, d):
            if values[j] > values[first]:
                first = j
        if first != i:
            values[i], values[first] = values[first], values[i]
            for k in range(d):
                V[i, k], V[first, k] = V[first, k], V[i, k]


@kernel
def eigen(d, spectrum):
    """Write eigenvalues and unit eigenvectors of the lower triangle of spectrum.matrix, order d."""
    A, V, values = spectrum.matrix, spectrum.vectors, spectrum.values
    largest = 0.0
    for i in range(d):
        for j in range(i + 1):
            A[j, i] = A[i, j]
            V[i, j] = V[j, i] = 0.0
            largest = max(largest, abs(A[i, j]))
        V[i, i] = 1.0
    for _ in range(MOST_SWEEPS):
        done = True
        for i in range(d - 1):
            for j in range(i + 1, d):
                if abs(A[i, j]) > NEGLIGIBLE * largest:
                    _rotate_plane(A, V, d, i, j)
                    done = False
        if done:
            break
    for i in range(d):
        values[i] = A[i, i]
    _sort(values, V, d)


@kernel
def right_singular(C, g, d, spectrum):
    """Write squared singular values and right singular vectors of C (≥ g, ≥ d) to `spectrum`.

    The vectors (d,) are not of unit length.  Returns how many there are, the smaller of g and d:
    they come from the eigenvectors of C·Cᵀ or CᵀC, whichever is smaller.
    """
    A, V = spectrum.matrix, spectrum.vectors
    few = min(g, d)
    for i in range(few):
        for j in range(i + 1):
            A[i, j] = 0.0
            if g < d:
                for k in range(d):
                    A[i, j] += C[i, k] * C[j, k]
            else:
                for k in range(g):
                    A[i, j] += C[k, i] * C[k, j]
    eigen(few, spectrum)
    if g < d:
        # an eigenvector h of C·Cᵀ is a left singular vector, and Cᵀ·h a right one
        for i in range(g):
            for k in range(d):
                A[i, k] = 0.0
            for j in range(g):
                for k in range(d):
                    A[i, k] += V[i, j] * C[j, k]
        for i in range(g):
            for k in range(d):
                V[i, k] = A[i, k]
    return few
