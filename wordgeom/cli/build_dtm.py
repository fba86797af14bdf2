"""`wordgeom build-dtm`: text → a document-term matrix."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from wordgeom.cli import flags, frame
from wordgeom.corpus.options import CorpusOptions
from wordgeom.runtime.run_options import ResumeOptions, RunOptions

if TYPE_CHECKING:
    from wordgeom.stages.stage import Stage

OPTIONS = (CorpusOptions, ResumeOptions, RunOptions)
OWN = ("corpus", "out", "save_vocab")


def stage(settings: frame.Settings, where: str) -> Stage:
    """Return the stage of these settings; raises OptionError."""
    from wordgeom.stages.build_dtm import BuildDtm

    corpus, resume, run = frame.options_from(settings, OWN, OPTIONS, where)
    names = frame.corpus_names("build-dtm", settings)
    save = frame.path(settings, "save_vocab")
    return BuildDtm(names, Path(settings.get("out", "dtm")), corpus, run, resume, save)


@click.command("build-dtm")
@click.argument("corpus", nargs=-1)
@click.option("-o", "--out", metavar="DIR", help="output directory  [dtm]")
@click.option("--save-vocab", metavar="FILE", help="also write the vocabulary with its counts")
@flags.takes(*OPTIONS)
def command(config: str | None, **given: Any) -> None:
    """Count the words of each document in CORPUS.

    CORPUS is read as by `wordgeom build-cooc`. Every line (or block, file or record) is a document
    with a row of its own; `--id-field` and `--time-field` name its identifier and its date.
    """
    frame.run_command("build-dtm", given, config)
