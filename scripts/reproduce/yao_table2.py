"""Table 2: perplexity of language models initialised with and without imputed vectors.

Passages around firms' names replace the paper's headlines, which are not public. Most of these
names have base vectors, so the vectors of a random half of the names are removed. Each seed splits
passages and names at random; its rows differ only in the initial embedding.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from yao_firms import Firms
from yao_lstm import Evaluated, Settings, fit, perplexity, require_torch
from yao_passages import END
from yao_starts import AFF, BASE, ROWS, Setting, Start, begin, embeddings, read_passages, scaled
from yao_table1 import shape

from wordgeom.core.types import Array, Float32
from wordgeom.evaluation.answers import Score
from wordgeom.runtime.context import Context
from wordgeom.vectors.keyed import Vectors

TOKENS = ("all tokens", "names", "after a removed name")
PUBLISHED = {
    "self": 13.093, "self+Google": 12.742, "self+fastText": 12.477, "self+Glove": 12.646,
    "Google": 12.431, "fastText": 12.215, "Glove": 12.218, "self+aff": 11.883,
    "Google+aff": 11.646, "fastText+aff": 11.638, "Glove+aff": 11.510,
}  # fmt: skip


def run(firms: Firms, vectors: Vectors, text: Path, seeds: int, context: Context) -> bool:
    """Print the table; return whether the shape is reproduced. Raises UnavailableError."""
    require_torch().set_num_threads(context.pool.threads)
    setting = Setting(firms, scaled(vectors), read_passages(firms, vectors, text), context)
    settings = Settings(units=vectors.matrix.shape[1])
    found: list[dict[str, Array]] = []
    for seed in range(1, seeds + 1):
        start = begin(setting, seed)
        print(_description(start), flush=True)
        results = {
            row: _fit(first, start, settings) for row, first in embeddings(setting, start).items()
        }
        found.append({row: measures(result, start) for row, result in results.items()})
    return _print(found, len(setting.passages), settings)


def measures(result: Evaluated, start: Start) -> Array:
    """Return the perplexity of each of TOKENS (3)."""
    names, removed = start.folds.numbers(start.names), start.folds.numbers(start.removed)
    parts = (np.ones(len(result.losses), bool), names[result.targets], removed[result.before])
    return np.array([perplexity(result.losses[part]) for part in parts])


def paired(first: Array, second: Array) -> Score:
    """Return second − first over seeds (s), with Student's 95 % interval of the mean."""
    from scipy.stats import t

    differences = second - first
    mean, count = float(np.mean(differences)), len(differences)
    half = np.nan
    if count > 1:
        half = float(t.ppf(0.975, count - 1) * np.std(differences, ddof=1) / np.sqrt(count))
    return Score("perplexity", "", "difference", mean, mean - half, mean + half, count, count)


def _fit(first: Float32, start: Start, settings: Settings) -> Evaluated:
    folds = start.folds
    end = folds.words.index(END)
    return fit(first, folds.train, folds.valid, folds.test, end, start.seed, settings)


def _description(start: Start) -> str:
    folds = start.folds
    sizes = [sum(map(len, part)) for part in (folds.train, folds.valid, folds.test)]
    removed = folds.numbers(start.removed)
    share = np.mean(removed[np.concatenate(folds.test)])
    return (
        f"seed {start.seed}: {sizes[0]:,} / {sizes[1]:,} / {sizes[2]:,} tokens, "
        f"{len(folds.words):,} words, {len(start.removed)} of {len(start.names)} names removed "
        f"({share:.2%} of the test tokens)  "
    )


def _print(found: Sequence[Mapping[str, Array]], passages: int, settings: Settings) -> bool:
    table = {row: np.array([one[row] for one in found]) for row in ROWS}
    print(f"\n## Table 2: perplexity\n\n{passages:,} passages; {settings}; {len(found)} seeds\n")
    print("| mean ± sd over seeds | " + " | ".join(TOKENS) + " | reduction from self |")
    print("|---|" + "---|" * (len(TOKENS) + 1))
    for row, values in table.items():
        sd = np.std(values, axis=0, ddof=min(1, len(values) - 1))
        cells = [f"{m:.2f} ± {s:.2f}" for m, s in zip(values.mean(0), sd, strict=True)]
        less = 1 - values[:, 0].mean() / table["self"][:, 0].mean()
        print(f"| {row} | " + " | ".join(cells) + f" | {less:.1%} |")
    for row in ROWS:
        if row != AFF:
            scores = [paired(table[row][:, k], table[AFF][:, k]) for k in range(len(TOKENS))]
            cells = [f"{s.value:+.2f} [{s.low:+.2f}, {s.high:+.2f}]" for s in scores]
            print(f"| ({AFF}) − ({row}), paired | " + " | ".join(cells) + " | |")
    print("\n| published | test perplexity | reduction from self |\n|---|---|---|")
    for name, value in PUBLISHED.items():
        print(f"| {name} | {value:.3f} | {1 - value / PUBLISHED['self']:.1%} |")
    reproduced = paired(table[BASE][:, 0], table[AFF][:, 0]).high < 0
    print(f"\nTable 2: {shape(reproduced)}.\n", flush=True)
    return reproduced
