"""Words of a stem and an ending with the sum of the vectors of both: n-grams can predict them."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from wordgeom.vectors.keyed import Vectors, write_vectors

STEMS = ("walk", "talk", "jump", "call", "play", "work", "look", "help", "turn", "open")
ENDINGS = ("", "s", "ed", "ing", "er")


def write_inflections() -> Vectors:
    """Write vectors.bin without `turning`, pairs.tsv and questions.txt; return all vectors."""
    draw = np.random.default_rng(1)
    stems, endings = draw.standard_normal((10, 30)), draw.standard_normal((5, 30))
    every = [stem + ending for stem in STEMS for ending in ENDINGS]
    matrix = (stems[:, None] + endings).reshape(50, 30).astype(np.float32)
    seen = [row for row, word in enumerate(every) if word != "turning"]
    write_vectors("vectors.bin", [every[row] for row in seen], matrix[seen])
    lines = [f"{a}\t{b}\t{matrix[i] @ matrix[j]}\n"
             for i, a in enumerate(every) for j, b in enumerate(every[:i])]  # fmt: skip
    Path("pairs.tsv").write_text("".join(lines))
    asked = [f"{a} {a}ing {b} {b}ing\n" for a in STEMS for b in STEMS if a != b]
    Path("questions.txt").write_text("".join([": ing\n", *asked]))
    return Vectors(every, matrix)
