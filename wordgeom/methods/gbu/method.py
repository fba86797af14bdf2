"""Geometric build-up: least squares on a few anchor words, then weighted sweeps over all words.

Algorithm 1 of Khalife, Gonçalves and Liberti (2022) computes vectors from the eigenvectors of the
block of m frequent words (algorithm1.py). It reads only m columns of the matrix, which makes it
fast but ignores the rest. Each sweep therefore solves all rows against all others. Weighted sweeps,
the default, weight a pair by its count: their loss is that of skip-gram (logistic_sweeps.py) or
squared (weighted_sweeps.py). Plain sweeps (`--no-weighted`, plain_sweeps.py) converge to the
eigenvectors of `pmi-eigs`. `--as-published` runs Algorithm 1 without changes. docs/methods/gbu.md
shows what each part adds.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from wordgeom.core.errors import InputError, OptionError, RankError
from wordgeom.core.formatting import several
from wordgeom.core.options import flag, option
from wordgeom.core.types import Int64
from wordgeom.matrices.interfaces import Matrix
from wordgeom.methods.contract import VECTORS, Result, Status
from wordgeom.methods.dimension import DimOptions, fit_with
from wordgeom.methods.gbu import cost, size_rules
from wordgeom.methods.gbu.anchors import CHOICES, choose_anchors
from wordgeom.methods.notes import PUBLISHED_MATRIX, rank_notes, unpublished_notes
from wordgeom.runtime.context import Context
from wordgeom.subwords.options import SubwordOptions

if TYPE_CHECKING:
    from wordgeom.linalg.dimension.choice import Choice
    from wordgeom.methods.gbu.algorithm1 import Built
    from wordgeom.methods.gbu.finish import Settings, Start
    from wordgeom.methods.gbu.logistic_sweeps import LogisticLoss
    from wordgeom.methods.gbu.weighted_sweeps import Loss

NEEDS = ("matrix",)
MAKES = (VECTORS,)

_PUBLISHED_ANCHORS, _ANCHORS = 4, 10  # times K: in the paper (§5), before sweeps
_PUBLISHED_EIG = 0.5
_RESTARTS = 30  # of the eigensolver of --dim auto
_EXTRA_COLUMNS = 2  # plain sweeps iterate on K / 2 extra columns
# Settings of --as-published, which reject other values.
_PUBLISHED: dict[str, Any] = {"anchors": 0, "anchor_choice": "frequency", "eig": _PUBLISHED_EIG}
LOGISTIC, SQUARED = "logistic", "squared"
# Options of weighted sweeps alone, and of one loss alone.
OF_LOSS = {
    LOGISTIC: ("temper", "shrinkage", "thin"), SQUARED: ("x_max", "alpha", "background", "ridge")
}  # fmt: skip
_OF_WEIGHTED = ("loss", *OF_LOSS[LOGISTIC], *OF_LOSS[SQUARED], "mix")
_WEIGHTING: dict[str, dict[str, Any]] = {LOGISTIC: {"cds": 0.75}, SQUARED: {"neg": 0.2}}


@dataclass(frozen=True)
class Options(DimOptions, SubwordOptions):
    """Options of the geometric build-up."""

    anchors: int = option(
        0, "number of anchor words; 0: 10 times --dim (4 times without sweeps)", low=0,
        metavar="M",
    )  # fmt: skip
    anchor_choice: str = option(
        "frequency", "how anchors are chosen: most frequent, k-core, leverage score or random",
        choices=CHOICES,
    )  # fmt: skip
    sweeps: int = option(
        3, "least-squares sweeps over all rows; 0: build-up only", low=0, high=1000, metavar="N"
    )
    weighted: bool = option(True, "weight each pair in sweeps by its co-occurrence count")
    loss: str = option(
        LOGISTIC, "loss of weighted sweeps: skip-gram's (default --cds 0.75), or squared errors of "
        "PMI (default --neg 0.2)",
        choices=(LOGISTIC, SQUARED),
    )  # fmt: skip
    temper: float = option(
        0.75, "logistic loss: exponent of the counts; 1: skip-gram's", low=0.01, high=1.0
    )
    shrinkage: float | None = option(
        None, "logistic loss: L2 penalty of a word, times the root of its tempered counts  "
        "[0.2 to 0.5, the shorter the text and the larger --dim, the more]", low=0.0, high=1e6,
    )  # fmt: skip
    thin: float | None = option(
        None, "logistic loss: share of the text from which frequent words are thinned; 0: none  "
        "[0.0001 to 0.001, the shorter the text and the larger --dim, the more]",
        low=0.0, high=1.0,
    )  # fmt: skip
    x_max: float = option(
        20.0, "squared loss: smallest count with full weight", low=1e-6, high=1e12
    )
    alpha: float = option(
        0.5, "squared loss: exponent of the weight (count / x-max)^X of counts below --x-max",
        low=0.0, high=2.0,
    )  # fmt: skip
    background: float = option(
        0.05, "squared loss: weight that pulls every pair, observed or not, towards a PMI of 0",
        low=0.0, high=1e6,
    )  # fmt: skip
    ridge: float = option(
        3.0, "squared loss: L2 penalty times (--dim/100)², up to --dim 300", low=0.0, high=1e9
    )
    mix: float = option(
        0.2, "weight of the context vector: 1 sums word and context vectors, 0 uses the word "
        "vector alone", low=0.0, high=1.0, metavar="P",
    )  # fmt: skip
    eig: float | None = option(
        None, "power of the eigenvalues or singular values: 0.5 fits inner products, 0 weights "
        "axes equally  [0.5, with the logistic loss 0.25 to 0.375, the shorter the text and the "
        "larger --dim, the more]", low=0.0, high=1.0, metavar="P",
    )  # fmt: skip
    as_published: bool = option(
        False, "Algorithm 1 as published: PMI, 4 times --dim anchors, no sweeps"
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        self.check_used()
        for name, published in _PUBLISHED.items():
            if self.as_published and getattr(self, name) not in (published, None):
                self._refuse_published(name)
        if self.as_published and self.sweeps and self.is_set("sweeps"):
            self._refuse_published("sweeps")
        for name in ("weighted", *_OF_WEIGHTED) if self.weighted else _OF_WEIGHTED:
            if self.is_set(name) and not self.in_weighted_sweeps:
                what = f"{flag(name)} has no effect with {self._unweighted}"
                raise OptionError(what, do="omit one of the two")
        for loss, names in OF_LOSS.items():
            for name in names if loss != self.loss else ():
                if self.is_set(name):
                    what = f"{flag(name)} has no effect with --loss {self.loss}"
                    raise OptionError(what, do=f"omit it, or pass --loss {loss}")

    def _refuse_published(self, name: str) -> None:
        given = f"{flag(name)} {getattr(self, name)}"
        raise OptionError(f"--as-published excludes {given}", do="pass one of the two")

    @property
    def power(self) -> float:
        """The power of the eigenvalues, but for the logistic loss."""
        return _PUBLISHED_EIG if self.eig is None else self.eig

    def settings(self, matrix: Matrix) -> Settings:
        """The settings of weighted sweeps over a matrix."""
        from wordgeom.methods.gbu.finish import Settings

        power = self.power
        if self.loss == LOGISTIC and self.eig is None:
            power = size_rules.power(_tokens(matrix), self.size)
        return Settings(self.loss_over(matrix, self.size), self.sweeps, self.mix, power)

    def loss_over(self, matrix: Matrix, K: int) -> Loss | LogisticLoss:
        """The loss of K columns over a matrix."""
        from wordgeom.methods.gbu.logistic_sweeps import LogisticLoss
        from wordgeom.methods.gbu.weighted_sweeps import Loss

        if self.loss == SQUARED:
            return Loss(self.x_max, self.alpha, self.background, self.ridge)
        tokens = _tokens(matrix)
        penalty = size_rules.shrinkage(tokens, K) if self.shrinkage is None else self.shrinkage
        thin = size_rules.thin(tokens, K) if self.thin is None else self.thin
        return LogisticLoss(self.temper, matrix.made["neg"], matrix.made["cds"], penalty, thin)

    @property
    def _unweighted(self) -> str:
        """The option that turns weighted sweeps off."""
        if self.as_published:
            return "--as-published"
        return f"--sweeps {self.sweeps}" if self.weighted else "--no-weighted"

    @property
    def in_weighted_sweeps(self) -> bool:
        """Whether these options ask for weighted sweeps."""
        return self.weighted and self.sweeps > 0 and not self.as_published


def _tokens(matrix: Matrix) -> int:
    return int(matrix.frequencies.sum())


def weighting(options: Options) -> dict[str, Any]:
    """Return the method's default options of the weighting."""
    if options.as_published:
        return {"weighting": PUBLISHED_MATRIX["weighting"]}
    return _WEIGHTING[options.loss] if options.in_weighted_sweeps else {}


def scratch_bytes(words: int, entries: int, options: Options, memory: int) -> int:
    """Return the bytes of the pairs of weighted sweeps that do not fit in memory."""
    from wordgeom.methods.gbu.cost import pairs_on_disk

    if not options.in_weighted_sweeps:
        return 0
    targets = options.loss == SQUARED
    return pairs_on_disk(words, entries, options.size, memory, targets=targets)


def fit(inputs: Mapping[str, Any], options: Options, context: Context) -> Result:
    """Return vectors (V × K) from the build-up and sweeps.

    Raises RankError if K exceeds V or the number of anchors, InputError if the matrix is one-sided
    or memory is insufficient.
    """
    matrix: Matrix = inputs["matrix"]
    if not matrix.symmetric:
        do = "build it with --context both"
        raise InputError("gbu needs a symmetric matrix, not one-sided counts", do=do)
    return fit_with(
        options,
        lambda: _chosen(matrix, options, context),
        lambda chosen: _fit(matrix, chosen, context),
    )


def _chosen(matrix: Matrix, options: Options, context: Context) -> Choice:
    """Return the dimension that a rule chooses from the eigenvalues of the matrix."""
    from wordgeom.linalg.dimension.choice import check_choice_memory, choose_dimension

    V = len(matrix.frequencies)
    check_choice_memory((V, V), matrix.entries, context.memory)
    G, power = matrix.full(), options.power  # weighted sweeps balance both sides, as a power of ½
    return choose_dimension(G, options.rule, power, _RESTARTS, context, symmetric=True)


def _fit(matrix: Matrix, options: Options, context: Context) -> Result:
    """Return the result for a given dimension."""
    sweeps = 0 if options.as_published else options.sweeps
    m, notes = _anchor_number(matrix.frequencies, options)
    weighted = options.in_weighted_sweeps and matrix.has_counts
    cost.check(
        matrix, m, options.size, context.memory,
        sweeps=sweeps, weighted=weighted, choice=options.anchor_choice,
    )  # fmt: skip
    if weighted:
        result = _weighted(matrix, m, options, context)
    elif sweeps:
        result = _plain(matrix, m, options, context)
    else:
        result = _build_up_only(matrix, m, options, context)
    if options.in_weighted_sweeps and not weighted:
        notes.append(
            "the matrix has no counts, so sweeps are not weighted; train on counts instead"
        )
    if options.as_published:
        notes += unpublished_notes(matrix.made)
    return replace(result, notes=[*notes, *result.notes])


def _build_up_only(matrix: Matrix, m: int, options: Options, context: Context) -> Result:
    """Return the vectors of Algorithm 1."""
    K = options.size
    built, isolated = _built(matrix, m, K, options.power, options, context)
    vectors = np.ascontiguousarray(built.vectors, np.float32)
    notes = _anchor_notes(built.rank, K) + _isolated_notes(isolated, m)
    status = Status.of(missed=False, deficient=built.rank < K)
    return Result(vectors, {}, notes, _statistics(built, m, isolated), status)


def _plain(matrix: Matrix, m: int, options: Options, context: Context) -> Result:
    """Return the result of plain sweeps from the build-up."""
    from wordgeom.methods.gbu import plain_sweeps as plain

    K, V, sweeps = options.size, len(matrix.frequencies), options.sweeps
    columns = min(K + -(-K // _EXTRA_COLUMNS), m)
    # Sweeps depend on the span alone, which a power of ½ keeps well-conditioned.
    built, isolated = _built(matrix, m, columns, _PUBLISHED_EIG, options, context)
    ops, operator = context.ops, context.ops.operator(matrix.full())
    tall = ops.tall(built.vectors, built.vectors.dtype)

    def steps() -> Iterator[int]:
        nonlocal tall
        for _ in range(sweeps):
            tall = plain.sweep(operator, tall, ops)
            yield V

    for _ in context.progress.follow(steps(), "sweeps", sweeps * V, "rows", int):
        pass
    pairs = plain.ritz(operator, tall, K, ops)
    rank = int(np.count_nonzero(pairs.values > 0.0))
    statistics = _statistics(built, m, isolated) | {
        "sweeps": sweeps, "effective_rank": rank, "spectrum": pairs.values.tolist(),
        "non_positive": len(pairs.values) - rank,
    }  # fmt: skip
    vectors = plain.scaled(pairs, K, options.power, ops).astype(np.float32)
    status = Status.of(missed=False, deficient=rank < K)
    why = "there are no other positive Ritz values"
    notes = rank_notes("sweeps found", rank, K, why, "lower --dim")
    return Result(vectors, {}, notes, statistics, status)


def _weighted(matrix: Matrix, m: int, options: Options, context: Context) -> Result:
    """Return the mixed word and context vectors of weighted sweeps from the build-up."""
    from wordgeom.methods.gbu.finish import mixed, swept

    settings, K = options.settings(matrix), options.size
    state = swept(lambda: _start(matrix, m, options, context), matrix, K, settings, context)
    notes = _anchor_notes(state.facts["effective_rank"], K)
    return mixed(state, settings, notes, context.ops)


def _start(matrix: Matrix, m: int, options: Options, context: Context) -> Start:
    """Return the start of weighted sweeps: the build-up after one plain sweep."""
    from wordgeom.methods.gbu.finish import Start
    from wordgeom.methods.gbu.plain_sweeps import factor

    built, isolated = _built(matrix, m, options.size, _PUBLISHED_EIG, options, context)
    vectors = factor(context.ops.tall(built.vectors, np.float32), context.ops)
    return Start(vectors, _statistics(built, m, isolated), multiplied=True)


def _built(
    matrix: Matrix, m: int, K: int, eig: float, options: Options, context: Context
) -> tuple[Built, int]:
    """Return the vectors of Algorithm 1, and the number of words without an entry for an anchor."""
    from wordgeom.methods.gbu.algorithm1 import build_up

    anchors = choose_anchors(matrix, m, K, options.anchor_choice, context.rng, context.ops)
    columns = matrix.columns(anchors)
    built = build_up(columns, anchors, K, eig, context.ops)
    return built, int(np.count_nonzero(np.diff(columns.indptr) == 0))


def _statistics(built: Built, m: int, isolated: int) -> dict[str, Any]:
    return {
        "anchors": m,
        "effective_rank": built.rank,
        "zero_vectors": isolated,
        "largest_eigenvalue": float(built.eigenvalues[0]),
        "smallest_eigenvalue": float(built.eigenvalues[-1]),
    }


def _anchor_number(frequencies: Int64, options: Options) -> tuple[int, list[str]]:
    """Return the number of anchors, and a note if it is below the default."""
    V, K = len(frequencies), options.size
    if V < K:
        raise RankError(f"--dim {K} exceeds the number of words, {V:,}", do="lower --dim")
    published = options.as_published or not options.sweeps
    wanted = options.anchors or (_PUBLISHED_ANCHORS if published else _ANCHORS) * K
    m = min(wanted, V)
    if m < K:
        what = f"--dim {K} exceeds the number of anchors, {m:,}"
        raise RankError(what, do=f"raise --anchors to {K} or more, or lower --dim")
    return m, [f"all {V:,} words are anchors, fewer than {wanted:,}"] if m < wanted else []


def _anchor_notes(rank: int, K: int) -> list[str]:
    why = "the other eigenvalues are ≤ 0 or rounding errors"
    return rank_notes("the anchors span", rank, K, why, "raise --anchors or lower --dim")


def _isolated_notes(isolated: int, anchors: int) -> list[str]:
    if not isolated:
        return []
    words = several(isolated, "word does", "words do")
    return [f"{words} not co-occur with any of the {anchors:,} anchors: zero vectors"]
