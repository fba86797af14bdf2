"""A stage from its settings: shared by its own command and by `wordgeom run`."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from typing import Any

import click

from wordgeom.cli import flags
from wordgeom.errors import OptionError
from wordgeom.options import Options, check_known
from wordgeom.runs import RunOptions

_log = logging.getLogger("wordgeom")


def run_stage(name: str, given: Mapping[str, Any], config: str | None) -> None:
    """Run the stage `name` with the flags that were given and the table of a config file."""
    table = {} if config is None else flags.read_table(config, name)
    run_with(name, {**table, **{k: v for k, v in given.items() if v is not None and v != ()}},
             f"{config} [{name}]")  # fmt: skip


def run_with(name: str, settings: dict[str, Any], where: str) -> None:
    """Run the stage `name` with these settings; `where` names them in an error."""
    _STAGES[name](settings, where)


def _report(summary: str, notes: list[str] | tuple[str, ...], quiet: bool) -> None:
    for note in notes:
        _log.warning("note: %s", note)
    if not quiet:
        click.echo(summary)


def _checked(settings: dict[str, Any], own: tuple[str, ...], classes: tuple[type[Options], ...], where: str) -> list[Any]:
    check_known(settings, [*own, *flags.option_names(*classes)], where)
    return [flags.build(cls, settings) for cls in classes]


def _corpus(settings: dict[str, Any]) -> list[str]:
    corpus = settings.get("corpus", ())
    names = [corpus] if isinstance(corpus, str) else list(corpus)
    if not names:
        raise OptionError("build-cooc needs a CORPUS", do="name a text file, or - for standard input")
    if not all(isinstance(name, str) for name in names):
        raise OptionError("corpus must be a file name or a list of them", found=repr(corpus))
    return names


def _build_cooc(settings: dict[str, Any], where: str) -> None:
    from wordgeom import pipeline
    from wordgeom.cli.build_cooc import OPTIONS, OWN

    corpus, window, run = _checked(settings, OWN, OPTIONS, where)
    shard = pipeline.Shard.parse(settings["shard"]) if "shard" in settings else None
    default = f"cooc.shard-{shard.index}-of-{shard.of}" if shard else "cooc"
    built = pipeline.build_cooc(
        _corpus(settings),
        settings.get("out", default),
        corpus,
        window,
        run,
        shard=shard,
        save_vocab=settings.get("save_vocab"),
        show=True,
    )
    _report(built.summary, built.warnings, run.quiet)


def _build_pmi(settings: dict[str, Any], where: str) -> None:
    from wordgeom import training
    from wordgeom.cli.build_pmi import OPTIONS, OWN

    weighting, run = _checked(settings, OWN, OPTIONS, where)
    counts, out = settings.get("counts", "cooc"), settings.get("out", "pmi")
    built = training.build_pmi(counts, out, weighting, run, show=True)
    _report(built.summary, built.warnings, run.quiet)


def _train(settings: dict[str, Any], where: str) -> None:
    from wordgeom import methods, training
    from wordgeom.cli.train import OWN, method_classes

    if "method" not in settings:
        known = ", ".join(methods.names())
        raise OptionError("train needs --method", do=f"known are {known}")
    classes = method_classes(settings["method"])
    options = _checked(settings, OWN, classes, where)
    run: RunOptions = options[-1]
    trained = training.train(
        settings.get("matrix", "cooc"),
        settings["method"],
        settings,
        run,
        out=settings.get("out", "vectors.bin"),
        space=settings.get("space"),
        show=True,
    )
    _report(trained.summary, trained.notes, run.quiet)


_STAGES: dict[str, Callable[[dict[str, Any], str], None]] = {
    "build-cooc": _build_cooc,
    "build-pmi": _build_pmi,
    "train": _train,
}
NAMES = tuple(_STAGES)
