"""Given vectors and their n-grams, in the stages that write vectors made from them.

The output keeps the n-grams if they give a word without a vector what the stage makes of the vector
that they give it before. Otherwise a note says that they are not kept.
"""

from __future__ import annotations

import os
from abc import abstractmethod
from pathlib import Path

from wordgeom.formats.shared_ngrams import check_no_model, check_other_readers
from wordgeom.formats.vector_files import (
    files_of,
    ngram_bytes,
    ngram_digests,
    read_open_vectors,
    with_ngrams,
)
from wordgeom.runtime.run_options import RunOptions
from wordgeom.stages.stage import Stage
from wordgeom.stages.store_stage import own_store
from wordgeom.subwords.model import SubwordModel
from wordgeom.subwords.open_vocabulary import OpenVocabulary, lost_note, missing_note
from wordgeom.subwords.stored import KIND, lost_model, model_path, model_stores
from wordgeom.vectors.keyed import Vectors

Source = str | os.PathLike[str] | Vectors


class GivenVectors(Stage):
    """A stage that makes vectors from given ones.

    vectors: a file, or vectors in memory; ngrams: of vectors in memory.
    """

    vectors: Source
    run: RunOptions
    ngrams: SubwordModel | None

    @property
    def file(self) -> Path | None:
        """The file of the given vectors, None for vectors in memory."""
        return None if isinstance(self.vectors, Vectors) else Path(self.vectors)

    @property
    def files_given(self) -> list[Path]:
        """The files of the given vectors."""
        return [] if self.file is None else files_of(self.file)

    @property
    def named(self) -> str:
        """What messages call the given vectors."""
        return "the vectors" if isinstance(self.vectors, Vectors) else os.fspath(self.vectors)

    @property
    @abstractmethod
    def obstacle(self) -> str:
        """Why the output cannot keep n-grams, and what to do; empty if it can."""

    @property
    def has_ngrams(self) -> bool:
        """Whether the given vectors have n-grams."""
        return self.ngrams is not None if self.file is None else with_ngrams(self.file)

    @property
    def kept(self) -> bool:
        """Whether the output has the n-grams of the given vectors."""
        return self.has_ngrams and not self.obstacle

    @property
    def model(self) -> Path | None:
        """The store of n-grams that is written, None for none."""
        return model_path(self.out) if self.out is not None and self.kept else None

    @property
    def beside(self) -> tuple[Path, ...]:
        """The store of n-grams that is written."""
        return () if self.model is None else (self.model,)

    @property
    def stores_given(self) -> list[Path]:
        """The store of the given n-grams."""
        return [] if self.file is None else model_stores(self.file)

    @property
    def ngram_digests(self) -> list[str]:
        """The digest of the given n-grams."""
        if self.file is not None:
            return ngram_digests(self.file)
        return [] if self.ngrams is None else [self.ngrams.digest]

    @property
    def ngram_bytes(self) -> int:
        """The bytes of memory that the given n-grams take once they are read."""
        return 0 if self.file is None else ngram_bytes(self.file)

    @property
    def ngram_notes(self) -> list[str]:
        """A note on n-grams that are not kept, or are missing."""
        if not self.has_ngrams:
            return missing_note(None if self.file is None else lost_model(self.file))
        return [] if self.kept else [lost_note(self.named, self.obstacle)]

    def check_ngrams(self) -> None:
        """Raise OptionError where the output would be read with n-grams that are not its own."""
        if self.out is not None and self.model is None:
            check_no_model(self.out, self.file, force=self.run.force)

    def whole(self, made: bool) -> bool:
        """Return whether the vectors, if they are `made`, have the n-grams that are requested.

        Raises OutputExistsError for other n-grams in their place, unless --force is to replace
        them, and OptionError where another file would be read with those to be written.
        """
        if self.model is None or self.out is None:
            return made
        if not made:
            check_other_readers(self.out)
        return own_store(self.model, KIND, self.request, self.run.force) and made

    def read_given(self, memory: int) -> OpenVocabulary:
        """Return the given vectors with their n-grams. Raises what `read_open_vectors` raises."""
        if isinstance(self.vectors, Vectors):
            return OpenVocabulary(self.vectors, self.ngrams)
        return read_open_vectors(Path(self.vectors), memory=memory)
