"""Vectors of words that were removed from a text, from their n-grams.

    scripts/bench removed TEXT [--fasttext PROGRAM]

TEXT has tokens separated by white space. Some words are deleted from it, and vectors with n-grams
are trained on both texts. Those of the shortened text are rotated to those of the whole one by
orthogonal Procrustes on other frequent words. The vectors of the deleted words from their n-grams
are then compared with those that training gives them. Intervals resample words.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from bench_common import machine, wordgeom

from wordgeom.core.types import Float64
from wordgeom.formats.vector_files import read_open_vectors
from wordgeom.linalg.procrustes import align
from wordgeom.subwords.open_vocabulary import OpenVocabulary
from wordgeom.vectors.keyed import Vectors

REMOVED, LOW, HIGH = 2_000, 2_000, 20_000  # words, of these ranks
ALIGNED = 30_000  # other words, the most frequent
COUNT = ["build-cooc", "--tokeniser", "whitespace", "--quiet", "--force"]
GBU = ["train", "--method", "gbu", "--subwords", "2-6", "--quiet", "--force"]
HEADER = "| vectors | mean cosine | other | first | ten | without n-grams | CPU s |"


def main() -> None:
    """Train on the whole and on the shortened text, and print the comparison."""
    args = parse()
    print(f"{machine()}; {time.strftime('%F')}\n")
    with tempfile.TemporaryDirectory(dir=args.scratch) as scratch:
        folder = Path(scratch)
        removed = drawn(args.text)
        short = shortened(args.text, set(removed), folder / "short.txt")
        print(f"{args.text.name}: {len(removed):,} words removed, K = {args.dim}\n")
        print(f"{HEADER}\n|{'---|' * HEADER.count(' | ')}---|")
        for name, train in trainers(args, folder).items():
            whole, parts = train(args.text, "whole"), train(short, "short")
            cells, seconds = compared(removed, whole[0], parts[0]), whole[1] + parts[1]
            print(f"| {name} | {cells} | {seconds:.0f} |", flush=True)


def parse() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("text", type=Path, help="an uncompressed text, tokenised by white space")
    parser.add_argument("--dim", type=int, default=100)
    parser.add_argument("--fasttext", help="fastText's program, to compare with")
    parser.add_argument("--threads", type=int, default=1, help="of each program")
    parser.add_argument("--scratch", help="directory for temporary files")
    return parser.parse_args()


def drawn(text: Path) -> list[str]:
    """Return words of medium rank, drawn at random."""
    counts: Counter[str] = Counter()
    with open(text, encoding="utf-8", errors="replace") as lines:
        for line in lines:
            counts.update(line.split())
    ranked = [word for word, n in counts.most_common(HIGH) if n >= 5]
    if len(ranked) < LOW + REMOVED:
        raise SystemExit(f"{text}: {len(ranked):,} words occur 5 times, {LOW + REMOVED:,} needed")
    chosen = np.random.default_rng(1).choice(len(ranked) - LOW, REMOVED, replace=False)
    return [ranked[LOW + k] for k in np.sort(chosen).tolist()]


def shortened(text: Path, without: set[str], out: Path) -> Path:
    """Write the text without some words."""
    with open(text, encoding="utf-8", errors="replace") as lines, open(
        out, "w", encoding="utf-8"
    ) as kept:  # fmt: skip
        for line in lines:
            kept.write(" ".join(word for word in line.split() if word not in without) + "\n")
    return out


Trainer = Callable[[Path, str], tuple[Path, float]]  # returns vectors and CPU seconds


def trainers(args: argparse.Namespace, folder: Path) -> dict[str, Trainer]:
    """Return what trains each kind of vectors on a text."""
    dim, threads = str(args.dim), str(args.threads)

    def gbu(*options: str) -> Trainer:
        def train(text: Path, name: str) -> tuple[Path, float]:
            cooc, out, before = str(folder / "cooc"), folder / f"{name}.bin", children_seconds()
            wordgeom([*COUNT, str(text), "-o", cooc, "--threads", threads])
            wordgeom([*GBU, *options, cooc, "--dim", dim, "-o", str(out), "--threads", threads])
            return out, children_seconds() - before

        return train

    def fasttext(text: Path, name: str) -> tuple[Path, float]:
        out, before = folder / f"fasttext-{name}", children_seconds()
        given = ["-input", str(text), "-output", str(out), "-dim", dim, "-thread", threads]
        subprocess.run([args.fasttext, "skipgram", *given], check=True, capture_output=True)
        return out.with_suffix(".bin"), children_seconds() - before

    found = {"gbu": gbu(), "gbu --loss squared": gbu("--loss", "squared")}
    return found | ({"fastText skip-gram, its defaults": fasttext} if args.fasttext else {})


def children_seconds() -> float:
    """Return the CPU seconds of all processes that ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def compared(removed: Sequence[str], whole: Path, parts: Path) -> str:
    """Return the cells of HEADER for vectors of the whole and of the shortened text."""
    trained, open_parts = read_open_vectors(whole).vectors, read_open_vectors(parts)
    found, vectors = open_parts.inferred(removed)
    inferred = units(vectors.astype(np.float64) @ rotation(open_parts, trained, removed))
    own = units(trained.matrix[[trained.index[word] for word in found]].astype(np.float64))
    cosines = np.einsum("ik,ik->i", inferred, own)
    other = np.einsum("ik,ik->i", inferred, np.roll(own, 1, axis=0)).mean()
    above = (inferred @ units(trained.matrix.astype(np.float64)).T > cosines[:, None] + 1e-9).sum(1)
    cells = [estimate(cosines), f"{other:.3f}", estimate(above < 1), estimate(above < 10)]
    return " | ".join([*cells, f"{len(removed) - len(found)}"])


def rotation(parts: OpenVocabulary, whole: Vectors, removed: Sequence[str]) -> Float64:
    """Return the rotation (K × K) of the shortened text's vectors to those of the whole text."""
    without, known = set(removed), parts.vectors.index
    common = [word for word in whole.words if word not in without and word in known][:ALIGNED]
    source = parts.vectors.matrix[[known[word] for word in common]]
    return align(source, whole.matrix[[whole.index[word] for word in common]]).rotation


def units(matrix: Float64) -> Float64:
    """Return the rows divided by their norms."""
    return matrix / np.maximum(np.linalg.norm(matrix, axis=1, keepdims=True), 1e-12)


def estimate(values: np.ndarray) -> str:
    """Return a mean with its 95 % bootstrap interval."""
    draws = np.random.default_rng(1).integers(len(values), size=(1_000, len(values)))
    low, high = np.quantile(values[draws].mean(axis=1), (0.025, 0.975))
    return f"{values.mean():.3f} [{low:.3f}, {high:.3f}]"


if __name__ == "__main__":
    main()
