"""`wordgeom train`: the method decides which inputs, options and output there are."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable
from difflib import get_close_matches
from pathlib import Path
from statistics import mode
from typing import Any

import click

from wordgeom import methods
from wordgeom.cli import flags, frame
from wordgeom.core.errors import OptionError
from wordgeom.core.formatting import listed
from wordgeom.core.options import Options, flag, specs
from wordgeom.linalg.options import DeviceOptions
from wordgeom.methods.contract import DOCUMENT_VECTORS, MODEL
from wordgeom.methods.inputs import READING, reading_options, settings_of
from wordgeom.runtime.run_options import ResumeOptions, RunOptions

_OWN = ("method", "out", "space")
_EVERY = (DeviceOptions, ResumeOptions, RunOptions)
COMMON = (*READING, *_EVERY)  # of some method or other
_FILE, _MODEL = "vectors file (.bin, .txt or .vec)", "model directory"
_DOCUMENTS = "also write the documents' vectors: .bin, .txt or .vec"


def own_settings(method: str) -> tuple[str, ...]:
    """Return the settings of `train --method METHOD` that belong to no option class."""
    module = methods.load(method)
    documents = ("documents",) if DOCUMENT_VECTORS in module.MAKES else ()
    return (*_OWN, *settings_of(module), *documents)


def method_classes(method: str) -> tuple[type[Options], ...]:
    """Return the option classes of `train --method METHOD`."""
    module = methods.load(method)
    return (module.Options, *reading_options(module), *_EVERY)


def check_owner(names: Iterable[str], method: str) -> None:
    """Raise OptionError for the name of an option of another method."""
    own = _names_for(method)
    for name in names:
        owners = [] if name in own else _owners(name)
        if owners:
            what = f"{flag(name)} is an option of {listed(owners)}"
            do = f"see wordgeom train --method {method} --help"
            raise OptionError(f"{what}, not of {method}", do=do)


class _Train(frame.StageCommand):
    """A command whose options are those of the method that its arguments or config name."""

    def make_context(
        self,
        info_name: str | None,
        args: list[str],
        parent: click.Context | None = None,
        **extra: Any,
    ) -> click.Context:
        method = _early(args, "--method")
        if extra.get("resilient_parsing"):  # a shell asks how the line may continue
            method = method if method in methods.names() else None
        else:
            method = method or _configured(_early(args, "--config"))
            if method:
                check_owner(_names_of(args), method)
                info_name = f"train --method {method}"  # in the usage and in errors
        self.params = [*_own_parameters(method), *_options(method, args)]
        self.params.append(flags.config_option())
        return super().make_context(info_name, args, parent, **extra)

    def invoke(self, ctx: click.Context) -> None:
        """Run the stage; without a method, a wrong input is reported first."""
        if not (ctx.params["method"] or ctx.params["config"]) and ctx.params.get("matrix"):
            _check_exists(ctx.params["matrix"])
        super().invoke(ctx)

    def declared(
        self, settings: frame.Settings
    ) -> tuple[tuple[str, ...], tuple[type[Options], ...]]:
        """Return the own settings and the options of the method that these settings name."""
        if "method" not in settings:
            if meant := get_close_matches("method", settings, 1):
                raise OptionError(f"unknown key {meant[0]!r}", do="did you mean method?")
            do = f"choose {listed(methods.names(), 'or')}"
            raise OptionError("train needs --method", do=do)
        method = frame.text("method", settings["method"])
        check_owner(settings, method)
        return own_settings(method), method_classes(method)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Methods (options: wordgeom train --method NAME --help)"):
            formatter.write_dl([(name, methods.summary(name)) for name in methods.names()])


def _check_exists(path: str) -> None:
    """Raise what `open_any` raises for an input that does not exist, which no method can read."""
    from wordgeom.matrices.opening import open_any

    if not os.path.lexists(path):
        open_any(path)


def _options(method: str | None, args: list[str]) -> list[click.Option]:
    """Return the options of the method, or what can be shown of them without one."""
    if method:
        return flags.parameters(*method_classes(method), preferred=_preferred(method))
    if {"-h", "--help"} & set(args):
        return [*_shared(), *flags.parameters(*COMMON, preferred=by_method())]
    # --method is missing, but a flag that belongs to no method is reported first.
    return flags.parameters(*(methods.load(name).Options for name in methods.names()), *COMMON)


def _shared() -> list[click.Option]:
    """Return the options that all methods declare; those of several defaults show them all."""
    every: dict[str, type[Options]] = {}
    for name in methods.names():
        with contextlib.suppress(Exception):  # a user's own, which `--method` will report
            every[name] = methods.load(name).Options
    defaults = {
        name: {field.name: flags.shown(field.default) for field, _ in specs(cls)}
        for name, cls in every.items()
    }
    common = set.intersection(*map(set, defaults.values()))
    preferred = {}
    for option in common:
        values = {name: each[option] for name, each in defaults.items()}
        usual = mode(values.values())
        own = [f"{name}: {value}" for name, value in values.items() if value != usual]
        if own:
            preferred[option] = f"{usual}; {', '.join(own)}"
    params = flags.parameters(next(iter(every.values())), preferred=preferred)
    return [param for param in params if param.name in common]


def _preferred(method: str) -> dict[str, Any]:
    module = methods.load(method)
    return methods.preferred(module, module.Options())


def by_method() -> dict[str, str]:
    """Return the defaults that methods replace, by option: `1; gbu: 0.2`."""
    found = {}
    for field in (field for cls in READING for field, _ in specs(cls)):
        own = []
        for name in methods.names():
            with contextlib.suppress(Exception):  # as in `_shared`
                value = _preferred(name).get(field.name, field.default)
                own += [] if value == field.default else [f"{name}: {flags.shown(value)}"]
        if own:
            found[field.name] = f"{flags.shown(field.default)}; {', '.join(own)}"
    return found


def input_options(method: str) -> list[click.Option]:
    """Return the options of a method's inputs besides the first, which is an argument."""
    kinds = list(settings_of(methods.load(method)).items())[1:]
    return [
        click.Option([flag(setting)], metavar=kind.metavar, help=kind.help)
        for setting, kind in kinds
    ]


def _out(method: str | None) -> str:
    """Return the help of `--out`."""
    if method is None:
        return f"output: {_FILE} or {_MODEL}  [vectors.bin, model]"
    model = methods.load(method).MAKES == (MODEL,)
    return f"output: {_MODEL}  [model]" if model else f"output: {_FILE}  [vectors.bin]"


def _own_parameters(method: str | None) -> list[click.Parameter]:
    """Return the parameters of inputs and output."""
    first = "matrix" if method is None else next(iter(settings_of(methods.load(method))))
    parameters: list[click.Parameter] = [
        click.Argument([first], required=False),
        click.Option(["--method"], metavar="NAME", type=_METHODS, help="method; see below"),
        click.Option(["-o", "--out"], metavar="PATH", help=_out(method)),
        click.Option(["--space"], metavar="CHAR", help="replacement for white space in words"),
        *([] if method is None else input_options(method)),
    ]
    if method is None or "documents" in own_settings(method):
        parameters.append(click.Option(["--documents"], metavar="FILE", help=_DOCUMENTS))
    return parameters


class _Methods(click.ParamType):  # type: ignore[type-arg]
    """The name of a method; a shell completes it."""

    name = "method"

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[Any]:
        """Return the methods that start with what was typed."""
        from click.shell_completion import CompletionItem

        found = (name for name in methods.names() if name.startswith(incomplete))
        return [CompletionItem(name, help=methods.summary(name)) for name in found]


_METHODS = _Methods()


def _early(args: list[str], name: str) -> str | None:
    """Return an option's last value, before the arguments are parsed."""
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
    method = (flags.one_table(config, "train", frame.TABLES) or {}).get("method")
    return method if isinstance(method, str) else None


def _names_of(args: list[str]) -> list[str]:
    """Return the options among arguments, spelt as fields."""
    long = (arg.partition("=")[0] for arg in args if arg.startswith("--"))
    return [name.removeprefix("--").replace("-", "_") for name in long]


def _owners(name: str) -> list[str]:
    """Return the methods with an option; one that cannot be loaded is no other one's mistake."""
    owners = []
    for other in methods.names():
        with contextlib.suppress(Exception):
            owners += [other] if name in _names_for(other) else []
    return owners


def _names_for(method: str) -> set[str]:
    fields = {field.name for cls in method_classes(method) for field, _ in specs(cls)}
    return {*own_settings(method), *fields}


@click.command("train", cls=_Train, classes=_EVERY)
def command(settings: frame.Settings, *options: Any) -> frame.Stage:
    """Train word vectors on MATRIX with the chosen method.

    MATRIX is a directory of co-occurrence counts (cooc) or, for methods that need documents, of a
    document-term matrix (dtm). Counts are weighted on the fly; a matrix made by build-pmi is used
    as stored. mde and tsm take vectors: a file, or an array (.npy); tsm's default is vectors.bin.
    """
    from wordgeom.stages.train import Train

    method, (*_, resume, run) = settings["method"], options
    default = "model" if methods.load(method).MAKES == (MODEL,) else "vectors.bin"
    return Train(method, settings, Path(settings.get("out", default)), run, resume)
