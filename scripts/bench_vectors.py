"""Speed and quality of methods on a text file, beside SciPy, GloVe, fastText and gensim.

    scripts/bench vectors CORPUS [--glove DIR] [--fasttext PROGRAM] [--rounds 3]

Three tables. The eigensolver and SciPy's, in turn on the same PPMI matrix, with the residuals of
both. Analogies a second. And text to vectors, whole processes: ours are medians; the rivals are
slow and run once for a corpus, machine and version, at their own defaults but for dimension 100,
words that occur 5 times and as many threads as there are CPUs. Their results are kept under
--results. A time stands in one row with the scores of the very vectors that were made in it.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from benching import machine, paired, row, scores, wordgeom

import wordgeom as wg

if TYPE_CHECKING:
    from wordgeom.corpus.options import CorpusOptions

K = 100
COUNT = ["build-cooc", "--tokeniser", "whitespace", "--min-count", "5", "--force", "--quiet"]
FLAT = ["--window", "10", "--window-weight", "flat"]
METHODS = (
    ("gbu, as published", ["--method", "gbu", "--as-published"]),
    ("pmi-eigs", ["--method", "pmi-eigs"]),
    ("pmi-eigs --eig 0", ["--method", "pmi-eigs", "--eig", "0"]),
)


def main() -> None:
    """Measure and print everything."""
    args = parse()
    size = Path(args.corpus).stat().st_size
    print(f"{machine()}; corpus {Path(args.corpus).name}, {size:,} bytes; {time.strftime('%F')}\n")
    with tempfile.TemporaryDirectory(dir=args.scratch) as scratch:
        folder = Path(scratch)
        wordgeom([*COUNT, *FLAT, args.corpus, "-o", str(folder / "cooc")])
        eigensolvers(folder, args.rounds)
        analogies(args.rounds)
        table(args, folder)


def parse() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("corpus", help="a text file, not packed, words between blanks")
    parser.add_argument("--glove", help="folder with GloVe's programs")
    parser.add_argument("--fasttext", help="fastText's program")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--sets", nargs="*", default=[], help="more sets to judge by")
    parser.add_argument("--results", default=Path.home() / ".cache" / "wordgeom-bench", type=Path)
    parser.add_argument("--scratch", help="folder for scratch files")
    return parser.parse_args()


def eigensolvers(folder: Path, rounds: int) -> None:
    """pmi-eigs from a matrix on the disk, in turn with eigsh on the same matrix in memory."""
    from scipy.sparse.linalg import eigsh

    matrix = wg.pmi(folder / "cooc", out=folder / "pmi")
    whole = matrix.to_scipy().astype(np.float32)
    worst: list[float] = []
    found: list[tuple[np.ndarray, np.ndarray]] = []

    def ours() -> None:
        made = wg.train(matrix, "pmi-eigs", dim=K).statistics
        worst.append(max(np.divide(made["residuals"], made["spectrum"])))

    def theirs() -> None:
        found.append(eigsh(whole, K, which="LA", tol=1e-3))

    times, other = paired(ours, theirs, rounds)
    rests = [np.linalg.norm(whole @ U - U * values, axis=0) / values for values, U in found]
    note = f"{whole.nnz:,} entries; worst ‖Gu − λu‖/λ {max(worst):.1e}, eigsh's {np.max(rests):.1e}"
    head("eigenpairs of the PPMI matrix")
    row(f"pmi-eigs, K = {K}", times, f'eigsh(G, {K}, which="LA", tol=1e-3)', other, note)


def analogies(rounds: int) -> None:
    """Questions of the Google set a second, by both rules, against 68,000 × 300 vectors."""
    from gensim.test.utils import datapath

    from wordgeom.evaluation.analogies import read_analogies
    from wordgeom.evaluation.options import EvalOptions
    from wordgeom.linalg.device import open_context
    from wordgeom.runtime.run_options import RunOptions
    from wordgeom.vectors.keyed import Vectors

    task = read_analogies(datapath("questions-words.txt"), EvalOptions())
    asked = dict.fromkeys(word.lower() for question in task.questions for word in question)
    words = [*asked, *(f"word{k}" for k in range(68_000 - len(asked)))]
    matrix = np.random.default_rng(1).standard_normal((len(words), 300), np.float32)
    vectors = Vectors(words, matrix)
    with open_context(RunOptions()) as using:
        times, _ = paired(lambda: task.answer(vectors, using), None, rounds)
    per_second = len(task.questions) / statistics.median(times)
    head("analogies")
    note = f"{per_second:,.0f} questions per second"
    row(f"{len(task.questions):,} questions, 68,000 × 300", times, "", [], note)


def table(args: argparse.Namespace, folder: Path) -> None:
    """Text to vectors: ours, then whoever else is there."""
    head("text to vectors.bin, K = 100")
    out, cooc = folder / "vectors.bin", folder / "cooc"
    for name, method in METHODS:

        def ours(method: list[str] = method) -> None:
            wordgeom([*COUNT, *FLAT, args.corpus, "-o", str(cooc)])
            wordgeom(["train", *method, str(cooc), "-o", str(out), "--force", "--quiet"])

        times, _ = paired(ours, None, args.rounds)
        row(f"wordgeom {name}", times, "", [], scores(out, args.sets))
    for name, rival in rivals(args).items():
        took, path = rival()
        row(name, [took], "", [], scores(path, args.sets))


def rivals(args: argparse.Namespace) -> dict[str, Callable[[], tuple[float, Path]]]:
    """Return the other programs by name: functions that give seconds and a vectors file."""
    threads = str(len(os.sched_getaffinity(0)))
    found = {}
    if args.glove:
        found["GloVe (window 15, 15 rounds, x_max 10: its demo)"] = lambda: once(
            args, "glove", lambda folder: glove(args.glove, args.corpus, folder, threads)
        )
    if args.fasttext:
        found["fastText skipgram (window 5, 5 epochs)"] = lambda: once(
            args, "fasttext", lambda folder: fasttext(args.fasttext, args.corpus, folder, threads)
        )
    found["gensim Word2Vec skip-gram (window 5, 5 epochs)"] = lambda: peer(args, "sgns")
    found["gensim LsiModel (tf-idf, 10,000 tokens per document)"] = lambda: peer(args, "lsi")
    return found


def once(args: argparse.Namespace, name: str, run: Callable[[Path], Path]) -> tuple[float, Path]:
    """Run a rival unless its result is there; return seconds and a vectors file."""
    program = Path(args.glove, "glove") if name == "glove" else Path(args.fasttext)
    facts = (digest(args.corpus), digest(program), machine())
    key = hashlib.sha256(repr(facts).encode()).hexdigest()[:16]
    path, told = args.results / f"{name}-{key}.txt", args.results / f"{name}-{key}.json"
    if not told.exists():
        args.results.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=args.scratch) as folder:
            start = time.perf_counter()
            made = run(Path(folder))
            took = time.perf_counter() - start
            path.write_bytes(made.read_bytes())
        told.write_text(json.dumps({"seconds": took}))
    return float(json.loads(told.read_text())["seconds"]), path


def glove(programs: str, corpus: str, folder: Path, threads: str) -> Path:
    """Run GloVe's four programs as its demo does."""
    vocab, counts, shuffled = (folder / name for name in ("vocab", "counts", "shuffled"))
    steps: list[tuple[str, list[str], str | Path, Path]] = [
        ("vocab_count", ["-min-count", "5"], corpus, vocab),
        ("cooccur", ["-vocab-file", str(vocab), "-window-size", "15"], corpus, counts),
        ("shuffle", [], counts, shuffled),
    ]
    for program, options, source, result in steps:
        command = [f"{programs}/{program}", *options, "-verbose", "0"]
        if program != "vocab_count":
            command += ["-memory", "4.0"]
        with open(source, "rb") as given, open(result, "wb") as out:
            subprocess.run(command, stdin=given, stdout=out, cwd=folder, check=True,
                           stderr=subprocess.DEVNULL)  # fmt: skip
    command = [f"{programs}/glove", "-input-file", str(shuffled), "-vocab-file", str(vocab)]
    command += ["-save-file", str(folder / "made"), "-vector-size", str(K), "-threads", threads]
    command += ["-iter", "15", "-x-max", "10", "-binary", "0", "-write-header", "1"]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)
    # Its header does not count the last line, the mean of rare words' vectors.
    made = folder / "made.txt"
    lines = made.read_bytes().splitlines(keepends=True)
    made.write_bytes(b"".join(line for line in lines if not line.startswith(b"<unk> ")))
    return made


def fasttext(program: str, corpus: str, folder: Path, threads: str) -> Path:
    """Run fastText's skipgram at its defaults."""
    command = [program, "skipgram", "-input", corpus, "-output", str(folder / "made")]
    command += ["-dim", str(K), "-minCount", "5", "-thread", threads]
    subprocess.run(command, check=True, capture_output=True)
    return folder / "made.vec"


def peer(args: argparse.Namespace, name: str) -> tuple[float, Path]:
    """Return seconds and vectors of a model of gensim's."""
    from wordgeom.corpus.options import CorpusOptions

    of_lines = CorpusOptions(input_format="text", tokeniser="whitespace", bad_bytes="replace")
    return peer_of(args.corpus, name, K, 1, of_lines)


def peer_of(
    corpus: str, name: str, dim: int, seed: int, options: CorpusOptions
) -> tuple[float, Path]:
    """Train a model of gensim's as `wordgeom compare --peers` does, and through its cache."""
    from wordgeom.peers import PeerOptions
    from wordgeom.peers.cache import trained_peer
    from wordgeom.peers.sentences import Text

    text = Text((str(Path(corpus).resolve()),), options)
    asked = PeerOptions(dim, 5, 5, len(os.sched_getaffinity(0)), seed)
    with tempfile.TemporaryDirectory() as spare:
        peer = trained_peer(name, text, asked, Path(spare))
        return peer.seconds, peer.path


def digest(path: str | Path) -> str:
    """Return a file's SHA-256."""
    with open(path, "rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()


def head(title: str) -> None:
    """Begin a table."""
    print(f"\n| {title} | median (min–max) s | baseline | median s | ratio | quality, notes |")
    print("|---|---|---|---|---|---|", flush=True)


if __name__ == "__main__":
    main()
