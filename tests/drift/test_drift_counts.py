"""`wordgeom drift --counts`: the test of other counts of the same text, such as short passages."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from corpora import assert_one_line

import wordgeom as wg
from wordgeom.core.errors import OptionError, WordgeomError

YEARS = range(1990, 2010)
FIGURES = ("f", "p", "q", "turn")
FEW: dict[str, Any] = {"permutations": 49, "quiet": True}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Counts of documents and of passages of 5 tokens, and models of both."""
    folder = tmp_path_factory.mktemp("counts")
    rng = np.random.default_rng(1)
    words = np.array([f"w{k}" for k in range(20)])
    lines = []
    for k in range(160):
        topic = rng.dirichlet(np.full(4, 0.2))
        chosen = rng.choice(4, 40, p=topic) * 5 + rng.integers(0, 5, 40)
        lines.append(f"{YEARS[k % 20]}\t{' '.join(words[chosen])}")
    (folder / "text.tsv").write_text("\n".join(lines) + "\n")
    for name, options in (("whole", {}), ("short", {"passages": 5}), ("other", {"min_count": 300})):
        settings: dict[str, Any] = {
            "min_count": 1,
            "time_field": "1",
            "text_field": "2",
            "header": "no",
            **options,
        }
        wg.count_documents(folder / "text.tsv", out=folder / name, quiet=True, **settings)
        if name != "other":
            wg.train_model(folder / name, folder / f"{name}-model", dim=4, quiet=True)
    return folder


def figures(report):
    return {
        word.change.word: [getattr(word.change, name) for name in FIGURES] for word in report.words
    }


def test_counts_of_passages_give_the_test_of_a_model_of_passages(made):
    short = wg.measure_drift(made / "short-model", top=0, **FEW)
    mixed = wg.measure_drift(made / "whole-model", counts=str(made / "short"), top=0, **FEW)
    whole = wg.measure_drift(made / "whole-model", top=0, **FEW)
    assert figures(mixed) == {word: pytest.approx(v) for word, v in figures(short).items()}
    assert figures(mixed) != figures(whole)
    moved = {w.change.word: w.change.displacement for w in mixed.words}
    assert moved == {w.change.word: w.change.displacement for w in whole.words}
    assert any("tested with 1,280 passages of" in note for note in mixed.notes)


def test_the_counts_of_the_model_change_nothing(made):
    named = wg.measure_drift(made / "whole-model", counts=str(made / "whole"), top=0, **FEW)
    assert figures(named) == figures(wg.measure_drift(made / "whole-model", top=0, **FEW))


@pytest.mark.parametrize(
    ("counts", "options", "part"),
    [
        ("other", {}, "its words differ from those of the model; count the same text with the"),
        ("absent", {}, "no such directory; create it with wg.count_documents"),
        ("short", {"test": "permutation"}, 'needs test="flips", not permutation'),
    ],
)
def test_counts_that_cannot_be_tested_are_one_line(made, counts, options, part):
    with pytest.raises((OptionError, WordgeomError)) as caught:
        wg.measure_drift(made / "whole-model", counts=str(made / counts), **FEW, **options)
    assert_one_line(caught, part)
