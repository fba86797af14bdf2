"""`wordgeom compare`: methods, gensim's models and vectors files on the same test sets."""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import click

from wordgeom import methods
from wordgeom.cli import flags
from wordgeom.cli.command import Command
from wordgeom.cli.sets import KINDS, takes_sets
from wordgeom.cli.train import by_method
from wordgeom.comparison.options import CompareOptions
from wordgeom.core.errors import MissingInputError, OptionError
from wordgeom.core.options import Options, flag, specs
from wordgeom.corpus.options import CorpusOptions
from wordgeom.counts.windows import WindowOptions
from wordgeom.evaluation.options import EvalOptions
from wordgeom.methods.contract import VECTORS
from wordgeom.methods.inputs import READING, settings_of
from wordgeom.methods.inputs.kind import InputKind
from wordgeom.plot.options import PlotOptions
from wordgeom.runtime.run_options import RunOptions

if TYPE_CHECKING:
    from wordgeom.comparison.result import Comparison

_Command = TypeVar("_Command", bound=Callable[..., Any])
_OPTIONS: tuple[type[Options], ...] = (
    CompareOptions, *READING, EvalOptions, RunOptions, PlotOptions
)  # fmt: skip
_MATRIX = "cooc"
_OF_DOCUMENTS = ("time_from_name", "metadata")  # options of counting that change no vectors
_CORPUS = "text for --peers, if it has moved since it was counted (repeatable)"
_PICTURE = "plot quality against seconds: .png, .svg or .pdf"


def _counting_parameters() -> list[click.Option]:
    """Return the options of counting, except those whose names have another meaning here."""
    taken = {field.name for cls in _OPTIONS for field, _ in specs(cls)} | set(_OF_DOCUMENTS)
    made = flags.parameters(CorpusOptions, WindowOptions)
    return [option for option in made if option.name not in taken]


_COUNTING = {str(option.name) for option in _counting_parameters()}


def _input_kinds() -> dict[str, InputKind]:
    """Return the inputs that methods of vectors take besides their first, by setting."""
    found: dict[str, InputKind] = {}
    for name in methods.names():
        method = methods.load(name)
        if VECTORS in method.MAKES:
            others = list(settings_of(method).items())[1:]
            found |= {setting: kind for setting, kind in others if kind.compared}
    return found


def takes_inputs(function: _Command) -> _Command:
    """Decorate the command with the flags of these inputs."""
    for setting, kind in _input_kinds().items():
        function = click.option(flag(setting), metavar=kind.metavar, help=kind.help)(function)
    return function


@click.command("compare", cls=Command)
@click.argument("paths", nargs=-1, metavar="[TEXT | MATRIX] [VECTORS]...")
@click.option("--corpus", multiple=True, metavar="FILE", help=_CORPUS)
@takes_inputs
@click.option("--picture", metavar="FILE", help=_PICTURE)
@click.option("--json", "as_json", is_flag=True, help="print JSON, with every measure of every set")
@click.option("--markdown", is_flag=True, help="print Markdown")
@takes_sets(named=True)
def command(
    paths: tuple[str, ...], picture: str | None, as_json: bool, markdown: bool, **given: Any
) -> None:
    """Compare methods, gensim's models and vectors files on the same words and test sets.

    TEXT names files, directories or quoted patterns, of which compare counts what the methods
    need. MATRIX is a directory of counts instead (cooc for methods of co-occurrences, dtm for those
    of documents, or both). VECTORS are existing files. The default test sets are gensim's.
    """
    if as_json and markdown:
        raise OptionError("--json and --markdown are mutually exclusive", do="pass one")
    values = {name: value for name, value in given.items() if value is not None}
    plot = PlotOptions.take(values)
    if values.get("quiet"):  # main() undoes this
        logging.getLogger("wordgeom").setLevel(logging.ERROR)
    if picture is None:
        for name in (f.name for f, _ in specs(PlotOptions) if f.name in values):
            raise OptionError(f"{flag(name)} applies to a plot", do="add --picture FILE")
    else:
        from wordgeom.plot import figure

        named = [values.get(name, ()) for name in ("corpus", "sets", *KINDS)]
        read = [*paths, *(path for each in named for path in each)]
        figure.check(picture, read, force=values.get("force", False))
    found = compared(paths, values)
    _print(found, as_json, markdown)
    if picture is not None:
        from wordgeom.plot import quality

        for name in quality.draw(found, picture, plot):
            click.echo(
                f"wordgeom: note: {picture} omits {name}: its training time is unknown", err=True
            )
        # Standard output is the tables alone, which may be JSON.
        click.echo(f"wordgeom: note: {picture}: quality against seconds", err=True)


def compared(paths: Sequence[str], values: dict[str, Any]) -> Comparison:
    """Return the comparison that a command line, or a table of a TOML file, asks for.

    paths: texts, matrices and vectors files; values: options by name, as the flags have them.
    Raises OptionError and what `comparison.compare` raises.
    """
    from wordgeom.comparison.compare import compare
    from wordgeom.comparison.entries import CompareRequest
    from wordgeom.evaluation.sets import read_tasks

    judging, run = EvalOptions.take(values), RunOptions.asked(values)
    asked = CompareOptions.take(values)
    names = ("dim", "against", "keep", "space", "peer_epochs")
    own: dict[str, Any] = {name: getattr(asked, name) for name in names}
    own |= {"cache": not asked.no_cache, "corpus": tuple(values.get("corpus", ()))}
    weighting: dict[str, Any] = {}
    for cls in READING:
        cls.take(values)  # invalid values are reported before anything is trained
        weighting |= {f.name: values[f.name] for f, _ in specs(cls) if f.name in values}
    own["inputs"] = {name: values[name] for name in _input_kinds() if name in values}
    request = CompareRequest(**own, **_chosen(paths, values), weighting=weighting)
    files = {name: values.get(name, ()) for name in ("sets", *KINDS)}
    tasks = read_tasks(**files, options=judging)
    return compare(request, tasks, judging, run, show=True)


def _check_effect(values: dict[str, Any], trains: bool, peers: bool) -> None:
    """Raise OptionError for an option of a training that does not take place."""
    options = ("dim", trains, "--methods or --peers"), ("peer_epochs", peers, "--peers")
    for name, used, do in options:
        if name in values and not used:
            what = f"{flag(name)} has no effect, since nothing is trained with it"
            raise OptionError(what, do=f"add {do}, or leave it out")


def _chosen(paths: Iterable[str], values: dict[str, Any]) -> dict[str, Any]:
    """Return the candidates, as fields of a CompareRequest."""
    from wordgeom.comparison.arguments import sorted_arguments
    from wordgeom.comparison.counting import COUNTED, TextRequest
    from wordgeom.comparison.entries import available_methods
    from wordgeom.matrices.opening import open_any

    given = sorted_arguments(paths)
    matrices, peers = given.matrices, _names(values.get("peers", ""))
    chosen = _names(values.get("methods", ""))
    training = "methods" in values or bool(peers)
    if given.texts and (matrices or values.get("corpus")):
        do = "name the text alone; with counts, --corpus names the text of the peers"
        found = " and ".join([*matrices, *given.texts, *values.get("corpus", ())])
        raise OptionError("compare takes a text or counts", found=found, do=do)
    if given.texts and given.vectors and not training:
        do = "name test sets with --set; to train on a text, pass --methods or --peers"
        raise OptionError("is neither counts nor vectors", where=given.texts[0], do=do)
    if not given.texts:
        _refuse_counting(values)
        if not (matrices or given.vectors or training or os.path.isdir(_MATRIX)):
            do = "name a text, the counts of wordgeom build-cooc, or vectors files"
            raise MissingInputError("nothing to compare", where=_MATRIX, do=do)
        if not (matrices or given.vectors or training):
            matrices = (_MATRIX,)
    if "methods" not in values and (given.texts or matrices):
        kinds = COUNTED if given.texts else [open_any(path).store.kind for path in matrices]
        chosen = available_methods(kinds)
    if not (given.texts or matrices) and (chosen or peers):
        matrices = (_MATRIX,)
    _check_effect(values, bool(chosen or peers), bool(peers))
    fields: dict[str, Any] = {
        "files": given.vectors, "matrices": matrices, "methods": tuple(chosen),
        "peers": tuple(peers),
    }  # fmt: skip
    if given.texts:
        counting = {name: value for name, value in values.items() if name in _COUNTING}
        options = CorpusOptions.take(counting), WindowOptions.take(counting)
        fields["text"] = TextRequest(given.texts, *options)
    return fields


def _refuse_counting(values: Mapping[str, Any]) -> None:
    """Raise OptionError for an option of counting, if there is no text to count."""
    for name in values:
        if name in _COUNTING:
            do = "name a text, or pass the option to build-cooc or build-dtm"
            raise OptionError(f"{flag(name)} is for counting a text", do=do)


def _names(listed: str) -> list[str]:
    """Return the names between commas, each once; `none` is no name."""
    if listed == "none":
        return []
    return list(dict.fromkeys(name.strip() for name in listed.split(",") if name.strip()))


def _print(found: Any, as_json: bool, markdown: bool) -> None:
    from wordgeom.cli import compare_tables

    if as_json:
        click.echo(json.dumps(found.to_dict(), ensure_ascii=False, indent=1, allow_nan=False))
    else:
        click.echo(compare_tables.markdown(found) if markdown else compare_tables.plain(found))


command.params[1:1] = flags.parameters(CompareOptions)
command.params += [*_counting_parameters(), *flags.parameters(*_OPTIONS[1:], preferred=by_method())]
