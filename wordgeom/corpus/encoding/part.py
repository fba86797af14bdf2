"""One part of a text: where it begins and ends, and what must be read around it.

The windows at the first tokens of a part reach back into the part before, and those at its last
tokens into the next one. A part is therefore read with some text before and after it, which serves
as context and is not counted. Totals are subtracted, as all of them are sums over the text.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from wordgeom.corpus.encoding.encode import EncodedCorpus
from wordgeom.corpus.encoding.stretches import StretchReader, Totals
from wordgeom.corpus.inputs.readers import Source
from wordgeom.corpus.inputs.text_parts import Place, Text, TextRange
from wordgeom.corpus.options import CorpusOptions
from wordgeom.corpus.records import formats
from wordgeom.corpus.vocabulary import Vocabulary

_FIRST, _LARGEST = 1 << 14, 1 << 26  # bytes around a cut that are tried


@dataclass(frozen=True)
class Edge:
    """What is read around a cut: the bytes [start:stop) of its file, and their totals.

    before: from start to the cut; after: from the cut to stop.
    """

    start: int
    stop: int
    before: Totals
    after: Totals


@dataclass(frozen=True)
class TextPart:
    """A range of a text, with the edges on both sides."""

    range: TextRange
    first: Edge
    last: Edge

    def sources(self) -> list[Source]:
        """Return what is read."""
        begin, end = self.range.begin, self.range.end
        begin = begin._replace(offset=self.first.start)
        return self.range.text.sources(begin, end._replace(offset=self.last.stop))

    def within(self, encoded: EncodedCorpus) -> tuple[EncodedCorpus, int, int]:
        """Return the totals of the part alone, and the range of the stream that it has.

        encoded: what was read, from `sources`.
        """
        counts = encoded.vocabulary.counts.copy()
        around = self.first.before, self.last.after
        for one in around:
            np.subtract.at(counts, one.rows, one.counts)
        vocabulary = Vocabulary(encoded.vocabulary.words, counts)
        sources = self.range.every_source(encoded.sources)
        tokens, kept, documents = (
            getattr(encoded, name) - sum(getattr(one, name) for one in around)
            for name in ("tokens", "kept", "documents")
        )
        alone = replace(encoded, vocabulary=vocabulary, sources=sources, tokens=tokens, kept=kept,
                        documents=documents)  # fmt: skip
        return alone, around[0].ids, encoded.stream.length - around[1].ids


def find_part(
    text: Text, span: tuple[int, int], options: CorpusOptions, halo: int, reader: StretchReader
) -> TextPart:
    """Return the part of a text from one byte to another, moved to the next separators.

    span: of bytes, over all files; halo: ids on which counts depend, on either side.
    """
    found = text.between(span)
    first = _edge(text, found.begin, options, halo, reader)
    same = found.begin == found.end
    last = first if same else _edge(text, found.end, options, halo, reader)
    return TextPart(found, first, last)


def _edge(text: Text, cut: Place, options: CorpusOptions, halo: int, reader: StretchReader) -> Edge:
    """Return the edge at a cut: enough text before and after it, or up to the ends of its file."""
    of_records = cut.offset > 0 and formats.format_of(text.names[cut.file], options) == "jsonl"
    if cut.offset == 0 or of_records:  # a document ends there
        return Edge(cut.offset, cut.offset, Totals.none(), Totals.none())

    def between(start: int, stop: int) -> Totals:
        if start == stop:
            return Totals.none()
        source = Source(text.names[cut.file])
        source.span = (start, stop)
        return reader.totals(source)

    size, start, before = _FIRST, cut.offset, Totals.none()
    while start > 0 and (before.tokens == 0 or before.ids < halo):
        far = 0 if size > _LARGEST else max(cut.offset - size, 0)
        start, size = text.next_cut(cut.file, far), 4 * size
        before = between(start, cut.offset)
    length, size, stop, after = text.sizes[cut.file], _FIRST, cut.offset, Totals.none()
    while stop < length and after.ids < halo:
        far = length if size > _LARGEST else min(cut.offset + size, length)
        stop, size = text.next_cut(cut.file, far), 4 * size
        after = between(start, stop).beyond(before)
    return Edge(start, stop, before, after)
