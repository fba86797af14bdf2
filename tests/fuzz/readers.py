"""The readers: what each reads, the modules that are it, and what makes files of it valid again."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
from running import convert

from fuzz import packing, seeds
from fuzz.culprits import CULPRITS
from fuzz.packing import Files
from wordgeom.cli import flags, frame
from wordgeom.core.errors import MissingInputError
from wordgeom.corpus.inputs.readers import Source
from wordgeom.corpus.options import CorpusOptions
from wordgeom.corpus.records import formats
from wordgeom.corpus.records.metadata import match_rows, read_metadata
from wordgeom.corpus.vocabulary import read_vocabulary_bytes, read_words
from wordgeom.evaluation.categorisation import read_categories
from wordgeom.evaluation.classification import read_texts
from wordgeom.evaluation.options import EvalOptions
from wordgeom.evaluation.regression import read_targets
from wordgeom.evaluation.sets import read_set
from wordgeom.formats.fasttext import read_fasttext
from wordgeom.formats.vector_files import read_any_vectors, shape_of
from wordgeom.imputation.domain import DomainOptions, read_domain
from wordgeom.matrices.cooccurrence import StoredMatrix
from wordgeom.matrices.document_term import StoredDocuments
from wordgeom.matrices.stored_rows import StoredRows
from wordgeom.matrices.times import parse_times
from wordgeom.methods.dlsa.model import DynamicModel
from wordgeom.methods.inputs.item_pairs import read_item_pairs
from wordgeom.plot.colours import read_colouring
from wordgeom.plot.drift_results import read_drift_results
from wordgeom.reproduction.recorded import read_recorded
from wordgeom.runtime.pool import Pool
from wordgeom.stages.artefacts import artefact_at
from wordgeom.storage.files import Lock
from wordgeom.subwords.stored import read_model
from wordgeom.vectors import run_card
from wordgeom.vectors.keyed import read_vectors
from wordgeom.weighting.documents import WeightedDocuments
from wordgeom.weighting.options import DocumentOptions, PmiOptions
from wordgeom.weighting.pmi import WeightedMatrix

_MEMORY = 4 << 26


@dataclass(frozen=True)
class Reader:
    """seeds: groups of valid files, the first of a group is read; pack: makes them whole again.

    modules: of the package, whose lines the inputs should reach.
    """

    name: str
    seeds: Callable[[], list[Files]]
    read: Callable[[Path], object]
    modules: tuple[str, ...]
    pack: Callable[[Files], Files] = dict


@cache
def _pool() -> Pool:
    return Pool(1).__enter__()


def _store(path: Path) -> None:
    """Read a matrix in every way that commands do, kernels among them."""
    matrix = StoredMatrix.open(path.parent)
    artefact_at(path.parent).describe(check=True)
    matrix.store.check()
    matrix.to_scipy()
    kind = matrix.store.kind
    rows = (
        WeightedMatrix(matrix, PmiOptions(), _pool())
        if kind == "cooc"
        else StoredRows(matrix, _pool())
    )
    rows.full()
    rows.columns(np.arange(min(3, len(rows.words))))


def _documents(path: Path) -> None:
    """Read counts by document in every way that commands do."""
    counts = StoredDocuments.open(path.parent)
    artefact_at(path.parent).describe(check=True)
    for weight in ("rows", "tf-idf", "ppmi"):
        WeightedDocuments(counts, DocumentOptions(weight=weight), _pool()).full()
    parse_times(counts.documents(), counts.names())


def _model(path: Path) -> None:
    """Read a model in every way that commands do."""
    model = DynamicModel.open(path.parent)
    artefact_at(path.parent).describe(check=True)
    first, last = float(model.times.min()), float(model.times.max())
    model.vectors_at(last)
    model.displacement(first, last)
    model.movement()
    with suppress(MissingInputError):  # it lies alone
        model.open_documents()


def _card(path: Path) -> object:
    vectors = path.parent / "v.bin"
    run_card.up_to_date(vectors, seeds.REQUEST, force=False, beside=[path.parent / "v.tsv"])
    return artefact_at(vectors).describe(check=True)


def _vocabulary(path: Path) -> object:
    content = path.read_bytes()
    return read_vocabulary_bytes(content, path) if b"\t" in content else read_words(path)


def _set(path: Path) -> object:
    return read_set(path, EvalOptions())


def _table(path: Path, **more: Any) -> object:
    if (path.parent / "map.txt").exists():
        more["name_map"] = str(path.parent / "map.txt")
    return read_domain(path, DomainOptions(missing="mean", duplicates="first", **more), _MEMORY)


def _config(path: Path) -> None:
    for name, tables in flags.read_tables(str(path), frame.STAGES).items():
        for table in tables:
            frame.prepare(name, dict(table), str(path))


def _lock(path: Path) -> None:
    with Lock(path, path.with_name("out")):
        pass


def _text(path: Path) -> object:
    from corpora import read

    return read([path], directory=tempfile.gettempdir())


_ASKED: dict[str, dict[str, Any]] = {
    ".jsonl": {"id_field": "id", "time_field": "time"},
    ".tsv": {"text_field": "text", "id_field": "id"},
    ".parquet": {"text_field": "name", "id_field": "n", "time_field": "x"},
    ".csv": {"text_field": "text", "id_field": "id", "bad_records": "skip"},
    ".conllu": {"column": "lemma"},
}


def _records(path: Path) -> None:
    asked = formats.resolve([str(path)], CorpusOptions(**_ASKED.get(path.suffix, {})))
    for _ in formats.blocks(Source(str(path)), b" \n", asked):
        pass


def _metadata(path: Path) -> None:
    match_rows(read_metadata(str(path), "id", "year"), ["a.txt"], str(path))


def _matrix(path: Path) -> object:
    return convert(path, path.parent / "out", threads=1, memory=0.5, quiet=True)


def _foreign(path: Path) -> object:
    return convert(path, path.parent / "out.bin", space="_", threads=1, memory=0.5, quiet=True)


def _quantised(path: Path) -> object:
    return shape_of(path), read_any_vectors(path, memory=_MEMORY)


def _fasttext(path: Path) -> object:
    return shape_of(path), read_fasttext(path, _MEMORY)


def _subwords(path: Path) -> object:
    artefact_at(path.parent).describe(check=True)
    return read_model(path.parent, seeds.subword_vectors()).vectors_of(["abc", "東京", "zzz"])


def _projector(path: Path) -> object:
    return shape_of(path.parent), read_any_vectors(path.parent)


_EVALUATE = ("evaluation.lines", "evaluation.tables", "evaluation.score_column")
_TABLES = (
    "imputation.tables.files",
    "imputation.tables.readers",
    "imputation.tables.names",
    "imputation.domain",
)

# A new reader is a line here, with valid files in seeds.py.
READERS = (
    Reader(
        "store", seeds.stores, _store, ("storage.store", "matrices.cooccurrence"), packing.vouch
    ),
    Reader(
        "documents",
        seeds.documents,
        _documents,
        ("matrices.document_term", "matrices.times"),
        packing.vouch,
    ),
    Reader(
        "model",
        seeds.models,
        _model,
        ("methods.dlsa.model", "methods.dlsa.polynomials", "methods.dlsa.canonical_form"),
        packing.vouch,
    ),
    Reader(
        "run card",
        seeds.cards,
        _card,
        ("vectors.run_card", "stages.artefacts.vectors"),
        packing.attest,
    ),
    Reader("recorded run", seeds.runs, read_recorded, ("reproduction.recorded",)),
    Reader("vocabulary", seeds.vocabularies, _vocabulary, ("corpus.vocabulary",)),
    Reader(
        "word2vec text",
        partial(seeds.vectors, ".txt", ".vec"),
        read_vectors,
        ("vectors.word2vec_text", "vectors.word2vec_header"),
    ),
    Reader(
        "word2vec binary",
        partial(seeds.vectors, ".bin"),
        read_vectors,
        ("vectors.word2vec_binary", "vectors.keyed"),
    ),
    Reader("pairs", seeds.pairs, _set, ("evaluation.pairs", *_EVALUATE), packing.gzipped),
    Reader(
        "item pairs",
        seeds.item_pairs,
        read_item_pairs,
        ("methods.inputs.item_pairs",),
        packing.gzipped,
    ),
    Reader(
        "analogies",
        seeds.analogies,
        _set,
        ("evaluation.analogies", "evaluation.questions", "evaluation.known_sets", *_EVALUATE),
        packing.gzipped,
    ),
    Reader("QVEC", seeds.oracles, _set, ("evaluation.qvec",)),
    Reader(
        "categories",
        seeds.categories,
        partial(read_categories, options=EvalOptions()),
        ("evaluation.categorisation",),
    ),
    Reader(
        "labelled texts",
        seeds.labelled,
        partial(read_texts, options=EvalOptions()),
        ("evaluation.classification",),
    ),
    Reader(
        "targets",
        seeds.targets,
        partial(read_targets, options=EvalOptions()),
        ("evaluation.target_tables",),
    ),
    Reader(
        "table, delimited",
        seeds.delimited,
        _table,
        ("imputation.tables.delimited", "imputation.tables.name_map", *_TABLES),
        packing.gzipped,
    ),
    Reader("table, npy", seeds.npy, _table, ("imputation.tables.npy", "formats.npy")),
    Reader(
        "quantised vectors",
        seeds.quantised,
        _quantised,
        ("formats.quantised", "vectors.quantisation"),
        packing.zipped,
    ),
    Reader("fastText", seeds.fasttext, _fasttext, ("formats.fasttext",)),
    Reader(
        "subword model",
        seeds.subwords,
        _subwords,
        ("subwords.stored", "subwords.dictionary", "subwords.buckets", "subwords.units.morphs"),
        packing.vouch,
    ),
    Reader("table, npz", seeds.npz, _table, ("imputation.tables.npz",), packing.zipped),
    Reader("table, sparse", seeds.sparse, _table, ("imputation.tables.sparse",), packing.zipped),
    Reader("table, parquet", seeds.parquet, _table, ("imputation.tables.parquet",)),
    Reader("table, vectors", partial(seeds.vectors, ".bin", ".vec"), _table, ()),
    Reader("drift results", seeds.drifts, read_drift_results, ("plot.drift_results",)),
    Reader("colours", seeds.colours, read_colouring, ("plot.colours",)),
    Reader("configuration", seeds.configs, _config, ("cli.flags",)),
    Reader("lock", seeds.locks, _lock, ("storage.files",)),
    Reader(
        "text",
        seeds.texts,
        _text,
        ("corpus.inputs.readers", "corpus.inputs.compression"),
        packing.gzipped,
    ),
    Reader(
        "records",
        seeds.records,
        _records,
        (
            "corpus.records.jsonl",
            "corpus.records.tsv",
            "corpus.records.csv_records",
            "corpus.records.columns",
            "corpus.records.conllu",
            "corpus.records.fasta",
            "corpus.records.fields",
        ),
    ),
    Reader("metadata", seeds.metadata, _metadata, ("corpus.records.metadata",)),
    Reader("records, parquet", seeds.parquet, _records, ("corpus.records.parquet",)),
    Reader(
        "matrix",
        seeds.matrices,
        _matrix,
        ("formats.matrix_market", "formats.glove", "formats.scipy_npz", "formats.word_files"),
        packing.gzipped,
    ),
    Reader("vectors, foreign", seeds.foreign_vectors, _foreign, ("formats.dense",)),
    Reader("vectors, projector", seeds.projectors, _projector, ("formats.vector_files",)),
)


def reader(name: str) -> Reader:
    """Return the reader of a name, or the culprit."""
    if name in CULPRITS:
        return Reader(name, seeds.vocabularies, CULPRITS[name][0], ())
    return next(one for one in READERS if one.name == name)
