"""`wordgeom plan`: predict vocabulary, entries, disk, memory and time of a run before it runs."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from wordgeom.cli import frame
from wordgeom.core.errors import InputError, OptionError
from wordgeom.core.formatting import aligned

if TYPE_CHECKING:
    from wordgeom.cli.pipeline import Step
    from wordgeom.planning.verdict import Planned

_COUNTS = ("build-cooc", "build-dtm")
_LATER = ("build-pmi", "train")
_HEAD = ["command", "output", "words", "entries", "products", "disk", "memory", "time"]
_TOO_LARGE = 3  # exit status
_CONTEXT = {"ignore_unknown_options": True, "help_option_names": ["-h", "--help"]}
_HELP = """Predict what the commands of a configuration file, or one command, will cost.

Samples of the text, from its head, middle and tail, are counted and trained on in pilot runs. Their
costs are extrapolated to the whole: words, entries, products, disk, memory and time. The exit
status is 3 if something will not fit.

\b
  wordgeom plan x.toml
  wordgeom plan build-cooc corpus.txt --window 10
"""


@click.command("plan", help=_HELP, context_settings=_CONTEXT)
@click.option("--json", "as_json", is_flag=True, help="print JSON")
@click.option("--tmp-dir", metavar="DIR", help="directory for samples and pilot runs")
@click.argument("what", metavar="CONFIG|COMMAND")
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def command(as_json: bool, tmp_dir: str | None, what: str, arguments: tuple[str, ...]) -> None:
    """Print the plan."""
    from wordgeom.planning.verdict import problems
    from wordgeom.storage.files import write_errors

    steps = _steps(frame.text("CONFIG", what), arguments)
    parent = Path(tmp_dir or tempfile.gettempdir())
    with write_errors(parent):
        made = tempfile.TemporaryDirectory(prefix="wordgeom-plan-", dir=parent)
    with made as name, click.get_current_context().obj:
        planned, left_out = plan_steps(steps, Path(name))
    wrong = problems(planned)
    if as_json:
        facts = {"commands": [one.facts() for one in planned], "problems": wrong}
        click.echo(json.dumps({**facts, "not_planned": left_out}, ensure_ascii=False))
    else:
        lines = aligned([_HEAD, *(one.cells() for one in planned)], words=2)
        lines += [f"not planned: {one}" for one in left_out]
        click.echo("\n".join([*lines, *(f"does not fit: {one}" for one in wrong)]))
    if wrong:
        click.get_current_context().exit(_TOO_LARGE)


def _steps(what: str, arguments: Sequence[str]) -> list[Step]:
    """Return the steps of a configuration file, or the one of a command line."""
    from wordgeom.cli.pipeline import Step, read_steps

    if what not in frame.STAGES:
        if flag := next((one for one in (what, *arguments) if one.startswith("-")), None):
            raise OptionError(f"{flag} is not an option of plan",
                              do="set it in the tables of the configuration file")  # fmt: skip
        if arguments:
            raise OptionError(f"{what}: a configuration file takes no arguments",
                              do="name the file alone, or a command")  # fmt: skip
        return read_steps(what)
    if what not in _COUNTS:
        do = f"plan {' or '.join(_COUNTS)}, or a configuration file that counts the text too"
        raise OptionError(f"{what} alone cannot be planned", do=do)
    return [Step(what, what, frame.parsed(what, arguments))]


def plan_steps(steps: Sequence[Step], folder: Path) -> tuple[list[Planned], list[str]]:
    """Return the plans of the steps, and the names of those that have none. Raises InputError."""
    from wordgeom.cli.pilots import Pilots

    pilots, planned, left_out = Pilots(folder), [], []
    for step in steps:
        with step.errors():
            if step.name in _COUNTS:
                planned.append(pilots.count(step))
            elif step.name in _LATER and pilots.makes_input_of(step):
                planned.append(pilots.follow(step))
            else:
                left_out.append(step.place)
    if not planned:
        raise InputError("counts no text", where=steps[0].place, do="add [build-cooc]")
    return planned, left_out
