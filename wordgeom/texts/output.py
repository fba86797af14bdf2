"""Write the vectors of texts, as an array or as lines, and the table of the texts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO

import numpy as np

from wordgeom.core.types import Float32
from wordgeom.corpus.inputs.readers import Source
from wordgeom.linalg.blas import one_thread
from wordgeom.texts.embedding import Embedding, Texts
from wordgeom.vectors.word2vec_text import formatted

_HEADING = "id\tfile\tline\ttime\tknown\ttokens\n"


class Output:
    """Vectors of texts on their way to a file.

    known, tokens (n): tokens of each text with a vector, and all, once the vectors are written.
    """

    def __init__(self, embedding: Embedding, texts: Texts) -> None:
        self.embedding, self._texts = embedding, texts
        self.sources: list[Source] = texts.encoded.sources
        self.known = self.tokens = np.zeros(0, np.int64)

    @property
    def shape(self) -> tuple[int, int]:
        """The number of texts, and the dimension."""
        return sum(len(source.documents) for source in self.sources), self.embedding.dimension

    def blocks(self) -> Iterator[Float32]:
        """Yield the vectors, some texts at a time."""
        known, tokens = [self.known[:0]], [self.tokens[:0]]
        with one_thread():
            for made in self._texts.map(self.embedding.finished, "embedding"):
                known.append(made.known)
                tokens.append(made.tokens)
                yield made.vectors.astype(np.float32)
        self.known, self.tokens = np.concatenate(known), np.concatenate(tokens)

    def write_array(self, out: BinaryIO) -> None:
        """Write NumPy's .npy format, (n × K) float32."""
        header = {"descr": "<f4", "fortran_order": False, "shape": self.shape}
        np.lib.format.write_array_header_1_0(out, header)
        for block in self.blocks():
            out.write(block.astype("<f4", copy=False).data)

    def write_lines(self, out: BinaryIO, between: bytes) -> None:
        """Write a line of numbers for each text; between: what separates them."""
        for block in self.blocks():
            for lines in formatted([""] * len(block), block):
                # Each line begins with its word, which is empty, and a space.
                raw = bytes(lines).replace(b"\n ", b"\n").removeprefix(b" ")
                out.write(raw if between == b" " else raw.replace(b" ", between))

    def write_table(self, out: BinaryIO) -> None:
        """Write the table of the texts, after their vectors."""
        out.write(_HEADING.encode())
        row = 0
        for source in self.sources:
            rows = slice(row, row + len(source.documents))
            counts = zip(self.known[rows].tolist(), self.tokens[rows].tolist(), strict=True)
            name = " ".join(source.name.split("\n")).replace("\t", " ")
            for (key, time, line), (known, tokens) in zip(source.documents, counts, strict=True):
                cells = f"{key}\t{name}\t{line}\t{time}\t{known}\t{tokens}\n"
                out.write(cells.encode("utf-8", "surrogateescape"))
            row = rows.stop
