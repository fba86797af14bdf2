"""`wordgeom impute`: a table of entities and vectors → vectors of all the entities."""

from __future__ import annotations

from typing import Any

import click

from wordgeom.cli import flags, stages
from wordgeom.imputation.domain import DomainOptions
from wordgeom.imputation.options import ImputeOptions
from wordgeom.runtime.run_options import RunOptions

OPTIONS = (DomainOptions, ImputeOptions, RunOptions)
OWN = ("domain", "vectors", "out", "table")


@click.command("impute")
@click.option("--domain", metavar="FILE",
              help="entities: .npy, .npz, .csv, .tsv, .parquet or word vectors")  # fmt: skip
@click.option("--vectors", metavar="FILE",
              help="vectors that hold some of the entities' names  [vectors.bin]")  # fmt: skip
@click.option("-o", "--out", metavar="FILE",
              help="file for the vectors: .bin, .txt or .vec  [vectors.imputed.bin]")  # fmt: skip
@click.option("--table", metavar="FILE",
              help="file for how far to trust each vector  [beside them]")  # fmt: skip
@flags.takes(*OPTIONS)
def command(config: str | None, **given: Any) -> None:
    """Give every entity of a table a vector, by latent semantic imputation.

    Entities whose names are words of the vectors keep their vector bit for bit; each of the others
    gets the weighted mean of its neighbours' in the table.
    """
    stages.run_stage("impute", given, config)
