"""`wordgeom similar`: nearest neighbours of words, of sums of words, and of lines of queries."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from wordgeom.core.errors import InputError
from wordgeom.core.formatting import several

if TYPE_CHECKING:
    from wordgeom.vectors.keyed import Vectors

_STDIN = "-"
_MINUS = "\0"  # marks a negative word, so that click takes it for no option


class _Query(click.Command):
    """A command whose arguments `-word` are negative words."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        known = {name for param in self.get_params(ctx) for name in param.opts}
        plain = args.index("--") if "--" in args else len(args)
        marked = [
            _MINUS + arg[1:]
            if arg not in known and _is_negative(arg) and before != "--top"
            else arg
            for before, arg in zip(["", *args], args[:plain], strict=False)
        ]
        return super().parse_args(ctx, [*marked, *args[plain:]])


def _is_negative(arg: str) -> bool:
    return len(arg) > 1 and arg[0] == "-" and arg[1] != "-"


@click.command("similar", cls=_Query)
@click.argument("vectors")
@click.argument("words", nargs=-1, required=True)
@click.option("--top", default=10, metavar="N", help="number of neighbours  [10]")
@click.option("--json", "as_json", is_flag=True, help="print JSON")
def command(vectors: str, words: tuple[str, ...], top: int, as_json: bool) -> None:
    """List the nearest neighbours of WORDS in VECTORS by cosine similarity.

    The vectors of several words are added, and those of words after a minus sign are subtracted:
    `similar vectors.bin king -man woman`. Words that begin with a minus sign follow `--`. With `-`
    for WORDS, each line of standard input is a query, and lines `query TAB word TAB cosine` are
    printed.
    """
    made = read(vectors)
    if words == (_STDIN,):
        _answer_lines(made, top, as_json)
    else:
        signed = [f"-{word[1:]}" if word.startswith(_MINUS) else f"+{word}" for word in words]
        print_words(_found(made, signed, top), as_json)
    note_undirected(made, vectors)


def read(path: str) -> Vectors:
    """Read vectors in any format."""
    from wordgeom.formats.vector_files import read_any_vectors

    return read_any_vectors(Path(path))


def note_undirected(vectors: Vectors, path: str) -> None:
    """Print notes on the vectors that are zero or have NaN, which are no neighbours."""
    from wordgeom.vectors.zeros import undirected_notes

    for note in undirected_notes(vectors.words, vectors.matrix, path):
        click.echo(f"wordgeom: note: {note}", err=True)


def _found(vectors: Vectors, signed: list[str], top: int) -> list[tuple[str, float]]:
    """Return the neighbours of a query; signed: its words after + or -."""
    from wordgeom.vectors.nearest import similar

    words: dict[str, list[str]] = {"+": [], "-": []}
    for word in signed:
        words[word[0]].append(word[1:])
    return similar(vectors, words["+"], words["-"], top)


def _answer_lines(vectors: Vectors, top: int, as_json: bool) -> None:
    """Answer each line of standard input; raises InputError if no line can be answered."""
    asked = failed = 0
    for number, line in enumerate(sys.stdin.buffer, 1):
        form = "utf-8-sig" if number == 1 else "utf-8"  # without a byte order mark
        if not (query := line.decode(form, "replace").split()):
            continue
        asked += 1
        signed = [word if _is_negative(word) else f"+{word}" for word in query]
        try:
            found = _found(vectors, signed, top)
        except InputError as error:
            failed += 1
            click.echo(f"wordgeom: note: line {number} skipped: {error}", err=True)
            continue
        name = " ".join(query)
        if as_json:
            click.echo(json.dumps({"query": name, "words": rows_of(found)}, ensure_ascii=False))
        else:
            click.echo("\n".join(f"{name}\t{word}\t{cosine:.4f}" for word, cosine in found))
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
