"""The stage that compresses vectors: fewer dimensions, fewer bits, and what is lost."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from wordgeom.core.errors import MissingInputError, OptionError
from wordgeom.core.requests import request_of
from wordgeom.evaluation.answers import Score, Task
from wordgeom.evaluation.options import EvalOptions
from wordgeom.evaluation.report import score_facts
from wordgeom.evaluation.sets import read_set
from wordgeom.formats import quantised
from wordgeom.formats.vector_files import read_any_vectors, shape_of
from wordgeom.runtime.context import Context
from wordgeom.runtime.memory import check_memory
from wordgeom.runtime.run_options import ResumeOptions, RunOptions
from wordgeom.stages.before_after import changes, table
from wordgeom.stages.candidates import Candidates, leader
from wordgeom.stages.evaluate import judge
from wordgeom.stages.faithfulness import score_table
from wordgeom.stages.given_vectors import Source
from wordgeom.stages.inference import reading_notes
from wordgeom.stages.revision import Revision
from wordgeom.stages.stage import Job, Outcome
from wordgeom.storage.disk_space import Demand, Space
from wordgeom.subwords.model import SubwordModel
from wordgeom.subwords.stored import model_writer
from wordgeom.vectors import run_card
from wordgeom.vectors.finite import nonfinite_rows, refuse_nonfinite
from wordgeom.vectors.keyed import Vectors, check_words, digest_of
from wordgeom.vectors.options import CompressOptions

_DIM = 128  # dimension by default
_WORD = 300  # bytes of a word, in lists and in tables that look it up
_STORED = 12  # bytes of a word and its norm in the file
_COPIES = 4  # of the vectors in float32: given, reduced, scaled, decoded


@dataclass(frozen=True)
class Compress(Revision):
    """Compress vectors.

    vectors: a file, or vectors in memory; out: None for nowhere; sets: evaluation sets to score
    before and after; ngrams: of vectors in memory.
    """

    vectors: Source
    options: CompressOptions
    run: RunOptions
    out: Path | None = None
    sets: Sequence[str] = ()
    resume: ResumeOptions = field(default_factory=ResumeOptions)
    ngrams: SubwordModel | None = None

    @property
    def obstacle(self) -> str:
        """Why the output cannot keep n-grams: its vectors are quantised."""
        return f"use {self.named} for words without a vector"

    @property
    def input_paths(self) -> list[Path]:
        """All files that are read."""
        return [*self.files_given, *map(Path, self.sets)]

    @cached_property
    def tasks(self) -> list[Task]:
        """The sets to score. Raises what `read_set` raises."""
        return [read_set(path, EvalOptions()) for path in self.sets]

    @cached_property
    def request(self) -> dict[str, Any]:
        """The options, and the digests of the files read."""
        held = self.vectors
        files = run_card.joint_digest
        digests = [digest_of(held) if isinstance(held, Vectors) else files(self.files_given)]
        digests += [files([Path(path)]) for path in self.sets]
        options = {**self.options.result_options(), "seed": self.run.seed}
        return request_of("compress", options, digests)

    def check(self) -> None:
        """Check the dimension and the name of the output, and read the sets."""
        if self.out is not None:
            if self.out.suffix.lower() != quantised.SUFFIX:
                what = "compressed vectors are an .npz file"
                raise OptionError(what, where=self.out, do="change the suffix")
            if not self.out.parent.is_dir():
                do = "create it, or choose another output"
                raise MissingInputError("no such directory", where=self.out.parent, do=do)
        self.check_ngrams()
        self._dim(shape_of(self.vectors)[1])
        _ = self.tasks, self.request

    @property
    def demand(self) -> Demand:
        """The codes of the vectors, with their words and norms."""
        if self.out is None:
            return Demand()
        words, columns = shape_of(self.vectors)
        how, dim = self.options, self._dim(columns)
        width = how.pq if how.pq is not None else -(-dim * how.bits // 8)
        return Demand(Space(0, words * (width + _STORED)))

    def _dim(self, columns: int) -> int:
        """Return the dimension of the reduction; raises OptionError."""
        given, pq = self.options.dim, self.options.pq
        dim = min(_DIM, columns) if given is None else given
        if dim > columns:
            what = f"--dim {dim} exceeds the columns of {self.named}"
            raise OptionError(what, found=columns, do="lower --dim")
        if pq is not None and pq > dim:
            what = f"--pq {pq} exceeds the dimension, {dim}"
            raise OptionError(what, do="lower --pq, or raise --dim")
        return dim

    def work(self, job: Job) -> Outcome:
        """Reduce and quantise the vectors, measure the loss, and write them."""
        context = job.context
        vectors, notes = self._read(context)
        dim = self._dim(vectors.matrix.shape[1])
        tried = Candidates(vectors, dim, self.options, self.named, context)
        found = tried.found()
        notes += [*tried.notes, *self.ngram_notes]
        chosen = leader(found)
        made = found[chosen].decoded
        report, left_out = self._changes(vectors, made, context)
        raw = io.BytesIO()
        quantised.write_quantised(raw, vectors.words, found[chosen].codes)
        loss = {name: each.scores for name, each in found.items()}
        statistics = self._statistics(raw.tell(), self._bytes(vectors), loss, report)
        (rows, columns), how = made.matrix.shape, self.options
        coded = f"{how.bits} bits" if how.pq is None else f"{how.pq} bytes a word"
        summary = f"{self.out or 'vectors'}: {rows:,} × {columns:,} by {chosen}, {coded}"
        outcome = Outcome(
            f"{summary}; {job.seconds()}", self.out, [*notes, *left_out], statistics["lines"],
            {"reducer": chosen, **statistics}, value=made,
        )  # fmt: skip
        if self.out is not None:
            card = job.card(self.request, outcome)
            parts = {self.out: lambda handle: handle.write(raw.getbuffer())}
            with model_writer(self.out, None, made, card) as ready:
                run_card.write_together(self.out, parts, lambda: card, ready)
        return outcome

    def _changes(
        self, vectors: Vectors, made: Vectors, context: Context
    ) -> tuple[list[dict[str, Any]], list[str]]:
        """Return the scores of the sets before and after, and notes on sets without any."""
        if not self.tasks:
            return [], []
        before, refused = judge(vectors, self.tasks, context.part("before"))
        after, _ = judge(made, self.tasks, context.part("after"))
        notes = [f"{name}: skipped: {why}" for name, why in refused.items()]
        return list(changes(before, after, self.run.seed)), notes

    @staticmethod
    def _statistics(
        size: int, original: int, loss: dict[str, list[Score]], report: list[dict[str, Any]]
    ) -> dict[str, Any]:
        """Return the facts of the run card; lines: what is printed of them."""
        share = f"{size:,} bytes, {100 * size / original:.1f} % of {original:,}"
        return {
            "bytes": size, "original_bytes": original,
            "faithfulness": {name: [score_facts(s) for s in own] for name, own in loss.items()},
            "report": report, "lines": [share, *score_table(loss), *table(report)],
        }  # fmt: skip

    def _read(self, context: Context) -> tuple[Vectors, list[str]]:
        """Return the vectors and notes; raises InputError for words or numbers not to be stored."""
        words, columns = shape_of(self.vectors)
        what = f"{words:,} vectors of {columns:,}"
        needed = words * (_WORD + 4 * columns * _COPIES)
        check_memory(what, needed, context.memory, "raise --memory")
        read = self.vectors
        if not isinstance(read, Vectors):
            read = read_any_vectors(Path(read), memory=context.memory)
        refuse_nonfinite(read.words, nonfinite_rows(read.matrix), self.named, "train again")
        check_words(read.words, None, Path(self.named))
        return read, reading_notes(read, self.named)

    def _bytes(self, vectors: Vectors) -> int:
        """Return the bytes of the given vectors on disk, or of their numbers in memory."""
        return sum(path.stat().st_size for path in self.files_given) or vectors.matrix.nbytes
