"""`wordgeom build-cooc`: text → counts."""

from __future__ import annotations

from typing import Any

import click

from wordgeom.checkpoint.state import ResumeOptions
from wordgeom.cli import flags, stages
from wordgeom.corpus.options import CorpusOptions
from wordgeom.counts.windows import WindowOptions
from wordgeom.runtime.run_options import RunOptions

OPTIONS = (CorpusOptions, WindowOptions, ResumeOptions, RunOptions)
OWN = ("corpus", "out", "shard", "save_vocab")


@click.command("build-cooc")
@click.argument("corpus", nargs=-1)
@click.option("-o", "--out", metavar="DIR", help="folder for the counts  [cooc]")
@click.option("--shard", metavar="i/N", help="count part i of N only; merge adds the parts up")
@click.option("--save-vocab", metavar="FILE", help="also write the words and their counts there")
@flags.takes(*OPTIONS)
def command(config: str | None, **given: Any) -> None:
    """Count which words occur together in CORPUS, into a folder.

    CORPUS is any number of files in UTF-8, folders, patterns in quotes ('texts/**/*.txt'), or - for
    standard input; plain, or packed by gzip, bzip2, xz or zstd; text, .jsonl, .tsv, .conllu or
    .fasta. `wordgeom train` makes vectors of the counts; `wordgeom info` describes them.
    """
    stages.run_stage("build-cooc", given, config)
