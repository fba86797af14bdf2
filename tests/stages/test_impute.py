"""The stage of imputation: what is written, what is kept bit for bit, what is up to date."""

from __future__ import annotations

import errno
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import running
from running import Done

import wordgeom as wg
from wordgeom.api.vectors import Model
from wordgeom.core.errors import (
    InputError,
    MissingInputError,
    OptionError,
    OutputExistsError,
    WriteError,
)
from wordgeom.core.types import Float32, Float64
from wordgeom.imputation.saved_validation import read_validation
from wordgeom.imputation.trust_table import read_trust
from wordgeom.runtime.run_options import RunOptions
from wordgeom.storage import files
from wordgeom.vectors.keyed import Vectors, read_vectors, write_vectors

N, P, K = 90, 50, 12  # entities, of which known; numbers of a vector


def domain() -> tuple[list[str], Float64]:
    draw = np.random.default_rng(0)
    return [f"firm{k}" for k in draw.permutation(N)], draw.standard_normal((N, 6))


def base(names: list[str], points: Float64) -> Vectors:
    """Vectors of other words and of P entities, linear in the points."""
    draw = np.random.default_rng(1)
    words = [f"word{k}" for k in range(30)] + names[:P]
    order = draw.permutation(len(words))
    linear = points[:P] @ draw.standard_normal((6, K)) + 5
    matrix = np.vstack([draw.standard_normal((30, K)), linear])[order].astype(np.float32)
    return Vectors([words[k] for k in order], matrix)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with matrix.npy, its names and vectors.bin, in which everything runs."""
    monkeypatch.chdir(tmp_path)
    names, points = domain()
    np.save("matrix.npy", points)
    Path("matrix.txt").write_text("\n".join(names) + "\n")
    vectors = base(names, points)
    write_vectors("vectors.bin", vectors.words, vectors.matrix)
    return tmp_path


def impute(out: str | None = "new.bin", **values: Any) -> Done:
    run = RunOptions.take({"threads": 2, **values})
    vectors, table = values.pop("vectors", "vectors.bin"), values.pop("table", None)
    return running.impute(
        values.pop("domain", "matrix.npy"), vectors, values, run, out=out, table=table
    )


def bits(matrix: Float32) -> bytes:
    return matrix.tobytes()


def test_old_vectors_stay_bit_for_bit_and_new_ones_follow(folder):
    old = read_vectors("vectors.bin")
    odd = old.matrix.copy()
    odd[old.index["word3"]] = [np.nan, np.inf, -0.0, *[1e-42] * (K - 3)]
    write_vectors("vectors.bin", old.words, odd)
    names, _ = domain()
    made = impute()
    new = read_vectors("new.bin")
    assert new.words == [*old.words, *names[P:]]
    assert bits(new.matrix[: len(odd)]) == bits(odd)
    assert np.isfinite(new.matrix[len(odd) :]).all()
    assert made.vectors is not None
    assert bits(made.vectors.matrix) == bits(new.matrix)
    assert made.summary.startswith(f"new.bin: {N} entities, {P} known, {N - P} imputed; ")


def test_only_entities_stand_in_the_domain_s_order(folder):
    impute()
    impute("only.bin", only_entities=True)
    whole, only = read_vectors("new.bin"), read_vectors("only.bin")
    assert only.words == domain()[0]
    assert bits(only.matrix) == bits(whole.matrix[[whole.index[w] for w in only.words]])


def test_an_imputed_vector_is_the_weighted_mean_that_the_table_tells(folder):
    impute(delta=5)
    vectors, trust = read_vectors("new.bin"), read_trust(Path("new.tsv"))
    assert trust.names == domain()[0]
    for row in trust:
        if row.source == "imputed":
            mean = sum(w * vectors.matrix[vectors.index[name]] for name, w in row.neighbours)
            assert vectors.matrix[vectors.index[row.entity]] == pytest.approx(mean, abs=1e-4)


def test_power_comes_to_the_exact_solution(folder):
    one, two = impute(None), impute(None, solver="power", eta=1e-12)
    assert one.vectors is not None
    assert two.vectors is not None
    assert one.vectors.matrix == pytest.approx(two.vectors.matrix, abs=1e-5)
    assert one.statistics["residual"] < 1e-8
    assert two.statistics["iterations"] > 1


def test_power_that_did_not_converge_says_so(folder):
    made = impute(None, solver="power", eta=0.0, max_iterations=2)
    assert any("did not converge" in note for note in made.notes)


@pytest.mark.parametrize(("solver", "folds"), [("exact", 2), ("power", 0)])
def test_threads_do_not_change_a_byte(folder, solver, folds):
    for threads in (1, 3):
        impute(f"{threads}.bin", threads=threads, solver=solver, validate=folds)
    for suffix in (".bin", ".tsv"):
        assert Path(f"1{suffix}").read_bytes() == Path(f"3{suffix}").read_bytes()
    ours, theirs = (json.loads(Path(f"{n}.bin.json").read_bytes())["statistics"] for n in (1, 3))
    assert ours == theirs


def test_the_card_holds_what_was_asked_and_found(folder):
    impute(validate=3, delta=6)
    card = json.loads(Path("new.bin.json").read_bytes())
    statistics = card["statistics"]
    assert (statistics["entities"], statistics["known"], statistics["imputed"]) == (N, P, N - P)
    assert statistics["exact_neighbours"]
    assert statistics["error"]["most"] <= 1 + 1e-9
    ways = statistics["validation"]["scores"]
    assert list(ways) == ["imputation", "mean vector", "nearest known", "ridge"]
    # The vectors are linear in the points: ridge regression finds that.
    assert ways["ridge"][0]["score"] > 0.99
    assert ways["imputation"][0]["score"] > ways["mean vector"][0]["score"]
    assert card["request"]["options"]["delta"] == 6
    assert len(card["request"]["inputs"]) == 3


def test_the_same_request_is_up_to_date_and_another_refused(folder):
    impute()
    before = Path("new.bin").stat().st_mtime_ns
    assert impute().summary == "new.bin: up to date"
    assert impute(threads=1, memory=4.0).summary == "new.bin: up to date"
    assert Path("new.bin").stat().st_mtime_ns == before
    for values, how in (
        ({"delta": 5}, "--delta 8, not 5"),
        ({"lower": True}, "without --lower, not with"),
        ({"table": "other.tsv"}, "--table new.tsv, not other.tsv"),
    ):
        with pytest.raises(OutputExistsError, match=how):
            impute(**values)
    assert "up to date" not in impute(delta=5, force=True).summary


def test_a_validation_is_no_part_of_what_is_asked_for_and_is_kept(folder):
    impute()
    before = Path("new.bin").read_bytes(), Path("new.tsv").read_bytes()
    judged = impute(validate=3)  # up to date, but for that
    assert judged.vectors is not None
    assert any("hidden in 3 folds" in line for line in judged.lines)
    assert (Path("new.bin").read_bytes(), Path("new.tsv").read_bytes()) == before
    again = impute(validate=3)
    assert (again.summary, again.lines) == ("new.bin: up to date", judged.lines)
    assert (impute().summary, impute().value) == ("new.bin: up to date", None)
    other = impute(validate=2)
    assert other.vectors is not None
    assert other.lines != judged.lines


def test_what_is_no_validation_is_none(folder):
    made = impute(None, domain="matrix.npy", validate=2).statistics["validation"]
    whole = read_validation(made)
    assert whole is not None
    assert whole.to_dict() == made
    for name in made:
        assert read_validation(made | {name: None}) is None
    others: list[dict[str, object]] = [
        {"scores": {"imputation": [{"score": "x"}]}}, {"scores": {}}, {"folds": math.inf}
    ]  # fmt: skip
    wrong: list[object] = [None, 3, {}, *(made | other for other in others)]
    assert all(read_validation(facts) is None for facts in wrong)


def test_it_is_told_who_is_known_by_the_map_and_who_by_its_own_name(folder):
    names, _ = domain()
    entries = [(names[P], "word3"), (names[P + 1], "nowhere"), (names[0], names[0])]
    Path("map").write_text("".join(f"{entity}\t{word}\n" for entity, word in entries))
    notes = impute(None, name_map="map").notes
    own = ", ".join(names[1:6])
    assert f"known: 2 by mapped names, {P - 1} by their own names: {own}, …" in notes
    assert "mapped names without a vector: 1: nowhere" in notes
    assert not any("by mapped names" in note for note in impute(None).notes)


@pytest.mark.parametrize("changed", ["matrix.txt", "matrix.npy", "vectors.bin"])
def test_changed_input_is_not_up_to_date(folder, changed):
    impute()
    if changed == "matrix.txt":
        Path(changed).write_text(Path(changed).read_text().replace("firm", "Firm", 1))
    elif changed == "matrix.npy":
        np.save(changed, domain()[1] * 2)
    else:
        old = read_vectors(changed)
        write_vectors(changed, old.words, old.matrix * 2)
    with pytest.raises(OutputExistsError, match="made from another domain, or other vectors"):
        impute()


def test_a_table_that_is_missing_or_changed_is_not_up_to_date(folder):
    impute()
    Path("new.tsv").write_text("mine\n")
    with pytest.raises(
        OutputExistsError, match=r"new\.tsv, which was written with it, is missing or has changed"
    ):
        impute()
    Path("new.bin").unlink()
    with pytest.raises(OutputExistsError, match=r"new\.tsv: exists and has different content"):
        impute()
    assert Path("new.tsv").read_text() == "mine\n"


def test_a_table_that_belongs_to_other_vectors_is_not_replaced(folder):
    impute()
    before = Path("new.tsv").read_bytes()
    with pytest.raises(
        OutputExistsError, match=r"the trust table of new\.bin; name another .* --table"
    ):
        impute("new.txt", delta=5)
    assert Path("new.tsv").read_bytes() == before
    assert impute("new.txt", delta=5, table="other.tsv").vectors is not None


@pytest.mark.parametrize("full", ["new.bin", "new.tsv", "new.bin.json"])
def test_a_failure_to_write_leaves_all_as_it_was(folder, monkeypatch, full):
    impute()
    before = {path.name: path.read_bytes() for path in folder.iterdir()}

    def disk(step: str, path: Path) -> None:
        if step == "write" and path.name == f".{full}.part":
            raise OSError(errno.ENOSPC, "no space left on device")

    monkeypatch.setattr(files, "boundary", disk)
    with pytest.raises(WriteError, match="cannot be written: no space left on device"):
        impute(delta=4, force=True)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_all_known_is_told_and_written(folder):
    names, points = domain()
    np.save("known.npy", points[:P])
    Path("known.txt").write_text("\n".join(names[:P]))
    made = impute(domain="known.npy")
    assert f"all {P} entities are known; nothing to impute" in made.notes
    assert Path("new.bin").read_bytes() == Path("vectors.bin").read_bytes()
    assert {row.source for row in read_trust(Path("new.tsv"))} == {"known"}
    checked = impute(None, domain="known.npy", validate=2)
    assert checked.lines


def test_one_known_entity_is_the_right_answer(folder):
    Path("one.tsv").write_text(f"name\tx\n{domain()[0][0]}\t1\n")
    made = impute(domain="one.tsv", only_entities=True)
    assert made.vectors is not None
    assert made.vectors.words == [domain()[0][0]]
    (row,) = read_trust(Path("new.tsv"))
    assert (row.source, row.anchor) == ("known", "")
    assert math.isnan(row.distance)
    assert "the only entity is known; nothing to impute" in made.notes


def test_entities_that_are_all_the_same_get_finite_vectors(folder):
    np.save("matrix.npy", np.ones((N, 3)))
    made = impute(None)
    assert made.vectors is not None
    assert np.isfinite(made.vectors.matrix).all()


def test_too_many_neighbours_are_refused(folder):
    assert impute(None, delta=N - 1).vectors is not None
    with pytest.raises(
        OptionError, match=r"--delta 90 needs more than 90 entities; pass --delta 89 or less"
    ):
        impute(delta=N)
    assert not Path("new.bin").exists()


def test_more_folds_than_known_are_refused(folder):
    with pytest.raises(OptionError, match=f"--validate {P + 1} "):
        impute(validate=P + 1)


def test_an_anchor_that_is_not_finite_is_named_and_one_of_zeros_counted(folder):
    vectors = read_vectors("vectors.bin")
    name = domain()[0][7]
    vectors.matrix[vectors.index[name]] = 0
    write_vectors("vectors.bin", vectors.words, vectors.matrix)
    notes = impute(None).notes
    assert f"vectors.bin: 1 zero vector: {name}" in notes
    assert f"1 known vector is zero: {name}; --drop-zero imputes it" in notes
    vectors.matrix[vectors.index[name], 2] = np.nan
    write_vectors("vectors.bin", vectors.words, vectors.matrix)
    with pytest.raises(InputError, match=f"vectors.bin: the vector of '{name}' contains NaN"):
        impute()


def test_no_name_in_common_shows_near_spellings(folder):
    firms = [name.replace("firm", "Firm") for name in domain()[0]]
    Path("matrix.txt").write_text("\n".join(firms))
    with pytest.raises(InputError) as error:
        impute()
    line = str(error.value)
    assert line.startswith("matrix.npy: no entity is a word of vectors.bin; similar words: ")
    assert line.count(" for 'Firm") == 3
    assert f"--lower matches {P} entities" in line
    assert impute(lower=True).vectors is not None
    Path("matrix.txt").write_text("\n".join(f"ξξ{k}" for k in range(N)))
    with pytest.raises(InputError, match=r"no word is like .*; rename them with --name-map"):
        impute(force=True)


def test_what_cannot_fit_is_refused_before_it_starts(folder):
    with pytest.raises(InputError) as error:
        impute(memory=3e-5)
    assert "raise --memory" in str(error.value)
    assert "need 62.4 KB, more than the memory limit of 30 KB" in str(error.value)
    assert not Path("new.bin").exists()


@pytest.mark.parametrize(
    ("out", "table", "error"),
    [
        ("vectors.bin", None, OptionError),
        ("new.bin", "matrix.txt", OptionError),
        ("new.txt", "new.txt", OptionError),
        ("new.bin", "new.bin.json", OptionError),
        ("new.npy", None, OptionError),
        ("nowhere/new.bin", None, MissingInputError),
        (None, "new.tsv", OptionError),
    ],
)
def test_output_that_cannot_be_is_refused(folder, out, table, error):
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    with pytest.raises(error):
        impute(out, table=table, force=True)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_the_python_function_gives_the_file_s_vectors(folder):
    made = wg.impute("matrix.npy", out="new.bin", delta=5)
    again = wg.impute("matrix.npy", out="new.bin", delta=5)  # up to date
    alone = wg.impute("matrix.npy", Model(read_vectors("vectors.bin"), [], {}), delta=5)
    for each in (again, alone):
        assert each.words == made.words
        assert bits(each.vectors) == bits(made.vectors)
        assert [row.neighbours for row in each.table][P] != ()
    assert again.statistics == made.statistics
    with pytest.raises(OptionError, match="unknown keyword 'detla'"):
        wg.impute("matrix.npy", detla=5)


def test_the_python_function_takes_gensim_s_vectors_and_refuses_other_things(folder):
    made = wg.impute("matrix.npy", wg.load_vectors("vectors.bin"), validate=2)
    assert bits(made.vectors) == bits(wg.impute("matrix.npy").vectors)
    assert any("hidden in 2 folds" in line for line in made.validation)
    assert wg.impute("matrix.npy").validation == []
    kept = wg.impute("matrix.npy", out="new.bin", validate=2)
    assert wg.impute("matrix.npy", out="new.bin", validate=2).validation == kept.validation
    anything: Any = wg.impute
    with pytest.raises(OptionError, match=r"domain must name a file, found ndarray; write it"):
        anything(np.ones((3, 2)))
    with pytest.raises(OptionError, match=r"vectors must be a file name, .* found dict"):
        anything("matrix.npy", {"firm1": [1.0]})


def test_the_package_lists_its_public_names():
    assert set(wg.__all__) <= set(dir(wg))
    assert all(hasattr(wg, name) for name in dir(wg))
