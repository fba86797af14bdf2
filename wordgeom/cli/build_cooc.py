"""`wordgeom build-cooc`: text → co-occurrence counts."""

from __future__ import annotations

from pathlib import Path

import click

from wordgeom.cli import frame
from wordgeom.corpus.options import CorpusOptions, VocabularyOptions
from wordgeom.counts.windows import WindowOptions
from wordgeom.runtime.run_options import ResumeOptions, RunOptions


@click.command(
    "build-cooc",
    cls=frame.StageCommand,
    classes=(CorpusOptions, WindowOptions, VocabularyOptions, ResumeOptions, RunOptions),
)
@click.argument("corpus", nargs=-1)
@click.option(
    "-o", "--out", metavar="DIR", help="output directory, DIR.shard-i-of-N of a part  [cooc]"
)
@click.option("--shard", metavar="i/N", help="count part i of N only; combine the parts with merge")
@click.option("--save-vocab", metavar="FILE", help="also write the vocabulary with its counts")
def command(
    settings: frame.Settings,
    corpus: CorpusOptions,
    window: WindowOptions,
    words: VocabularyOptions,
    resume: ResumeOptions,
    run: RunOptions,
) -> frame.Stage:
    """Count the co-occurrences of words in CORPUS.

    CORPUS names files, directories, quoted patterns ('texts/**/*.txt') or - for standard input, in
    UTF-8: plain text, .jsonl, .csv, .tsv, .parquet, .conllu or .fasta, optionally compressed by
    gzip, bzip2, xz or zstd. Train vectors on the counts with `wordgeom train`; describe them with
    `wordgeom info`.
    """
    from wordgeom.stages.build_cooc import BuildCooc
    from wordgeom.stages.shard import Shard

    names = frame.corpus_names("build-cooc", settings)
    shard = Shard.parse(settings["shard"]) if "shard" in settings else None
    save = frame.path(settings, "save_vocab")
    out = Path(settings.get("out", "vocab" if words.vocab_only else "cooc"))
    if shard is not None and not out.name.endswith(shard.suffix):
        out = out.with_name(out.name + shard.suffix)
    if words.vocab_only:
        from wordgeom.stages.build_vocabulary import BuildVocabulary

        return BuildVocabulary(names, out, corpus, run, resume, save, shard)
    return BuildCooc(names, out, corpus, run, resume, save, window, shard)
