"""Speed of counting on a text file, compared with GloVe's programs.

    scripts/bench CORPUS [--glove DIR] [--second CORPUS] [--rounds 5]

Programs are timed as whole processes, alternately (ours, theirs, ours, …), after a warm-up that
fills the kernel cache. The table shows medians and the ratio of medians, and in the same row the
scores of vectors trained on these counts. `scripts/bench vectors` compares methods.
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from bench_common import machine, paired, row, scores, wordgeom

WINDOW = ["--window", "10", "--window-weight", "flat", "--min-count", "5"]
BUILD = ["build-cooc", "--tokeniser", "whitespace", *WINDOW, "--force", "--quiet"]
TRAIN = ["train", "--method", "gbu", "--as-published", "--weighting", "ppmi", "--dim", "100",
         "--force", "--quiet"]  # fmt: skip
COMMANDS = ("", "build-cooc", "build-pmi", "train", "similar", "analogy", "convert", "merge",
            "info", "run")  # fmt: skip


def main() -> None:
    """Run all measurements and print them."""
    args = parse()
    size = Path(args.corpus).stat().st_size
    print(f"{machine()}; corpus {Path(args.corpus).name}, {size:,} bytes; {time.strftime('%F')}\n")
    print("| what | median (min–max) s | baseline | median s | ratio | quality, notes |")
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
        bench.memory()
        bench.help()


def parse() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("corpus", help="an uncompressed text file")
    parser.add_argument("--second", help="a second text file, counted together with the first")
    parser.add_argument("--glove", help="directory of GloVe's vocab_count and cooccur")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument(
        "--copies", type=int, default=10, help="copies of the corpus, for --memory 1"
    )
    parser.add_argument(
        "--sets", nargs="*", default=[], help="additional similarity sets: w1 w2 score"
    )
    parser.add_argument("--scratch", help="directory for temporary files")
    return parser.parse_args()


class Bench:
    """One run of all measurements."""

    def __init__(self, args: argparse.Namespace, folder: Path) -> None:
        self.args, self.folder = args, folder
        self.cooc, self.bin = folder / "cooc", folder / "vectors.bin"

    def counting(self, corpus: str, name: str) -> None:
        """Time build-cooc and GloVe's vocab_count + cooccur."""
        ours = [*BUILD, corpus, "-o", str(self.cooc)]
        glove = glove_command(self.args.glove, corpus, self.folder)
        times, theirs = paired(lambda: wordgeom(ours), glove, self.args.rounds)
        wordgeom([*TRAIN, str(self.cooc), "-o", str(self.bin)])
        note = f"gbu --as-published --weighting ppmi of these counts: {self.scores(self.bin)}"
        row(f"build-cooc, {name}", times, "GloVe vocab_count + cooccur", theirs, note)

    def tokenisers(self) -> None:
        """Time the words tokeniser against whitespace, and on Cyrillic text."""
        other = self.folder / "cooc-words"
        words = [*BUILD, self.args.corpus, "-o", str(other), "--tokeniser", "words"]
        space = [*BUILD, self.args.corpus, "-o", str(self.cooc)]
        times, plain = paired(lambda: wordgeom(words), lambda: wordgeom(space), self.args.rounds)
        wordgeom([*TRAIN, str(other), "-o", str(self.bin)])
        note = f"gbu --as-published --weighting ppmi of these counts: {self.scores(self.bin)}"
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

    def memory(self) -> None:
        """Measure peak private memory and time of build-cooc --memory 1."""
        many = self.folder / "copies.txt"
        join([self.args.corpus] * self.args.copies, many)
        self.memory_limit(self.args.corpus, "corpus")
        self.memory_limit(str(many), f"{self.args.copies} copies")
        many.unlink()

    def memory_limit(self, corpus: str, name: str) -> None:
        """Print one row of `memory`."""
        unlimited = [*BUILD, corpus, "-o", str(self.cooc)]
        limited = [*unlimited, "--memory", "1", "--tmp-dir", str(self.folder)]
        peaks: list[float] = []

        def watched() -> None:
            peaks.append(wordgeom(limited, watch=True))

        times, other = paired(watched, lambda: wordgeom(unlimited), min(self.args.rounds, 3))
        note = f"peak RssAnon + RssShmem {max(peaks):.2f} GB"
        row(f"build-cooc --memory 1, {name}", times, "no limit", other, note)

    def help(self) -> None:
        """Time --help of every command."""
        each = [self.help_seconds([*command.split(), "--help"]) for command in COMMANDS]
        slowest = max(each, key=statistics.median)
        row(f"--help, the slowest of {len(COMMANDS)} commands", slowest, "", [], "")

    def help_seconds(self, args: list[str]) -> list[float]:
        """Time one --help."""
        return paired(lambda: wordgeom(args), None, self.args.rounds)[0]

    def scores(self, path: Path) -> str:
        """Return scores of vectors, with intervals and coverage."""
        return scores(path, self.args.sets)


def glove_command(folder: str | None, corpus: str, scratch: Path) -> Callable[[], None] | None:
    """Return a function that runs GloVe's two programs, None without them."""
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


def join(corpora: list[str], out: Path) -> None:
    """Concatenate text files, each followed by a line end."""
    with open(out, "wb") as target:
        for corpus in corpora:
            with open(corpus, "rb") as source:
                shutil.copyfileobj(source, target)
            target.write(b"\n")


if __name__ == "__main__":
    main()
