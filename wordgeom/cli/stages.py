"""A stage from its settings: shared by its own command and by `wordgeom run`.

A stage is looked at first, every setting of it, and run afterwards, so that `wordgeom run` finds
a mistake in its last table before the first stage has taken an hour.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import click

from wordgeom.cli import flags
from wordgeom.core.errors import OptionError
from wordgeom.core.options import Options, check_known, specs
from wordgeom.runtime.run_options import RunOptions

Settings = dict[str, Any]
Stage = Callable[[], None]


def run_stage(name: str, given: Mapping[str, Any], config: str | None) -> None:
    """Run the stage `name` with the flags that were given and the table of a config file."""
    settings: Settings = {}
    if config is not None:
        tables = flags.read_tables(config, TABLES)
        if name not in tables:
            found = ", ".join(f"[{table}]" for table in tables) or "none"
            raise OptionError(f"has no table [{name}]", where=config, found=found, do="add one")
        settings = tables[name]
    settings |= {k: v for k, v in given.items() if v is not None and v != ()}
    prepare(name, settings, f"{config} [{name}]")()


def prepare(name: str, settings: Settings, where: str) -> Stage:
    """Check the settings of a stage and return what runs it; `where` names them in an error."""
    return _STAGES[name](settings, where)


def _build_cooc(settings: Settings, where: str) -> Stage:
    from wordgeom.cli.build_cooc import OPTIONS, OWN
    from wordgeom.stages import build_cooc

    corpus, window, resume, run = _checked(settings, OWN, OPTIONS, where)
    names = _corpus("build-cooc", settings)
    shard = build_cooc.Shard.parse(settings["shard"]) if "shard" in settings else None
    default = f"cooc.shard-{shard.index}-of-{shard.of}" if shard else "cooc"
    out, save = settings.get("out", default), settings.get("save_vocab")

    def stage() -> None:
        built = build_cooc.build_cooc(
            names, out, corpus, window, run, shard=shard, save_vocab=save, resume=resume,
            show=True,
        )  # fmt: skip
        _report(built.summary, built.warnings, run)

    return stage


def _build_dtm(settings: Settings, where: str) -> Stage:
    from wordgeom.cli.build_dtm import OPTIONS, OWN
    from wordgeom.stages import build_dtm

    corpus, resume, run = _checked(settings, OWN, OPTIONS, where)
    names = _corpus("build-dtm", settings)
    out, save = settings.get("out", "dtm"), settings.get("save_vocab")

    def stage() -> None:
        built = build_dtm.build_dtm(
            names, out, corpus, run, save_vocab=save, resume=resume, show=True
        )
        _report(built.summary, built.warnings, run)

    return stage


def _build_pmi(settings: Settings, where: str) -> Stage:
    from wordgeom.cli.build_pmi import OPTIONS, OWN
    from wordgeom.stages import train

    weighting, resume, run = _checked(settings, OWN, OPTIONS, where)
    counts, out = settings.get("counts", "cooc"), settings.get("out", "pmi")

    def stage() -> None:
        built = train.build_pmi(counts, out, weighting, run, resume=resume, show=True)
        _report(built.summary, built.warnings, run)

    return stage


def _train(settings: Settings, where: str) -> Stage:
    from wordgeom import methods
    from wordgeom.cli.train import method_classes, own_settings, refuse_foreign
    from wordgeom.stages import train
    from wordgeom.stages.method_inputs import makes_model, source_of

    if "method" not in settings:
        raise OptionError("train needs --method", do=f"known are {', '.join(methods.names())}")
    method = _text("method", settings["method"])
    classes = method_classes(method)
    refuse_foreign(settings, method)
    run: RunOptions = _checked(settings, own_settings(method), classes, where)[-1]
    module = methods.load(method)
    if makes_model(module):
        return _train_model(method, settings, run)
    matrix = settings.get("matrix", source_of(module).folder)
    out, documents = settings.get("out", "vectors.bin"), settings.get("documents")
    space = settings.get("space")

    def stage() -> None:
        made = train.train(
            matrix, method, settings, run, out=out, documents=documents, space=space, show=True
        )
        _report(made.summary, made.notes, run)

    return stage


def _train_model(method: str, settings: Settings, run: RunOptions) -> Stage:
    documents, out = settings.get("matrix", "dtm"), settings.get("out", "model")
    space = settings.get("space")

    def stage() -> None:
        from wordgeom.stages import train_model

        made = train_model.train_model(
            documents, method, settings, run, out=out, space=space, show=True
        )
        _report(made.summary, made.notes, run, made.lines)

    return stage


def _extend(settings: Settings, where: str) -> Stage:
    from wordgeom.cli.extend import OPTIONS, OWN

    run: RunOptions = _checked(settings, OWN, OPTIONS, where)[-1]
    vectors, counts = settings.get("vectors", "vectors.bin"), settings.get("counts", "cooc")
    out = settings.get("out", "vectors.extended.bin")

    def stage() -> None:
        from wordgeom.stages import extend

        made = extend.extend(
            vectors, counts, settings, run, out=out, space=settings.get("space"), show=True
        )
        _report(made.summary, made.notes, run)

    return stage


def _impute(settings: Settings, where: str) -> Stage:
    from wordgeom.cli.impute import OPTIONS, OWN
    from wordgeom.imputation.domain import check_inputs

    of_domain, *_, run = _checked(settings, OWN, OPTIONS, where)
    if "domain" not in settings:
        raise OptionError("impute needs --domain", do="name a table of entities")
    check_inputs(settings["domain"], of_domain)
    vectors = settings.get("vectors", "vectors.bin")
    out = settings.get("out", "vectors.imputed.bin")

    def stage() -> None:
        from wordgeom.stages import impute

        made = impute.impute(
            settings["domain"], vectors, settings, run, out=out, table=settings.get("table"),
            show=True,
        )  # fmt: skip
        _report(made.summary, made.notes, run, made.validation)

    return stage


def _merge(settings: Settings, where: str) -> Stage:
    from wordgeom.cli.merge import OPTIONS, OWN
    from wordgeom.stages import merge

    resume, run = _checked(settings, OWN, OPTIONS, where)
    names, out = _names(settings, "matrices"), settings.get("out", "cooc")

    def stage() -> None:
        built = merge.merge_cooc(names, out, run, resume=resume, show=True)
        _report(built.summary, built.warnings, run)

    return stage


def _eval(settings: Settings, where: str) -> Stage:
    from wordgeom.cli.eval import OPTIONS, OWN
    from wordgeom.cli.sets import KINDS
    from wordgeom.evaluation.report import render
    from wordgeom.evaluation.sets import read_tasks
    from wordgeom.stages import evaluate

    options, form, run = _checked(settings, OWN, OPTIONS, where)
    vectors = settings.get("vectors", "vectors.bin")
    sets = _names(settings, "sets")
    categories, classify, regress = (_names(settings, kind) for kind in KINDS)

    def stage() -> None:
        tasks = read_tasks(sets, categories, classify, regress, options)
        report = evaluate.evaluate(vectors, tasks, options, run, show=True)
        click.echo(render(report, form))

    return stage


def _drift(settings: Settings, where: str) -> Stage:
    from wordgeom.cli.drift import OPTIONS, OWN
    from wordgeom.drift.report import render
    from wordgeom.stages import drift

    options, form, run = _checked(settings, OWN, OPTIONS, where)
    model, words = settings.get("model", "model"), _names(settings, "words")

    def stage() -> None:
        report = drift.drift(model, options, form, run, words=words, show=True)
        click.echo(render(report, form))

    return stage


_STAGES: dict[str, Callable[[Settings, str], Stage]] = {
    "build-cooc": _build_cooc,
    "build-dtm": _build_dtm,
    "build-pmi": _build_pmi,
    "train": _train,
    "extend": _extend,
    "impute": _impute,
    "merge": _merge,
    "eval": _eval,
    "drift": _drift,
}
TABLES = tuple(_STAGES)  # that a configuration file may hold
# Those of `wordgeom run`, in its order.
NAMES = ("build-cooc", "build-dtm", "build-pmi", "train", "impute", "eval", "drift")
RESUMABLE = ("build-cooc", "build-dtm", "build-pmi", "merge", "train")
# Own settings that hold several names.
_LISTS = ("corpus", "matrices", "sets", "categories", "classify", "regress", "words")


def _checked(
    settings: Settings, own: Sequence[str], classes: Sequence[type[Options]], where: str
) -> list[Any]:
    """Return the option classes filled from the settings, every key of which must be known."""
    fields = [field.name for cls in classes for field, _ in specs(cls)]
    spelt = [name.replace("_", "-") for name in (*own, *fields)]
    check_known([key.replace("_", "-") for key in settings], spelt, where)
    for name in own:
        if name in settings and name not in _LISTS:
            _text(name, settings[name])
    options: list[Any] = [cls.take(settings) for cls in classes]
    if options[-1].quiet:  # the run's; main() undoes this
        logging.getLogger("wordgeom").setLevel(logging.ERROR)
    return options


def _corpus(stage: str, settings: Settings) -> list[str]:
    names = _names(settings, "corpus")
    if not names:
        do = "name a text file, or - for standard input"
        raise OptionError(f"{stage} needs a CORPUS", do=do)
    return names


def _names(settings: Settings, setting: str) -> list[str]:
    value = settings.get(setting, ())
    listed = value if isinstance(value, (list, tuple)) else [value]
    return [_text(setting, name) for name in listed]


def _text(setting: str, value: Any) -> str:
    """Return a setting that must be text that the system can take for a name."""
    if not isinstance(value, str) or not value or "\0" in value:
        raise OptionError(f"{setting} must be text", found=repr(value))
    return value


def _report(summary: str, notes: Sequence[str], run: RunOptions, lines: Sequence[str] = ()) -> None:
    if run.quiet:
        return
    for note in notes:
        click.echo(f"wordgeom: note: {note}", err=True)
    click.echo("\n".join([summary, *lines]))
