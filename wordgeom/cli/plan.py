"""`wordgeom plan`: predict vocabulary, entries, disk, memory and time of a run before it runs."""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click

from wordgeom.cli import flags, frame
from wordgeom.cli.usage import meant
from wordgeom.core.errors import InputError, OptionError
from wordgeom.core.formatting import aligned
from wordgeom.jobs.options import ShardOptions

if TYPE_CHECKING:
    from wordgeom.cli.pipeline import Step
    from wordgeom.planning.verdict import Planned

_COUNTS, _SHARDED, _EMBED = ("build-cooc", "build-dtm"), "build-cooc", "embed"
_HEAD = ["command", "output", "words", "entries", "products", "disk", "temporary", "memory",
         "time"]  # fmt: skip
_TOO_LARGE = 3  # exit status
_CONTEXT = {"ignore_unknown_options": True, "help_option_names": ["-h", "--help"]}
_HELP = """Predict what the commands of a configuration file, or one command, will cost.

Samples of the text, from its head, middle and tail, are counted and trained on in pilot runs, or
parts of a stored matrix or of vectors. Their costs are extrapolated to the whole: words, entries,
products, disk, memory and time. The exit status is 3 if something will not fit.

\b
  wordgeom plan x.toml
  wordgeom plan build-cooc corpus.txt --window 10
  wordgeom plan --shards 64 build-cooc corpus.txt
  wordgeom plan train cooc --method gbu
"""


@click.command("plan", help=_HELP, context_settings=_CONTEXT)
@click.option("--json", "as_json", is_flag=True, help="print JSON")
@click.option("--tmp-dir", metavar="DIR", help="directory for samples and pilot runs")
@click.argument("what", metavar="CONFIG|COMMAND")
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def command(
    as_json: bool, tmp_dir: str | None, what: str, arguments: tuple[str, ...], **given: Any
) -> None:
    """Print the plan."""
    from wordgeom.planning.verdict import problems

    (split,) = flags.taken(given, ShardOptions)
    steps = _steps(frame.text("CONFIG", what), arguments)
    with click.get_current_context().obj:
        planned, left_out = plan_steps(steps, tmp_dir, split.shards)
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


command.params += flags.parameters(ShardOptions)


def _steps(what: str, arguments: Sequence[str]) -> list[Step]:
    """Return the steps of a configuration file, or the one of a command line."""
    from wordgeom.cli.pilots import LATER, is_test
    from wordgeom.cli.pipeline import Step, read_steps

    planned = (*_COUNTS, *LATER, _EMBED)
    if what not in frame.STAGES:
        if not (what.startswith("-") or os.path.exists(what) or Path(what).suffix):
            do = f"plan {', '.join(planned)}, or a configuration file"
            raise OptionError(f"{what} is neither a command nor a file", do=do)
        if flag := next((one for one in (what, *arguments) if one.startswith("-")), None):
            unknown, do = flag.partition("=")[0], "set it in the tables of the configuration file"
            do = meant(unknown, click.get_current_context()) or do
            raise OptionError(f"{unknown} is not an option of plan", do=do)
        if arguments:
            raise OptionError(f"{what}: a configuration file takes no arguments",
                              do="name the file alone, or a command")  # fmt: skip
        return read_steps(what)
    if what not in planned:
        do = f"plan {', '.join(planned)}, or a configuration file"
        raise OptionError(f"{what} cannot be planned", do=do)
    given = frame.parsed(what, arguments)
    table = {name: list(v) if isinstance(v, tuple) else v for name, v in given.items()}
    step = Step(what, what, table)
    stage = cast("frame.Stage", step.prepare())
    if not is_test(what, stage):
        raise OptionError("drift --measure and drift --from cannot be planned",
                          do="plan the test of a model, or leave plan out")  # fmt: skip
    stage.check()
    return [step]


def plan_steps(
    steps: Sequence[Step], tmp_dir: str | None, shards: int = 1
) -> tuple[list[Planned], list[str]]:
    """Return the plans of the steps, and the names of those that have none.

    tmp_dir: for samples and pilot runs, None for the system's; shards: of each build-cooc, which
    then has the plan of one shard and that of their merge.
    """
    from wordgeom.storage.files import write_errors

    if shards > 1 and all(step.name != _SHARDED for step in steps):
        raise OptionError(f"--shards applies to {_SHARDED}", do="leave it out")
    parent = Path(tmp_dir or tempfile.gettempdir())
    with write_errors(parent):
        made = tempfile.TemporaryDirectory(prefix="wordgeom-plan-", dir=parent)
    with write_errors(parent), made as name:
        return _planned(steps, Path(name), shards)


def _planned(steps: Sequence[Step], folder: Path, shards: int) -> tuple[list[Planned], list[str]]:
    from wordgeom.cli.pilots import LATER, Pilots
    from wordgeom.planning.sample import SIZES
    from wordgeom.runtime.progress import Progress

    planned, left_out = [], []
    total = len(SIZES) * sum(step.name in (*_COUNTS, *LATER, _EMBED) for step in steps)
    with closing(Progress(sys.stderr.isatty()).bar("pilot runs", total, "runs")) as bar:
        pilots = Pilots(folder, bar.update)
        for step in steps:
            with step.errors():
                if step.name in _COUNTS:
                    planned += pilots.count(step, shards if step.name == _SHARDED else 1)
                elif pilots.can_follow(step):
                    planned.append((pilots.embed if step.name == _EMBED else pilots.follow)(step))
                elif step.place not in left_out:  # a table may be several steps
                    left_out.append(step.place)
    if not planned:
        raise InputError("has no table that can be planned", where=steps[0].place,
                         do="add [build-cooc]")  # fmt: skip
    return planned, left_out
