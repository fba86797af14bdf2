"""`wordgeom rerun`: repeat a run from its run card, and compare the outputs."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from wordgeom.cli import flags, frame
from wordgeom.cli.command import Command
from wordgeom.core.errors import MissingInputError, OutputExistsError, StoppedError
from wordgeom.runtime.run_options import RunOptions

if TYPE_CHECKING:
    from wordgeom.stages.stage import Stage

_DIFFERENT = 3  # exit status: 1 is an error, 2 a wrong usage
_NOT_HERE = ("seed", "force")  # of RunOptions: the card decides, and nothing is overwritten


@click.command("rerun", cls=Command, params=[
    option for option in flags.parameters(RunOptions) if option.name not in _NOT_HERE
])  # fmt: skip
@click.argument("card")
@click.option("-o", "--out", metavar="DIR", help="new directory to keep the repeated output in")
@click.option("--folder", metavar="DIR", help="directory to run in  [as recorded]")
@click.option("--changed-inputs", is_flag=True, help="run even if an input has changed")
@click.option("--json", "as_json", is_flag=True, help="print JSON")
def command(
    card: str, out: str | None, folder: str | None, changed_inputs: bool, as_json: bool,
    **given: Any,
) -> None:  # fmt: skip
    """Repeat the run that made CARD, and compare the output with the recorded one.

    CARD is an output with a run card (a matrix, a model, a vectors file), or the card itself. The
    run is repeated in a temporary directory; the output that exists is not touched. The answer is
    identical, equal to 1e-5 (of the largest value) or different, with what else differs: versions,
    machine, inputs, options. Exit status: 0 identical or equal, 3 different, 1 error.
    """
    from wordgeom.cli.redirect import redirect
    from wordgeom.reproduction import inputs
    from wordgeom.reproduction.recorded import read_recorded
    from wordgeom.reproduction.report import compare_runs

    resources = {name: value for name, value in given.items() if value is not None}
    tmp_dir = RunOptions.asked(resources).tmp_dir
    if tmp_dir is not None:  # the run has another working directory
        resources["tmp_dir"] = tmp_dir = os.path.abspath(tmp_dir)
    recorded = read_recorded(Path(frame.text("CARD", card)))
    keep = None if out is None else Path(frame.text("--out", out)).absolute()
    with _working_in(recorded.folder if folder is None else Path(folder)):
        inputs.check_readable_again(recorded.settings)
        changed = inputs.changed_inputs(recorded.inputs, allowed=changed_inputs)
        with _place(keep, tmp_dir) as place:
            made = redirect(recorded, place, keep or place, resources)
            read = made.stage.input_paths
            changed += inputs.new_inputs(read, recorded.inputs, allowed=changed_inputs)
            _run(made.stage)
            options = made.stage.request["options"]
            report = compare_runs(recorded, made.outputs, options, changed)
    click.echo(json.dumps(report.facts(), ensure_ascii=False) if as_json else report.text())
    if report.different:
        click.get_current_context().exit(_DIFFERENT)


def _run(stage: Stage) -> None:
    """Run the stage. Raises KeyboardInterrupt: a repetition is not resumed."""
    from wordgeom.stages.stage import run_stage

    try:
        with click.get_current_context().obj:  # a signal that comes later has nothing to stop
            run_stage(stage, show=not stage.run.quiet)
    except StoppedError:
        raise KeyboardInterrupt from None


@contextlib.contextmanager
def _working_in(folder: Path) -> Iterator[None]:
    """Run the block in a directory. Raises MissingInputError."""
    try:
        change = contextlib.chdir(folder)
        change.__enter__()
    except OSError as error:
        what = f"the run was made in this directory: {error.strerror}"
        do = "name the directory that has its inputs now: --folder"
        raise MissingInputError(what, where=folder, do=do) from None
    with contextlib.ExitStack() as stack:
        stack.push(change.__exit__)
        yield


@contextlib.contextmanager
def _place(keep: Path | None, tmp_dir: str | None) -> Iterator[Path]:
    """Yield an empty directory to write into; it becomes `keep`, if given, after the block.

    Raises OutputExistsError, LockedError, WriteError.
    """
    from wordgeom.storage.files import make_folder, replace, sync_folder, write_errors
    from wordgeom.vectors.run_card import writer_lock

    if keep is None:
        parent = Path(tmp_dir or tempfile.gettempdir())
        with write_errors(parent):
            made = tempfile.TemporaryDirectory(prefix="wordgeom-rerun-", dir=parent)
        with made as name:
            yield Path(name)
        return
    place = keep.with_name(f".{keep.name}.rerun")
    with writer_lock(keep):  # first: it removes the lock that a run killed at its end left
        if os.path.lexists(keep):
            raise OutputExistsError("exists", where=keep, do="name a new directory with -o")
        shutil.rmtree(place, ignore_errors=True)  # left by a run that was killed
        with write_errors(keep):
            make_folder(place)
        try:
            yield place
            with write_errors(keep):
                replace(place, keep)
                sync_folder(keep.parent)
        finally:
            shutil.rmtree(place, ignore_errors=True)
