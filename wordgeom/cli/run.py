"""`wordgeom run x.toml`: the commands of a configuration file, of which only the stale ones run."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from pathlib import Path

import click

from wordgeom.cli import frame, pipeline
from wordgeom.cli.command import Command
from wordgeom.cli.invocation import Invocation
from wordgeom.core.errors import OutputExistsError, StaleOutputError

_log = logging.getLogger("wordgeom")
_HELP = """Run the commands that the TOML file CONFIG has tables for, in pipeline order.

Output that is up to date is not rebuilt. Output that CONFIG made earlier and that a changed value
or input makes stale is rebuilt; other output is overwritten only with --force. Keys are the options
of the table's own command:

\b
  [build-cooc]
  corpus = "corpus.txt"
  window = 10

\b
  [[train]]               one table for each of several
  method = "gbu"
"""


@click.command("run", cls=Command, help=_HELP)
@click.argument("config")
@click.option("--force", is_flag=True, help="overwrite output that CONFIG did not make")
@click.option("--resume", is_flag=True, help="resume an interrupted run")
@click.option("--quiet", is_flag=True, help="suppress progress, notes and summaries")
def command(config: str, force: bool, resume: bool, quiet: bool) -> None:
    """Run the commands of CONFIG."""
    from wordgeom.runtime.provenance import made_by

    with made_by(Path(config)):
        steps = pipeline.read_steps(config)  # all are checked before the first one runs
        _check_outputs(steps, force=force)
        for step in steps:
            with step.errors():
                _run(step, Path(config), force=force, resume=resume, quiet=quiet)


def _check_outputs(steps: Sequence[pipeline.Step], *, force: bool) -> None:
    """Raise OutputExistsError for an output that would be refused when its table runs.

    Whether an output of ours is up to date is decided then, as its inputs may change.
    """
    for step in steps:
        with step.errors():
            step.prepare().check_ours(force=force)


def _run(step: pipeline.Step, config: Path, *, force: bool, resume: bool, quiet: bool) -> None:
    more = {"quiet": True} if quiet else {}
    if step.note and not quiet:
        _log.info("note: %s", step.note)
    prepared = step.prepare(**more)
    if resume and _interrupted(prepared) and frame.resumable(step.name):
        more["resume"] = True
        prepared = step.prepare(**more)
    try:
        _execute(prepared)
    except OutputExistsError as error:
        if not force:
            _check_own(prepared, error, config, resume=resume)
            how = error.what.removeprefix("exists and ")
            _log.info("note: %s %s; rebuilding it", error.where, how)
        _execute(step.prepare(**more, force=True))


def _execute(prepared: frame.Stage | Invocation) -> None:
    if isinstance(prepared, Invocation):
        prepared.run()
    else:
        frame.run_prepared(prepared)


def _interrupted(prepared: frame.Stage | Invocation) -> bool:
    """Return whether there is a checkpoint to resume."""
    if isinstance(prepared, Invocation):
        return False
    return prepared.state is not None and prepared.state.exists()


def _check_own(
    prepared: frame.Stage | Invocation, error: OutputExistsError, config: Path, *, resume: bool
) -> None:
    """Raise the error unless this configuration made all that a rebuild would overwrite."""
    from wordgeom.cli.ownership import made_here

    if not isinstance(error, StaleOutputError):
        raise error
    if isinstance(prepared, Invocation):
        prepared.check_kept()
    command = prepared.request["command"]
    if not made_here(Path(error.where), prepared.beside, command, config):
        do = f"{config} did not make it: pass --force to overwrite it, or write to another path"
        raise OutputExistsError(error.what, where=error.where, do=do)
    if _interrupted(prepared) and not resume:
        what = f"{error.what}; a checkpoint of an interrupted run lies beside it"
        do = "resume that with --resume, or start over with --force"
        raise OutputExistsError(what, where=error.where, do=do)
