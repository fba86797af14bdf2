"""The stage that infers vectors for out-of-vocabulary words from their co-occurrences.

Known vectors are written first, unchanged and in their order, then those of the new words, the
most frequent first.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from wordgeom.core.errors import InputError
from wordgeom.core.formatting import several
from wordgeom.core.requests import request_of
from wordgeom.core.types import Float32, Int64
from wordgeom.formats.vector_files import shape_of
from wordgeom.linalg.device import memory_limit
from wordgeom.matrices.cooccurrence import COOC, StoredMatrix
from wordgeom.matrices.opening import open_matrix
from wordgeom.methods.contract import Status
from wordgeom.methods.gbu.anchored_rows import row_problem
from wordgeom.methods.gbu.calibration import Calibrated, calibrate
from wordgeom.methods.gbu.extension import Anchored, ExtendOptions
from wordgeom.methods.gbu.new_words import VocabularySplit, split_vocabulary
from wordgeom.runtime.context import Context
from wordgeom.runtime.memory import check_memory
from wordgeom.runtime.run_options import ResumeOptions, RunOptions
from wordgeom.stages.given_vectors import Source
from wordgeom.stages.inference import Inference
from wordgeom.stages.stage import Outcome
from wordgeom.stages.trained_options import TrainedOptions, trained_options
from wordgeom.storage.disk_space import Demand, Space
from wordgeom.subwords.model import SubwordModel
from wordgeom.subwords.open_vocabulary import OpenVocabulary
from wordgeom.subwords.stored import model_writer
from wordgeom.vectors import run_card
from wordgeom.vectors.finite import check_finite
from wordgeom.vectors.keyed import (
    Vectors,
    check_words,
    digest_of,
    vectors_space,
    writable_words,
)
from wordgeom.weighting.pmi import WeightedMatrix

_TRUSTED = 0.5  # a lower median cosine triggers a warning
_PAIR, _SOLVING = 20, 10**8  # bytes of a pair, and of a block of rows while it is solved


@dataclass(frozen=True)
class Extend(Inference):
    """Infer vectors for out-of-vocabulary words.

    vectors: a file, or vectors in memory; counts: a store; values: options; out: where to write,
    None for nowhere; space: replaces white space in the words of the counts, None as the run card
    of the vectors says; ngrams: of vectors in memory.
    """

    vectors: Source
    counts: Path
    values: Mapping[str, Any]
    run: RunOptions
    out: Path | None = None
    resume: ResumeOptions = field(default_factory=ResumeOptions)
    space: str | None = None
    ngrams: SubwordModel | None = None

    @cached_property
    def options(self) -> ExtendOptions:
        """The options of the extension. Raises OptionError."""
        return ExtendOptions.take(self.values)

    @property
    def drop_zero(self) -> bool:
        """Whether words with a zero vector are new ones."""
        return self.options.drop_zero

    @property
    def obstacle(self) -> str:
        """Why the output cannot keep n-grams: it has the new words alone."""
        return "omit --keep-only-new to keep them" if self.options.keep_only_new else ""

    @cached_property
    def stored(self) -> StoredMatrix:
        """The counts. Raises what `open_matrix` raises."""
        return open_matrix(self.counts, (COOC,))

    @cached_property
    def trained(self) -> TrainedOptions:
        """How the pairs behind the vectors were weighted."""
        return trained_options(self.file)

    @cached_property
    def names(self) -> list[str]:
        """The words of the counts as the vectors spell them."""
        return _names(self.stored, self._space)

    @property
    def input_paths(self) -> list[Path]:
        """The given vectors with their n-grams, and the counts."""
        return [*self.files_given, *self.stores_given, self.counts]

    @cached_property
    def request(self) -> dict[str, Any]:
        """The options, those that the vectors were trained with, and the digests of the inputs."""
        asked = {**self.options.result_options(), **self.trained.options, "seed": self.run.seed}
        # Where no word contains white space, the option changes nothing.
        spaced = self.names is not self.stored.vocabulary.words
        options = {**asked, "space": self._space if spaced else None}
        ngrams = self.ngram_digests if self.kept else []
        digests = [digest_of(self.base), self.stored.store.digest, *ngrams]
        return request_of("extend", options, digests)

    def check(self) -> None:
        """Check the name of the output, and open the counts and the run card of the vectors."""
        if self.out is not None:
            writable_words(self.out, [], space=None)
        self.check_ngrams()
        _ = self.stored, self.trained, self.names

    def up_to_date(self) -> Outcome | None:
        """Return the vectors if they exist as requested."""
        if self.out is None:
            return None
        self._check_memory(memory_limit(self.run))
        source = "matrix or vectors"
        made = run_card.up_to_date(self.out, self.request, self.run.force, source)
        if not self.whole(made):
            return None
        return Outcome(f"{self.out}: up to date", self.out)

    @property
    def demand(self) -> Demand:
        """The known vectors, and at most one for each word of the counts besides."""
        if self.out is None:
            return Demand()
        known, columns = shape_of(self.vectors)
        kept, counted = 0 if self.options.keep_only_new else known, len(self.stored.vocabulary)
        rows = kept + max(0, counted - known)
        most = vectors_space(self.out, rows, columns, self.names)
        return Demand(Space(vectors_space(self.out, kept, columns).least, most.expected))

    def infer(self, context: Context) -> Outcome:
        """Return the known vectors with those of the new words."""
        self._check_memory(context.memory)
        words = split_vocabulary(self.stored, self.names, self.base, self.named)
        anchored = self._anchored(words, context)
        pairs = anchored.pairs()
        new = self._new(words, pairs)
        joined = [] if self.options.keep_only_new else self.base.words
        joined = [*joined, *(self.names[row] for row in new.tolist())]
        if self.out is not None:
            writable_words(self.out, joined, space=None)
        calibrated, made, missed = self._solved(anchored, words, pairs, new, context)
        matrix = made if self.options.keep_only_new else np.concatenate((self.base.matrix, made))
        statistics = self._statistics(words, new, pairs, anchored, calibrated)
        statistics |= {"zeros": int(np.count_nonzero(~made.any(axis=1))), "missed": missed}
        notes = [self.trained.note(self.named), *self._notes(statistics)]
        status = Status.of(missed=missed > 0, deficient=False)
        found = OpenVocabulary(Vectors(joined, matrix), self.known.model if self.kept else None)
        middle = _middle(statistics, only_new=self.options.keep_only_new)
        return Outcome(middle, None, notes, [], statistics, status, found)

    def write(self, out: Path, made: OpenVocabulary, card: Mapping[str, Any]) -> None:
        """Write the vectors with their run card, and their n-grams."""
        with model_writer(out, made.model, made.vectors, card) as ready:
            run_card.write(out, made.vectors, card, ready=ready)

    def _check_memory(self, memory: int) -> None:
        """Raise InputError where pairs, three copies of the vectors and n-grams exceed --memory."""
        words, numbers = shape_of(self.vectors)
        pairs, written = 2 * self.stored.stored, words + len(self.stored.vocabulary)
        needed = _PAIR * pairs + 12 * numbers * written + min(_SOLVING, 4 * _PAIR * pairs)
        what = f"{pairs:,} pairs and {written:,} vectors of {numbers:,}"
        what += " with n-grams" if self.kept else ""
        needed += self.ngram_bytes if self.kept else 0
        check_memory(what, needed, memory, "raise --memory, or count with --max-vocab")

    def _anchored(self, words: VocabularySplit, context: Context) -> Anchored:
        known = self.base.matrix[words.own]
        check_finite(self.base, words.own, self.named, "train again")
        frequencies = self.stored.vocabulary.counts[words.known]
        order = np.argsort(-frequencies, kind="stable")
        chosen = np.sort(order[: self.options.anchors or None])
        if not known[chosen].any():
            raise InputError("the vectors of all anchors are 0", where=self.named)
        place = np.full(len(self.names), -1, np.int32)
        place[words.known[chosen]] = np.arange(len(chosen), dtype=np.int32)
        weighted = WeightedMatrix(self.stored, self.trained.weighting, context.pool)
        targets, counts = weighted.with_counts()
        loss = self.trained.sweeps.loss_over(weighted, known.shape[1])
        weights, problem = row_problem(loss, targets, counts, words.known[chosen], known.shape[1])
        return Anchored(targets, weights, place, known[chosen], problem)

    def _new(self, words: VocabularySplit, pairs: Int64) -> Int64:
        """Return the new words with enough pairs; raises InputError where there is none."""
        new = words.new[pairs[words.new] >= self.options.min_pairs]
        if not len(new):
            least = several(self.options.min_pairs, "known word", "known words")
            do = "count more text, or lower --min-pairs"
            most = f"{int(pairs[words.new].max()):,}"
            what = f"no new word co-occurs with {least}, only with {most} at most"
            raise InputError(what, where=self.stored.path, do=do)
        return new

    def _solved(
        self,
        anchored: Anchored,
        words: VocabularySplit,
        pairs: Int64,
        new: Int64,
        context: Context,
    ) -> tuple[Calibrated, Float32, int]:
        """Return the calibration, the new vectors (n × K), and how many missed the tolerance."""
        there = self.base.matrix[words.own].any(axis=1)  # a cosine with 0 is undefined
        able = np.flatnonzero(there & (pairs[words.known] >= self.options.min_pairs))
        if len(able) < 2:
            least = several(self.options.min_pairs, "other", "others")
            what = f"only {len(able):,} known words co-occur with {least}, too few to calibrate"
            do = "count more text, raise --anchors or lower --min-pairs"
            raise InputError(what, where=self.stored.path, do=do)
        calibrated = calibrate(
            lambda rows: anchored.solve(rows, context, "known")[0], words.known[able],
            self.base.matrix[words.own[able]], np.random.default_rng(context.seed), context.ops,
        )  # fmt: skip
        solved, missed = anchored.solve(new, context, "new")
        made = context.ops.to_numpy(context.ops.combine(solved, calibrated.T))
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
        notes, held = list(self.reading_notes), statistics["held_out"]
        if few := statistics["left_out"]:
            least = several(self.options.min_pairs, "known word", "known words")
            left = several(few, "new word co-occurs", "new words co-occur")
            notes.append(f"{left} with fewer than {least}; left out")
        if zeros := statistics["zeros"]:
            notes.append(several(zeros, "new vector is zero", "new vectors are zero"))
        if missed := statistics["missed"]:
            notes.append(f"{several(missed, 'new word', 'new words')} missed the tolerance")
        if 2 * statistics["pairs"] < held["pairs"]:
            notes.append(
                f"new words co-occur with {statistics['pairs']:,.0f} known words (median), "
                f"held-out ones with {held['pairs']:,.0f}; expect lower quality for the new ones"
            )
        if held["median_cosine"] < _TRUSTED:
            notes.append(
                "vectors inferred for held-out words differ from their own; do not rely on "
                "those of the new words: count more text, or train again"
            )
        return notes

    @property
    def _space(self) -> str | None:
        return self.space or self.trained.space


def _names(stored: StoredMatrix, space: str | None) -> list[str]:
    """Return the words of the counts, the same list where nothing is replaced."""
    words = stored.vocabulary.words
    names = words if space is None else check_words(words, space, stored.path)
    return words if names == words else names


def _middle(statistics: dict[str, Any], *, only_new: bool) -> str:
    held, known = statistics["held_out"], f"{statistics['known']:,}"
    to = f"solved from {known} known ones" if only_new else f"added to {known}"
    of = several(
        held["words"], "held-out known word with its own vector",
        "held-out known words with their own vectors",
    )  # fmt: skip
    return (
        f"{several(statistics['new'], 'new word', 'new words')} {to}; "
        f"cosine of {of}: mean {held['mean_cosine']:.3f}, median {held['median_cosine']:.3f}"
    )
