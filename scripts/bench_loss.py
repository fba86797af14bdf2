"""The loss of skip-gram with negative sampling: that of the build-up's vectors, and of gensim's.

    scripts/bench loss CORPUS

Both programs train K = 100 on CORPUS, tokenised by white space: gensim's skip-gram at its defaults,
with one thread, and `train --method gbu --loss logistic` on dynamic windows, with skip-gram's α = 1
and k = 5. For each, the loss of its word and context
vectors is printed, per counted pair and without a penalty. The sum over the observed pairs is
exact; that over all pairs is estimated from pairs drawn in proportion to the expected counts.

gensim thins the text before it takes windows, so that they reach further than those counted here:
the loss is not quite the one that it minimises.
"""

from __future__ import annotations

import argparse
import resource
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from bench_common import machine, wordgeom
from bench_skip_gram import LONGEST

from wordgeom.core.row_blocks import row_blocks
from wordgeom.core.types import Csr
from wordgeom.matrices.opening import open_matrix
from wordgeom.methods.gbu.logistic_sweeps import LogisticLoss, Pairs, thinned
from wordgeom.vectors.keyed import read_vectors

K = 100
COUNT = (
    "build-cooc", "--tokeniser", "whitespace", "--min-count", "5", "--window", "5",
    "--window-weight", "dynamic",
)  # fmt: skip
LOSS = LogisticLoss(alpha=1.0, negative=5.0, smoothing=0.75, shrinkage=0.0, thin=1e-3)
_DRAWN, _BLOCK = 1 << 22, 1 << 15  # pairs drawn in all, and of the pairs at a time
SKIP_GRAM = ("--temper", "1", "--neg", "5")
OURS = {
    "gbu": SKIP_GRAM,
    "gbu, λ = .02": (*SKIP_GRAM, "--shrinkage", ".02"),
    "gbu, λ = .002": (*SKIP_GRAM, "--shrinkage", ".002"),
    "gbu, λ = .002, 10 sweeps": (*SKIP_GRAM, "--shrinkage", ".002", "--sweeps", "10"),
}


@dataclass(frozen=True)
class Model:
    """Word and context vectors v and u (V × K), the seconds of processor time, and a shift.

    The shift is the constant that every v_i·u_j has in addition: 0 in skip-gram.
    """

    v: Any
    u: Any
    seconds: float
    shift: float = 0.0


def main() -> None:
    """Train all, and print their losses."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("corpus", help="an uncompressed text file")
    corpus = parser.parse_args().corpus
    print(f"{machine()}; {time.strftime('%F')}\n")
    with tempfile.TemporaryDirectory() as scratch:
        cooc = Path(scratch) / "cooc"
        wordgeom([*COUNT, corpus, "-o", f"{cooc}"])
        words, pairs = counted(cooc)
        print("| vectors | observed | expected | loss per counted pair | CPU s |")
        print("|---|---|---|---|---|")
        zero = np.zeros((len(words), K), np.float32)
        report("zero", Model(zero, zero, 0.0), pairs)
        for name, options in OURS.items():
            report(name, built_up(cooc, options, Path(scratch)), pairs)
        report("gensim's skip-gram", skip_gram(corpus, words, Path(scratch)), pairs)


def counted(path: Path) -> tuple[list[str], Pairs]:
    """Return the words, and their counts thinned as skip-gram thins them."""
    matrix = open_matrix(path)
    full = matrix.to_scipy()
    indices, data = full.indices.astype(np.int32), full.data.astype(np.float32)
    counts = Csr(full.indptr.astype(np.int64), indices, data, full.shape[1])
    return matrix.vocabulary.words, thinned(counts, LOSS)


def report(name: str, model: Model, pairs: Pairs) -> None:
    """Print the loss of a model."""
    number = float(pairs.counts.data.sum(dtype=np.float64))
    seen = observed(model, pairs) / number
    rest, error = (each / number for each in expected(model, pairs))
    total = f"{seen + rest:.4f} ± {error:.4f}"
    print(f"| {name} | {seen:.4f} | {rest:.4f} | {total} | {model.seconds:.0f} |", flush=True)


def observed(model: Model, pairs: Pairs) -> float:
    """Return Σ_P C_ij s(−v_i·u_j)."""
    counts, total = pairs.counts, 0.0
    rows = np.repeat(np.arange(counts.rows, dtype=np.int32), np.diff(counts.indptr))
    for start, stop in row_blocks(counts.indptr):
        for at in range(int(counts.indptr[start]), int(counts.indptr[stop]), _BLOCK):
            part = slice(at, min(at + _BLOCK, int(counts.indptr[stop])))
            dots = products(model, rows[part], counts.indices[part])
            total += float(counts.data[part] @ np.logaddexp(0.0, -dots))
    return total


def expected(model: Model, pairs: Pairs) -> tuple[float, float]:
    """Return Σ_all N_ij s(v_i·u_j), and its standard error."""
    rng = np.random.default_rng(1)
    sides = [side / side.sum() for side in (pairs.words, pairs.contexts)]
    rows, columns = (rng.choice(len(side), _DRAWN, p=side) for side in sides)
    losses = np.concatenate([
        np.logaddexp(0.0, products(model, rows[at : at + _BLOCK], columns[at : at + _BLOCK]))
        for at in range(0, _DRAWN, _BLOCK)
    ])  # fmt: skip
    total = float(pairs.words.sum()) * float(pairs.contexts.sum())
    return total * float(losses.mean()), total * float(losses.std()) / _DRAWN**0.5


def products(model: Model, rows: Any, columns: Any) -> Any:
    """Return v_i·u_j of pairs (n) and the shift, in float64."""
    dots = np.einsum("nk,nk->n", model.v[rows], model.u[columns], dtype=np.float64)
    return dots + model.shift


def built_up(cooc: Path, options: tuple[str, ...], folder: Path) -> Model:
    """Return the model of gbu, whose products are A Σ Bᵀ.

    `--mix 0` gives A Σ^½, and `--mix 1` adds B Σ^½.
    """
    sums, before = [], cpu_of_children()
    for mix in ("0", "1"):
        out = folder / f"mix-{mix}.bin"
        wordgeom(["train", f"{cooc}", "--method", "gbu", "--loss", "logistic", "--dim", f"{K}",
                  "--mix", mix, "--eig", "0.5", "--thin", f"{LOSS.thin}", *options,
                  "-o", f"{out}", "--force", "--quiet"])  # fmt: skip
        sums.append(read_vectors(out).matrix)
    seconds = (cpu_of_children() - before) / 2
    return Model(sums[0], sums[1] - sums[0], seconds, LOSS.shift)


def cpu_of_children() -> float:
    """Return the processor seconds of the programs that were run and ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def skip_gram(corpus: str, words: list[str], folder: Path) -> Model:
    """Return gensim's model at its defaults, in the order of the words."""
    from gensim.models import Word2Vec
    from gensim.models.word2vec import LineSentence

    lines = folder / "lines"
    with open(corpus, encoding="utf-8") as text, open(lines, "w", encoding="utf-8") as out:
        for line in text:
            tokens = line.split()
            for k in range(0, len(tokens), LONGEST):
                out.write(" ".join(tokens[k : k + LONGEST]) + "\n")
    start = time.process_time()
    model = Word2Vec(LineSentence(str(lines)), sg=1, vector_size=K, min_count=5, workers=1)
    seconds = time.process_time() - start
    order = [model.wv.key_to_index[word] for word in words]
    return Model(model.wv.vectors[order], model.syn1neg[order], seconds)


if __name__ == "__main__":
    main()
