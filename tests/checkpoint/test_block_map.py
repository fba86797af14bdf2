"""Work in blocks is resumed to the same result, without computing finished blocks again."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from contexts import context_of
from hypothesis import given, settings
from hypothesis import strategies as st

from wordgeom.checkpoint.method_state import MethodState
from wordgeom.checkpoint.state import State, state_folder
from wordgeom.cli import main
from wordgeom.core.errors import StoppedError
from wordgeom.evaluation import cross_validation
from wordgeom.imputation import latent
from wordgeom.methods.dlsa import fit
from wordgeom.methods.gbu import anchored_rows
from wordgeom.runtime.block_map import map_blocks, saved
from wordgeom.runtime.pool import Pool
from wordgeom.runtime.run_options import ResumeOptions
from wordgeom.runtime.scheduler import Result
from wordgeom.vectors.keyed import read_vectors, write_vectors

REQUEST = {"command": "train", "options": {}, "inputs": []}


def squares(block: int, spec: int) -> Result:
    return {"value": np.array([block * block + spec]), "text": np.empty((0, 3), np.uint8)}


def run(folder: Path, blocks: list[int], stop: int | None, *, resume: bool, serial: bool) -> list:
    """The values of all blocks; computing the block number `stop` is interrupted."""
    computed = []

    def compute(block: int, spec: int) -> Result:
        computed.append(block)
        if len(computed) - 1 == stop:
            raise KeyboardInterrupt
        return squares(block, spec)

    state = State(folder, REQUEST, ResumeOptions(resume=resume, checkpoint=99.0), force=not resume)
    with Pool(1) as pool, state.resumable():
        context = replace(context_of(pool), checkpoint=MethodState(state))
        done = map_blocks(compute, blocks, 7, context, "b", serial=serial, ahead=0)
        values = [int(result["value"][0]) for result in done]
    return [values, computed]


@settings(max_examples=25)
@given(st.lists(st.integers(0, 99), min_size=1, max_size=8), st.data(), st.booleans())
def test_an_interrupted_map_resumes(tmp_path_factory, blocks, data, serial):
    folder = tmp_path_factory.mktemp("map") / ".state"
    expected = [block * block + 7 for block in blocks]
    stop = data.draw(st.integers(0, len(blocks) - 1))
    with pytest.raises(StoppedError):
        run(folder, blocks, stop, resume=False, serial=serial)
    values, computed = run(folder, blocks, None, resume=True, serial=serial)
    assert values == expected
    assert computed == blocks[stop if serial else max(0, stop) :]


def test_a_single_result_is_computed_once(tmp_path):
    calls = []

    def compute() -> Result:
        calls.append(1)
        return {"array": np.arange(6.0).reshape(2, 3)}

    for resume in (False, True):
        state = State(tmp_path / ".s", REQUEST, ResumeOptions(resume=resume, checkpoint=0.0))
        with Pool(1) as pool:
            context = replace(context_of(pool), checkpoint=MethodState(state)).part("phase")
            found = saved("graph", compute, context)
        np.testing.assert_array_equal(found["array"], np.arange(6.0).reshape(2, 3))
    assert calls == [1]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(5)
    words = [f"w{k}" for k in range(60)]
    lines = [" ".join(rng.choice(words, 30)) for _ in range(80)]
    Path("corpus.txt").write_text("\n".join(lines) + "\n")
    dated = [f'{{"text": "{line}", "year": {1950 + k % 9}}}' for k, line in enumerate(lines)]
    Path("dated.jsonl").write_text("\n".join(dated) + "\n")
    rows = [f"w{k}," + ",".join(f"{x:.4f}" for x in rng.standard_normal(4)) for k in range(60)]
    Path("table.csv").write_text("name,a,b,c,d\n" + "\n".join(rows) + "\n")
    labelled = [f"{'ab'[k % 2]}\t{line}" for k, line in enumerate(lines)]
    Path("texts.tsv").write_text("\n".join(labelled) + "\n")
    matrix = rng.standard_normal((30, 5)).astype(np.float32)
    write_vectors(Path("some.bin"), words[:30], matrix)
    assert main(["build-cooc", "corpus.txt", "--min-count", "1", "--quiet"]) == 0
    dtm = ["build-dtm", "dated.jsonl", "--min-count", "1", "--time-field", "year", "--quiet"]
    assert main(dtm) == 0
    return tmp_path


CASES = {
    "impute": (latent, "fit_weights", ["impute", "--domain", "table.csv", "--vectors", "some.bin"]),
    "extend": (anchored_rows, "improve_rows", ["extend", "some.bin", "cooc", "--min-pairs", "1"]),
    "eval": (cross_validation, "_predict_fold", ["eval", "some.bin", "--classify", "texts.tsv"]),
}


@pytest.mark.parametrize("name", ["impute", "extend", "eval"])
def test_a_stage_resumes_to_the_same_output(folder, monkeypatch, capsys, name):
    module, function, line = CASES[name]
    out = [] if name == "eval" else ["-o", "out.bin"]
    assert main([*line, *out]) == 0
    whole = capsys.readouterr().out if name == "eval" else Path("out.bin").read_bytes()
    inner, calls = getattr(module, function), []

    def stopped(*args, **kwargs):
        calls.append(1)
        if len(calls) == 2 or name == "impute":
            raise KeyboardInterrupt
        return inner(*args, **kwargs)

    again = [] if name == "eval" else ["-o", "again.bin"]
    with monkeypatch.context() as patch:
        patch.setattr(module, function, stopped)
        assert main([*line, *again, "--threads", "1"]) == 75
    state = state_folder("some.bin.eval" if name == "eval" else "again.bin")
    assert state.exists()
    said = capsys.readouterr().err
    assert "interrupted; continue with --resume" in said
    assert ("existing output is unchanged" in said) == (name != "eval")
    assert main([*line, *again, "--resume"]) == 0
    if name == "eval":
        assert capsys.readouterr().out == whole
    else:
        assert Path("again.bin").read_bytes() == whole
    assert not state.exists()


def test_the_checkpoint_of_an_evaluation_is_never_used_for_another(folder, monkeypatch, capsys):
    inner, calls = cross_validation._predict_fold, []

    def stopped(*args: Any) -> Result:
        calls.append(1)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return inner(*args)

    *line, texts = CASES["eval"][2]
    rows = [line.partition("\t")[2] for line in Path(texts).read_text().splitlines()]
    body = "".join(f"{k % 2}\t{row}\n" for k, row in enumerate(rows))
    Path("numbers.tsv").write_text(f"target\ttext\n{body}")
    with monkeypatch.context() as patch:
        patch.setattr(cross_validation, "_predict_fold", stopped)
        assert main([*line, "numbers.tsv", "--threads", "1"]) == 75
    state = state_folder("some.bin.eval")
    assert state.exists()
    capsys.readouterr()
    say = "start over without --resume"
    assert main(["eval", "some.bin", "--regress", "numbers.tsv", "--resume"]) == 1
    assert say in capsys.readouterr().err
    vectors = read_vectors("some.bin")
    write_vectors("other.bin", vectors.words, -2 * vectors.matrix)
    assert main(["convert", "other.bin", "some.bin", "--force"]) == 0
    err = capsys.readouterr().err
    assert f"{state} (" in err
    assert "is the checkpoint of an evaluation of earlier vectors" in err
    assert main([*line, "numbers.tsv", "--resume"]) == 1
    assert say in capsys.readouterr().err
    assert main([*line, "numbers.tsv"]) == 0
    assert not state.exists()


def test_the_static_lsa_of_dynamic_lsa_resumes(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(6)
    words = np.array([f"w{k}" for k in range(2000)])
    lines = [f"{1950 + k % 9}\t{' '.join(rng.choice(words, 40))}\n" for k in range(2000)]
    Path("dated.tsv").write_text("".join(lines))
    fields = ["--time-field", "1", "--text-field", "2", "--min-count", "1", "--quiet"]
    assert main(["build-dtm", "dated.tsv", *fields]) == 0
    line = ["train", "dtm", "--method", "dlsa", "--dim", "20", "--sweeps", "1"]
    assert main([*line, "-o", "whole"]) == 0

    def stopped(*args: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(fit, "initial_state", stopped)
        assert main([*line, "-o", "again", "--checkpoint", "0"]) == 75
    assert "continue with --resume" in capsys.readouterr().err
    assert main([*line, "-o", "again", "--resume"]) == 0
    for file in Path("whole").rglob("*"):
        if file.is_file() and file.name != "meta.json":  # its run card holds seconds
            assert (Path("again") / file.relative_to("whole")).read_bytes() == file.read_bytes()
