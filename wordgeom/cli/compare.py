"""`wordgeom compare`: methods, peers and vectors files side by side."""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Iterable
from typing import Any

import click

from wordgeom.cli import flags
from wordgeom.cli.sets import KINDS, takes_sets
from wordgeom.core.errors import MissingInputError, OptionError
from wordgeom.core.options import specs
from wordgeom.evaluation.options import EvalOptions
from wordgeom.runtime.run_options import RunOptions
from wordgeom.stages.method_inputs import SOURCES

_WEIGHTING = tuple(source.weighting for source in SOURCES.values())
_OPTIONS = (*_WEIGHTING, EvalOptions, RunOptions)
_MATRIX = "cooc"
_METHODS = "methods to train, with commas between them  [all, where MATRIX is given]"
_PEERS = "gensim's models to train on the same text: sgns, lsi"
_CORPUS = "the text for --peers, if it is not where it was counted; repeatable"


@click.command("compare")
@click.argument("paths", nargs=-1, metavar="[MATRIX] [VECTORS]...")
@click.option("--methods", metavar="A,B", help=_METHODS)
@click.option("--peers", metavar="A,B", help=_PEERS)
@click.option("--corpus", multiple=True, metavar="FILE", help=_CORPUS)
@click.option("--dim", type=click.IntRange(min=1), default=100, metavar="N",
              help="dimension of what is trained  [100]")  # fmt: skip
@click.option("--against", metavar="NAME", help="take differences from this row  [the first]")
@click.option("--keep", metavar="DIR", help="keep the vectors that are made, in this folder")
@click.option("--space", metavar="CHAR", help="put this for white space in words")
@click.option("--picture", metavar="FILE", help="draw quality against seconds: .png, .svg, .pdf")
@click.option("--json", "as_json", is_flag=True, help="print JSON, every measure of every set")
@click.option("--markdown", is_flag=True, help="print Markdown")
@takes_sets(named=True)
def command(
    paths: tuple[str, ...], picture: str | None, as_json: bool, markdown: bool, **given: Any
) -> None:
    """Judge methods, gensim's models and vectors files by the same sets and words.

    MATRIX is a folder (cooc) whose counts every method is trained on, or one of build-dtm, for
    methods of documents; VECTORS are files that are there already. Without --set and its like, the
    sets inside gensim judge.
    """
    from wordgeom.comparison import compare
    from wordgeom.evaluation.sets import read_tasks

    if as_json and markdown:
        raise OptionError("--json and --markdown are two forms of one report", do="pass one")
    values = {name: value for name, value in given.items() if value is not None}
    judging, run = EvalOptions.take(values), RunOptions.take(values)
    if run.quiet:  # main() undoes this
        logging.getLogger("wordgeom").setLevel(logging.ERROR)
    if picture is not None:
        from wordgeom.plot import figure

        figure.check(picture, force=run.force)
    names = ("corpus", "dim", "against", "keep", "space")
    own: dict[str, Any] = {name: values[name] for name in names if name in values}
    weighting: dict[str, Any] = {}
    for cls in _WEIGHTING:
        cls.take(values)  # refused before anything is trained
        weighting |= {f.name: values[f.name] for f, _ in specs(cls) if f.name in values}
    entry = compare.CompareRequest(**own, **_chosen(paths, values), weighting=weighting)
    files = {name: values[name] for name in ("sets", *KINDS)}
    tasks = read_tasks(**files, options=judging)
    found = compare.compare(entry, tasks, judging, run, show=True)
    _print(found, as_json, markdown)
    if picture is not None:
        from wordgeom.plot import quality

        for name in quality.draw(found, picture):
            click.echo(f"wordgeom: note: {picture}: without {name}: no seconds are known", err=True)


def _chosen(paths: Iterable[str], values: dict[str, Any]) -> dict[str, Any]:
    """Return who takes part, as fields of a CompareRequest."""
    from wordgeom.comparison.entries import available_methods
    from wordgeom.storage.store import Store

    matrices: list[str] = []
    files: list[str] = []
    for path in paths:
        if not os.path.exists(path):
            raise MissingInputError("no such file or folder", where=path, do="check the path")
        (matrices if os.path.isdir(path) else files).append(path)
    if len(matrices) > 1:
        do = "compare methods on one matrix, or vectors files"
        raise OptionError("one matrix at a time", found=" and ".join(matrices), do=do)
    given = "methods" in values or "peers" in values
    if not (matrices or files or given or os.path.isdir(_MATRIX)):
        do = "count a text with wordgeom build-cooc, or name vectors files"
        raise MissingInputError("there is nothing to compare", where=_MATRIX, do=do)
    if not files and not given:
        matrices = matrices or [_MATRIX]
    methods = _names(values["methods"]) if "methods" in values else []
    if "methods" not in values and matrices:
        methods = available_methods(Store.open(matrices[0]).kind)
    peers = _names(values.get("peers", ""))
    matrix = matrices[0] if matrices else _MATRIX if methods or peers else None
    return {"files": tuple(files), "matrix": matrix, "methods": tuple(methods),
            "peers": tuple(peers)}  # fmt: skip


def _names(listed: str) -> list[str]:
    """Return names between commas, each once."""
    return list(dict.fromkeys(name.strip() for name in listed.split(",") if name.strip()))


def _print(found: Any, as_json: bool, markdown: bool) -> None:
    from wordgeom.cli import compare_tables

    if as_json:
        click.echo(json.dumps(found.to_dict(), ensure_ascii=False, indent=1, allow_nan=False))
    else:
        click.echo(compare_tables.markdown(found) if markdown else compare_tables.plain(found))


command.params.extend(flags.parameters(*_OPTIONS))
