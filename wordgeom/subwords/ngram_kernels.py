"""The loops over n-grams: listing those of words, and looking them up by their symbols."""

from __future__ import annotations

import numpy as np

from wordgeom.core.types import Array, Int64
from wordgeom.runtime.jit import kernel

_SEED, _PRIME = np.uint64(0xCBF29CE484222325), np.uint64(0x100000001B3)
_FNV_SEED, _FNV_PRIME = np.uint32(2166136261), np.uint32(16777619)


@kernel
def list_ngrams(
    bounds: Int64, starts: Int64, low: int, high: int, begins: Int64, ends: Int64, firsts: Int64
) -> int:
    """Write where the n-grams of `low` to `high` units begin and end, and the first of each word.

    firsts (n + 1). BEGIN or END alone is no n-gram. Returns the number of n-grams; with empty
    `begins`, counts them only.
    """
    at, store = 0, len(begins) > 0
    for w in range(len(starts) - 1):
        firsts[w] = at
        base, units = starts[w], starts[w + 1] - starts[w] - 1
        for i in range(units):
            for n in range(low, min(high, units - i) + 1):
                if n == 1 and (i == 0 or i == units - 1):
                    continue
                if store:
                    begins[at], ends[at] = bounds[base + i], bounds[base + i + n]
                at += 1
    firsts[len(starts) - 1] = at
    return at


@kernel
def fnv_buckets(symbols: Array, begins: Int64, ends: Int64, buckets: int, out: Int64) -> None:
    """Set out (n) to the buckets of n-grams of bytes: fastText's FNV-1a, 32 bits, bytes signed."""
    for t in range(len(begins)):
        mixed = _FNV_SEED
        for k in range(begins[t], ends[t]):
            byte = np.uint32(symbols[k])
            if byte > np.uint32(127):
                byte |= np.uint32(0xFFFFFF00)
            mixed = np.uint32((mixed ^ byte) * _FNV_PRIME)
        out[t] = np.int64(mixed) % buckets


@kernel
def _hash(symbols: Array, begin: int, end: int) -> int:
    mixed = _SEED
    for k in range(begin, end):
        mixed = (mixed ^ np.uint64(symbols[k])) * _PRIME
    mixed ^= mixed >> np.uint64(29)
    return int(np.int64(mixed >> np.uint64(1)))


@kernel
def _slot(
    slots: Int64, arena: Array, places: Int64, symbols: Array, begin: int, end: int, mixed: int
) -> int:
    """Return the slot of an n-gram, or the empty slot for it."""
    mask = len(slots) - 1
    slot = mixed & mask
    while slots[slot] != 0:
        if slots[slot] >> 32 == mixed >> 32:
            own = (slots[slot] & 0xFFFFFFFF) - 1
            start = places[own]
            if places[own + 1] - start == end - begin:
                k = 0
                while k < end - begin and arena[start + k] == symbols[begin + k]:
                    k += 1
                if k == end - begin:
                    return slot
        slot = (slot + 1) & mask
    return slot


@kernel
def find_ngrams(
    slots: Int64, arena: Array, places: Int64, symbols: Array, begins: Int64, ends: Int64,
    out: Int64,
) -> None:  # fmt: skip
    """Set out (n) to the ids of n-grams, -1 for unknown ones.

    slots: open addressing, 0 or the upper half of the hash and the id + 1; the symbols of id r are
    arena[places[r]:places[r + 1]].
    """
    for t in range(len(begins)):
        mixed = _hash(symbols, begins[t], ends[t])
        slot = _slot(slots, arena, places, symbols, begins[t], ends[t], mixed)
        out[t] = (slots[slot] & 0xFFFFFFFF) - 1


@kernel
def add_ngrams(
    slots: Int64, arena: Array, places: Int64, number: int, symbols: Array, begins: Int64,
    ends: Int64, out: Int64,
) -> int:  # fmt: skip
    """Set out (n) to the ids of n-grams, adding new ones to the first `number`; return how many.

    There must be room for all of them, with the table at most half full.
    """
    for t in range(len(begins)):
        mixed = _hash(symbols, begins[t], ends[t])
        slot = _slot(slots, arena, places, symbols, begins[t], ends[t], mixed)
        if slots[slot] == 0:
            start = places[number]
            for k in range(begins[t], ends[t]):
                arena[start + k - begins[t]] = symbols[k]
            places[number + 1] = start + ends[t] - begins[t]
            number += 1
            slots[slot] = ((mixed >> 32) << 32) | number
        out[t] = (slots[slot] & 0xFFFFFFFF) - 1
    return number


@kernel
def fill_slots(slots: Int64, arena: Array, places: Int64, number: int) -> None:
    """Fill an empty table with the first `number` n-grams, which are distinct."""
    mask = len(slots) - 1
    for own in range(number):
        mixed = _hash(arena, places[own], places[own + 1])
        slot = mixed & mask
        while slots[slot] != 0:
            slot = (slot + 1) & mask
        slots[slot] = ((mixed >> 32) << 32) | (own + 1)
