"""Compare a vectors file with human judgement: WordSim-353, as gensim ships it."""

from __future__ import annotations

import sys
from pathlib import Path

from gensim.models import KeyedVectors
from gensim.test.utils import datapath


def main(vectors: Path) -> None:
    """Print Spearman's correlation, and over how many of the pairs it was taken."""
    pairs = Path(datapath("wordsim353.tsv"))
    lines = pairs.read_text(encoding="utf-8").splitlines()
    total = sum(bool(line.strip()) and not line.startswith("#") for line in lines)
    words = KeyedVectors.load_word2vec_format(str(vectors), binary=True)
    _, spearman, unknown_percent = words.evaluate_word_pairs(str(pairs))
    found = round(total * (1 - unknown_percent / 100))
    score = f"{spearman.statistic:.2f}".replace("0.", ".", 1)
    print(f"WordSim-353: Spearman {score} over {found} of {total} pairs")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
