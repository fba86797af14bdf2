"""`wordgeom train`: a matrix → vectors; the method decides which options there are."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import click

from wordgeom import methods
from wordgeom.checkpoint.state import ResumeOptions
from wordgeom.cli import flags, stages
from wordgeom.core.errors import OptionError
from wordgeom.core.formatting import listed
from wordgeom.core.options import Options, flag, specs
from wordgeom.linalg.options import DeviceOptions
from wordgeom.runtime.run_options import RunOptions
from wordgeom.stages.method_inputs import SOURCES, settings_of, source_of

_OWN = ("matrix", "method", "out", "space")
_EVERY = (DeviceOptions, ResumeOptions, RunOptions)
COMMON = (*(source.weighting for source in SOURCES.values()), *_EVERY)  # of some method or other


def own_settings(method: str) -> tuple[str, ...]:
    """Return the settings of `train --method METHOD` that belong to no option class."""
    return (*_OWN, *settings_of(methods.load(method)))


def method_classes(method: str) -> tuple[type[Options], ...]:
    """Return the option classes of `train --method METHOD`."""
    module = methods.load(method)
    return (module.Options, source_of(module).weighting, *_EVERY)


def refuse_foreign(names: Iterable[str], method: str) -> None:
    """Raise OptionError for a name of another method's option, saying whose it is."""
    own = _names_for(method)
    for name in names:
        owners = [] if name in own else _owners(name)
        if owners:
            what = f"{flag(name)} belongs to {listed(owners)}"
            do = f"see wordgeom train --method {method} --help"
            raise OptionError(what, found=f"--method {method}", do=do)


class _Train(click.Command):
    """A command whose options are those of the method that its arguments or config name."""

    def make_context(
        self,
        info_name: str | None,
        args: list[str],
        parent: click.Context | None = None,
        **extra: Any,
    ) -> click.Context:
        method = _early(args, "--method")
        if extra.get("resilient_parsing"):  # a shell asks what the line may become
            method = method if method in methods.names() else None
        else:
            method = method or _configured(_early(args, "--config"))
            if method:
                refuse_foreign(_names_of(args), method)
        self.params = [*_own_parameters(method), *flags.parameters(*_classes(method, args))]
        self.params.append(flags.config_option())
        return super().make_context(info_name, args, parent, **extra)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Methods (wordgeom train --method NAME --help shows its options)"):
            formatter.write_dl([(name, methods.summary(name)) for name in methods.names()])


def _classes(method: str | None, args: list[str]) -> tuple[type[Options], ...]:
    if method:
        return method_classes(method)
    if {"-h", "--help"} & set(args):
        return COMMON
    # The answer will be that --method is missing, unless a flag is nobody's: that comes first.
    return (*(methods.load(name).Options for name in methods.names()), *COMMON)


def _own_parameters(method: str | None) -> list[click.Parameter]:
    out = "file for the vectors: .bin, .txt or .vec  [vectors.bin]; the folder of a model  [model]"
    beside = "also write the documents' vectors to this file (lsa): .bin, .txt or .vec"
    parameters: list[click.Parameter] = [
        click.Argument(["matrix"], required=False),
        click.Option(["--method"], metavar="NAME", help="how to make the vectors; see below"),
        click.Option(["-o", "--out"], metavar="FILE", help=out),
        click.Option(["--space"], metavar="CHAR", help="put this for white space in words"),
    ]
    if method is None or "documents" in own_settings(method):
        parameters.append(click.Option(["--documents"], metavar="FILE", help=beside))
    return parameters


def _early(args: list[str], name: str) -> str | None:
    """Return an option's value, the last if there are several, before the arguments are parsed."""
    found = None
    for k, arg in enumerate(args):
        if arg == "--":
            break
        if arg == name and k + 1 < len(args):
            found = args[k + 1]
        elif arg.startswith(name + "="):
            found = arg.partition("=")[2]
    return found


def _configured(config: str | None) -> str | None:
    if config is None:
        return None
    method = flags.read_tables(config, stages.TABLES).get("train", {}).get("method")
    return method if isinstance(method, str) else None


def _names_of(args: list[str]) -> list[str]:
    """Return the options among arguments, as fields have them."""
    long = (arg.partition("=")[0] for arg in args if arg.startswith("--"))
    return [name.removeprefix("--").replace("-", "_") for name in long]


def _owners(name: str) -> list[str]:
    return [other for other in methods.names() if name in _names_for(other)]


def _names_for(method: str) -> set[str]:
    return {*own_settings(method), *_fields(*method_classes(method))}


def _fields(*classes: type[Options]) -> set[str]:
    return {field.name for cls in classes for field, _ in specs(cls)}


@click.command("train", cls=_Train)
def command(config: str | None, **given: Any) -> None:
    """Make word vectors from the folder MATRIX (cooc, or dtm for a method of documents).

    MATRIX holds counts, which are weighted on the fly, or a matrix that build-pmi weighted.
    """
    stages.run_stage("train", given, config)
