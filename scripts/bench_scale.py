"""Time and private memory of counting and of gbu, for texts of increasing size.

    scripts/bench scale TEXT [TEXT …] [--memory GB] [--rounds N]

For each text, build-cooc and gbu run at their defaults as whole processes; GB is their peak RssAnon
+ RssShmem. The last column is the counting time per token relative to the first text; 1.00 means
linear growth.
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
from pathlib import Path

from bench_common import machine, seconds, wordgeom


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("texts", nargs="+", help="text files, smallest first")
    parser.add_argument("--memory", default="2", help="memory limit of both commands, GB")
    parser.add_argument("--rounds", type=int, default=3)
    args = parser.parse_args()
    print(f"{machine()}; --memory {args.memory}\n")
    print("| tokens | words | pairs | count: median (min–max) s | GB | gbu: s | GB | growth |")
    print("|---|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as name:
        folder, first = Path(name), 0.0
        wordgeom(["build-cooc", args.texts[0], "-o", str(folder / "warm")])
        for text in args.texts:
            first = measure(text, folder, args, first)


def measure(text: str, folder: Path, args: argparse.Namespace, first: float) -> float:
    """Print the row of a text; return the first text's seconds per token."""
    counts, memory = str(folder / "cooc"), ["--memory", args.memory, "--force"]
    peaks: list[float] = []

    def count() -> None:
        peaks.append(wordgeom(["build-cooc", text, "-o", counts, *memory], watch=True))

    took = [seconds(count) for _ in range(args.rounds)]
    built: list[float] = []
    train = ["train", counts, "--method", "gbu", "-o", str(folder / "v.bin"), *memory]
    gbu = seconds(lambda: built.append(wordgeom(train, watch=True)))
    at = json.loads((folder / "cooc/meta.json").read_bytes())["attributes"]
    median = statistics.median(took)
    each = median / at["tokens"]
    first = first or each
    cells = [f"{at['tokens']:,}", f"{at['shape'][0]:,}", f"{at['stored']:,}"]
    cells += [f"{median:.2f} ({min(took):.2f}–{max(took):.2f})", f"{max(peaks):.2f}"]
    cells += [f"{gbu:.2f}", f"{built[0]:.2f}", f"{each / first:.2f}"]
    print("| " + " | ".join(cells) + " |", flush=True)
    return first


if __name__ == "__main__":
    main()
