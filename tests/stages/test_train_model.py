"""Models of dynamic LSA from the command line: what is written, refused, told and gone on with."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest
from corpora import assert_one_line, build_documents, put
from interruptions import interrupted_after
from matrices import random_counts, store_matrix, to_dense
from running import Done, train

from wordgeom.cli import main
from wordgeom.core.errors import (
    FormatError,
    InputError,
    MissingInputError,
    OptionError,
    OutputExistsError,
    RankError,
    StaleError,
    WordgeomError,
)
from wordgeom.linalg.eigensolver import EigenSettings
from wordgeom.linalg.svd import svd_bytes
from wordgeom.methods.dlsa import method
from wordgeom.methods.dlsa.model import DynamicModel
from wordgeom.runtime.pool import Pool
from wordgeom.runtime.run_options import RunOptions
from wordgeom.stages.train import Train
from wordgeom.storage.store import StoreWriter
from wordgeom.vectors import run_card
from wordgeom.vectors.keyed import read_vectors
from wordgeom.weighting.documents import WeightedDocuments
from wordgeom.weighting.options import DocumentOptions

N, DIM, DEGREE = 160, 4, 2
Record = dict[str, Any]


def records(n: int = N) -> list[Record]:
    """Documents of four topics; one word goes from the first topic to the second."""
    rng = np.random.default_rng(9)
    made = []
    for k in range(n):
        year = 1950 + k * 50 // n
        topic = rng.integers(4)
        words = [f"t{topic}x{j}" for j in rng.integers(0, 12, 30)]
        moved = 1 if rng.random() * 50 < year - 1950 else 0
        words += ["mover"] * (3 * (topic == moved)) + [f"w{j}" for j in rng.integers(0, 20, 20)]
        made.append({"text": " ".join(words), "year": str(year)})
    return made


def count(folder: Path, rows: Sequence[Record], name: str = "dtm", **options: Any) -> Path:
    path = folder / f"{name}.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    build_documents(path, folder / name, text_field="text", time_field="year", **options)
    return folder / name


@pytest.fixture(scope="module")
def dtm(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return count(tmp_path_factory.mktemp("modelling"), records())


def fit(dtm: Path, out: Path, *, threads: int = 2, space: str | None = None,
        **values: Any) -> Done:  # fmt: skip
    asked = {"dim": DIM, "degree": DEGREE, "sweeps": 4, **values}
    return train(dtm, "dlsa", asked, RunOptions.take({"threads": threads, **values}),
                       out=out, space=space)  # fmt: skip


@pytest.fixture(scope="module")
def made(dtm: Path) -> Done:
    return fit(dtm, dtm.parent / "model")


def test_a_model_holds_what_was_fitted(made: Done, dtm: Path):
    model = DynamicModel.open(made.value.store.path)
    p = len(model.words)
    assert (model.documents.shape, model.coefficients.shape) == ((N, DIM), (DEGREE + 1, DIM, p))
    assert (model.dim, model.degree, model.weight, model.trend) == (DIM, DEGREE, "rows", "hold")
    assert model.moving.all()
    np.testing.assert_array_equal(model.rows, np.arange(N))
    np.testing.assert_array_equal(model.times, 1950 + np.arange(N) * 50 // N)
    with Pool(1) as pool:
        whole = WeightedDocuments(model.open_documents(), DocumentOptions(weight="rows"), pool)
        X = to_dense(whole.full()).astype(np.float64)
    F = np.concatenate((np.ones((N, 1)), model.polynomials.values), axis=1)
    left = X - F @ (F.T @ X) / N
    np.testing.assert_allclose(model.spread, left.std(axis=0), rtol=1e-5)
    fitted = sum(F[:, [k]] * (model.documents @ b) for k, b in enumerate(model.coefficients))
    statistics = model.store.card["statistics"]
    share = 1.0 - np.sum((left - fitted) ** 2) / np.sum(left**2)
    assert statistics["captured"] == pytest.approx(share, abs=1e-5)
    assert statistics["captured"] > statistics["captured_static"] + 0.01
    assert f"captures {share:.4f} of the squared norm" in made.summary
    assert any(note.startswith("not converged: the last of 4 sweeps") for note in made.notes)


def test_the_word_that_changes_topic_is_displaced_most(made: Done):
    model = made.value
    far = model.displacement(1950.0, 1999.0)
    first = np.argsort(-far)[:3]
    assert "mover" in [model.words[k] for k in first]
    np.testing.assert_array_equal(model.displacement(1970.0, 1970.0), 0.0)
    np.testing.assert_allclose(model.displacement(1999.0, 1950.0), far)


def test_movement_is_that_of_all_documents_at_all_times(made: Done):
    model = made.value
    mean = np.mean([model._aligned_at(time) for time in model.times], axis=0)
    np.testing.assert_allclose(mean, model._aligned[0], atol=1e-6)
    ways = [(model._aligned_at(time) - mean) * model._scales[:, None] for time in model.times]
    lengths = np.sqrt(np.mean(np.square(ways).sum(axis=1), axis=0) / N)
    np.testing.assert_allclose(model.movement(), lengths / model.spread, rtol=1e-4)


def test_vectors_tell_where_the_word_was_and_where_it_went(made: Done):
    model, centres = made.value, []
    for time in (1950.0, 1999.0):
        vectors = model.vectors_at(time)
        unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
        mover = unit[model.words.index("mover")]
        topics = [[k for k, w in enumerate(model.words) if w.startswith(f"t{t}x")]
                  for t in range(4)]  # fmt: skip
        centres.append([float(np.mean(unit[rows] @ mover)) for rows in topics])
    assert np.argmax(centres[0]) == 0
    assert np.argmax(centres[1]) == 1


def test_products_of_vectors_are_those_of_what_is_fitted_at_both_times(made: Done):
    model = made.value
    one, other = model.vectors_at(1955.0), model.vectors_at(1990.0)
    ways = [model.documents.astype(np.float64) @ (v / model._scales).T for v in (one, other)]
    products = one.astype(np.float64) @ other.T
    np.testing.assert_allclose(products, ways[0].T @ ways[1], atol=1e-5 * np.abs(products).max())
    np.testing.assert_allclose(model.vectors_at(1955.0, 0.0) * model._scales, one, rtol=1e-4,
                               atol=1e-7)  # fmt: skip


def test_the_bytes_are_those_of_any_number_of_threads(made: Done, dtm: Path, tmp_path: Path):
    digests = {fit(dtm, tmp_path / str(t), threads=t).value.store.digest for t in (1, 3)}
    assert digests == {made.value.store.digest}


def test_what_is_there_is_not_made_again(made: Done, dtm: Path, monkeypatch):
    monkeypatch.setattr(Train, "_fit", None)  # would fail
    out = made.value.store.path
    assert fit(dtm, out).summary == f"{out}: up to date"
    with pytest.raises(OutputExistsError) as caught:
        fit(dtm, out, degree=1)
    assert_one_line(caught, "made with --degree 2, not 1", "--force")


def test_vectors_at_times_are_written_beside_the_model(made: Done, dtm: Path, monkeypatch):
    monkeypatch.setattr(Train, "_fit", None)
    out = made.value.store.path
    again = fit(dtm, out, at="1950,1975-07-01, 2040")
    names = [f"{out}-{time}.bin" for time in ("1950", "1975-07-01", "2040")]
    assert [line.partition(":")[0] for line in again.lines] == names
    assert any("2040 is outside the documents' times, 1950 to 1999" in n for n in again.notes)
    vectors = read_vectors(names[1])
    assert vectors.words == again.value.words
    np.testing.assert_array_equal(vectors.matrix, again.value.vectors_at(1975 + 181 / 365))
    card = run_card.read_card(Path(names[1]))
    assert card is not None
    assert card["request"]["inputs"] == [{"digest": again.value.store.digest}]
    assert fit(dtm, out, at="1950").lines == [f"{names[0]}: up to date"]
    with pytest.raises(OutputExistsError) as caught:
        fit(dtm, out, at="1950", eig=0.0)
    assert_one_line(caught, names[0], "--eig")


def test_vectors_of_another_model_are_in_the_way_before_a_fit(dtm: Path, tmp_path: Path):
    (tmp_path / "m-1950.bin").write_bytes(b"1 1\nx \0\0\0\0")
    with pytest.raises(OutputExistsError) as caught:
        fit(dtm, tmp_path / "m", at="1950")
    assert_one_line(caught, "m-1950.bin", "vectors of another model")
    assert not (tmp_path / "m").exists()


@pytest.mark.parametrize(
    ("values", "error", "told"),
    [
        ({"at": "1950,then"}, OptionError, ["--at must be times", "'then'", "1950-07-31"]),
        ({"at": "1950,"}, OptionError, ["--at must be times", "''"]),
        ({"at": "1e300"}, InputError, ["1e+300 is too far from", "1950 to 1999"]),
        ({"moving": "gone.txt"}, MissingInputError, ["gone.txt"]),
        ({"dim": N + 1}, RankError, ["--dim 161", "words, 69;"]),
        ({"memory": 1e-4}, InputError, ["matrices of 160 documents and 69 words need"]),
    ],
)
def test_what_cannot_be_is_refused(
    values: Record, error: type[WordgeomError], told: list[str], dtm: Path, tmp_path: Path
):
    with pytest.raises(error) as caught:
        fit(dtm, tmp_path / "m", **values)
    assert_one_line(caught, *told)


def test_the_memory_of_static_lsa_is_asked_for(monkeypatch):
    asked = []
    monkeypatch.setattr(method, "check_memory", lambda what, needed, *_: asked.append(needed))
    source = cast(WeightedDocuments, SimpleNamespace(shape=(1000, 1000), entries=5000))
    method._check(source, 1000, method.Options(dim=4), 1)
    assert asked[0] >= svd_bytes(1000, 1000, 5000, EigenSettings(4, 1e-2)) > 7 * 8 * 1000**2
    method._check(source, 1000, method.Options(dim=900, degree=3), 1)
    assert asked[1] > 4 * 8 * (4 * 900) ** 2


def test_counts_are_not_replaced_by_their_model(dtm: Path):
    with pytest.raises(OptionError) as caught:
        fit(dtm, dtm, force=True)
    assert_one_line(caught, "is an input")


def test_other_counts_are_refused(tmp_path: Path):
    store_matrix(tmp_path / "cooc", random_counts(np.random.default_rng(0), 9))
    with pytest.raises(InputError) as caught:
        fit(tmp_path / "cooc", tmp_path / "m")
    assert_one_line(caught, "is a co-occurrence matrix; the method needs a document-term matrix")


def texts(*times: str, text: str = "a b c d") -> list[Record]:
    rng = np.random.default_rng(3)
    return [{"text": " ".join(rng.choice(text.split(), 6)), "year": time} for time in times]


@pytest.mark.parametrize(
    ("rows", "values", "error", "told"),
    [
        (texts(*["1950"] * 9), {}, InputError, ["two distinct times", "found only 1950"]),
        (texts(*["1950", "1960"] * 5), {}, InputError, ["3 distinct times", "--degree 1"]),
        (texts("1950", "1960", "3"), {"degree": 1}, RankError, ["documents with a time, 3;"]),
        (texts(*["1950", "1960", "soon"]), {"degree": 1}, RankError, ["documents with a time, 2;"]),
        ([{"text": "a b c d", "year": str(1950 + k)} for k in range(9)], {}, InputError,
         ["all documents are equal"]),
    ],
)  # fmt: skip
def test_documents_that_tell_of_no_change_are_refused(
    rows: list[Record], values: Record, error: type[WordgeomError], told: list[str], tmp_path: Path
):
    with pytest.raises(error) as caught:
        fit(count(tmp_path, rows), tmp_path / "m", **values)
    assert_one_line(caught, *told)
    assert not (tmp_path / "m").exists()


def test_counts_without_times_are_refused(tmp_path: Path):
    build_documents(put(tmp_path, "a b\nb c\n")[0], tmp_path / "dtm")
    with pytest.raises(InputError) as caught:
        fit(tmp_path / "dtm", tmp_path / "m")
    assert_one_line(caught, "no document has a time", "build-dtm --time-field")


def test_documents_without_a_time_or_a_word_are_excluded_and_counted(tmp_path: Path):
    rows = records(60)
    rows[3]["year"], rows[7]["year"], rows[9]["text"] = " ", "long ago", "..."
    made = fit(count(tmp_path, rows), tmp_path / "m")
    left = [k for k in range(60) if k not in (3, 7, 9)]
    assert made.value.rows.tolist() == left
    unread = "2 documents have no readable time (1 missing, 1 of unknown format)"
    for told in (unread, "1 document has no word"):
        assert sum(told in note and "excluded" in note for note in made.notes) == 1
    assert made.value.store.card["statistics"]["left_out"] == 3
    kept = [row for k, row in enumerate(rows) if k in left]
    other = fit(count(tmp_path, kept, "kept"), tmp_path / "k")
    places = [other.value.words.index(word) for word in made.value.words]
    wanted = other.value.coefficients[:, :, places]
    np.testing.assert_allclose(made.value.coefficients, wanted, atol=1e-4)


def test_words_that_do_not_vary_and_too_many_dimensions_are_told(tmp_path: Path):
    rows = [{"text": "same " + "ab"[k % 2], "year": str(1950 + k % 4)} for k in range(40)]
    made = fit(count(tmp_path, rows), tmp_path / "m", dim=3, degree=1)
    same = made.value.words.index("same")
    assert made.value.spread[same] == 0.0
    assert not made.value.coefficients[:, :, same].any()
    assert not made.value.coefficients[:, 1:].any()
    assert any("1 word does not vary" in note for note in made.notes)
    lost = "1 of 3 dimensions (the other singular values are below the resolution of float64, 1e-8"
    assert any(lost in note and "--dim 1 gives the same fit" in note for note in made.notes)
    assert np.isfinite(made.value.displacement(1950.0, 1953.0)).all()


def test_words_that_may_not_move_stay(dtm: Path, tmp_path: Path):
    path = tmp_path / "moving.txt"
    path.write_text("mover\nw1\nunheard\n")
    made = fit(dtm, tmp_path / "m", moving=str(path))
    model = made.value
    moving = [model.words[k] for k in np.flatnonzero(model.moving)]
    assert sorted(moving) == ["mover", "w1"]
    assert not model.coefficients[1:, :, ~model.moving].any()
    assert model.coefficients[1:, :, model.moving].any()
    assert not model.displacement(1950.0, 1999.0)[~model.moving].any()
    assert f"{path}: 1 word is not in the counts and ignored: unheard" in made.notes
    assert fit(dtm, tmp_path / "m", moving=str(path)).summary.endswith("up to date")
    path.write_text("mover\n")
    with pytest.raises(OutputExistsError) as caught:
        fit(dtm, tmp_path / "m", moving=str(path))
    assert_one_line(caught, "file of words")
    path.write_text("unheard\n")
    with pytest.raises(InputError) as refused:
        fit(dtm, tmp_path / "n", moving=str(path))
    assert_one_line(refused, "1 word, none of them among the ")


def test_a_run_goes_on_to_the_bytes_of_one_that_was_not_interrupted(
    made: Done, dtm: Path, tmp_path: Path, monkeypatch
):
    with interrupted_after(3), pytest.raises(KeyboardInterrupt):
        fit(dtm, tmp_path / "m", checkpoint=0.0)
    assert not (tmp_path / "m").exists()
    monkeypatch.setattr("wordgeom.linalg.svd.truncated_svd", None)  # would fail
    again = fit(dtm, tmp_path / "m", resume=True)
    assert again.value.store.digest == made.value.store.digest
    assert not list(tmp_path.glob(".m*"))


def test_a_model_of_counts_that_changed_or_are_gone_is_refused(dtm: Path, tmp_path: Path):
    shutil.copytree(dtm, tmp_path / "dtm")
    model = fit(tmp_path / "dtm", tmp_path / "m", sweeps=0).value
    assert model.open_documents().shape == (N, len(model.words))
    shutil.rmtree(tmp_path / "dtm")
    with pytest.raises(MissingInputError) as gone:
        model.open_documents()
    assert_one_line(gone, "its counts, ", "are missing", "restore them")
    count(tmp_path, records(50))
    with pytest.raises(StaleError) as stale:
        model.open_documents()
    assert_one_line(stale, "has changed since", "train DTM --method dlsa")


def rewritten(made: Done, folder: Path, arrays: Record, **edit: Any) -> Path:
    """A model with other arrays, an edited vocabulary or edited attributes, beside the first."""
    store = made.value.store
    with StoreWriter(folder, "dlsa") as writer:
        for name, part in store.parts().items():
            if name == "vocab":
                writer.text(name, arrays.get(name, store.text(name)))
            else:
                array = arrays.get(name, store.array(name).read())
                writer.array(name, part["dtype"]).write(array)
        card = store.card | {"parent": os.path.relpath(made.value.parent or "", folder)}
        writer.commit(store.attributes | edit, card)
    return folder


def test_documents_and_words_that_the_counts_lack_are_refused(made: Done, tmp_path: Path):
    rows = np.arange(N, dtype=np.int64)
    rows[-1] = 1 << 40
    words = made.value.store.text("vocab").replace(b"mover", b"moved")
    for name, edit in (("rows", rows), ("vocab", words)):
        model = DynamicModel.open(rewritten(made, tmp_path / name, {name: edit}))
        with pytest.raises(FormatError) as caught:
            model.open_documents()
        assert_one_line(caught, tmp_path / name, "was trained on", "160 documents × 69 words",
                        "train it again")  # fmt: skip
    fewer = words[: words.rstrip(b"\n").rindex(b"\n") + 1]
    p, shape = len(made.value.words) - 1, (DEGREE + 1, DIM, len(made.value.words))
    coefficients = made.value.coefficients.reshape(shape)[:, :, :p].ravel()
    arrays = {"vocab": fewer, "coefficients": coefficients, "moving": np.ones(p, np.uint8),
              "spread": made.value.spread[:p]}  # fmt: skip
    model = DynamicModel.open(rewritten(made, tmp_path / "m", arrays, shape=[N, DIM, p]))
    with pytest.raises(FormatError) as caught:
        model.open_documents()
    assert_one_line(caught, "was trained on", "68")


def test_numbers_that_cannot_be_computed_with_are_the_models_fault(made: Done, tmp_path: Path):
    model = made.value
    large = {"coefficients": np.full(model.coefficients.size, 1e30, np.float32),
             "documents": np.full(model.documents.size, 1e30, np.float32)}  # fmt: skip
    edited = DynamicModel.open(rewritten(made, tmp_path / "large", large))
    small = {"spread": np.full(len(model.words), 1e-320)}
    spread = DynamicModel.open(rewritten(made, tmp_path / "small", small))
    for call in (lambda: edited.vectors_at(1950.0), spread.movement,
                 lambda: spread.displacement(1950.0, 1999.0)):  # fmt: skip
        with pytest.raises(FormatError) as caught:
            call()
        assert_one_line(caught, "overflow within the model's own times", "train it again")
    with pytest.raises(InputError) as far:
        model.displacement(1950.0, 1e300)
    assert_one_line(far, ": 1e+300 is too far from", "1950 to 1999")


@pytest.mark.parametrize(
    "edit",
    [
        {"shape": [N, DIM, 68]}, {"shape": [N, DIM]}, {"shape": "no"}, {"degree": 1},
        {"trend": "none"}, {"weight": 3}, {"polynomials": {}}, {"source": None}, {"degree": 2.0},
        {"polynomials": {"centre": 1975.0, "scale": 1e-307, "shifts": [0.0] * 2,
                         "norms": [1.0] * 2}},
    ],
)  # fmt: skip
def test_a_model_whose_parts_do_not_fit_is_refused(made: Done, edit: Record, tmp_path: Path):
    rewritten(made, tmp_path / "m", {}, **edit)
    with pytest.raises(FormatError) as caught:
        DynamicModel.open(tmp_path / "m")
    assert_one_line(caught, "inconsistent model", "train it again")


def test_what_is_no_model_is_refused(dtm: Path, tmp_path: Path):
    (tmp_path / "file").write_text("x")
    for path, told in ((tmp_path / "gone", "no such model"), (dtm, "is a document-term matrix"),
                       (tmp_path / "file", "a file, not a model")):  # fmt: skip
        with pytest.raises(MissingInputError) as caught:
            DynamicModel.open(path)
        assert_one_line(caught, told, "wordgeom train DTM --method dlsa")


def test_the_command_line_makes_describes_and_does_not_convert_a_model(
    dtm: Path, tmp_path: Path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    os.symlink(dtm, "dtm")
    train = ["train", "--method", "dlsa", "--dim", "3", "--sweeps", "2", "--at", "1960"]
    assert main([*train, "--weight", "log", "--trend", "free"]) == 0
    out = capsys.readouterr().out.splitlines()
    assert out[0].startswith("model: 160 documents × 69 words in 3 dimensions, degree 2; ")
    assert out[1].startswith("model-1960.bin: 69 × 3; ")
    assert DynamicModel.open("model").weight == "log"
    assert main(["info", "model", "--check"]) == 0
    told = capsys.readouterr().out
    for part in (
        "dlsa",
        "times",
        "1950 to 1999, 50 distinct",
        "moving words  69",
        "not converged",
    ):
        assert part in " ".join(told.split()) or part in told
    assert main(["convert", "model", "model.bin"]) == 2
    assert "is a dlsa model, not vectors; write its vectors" in capsys.readouterr().err
    assert main([*train, "--neg", "2"]) == 2
    assert main(["train", "--method", "dlsa", "-o", "other", "--sweeps", "-1"]) == 2
