"""The stages: what to build, what is up to date, what to refuse. No numerics here."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from wordgeom import inputs, runs, saved_vocabulary, store
from wordgeom.corpus.documents import documents_bytes
from wordgeom.corpus.encode import Encoded, encode
from wordgeom.corpus.options import CorpusOptions
from wordgeom.corpus.readers import is_stream
from wordgeom.corpus.remarks import remarks
from wordgeom.corpus.segments import Keeper
from wordgeom.corpus.spool import Sink
from wordgeom.corpus.vocabulary import Vocabulary, save_vocabulary
from wordgeom.counts.rows import Rows, Workshop, value_type
from wordgeom.counts.windows import WINDOWS, WindowOptions, denominator, weights
from wordgeom.errors import InputError, LockedError, OptionError, WordgeomError
from wordgeom.inputs import Inputs
from wordgeom.kept import Kept, ResumeOptions, forget, state_folder
from wordgeom.kept_rows import KeptRows
from wordgeom.matrix import StoredMatrix
from wordgeom.memory import refuse_too_large
from wordgeom.runs import FLOOR, Clock, Resources, RunOptions
from wordgeom.store import Store, StoreWriter
from wordgeom.types import Int64
from wordgeom.wording import plural, several

COOC, PMI = "cooc", "pmi"
_WORD_BYTES, _BENCH_BYTES = 160, 34  # of a word and its sums; of its cell in a thread (rows.Bench)
_NO_RESUME = ResumeOptions()


@dataclass(frozen=True)
class Built:
    """A store that a stage made or found; what to tell the user, and warnings before it."""

    store: Store
    summary: str
    warnings: tuple[str, ...] = ()


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
    found = inputs.find(names, corpus)
    names, corpus = found.names, found.corpus
    asked = inputs.request_options(corpus, window, run)
    words = None if save_vocab is None else Path(save_vocab)
    if not run.force and (there := _cooc_up_to_date(out, asked, names, shard)):
        if words is not None:
            held = StoredMatrix.open(out).vocabulary
            if not saved_vocabulary.check_made(words, held):
                save_vocabulary(words, held)
        return there
    if words is not None:
        saved_vocabulary.check(words, [*names, *inputs.word_files(corpus)], force=run.force)
    kept = Kept(state_folder(out), _kept_request(asked, names, shard), resume, force=run.force)
    with kept.stoppable(), runs.resources(run, show) as using, KeptRows(kept, out, COOC) as rows:
        encoded, documents = _text(found, window, using, kept)
        with closing(encoded.stream):
            row_sums, column_sums = _count(encoded, window, shard, using, kept, rows)
        if not row_sums.any() and shard is None:
            raise InputError(
                "no two words occur together",
                where=" ".join(names),
                found=f"{plural(encoded.kept, 'token')} in {plural(encoded.documents, 'document')}",
                do="check --document and --min-count",
            )
        write_sums(rows.writer, row_sums, column_sums, window)
        if documents:
            rows.writer.text("documents", documents)
        attributes = rows.finish(_cooc_attributes(encoded, window, shard))
        made_from = inputs.cards(encoded.sources)
        request = {"command": "build-cooc", "options": asked, "inputs": made_from}
        with saved_vocabulary.saved(words, encoded.vocabulary):
            made = rows.writer.commit(attributes, runs.card(request, {}, clock.seconds()))
    kept.remove()
    return Built(made, _cooc_summary(made, encoded, clock), _cooc_warnings(encoded, window, found))


def _cooc_up_to_date(
    out: str | os.PathLike[str], asked: dict[str, Any], names: list[str], shard: Shard | None
) -> Built | None:
    """Return the store at `out` if it is what is asked for; raise OutputExistsError if not."""
    if not store.exists(out):
        return None
    made = readable(out, COOC)
    request = made.request
    how = runs.differing_option(asked, inputs.made_options(request))
    shards = [shard.index, shard.of] if shard else None
    if how is None and made.attributes.get("shard") != shards:
        how = "another shard"
    if how is None and not inputs.are_those(names, request["inputs"]):
        streams = any(map(is_stream, names))
        how = "text from a pipe, which cannot be compared" if streams else "made from other text"
    if how is not None:
        raise runs.refuse_other(out, how)
    return up_to_date(made, _kept_request(asked, names, shard))


def up_to_date(made: Store, request: dict[str, Any]) -> Built:
    """Return what is there as built, every byte of it checked; raises OutputExistsError.

    request: whose state is of no more use.
    """
    try:
        made.check()
    except WordgeomError as error:
        raise runs.refuse_other(made.path, f"a store that was damaged ({error})") from None
    if state_folder(made.path).exists():
        with suppress(LockedError), store.only_writer(made.path):
            forget(made.path, request)
    return Built(made, f"{made.path}: up to date")


def readable(out: str | os.PathLike[str], kind: str) -> Store:
    """Open the output that is there already; raises OutputExistsError for anything else."""
    try:
        made = Store.open(out)
    except WordgeomError as error:
        raise runs.refuse_other(out, f"a store that cannot be read ({error})") from None
    if made.kind != kind:
        raise runs.refuse_other(out, f"a {made.kind} matrix")
    return made


def _encode(
    names: list[str],
    corpus: CorpusOptions,
    window: WindowOptions,
    using: Resources,
    sink: Callable[[int], Sink],
    keeper: Keeper,
) -> Encoded:
    return encode(
        names,
        corpus,
        gap=window.window,
        ends=window.count == WINDOWS,
        short=2 * window.window,
        seed=using.seed,
        memory=using.memory,
        folder=using.folder,
        pool=using.pool,
        progress=using.progress,
        sink=sink,
        keeper=keeper,
    )


def _kept_request(asked: dict[str, Any], names: list[str], shard: Shard | None) -> dict[str, Any]:
    """Return whose state it is that a count keeps: what is known before the text is read."""
    shards = None if shard is None else [shard.index, shard.of]
    known = inputs.of_request(names)
    return {"command": "build-cooc", "options": asked, "inputs": known, "shard": shards}


def _text(
    found: Inputs, window: WindowOptions, using: Resources, kept: Kept
) -> tuple[Encoded, bytes]:
    """Return the text and its documents.tsv as an earlier run read them, or read them."""
    from wordgeom.kept_counts import KeptIds, find_ids, keep_ids
    from wordgeom.kept_text import KeptText

    held = find_ids(kept)
    if held is not None:
        return held
    sink, keeper = partial(KeptIds, kept), KeptText(kept)
    encoded = _encode(found.names, found.corpus, window, using, sink, keeper)
    documents = documents_bytes([source.documents for source in encoded.sources])
    keep_ids(kept, encoded, documents, len(encoded.vocabulary) + (window.count == WINDOWS))
    return encoded, documents


def _count(
    encoded: Encoded,
    window: WindowOptions,
    shard: Shard | None,
    using: Resources,
    kept: Kept,
    rows: KeptRows,
) -> tuple[Int64, Int64]:
    """Write the rows of the counts; return the sums of all rows and columns."""
    from wordgeom.counts.cooccurrence import Plan, chunk_tokens, count, token_bytes
    from wordgeom.kept_counts import KeptParts

    words, weight = len(encoded.vocabulary), weights(window)
    symmetric = window.context == "both"
    sliding = window.count == WINDOWS
    plan = Plan(words, weight, symmetric, count_type(encoded.vocabulary, window), sliding)
    length = encoded.stream.length
    begin, end = shard.span(length) if shard else (0, length)
    check_words(words, using)
    chunk = chunk_tokens(using.memory, token_bytes(encoded.stream, sliding=sliding))
    parts = KeptParts(kept)
    rows.begin(encoded.vocabulary, plan.dtype)
    counted, shop = count(
        encoded.stream, begin, end, plan, chunk, parts, using.pool, using.progress, rows.done
    )
    write_rows(counted, rows, using, words)
    return all_sums(shop, rows)


def check_words(words: int, using: Resources) -> None:
    """Refuse to count so many words that the sums and each thread's cells do not fit."""
    needed = words * (_WORD_BYTES + _BENCH_BYTES * using.pool.threads)
    do = "raise --memory or --min-count, or pass --max-vocab or fewer --threads"
    refuse_too_large(f"counts of {words:,} words", needed, max(using.memory, FLOOR), do)


def count_type(vocabulary: Vocabulary, window: WindowOptions) -> np.dtype[Any]:
    """Return the type of counts: what the words' counts allow at most decides."""
    return value_type(2 * int(vocabulary.counts.max()) * int(weights(window).sum()))


def write_rows(counted: Iterator[Rows], rows: KeptRows, using: Resources, words: int) -> None:
    """Write blocks of rows, telling how many of the words have gone by."""
    followed = using.progress.follow(
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


def _cooc_warnings(encoded: Encoded, window: WindowOptions, found: Inputs) -> tuple[str, ...]:
    warnings = [*found.notes, *encoded.notes, *remarks(encoded.sources)]
    of_lines = found.corpus.input_format == "text" and found.corpus.tokeniser != "kmer"
    wrapped = any(source.wrapped for source in encoded.sources)
    if of_lines and not wrapped and 2 * encoded.short > encoded.documents:
        half = f"more than half of the {encoded.documents:,} documents are"
        warnings.append(
            f"{half if encoded.documents > 1 else 'the only document is'} shorter than two windows "
            f"({2 * window.window} tokens); if lines are cut from longer texts, "
            "pass --document block or --document file"
        )
    repaired = sum(s.repaired for s in encoded.sources)
    if repaired:
        one = "byte that is not UTF-8 was replaced or skipped"
        more = "bytes that are not UTF-8 were replaced or skipped"
        warnings.append(several(repaired, one, more))
    return tuple(warnings)
