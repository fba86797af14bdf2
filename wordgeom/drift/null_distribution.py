"""Statistics under permutations, in blocks of permutations and words, here or on a cluster."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from wordgeom.core.types import Array, Float32, Float64, Int32
from wordgeom.drift.contrasts import CONTRASTS, GROUP_SIZE, Contrasts, word_f_values
from wordgeom.drift.permutations import Permutations
from wordgeom.drift.shared_words import SharedWords
from wordgeom.drift.statistics import WordResiduals
from wordgeom.linalg.blas import one_thread
from wordgeom.runtime.block_map import map_joined
from wordgeom.runtime.context import Context
from wordgeom.runtime.scheduler import Result, Shared

_TOGETHER = 4  # blocks of words whose statistics are saved as one: some megabytes


@dataclass(frozen=True, eq=False)
class Null:
    """F (B+1 × w) of w words and the mixture statistic (B+1), NaN where it does not apply.

    Row 0 is the observed order, computed in the same way as the others.
    """

    F: Float32
    mixture: Float64

    @classmethod
    def empty(cls, count: int, words: int) -> Null:
        """Return uninitialised space for `count` permutations."""
        return cls(np.empty((count, words), np.float32), np.full(count, np.nan))


class Way(Protocol):
    """A way to permute times, which is the spec of a map: shared arrays and numbers."""

    def values(self, codes: Int32) -> Array:
        """Return the polynomials of some permutations, as `products` reads them."""

    def prepared(self, codes: Int32) -> Result:
        """Return the arrays that all words share, from a group of b permutations.

        inverse, crossed, trend (b, …): of Contrasts; mixture (b); others that `products` reads.
        """

    def products(
        self, words: WordResiduals, part: slice, values: Array, arrays: Result
    ) -> Iterator[Float32]:
        """Yield Rᵀdiag(g_k)Z (b × q × w × r+1) of a slice of words, by group of b permutations.

        values, arrays: of all permutations of a block.
        """


def compute_null(
    permutations: Permutations, size: int, way: Way, words: WordResiduals, q: int, word_block: int,
    context: Context, unit: str,
) -> Null:  # fmt: skip
    """Return the statistics of words under permutations, in blocks of `size`; q: the degree."""
    null = Null.empty(permutations.count, len(words))
    starts = range(0, len(words), word_block)
    parts = [(start, min(start + word_block, len(words))) for start in starts]
    shared = SharedWords.of(words, context.scheduler)
    for number, codes in enumerate(permutations.blocks(size)):
        rows = slice(number * size, number * size + len(codes))
        # The size depends on --memory: blocks of another size are other results.
        part = context.part(f"{unit}-{size}-{number}")
        block = _Block(way, codes, shared, q, part)
        done = map_joined(_fill, parts, block.spec, part, "words", _TOGETHER)
        label, at = f"permutations {rows.start:,} to {rows.stop - 1:,} of {unit}", 0
        for F in context.progress.follow(
            (made["statistics"] for made in done), label, len(words), "words", lambda F: F.shape[1]
        ):
            null.F[rows, at : at + F.shape[1]] = F
            at += F.shape[1]
        null.mixture[rows] = block.mixture()
        block.release()
    shared.release(context.scheduler)
    return null


@dataclass(eq=False)
class _Block:
    """A block of permutations (b × m), prepared when a statistic of a word is to be computed."""

    way: Way
    codes: Int32
    words: SharedWords
    q: int
    context: Context
    _mixture: Float64 | None = None
    _shared: Sequence[Shared] = ()

    def spec(self) -> _Permuted:
        """Return the spec of `_fill`, and save the mixture statistic."""
        scheduler = self.context.scheduler
        arrays = _prepare(self.way, self.codes, self.context)
        self._mixture = arrays.pop("mixture")
        self.context.checkpoint.keep(self._name, {"mixture": self._mixture})
        given = tuple((name, scheduler.share(array)) for name, array in arrays.items())
        values = scheduler.share(self.way.values(self.codes))
        self._shared = [values, *(array for _, array in given)]
        return _Permuted(self.way, self.words, self.q, values, given)

    def mixture(self) -> Float64:
        """Return the mixture statistic (b), which is saved if `spec` was not needed."""
        if self._mixture is None:
            self._mixture = self.context.checkpoint.find(self._name)["mixture"]
        return self._mixture

    def release(self) -> None:
        """Free what was shared."""
        self.context.scheduler.release(*self._shared)

    @property
    def _name(self) -> str:
        return f"{self.context.prefix}mixture"


@dataclass(frozen=True)
class _Codes:
    """Permutations (b × m) to prepare."""

    way: Way
    codes: Shared


def _prepare(way: Way, codes: Int32, context: Context) -> dict[str, Array]:
    """Return what `Way.prepared` returns, of all permutations; many times make this slow."""
    scheduler, shared = context.scheduler, context.scheduler.share(codes)
    groups = [(at, min(at + GROUP_SIZE, len(codes))) for at in range(0, len(codes), GROUP_SIZE)]
    done = scheduler.map(_prepared, groups, _Codes(way, shared))
    label, unit = "preparing permutations", "groups"
    arrays: dict[str, Array] = {}
    followed = context.progress.follow(done, label, len(groups), unit, lambda _: 1)
    for group, result in zip(groups, followed, strict=True):
        for name, array in result.items():
            if name not in arrays:
                arrays[name] = np.empty((len(codes), *array.shape[1:]), array.dtype)
            arrays[name][slice(*group)] = array
    scheduler.release(shared)
    return arrays


def _prepared(group: tuple[int, int], spec: _Codes) -> Result:
    with one_thread():
        return spec.way.prepared(spec.codes.open()[slice(*group)])


@dataclass(frozen=True)
class _Permuted:
    """A block of permutations; values, arrays: what Way.products reads, and Contrasts."""

    way: Way
    words: SharedWords
    q: int
    values: Shared
    arrays: tuple[tuple[str, Shared], ...]


def _fill(part: tuple[int, int], spec: _Permuted) -> Result:
    """Return F (b × w) float32 of some words under all permutations of a block."""
    words, columns = spec.words.open(), slice(*part)
    arrays = {name: shared.open() for name, shared in spec.arrays}
    residuals, at = words.of(columns, spec.q), 0
    F = np.empty((len(arrays["inverse"]), part[1] - part[0]), np.float32)
    with one_thread():
        for products in spec.way.products(words, columns, spec.values.open(), arrays):
            group = slice(at, at + len(products))
            found = Contrasts(*(arrays[name][group] for name in CONTRASTS))
            F[group] = word_f_values(found, products, residuals)
            at += len(products)
    return {"statistics": F}
