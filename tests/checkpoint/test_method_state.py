"""States kept and restored: refused where they do not belong, gone when the output is there."""

from __future__ import annotations

import json
import time
from pathlib import Path

import numpy as np
import pytest
from interruptions import interrupted_after
from matrices import random_counts, store_matrix

import wordgeom
from wordgeom.checkpoint import state as kept_module
from wordgeom.checkpoint.method_state import MethodState
from wordgeom.checkpoint.state import State, state_folder
from wordgeom.cli import main
from wordgeom.core.errors import FormatError, OutputExistsError, StaleError, WriteError
from wordgeom.core.types import Array
from wordgeom.linalg import eigensolver
from wordgeom.linalg.krylov import Krylov
from wordgeom.runtime.run_options import ResumeOptions

REQUEST = {"command": "train", "options": {"dim": 3, "tol": 0.1}, "inputs": [{"digest": "a"}]}
STATE: dict[str, Array] = {
    "tall": np.arange(12, dtype=np.float32).reshape(4, 3),
    "empty": np.zeros((0, 7)),
    "numbers": np.array([3, 5], np.int64),
}


def kept(folder, request=REQUEST, *, resume=True, minutes=0.0):
    options = ResumeOptions(resume=resume, checkpoint=minutes)
    return MethodState(State(folder, request, options))


@pytest.fixture
def folder(tmp_path):
    """A folder that holds STATE."""
    path = tmp_path / ".vectors.bin.state"
    kept(path).save(lambda: STATE)
    return path


def test_a_state_comes_back_as_it_was(folder):
    found = kept(folder).restore()
    assert list(found) == list(STATE)
    for name, array in STATE.items():
        assert (found[name].dtype, found[name].shape) == (array.dtype, array.shape)
        assert np.array_equal(found[name], array)


def test_a_later_state_takes_the_place_of_the_earlier(folder):
    before = len(list(folder.rglob("*")))
    kept(folder).save(lambda: {"other": np.ones(2)})
    assert list(kept(folder).restore()) == ["other"]
    assert len(list(folder.rglob("*"))) < before


def test_a_state_is_asked_for_only_when_it_is_due(tmp_path, monkeypatch):
    now = [100.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    asked = []

    def state():
        asked.append(now[0])
        return STATE

    checkpoint = kept(tmp_path / "state", minutes=5)
    for second in (0, 299, 301, 302, 600, 602, 1000):
        now[0] = 100.0 + second
        checkpoint.save(state)
    assert asked == [401.0, 702.0, 1100.0]


def test_nothing_is_restored_where_nothing_is(tmp_path):
    assert kept(tmp_path / "state").restore() is None
    State(tmp_path / "state", REQUEST, ResumeOptions()).remove()


def test_a_state_is_replaced_with_force_alone(folder):
    with pytest.raises(OutputExistsError, match="or start over with --force"):
        kept(folder, resume=False)
    assert kept(folder).restore() is not None
    anew = MethodState(State(folder, REQUEST, ResumeOptions(), force=True))
    assert anew.restore() is None


def test_removing_a_state_leaves_nothing_of_it(folder):
    State(folder, REQUEST, ResumeOptions(resume=True)).remove()
    assert not folder.exists()


def test_a_failed_write_without_a_checkpoint_mentions_none(tmp_path):
    state = State(tmp_path / ".x.state", REQUEST, ResumeOptions())
    with pytest.raises(WriteError) as caught, state.resumable():
        raise WriteError("cannot be written", where="x", do="choose another output")
    assert str(caught.value) == "x: cannot be written; choose another output"


def test_the_state_lies_beside_the_output(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert state_folder("vectors.bin") == Path(".vectors.bin.state")
    assert state_folder("a/cooc/") == Path("a/.cooc.state")
    assert state_folder(".") == tmp_path.parent / f".{tmp_path.name}.state"


@pytest.mark.parametrize(
    ("request_", "found"),
    [
        (REQUEST | {"options": {"dim": 4, "tol": 0.1}}, "started with --dim 3, not 4"),
        (REQUEST | {"options": {"dim": 3, "seed": 1}}, "started before --seed existed"),
        (REQUEST | {"inputs": [{"digest": "b"}]}, "other inputs"),
    ],
)
def test_the_state_of_another_request_is_refused(folder, request_, found):
    with pytest.raises(StaleError, match=found) as caught:
        kept(folder, request_).restore()
    assert "without --resume" in str(caught.value)
    assert "\n" not in str(caught.value)
    assert folder.exists()


def flip(path):
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)


def damage(folder, how):
    tall = next(folder.glob("run/tall*"))
    meta = folder / "run/meta.json"
    if how == "shape":
        text = meta.read_text()
        meta.write_text(text.replace('"shapes": {', '"shapes": {"more": [3],'))
        assert meta.read_text() != text
    elif how == "cut":
        tall.write_bytes(tall.read_bytes()[:-8])
    elif how == "gone":
        tall.unlink()
    else:
        flip(meta if how == "meta" else tall)


@pytest.mark.parametrize("how", ["bytes", "meta", "shape", "cut", "gone"])
def test_a_damaged_state_is_refused_in_a_line(folder, how):
    damage(folder, how)
    with pytest.raises(FormatError) as caught:
        kept(folder).restore()
    assert "\n" not in str(caught.value)
    assert str(folder) in str(caught.value)


# ── From the command line ────────────────────────────────────────────────────────────────────

TRAIN = ["train", "cooc", "--method", "pmi-eigs", "--dim", "5", "--tol", "1e-6", "--basis", "130"]
STATE_FOLDER = Path(".vectors.bin.state")


@pytest.fixture
def work(tmp_path, monkeypatch):
    """A folder with counts of 300 words, of which eigenvectors take several restarts."""
    monkeypatch.setattr(eigensolver, "_DENSE", 0)
    monkeypatch.chdir(tmp_path)
    store_matrix(tmp_path / "cooc", random_counts(np.random.default_rng(60), 300))
    return tmp_path


@pytest.fixture
def interrupted(work):
    """What is there when a run was interrupted after its second state."""
    with interrupted_after(2):
        assert main([*TRAIN, "--checkpoint", "0"]) == 75
    assert not Path("vectors.bin").exists()
    assert STATE_FOLDER.is_dir()
    return work


def products(name):
    return json.loads(Path(f"{name}.json").read_text())["statistics"]["products"]


def test_a_run_goes_on_to_the_bytes_of_one_that_was_not_interrupted(interrupted, monkeypatch):
    assert main([*TRAIN, "-o", "whole.bin"]) == 0
    multiplied = []
    grow = Krylov.grow

    def noted(self):
        multiplied.append(32)
        grow(self)

    monkeypatch.setattr(Krylov, "grow", noted)
    assert main([*TRAIN, "--resume", "--threads", "2"]) == 0
    assert Path("vectors.bin").read_bytes() == Path("whole.bin").read_bytes()
    assert products("vectors.bin") == products("whole.bin") > sum(multiplied) + 5
    assert not STATE_FOLDER.exists()
    # A finished run leaves nothing but its output.
    names = {path.name for path in Path().iterdir()}
    assert names <= {"cooc", "vectors.bin", "vectors.bin.json", "whole.bin", "whole.bin.json"}


def test_force_begins_anew(interrupted):
    assert main([*TRAIN, "--force"]) == 0
    assert not STATE_FOLDER.exists()


def test_a_run_with_other_options_does_not_go_on(interrupted, capsys):
    assert main([*TRAIN, "--resume", "--seed", "2"]) == 1
    error = capsys.readouterr().err
    assert "started with --seed 1, not 2" in error
    assert error.count("\n") == 1
    assert STATE_FOLDER.exists()
    assert not Path("vectors.bin").exists()


def test_a_damaged_state_stops_a_run_in_a_line(interrupted, capsys):
    flip(next(STATE_FOLDER.glob("run/basis*")))
    assert main([*TRAIN, "--resume"]) == 1
    note, error = capsys.readouterr().err.splitlines()
    assert note == "wordgeom: note: resuming from the checkpoint in .vectors.bin.state"
    assert error.startswith("wordgeom: error: .vectors.bin.state/")


def test_a_short_run_keeps_no_state(work, monkeypatch):
    monkeypatch.setattr(kept_module, "StoreWriter", None)  # would fail
    assert main(TRAIN) == 0


def test_an_interrupted_run_tells_of_its_state(work, capsys):
    with interrupted_after(1):
        assert main([*TRAIN, "--checkpoint", "0"]) == 75
    assert "continue with --resume" in capsys.readouterr().err


def test_a_forgotten_resume_does_not_lose_the_state(interrupted, capsys):
    assert main(TRAIN) == 1
    assert "resume it with --resume, or start over with --force" in capsys.readouterr().err
    assert main([*TRAIN, "--resume"]) == 0


def test_a_state_of_another_version_is_refused_before_the_matrix_is_read(
    interrupted, monkeypatch, capsys
):
    monkeypatch.setattr(kept_module, "_VERSION", "99.0")
    monkeypatch.setattr("wordgeom.matrices.symmetric.full_matrix", None)  # would fail
    assert main([*TRAIN, "--resume"]) == 1
    assert f"a run by wordgeom {wordgeom.__version__}" in capsys.readouterr().err


def test_resuming_from_nothing_is_said(work, capsys):
    assert main([*TRAIN, "--resume"]) == 0
    assert "nothing to resume; starting from the beginning" in capsys.readouterr().err


def test_a_job_that_starts_does_not_say_that_nothing_is_resumed(work, capsys, monkeypatch):
    monkeypatch.setenv("WORDGEOM_JOB", "1")
    assert main([*TRAIN, "--resume"]) == 0
    assert "nothing to resume" not in capsys.readouterr().err
