"""The stage that counts co-occurrences. No numerics here."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from wordgeom.checkpoint.matrix_rows import KeptRows
from wordgeom.checkpoint.state import Kept, ResumeOptions
from wordgeom.core.errors import InputError, OptionError
from wordgeom.core.formatting import plural
from wordgeom.core.types import Int64
from wordgeom.corpus.inputs.segments import Keeper
from wordgeom.corpus.options import CorpusOptions
from wordgeom.corpus.tokens.encode import Encoded, encode
from wordgeom.corpus.tokens.row_mapping import MakeSink
from wordgeom.corpus.vocabulary import Vocabulary
from wordgeom.counts.count_rows import Rows, Workshop, value_type
from wordgeom.counts.windows import WINDOWS, WindowOptions, denominator, weights
from wordgeom.linalg.device import open_context
from wordgeom.matrices.cooccurrence import COOC
from wordgeom.runtime.context import Context
from wordgeom.runtime.memory import check_memory
from wordgeom.runtime.provenance import Clock
from wordgeom.runtime.run_options import FLOOR, RunOptions
from wordgeom.stages import corpus_inputs
from wordgeom.stages.corpus_inputs import Inputs
from wordgeom.stages.counting import Asked, Built, kept_text
from wordgeom.storage.store import Store, StoreWriter

_WORD_BYTES, _BENCH_BYTES = 160, 34  # of a word and its sums; of its cell in a thread (rows.Bench)
_NO_RESUME = ResumeOptions()


@dataclass(frozen=True)
class Shard:
    """Part `index` (from 1) of `of` of one count."""

    index: int
    of: int

    @classmethod
    def parse(cls, text: str) -> Shard:
        """Read `i/N`; raises OptionError."""
        index, slash, of = text.partition("/")
        if not (slash and index.isdecimal() and of.isdecimal()):
            raise OptionError("--shard must be i/N, such as 1/8", found=repr(text))
        if not 1 <= int(index) <= int(of) <= 1_000_000:
            raise OptionError("--shard i/N counts from 1 to N", found=repr(text))
        return cls(int(index), int(of))

    def span(self, length: int) -> tuple[int, int]:
        """Return the part of [0, length) that this shard counts."""
        return length * (self.index - 1) // self.of, length * self.index // self.of


def build_cooc(
    names: Sequence[str],
    out: str | os.PathLike[str],
    corpus: CorpusOptions,
    window: WindowOptions,
    run: RunOptions,
    *,
    shard: Shard | None = None,
    save_vocab: str | None = None,
    resume: ResumeOptions = _NO_RESUME,
    show: bool = False,
) -> Built:
    """Count the co-occurrences of the files `names` into the store `out`."""
    clock = Clock()
    found = corpus_inputs.find(names, corpus)
    options = corpus_inputs.request_options(found.corpus, run, window)
    words = None if save_vocab is None else Path(save_vocab)
    part = [shard.index, shard.of] if shard else None
    asked = Asked("build-cooc", COOC, out, found, options, words, part)
    if there := asked.made(force=run.force):
        return there
    kept = asked.kept(resume, force=run.force)
    with (
        kept.stoppable(),
        open_context(run, show=show) as context,
        KeptRows(kept, out, COOC) as rows,
    ):
        encoded, documents = _text(found, window, context, kept)
        with closing(encoded.stream):
            row_sums, column_sums = _count(encoded, window, shard, context, kept, rows)
        if not row_sums.any() and shard is None:
            raise InputError(
                "no two words occur together",
                where=" ".join(found.names),
                found=f"{plural(encoded.kept, 'token')} in {plural(encoded.documents, 'document')}",
                do="check --document and --min-count",
            )
        write_sums(rows.writer, row_sums, column_sums, window)
        if documents:
            rows.writer.text("documents", documents)
        attributes = rows.finish(_cooc_attributes(encoded, window, shard))
        made = asked.commit(rows.writer, attributes, encoded, clock)
    kept.remove()
    warnings = asked.warnings(encoded, _short_warning(encoded, window, found))
    return Built(made, _cooc_summary(made, encoded, clock), warnings)


def _text(
    found: Inputs, window: WindowOptions, context: Context, kept: Kept
) -> tuple[Encoded, bytes]:
    """Return the text and its documents.tsv."""
    ends = window.count == WINDOWS

    def read(sink: MakeSink, keeper: Keeper) -> Encoded:
        return encode(
            found.names,
            found.corpus,
            context,
            gap=window.window,
            ends=ends,
            short=2 * window.window,
            sink=sink,
            keeper=keeper,
        )

    return kept_text(kept, read, beyond=ends)


def _count(
    encoded: Encoded,
    window: WindowOptions,
    shard: Shard | None,
    context: Context,
    kept: Kept,
    rows: KeptRows,
) -> tuple[Int64, Int64]:
    """Write the rows of the counts; return the sums of all rows and columns."""
    from wordgeom.checkpoint.token_ids import KeptParts
    from wordgeom.counts.cooccurrence import Plan, chunk_tokens, count, token_bytes

    words, weight = len(encoded.vocabulary), weights(window)
    symmetric = window.context == "both"
    sliding = window.count == WINDOWS
    plan = Plan(words, weight, symmetric, count_type(encoded.vocabulary, window), sliding)
    length = encoded.stream.length
    begin, end = shard.span(length) if shard else (0, length)
    check_words(words, context)
    chunk = chunk_tokens(context.memory, token_bytes(encoded.stream, sliding=sliding))
    parts = KeptParts(kept)
    rows.begin(encoded.vocabulary, plan.dtype)
    counted, shop = count(
        encoded.stream, begin, end, plan, chunk, parts, context.pool, context.progress, rows.done
    )
    write_rows(counted, rows, context, words)
    return all_sums(shop, rows)


def check_words(words: int, context: Context) -> None:
    """Refuse to count so many words that the sums and each thread's cells do not fit."""
    needed = words * (_WORD_BYTES + _BENCH_BYTES * context.pool.threads)
    do = "raise --memory or --min-count, or pass --max-vocab or fewer --threads"
    check_memory(f"counts of {words:,} words", needed, max(context.memory, FLOOR), do)


def count_type(vocabulary: Vocabulary, window: WindowOptions) -> np.dtype[Any]:
    """Return the type of counts: what the words' counts allow at most decides."""
    return value_type(2 * int(vocabulary.counts.max()) * int(weights(window).sum()))


def write_rows(counted: Iterator[Rows], rows: KeptRows, context: Context, words: int) -> None:
    """Write blocks of rows, telling how many of the words have gone by."""
    followed = context.progress.follow(
        counted, "counting", words, "rows", lambda r: len(r.lengths), done=rows.done
    )
    rows.write((block.lengths, block.indices, block.values) for block in followed)


def all_sums(shop: Workshop, rows: KeptRows) -> tuple[Int64, Int64]:
    """Return the sums of rows and columns of the whole matrix, earlier rows among them."""
    for first, earlier in rows.earlier():
        shop.add(first, earlier)
    return shop.sums()


def write_sums(
    writer: StoreWriter, row_sums: Int64, column_sums: Int64, window: WindowOptions
) -> None:
    """Write the sums of the whole matrix's rows and, where they differ, columns."""
    writer.array("rowsums", np.int64).write(row_sums)
    if window.context != "both":
        writer.array("columnsums", np.int64).write(column_sums)


def _cooc_attributes(
    encoded: Encoded, window: WindowOptions, shard: Shard | None
) -> dict[str, Any]:
    attributes: dict[str, Any] = {
        "triangle": "upper" if window.context == "both" else "",
        "denominator": denominator(window),
        "tokens": encoded.tokens,
        "kept": encoded.kept,
        "documents": encoded.documents,
    }
    return attributes | ({"shard": [shard.index, shard.of]} if shard else {})


def _cooc_summary(made: Store, encoded: Encoded, clock: Clock) -> str:
    at = made.attributes
    part = f" (shard {at['shard'][0]} of {at['shard'][1]})" if "shard" in at else ""
    return (
        f"{made.path}: {shape_told(made)} from {plural(encoded.tokens, 'token')} in "
        f"{plural(encoded.documents, 'document')}{part}; {clock.seconds():.1f} s"
    )


def shape_told(made: Store) -> str:
    """Return the size of a matrix in words."""
    at = made.attributes
    return f"{plural(at['shape'][0], 'word')}, {plural(at['stored'], 'pair')}"


def _short_warning(encoded: Encoded, window: WindowOptions, found: Inputs) -> Iterator[str]:
    """Yield a warning of documents that are mostly too short for the window."""
    of_lines = found.corpus.input_format == "text" and found.corpus.tokeniser != "kmer"
    wrapped = any(source.wrapped for source in encoded.sources)
    if of_lines and not wrapped and 2 * encoded.short > encoded.documents:
        half = f"more than half of the {encoded.documents:,} documents are"
        yield (
            f"{half if encoded.documents > 1 else 'the only document is'} shorter than two windows "
            f"({2 * window.window} tokens); if lines are cut from longer texts, "
            "pass --document block or --document file"
        )
