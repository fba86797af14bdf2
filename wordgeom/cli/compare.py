"""`wordgeom compare`: methods, gensim's models and vectors files on the same test sets."""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import click

from wordgeom import methods
from wordgeom.cli import flags
from wordgeom.cli.sets import KINDS, takes_sets
from wordgeom.core.errors import MissingInputError, OptionError
from wordgeom.core.options import flag, specs
from wordgeom.evaluation.options import EvalOptions
from wordgeom.methods.contract import VECTORS
from wordgeom.methods.inputs import READING, settings_of
from wordgeom.methods.inputs.kind import InputKind
from wordgeom.plot.options import PlotOptions
from wordgeom.runtime.run_options import RunOptions

_Command = TypeVar("_Command", bound=Callable[..., Any])
_OPTIONS = (*READING, EvalOptions, RunOptions, PlotOptions)
_MATRIX = "cooc"
_METHODS = "methods to train, separated by commas  [all that accept MATRIX]"
_PEERS = "gensim's models to train on the same text: sgns, lsi"
_CORPUS = "text for --peers, if it has moved since it was counted (repeatable)"


def _input_kinds() -> dict[str, InputKind]:
    """Return the inputs that methods of vectors take besides their first, by setting."""
    found: dict[str, InputKind] = {}
    for name in methods.names():
        method = methods.load(name)
        if VECTORS in method.MAKES:
            found |= dict(list(settings_of(method).items())[1:])
    return found


def takes_inputs(function: _Command) -> _Command:
    """Decorate the command with the flags of these inputs."""
    for setting, kind in _input_kinds().items():
        function = click.option(flag(setting), metavar=kind.metavar, help=kind.help)(function)
    return function


@click.command("compare")
@click.argument("paths", nargs=-1, metavar="[MATRIX] [VECTORS]...")
@click.option("--methods", metavar="A,B", help=_METHODS)
@click.option("--peers", metavar="A,B", help=_PEERS)
@click.option("--corpus", multiple=True, metavar="FILE", help=_CORPUS)
@click.option("--dim", type=click.IntRange(min=1), default=100, metavar="N",
              help="dimension of the trained vectors  [100]")  # fmt: skip
@click.option("--against", metavar="NAME", help="baseline of the differences  [the first row]")
@click.option("--keep", metavar="DIR", help="keep the trained vectors in this directory")
@click.option("--space", metavar="CHAR", help="replacement for white space in words")
@takes_inputs
@click.option("--picture", metavar="FILE", help="plot quality against seconds: .png, .svg or .pdf")
@click.option("--json", "as_json", is_flag=True, help="print JSON, with every measure of every set")
@click.option("--markdown", is_flag=True, help="print Markdown")
@takes_sets(named=True)
def command(
    paths: tuple[str, ...], picture: str | None, as_json: bool, markdown: bool, **given: Any
) -> None:
    """Compare methods, gensim's models and vectors files on the same words and test sets.

    MATRIX is a directory of counts (cooc, or dtm for methods that need documents) on which methods
    are trained; VECTORS are existing files. The default test sets are those shipped with gensim.
    """
    from wordgeom.comparison.compare import compare
    from wordgeom.comparison.entries import CompareRequest
    from wordgeom.evaluation.sets import read_tasks

    if as_json and markdown:
        raise OptionError("--json and --markdown are mutually exclusive", do="pass one")
    values = {name: value for name, value in given.items() if value is not None}
    judging, run, plot = EvalOptions.take(values), RunOptions.take(values), PlotOptions.take(values)
    if run.quiet:  # main() undoes this
        logging.getLogger("wordgeom").setLevel(logging.ERROR)
    if picture is None:
        for name in (f.name for f, _ in specs(PlotOptions) if f.name in values):
            raise OptionError(f"{flag(name)} applies to a plot", do="add --picture FILE")
    else:
        from wordgeom.plot import figure

        figure.check(picture, force=run.force)
    names = ("corpus", "dim", "against", "keep", "space")
    own: dict[str, Any] = {name: values[name] for name in names if name in values}
    weighting: dict[str, Any] = {}
    for cls in READING:
        cls.take(values)  # invalid values are reported before anything is trained
        weighting |= {f.name: values[f.name] for f, _ in specs(cls) if f.name in values}
    own["inputs"] = {name: values[name] for name in _input_kinds() if name in values}
    request = CompareRequest(**own, **_chosen(paths, values), weighting=weighting)
    files = {name: values[name] for name in ("sets", *KINDS)}
    tasks = read_tasks(**files, options=judging)
    found = compare(request, tasks, judging, run, show=True)
    _print(found, as_json, markdown)
    if picture is not None:
        from wordgeom.plot import quality

        for name in quality.draw(found, picture, plot):
            click.echo(
                f"wordgeom: note: {picture} omits {name}: its training time is unknown", err=True
            )


def _chosen(paths: Iterable[str], values: dict[str, Any]) -> dict[str, Any]:
    """Return the candidates, as fields of a CompareRequest."""
    from wordgeom.comparison.entries import available_methods
    from wordgeom.storage.store import Store

    matrices: list[str] = []
    files: list[str] = []
    for path in paths:
        if not os.path.exists(path):
            raise MissingInputError("no such file or directory", where=path, do="check the path")
        (matrices if os.path.isdir(path) else files).append(path)
    if len(matrices) > 1:
        do = "compare methods on one matrix, or vectors files"
        raise OptionError("compare takes one matrix", found=" and ".join(matrices), do=do)
    given = "methods" in values or "peers" in values
    if not (matrices or files or given or os.path.isdir(_MATRIX)):
        do = "count a text with wordgeom build-cooc, or name vectors files"
        raise MissingInputError("nothing to compare", where=_MATRIX, do=do)
    if not files and not given:
        matrices = matrices or [_MATRIX]
    chosen = _names(values["methods"]) if "methods" in values else []
    if "methods" not in values and matrices:
        chosen = available_methods(Store.open(matrices[0]).kind)
    peers = _names(values.get("peers", ""))
    matrix = matrices[0] if matrices else _MATRIX if chosen or peers else None
    return {"files": tuple(files), "matrix": matrix, "methods": tuple(chosen),
            "peers": tuple(peers)}  # fmt: skip


def _names(listed: str) -> list[str]:
    """Return the names between commas, each once."""
    return list(dict.fromkeys(name.strip() for name in listed.split(",") if name.strip()))


def _print(found: Any, as_json: bool, markdown: bool) -> None:
    from wordgeom.cli import compare_tables

    if as_json:
        click.echo(json.dumps(found.to_dict(), ensure_ascii=False, indent=1, allow_nan=False))
    else:
        click.echo(compare_tables.markdown(found) if markdown else compare_tables.plain(found))


command.params.extend(flags.parameters(*_OPTIONS))
