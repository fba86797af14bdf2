"""The stage of extension: vectors, and counts with new words → vectors of the new words too.

The known vectors are written first, in their order and bit for bit, then those of the new words,
the most frequent first.
"""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from wordgeom.core.errors import InputError, OptionError
from wordgeom.core.formatting import several
from wordgeom.core.types import Float32, Int64
from wordgeom.linalg.device import get_ops, open_context
from wordgeom.linalg.row_solver import Held
from wordgeom.matrices.cooccurrence import COOC, StoredMatrix
from wordgeom.methods.gbu.calibration import Calibrated, calibrate
from wordgeom.methods.gbu.extension import Anchored, ExtendOptions
from wordgeom.methods.gbu.new_words import VocabularySplit, split_vocabulary
from wordgeom.methods.gbu.weighted_sweeps import confidences
from wordgeom.runtime import provenance
from wordgeom.runtime.context import Context
from wordgeom.runtime.memory import refuse_too_large
from wordgeom.runtime.provenance import Clock
from wordgeom.runtime.run_options import RunOptions
from wordgeom.stages.train import open_matrix
from wordgeom.stages.trained_options import AsTrained, as_trained
from wordgeom.vectors import run_card
from wordgeom.vectors.keyed import Vectors, checked_words, read_vectors, shape_of, writable_words
from wordgeom.weighting.pmi import WeightedMatrix

_LEAST_RIDGE = 1.0  # a card may hold 0, and vectors columns of 0
_TRUSTED = 0.5  # a median cosine below it is warned of
_PAIR, _SOLVING = 20, 10**8  # bytes: of a counted pair, of a block of rows that is solved

Source = str | os.PathLike[str] | Vectors


@dataclass
class Extended:
    """Vectors with those of new words, or found up to date (then `vectors` is None)."""

    summary: str
    vectors: Vectors | None = None
    notes: list[str] = field(default_factory=list)
    statistics: dict[str, Any] = field(default_factory=dict)


def extend(
    vectors: Source,
    counts: str | os.PathLike[str],
    values: dict[str, Any],
    run: RunOptions,
    *,
    out: str | os.PathLike[str] | None,
    space: str | None = None,
    show: bool = False,
) -> Extended:
    """Give vectors to the words of `counts` that `vectors`, of a file or in memory, lack.

    out: where to write (.bin, .txt, .vec), None for nowhere; space: replaces white space in the
    words of the counts, what the run card of the vectors says where it is None. Raises what
    reading raises, InputError, OptionError, OutputExistsError.
    """
    clock, options = Clock(), ExtendOptions.take(values)
    if out is not None:
        _check_out(Path(out), vectors)
    stored = open_matrix(counts, (COOC,))
    how = as_trained(None if isinstance(vectors, Vectors) else Path(vectors))
    space = space or how.space
    names = _names(stored, space)
    with run_card.only_writer(out), open_context(run, show=show) as context:
        _check_memory(vectors, stored, context.memory)
        base = vectors if isinstance(vectors, Vectors) else read_vectors(Path(vectors))
        request = _request(base, stored, options, how, run)
        # Where no word holds white space, the option changes nothing.
        request["options"]["space"] = None if names is stored.vocabulary.words else space
        if out is not None and run_card.up_to_date(
            Path(out), request, run.force, "matrix or vectors"
        ):
            return Extended(f"{os.fspath(out)}: up to date")
        named = "the vectors" if isinstance(vectors, Vectors) else os.fspath(vectors)
        made = _Extension(named, base, stored, names, options, how, context).make(out)
        if out is not None and made.vectors is not None:
            card = provenance.card(request, made.statistics, clock.seconds()) | {
                "notes": made.notes
            }
            run_card.write(Path(out), made.vectors, card)
    where = "vectors" if out is None else os.fspath(out)
    made.summary = f"{where}: {made.summary}; {clock.seconds():.1f} s"
    return made


def _check_out(out: Path, vectors: Source) -> None:
    writable_words(out, [], space=None)
    if not isinstance(vectors, Vectors) and os.path.realpath(out) == os.path.realpath(vectors):
        what = "is an input, which output would replace"
        raise OptionError(what, where=out, do="name another with -o")


def _names(stored: StoredMatrix, space: str | None) -> list[str]:
    """Return the words of the counts, their own list where nothing in them is replaced."""
    words = stored.vocabulary.words
    names = words if space is None else checked_words(words, space, stored.path)
    return words if names == words else names


def _request(
    base: Vectors, stored: StoredMatrix, options: ExtendOptions, how: AsTrained, run: RunOptions
) -> dict[str, Any]:
    asked = {**options.result_options(), **how.options, "seed": run.seed}
    content = hashlib.sha256("\n".join(base.words).encode())
    content.update(np.ascontiguousarray(base.matrix).data)
    inputs = [{"digest": content.hexdigest()}, {"digest": stored.store.digest}]
    return {"command": "extend", "options": asked, "inputs": inputs}


def _check_memory(vectors: Source, stored: StoredMatrix, memory: int) -> None:
    """Refuse what cannot fit, before vectors are read: all pairs, three copies of vectors."""
    words, numbers = shape_of(vectors)
    pairs, written = 2 * stored.stored, words + len(stored.vocabulary)
    needed = _PAIR * pairs + 12 * numbers * written + min(_SOLVING, 4 * _PAIR * pairs)
    what = f"{pairs:,} pairs and {written:,} vectors of {numbers:,}"
    refuse_too_large(what, needed, memory, "raise --memory, or count with --max-vocab")


@dataclass(frozen=True)
class _Extension:
    """The inputs of one run, and the steps from them to vectors; names: of the counts' rows."""

    named: str
    base: Vectors
    stored: StoredMatrix
    names: list[str]
    options: ExtendOptions
    how: AsTrained
    context: Context

    def make(self, out: str | os.PathLike[str] | None) -> Extended:
        """Return the vectors, what to say of them, and the middle of the summary."""
        words = split_vocabulary(self.stored, self.names, self.base, self.named)
        anchored = self._anchored(words)
        pairs = anchored.pairs()
        new = self._new(words, pairs)
        joined = [] if self.options.keep_only_new else self.base.words
        joined = [*joined, *(self.names[row] for row in new.tolist())]
        if out is not None:
            writable_words(Path(out), joined, space=None)
        calibrated, made, missed = self._solved(anchored, words, pairs, new)
        matrix = made if self.options.keep_only_new else np.concatenate((self.base.matrix, made))
        statistics = self._statistics(words, new, pairs, anchored, calibrated)
        statistics |= {"zeros": int(np.count_nonzero(~made.any(axis=1))), "missed": missed}
        notes = [self.how.note(self.named), *self._notes(statistics)]
        return Extended(_middle(statistics), Vectors(joined, matrix), notes, statistics)

    def _anchored(self, words: VocabularySplit) -> Anchored:
        known = self.base.matrix[words.own]
        if not np.isfinite(known).all():
            row = words.own[np.flatnonzero(~np.isfinite(known).all(axis=1))[0]]
            what = f"the vector of {self.base.words[row]!r} is not finite"
            raise InputError(what, where=self.named, do="leave it out")
        frequencies = self.stored.vocabulary.counts[words.known]
        order = np.argsort(-frequencies, kind="stable")
        chosen = np.sort(order[: self.options.anchors or None])
        if not known[chosen].any():
            raise InputError("the vectors of all anchors are 0", where=self.named)
        place = np.full(len(self.names), -1, np.int32)
        place[words.known[chosen]] = np.arange(len(chosen), dtype=np.int32)
        weighted = WeightedMatrix(self.stored, self.how.weighting, self.context.pool)
        targets, counts = weighted.counted()
        return Anchored(targets, confidences(counts, self.how.loss), place, known[chosen])

    def _new(self, words: VocabularySplit, pairs: Int64) -> Int64:
        """Return the new words with enough pairs; raise InputError where there is none."""
        new = words.new[pairs[words.new] >= self.options.min_pairs]
        if not len(new):
            least = several(self.options.min_pairs, "known word", "known words")
            found = f"{int(pairs[words.new].max()):,} at most"
            do = "count more text, or lower --min-pairs"
            what = f"no new word was counted with {least}"
            raise InputError(what, where=self.stored.path, found=found, do=do)
        return new

    def _solved(
        self, anchored: Anchored, words: VocabularySplit, pairs: Int64, new: Int64
    ) -> tuple[Calibrated, Float32, int]:
        """Return the map from solutions to vectors, new vectors (n × K), how many missed."""
        there = self.base.matrix[words.own].any(axis=1)  # the cosine with 0 tells nothing
        able = np.flatnonzero(there & (pairs[words.known] >= self.options.min_pairs))
        if len(able) < 2:
            least = several(self.options.min_pairs, "other", "others")
            what = f"too few known words were counted with {least} to learn from"
            do = "count more text, raise --anchors or lower --min-pairs"
            raise InputError(what, where=self.stored.path, found=len(able), do=do)
        ops, asked = (
            get_ops("cpu", self.context.pool),
            self.how.loss.held(self.base.matrix.shape[1]),
        )
        held = Held(asked.background, max(asked.ridge, _LEAST_RIDGE))
        rng, progress = np.random.default_rng(self.context.seed), self.context.progress
        calibrated = calibrate(
            lambda rows: anchored.solve(rows, held, ops, progress)[0], words.known[able],
            self.base.matrix[words.own[able]], rng, ops,
        )  # fmt: skip
        solved, missed = anchored.solve(new, held, ops, progress)
        made = ops.to_numpy(ops.combine(solved, calibrated.T))
        return calibrated, made.astype(np.float32, copy=False), missed

    def _statistics(
        self,
        words: VocabularySplit,
        new: Int64,
        pairs: Int64,
        anchored: Anchored,
        found: Calibrated,
    ) -> dict[str, Any]:
        return {
            "known": len(self.base.words), "counted": len(words.known), "new": len(new),
            "left_out": len(words.new) - len(new), "anchors": len(anchored.vectors),
            "dimension": self.base.matrix.shape[1], "pairs": float(np.median(pairs[new])),
            "held_out": {
                "words": len(found.held_out), "fitted": found.fitted,
                "pairs": float(np.median(pairs[found.held_out])),
                "mean_cosine": float(found.cosines.mean()),
                "median_cosine": float(np.median(found.cosines)),
            },
        }  # fmt: skip

    def _notes(self, statistics: dict[str, Any]) -> list[str]:
        notes, held = [], statistics["held_out"]
        if again := self.base.duplicates:
            notes.append(f"{self.named}: words that the file holds again, left out: {again:,}")
        if few := statistics["left_out"]:
            least = several(self.options.min_pairs, "known word", "known words")
            left = several(few, "new word was", "new words were")
            notes.append(f"{left} counted with fewer than {least}: left out")
        if zeros := statistics["zeros"]:
            notes.append(several(zeros, "new vector is 0", "new vectors are 0"))
        if missed := statistics["missed"]:
            notes.append(f"{several(missed, 'new word', 'new words')} missed the tolerance")
        if 2 * statistics["pairs"] < held["pairs"]:
            notes.append(
                f"new words were counted with {statistics['pairs']:,.0f} known words (median), "
                f"held-out ones with {held['pairs']:,.0f}: expect less of the new"
            )
        if held["median_cosine"] < _TRUSTED:
            notes.append(
                "held-out words come out unlike their vectors: do not trust those of new words; "
                "count more text, or train anew"
            )
        return notes


def _middle(statistics: dict[str, Any]) -> str:
    held = statistics["held_out"]
    of = several(
        held["words"], "held-out known word with its own vector",
        "held-out known words with their own vectors",
    )  # fmt: skip
    return (
        f"{several(statistics['new'], 'new word', 'new words')} beside {statistics['known']:,}; "
        f"cosine of {of}: mean {held['mean_cosine']:.3f}, median {held['median_cosine']:.3f}"
    )
