"""A command that runs a stage: settings from flags and TOML, one call, what it prints.

A stage's settings are checked before anything runs, so that `wordgeom run` finds a mistake in its
last table before the first stage has taken an hour.
"""

from __future__ import annotations

import gc
import logging
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from wordgeom.cli import flags
from wordgeom.cli.command import Command
from wordgeom.core.errors import OptionError
from wordgeom.core.options import Options, check_known, specs
from wordgeom.runtime.run_options import ResumeOptions

if TYPE_CHECKING:
    from wordgeom.stages.stage import Outcome
    from wordgeom.stages.stage import Stage as Stage

Settings = dict[str, Any]
# The commands that a configuration file may hold tables for, in the order of `wordgeom run`.
TABLES = (
    "build-cooc", "build-dtm", "merge", "build-pmi", "train", "extend", "subwords", "impute",
    "embed", "transform", "compress", "convert", "eval", "compare", "drift", "plot",
)  # fmt: skip
STAGES = tuple(name for name in TABLES if name not in ("compare", "plot"))
# Own settings that hold several names.
_LISTS = (
    "corpus", "matrices", "sets", "categories", "classify", "regress", "words", "texts", "report",
    "reference",
)  # fmt: skip


class StageCommand(Command):
    """A command whose function returns the stage to run, from its settings and its options.

    The parameters declared by click are settings of its own; classes: of the options besides.
    """

    def __init__(self, *args: Any, classes: Sequence[type[Options]], **kw: Any) -> None:
        super().__init__(*args, **kw)
        self.classes, self._own = tuple(classes), [str(param.name) for param in self.params]
        self.params += [*flags.parameters(*classes), flags.config_option()]

    def invoke(self, ctx: click.Context) -> None:
        """Run the stage with the flags that were given and its table in a --config file."""
        settings = self.given(ctx.params)
        gc.disable()  # the imports of a stage leave much to look at, and no garbage
        try:
            stage = self.stage(settings, f"{ctx.params['config']} [{self.name}]")
        finally:
            gc.freeze()
            gc.enable()
        run_prepared(stage)

    def given(self, parameters: Mapping[str, Any]) -> Settings:
        """Return the settings of parsed parameters and of the table in their --config file."""
        flagged = dict(parameters)
        config = flagged.pop("config")
        settings = {} if config is None else _configured(str(self.name), config)
        return settings | {k: v for k, v in flagged.items() if v is not None and v != ()}

    def stage(self, settings: Settings, where: str) -> Stage:
        """Return the stage of these settings; `where` names them in an error."""
        assert self.callback is not None
        own, classes = self.declared(settings)
        from wordgeom.stages.invocation import Invocation

        settings = flags.join_lists(settings, classes)
        made: Stage = self.callback(settings, *options_from(settings, own, classes, where))
        # A stage is frozen, and what called it is no field of it.
        object.__setattr__(made, "invocation", Invocation.of(str(self.name), settings))
        return made

    def declared(self, settings: Settings) -> tuple[Sequence[str], Sequence[type[Options]]]:
        """Return the names of its own settings, and its option classes."""
        return self._own, self.classes


def _configured(name: str, config: str) -> Settings:
    """Return the table of a command in a TOML file; raises OptionError where there is none."""
    table = flags.one_table(config, name, TABLES)
    if table is None:
        found = ", ".join(f"[{other}]" for other in flags.read_tables(config, TABLES))
        what = f"has no table [{name}]" + (f", only {found}" if found else "")
        raise OptionError(what, where=config, do="add one")
    return table


def prepare(name: str, settings: Settings, where: str) -> Stage:
    """Return the stage of a command from its settings; `where` names them in an error."""
    return command_named(name).stage(settings, where)


def parsed(name: str, arguments: Sequence[str]) -> Settings:
    """Return the settings of a command line; raises what parsing raises.

    Errors name the command as if it ran alone, not within that of the context.
    """
    command, program = command_named(name), click.get_current_context().find_root()
    context = command.make_context(name, list(arguments), parent=program)
    return command.given(context.params)


def run_prepared(stage: Stage) -> None:
    """Run a stage and print its outcome."""
    from wordgeom.stages.stage import run_stage

    if stage.run.quiet:  # main() undoes this
        logging.getLogger("wordgeom").setLevel(logging.ERROR)
    with click.get_current_context().obj:  # a signal that comes later has nothing to stop
        outcome = run_stage(stage, show=True)
    _print(outcome, quiet=stage.run.quiet)


def resumable(name: str) -> bool:
    """Return whether a command has `--resume`."""
    return name in STAGES and ResumeOptions in command_named(name).classes


def options_from(
    settings: Settings, own: Sequence[str], classes: Sequence[type[Options]], where: str
) -> list[Any]:
    """Return the option classes filled from the settings, every key of which must be known."""
    fields = [field.name for cls in classes for field, _ in specs(cls)]
    spelt = [name.replace("_", "-") for name in (*own, *fields)]
    check_known([key.replace("_", "-") for key in settings], spelt, where)
    for name in own:
        if name in settings and name not in _LISTS:
            text(name, settings[name])
    return [cls.asked(settings) for cls in classes]


def names_in(settings: Mapping[str, Any], setting: str) -> tuple[str, ...]:
    """Return the names that a setting holds; raises OptionError."""
    value = settings.get(setting, ())
    listed = value if isinstance(value, (list, tuple)) else [value]
    return tuple(text(setting, name) for name in listed)


def path(settings: Mapping[str, Any], setting: str) -> Path | None:
    """Return a setting as a path, None where it is not given."""
    given = settings.get(setting)
    return None if given is None else Path(given)


def corpus_names(command: str, settings: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the names of the corpus; raises OptionError where there is none."""
    names = names_in(settings, "corpus")
    if not names:
        do = "name a text file, or - for standard input"
        raise OptionError(f"{command} needs a CORPUS", do=do)
    return names


def text(setting: str, value: Any) -> str:
    """Return a setting that must be usable as a file name; raises OptionError."""
    if value == "":
        raise OptionError(f"{_spelt(setting)} must not be empty", do="pass a name")
    if not isinstance(value, str) or "\0" in value:
        raise OptionError(f"{_spelt(setting)} must be text", found=repr(value))
    return value


def _spelt(setting: str) -> str:
    """Return a setting as the command line spells it: an option's flag, or its name."""
    context = click.get_current_context(silent=True)
    options = context.command.params if context else ()
    found = (p.opts[-1] for p in options if p.name == setting and isinstance(p, click.Option))
    return next(found, setting)


def command_named(name: str) -> StageCommand:
    """Return the command of a stage."""
    module = import_module(f"wordgeom.cli.{name.replace('-', '_')}")
    command: StageCommand = module.command
    return command


def _print(outcome: Outcome, *, quiet: bool) -> None:
    if outcome.report:
        click.echo(outcome.report)
    if quiet or not outcome.summary:
        return
    for note in outcome.notes:
        click.echo(f"wordgeom: note: {note}", err=True)
    if outcome.status.value != "converged":
        click.echo(f"wordgeom: note: {outcome.status.sentence}", err=True)
    click.echo("\n".join([outcome.summary, *outcome.lines]))
