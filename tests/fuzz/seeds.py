"""Valid files of every kind: what the mutations begin with. The first of a group is read."""

from __future__ import annotations

import bz2
import hashlib
import io
import json
import lzma
import shutil
import tempfile
from collections.abc import Callable, Mapping
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
from corpora import build_documents
from matrices import random_counts, store_matrix
from running import train

from fuzz.packing import Files, unzipped
from wordgeom.corpus.inputs.compression import zstd
from wordgeom.formats.fasttext import write_fasttext
from wordgeom.formats.quantised import write_quantised
from wordgeom.runtime.pool import Pool
from wordgeom.runtime.run_options import RunOptions
from wordgeom.storage.store import StoreWriter
from wordgeom.subwords.buckets import Buckets
from wordgeom.subwords.dictionary import Dictionary
from wordgeom.subwords.lengths import Lengths
from wordgeom.subwords.model import SubwordModel
from wordgeom.subwords.stored import KIND, write_model
from wordgeom.subwords.units.codepoints import CodePoints
from wordgeom.subwords.units.morphs import Morphs
from wordgeom.subwords.units.names import CODEPOINT, MORPHS
from wordgeom.subwords.units.utf8 import Utf8
from wordgeom.vectors.keyed import Vectors, write_vectors
from wordgeom.vectors.norms import row_norms
from wordgeom.vectors.quantisation import product_codes, scalar_codes

Group = list[Files]
REFUSED = "refused"  # how the name of a file begins that is right and not taken
REQUEST = {"command": "train", "options": {"dim": 3}, "inputs": [{"digest": "0"}]}
_TABLE = b"a\tb"
CARD = {
    "request": REQUEST,
    "statistics": {"spectrum": [3.0, 2.0, 1.0], "residuals": [0.0, 1e-9, 1e-8], "rank": 3},
    "seconds": 0.5, "notes": ["a note"], "versions": {"numpy": "2"},
    "beside": {"v.tsv": {"bytes": 3, "sha256": hashlib.sha256(_TABLE).hexdigest()}},
}  # fmt: skip
_RNG_SEED = 5


def _files(make: Callable[[Path], object]) -> Files:
    """Return what a function writes into a folder."""
    with tempfile.TemporaryDirectory() as name:
        make(Path(name))
        paths = [p for p in sorted(Path(name).rglob("*")) if p.is_file()]
        return {str(p.relative_to(name)): p.read_bytes() for p in paths}


def _texts(*files: Mapping[str, str | bytes]) -> Group:
    return [{n: t if isinstance(t, bytes) else t.encode() for n, t in f.items()} for f in files]


@cache
def stores() -> Group:
    """Counts with a triangle and without, and weighted ones."""
    rng = np.random.default_rng(_RNG_SEED)
    counts, square = random_counts(rng, 12), random_counts(rng, 12, symmetric=False)
    weighted = np.log1p(counts).astype(np.float32)
    return [
        _files(lambda p: store_matrix(p / "s", counts)),
        _files(lambda p: store_matrix(p / "s", square, symmetric=False)),
        _files(lambda p: store_matrix(p / "s", weighted, kind="pmi")),
    ]


@cache
def models() -> Group:
    """Models of dynamic LSA: all words moving, and some."""
    rng = np.random.default_rng(_RNG_SEED)
    texts = [" ".join(f"w{k}" for k in rng.zipf(1.4, 20) % 9) for _ in range(30)]
    rows = [{"text": text, "t": 1950 + k % 5} for k, text in enumerate(texts)]

    def model(folder: Path, **more: str) -> None:
        path = folder / "t.jsonl"
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
        (folder / "moving.txt").write_text("w1\nw2\n")
        build_documents(path, folder / "dtm", time_field="t")
        asked: dict[str, Any] = {"dim": 2, "degree": 1, "sweeps": 1}
        asked |= {name: str(folder / value) for name, value in more.items()}
        train(folder / "dtm", "dlsa", asked, RunOptions(threads=1), out=folder / "s")
        for left in (path, folder / "moving.txt"):
            left.unlink()
        shutil.rmtree(folder / "dtm")

    return [_files(model), _files(lambda folder: model(folder, moving="moving.txt"))]


@cache
def documents() -> Group:
    """Counts by document, with ids and times."""
    rows = [{"text": "a b a", "i": 1, "t": "1950-07"}, {"text": "", "i": "x", "t": "1950"}]

    def counts(folder: Path) -> None:
        path = folder / "t.jsonl"
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
        build_documents(path, folder / "s", id_field="i", time_field="t")
        path.unlink()

    return [_files(counts)]


@cache
def vectors(*suffixes: str) -> Group:
    """Word vectors, of words in several scripts."""
    rng = np.random.default_rng(_RNG_SEED)
    words = ["the", "naïve", "東京", "a,b", "x", "1", "-", "Łódź"]
    matrix = rng.standard_normal((8, 3)).astype(np.float32)

    def write(folder: Path, suffix: str) -> None:
        write_vectors(folder / f"v{suffix}", words, matrix)

    return [_files(partial(write, suffix=suffix)) for suffix in suffixes]


@cache
def cards() -> Group:
    """Vectors with the run card that belongs to them, and one whose run was cut off."""
    (made,) = vectors(".bin")
    raw = json.dumps(CARD).encode()
    return [
        {**made, "v.bin.json": raw, "v.tsv": _TABLE},
        {
            "v.bin": made["v.bin"],
            ".v.bin.part": made["v.bin"],
            ".v.bin.json.part": raw,
            "v.tsv": _TABLE,
        },
    ]


@cache
def vocabularies() -> Group:
    """Words with counts, and alone."""
    return _texts({"v.tsv": "the\t9\nnaïve\t3\n東京\t2\n"}, {"v.tsv": "the\r\nof\r\n"})


@cache
def pairs() -> Group:
    """Pairs and scores, between tabs, commas and blanks, with a header and packed."""
    rows = [("tiger", "cat", "7.35"), ("book", "paper", "7.46"), ("naïve", "東京", "1")]
    lines = ["\t".join(row) for row in rows]
    return _texts(
        {"p.tsv": "# comment\nWord 1\tWord 2\tHuman (mean)\n" + "\n".join(lines) + "\n"},
        {"p.csv": '"a b",c,1\n' + "\n".join(",".join(row) for row in rows)},
        {"p.txt": "\n".join(" ".join(row) for row in rows) + "\n"},
        {"p.txt.gz": "\n".join(lines)},
        {"p.csv": ",word1,word2,mean,1,2\n0,sun-n,sea-n,2.5,2,3\n1,tea-n,cup-n,4,3,5\n"},
    )


@cache
def item_pairs() -> Group:
    """Pairs of items with weights, of words and of rows, with a header and packed."""
    rows = [("tiger", "cat", "2"), ("book", "0", "-1.5"), ("naïve", "東京", "1e-3")]
    return _texts(
        {"w.tsv": "# comment\none\tother\tweight\n" + "\n".join("\t".join(row) for row in rows)},
        {"w.csv": '"a b",c,1\r\n' + "\r\n".join(",".join(row) for row in rows) + "\r\n"},
        {"w.txt.gz": "0 1 2.5\n1 2 -1\n"},
    )


@cache
def analogies() -> Group:
    """Questions in sections and in tables."""
    text = ": capitals\nAthens Greece Oslo Norway\nRome Italy Paris France\n: gram1\na b c d\n"
    table = ",type,word1,word2,word3,target\n0,x,Athens,Greece,Oslo,Norway\n1,2c,a,b,c,d\n"
    return _texts({"a.txt": text}, {"a.txt.gz": text}, {"a.csv": table})


@cache
def oracles() -> Group:
    """QVEC's features of words."""
    text = 'dog\t{"noun.animal": 0.9, "noun.person": 0.1}\nrun\t{"verb.motion": 1}\n'
    return _texts({"q.txt": text}, {"q.txt": text * 2})


@cache
def runs() -> Group:
    """Run cards of commands that `rerun` can repeat."""

    def card(command: str, **settings: Any) -> str:
        made_by = {"command": command, "settings": settings, "folder": "/", "inputs": {"a": "0"}}
        held = {**CARD, "content": {"bytes": 1, "sha256": "0"}, "invocation": made_by}
        return json.dumps(held)

    count = card("build-cooc", corpus=["a.txt"], min_count=5, sample=1e-3, save_vocab="v")
    return _texts(
        {"vectors.bin.json": card("train", method="gbu", dim=10, force=True)},
        {"vectors.transformed.bin.json": card("transform", center=True)},
        {"cooc.json": count},
    )


@cache
def drifts() -> Group:
    """What `wordgeom drift --json` prints."""
    word = {"word": "sea", "displacement": 1.5, "f": 2.0, "p": 0.001, "q": 0.02, "cosine": 0.4}
    still = {**word, "word": "of", "displacement": 0.0, "p": None, "q": None}
    test = {"method": "permutation", "permutations": 999, "smallest_word_p": 0.001}
    held = {"words": [word, still, {**word, "neighbours_then": ["ship"]}], "test": test}
    return _texts({"d.json": json.dumps(held)}, {"d.json": json.dumps({**held, "test": {}})})


@cache
def colours() -> Group:
    """Words with the categories or numbers that colour them."""
    return _texts({"g.tsv": "cat\tanimal\nparis\tcity\n"}, {"n.csv": "sea,1.5\nship,-2\n"})


@cache
def categories() -> Group:
    """Words and classes."""
    text = "word\tclass\ncat\tanimal\nparis\tcity\ncat\tpet\n"
    return _texts({"c.tsv": text}, {"c.csv": 'a,"b c"\nd,e\n'}, {"c.txt": "a b\nc d\n"})


@cache
def labelled() -> Group:
    """Labels and texts."""
    return _texts({"l.tsv": "label\ttext\npos\ta fine film\nneg\tx\tdull, and long\n"})


@cache
def targets() -> Group:
    """Texts and numbers."""
    head = "id,sequence,target,is_train\n"
    return _texts(
        {"t.csv": head + '1,MKVA,0.5,True\n2,"AC,A",,False\n3,ACD,-1e3,1\n'},
        {"t.tsv": "text\ty\nsome words\t1\nothers\t2\n"},
    )


@cache
def delimited() -> Group:
    """Tables of text as spreadsheets and other programs write them."""
    head = "name,a,b\n"
    rows = "x,1.5,2\ny z,NA,-3e2\n東京,,nan\n"
    return _texts(
        {"d.csv": head + rows},
        {"d.tsv": (head + rows).replace(",", "\t")},
        {"d.csv": '"","a"\n"x ""y""","1"\n"z","2"\n'},
        {"d.csv.gz": head + rows},
        {"d.csv": "a;1;2\nb;3;4\n"},
        {"d.csv": head + rows, "map.txt": "x\tfirst\ny_z second\n"},
    )


_DTYPES = ("<f8", "<f4", ">i4", "|b1", "<u8", "<f2")


def _npy(array: np.ndarray, version: tuple[int, int] | None = None) -> bytes:
    out = io.BytesIO()
    np.lib.format.write_array(out, array, version, allow_pickle=True)
    return out.getvalue()


@cache
def npy() -> Group:
    """Matrices of numbers of several types, with their names; objects, which are refused."""
    numbers = np.arange(6).reshape(3, 2)
    names = b"a\nb\nc d\n"
    made = [{"m.npy": _npy(numbers.astype(t)), "m.txt": names} for t in _DTYPES]
    made.append({"m.npy": _npy(np.asfortranarray(numbers.astype(float)), (2, 0)), "m.txt": names})
    made.append({"refused.npy": _npy(np.array([[1, None]], object)), "refused.txt": b"a\n"})
    return made


@cache
def npz() -> Group:
    """Archives of a matrix and names."""
    out = io.BytesIO()
    matrix, names = np.arange(6.0).reshape(3, 2), np.array(["a", "東京", "c d"])
    np.savez(out, matrix=matrix, names=names, other=np.ones(3))
    return [unzipped("m.npz", out.getvalue())]


@cache
def quantised() -> Group:
    """Quantised vectors: scalars of 8 and 4 bits, and products."""
    points = np.random.default_rng(_RNG_SEED).standard_normal((6, 5)).astype(np.float32)
    norms = row_norms(points)
    with Pool(1) as pool:
        made = [scalar_codes(points, norms, 8), scalar_codes(points, norms, 4),
                product_codes(points, norms, 2, 1, pool)]  # fmt: skip
    group = []
    for codes in made:
        out = io.BytesIO()
        write_quantised(out, ["a", "東京", "c", "d", "e", "f"], codes)
        group.append(unzipped("m.npz", out.getvalue()))
    return group


def _hashed() -> tuple[Vectors, SubwordModel]:
    """Return vectors of four words, and a model of hashed n-grams."""
    draw = np.random.default_rng(_RNG_SEED)
    vectors = Vectors(["ab", "東京", "abc", "</s>"], draw.random((4, 3), np.float32))
    index, ngrams = Buckets(9, np.array([1, 4, 8])), draw.random((3, 3), np.float32)
    return vectors, SubwordModel("codepoint", Utf8(), Lengths(2, 3), index, ngrams)


@cache
def fasttext() -> Group:
    """A model of fastText."""
    out = io.BytesIO()
    write_fasttext(out, *_hashed())
    return [{"m.bin": out.getvalue()}]


@cache
def subwords() -> Group:
    """Subword models of the vectors below: n-grams of code points and morphs, and hashed ones."""
    vectors, hashed = _hashed()
    index = Dictionary.of_lines("<a\nab\n東京\n")
    morphs = Morphs({"abc": ("ab", "c")})
    made = [hashed]
    for name, unit in ((CODEPOINT, CodePoints()), (MORPHS, morphs)):
        made.append(SubwordModel(name, unit, Lengths(1, 2), index, hashed.vectors))

    def store(model: SubwordModel, folder: Path) -> None:
        with StoreWriter(folder / "s", KIND) as writer:
            write_model(writer, model, vectors, {})

    return [_files(partial(store, model)) for model in made]


def subword_vectors() -> Vectors:
    """Return the vectors to which the subword models belong."""
    return _hashed()[0]


@cache
def sparse() -> Group:
    """SciPy's sparse matrices, in each of its formats."""
    import scipy.sparse

    dense = np.random.default_rng(_RNG_SEED).poisson(0.7, (4, 6)).astype(float)
    kinds = ("csr", "csc", "coo", "bsr", "dia")
    made = [getattr(scipy.sparse, f"{k}_matrix")(dense) for k in kinds]
    return [_sparse(matrix) for matrix in [*made, scipy.sparse.coo_array(dense)]]


def _sparse(matrix: object) -> Files:
    import scipy.sparse

    out = io.BytesIO()
    scipy.sparse.save_npz(out, matrix)
    return {**unzipped("m.npz", out.getvalue()), "m.txt": b"a\nb\nc\nd\n"}


@cache
def parquet() -> Group:
    """Tables of names and numbers of several types."""
    import pyarrow
    from pyarrow import parquet as files

    columns = {"name": ["a", "b", "c"], "x": [1.5, None, 2.0], "n": [1, 2, 3]}
    table = pyarrow.table(columns)
    coded = pyarrow.table({**columns, "name": pyarrow.array(["a", "b", "a"]).dictionary_encode()})

    def write(folder: Path, table: pyarrow.Table) -> None:
        files.write_table(table, folder / "t.parquet")

    return [_files(partial(write, table=one)) for one in (table, coded)]


@cache
def configs() -> Group:
    """Configuration files for `run`."""
    count = '[build-cooc]\ncorpus = ["a.txt"]\nmin-count = 5\nwindow = 3\nsample = 1e-3\n'
    train = '[train]\nmethod = "gbu"\ndim = 10\nweighting = "ppmi"\nforce = true\n'
    impute = '[impute]\ndomain = "in/d.csv"\ndelta = 3\n[build-pmi]\nneg = 2.0\n'
    judge = '[drift]\nmodel = "m"\nwords = ["a", "b"]\n[merge]\nmatrices = ["a"]\n'
    return _texts({"c.toml": count + train}, {"c.toml": impute + judge, "d.csv": "a,1\nb,2\n"})


@cache
def locks() -> Group:
    """The lock of a process that is gone, of one that lives, and of another machine."""
    gone = {"host": "", "pid": 0, "start": ""}
    return _texts({"lock": json.dumps(gone)}, {"refused": json.dumps({**gone, "host": "far"})})


_TEXT = "The naïve cat 東京 sat.\r\nOn the mat, the cat sat\n\nthe end ΣΑΣ\n"


@cache
def texts() -> Group:
    """Texts to count, plain and packed in each way."""
    raw = _TEXT.encode()
    return _texts(
        {"t.txt": _TEXT * 3},
        {"t.txt": b"\xef\xbb\xbf" + raw},
        {"t.txt.gz": raw},
        {"t": bz2.compress(raw)},
        {"t": lzma.compress(raw)},
        {"t": zstd.compress(raw)},
        {"t": zstd.compress(raw) + zstd.compress(raw)},
    )


@cache
def records() -> Group:
    """JSON Lines, TSV, CSV, CoNLL-U and FASTA."""
    rows = [
        {"id": 1, "text": "the cat", "time": "2020"},
        {"id": "b", "text": ["a", "é"], "time": 3},
    ]
    sentence = "# s\n1-2\tdu\t_\n1\tde\tde\n2\tle\t_\n2.1\tx\tx\n3\tchat noir\tchat\n\n"
    ten = "\n".join(
        f"{line}\t_\t_\t_\t_\t_\t_\t_" if "\t" in line else line for line in sentence.split("\n")
    )
    return _texts(
        {"r.jsonl": "\n".join(map(json.dumps, rows)) + "\n"},
        {"r.tsv": "id\ttext\ttime\n1\tthe cat\t2020\nb\tthe dog\t3\n"},
        {"r.csv": 'id;text;time\n1;"the ""cat"";\nsat";2020\nb;é;\n'},
        {"r.conllu": ten},
        {"r.fasta": ">a one\nMKV-A\n; aside\nacd*\n>b\nMM\n"},
    )


def metadata() -> Group:
    """Tables with the ids and times of files."""
    return _texts(
        {"m.tsv": "file\tid\tyear\na.txt\tA\t1950\nb/a.txt\té\t\n"},
        {"m.csv": '\ufeffid;path;year\r\n"A;";./a.txt;1950\r\n\r\nb;b.txt;1951-01\r\n'},
    )


_VOCAB = "the\t9\nof\t5\ncat\t2\n"
_ENTRIES = [(0, 0, 3.0), (0, 1, 2.0), (1, 0, 2.0), (2, 2, 1.0)]


@cache
def matrices() -> Group:
    """Matrices of other programs: SciPy's, MatrixMarket, GloVe's records; words beside each."""
    import scipy.sparse

    rows, columns, values = zip(*_ENTRIES, strict=True)
    matrix = scipy.sparse.csr_matrix((values, (rows, columns)), (3, 3))
    out = io.BytesIO()
    scipy.sparse.save_npz(out, matrix)
    lines = [f"{r + 1} {c + 1} {v:g}" for r, c, v in _ENTRIES]
    head = "%%MatrixMarket matrix coordinate {} general\n% made by hand\n3 3 4\n"
    lower = "%%MatrixMarket matrix coordinate integer symmetric\n3 3 2\n2 1 5\n3 3 1\n"
    records = np.array([(r + 1, c + 1, v) for r, c, v in _ENTRIES], "<i4,<i4,<f8").tobytes()
    words = {"m.words.txt": _VOCAB}
    return _texts(
        {"m.npz": out.getvalue(), **words},
        {"m.mtx": head.format("real") + "\n".join(lines) + "\n", **words},
        {"m.mtx.gz": head.format("integer") + "\n".join(lines) + "\n", **words},
        {"m.mtx": lower, **words},
        {"m.glove": records, "vocab.txt": _VOCAB.replace("\t", " ")},
    )


@cache
def projectors() -> Group:
    """Directories of TensorBoard's projector."""
    return _texts(
        {"vectors.tsv": "0.1\t-2\t3e-1\n1\t2\tnan\n", "metadata.tsv": "the\nnaïve\n"},
        {"vectors.tsv": "1\n", "metadata.tsv": "a\n"},
    )


def foreign_vectors() -> Group:
    """Vectors of other programs: GloVe's text without a first line, arrays with words."""
    out = io.BytesIO()
    np.savez(out, vectors=np.ones((2, 3), np.float16), words=np.array(["a", "b"]))
    return _texts(
        {"g.txt": "the 0.1 -2 3e-1\n. . . 1 2 3\nnaïve 1 2 3\n"},
        {"g.npy": _npy(np.ones((2, 3), np.float32)), "g.words.txt": "a\nb\n"},
        {"g.npz": out.getvalue(), "g.words.txt": "a\nb\n"},
    )
