"""Speed and quality of the spine on a text file, beside GloVe, gensim's skip-gram and SciPy.

    scripts/bench CORPUS [--glove DIR] [--second CORPUS] [--rounds 5]

Programs are timed as whole processes, in turn (ours, theirs, ours, …), after a warm-up that fills
the kernel cache; the table shows medians and the ratio of medians. Skip-gram is slow and is
trained once for a corpus, machine and version; its result is kept under --results. A speed stands
in one row with the scores of the very vectors that it made.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

WINDOW = ["--window", "10", "--window-weight", "flat", "--min-count", "5"]
BUILD = ["build-cooc", "--tokeniser", "whitespace", *WINDOW, "--force", "--quiet"]
TRAIN = ["train", "--method", "gbu", "--as-published", "--dim", "100", "--force", "--quiet"]
COMMANDS = ("", "build-cooc", "build-pmi", "train", "similar", "analogy", "convert", "merge",
            "info", "run")  # fmt: skip


def main() -> None:
    """Measure and print everything."""
    args = parse()
    size = Path(args.corpus).stat().st_size
    print(f"{machine()}; corpus {Path(args.corpus).name}, {size:,} bytes; {time.strftime('%F')}\n")
    print("| what | median (min–max) s | beside it | median s | ratio | quality, notes |")
    print("|---|---|---|---|---|---|", flush=True)
    with tempfile.TemporaryDirectory(dir=args.scratch) as folder:
        bench = Bench(args, Path(folder))
        bench.counting(args.corpus, "corpus")
        if args.second:
            both = Path(folder, "both.txt")
            join([args.corpus, args.second], both)
            bench.counting(str(both), "both corpora")
            both.unlink()
        bench.tokenisers()
        bench.vectors()
        bench.eigensolver()
        bench.memory()
        bench.help()


def parse() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("corpus", help="a text file, not packed")
    parser.add_argument("--second", help="a second text file, counted together with the first")
    parser.add_argument("--glove", help="folder with GloVe's vocab_count and cooccur")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--copies", type=int, default=10, help="of the corpus, for --memory 1")
    parser.add_argument("--sets", nargs="*", default=[], help="more similarity sets: w1 w2 score")
    parser.add_argument("--results", default=Path.home() / ".cache" / "wordgeom-bench", type=Path)
    parser.add_argument("--scratch", help="folder for scratch files")
    return parser.parse_args()


class Bench:
    """One run of all measurements."""

    def __init__(self, args: argparse.Namespace, folder: Path) -> None:
        self.args, self.folder = args, folder
        self.cooc, self.bin = folder / "cooc", folder / "vectors.bin"

    def counting(self, corpus: str, name: str) -> None:
        """build-cooc beside GloVe's vocab_count + cooccur, whole processes."""
        ours = [*BUILD, corpus, "-o", str(self.cooc)]
        glove = glove_command(self.args.glove, corpus, self.folder)
        times, theirs = paired(lambda: wordgeom(ours), glove, self.args.rounds)
        wordgeom([*TRAIN, str(self.cooc), "-o", str(self.bin)])
        note = f"gbu --as-published of these counts: {self.scores(self.bin)}"
        row(f"build-cooc, {name}", times, "GloVe vocab_count + cooccur", theirs, note)

    def tokenisers(self) -> None:
        """The words tokeniser beside whitespace, and on Cyrillic text."""
        other = self.folder / "cooc-words"
        words = [*BUILD, self.args.corpus, "-o", str(other), "--tokeniser", "words"]
        space = [*BUILD, self.args.corpus, "-o", str(self.cooc)]
        times, plain = paired(lambda: wordgeom(words), lambda: wordgeom(space), self.args.rounds)
        wordgeom([*TRAIN, str(other), "-o", str(self.bin)])
        note = f"gbu --as-published of these counts: {self.scores(self.bin)}"
        row("build-cooc --tokeniser words", times, "--tokeniser whitespace", plain, note)
        text = Path(self.args.corpus).read_bytes()[:50_000_000]
        cyrillic = self.folder / "cyrillic.txt"
        table = {ord(c): chr(0x430 + k) for k, c in enumerate("abcdefghijklmnopqrstuvwxyz")}
        cyrillic.write_text(text.decode("utf-8", "ignore").translate(table), encoding="utf-8")
        size = cyrillic.stat().st_size / 1e6
        command = [*BUILD, str(cyrillic), "-o", str(other), "--tokeniser", "words"]
        times, _ = paired(lambda: wordgeom(command), None, self.args.rounds)
        note = f"{size / statistics.median(times):.0f} MB/s, counting included"
        row(f"build-cooc --tokeniser words, {size:.0f} MB in Cyrillic letters", times, "", [], note)
        cyrillic.unlink()

    def vectors(self) -> None:
        """Corpus to vectors.bin beside gensim's skip-gram."""

        def ours() -> None:
            wordgeom([*BUILD, self.args.corpus, "-o", str(self.cooc)])
            wordgeom([*TRAIN, str(self.cooc), "-o", str(self.bin)])

        times, _ = paired(ours, None, self.args.rounds)
        name = "gensim skip-gram (window 5, 5 epochs, 2 workers; once)"
        took, path = skip_gram(self.args.corpus, self.args.results)
        note = f"gbu {self.scores(self.bin)}; skip-gram {self.scores(path)}"
        row("corpus to vectors.bin, K = 100, gbu --as-published", times, name, [took], note)

    def eigensolver(self) -> None:
        """The fit alone beside scipy.sparse.linalg.eigsh on the same PPMI matrix."""
        import wordgeom as wg
        from wordgeom.vectors import write_vectors

        wordgeom([*TRAIN, str(self.cooc), "-o", str(self.bin)])
        pmi = wg.pmi(self.cooc, out=self.folder / "pmi", force=True)
        fits = [fit_seconds(pmi.path) for _ in range(self.args.rounds)]
        theirs, vectors = eigsh(pmi)
        path = self.folder / "eigs.bin"
        write_vectors(path, pmi.words, vectors)
        note = f"gbu {self.scores(self.bin)}; eigsh {self.scores(path)}"
        row(
            "gbu from the PPMI matrix on disk",
            fits,
            "eigsh(G, 100, LA, 1e-3; once)",
            [theirs],
            note,
        )

    def memory(self) -> None:
        """Peak private memory of build-cooc --memory 1, and its time beside the unbounded one."""
        many = self.folder / "copies.txt"
        join([self.args.corpus] * self.args.copies, many)
        self.bounded(self.args.corpus, "corpus")
        self.bounded(str(many), f"{self.args.copies} copies")
        many.unlink()

    def bounded(self, corpus: str, name: str) -> None:
        """One row of `memory`."""
        free = [*BUILD, corpus, "-o", str(self.cooc)]
        bound = [*free, "--memory", "1", "--tmp-dir", str(self.folder)]
        peaks: list[float] = []

        def watched() -> None:
            peaks.append(wordgeom(bound, watch=True))

        times, other = paired(watched, lambda: wordgeom(free), min(self.args.rounds, 3))
        note = f"peak RssAnon + RssShmem {max(peaks):.2f} GB"
        row(f"build-cooc --memory 1, {name}", times, "without a bound", other, note)

    def help(self) -> None:
        """--help of every command."""
        each = [self.help_seconds([*command.split(), "--help"]) for command in COMMANDS]
        slowest = max(each, key=statistics.median)
        row(f"--help, the slowest of {len(COMMANDS)} commands", slowest, "", [], "")

    def help_seconds(self, args: list[str]) -> list[float]:
        """Time one --help."""
        return paired(lambda: wordgeom(args), None, self.args.rounds)[0]

    def scores(self, path: Path) -> str:
        """Spearman's ρ and coverage on similarity sets."""
        from gensim.test.utils import datapath

        import wordgeom as wg

        vectors = wg.load_vectors(path)
        sets = [datapath("wordsim353.tsv"), datapath("simlex999.txt"), *self.args.sets]
        return "; ".join(similarity(vectors, Path(s)) for s in sets)


def wordgeom(args: list[str], watch: bool = False) -> float:
    """Run the program as a user does; return its peak private memory in GB if watched."""
    process = subprocess.Popen([sys.executable, "-m", "wordgeom", *args], stdout=subprocess.DEVNULL)
    peak = [0.0]
    if watch:
        watcher = threading.Thread(target=follow, args=(process, peak))
        watcher.start()
        watcher.join()
    if process.wait() != 0:
        raise SystemExit(f"wordgeom {' '.join(args)} failed")
    return peak[0]


def follow(process: subprocess.Popen[bytes], peak: list[float]) -> None:
    """Watch RssAnon + RssShmem of a process until it ends."""
    while process.poll() is None:
        try:
            lines = Path(f"/proc/{process.pid}/status").read_text().splitlines()
        except OSError:
            return
        sizes = [int(line.split()[1]) for line in lines if line.startswith(("RssAnon", "RssShmem"))]
        peak[0] = max(peak[0], sum(sizes) * 1024 / 1e9)
        time.sleep(0.005)


def glove_command(folder: str | None, corpus: str, scratch: Path) -> Callable[[], None] | None:
    """Return a function that runs GloVe's two programs, or None where there are none."""
    if folder is None:
        return None
    vocab, counts = scratch / "glove.vocab", scratch / "glove.cooc"
    count = [f"{folder}/vocab_count", "-min-count", "5", "-verbose", "0"]
    cooccur = [f"{folder}/cooccur", "-vocab-file", str(vocab), "-window-size", "10"]
    cooccur += ["-distance-weighting", "0", "-memory", "4.0", "-verbose", "0"]
    cooccur += ["-overflow-file", str(scratch / "glove.overflow")]

    def run() -> None:
        for command, out in ((count, vocab), (cooccur, counts)):
            with open(corpus, "rb") as text, open(out, "wb") as result:
                subprocess.run(command, stdin=text, stdout=result, check=True,
                               stderr=subprocess.DEVNULL)  # fmt: skip
        counts.unlink()

    return run


def paired(
    ours: Callable[[], object], theirs: Callable[[], object] | None, rounds: int
) -> tuple[list[float], list[float]]:
    """Time two functions in turn after one warm-up of ours."""
    ours()
    mine, other = [], []
    for _ in range(rounds):
        mine.append(seconds(ours))
        if theirs is not None:
            other.append(seconds(theirs))
    return mine, other


def seconds(function: Callable[[], object]) -> float:
    """Return how long a call took."""
    start = time.perf_counter()
    function()
    return time.perf_counter() - start


def row(name: str, ours: list[float], other: str, theirs: list[float], note: str) -> None:
    """Print a row of the table: medians, their ratio, quality."""
    mine = statistics.median(ours)
    cells = [name, f"{mine:.2f} ({min(ours):.2f}–{max(ours):.2f})", other]
    if theirs:
        median = statistics.median(theirs)
        spread = f" ({min(theirs):.2f}–{max(theirs):.2f})" if len(theirs) > 1 else ""
        cells += [f"{median:.2f}{spread}", f"{median / mine:.2f}"]
    else:
        cells += ["not measured" if other else "", ""]
    print("| " + " | ".join([*cells, note]) + " |", flush=True)


def similarity(vectors: Any, path: Path) -> str:
    """Return a set's name, Spearman's ρ and coverage: pairs with both words, others left out."""
    from scipy.stats import spearmanr

    pairs, total = [], 0
    for line in path.read_text(encoding="utf-8").splitlines():
        fields = line.replace(",", "\t").split()
        if len(fields) < 3 or line.startswith("#"):
            continue
        try:
            score = float(fields[2])
        except ValueError:
            continue
        total += 1
        first, second = fields[0].lower(), fields[1].lower()
        if first in vectors and second in vectors:
            pairs.append((score, vectors.similarity(first, second)))
    rho = spearmanr(*zip(*pairs, strict=True)).statistic
    return f"{path.stem} {rho:.3f} ({len(pairs)}/{total})"


def skip_gram(corpus: str, results: Path) -> tuple[float, Path]:
    """Train gensim's skip-gram once for a corpus, machine and version; return seconds and file."""
    import gensim
    from gensim.models import Word2Vec
    from gensim.models.word2vec import LineSentence

    with open(corpus, "rb") as handle:
        digest = hashlib.file_digest(handle, "sha256").hexdigest()
    key = hashlib.sha256(f"{digest} {machine()} {gensim.__version__} v1".encode()).hexdigest()[:16]
    path, told = results / f"sgns-{key}.bin", results / f"sgns-{key}.json"
    if not told.exists():
        results.mkdir(parents=True, exist_ok=True)
        start = time.perf_counter()
        model = Word2Vec(LineSentence(corpus), vector_size=100, window=5, sg=1, negative=5,
                         sample=1e-3, epochs=5, workers=2, min_count=5, seed=1)  # fmt: skip
        took = time.perf_counter() - start
        model.wv.save_word2vec_format(str(path), binary=True)
        told.write_text(json.dumps({"seconds": took}))
    return float(json.loads(told.read_text())["seconds"]), path


def fit_seconds(matrix: Path) -> float:
    """Return how long `train` takes from a matrix on the disk to vectors in memory."""
    import wordgeom as wg

    return seconds(lambda: wg.train(matrix, "gbu", dim=100, as_published=True))


def eigsh(pmi: Any) -> tuple[float, np.ndarray]:
    """Return the seconds of SciPy's eigsh on the whole matrix, and PMI-eigs' vectors."""
    from scipy.sparse.linalg import eigsh as solve

    matrix = pmi.to_scipy().astype(np.float32)
    start = time.perf_counter()
    values, vectors = solve(matrix, 100, which="LA", tol=1e-3)
    took = time.perf_counter() - start
    return took, np.ascontiguousarray(vectors * np.sqrt(np.maximum(values, 0)), np.float32)


def join(corpora: list[str], out: Path) -> None:
    """Write text files behind each other, each ending its line."""
    with open(out, "wb") as target:
        for corpus in corpora:
            with open(corpus, "rb") as source:
                shutil.copyfileobj(source, target)
            target.write(b"\n")


def machine() -> str:
    """Return the processor, the cores that may be used, and the versions."""
    lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    cpu = models[0] if models else platform.processor()
    cores = len(os.sched_getaffinity(0))
    return f"{cpu}, {cores} cores, Python {platform.python_version()}, NumPy {np.__version__}"


if __name__ == "__main__":
    main()
