"""The stage that adds subwords to vectors: the vectors with their n-grams, and a subword model."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from wordgeom.core.errors import InputError, RankError
from wordgeom.core.requests import request_of
from wordgeom.formats.fasttext import has_ngrams
from wordgeom.formats.vector_files import read_any_vectors, shape_of
from wordgeom.runtime.context import Context
from wordgeom.runtime.memory import check_memory
from wordgeom.runtime.run_options import ResumeOptions, RunOptions
from wordgeom.stages.given_vectors import Source
from wordgeom.stages.inference import reading_notes
from wordgeom.stages.revision import Revision
from wordgeom.stages.stage import Job, Outcome
from wordgeom.storage.disk_space import Demand
from wordgeom.storage.store import exists
from wordgeom.subwords.improvement import improve
from wordgeom.subwords.model import SubwordModel
from wordgeom.subwords.open_vocabulary import number_of
from wordgeom.subwords.options import SubwordOptions
from wordgeom.subwords.stored import had_model, has_model, is_model, model_path, model_writer
from wordgeom.texts.corpus_record import CORPUS
from wordgeom.vectors import run_card
from wordgeom.vectors.finite import nonfinite_rows, refuse_nonfinite
from wordgeom.vectors.keyed import Vectors, digest_of, vectors_space, writable_words

_WORD = 300  # bytes of a word, in lists and in tables that look it up
_COPIES = 3  # of the vectors: given, their directions, with subwords


@dataclass(frozen=True)
class Subwords(Revision):
    """Add subwords to vectors.

    vectors: a file, or vectors in memory; out: None for nowhere; ngrams: of vectors in memory.
    """

    vectors: Source
    options: SubwordOptions
    run: RunOptions
    out: Path | None = None
    resume: ResumeOptions = field(default_factory=ResumeOptions)
    ngrams: SubwordModel | None = None

    @property
    def state(self) -> None:
        """None: a fit takes seconds, and is not resumed."""
        return

    @property
    def obstacle(self) -> str:
        """Empty: the output has n-grams of its own."""
        return ""

    @property
    def model(self) -> Path | None:
        """The store of the n-grams."""
        return None if self.out is None else model_path(self.out)

    @property
    def input_paths(self) -> list[Path]:
        """The files that are read, and the n-grams that belong to the vectors."""
        return [*self._files, *self.stores_given]

    @property
    def _files(self) -> list[Path]:
        """The files of the vectors, and of the morphs."""
        morphs = [] if self.options.morphs is None else [Path(self.options.morphs)]
        return [*self.files_given, *morphs]

    @cached_property
    def request(self) -> dict[str, Any]:
        """The options, and the digests of the files read."""
        digests = [run_card.joint_digest([path]) for path in self._files]
        if isinstance(self.vectors, Vectors):
            digests.insert(0, digest_of(self.vectors))
        return request_of("subwords", self._recorded, digests)

    @property
    def _recorded(self) -> dict[str, Any]:
        """The options that decide the result, without the name of a file."""
        options = {k: v for k, v in self.options.result_options().items() if k != "morphs"}
        return options | {"subwords": str(self.options.lengths)}

    def check(self) -> None:
        """Check the name of the output."""
        if self.out is not None:
            writable_words(self.out, [], space=None)
        _ = self.request

    @property
    def demand(self) -> Demand:
        """The vectors; the number of n-grams is not known before."""
        return (
            Demand()
            if self.out is None
            else Demand(vectors_space(self.out, *shape_of(self.vectors)))
        )

    def work(self, job: Job) -> Outcome:
        """Fit vectors of n-grams, add them to the vectors, and write both."""
        vectors, notes = self._read(job.context)
        try:
            found = improve(vectors, self.options, job.context)
        except (InputError, RankError) as error:
            raise (error if error.where else error.within(self.named)) from None
        rows, columns = vectors.matrix.shape
        shape = f"{rows:,} × {columns:,}, {number_of(found.model)}"
        summary = f"{self.out or 'vectors'}: {shape}; {job.seconds()}"
        outcome = Outcome(summary, self.out, [*notes, *found.notes], [], found.statistics,
                          value=found)  # fmt: skip
        if self.out is not None:
            card = job.card(self.request, outcome) | self._carried()
            with model_writer(self.out, found.model, found.vectors, card) as ready:
                run_card.write(self.out, found.vectors, card, ready=ready)
        return outcome

    def _read(self, context: Context) -> tuple[Vectors, list[str]]:
        """Return the vectors and notes; raises InputError for NaN or infinity."""
        words, columns = shape_of(self.vectors)
        needed = words * (_WORD + 4 * columns * _COPIES)
        check_memory(f"{words:,} vectors of {columns:,}", needed, context.memory, "raise --memory")
        read = self.vectors
        if not isinstance(read, Vectors):
            read = read_any_vectors(Path(read), memory=context.memory)
        refuse_nonfinite(read.words, nonfinite_rows(read.matrix), self.named, "train again")
        return read, [*reading_notes(read, self.named), *self._again(read)]

    def _carried(self) -> dict[str, Any]:
        """Return what the run card of the vectors records of their text and their training."""
        card = (None if self.file is None else run_card.read_card(self.file)) or {}
        source = card.get("source", card.get("request"))
        if isinstance(source, dict) and isinstance(source.get("options"), dict):
            source = source | {"options": source["options"] | self._recorded}
        carried = {CORPUS: card.get(CORPUS), "source": source}
        return {name: value for name, value in carried.items() if value is not None}

    def _again(self, read: Vectors) -> list[str]:
        """Return a note on vectors that include their n-grams already."""
        if self.file is None:
            before = self.ngrams is not None
        else:
            beside = model_path(self.file)
            broken = exists(beside) and not is_model(beside)
            before = has_ngrams(self.file) or has_model(self.file, read)
            before |= had_model(self.file) or broken
        do = "apply subwords to the vectors without them"
        return [f"{self.named}: n-grams are added a second time; {do}"] if before else []
