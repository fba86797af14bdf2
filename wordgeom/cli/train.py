"""`wordgeom train`: a matrix → vectors; the method decides which options there are."""

from __future__ import annotations

from typing import Any

import click

from wordgeom import methods
from wordgeom.cli import flags, stages
from wordgeom.device import DeviceOptions
from wordgeom.errors import OptionError
from wordgeom.options import Options, flag, specs
from wordgeom.runs import RunOptions
from wordgeom.weighting.pmi import PmiOptions

OWN = ("matrix", "method", "out", "space")


def method_classes(method: str) -> tuple[type[Options], ...]:
    """Return the option classes of `train --method METHOD`."""
    return (methods.load(method).Options, PmiOptions, DeviceOptions, RunOptions)


class _Train(click.Command):
    """A command whose options are those of the method that its arguments or config name."""

    def make_context(self, info_name: str | None, args: list[str], *rest: Any, **more: Any) -> click.Context:
        method = _early(args, "--method") or _configured(_early(args, "--config"))
        classes = method_classes(method) if method else (PmiOptions, DeviceOptions, RunOptions)
        self.params = [*_own_parameters(), *flags.parameters(*classes), flags.config_option()]
        if method:
            _refuse_foreign(args, method)
        elif not {"-h", "--help"} & set(args):
            known = ", ".join(methods.names())
            raise OptionError("train needs --method", do=f"known are {known}")
        return super().make_context(info_name, args, *rest, **more)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Methods (train --method NAME --help shows a method's options)"):
            formatter.write_dl([(name, methods.summary(name)) for name in methods.names()])


def _own_parameters() -> list[click.Parameter]:
    return [
        click.Argument(["matrix"], required=False),
        click.Option(["--method"], metavar="NAME", help="how to make the vectors; see below"),
        click.Option(["-o", "--out"], metavar="FILE", help="vectors: .bin, .txt or .vec  [vectors.bin]"),
        click.Option(["--space"], metavar="CHAR", help="replace white space in words by this"),
    ]


def _early(args: list[str], name: str) -> str | None:
    """Return an option's value before the arguments are parsed."""
    for k, arg in enumerate(args):
        if arg == "--":
            return None
        if arg == name and k + 1 < len(args):
            return args[k + 1]
        if arg.startswith(name + "="):
            return arg.partition("=")[2]
    return None


def _configured(config: str | None) -> str | None:
    if config is None:
        return None
    method = flags.read_table(config, "train").get("method")
    return method if isinstance(method, str) else None


def _refuse_foreign(args: list[str], method: str) -> None:
    """Name the method that an option belongs to, when it is not this one's."""
    own = {flag(f.name) for cls in method_classes(method) for f, _ in specs(cls)}
    for arg in args:
        name = arg.partition("=")[0]
        if not name.startswith("--") or name in own:
            continue
        owners = [other for other in methods.names() if name in _flags_of(other)]
        if owners:
            raise OptionError(f"{name} belongs to {' and '.join(owners)}", found=f"--method {method}")


def _flags_of(method: str) -> set[str]:
    return {flag(field.name) for field, _ in specs(methods.load(method).Options)}


@click.command("train", cls=_Train)
def command(config: str | None, **given: Any) -> None:
    """Make word vectors from MATRIX (cooc): counts, weighted on the fly, or a weighted matrix."""
    stages.run_stage("train", given, config)
