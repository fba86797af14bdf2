"""A test of change that was killed resumes to the same report, with or without a cluster."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from contexts import context_of
from drifting import documents, polynomials
from interruptions import kill_after
from matrices import store_documents, to_csr
from pickled import PickledScheduler

import wordgeom as wg
from wordgeom.checkpoint.method_state import MethodState
from wordgeom.checkpoint.state import State, drift_state
from wordgeom.cli import main
from wordgeom.core.errors import LostSchedulerError
from wordgeom.drift.options import DriftOptions
from wordgeom.drift.testing import test_directions as directions_verdict
from wordgeom.drift.testing import test_drift as drift_verdict
from wordgeom.drift.verdict import Verdict
from wordgeom.runtime.pool import Pool
from wordgeom.runtime.run_options import ResumeOptions
from wordgeom.storage.files import Lock

REQUEST = {"command": "drift", "options": {}, "inputs": []}
FLIPS = ["--permutations", "99"]
TIMES = ["--test", "permutation", "--permute", "times", "--permutations", "99"]
DOCUMENTS = ["--test", "permutation", "--permute", "documents", "--permutations", "300"]
TESTS = [FLIPS, TIMES, DOCUMENTS, [*DOCUMENTS, "--still"]]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model of 700 words in 240 documents of 12 years."""
    folder = tmp_path_factory.mktemp("resumed")
    rng = np.random.default_rng(3)
    dates = [(1, row + 1, "", str(1990 + row % 12)) for row in range(240)]
    store_documents(folder / "dtm", rng.poisson(0.4, (240, 700)), dates)
    wg.train_model(folder / "dtm", folder / "model", dim=4, sweeps=1, quiet=True)
    return folder / "model"


def report_of(capsys: pytest.CaptureFixture[str], *line: str) -> dict[str, object]:
    capsys.readouterr()
    assert main([*line, "--json", "--quiet"]) == 0
    found: dict[str, object] = json.loads(capsys.readouterr().out)
    return found


@pytest.mark.parametrize("options", TESTS, ids=["flips", "times", "documents", "stable words"])
def test_a_killed_test_resumes_to_the_same_report(model, capsys, options):
    line = ["drift", str(model), "--threads", "1", *options]
    whole = report_of(capsys, *line)
    kill_after(2, [*line, "--checkpoint", "0"])
    state = drift_state(model)
    assert len(list(state.glob("*/meta.json"))) == 2
    assert report_of(capsys, *line, "--resume") == whole
    assert list(model.parent.glob(".*")) == []


def _resumed(folder: Path, way: str, lost_at: int | None) -> tuple[Verdict, int]:
    """The verdict from a state in the folder, and the blocks that a cluster computed."""
    rng = np.random.default_rng(1)
    X = to_csr(np.abs(documents(rng, 240, 700, 3)).round().astype(np.float32))
    times, cluster = (np.arange(240) % 8).astype(np.float64), _Lost(lost_at)
    basis = np.asarray(polynomials(times, 1), np.float64)
    options = DriftOptions(test="permutation", permutations=300)
    resume = ResumeOptions(resume=True, checkpoint=0.0)
    state = State(folder, REQUEST, resume, force=True)
    with Pool(1) as pool, state.resumable():
        context = replace(context_of(pool), checkpoint=MethodState(state), cluster=cluster)
        if way == "flips":
            flips, units = replace(options, test="flips"), np.arange(240)
            verdict = directions_verdict(X, units, basis, times, flips, 3, context)
        else:
            permuted = replace(options, permute=way)
            verdict = drift_verdict(X, basis, times, permuted, 3, None, context)
    return verdict, cluster.number


class _Lost(PickledScheduler):
    """A cluster whose scheduler is lost after some blocks, which are those of words."""

    def __init__(self, lost_at: int | None) -> None:
        super().__init__()
        self._lost_at = lost_at

    def map(self, compute, blocks, spec, ahead=None):
        """Yield compute(block, spec) until the scheduler is lost."""
        for result in super().map(compute, blocks, spec, ahead):
            yield result
            if self.number == self._lost_at:
                raise LostSchedulerError("lost the connection to the scheduler")


@pytest.mark.parametrize(("way", "lost_at"), [("flips", 9), ("times", 24), ("documents", 26)])
def test_what_a_lost_scheduler_computed_is_not_computed_again(tmp_path, way, lost_at):
    whole, number = _resumed(tmp_path / ".whole", way, None)
    with pytest.raises(LostSchedulerError):
        _resumed(tmp_path / ".lost", way, lost_at)
    found, left = _resumed(tmp_path / ".lost", way, None)
    np.testing.assert_array_equal(found.F, whole.F)
    np.testing.assert_array_equal(found.pvalues, whole.pvalues)
    np.testing.assert_array_equal(found.mixture_p, whole.mixture_p)
    assert left < number


def test_the_state_of_another_test_is_not_used(model, capsys):
    line = ["drift", str(model), "--threads", "1"]
    kill_after(1, [*line, *FLIPS, "--checkpoint", "0"])
    capsys.readouterr()
    assert main([*line, *TIMES, "--resume"]) == 1
    assert "start over without --resume" in capsys.readouterr().err
    report_of(capsys, *line, *TIMES)
    assert not drift_state(model).exists()


def test_two_tests_of_a_model_at_once_do_not_share_a_state(model, capsys):
    line = ["drift", str(model), "--threads", "1", *FLIPS]
    state = drift_state(model)
    with Lock(state.with_name(f"{state.name}.lock"), state):
        assert main([*line, "--checkpoint", "0"]) == 0
    assert "note: no checkpoint is saved: " in capsys.readouterr().err
    assert not state.exists()
