"""`wordgeom embed`: texts and vectors of words → vectors of the texts."""

from __future__ import annotations

from pathlib import Path

import click

from wordgeom.cli import frame
from wordgeom.core.errors import OptionError
from wordgeom.corpus.inputs.readers import STDIN
from wordgeom.corpus.options import TextOptions
from wordgeom.runtime.run_options import RunOptions
from wordgeom.texts.options import EmbedOptions


@click.command("embed", cls=frame.StageCommand, classes=(EmbedOptions, TextOptions, RunOptions))
@click.argument("texts", nargs=-1)
@click.option("--vectors", metavar="FILE", help="vectors of words  [vectors.bin]")
@click.option("--counts", metavar="DIR",
              help="counts behind the vectors  [cooc or dtm beside them]")  # fmt: skip
@click.option("-o", "--out", metavar="FILE",
              help="output: .npy, .txt or .tsv file, or - for lines  [texts.npy]")  # fmt: skip
def command(
    settings: frame.Settings, options: EmbedOptions, _: TextOptions, run: RunOptions
) -> frame.Stage:
    """Give each text in TEXTS a vector: the weighted mean of the vectors of its words.

    TEXTS is read as by `wordgeom build-cooc`; every line (or block, file or record) is a text with
    a row of its own. It is split into words as the text behind the vectors was, where their run
    card or --counts records that. With a subword model beside the vectors, words without a vector
    get that of their n-grams.
    """
    from wordgeom.stages.embed import Embed

    names = frame.names_in(settings, "texts")
    if not names:
        raise OptionError("embed needs TEXTS", do="name a text file, or - for standard input")
    out = None if settings.get("out") == STDIN else Path(settings.get("out", "texts.npy"))
    vectors, counts = Path(settings.get("vectors", "vectors.bin")), frame.path(settings, "counts")
    return Embed(names, vectors, counts, settings, options, run, out)
