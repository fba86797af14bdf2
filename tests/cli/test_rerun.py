"""`wordgeom rerun`: the same run again, how its output compares, and what a card cannot do."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from faults.commands import COMMANDS, PREPARE, write_inputs

from wordgeom.storage import store
from wordgeom.storage.meta import META, content_digest
from wordgeom.vectors.keyed import Vectors, read_vectors, write_vectors
from wordgeom.vectors.run_card import card_path, file_content

GBU = "train ../inputs/cooc --method gbu --dim 4 -o v.bin"


@pytest.fixture(scope="module")
def inputs(tmp_path_factory):
    """The inputs of the fault suite's commands, and a directory beside them."""
    from contextlib import chdir

    from wordgeom.cli import main

    folder = tmp_path_factory.mktemp("rerun") / "inputs"
    folder.mkdir()
    write_inputs(folder)
    with chdir(folder):
        assert all(main(line.split()) == 0 for line in PREPARE)
    return folder


@pytest.fixture
def here(inputs, tmp_path, monkeypatch):
    """A working directory with a copy of the inputs beside it."""
    shutil.copytree(inputs, tmp_path / "inputs")
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    return tmp_path / "work"


def everything(folder):
    """Return the content of all files below a directory."""
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def edit(path, change):
    """Change the record of the command in a card."""
    card = json.loads(path.read_text())
    change(card["run"]["invocation"] if path.name == META else card["invocation"])
    path.write_text(json.dumps(card))


def outputs():
    """Return the outputs in the working directory that have a run card."""
    return [p for p in sorted(Path().iterdir()) if store.exists(p) or card_path(p).exists()]


@pytest.mark.parametrize(
    "command",
    [one for one in COMMANDS if not one.line.startswith("rerun ")],
    ids=lambda one: one.name,
)
def test_every_command_with_a_card_is_repeated_and_nothing_else_is_touched(here, ask, command):
    assert ask(*command.line.split()).status == 0
    made = outputs()
    if not made:  # a picture has none, nor a conversion of vectors without a card
        assert command.name in ("convert", "plot")
        return
    before = everything(here.parent)
    for path in made:
        answer = ask("rerun", str(path), "--quiet")
        assert (answer.status, answer.err) == (0, "")
        assert f"{path}: identical" in answer.out
    assert everything(here.parent) == before


def test_a_run_is_repeated_from_anywhere_and_from_the_card_itself(here, ask, monkeypatch):
    ask(*GBU.split())
    monkeypatch.chdir(here.parent)
    for name in ("work/v.bin", "work/v.bin.json", str(here / "v.bin")):
        assert ask("rerun", name).status == 0
    assert Path.cwd() == here.parent


def test_a_directory_that_was_moved_is_named(here, ask, monkeypatch):
    ask(*GBU.split())
    moved = here.parent / "moved"
    shutil.move(here, moved)
    monkeypatch.chdir(moved)
    answer = ask("rerun", "v.bin")
    assert answer.status == 1
    assert "--folder" in answer.err
    assert answer.err.count("\n") == 1
    assert ask("rerun", "v.bin", "--folder", ".").status == 0


def scale_output(path, factor):
    """Multiply one number of the vectors by a factor, as if another machine had made them."""
    vectors = read_vectors(path)
    matrix = np.array(vectors.matrix)
    k = np.unravel_index(np.abs(matrix).argmax(), matrix.shape)
    matrix[k] *= factor
    write_vectors(path, vectors.words, matrix)
    card = json.loads(card_path(path).read_text())
    card_path(path).write_text(json.dumps({**card, "content": file_content(path)}))


@pytest.mark.parametrize(
    ("factor", "words", "status"),
    [(1 + 4e-6, "equal to 1e-5", 0), (1 + 4e-5, "different", 3)],
)
def test_the_answer_is_the_largest_difference_of_the_largest_value(
    here, ask, factor, words, status
):
    ask(*GBU.split())
    scale_output(Path("v.bin"), factor)
    answer = ask("rerun", "v.bin")
    assert answer.status == status
    assert answer.out.startswith(f"v.bin: {words} (vectors: largest difference 4.")


def test_a_matrix_of_other_numbers_is_measured_too(here, ask):
    ask("build-pmi", "../inputs/cooc", "-o", "pmi")
    from wordgeom.storage.store import Store, StoreWriter

    made = Store.open("pmi")
    data = made.array("data").read()
    with StoreWriter("pmi", made.kind) as writer:
        for name, part in made.parts().items():
            values = data * np.float32(1 + 1e-6) if name == "data" else made.array(name).read()
            if part["file"].endswith("tsv"):
                writer.text(name, values.tobytes())
            else:
                writer.array(name, values.dtype).write(values)
        writer.commit(made.attributes, made.card)
    answer = ask("rerun", "pmi")
    assert answer.status == 0
    assert "pmi: equal to 1e-5 (data: largest" in answer.out


@pytest.mark.parametrize(
    ("blas", "differing"), [("abacus 1.0", ["blas"]), ("{own}, abacus 1.0", [])]
)
def test_what_differs_besides_is_listed(here, ask, blas, differing):
    ask(*GBU.split())
    path = card_path(Path("v.bin"))
    card = json.loads(path.read_text())
    card["versions"] |= {"numpy": "0.9"}
    blas = blas.format(own=card["machine"]["blas"])
    card["machine"] |= {"processor": "abacus", "blas": blas}
    card["request"]["options"] |= {"ridge": 1e9}
    path.write_text(json.dumps(card))
    answer = ask("rerun", "v.bin", "--json")
    facts = json.loads(answer.out)
    assert facts["answer"] == "identical"
    found = {one["what"] for one in facts["differences"]}
    assert found == {"numpy", "processor", "--ridge", *differing}
    assert facts["differences"][0] == {"what": "numpy", "then": "0.9", "now": np.__version__}


def test_changed_and_missing_inputs_are_found_before_anything_runs(here, ask):
    ask("build-cooc", "../inputs/corpus.txt", "-o", "c", "--min-count", "1")
    text = Path("../inputs/corpus.txt")
    text.write_text(text.read_text().replace("w1", "w2"))
    answer = ask("rerun", "c")
    assert answer.status == 1
    assert "corpus.txt: has changed" in answer.err
    assert answer.err.count("\n") == 1
    answer = ask("rerun", "c", "--changed-inputs")
    assert answer.status == 3
    assert "c: different" in answer.out
    assert "../inputs/corpus.txt: digest" in answer.out
    text.unlink()
    answer = ask("rerun", "c")
    assert answer.status == 1
    assert "corpus.txt: no such input" in answer.err


def test_a_file_that_a_pattern_finds_now_is_no_input_of_the_run(here, ask):
    Path("a.txt").write_text("a b c\n" * 20)
    ask("build-cooc", "*.txt", "-o", "c")
    assert ask("rerun", "c").status == 0
    Path("b.txt").write_text("a b d\n" * 20)
    answer = ask("rerun", "c")
    assert answer.status == 1
    assert "b.txt: is not among the inputs" in answer.err


def test_text_from_a_pipe_cannot_be_read_again(here, ask, monkeypatch):
    import io
    import sys

    pipe = io.TextIOWrapper(io.BytesIO(b"a b c\n" * 20))
    monkeypatch.setattr(sys, "stdin", pipe)
    assert ask("build-cooc", "-", "-o", "c").status == 0
    answer = ask("rerun", "c")
    assert answer.status == 1
    assert "cannot be read again" in answer.err


def test_the_repeated_output_can_be_kept_and_repeated(here, ask):
    ask("train", "../inputs/dtm", "--method", "lsa", "--dim", "3", "-o", "v.bin",
        "--documents", "../inputs/d.txt")  # fmt: skip
    before = everything(here.parent)
    assert ask("rerun", "v.bin", "-o", "kept").status == 0
    kept = {str(p.relative_to(here)) for p in Path("kept").absolute().rglob("*") if p.is_file()}
    assert kept == {"kept/1/v.bin", "kept/1/v.bin.json", "kept/2/d.txt"}
    assert Path("kept/1/v.bin").read_bytes() == Path("v.bin").read_bytes()
    assert Path("kept/2/d.txt").read_bytes() == Path("../inputs/d.txt").read_bytes()
    assert ask("rerun", "kept/1/v.bin").status == 0
    assert ask("rerun", "v.bin", "-o", "kept").status == 1
    assert before.items() <= everything(here.parent).items()


def test_what_a_killed_repetition_left_is_removed(here, ask):
    ask(*GBU.split())
    Path(".kept.rerun").mkdir()
    Path(".kept.rerun", "half").touch()
    assert ask("rerun", "v.bin", "-o", "kept").status == 0
    assert sorted(path.name for path in Path("kept").iterdir()) == ["v.bin", "v.bin.json"]
    assert [path.name for path in Path().iterdir() if path.name.startswith(".")] == []
    answer = ask("rerun", "v.bin", "-o", "absent/kept")
    assert (answer.status, answer.err.count("\n")) == (1, 1)


def test_an_interrupted_repetition_leaves_nothing(here, ask, monkeypatch):
    def stopped(*_: object) -> None:
        raise KeyboardInterrupt

    ask(*GBU.split())
    before = everything(here.parent)
    monkeypatch.setattr("wordgeom.reproduction.report.compare_runs", stopped)
    for more in ((), ("-o", "kept")):
        answer = ask("rerun", "v.bin", *more)
        assert (answer.status, answer.err.count("\n")) == (130, 1)
        assert everything(here.parent) == before


@pytest.mark.parametrize(
    "change",
    [
        {"command": "../../sh"},
        {"command": "run"},
        {"command": "drift", "settings": {"model": "../inputs/dtm"}},
        {"settings": {"method": "os"}},
        {"settings": {"method": "gbu", "matrix": "../inputs/cooc", "out": "../victim.bin"}},
        {"settings": {"method": "gbu", "matrix": "../inputs/cooc", "out": ["v.bin"]}},
        {"settings": {"method": "gbu", "matrix": "/dev/zero", "out": "v.bin"}},
        {"settings": {"method": "gbu", "matrix": "../inputs/cooc", "config": "x.toml"}},
        {"settings": ["gbu"]},
        {"folder": 3},
        {"folder": "\0"},
        {"inputs": {"../inputs/cooc": None}},
        {"inputs": {"\0": "x"}},
    ],
)
def test_an_edited_card_is_one_line_and_writes_nothing(here, ask, change):
    ask(*GBU.split())
    edit(card_path(Path("v.bin")), lambda made_by: made_by.update(change))
    before = everything(here.parent)
    answer = ask("rerun", "v.bin")
    assert answer.status in (1, 2)
    assert answer.err.count("\n") == 1, answer
    assert everything(here.parent) == before


def test_a_card_writes_no_file_outside_the_temporary_directory(here, ask):
    """Each option that names an output is moved, and so is what a card adds to it."""
    ask("build-cooc", "../inputs/corpus.txt", "-o", "c", "--min-count", "1")
    victim = here.parent / "inputs" / "victim.tsv"
    edit(Path("c", META), lambda made_by: made_by["settings"].update(save_vocab=str(victim)))
    edit(Path("c", META), lambda made_by: made_by["settings"].update(force=True, tmp_dir="/"))
    assert content_digest(json.loads(Path("c", META).read_text()))
    before = everything(here.parent)
    assert ask("rerun", "c").status == 0
    assert everything(here.parent) == before
    assert not victim.exists()


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"content": 3}', b'{"content": {}}'])
def test_what_is_no_card_is_one_line(here, ask, content):
    Path("v.bin.json").write_bytes(content)
    for name in ("v.bin.json", "v.bin", "absent", "absent.json", "."):
        answer = ask("rerun", name)
        assert (answer.status, answer.err.count("\n")) == (1, 1), answer


def test_vectors_that_python_made_have_no_command(here, ask):
    import wordgeom as wg

    wg.train("../inputs/cooc", "gbu", dim=3, out="v.bin")
    answer = ask("rerun", "v.bin")
    assert answer.status == 1
    assert "records no command" in answer.err


def test_a_lost_output_is_compared_by_its_digest(here, ask):
    ask(*GBU.split())
    Path("v.bin").unlink()
    assert ask("rerun", "v.bin.json").status == 0
    write_vectors("v.bin", ["a"], np.ones((1, 2), np.float32))
    assert isinstance(read_vectors(Path("v.bin")), Vectors)
    assert ask("rerun", "v.bin").out.startswith("v.bin: identical")
