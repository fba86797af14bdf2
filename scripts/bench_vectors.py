"""Speed and quality of methods on a text file, compared with SciPy, GloVe, fastText and gensim.

    scripts/bench vectors CORPUS [--glove DIR] [--fasttext PROGRAM] [--rounds 3]

Prints three tables: the eigensolver and SciPy's, alternating on the same PPMI matrix, with the
residuals of both; analogies per second; and text to vectors as whole processes. wordgeom's times
are medians. The baselines are slow and run once per corpus, machine and version, with their
defaults except for 100 dimensions, a minimum count of 5 and one thread per CPU; their results are
stored under --results. Each row has the time and the scores of the same vectors.
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
from bench_common import machine, paired, row, scores, wordgeom

import wordgeom as wg

if TYPE_CHECKING:
    from wordgeom.corpus.options import CorpusOptions

K = 100
COUNT = ["build-cooc", "--tokeniser", "whitespace", "--min-count", "5", "--force", "--quiet"]
FLAT = ["--window", "10", "--window-weight", "flat"]
METHODS = (
    ("gbu, Algorithm 1 on PPMI", ["--method", "gbu", "--as-published", "--weighting", "ppmi"]),
    ("pmi-eigs", ["--method", "pmi-eigs"]),
    ("pmi-eigs --eig 0", ["--method", "pmi-eigs", "--eig", "0"]),
)


def main() -> None:
    """Run all measurements and print them."""
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
    parser.add_argument("corpus", help="an uncompressed text file, tokenised by white space")
    parser.add_argument("--glove", help="directory of GloVe's programs")
    parser.add_argument("--fasttext", help="the fastText program")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--sets", nargs="*", default=[], help="additional test sets")
    parser.add_argument("--results", default=Path.home() / ".cache" / "wordgeom-bench", type=Path)
    parser.add_argument("--scratch", help="directory for temporary files")
    return parser.parse_args()


def eigensolvers(folder: Path, rounds: int) -> None:
    """Time pmi-eigs on a stored matrix and eigsh on the same matrix in memory."""
    from scipy.sparse.linalg import eigsh

    matrix = wg.pmi(folder / "cooc", out=folder / "pmi")
    full = matrix.to_scipy().astype(np.float32)
    worst: list[float] = []
    found: list[tuple[np.ndarray, np.ndarray]] = []

    def ours() -> None:
        made = wg.train(matrix, "pmi-eigs", dim=K).statistics
        worst.append(max(np.divide(made["residuals"], made["spectrum"])))

    def theirs() -> None:
        found.append(eigsh(full, K, which="LA", tol=1e-3))

    times, other = paired(ours, theirs, rounds)
    theirs_worst = np.max(
        [np.linalg.norm(full @ U - U * values, axis=0) / values for values, U in found]
    )
    note = f"{full.nnz:,} entries; worst ‖Gu − λu‖/λ {max(worst):.1e}, eigsh's {theirs_worst:.1e}"
    head("eigenpairs of the PPMI matrix")
    row(f"pmi-eigs, K = {K}", times, f'eigsh(G, {K}, which="LA", tol=1e-3)', other, note)


def analogies(rounds: int) -> None:
    """Time the Google analogies, by both rules, with 68,000 × 300 vectors."""
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
    with open_context(RunOptions()) as context:
        times, _ = paired(lambda: task.answer(vectors, context), None, rounds)
    per_second = len(task.questions) / statistics.median(times)
    head("analogies")
    note = f"{per_second:,.0f} questions per second"
    row(f"{len(task.questions):,} questions, 68,000 × 300", times, "", [], note)


def table(args: argparse.Namespace, folder: Path) -> None:
    """Time text to vectors: wordgeom's methods, then the baselines."""
    head("text to vectors.bin, K = 100")
    out, cooc = folder / "vectors.bin", folder / "cooc"
    for name, method in METHODS:

        def ours(method: list[str] = method) -> None:
            wordgeom([*COUNT, *FLAT, args.corpus, "-o", str(cooc)])
            wordgeom(["train", *method, str(cooc), "-o", str(out), "--force", "--quiet"])

        times, _ = paired(ours, None, args.rounds)
        row(f"wordgeom {name}", times, "", [], scores(out, args.sets))
    for name, baseline in baselines(args).items():
        took, path = baseline()
        row(name, [took], "", [], scores(path, args.sets))


def baselines(args: argparse.Namespace) -> dict[str, Callable[[], tuple[float, Path]]]:
    """Return the baselines by name: functions that return seconds and a vectors file."""
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
    """Run a baseline unless its result is stored; return seconds and a vectors file."""
    program = Path(args.glove, "glove") if name == "glove" else Path(args.fasttext)
    facts = (digest(args.corpus), digest(program), machine())
    key = hashlib.sha256(repr(facts).encode()).hexdigest()[:16]
    path, record = args.results / f"{name}-{key}.txt", args.results / f"{name}-{key}.json"
    if not record.exists():
        args.results.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=args.scratch) as folder:
            start = time.perf_counter()
            made = run(Path(folder))
            took = time.perf_counter() - start
            path.write_bytes(made.read_bytes())
        record.write_text(json.dumps({"seconds": took}))
    return float(json.loads(record.read_text())["seconds"]), path


def glove(programs: str, corpus: str, folder: Path, threads: str) -> Path:
    """Run GloVe's four programs with the settings of its demo."""
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
    # The header does not count the last line, <unk>, the mean of rare words' vectors.
    made = folder / "made.txt"
    lines = made.read_bytes().splitlines(keepends=True)
    made.write_bytes(b"".join(line for line in lines if not line.startswith(b"<unk> ")))
    return made


def fasttext(program: str, corpus: str, folder: Path, threads: str) -> Path:
    """Run fastText's skipgram with its defaults."""
    command = [program, "skipgram", "-input", corpus, "-output", str(folder / "made")]
    command += ["-dim", str(K), "-minCount", "5", "-thread", threads]
    subprocess.run(command, check=True, capture_output=True)
    return folder / "made.vec"


def peer(args: argparse.Namespace, name: str) -> tuple[float, Path]:
    """Return seconds and the vectors file of a gensim model."""
    from wordgeom.corpus.options import CorpusOptions

    of_lines = CorpusOptions(input_format="text", tokeniser="whitespace", bad_bytes="replace")
    return peer_of(args.corpus, name, K, 1, of_lines)


def peer_of(
    corpus: str, name: str, dim: int, seed: int, options: CorpusOptions
) -> tuple[float, Path]:
    """Train a gensim model as `wordgeom compare --peers` does, using its cache."""
    from wordgeom.peers import PeerOptions
    from wordgeom.peers.cache import trained_peer
    from wordgeom.peers.sentences import Text

    text = Text((str(Path(corpus).resolve()),), options)
    options_of_peer = PeerOptions(dim, 5, len(os.sched_getaffinity(0)), seed)
    with tempfile.TemporaryDirectory() as fallback:
        peer = trained_peer(name, text, options_of_peer, Path(fallback))
        return peer.seconds, peer.path


def digest(path: str | Path) -> str:
    """Return the SHA-256 of a file."""
    with open(path, "rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()


def head(title: str) -> None:
    """Print the head of a table."""
    print(f"\n| {title} | median (min–max) s | baseline | median s | ratio | quality, notes |")
    print("|---|---|---|---|---|---|", flush=True)


if __name__ == "__main__":
    main()
