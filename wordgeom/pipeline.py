"""The stages: what to build, what is up to date, what to refuse. No numerics here."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from wordgeom import runs, store
from wordgeom.corpus.encode import Encoded, encode
from wordgeom.corpus.options import CorpusOptions
from wordgeom.corpus.readers import STDIN, check_input, file_digest, file_stamp, is_stream
from wordgeom.corpus.vocabulary import Vocabulary, save_vocabulary
from wordgeom.counts.rows import Rows, Workshop, value_type
from wordgeom.counts.windows import WindowOptions, denominator, weights
from wordgeom.errors import InputError, MissingInputError, OptionError, WordgeomError
from wordgeom.matrix import MatrixWriter, StoredMatrix
from wordgeom.runs import Clock, Resources, RunOptions
from wordgeom.store import Store, StoreWriter
from wordgeom.types import Int64

COOC, PMI = "cooc", "pmi"


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
    show: bool = False,
) -> Built:
    """Count the co-occurrences of the files `names` into the store `out`."""
    clock = Clock()
    names = list(names)
    _check_inputs(names)
    if save_vocab is not None and not Path(save_vocab).parent.is_dir():
        do = "make it, or name another with --save-vocab"
        raise MissingInputError("no such folder", where=Path(save_vocab).parent, do=do)
    asked = _cooc_options(corpus, window, run)
    if not run.force and (found := _cooc_up_to_date(out, asked, names, shard)):
        if save_vocab is not None:
            save_vocabulary(save_vocab, StoredMatrix.open(out).vocabulary)
        return found
    with runs.resources(run, show) as using, StoreWriter(out, COOC) as writer:
        encoded = _encode(names, corpus, window, using)
        with closing(encoded.stream):
            matrix, shop = _count(encoded, window, shard, using, writer)
            row_sums, column_sums = shop.sums()
        if not row_sums.any() and shard is None:
            raise InputError(
                "no two words occur together",
                where=" ".join(names),
                found=f"{encoded.kept:,} tokens in {encoded.documents:,} documents",
                do="check --document and --min-count",
            )
        write_sums(writer, row_sums, column_sums, window)
        attributes = matrix.finish(_cooc_attributes(encoded, window, shard))
        request = {"command": "build-cooc", "options": asked, "inputs": _input_cards(encoded)}
        made = writer.commit(attributes, runs.card(request, {}, clock.seconds()))
    if save_vocab is not None:
        save_vocabulary(save_vocab, encoded.vocabulary)
    return Built(made, _cooc_summary(made, encoded, clock), _cooc_warnings(encoded, window))


def _check_inputs(names: list[str]) -> None:
    """Fail on a missing file before anything is read."""
    if names.count(STDIN) > 1:
        raise OptionError("standard input can be read once", found="- given twice")
    for name in names:
        check_input(name)


def _cooc_options(corpus: CorpusOptions, window: WindowOptions, run: RunOptions) -> dict[str, Any]:
    options = {**corpus.result_options(), **window.result_options()}
    if corpus.sample > 0:
        options["seed"] = run.seed
    if corpus.read_vocab is not None:
        if is_stream(corpus.read_vocab):
            raise OptionError("--read-vocab needs a file", found=corpus.read_vocab)
        if not os.path.exists(corpus.read_vocab):
            raise MissingInputError(
                "no such file", where=corpus.read_vocab, do="check --read-vocab"
            )
        options |= {"read_vocab": file_digest(corpus.read_vocab), "min_count": 0, "max_vocab": 0}
    return options


def _cooc_up_to_date(
    out: str | os.PathLike[str], asked: dict[str, Any], names: list[str], shard: Shard | None
) -> Built | None:
    """Return the store at `out` if it is what is asked for; raise OutputExistsError if not."""
    if not store.exists(out):
        return None
    made = readable(out, COOC)
    request = made.request
    how = runs.differing_option(asked, request["options"])
    shards = [shard.index, shard.of] if shard else None
    if how is None and made.attributes.get("shard") != shards:
        how = "another shard"
    if how is None and not _same_inputs(names, request["inputs"]):
        streams = any(map(is_stream, names))
        how = "text from a pipe, which cannot be compared" if streams else "made from other text"
    if how is not None:
        raise runs.refuse_other(out, how)
    return up_to_date(made)


def up_to_date(made: Store) -> Built:
    """Return what is there as built, every byte of it checked; raises OutputExistsError."""
    try:
        made.check()
    except WordgeomError as error:
        raise runs.refuse_other(made.path, f"a store that was damaged ({error})") from None
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


def _same_inputs(names: list[str], made_from: list[dict[str, Any]]) -> bool:
    """Tell whether the files are those of a card: by size and time, else by digest."""
    if len(names) != len(made_from) or any(map(is_stream, names)):
        return False
    for name, card in zip(names, made_from, strict=True):
        same_name = card.get("name") == os.path.abspath(name)
        if same_name and card.get("stamp") == file_stamp(name):
            continue
        if file_digest(name) != card.get("digest"):
            return False
    return True


def _encode(
    names: list[str], corpus: CorpusOptions, window: WindowOptions, using: Resources
) -> Encoded:
    return encode(
        names,
        corpus,
        gap=window.window,
        short=2 * window.window,
        seed=using.seed,
        memory=using.memory,
        folder=using.folder,
        pool=using.pool,
        progress=using.progress,
    )


def _count(
    encoded: Encoded,
    window: WindowOptions,
    shard: Shard | None,
    using: Resources,
    writer: StoreWriter,
) -> tuple[MatrixWriter, Workshop]:
    from wordgeom.counts.cooccurrence import Plan, chunk_tokens, count

    words, weight = len(encoded.vocabulary), weights(window)
    plan = Plan(words, weight, window.context == "both", count_type(encoded.vocabulary, window))
    length = encoded.stream.length
    begin, end = shard.span(length) if shard else (0, length)
    chunk = chunk_tokens(using.memory)
    rows, shop = count(
        encoded.stream, begin, end, plan, chunk, using.folder, using.pool, using.progress
    )
    matrix = MatrixWriter(writer, encoded.vocabulary, plan.dtype)
    write_rows(rows, matrix, using, words)
    return matrix, shop


def count_type(vocabulary: Vocabulary, window: WindowOptions) -> np.dtype[Any]:
    """Return the type of counts: what the words' counts allow at most decides."""
    return value_type(2 * int(vocabulary.counts.max()) * int(weights(window).sum()))


def write_rows(rows: Iterator[Rows], matrix: MatrixWriter, using: Resources, words: int) -> None:
    """Write blocks of rows, telling how many of the words have gone by."""
    followed = using.progress.follow(rows, "counting", words, "rows", lambda r: len(r.lengths))
    for block in followed:
        matrix.write(block.lengths, block.indices, block.values)


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


def _input_cards(encoded: Encoded) -> list[dict[str, Any]]:
    return [
        {
            "name": s.name if s.name == STDIN else os.path.abspath(s.name),
            "bytes": s.bytes,
            "digest": s.digest,
            "stamp": s.stamp,
        }
        for s in encoded.sources
    ]


def _cooc_summary(made: Store, encoded: Encoded, clock: Clock) -> str:
    at = made.attributes
    part = f" (shard {at['shard'][0]} of {at['shard'][1]})" if "shard" in at else ""
    return (
        f"{made.path}: {at['shape'][0]:,} words, {at['stored']:,} pairs from {encoded.tokens:,} "
        f"tokens in {_plural(encoded.documents, 'document')}{part}; {clock.seconds():.1f} s"
    )


def _plural(number: int, noun: str) -> str:
    return f"{number:,} {noun}" + ("" if number == 1 else "s")


def _cooc_warnings(encoded: Encoded, window: WindowOptions) -> tuple[str, ...]:
    warnings = []
    if 2 * encoded.short > encoded.documents:
        warnings.append(
            f"more than half of the {encoded.documents:,} documents are shorter than two windows "
            f"({2 * window.window} tokens); if lines are cut from longer texts, "
            "pass --document block or --document file"
        )
    repaired = sum(s.repaired for s in encoded.sources)
    if repaired:
        warnings.append(f"{_plural(repaired, 'byte')} that are not UTF-8 were replaced or skipped")
    return tuple(warnings)
