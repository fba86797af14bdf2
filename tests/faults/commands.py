"""The commands that make something, how each is run, and what all of them are given."""

from __future__ import annotations

import json
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from matrices import random_counts, store_matrix

from wordgeom.vectors.keyed import write_vectors


@dataclass(frozen=True)
class Command:
    """A command line that makes `out` or `out.SUFFIX` of what lies in ../inputs.

    old: a command line that makes the old output, which is other content, empty for a command that
    replaces none; resumes: it has --resume; tables: of the configuration that it runs, each of
    which says a line.
    """

    name: str
    line: str
    old: str
    resumes: bool = False
    tables: int = 1

    @property
    def starts(self) -> tuple[bool, ...]:
        """Whether there is old output when it starts: it is tried without and with."""
        return (False, True) if self.old else (False,)


@dataclass(frozen=True)
class Report:
    """A command line that prints a report on what a command made; it has --resume."""

    name: str
    line: str
    of: str


_TORCH = find_spec("torch") is not None
_COUNT = "build-cooc ../inputs/corpus.txt -o out --min-count 1 --tmp-dir ."
_SHARD = (
    "build-cooc ../inputs/corpus.txt -o out --read-vocab ../inputs/listed.txt --shard 2/3"
    " --checkpoint 0 --tmp-dir ."
)
_WORDS = "build-cooc ../inputs/corpus.txt -o out --vocab-only --tmp-dir . --min-count"
_TABULATE = "build-dtm ../inputs/corpus.txt -o out --tmp-dir . --min-count"
_MERGE = "merge -o out --checkpoint 0"
_WIDE, _NARROW = (
    f"../inputs/{name}.shard-1-of-2 ../inputs/{name}.shard-2-of-2" for name in ("wide", "narrow")
)
_PARTS, _OTHERS = (
    f"../inputs/{name}.shard-1-of-2 ../inputs/{name}.shard-2-of-2" for name in ("all", "some")
)
_HEAD, _TAIL = (f"../inputs/cut.shard-{k}-of-3 ../inputs/cut.shard-{k + 1}-of-3" for k in (1, 2))
_SUBTRACT = f"{_MERGE} --subtract ../inputs/listed"
_UNION = f"{_MERGE} --union ../inputs/cooc"
_APPEND = f"{_MERGE} --union ../inputs/dtm"
_PMI = "build-pmi ../inputs/cooc -o out --checkpoint 0"
_GBU = "train ../inputs/cooc --method gbu"
_EIGS = "train ../inputs/large --method pmi-eigs --checkpoint 0 -o out.bin"
_SWEPT = "train ../inputs/large --method gbu --sweeps 3 --checkpoint 0 -o out.bin"
_SQUARED = f"{_SWEPT} --loss squared"
_OPEN = f"{_SWEPT} --dim 4 --min-words 1 --subwords"
_DC = "train ../inputs/large --method dc --first-block 60 --block 40 --checkpoint 0 -o out.bin"
_SGD = "train ../inputs/large --method sgd --epochs 3 --checkpoint 0 -o out.bin"
_SSMDS = (
    "train ../inputs/large --method ssmds --pairs ../inputs/pairs.tsv --steps 5 --checkpoint 0"
    " -o out.bin"
)
_MDE = "train ../inputs/large --method mde --steps 5 --tol 0 --checkpoint 0 -o out.bin"
_TSM = "train ../inputs/known.bin --method tsm --tau .3 --updates 5 --checkpoint 0 -o out.bin"
_SPREAD = (
    "train ../inputs/large --method ssmds --pairs ../inputs/pairs.tsv --propagate --checkpoint 0"
    " -o out.bin"
)
_LSA = "train ../inputs/dtm --method lsa --checkpoint 0 -o out.bin --documents out.docs.txt"
_MODEL = "train ../inputs/dtm --method dlsa --degree 1 --sweeps 3 --checkpoint 0 -o out"
_IMPUTE = "impute --domain ../inputs/domain.csv --vectors ../inputs/vectors.bin -o out.bin"
_EXTEND = "extend ../inputs/known.bin ../inputs/cooc -o out.bin"
_EMBED = "embed ../inputs/corpus.txt --vectors ../inputs/known.bin -o out.npy"
_TRANSFORM = "transform ../inputs/known.bin -o out.bin --center --dim"
_MAPPED = (
    "transform ../inputs/known.bin -o out.bin --fit ../inputs/near.tsv --align ../inputs/turned.bin"
)
_COMPRESS = "compress ../inputs/known.bin -o out.npz --dim"
_MATCH = f"{_COMPRESS} 3 --reducer tsm --checkpoint 0"
_LINEAR = "transform ../inputs/named.bin -o out.bin --canonical"
_SUBWORDS = "subwords ../inputs/known.bin -o out.bin --min-words 1 --subwords"
_NAMED = "impute --domain ../inputs/domain.csv --vectors ../inputs/named.bin -o out.bin"
_CONVERT = "convert ../inputs/vectors.bin out.txt"
_PLOT = "plot map ../inputs/known.bin -o out.svg"
_MOVE = "convert ../inputs/open.bin out.bin"

# A new command with output is a line here.
COMMANDS = (
    Command("build-cooc", f"{_COUNT} --window 3", f"{_COUNT} --window 2", True),
    Command("build-cooc, kept", f"{_COUNT} --checkpoint 0", f"{_COUNT} --window 2", True),
    Command("build-cooc, shard", f"{_SHARD} --window 3", f"{_SHARD} --window 2", True),
    Command("build-cooc, words", f"{_WORDS} 1", f"{_WORDS} 9"),
    Command("build-dtm", f"{_TABULATE} 1", f"{_TABULATE} 2", True),
    Command("build-dtm, kept", f"{_TABULATE} 1 --checkpoint 0", f"{_TABULATE} 2", True),
    Command("merge", f"{_MERGE} {_WIDE}", f"{_MERGE} {_NARROW}", True),
    Command("merge, part", f"{_MERGE} --part {_HEAD}", f"{_MERGE} --part {_TAIL}", True),
    Command(
        "merge, difference", f"{_SUBTRACT} ../inputs/half", f"{_SUBTRACT} ../inputs/quarter", True
    ),
    Command("merge, words", f"{_MERGE} {_PARTS}", f"{_MERGE} {_OTHERS}"),
    Command("merge, union", f"{_UNION} ../inputs/half", f"{_UNION} ../inputs/quarter", True),
    Command(
        "merge, documents", f"{_APPEND} ../inputs/half-dtm", f"{_APPEND} ../inputs/quarter-dtm"
    ),
    Command("build-pmi", _PMI, f"{_PMI} --neg 2", True),
    Command("train gbu, binary", f"{_GBU} -o out.bin --dim 4", f"{_GBU} -o out.bin --dim 3"),
    Command("train gbu, text", f"{_GBU} -o out.txt --dim 4", f"{_GBU} -o out.txt --dim 3"),
    Command("train gbu, kept", f"{_SWEPT} --dim 4", f"{_SWEPT} --dim 3", True),
    Command("train gbu, squared", f"{_SQUARED} --dim 4", f"{_SQUARED} --dim 3", True),
    Command("train gbu, n-grams", f"{_OPEN} 1-2", f"{_OPEN} 2", True),
    Command("train pmi-eigs, kept", f"{_EIGS} --dim 4", f"{_EIGS} --dim 3", True),
    Command("train pmi-eigs, auto", f"{_EIGS} --dim auto:pip", f"{_EIGS} --dim 3", True),
    Command("train dc, kept", f"{_DC} --dim 4", f"{_DC} --dim 3", True),
    *([Command("train sgd, kept", f"{_SGD} --dim 4", f"{_SGD} --dim 3", True)] if _TORCH else []),
    Command("train ssmds, kept", f"{_SSMDS} --dim 4", f"{_SSMDS} --dim 3", True),
    Command("train mde, kept", f"{_MDE} --dim 4", f"{_MDE} --dim 3", True),
    Command("train tsm, kept", f"{_TSM} --dim 4", f"{_TSM} --dim 3", True),
    Command("train ssmds, spread", f"{_SPREAD} --dim 4", f"{_SPREAD} --dim 3", True),
    Command("train lsa, documents", f"{_LSA} --dim 4", f"{_LSA} --dim 3", True),
    Command("train dlsa, kept", f"{_MODEL} --dim 4", f"{_MODEL} --dim 3", True),
    Command("impute", f"{_IMPUTE} --delta 3", f"{_IMPUTE} --delta 4"),
    Command("impute, kept", f"{_IMPUTE} --delta 3 --checkpoint 0", f"{_IMPUTE} --delta 4", True),
    Command("extend, kept", f"{_EXTEND} --checkpoint 0", f"{_EXTEND} --anchors 10", True),
    Command("extend", f"{_EXTEND} --anchors 20", f"{_EXTEND} --anchors 10"),
    Command("embed", _EMBED, f"{_EMBED} --l2"),
    Command("transform", f"{_TRANSFORM} 3", f"{_TRANSFORM} 2"),
    Command("transform, n-grams", f"{_LINEAR} --power 0.5", f"{_LINEAR} --dim 2"),
    Command("transform, fit and align", f"{_MAPPED} --center", f"{_MAPPED}"),
    Command("compress", f"{_COMPRESS} 3", f"{_COMPRESS} 2 --bits 4", True),
    Command("compress, kept", _MATCH, f"{_COMPRESS} 2 --bits 4", True),
    Command("subwords", f"{_SUBWORDS} 2-3", f"{_SUBWORDS} 2"),
    Command("impute, n-grams", f"{_NAMED} --delta 3", f"{_NAMED} --delta 4"),
    Command("convert", _CONVERT, f"{_CONVERT} --limit 5"),
    Command("plot", f"{_PLOT} --clusters 3", f"{_PLOT} --clusters 2"),
    Command("run", "run ../inputs/three.toml", "run ../inputs/two.toml", True, tables=2),
    Command("convert, n-grams", _MOVE, f"{_MOVE} --limit 5"),
    Command("export", "convert ../inputs/cooc out.mtx", "convert ../inputs/large out.mtx"),
    Command("import", "convert ../inputs/counts.npz out", "convert ../inputs/other.npz out"),
    Command("rerun, counts", "rerun ../inputs/cooc -o out --tmp-dir .", ""),
    Command("rerun, n-grams", "rerun ../inputs/open.bin -o out --tmp-dir .", ""),
)  # fmt: skip
# A new command that prints a report and has --resume is a line here.
_DRIFT = "drift out --rank 2 --checkpoint 0 --permutations"
REPORTS = (
    Report(
        "eval",
        "eval out.bin --classify ../inputs/labelled.tsv --folds 4 --resamples 0 --checkpoint 0",
        "train gbu, binary",
    ),
    Report("drift, flips", f"{_DRIFT} 49 --both-ranks", "train dlsa, kept"),
    Report("drift, times", f"{_DRIFT} 49 --test permutation --still", "train dlsa, kept"),
    Report(
        "drift, documents",
        f"{_DRIFT} 600 --test permutation --permute documents",
        "train dlsa, kept",
    ),
)

_STEPS = """
[build-cooc]
corpus = "../inputs/corpus.txt"
out = "out"
min-count = 1

[train]
method = "pmi-eigs"
dim = {}
out = "out.bin"
"""
# What makes the inputs that are made by the program.
PREPARE = (
    "build-cooc corpus.txt -o cooc --min-count 1 --window 3",
    "build-cooc corpus.txt -o wide --min-count 1 --window 3 --shard 1/2",
    "build-cooc corpus.txt -o wide --min-count 1 --window 3 --shard 2/2",
    "build-cooc corpus.txt -o narrow --min-count 1 --window 2 --shard 1/2",
    "build-cooc corpus.txt -o narrow --min-count 1 --window 2 --shard 2/2",
    *(f"build-cooc corpus.txt -o cut --min-count 1 --shard {k}/3" for k in (1, 2, 3)),
    "build-cooc corpus.txt -o listed --read-vocab listed.txt --window 3",
    "build-cooc half.txt -o half --read-vocab listed.txt --window 3",
    "build-cooc quarter.txt -o quarter --read-vocab listed.txt --window 3",
    "build-cooc corpus.txt -o all --vocab-only --min-count 1 --shard 1/2",
    "build-cooc corpus.txt -o all --vocab-only --min-count 1 --shard 2/2",
    "build-cooc corpus.txt -o some --vocab-only --max-vocab 5 --shard 1/2",
    "build-cooc corpus.txt -o some --vocab-only --max-vocab 5 --shard 2/2",
    "build-dtm half.txt -o half-dtm --min-count 1",
    "build-dtm quarter.txt -o quarter-dtm --min-count 1",
    "build-dtm dated.jsonl -o dtm --min-count 1 --text-field text --time-field year",
    "subwords known.bin -o open.bin --min-words 1 --subwords 2-3",
    "subwords vectors.bin -o named.bin --min-words 1 --subwords 1-2",
    "convert cooc counts.npz",
    "convert large other.npz",
)


def write_inputs(folder: Path) -> None:
    """Write a text, counts, a table of entities, vectors of half of them and of half the words."""
    rng = np.random.default_rng(0)
    lines = [" ".join(f"w{k}" for k in rng.zipf(1.3, 40) % 60) for _ in range(60)]
    (folder / "corpus.txt").write_text("\n".join(lines) + "\n")
    (folder / "half.txt").write_text("\n".join(lines[:30]) + "\n")
    (folder / "quarter.txt").write_text("\n".join(lines[:15]) + "\n")
    labelled = "".join(f"{'ab'[k % 2]}\t{line}\n" for k, line in enumerate(lines))
    (folder / "labelled.tsv").write_text(labelled)
    (folder / "listed.txt").write_text("".join(f"w{k}\n" for k in range(60)))
    of_topics = [
        " ".join(f"w{20 * (k % 3) + n}" for n in rng.zipf(1.3, 40) % 20) for k in range(60)
    ]
    dated = [{"text": line, "year": 1950 + k % 7} for k, line in enumerate(of_topics)]
    (folder / "dated.jsonl").write_text("".join(json.dumps(one) + "\n" for one in dated))
    rows = [f"e{k}," + ",".join(f"{x:.5f}" for x in rng.standard_normal(3)) for k in range(40)]
    (folder / "domain.csv").write_text("name,a,b,c\n" + "\n".join(rows) + "\n")
    words = ["the", *(f"e{k}" for k in range(20))]
    store_matrix(folder / "large", random_counts(rng, 300))
    write_vectors(folder / "vectors.bin", words, rng.standard_normal((21, 4)).astype(np.float32))
    pairs = [f"w{k}\tw{k + 40}\t{k % 7}\n" for k in range(30)]
    (folder / "pairs.tsv").write_text("".join(pairs))
    known = [f"w{k}" for k in range(30)]
    write_vectors(folder / "known.bin", known, rng.standard_normal((30, 4)).astype(np.float32))
    write_vectors(folder / "turned.bin", known, rng.standard_normal((30, 4)).astype(np.float32))
    for name, dim in (("two", 2), ("three", 3)):
        (folder / f"{name}.toml").write_text(_STEPS.format(dim))
    (folder / "near.tsv").write_text("".join(f"w{k}\tw{k + 9}\t{k % 7}\n" for k in range(20)))
