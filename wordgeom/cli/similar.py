"""`wordgeom similar`: nearest neighbours of words, of sums of words, and of lines of queries."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from wordgeom.cli import flags
from wordgeom.cli.command import Command
from wordgeom.core.errors import InputError, OptionError
from wordgeom.core.formatting import several
from wordgeom.vectors.options import NeighbourOptions

if TYPE_CHECKING:
    from wordgeom.methods.dlsa.usage import WordsAt
    from wordgeom.subwords.open_vocabulary import OpenVocabulary
    from wordgeom.vectors.keyed import Vectors

    Asked = OpenVocabulary | WordsAt

_STDIN = "-"
_WITH_VALUE = ("--top", "--at")  # --at -44 is a year
_MINUS = "\0"  # marks a negative word, so that click takes it for no option


class _Query(Command):
    """A command whose arguments `-word` are negative words."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        known = {name for param in self.get_params(ctx) for name in param.opts}
        plain = args.index("--") if "--" in args else len(args)
        for arg, after in pairwise(args[:plain]):
            if f"-{arg}" in _WITH_VALUE and after.lstrip("-").isdigit():
                raise click.NoSuchOption(arg, ctx=ctx)
        marked = [
            _MINUS + arg[1:]
            if arg not in known and _is_negative(arg) and before not in _WITH_VALUE
            else arg
            for before, arg in zip(["", *args], args[:plain], strict=False)
        ]
        return super().parse_args(ctx, [*marked, *args[plain:]])


def _is_negative(arg: str) -> bool:
    return len(arg) > 1 and arg[0] == "-" and arg[1] != "-"


@click.command("similar", cls=_Query)
@click.argument("vectors")
@click.argument("words", nargs=-1, required=True)
@click.option("--at", metavar="TIME", help="time, for VECTORS that train --method dlsa made")
@click.option("--json", "as_json", is_flag=True, help="print JSON")
def command(
    vectors: str, words: tuple[str, ...], at: str | None, as_json: bool, **given: Any
) -> None:
    """List the nearest neighbours of WORDS in VECTORS by cosine similarity.

    The vectors of several words are added, and those of words after a minus sign are subtracted:
    `similar vectors.bin king -man woman`. Words that begin with a minus sign follow `--`. With `-`
    for WORDS, each line of standard input is a query, and lines `query TAB word TAB cosine` are
    printed. With a subword model beside VECTORS, words without a vector get that of their n-grams.
    With `--at`, VECTORS is a model of `train --method dlsa`, and the neighbours are words in use at
    that time.
    """
    (options,) = flags.taken(given, NeighbourOptions)
    made = _read(vectors) if at is None else _read_at(vectors, at)
    if words == (_STDIN,):
        _answer_lines(made, options.top, as_json)
    else:
        signed = [f"-{word[1:]}" if word.startswith(_MINUS) else f"+{word}" for word in words]
        print_words(_found(made, signed, options.top), as_json)
    note_undirected(made.vectors, vectors)


command.params += flags.parameters(NeighbourOptions)


def _read(path: str) -> OpenVocabulary:
    """Read vectors; raises OptionError for a model."""
    from wordgeom.storage.store import Store, exists

    if path and exists(path) and Store.open(path).kind == "dlsa":
        raise OptionError("a model needs a time for neighbours", where=path, do="add --at TIME")
    return read(path)


def _read_at(path: str, at: str) -> WordsAt:
    """Return the words of a model at a time, and print what qualifies them.

    Raises OptionError for what is no time, and what DynamicModel raises.
    """
    import warnings

    from wordgeom.matrices.times import read_time
    from wordgeom.methods.dlsa.model import DynamicModel

    time, model = read_time(at, "--at must be a time"), DynamicModel.open(path)
    with warnings.catch_warnings(action="ignore"):  # of extrapolation, which the note reports
        found = model.at(time)
    unused = several(int((~found.in_use).sum()), "word is", "words are")
    notes = [model.extrapolation(time, f"--at {at}")]
    notes += [] if found.in_use.all() else [f"{unused} not in use near {at} and left out"]
    for note in filter(None, notes):
        click.echo(f"wordgeom: note: {note}", err=True)
    return found


def read(path: str) -> OpenVocabulary:
    """Read vectors in any format, with their n-grams; raises OptionError for an empty name."""
    from wordgeom.cli.frame import text
    from wordgeom.formats.vector_files import read_open_vectors

    return read_open_vectors(Path(text("VECTORS", path)))


def including(made: OpenVocabulary, words: Sequence[str]) -> Vectors:
    """Return the vectors with those of words that lack one, and print a note on these.

    Raises InputError for a word without a known n-gram.
    """
    from wordgeom.subwords.open_vocabulary import subword_note

    vectors, added = made.of_query(words)
    for note in subword_note(added):
        click.echo(f"wordgeom: note: {note}", err=True)
    return vectors


def note_undirected(vectors: Vectors, path: str) -> None:
    """Print notes on the vectors that are zero or have NaN, which are no neighbours."""
    from wordgeom.vectors.zeros import undirected_notes

    for note in undirected_notes(vectors.words, vectors.matrix, path):
        click.echo(f"wordgeom: note: {note}", err=True)


def _found(made: Asked, signed: list[str], top: int) -> list[tuple[str, float]]:
    """Return the neighbours of a query; signed: its words after + or -."""
    from wordgeom.subwords.open_vocabulary import OpenVocabulary
    from wordgeom.vectors.nearest import similar

    words: dict[str, list[str]] = {"+": [], "-": []}
    for word in signed:
        words[word[0]].append(word[1:])
    if isinstance(made, OpenVocabulary):
        vectors = including(made, [word[1:] for word in signed])
        return similar(vectors, words["+"], words["-"], top)
    return made.similar(words["+"], words["-"], top)


def _answer_lines(made: Asked, top: int, as_json: bool) -> None:
    """Answer each line of standard input; raises InputError if no line can be answered."""
    asked = failed = 0
    for number, line in enumerate(sys.stdin.buffer, 1):
        form = "utf-8-sig" if number == 1 else "utf-8"  # without a byte order mark
        if not (query := line.decode(form, "replace").split()):
            continue
        asked += 1
        signed = [word if _is_negative(word) else f"+{word}" for word in query]
        try:
            found = _found(made, signed, top)
        except InputError as error:
            failed += 1
            click.echo(f"wordgeom: note: line {number} skipped: {error}", err=True)
            continue
        name = " ".join(query)
        if as_json:
            click.echo(json.dumps({"query": name, "words": rows_of(found)}, ensure_ascii=False))
        else:
            click.echo("\n".join(f"{name}\t{word}\t{cosine:.4f}" for word, cosine in found))
    if not asked:
        do = "write a query of one or more words on each line"
        raise InputError("contains no query", where="standard input", do=do)
    if failed == asked:
        what = f"none of {several(asked, 'query', 'queries')} can be answered"
        raise InputError(what, where="standard input", do="check the words")


def rows_of(found: list[tuple[str, float]]) -> list[dict[str, Any]]:
    """Return words and cosines as JSON values."""
    return [{"word": word, "cosine": round(cosine, 6)} for word, cosine in found]


def print_words(found: list[tuple[str, float]], as_json: bool) -> None:
    """Print words with their cosines, one a line, or as JSON."""
    if as_json:
        click.echo(json.dumps(rows_of(found), ensure_ascii=False))
        return
    width = max((len(word) for word, _ in found), default=0)
    for word, cosine in found:
        click.echo(f"{word:<{width}}  {cosine:.4f}")
