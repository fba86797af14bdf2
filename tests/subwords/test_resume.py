"""`train --method gbu --subwords` that is interrupted and resumed writes the same bytes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from inflections import ENDINGS, STEMS
from interruptions import interrupted_after

from wordgeom.cli import main
from wordgeom.optim import conjugate_gradients
from wordgeom.storage.store import Store
from wordgeom.subwords import fit

TRAIN = ["train", "cooc", "--method", "gbu", "--dim", "40", "--anchor-choice", "random",
         "--subwords", "2-4", "--min-words", "2"]  # fmt: skip


@pytest.fixture
def whole(tmp_path, monkeypatch):
    """Counts in cooc, and what an undisturbed run makes of them."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(fit, "_WIDE", 32)  # so that there are two blocks
    draw = np.random.default_rng(2)
    words = [stem + end for stem in STEMS for end in ENDINGS]
    lines = (" ".join(draw.choice(words, 8)) + "\n" for _ in range(500))
    Path("text.txt").write_text("".join(lines))
    assert main(["build-cooc", "text.txt", "-o", "cooc"]) == 0
    assert main([*TRAIN, "-o", "whole.bin"]) == 0


@contextmanager
def interrupted_in_block(number: int) -> Iterator[None]:
    """Interrupt the fit of n-grams in its n-th block of columns."""
    solve, calls = conjugate_gradients.solve, []

    def stopped(*args, **keywords):
        calls.append(1)
        if len(calls) == number:
            raise KeyboardInterrupt
        return solve(*args, **keywords)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(conjugate_gradients, "solve", stopped)
        yield


@pytest.mark.parametrize("when", [interrupted_after(2), interrupted_in_block(1),
                                  interrupted_in_block(2)])  # fmt: skip
def test_a_resumed_run_gives_the_same_bytes(whole, monkeypatch, when):
    with when:
        assert main([*TRAIN, "--checkpoint", "0"]) == 75
    assert not Path("vectors.bin").exists()
    assert not Path("vectors.subwords").exists()
    with monkeypatch.context() as patch:
        patch.setattr("wordgeom.methods.gbu.algorithm1.build_up", None)  # would fail if called
        assert main([*TRAIN, "--resume", "--threads", "2"]) == 0
    assert Path("vectors.bin").read_bytes() == Path("whole.bin").read_bytes()
    here, there = (Store.open(f"{name}.subwords") for name in ("vectors", "whole"))
    assert here.digest == there.digest
    assert here.array("vectors").read().tobytes() == there.array("vectors").read().tobytes()
    assert here.text("ngrams") == there.text("ngrams")
    cards = [json.loads(Path(f"{name}.bin.json").read_text()) for name in ("vectors", "whole")]
    assert cards[0]["statistics"] == cards[1]["statistics"]
    assert not Path(".vectors.bin.state").exists()
