"""`wordgeom build-dtm`: text → counts by document."""

from __future__ import annotations

from typing import Any

import click

from wordgeom.checkpoint.state import ResumeOptions
from wordgeom.cli import flags, stages
from wordgeom.corpus.options import CorpusOptions
from wordgeom.runtime.run_options import RunOptions

OPTIONS = (CorpusOptions, ResumeOptions, RunOptions)
OWN = ("corpus", "out", "save_vocab")


@click.command("build-dtm")
@click.argument("corpus", nargs=-1)
@click.option("-o", "--out", metavar="DIR", help="folder for the counts  [dtm]")
@click.option("--save-vocab", metavar="FILE", help="also write the words and their counts there")
@flags.takes(*OPTIONS)
def command(config: str | None, **given: Any) -> None:
    """Count how often each word occurs in each document of CORPUS, into a folder.

    CORPUS is what `wordgeom build-cooc` takes. A line is a document, or a block or a file
    (--document), or a record, a sentence or a sequence. --id-field and --time-field keep
    what a record tells of itself; `wordgeom info` describes the folder.
    """
    stages.run_stage("build-dtm", given, config)
