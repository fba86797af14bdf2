"""`wordgeom build-dtm`: text → a document-term matrix."""

from __future__ import annotations

from pathlib import Path

import click

from wordgeom.cli import frame
from wordgeom.corpus.options import CorpusOptions, PassageOptions
from wordgeom.runtime.run_options import ResumeOptions, RunOptions


@click.command(
    "build-dtm",
    cls=frame.StageCommand,
    classes=(CorpusOptions, PassageOptions, ResumeOptions, RunOptions),
)
@click.argument("corpus", nargs=-1)
@click.option("-o", "--out", metavar="DIR", help="output directory  [dtm]")
@click.option("--save-vocab", metavar="FILE", help="also write the vocabulary with its counts")
def command(
    settings: frame.Settings,
    corpus: CorpusOptions,
    splitting: PassageOptions,
    resume: ResumeOptions,
    run: RunOptions,
) -> frame.Stage:
    """Count the words of each document in CORPUS.

    CORPUS is read as by `wordgeom build-cooc`. Every line (or block, file or record) is a document
    with a row of its own, or is split into passages; `--id-field` and `--time-field` name the
    fields of its ID and time.
    """
    from wordgeom.stages.build_dtm import BuildDtm

    names = frame.corpus_names("build-dtm", settings)
    save = frame.path(settings, "save_vocab")
    return BuildDtm(names, Path(settings.get("out", "dtm")), corpus, run, resume, save, splitting)
