"""The stage of imputation: vectors for the entities of a table, and a trust table.

The given vectors are written first, unchanged and in their order, then those of the imputed
entities in the order of the table.
"""

from __future__ import annotations

import hashlib
import io
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, cast

import numpy as np

from wordgeom.core.errors import OptionError
from wordgeom.core.formatting import first_few, several
from wordgeom.core.requests import request_of
from wordgeom.formats.vector_files import shape_of
from wordgeom.imputation.baselines import Baseline
from wordgeom.imputation.domain import Domain, DomainOptions, input_files, read_domain
from wordgeom.imputation.latent import Imputation
from wordgeom.imputation.latent import impute as impute_entities
from wordgeom.imputation.ngram_baseline import ngram_baseline
from wordgeom.imputation.options import ImputeOptions
from wordgeom.imputation.output import Output
from wordgeom.imputation.points import points as points_of
from wordgeom.imputation.report import validation_lines
from wordgeom.imputation.tables.matching import Anchors, find_anchors, map_notes
from wordgeom.imputation.trust import Trust
from wordgeom.linalg.device import memory_limit
from wordgeom.runtime.context import Context
from wordgeom.runtime.memory import check_memory
from wordgeom.runtime.run_options import ResumeOptions, RunOptions
from wordgeom.stages.given_vectors import Source
from wordgeom.stages.inference import Inference
from wordgeom.stages.stage import Outcome
from wordgeom.storage import opening
from wordgeom.storage.disk_space import Demand
from wordgeom.subwords.model import SubwordModel
from wordgeom.subwords.open_vocabulary import OpenVocabulary
from wordgeom.vectors.keyed import Vectors, digest_of, vectors_space, writable_words
from wordgeom.vectors.zeros import zero_rows

_PATHS = ("names", "name_map")  # options whose files' digests stand for them
_EDGE = 40  # bytes of a neighbour: in the graph, the weights and the system


@dataclass(frozen=True)
class Imputed:
    """Vectors that were imputed, how far to trust each, and the n-grams that go with them."""

    vectors: Vectors
    trust: Trust
    ngrams: SubwordModel | None = None


@dataclass(frozen=True)
class Impute(Inference):
    """Give every entity of a table a vector.

    domain: the table; vectors: a file, or vectors in memory; out: where to write, None for nowhere;
    table: of trust, None for beside `out`; ngrams: of vectors in memory.
    """

    domain: Path
    vectors: Source
    of_domain: DomainOptions
    options: ImputeOptions
    run: RunOptions
    out: Path | None = None
    table: Path | None = None
    resume: ResumeOptions = field(default_factory=ResumeOptions)
    ngrams: SubwordModel | None = None

    @cached_property
    def known(self) -> OpenVocabulary:
        """The given vectors as they were read, with their n-grams, which entities may need."""
        return self.read_given(memory_limit(self.run))

    @property
    def obstacle(self) -> str:
        """Why the output cannot keep n-grams: it has the entities alone."""
        return "omit --only-entities to keep them" if self.options.only_entities else ""

    @property
    def drop_zero(self) -> bool:
        """Whether entities with a zero vector are imputed."""
        return self.options.drop_zero

    @cached_property
    def files(self) -> list[Path]:
        """The files that describe the domain. Raises MissingInputError."""
        return [Path(file) for file in input_files(self.domain, self.of_domain)]

    @cached_property
    def written(self) -> Output | None:
        """The files to write. Raises OptionError, MissingInputError."""
        if self.out is not None:
            return Output.of(self.out, self.table)
        if self.table is not None:
            do = "name a file for the vectors too"
            raise OptionError("the trust table is written beside the vectors", do=do)
        return None

    @cached_property
    def request(self) -> dict[str, Any]:
        """The options, and the digests of the table, its names, the vectors and their n-grams."""
        asked = {k: v for k, v in self.of_domain.result_options().items() if k not in _PATHS}
        asked |= {**self.options.result_options(), "seed": self.run.seed}
        if self.written is not None:
            asked["table"] = self.written.table_name
        digests = [_digest(file, "a file") for file in self.files]
        digests += [_digest(file, "a vectors file") for file in self.files_given]
        digests += [] if self.file is not None else [digest_of(self.base)]
        digests += self.ngram_digests
        return request_of("impute", asked, digests)

    @property
    def input_paths(self) -> list[Path]:
        """The files of the domain and of the vectors, and the n-grams of the latter."""
        return [*self.files, *self.files_given, *self.stores_given]

    @property
    def beside(self) -> tuple[Path, ...]:
        """The trust table, and the subword model."""
        return () if self.written is None else (self.written.table, *super().beside)

    def check(self) -> None:
        """Check the names of the files to write, and read the digests of the inputs."""
        self.check_ngrams()
        _ = self.request

    def up_to_date(self) -> Outcome | None:
        """Return the vectors if they exist as requested, with the validation asked for."""
        output = self.written
        if output is None:
            return None
        made = output.up_to_date(self.request, self.run.force)
        if not self.whole(made):
            return None
        outcome = Outcome(f"{self.out}: up to date", self.out)
        if self.options.validate:
            held = output.validation(self.options.validate)
            if held is None:
                return None
            outcome.lines = validation_lines(held)
        return outcome

    @property
    def demand(self) -> Demand:
        """The given vectors; those of the entities are known only when their table is read."""
        if self.out is None:
            return Demand()
        words, columns = shape_of(self.vectors)
        known = 0 if self.options.only_entities else words
        return Demand(vectors_space(self.out, known, columns))

    def write(self, out: Path, made: Imputed, card: Mapping[str, Any]) -> None:
        """Write the vectors, the trust table and the subword model with their run card."""
        assert self.written is not None
        self.written.write(made.vectors, made.trust, card, made.ngrams)

    def infer(self, context: Context) -> Outcome:
        """Return the given vectors with the imputed ones, and their trust table."""
        path = os.fspath(self.domain)
        domain = read_domain(path, self.of_domain, context.memory)
        self._check_memory(domain, context.memory)
        base = self.base
        anchors = find_anchors(domain.names, base, path, self.named)
        matrix, notes = points_of(domain, self.of_domain)
        found = impute_entities(
            domain.names, matrix, anchors, self.options, context, self._baselines(anchors, context)
        )
        vectors = _joined(domain, base, anchors, found, self.options.only_entities)
        vectors, unreached = _with_ngrams(vectors, OpenVocabulary(base, self.known.model), domain)
        if self.out is not None:
            writable_words(self.out, vectors.words, space=None)
        n, p = len(domain.names), len(anchors.entities)
        statistics = {
            "entities": n, "numbers": domain.matrix.shape[1], "known": p, "imputed": n - p,
            "dimension": vectors.matrix.shape[1], **found.statistics,
        }  # fmt: skip
        if unreached:
            statistics["from_ngrams"] = len(unreached)
        checked = found.validation
        if checked is not None:
            statistics["validation"] = checked.to_dict()
        mapped = map_notes(domain.names, anchors.known, domain.mapped)
        own = [*self.reading_notes, *_anchor_notes(domain.names, anchors)]
        own += _ngram_notes(unreached)
        further = f", {len(unreached):,} from n-grams" if unreached else ""
        return Outcome(
            f"{several(n, 'entity', 'entities')}, {p:,} known, {n - p:,} imputed{further}",
            notes=[*domain.notes, *notes, *mapped, *own, *found.notes],
            lines=[] if checked is None else validation_lines(checked),
            statistics=statistics,
            value=Imputed(
                vectors,
                found.trust.followed_by(unreached),
                self.known.model if self.kept else None,
            ),
        )

    def _baselines(self, anchors: Anchors, context: Context) -> list[Baseline]:
        """Return the baseline of n-grams, if the vectors without them are known."""
        base, model = self.base, self.known.model
        if model is None or not model.added:
            return []
        return [ngram_baseline(base, model, anchors.rows, context)]

    def _check_memory(self, domain: Domain, memory: int) -> None:
        """Raise InputError where memory cannot hold points, vectors and n-grams."""
        (n, d), (words, numbers) = domain.matrix.shape, shape_of(self.vectors)
        alone = self.options.only_entities
        written = n if alone else words + n
        vectors = 4 * numbers * (words + written) + 8 * numbers * n
        what = f"{n:,} × {d:,} points and {written:,} vectors of {numbers:,}"
        what += " with n-grams" if self.has_ngrams else ""
        needed = 24 * n * d + vectors + _EDGE * n * self.options.delta + self.ngram_bytes
        do = "raise --memory" + ("" if alone else ", or pass --only-entities")
        check_memory(what, needed, memory, do)


def _with_ngrams(
    vectors: Vectors, known: OpenVocabulary, domain: Domain
) -> tuple[Vectors, list[str]]:
    """Return the vectors, followed by those of entities that were dropped, and the latter's names.

    Dropped entities that are words stay as they are, and those without a known n-gram are left out.
    """
    added, found = known.inferred(domain.dropped)
    if not added:
        return vectors, []
    return Vectors([*vectors.words, *added], np.concatenate((vectors.matrix, found))), added


def _ngram_notes(unreached: list[str]) -> list[str]:
    if not unreached:
        return []
    one, more = "dropped entity has the vector of its", "dropped entities have the vectors of their"
    return [f"{several(len(unreached), one, more)} n-grams: {first_few(unreached)}"]


def _digest(path: Path, wanted: str) -> str:
    with opening.opened(path, wanted) as handle:
        return hashlib.file_digest(cast(io.BufferedReader, handle), "sha256").hexdigest()


def _anchor_notes(names: Sequence[str], anchors: Anchors) -> list[str]:
    notes = []
    if anchors.zeros:
        zeros = [names[entity] for entity in anchors.entities[zero_rows(anchors.matrix)]]
        found = several(len(zeros), "known vector is zero", "known vectors are zero")
        do = "--drop-zero imputes " + ("it" if len(zeros) == 1 else "them")
        notes.append(f"{found}: {first_few(zeros)}; {do}")
    if anchors.known.all():
        n = len(anchors.known)
        whole = f"all {n:,} entities are" if n > 1 else "the only entity is"
        notes.append(f"{whole} known; nothing to impute")
    return notes


def _joined(
    domain: Domain, base: Vectors, anchors: Anchors, found: Imputation, only: bool
) -> Vectors:
    """Return the given vectors and the imputed ones, or those of the domain alone."""
    imputed, known = found.vectors.astype(np.float32), anchors.known
    if only:
        matrix = np.empty((len(known), base.matrix.shape[1]), np.float32)
        matrix[known], matrix[~known] = base.matrix[anchors.rows], imputed
        return Vectors(domain.names, matrix)
    new = [domain.names[entity] for entity in np.flatnonzero(~known).tolist()]
    return Vectors([*base.words, *new], np.concatenate((base.matrix, imputed)))
