"""`wordgeom impute`: a table of entities and vectors → vectors of all the entities."""

from __future__ import annotations

from pathlib import Path

import click

from wordgeom.cli import frame
from wordgeom.core.errors import OptionError
from wordgeom.imputation.domain import DomainOptions
from wordgeom.imputation.options import ImputeOptions
from wordgeom.runtime.run_options import ResumeOptions, RunOptions


@click.command(
    "impute",
    cls=frame.StageCommand,
    classes=(DomainOptions, ImputeOptions, ResumeOptions, RunOptions),
)
@click.option("--domain", metavar="FILE",
              help="table of entities: .csv, .tsv, .npy, .npz, .parquet or vectors")  # fmt: skip
@click.option("--vectors", metavar="FILE",
              help="vectors that contain some of the entities  [vectors.bin]")  # fmt: skip
@click.option("-o", "--out", metavar="FILE",
              help="output file: .bin, .txt or .vec  [vectors.imputed.bin]")  # fmt: skip
@click.option("--table", metavar="FILE",
              help="trust table: how far to trust each vector  [beside the output]")  # fmt: skip
def command(
    settings: frame.Settings,
    of_domain: DomainOptions,
    options: ImputeOptions,
    resume: ResumeOptions,
    run: RunOptions,
) -> frame.Stage:
    """Give every entity of a table a vector, by latent semantic imputation.

    An entity whose name has a vector keeps it unchanged. Every other entity gets a weighted mean of
    the vectors of its nearest neighbours in the table. With a subword model beside the vectors,
    entities that `--missing drop` drops get the vector of their n-grams.
    """
    from wordgeom.imputation.domain import check_inputs
    from wordgeom.stages.impute import Impute

    if "domain" not in settings:
        raise OptionError("impute needs --domain", do="name a table of entities")
    check_inputs(settings["domain"], of_domain)
    domain, vectors = Path(settings["domain"]), settings.get("vectors", "vectors.bin")
    out = Path(settings.get("out", "vectors.imputed.bin"))
    table = frame.path(settings, "table")
    return Impute(domain, vectors, of_domain, options, run, out, table, resume)
