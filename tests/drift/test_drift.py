"""`wordgeom drift`: planted changes are found, both formats agree, errors are one line."""

from __future__ import annotations

import json
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from corpora import assert_one_line
from matrices import store_documents
from running import drift

import wordgeom as wg
from wordgeom.cli import main
from wordgeom.core.errors import InputError, OptionError
from wordgeom.drift.neighbours import nearest_words
from wordgeom.drift.options import DriftOptions
from wordgeom.drift.report import ReportOptions
from wordgeom.methods.dlsa.model import DynamicModel
from wordgeom.methods.dlsa.usage import documents_near, words_in
from wordgeom.runtime.pool import Pool
from wordgeom.runtime.progress import Progress
from wordgeom.runtime.run_options import UseOptions
from wordgeom.vectors.nearest import unit_vectors

TOPICS = {"jail": "prison guard lock", "phone": "call network signal", "farm": "wheat cow plough"}
YEARS = range(2000, 2012)
FEW = ["--permutations", "99"]
PERMUTED = ["--test", "permutation", *FEW]
QUIET = UseOptions(quiet=True)


def speeches(documents: int = 180) -> list[str]:
    """Lines `id TAB year TAB words`, one topic each; `cell` moves from jails to phones."""
    rng = np.random.default_rng(3)
    lines = []
    for k in range(documents):
        year = YEARS[k % len(YEARS)]
        topic = list(TOPICS)[k // len(YEARS) % len(TOPICS)]
        context = [topic, *TOPICS[topic].split()]
        words = rng.choice(context, 30).tolist() + rng.choice(["and", "the", "of"], 15).tolist()
        share = (year - YEARS[0]) / (len(YEARS) - 1)
        cells = {"jail": 1 - share, "phone": share}.get(topic, 0.0)
        words += ["cell"] * int(rng.poisson(8 * cells))
        lines.append(f"{topic}\t{year}\t{' '.join(words)}")
    return lines


def train_model(directory: Path, lines: Sequence[str], *more: str) -> Path:
    """A model of speeches, made by the commands that a user runs."""
    (directory / "speeches.tsv").write_text("\n".join(lines) + "\n")
    counted = ["--id-field", "1", "--time-field", "2", "--text-field", "3", "--min-count", "1"]
    text, dtm, model = (str(directory / name) for name in ("speeches.tsv", "dtm", "model"))
    assert main(["build-dtm", text, "-o", dtm, *counted, "--quiet"]) == 0
    fit = ["--method", "dlsa", "--dim", "2", "--degree", "1", *more]
    assert main(["train", dtm, "-o", model, *fit, "--quiet"]) == 0
    return directory / "model"


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return train_model(tmp_path_factory.mktemp("drift"), speeches())


def drift_json(capsys: pytest.CaptureFixture[str], *args: str) -> dict[str, Any]:
    capsys.readouterr()
    assert main(["drift", *args, "--json", "--quiet"]) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def rejected(capsys: pytest.CaptureFixture[str], *args: str) -> str:
    capsys.readouterr()
    assert main(["drift", *args, "--quiet"]) in (1, 2)
    out, err = capsys.readouterr()
    assert out == ""
    assert len(err.splitlines()) == 1
    return err


def test_the_moving_word_is_first_with_its_neighbours(model, capsys):
    found = drift_json(capsys, str(model), *FEW)
    assert len(found["words"]) == len(DynamicModel.open(model).words)
    cell = found["words"][0]
    assert (cell["word"], cell["rank"]) == ("cell", 1)
    assert cell["q"] <= 0.05
    assert set(cell["neighbours_then"][:3]) <= {"jail", *TOPICS["jail"].split()}
    assert set(cell["neighbours_now"][:3]) <= {"phone", *TOPICS["phone"].split()}
    assert cell["cosine"] == min(word["cosine"] for word in found["words"])
    assert found["test"]["permutations"] == 99
    assert found["test"]["global_p"] == pytest.approx(0.01)
    assert (found["then"], found["now"]) == (2000.0, 2011.0)


@pytest.mark.parametrize("test", ["flips", "permutation"])
def test_json_has_all_figures_of_every_word(model, capsys, test):
    found = drift_json(capsys, str(model), *FEW, "--test", test, "--both-ranks")
    fs = [word["f"] for word in found["words"]]
    assert fs == sorted(fs, reverse=True)
    for rank, word in enumerate(found["words"], 1):
        assert word["rank"] == rank
        assert {"word", "displacement", "f", "p", "q", "count", "documents"} <= word.keys()
        assert 0 < word["p"] <= word["q"] <= 1
        assert (word["r2"] is None) == (test == "flips")
        assert (word["turn"] is None) == (test == "permutation")
        assert 0 <= (word["turn"] or word["r2"] or 0) <= (90 if test == "flips" else 1)
        assert word["f_2r"] is None or word["f_2r"] >= 0
    assert {"method", "assumption", "smallest_p", "rank", "rank_2r"} <= found["test"].keys()


def test_displacement_and_cosine_equal_those_of_the_model(model, capsys):
    fitted = DynamicModel.open(model)
    found = drift_json(capsys, str(model), *FEW, "--then", "2003", "--now", "2008-01")
    moved = fitted.displacement(2003.0, 2008.0)
    ends = [unit_vectors(fitted.vectors_at(time)) for time in (2003.0, 2008.0)]
    for word in found["words"]:
        row = fitted.words.index(word["word"])
        assert word["displacement"] == pytest.approx(moved[row])
        assert word["cosine"] == pytest.approx(float(ends[0][row] @ ends[1][row]))
        cosines = ends[0] @ ends[0][row]
        if not word["attested_then"]:
            assert word["neighbours_then"] == []
            continue
        cosines[row] = -np.inf
        assert word["neighbours_then"][0] == fitted.words[int(np.argmax(cosines))]
    again = drift_json(capsys, str(model), *FEW, "--by", "displacement", "--top", "3")
    assert again["words"][0]["displacement"] == max(fitted.displacement(2000.0, 2011.0))
    assert len(again["words"]) == 3


def test_control_words_have_similar_document_frequency(model, capsys):
    found = drift_json(capsys, str(model), *FEW, "--top", "2")
    sizes = {w["word"]: w["documents"] for w in drift_json(capsys, str(model), *FEW)["words"]}
    listed = {word["word"] for word in found["words"]}
    controls = [word["control"]["word"] for word in found["words"]]
    assert len({*controls, *listed}) == 4
    first = found["words"][0]
    nearest = min(abs(sizes[w] - first["documents"]) for w in sizes if w not in listed)
    assert abs(sizes[controls[0]] - first["documents"]) == nearest


def test_the_table_and_json_agree(model, capsys):
    asked = [str(model), *FEW, "--top", "3", "--both-ranks"]
    found = drift_json(capsys, *asked)
    assert main(["drift", *asked, "--quiet"]) == 0
    lines = capsys.readouterr().out.splitlines()
    for line, word in zip(lines[1:4], found["words"], strict=True):
        cells = line.split()
        assert cells[1] == word["word"]
        assert cells[3] == f"{word['f']:.2f}"
    text = "\n".join(lines)
    tests = [found["test"]["method"], found["test"]["assumption"]]
    for part in (
        *tests,
        "r = 2: change of any word, p = 0.01",
        "r = 4: ",
        "medians of listed and of control words",
        "99 sign flips; smallest possible p: ",
        f"over time: {found['test']['diagnostics']}",
    ):
        assert part in text


def test_named_words_are_listed_in_their_order(model, capsys):
    every = {word["word"]: word for word in drift_json(capsys, str(model), *FEW)["words"]}
    found = drift_json(capsys, str(model), "wheat", "cell", "wheat", *FEW)
    assert [word["word"] for word in found["words"]] == ["wheat", "cell"]
    for word in found["words"]:
        for name in ("rank", "f", "p", "q", "displacement", "neighbours_now"):
            assert word[name] == every[word["word"]][name]


@pytest.mark.parametrize(
    ("words", "method"),
    [
        (FEW, "sign flips"),
        ([*FEW, "--null", "max-t"], "sign flips"),
        ([*PERMUTED, "--permute", "documents"], "document times"),
        ([*PERMUTED, "--permute", "within", "--group", "id"], "within groups"),
        ([*PERMUTED, "--still"], "whole times"),
        ([*PERMUTED, "--null", "max-t"], "whole times"),
        ([*PERMUTED, "--null", "own", "--trend", "free"], "whole times"),
        (["--test", "f"], "tail of the F distribution"),
        ([*PERMUTED, "--both-ranks"], "whole times"),
    ],
)
def test_each_test_prints_its_assumption_and_finds_the_word(model, capsys, words, method):
    found = drift_json(capsys, str(model), *words)
    assert method in found["test"]["method"]
    assert len(found["test"]["assumption"]) > 20
    assert found["words"][0]["word"] == "cell"
    assert found["words"][0]["p"] <= 0.05
    assert ("rank_2r" in found["test"]) == ("--both-ranks" in words)


def test_the_factor_test_uses_the_named_words(model, capsys):
    words = ["cell", "prison", "guard", "call", "network", "wheat", "cow"]
    found = drift_json(capsys, str(model), *words, "--test", "factor", "--rank", "1")
    assert main(["drift", str(model), *words, "--test", "factor", "--rank", "1"]) == 0
    assert "tested with r = 1 (model: 2): lack of fit, p = " in capsys.readouterr().out
    assert 0 <= found["test"]["global_p"] <= 1
    assert found["test"]["mixture_p"] is None
    assert all(word["p"] is None and word["f"] is not None for word in found["words"])
    assert any("Bartlett-corrected, with 14 degrees of freedom" in note for note in found["notes"])
    assert "the number of factors is right" in found["test"]["assumption"]


def test_the_notes_of_the_factor_test_name_its_number_of_factors(model, capsys):
    words = ["cell", "prison", "guard", "call", "network", "wheat", "cow"]
    asked = [*words, "--test", "factor", "--both-ranks", "--rank"]
    notes = drift_json(capsys, str(model), *asked, "1")["notes"]
    for rank in (1, 2):
        (note,) = [note for note in notes if note.startswith(f"r = {rank}: T = ")]
        degrees = ((len(words) - rank) ** 2 - len(words) - rank) // 2
        assert f" with {degrees} degrees of freedom; uncorrected " in note
    notes = drift_json(capsys, str(model), *asked, "2")["notes"]
    assert any(note.startswith("T = ") for note in notes)  # of the only number of factors
    assert (
        "not tested with r = 4: the factor test of 7 words allows 1 to 3 factors, found 4; "
        "change --rank or name more words"
    ) in notes


def test_a_rank_that_cannot_be_doubled_is_reported(model, capsys):
    found = drift_json(capsys, str(model), *PERMUTED, "--rank", "12", "--both-ranks")
    assert "rank_2r" not in found["test"]
    assert any(note.startswith("not tested with r = 24: ") for note in found["notes"])


@pytest.mark.parametrize("given", [("--then", "2005", "--now", "2005.0"), ("--then", "2011")])
def test_equal_times_are_refused(model, capsys, given):
    assert main(["drift", str(model), *given]) == 2
    err = capsys.readouterr().err
    assert "--then and --now are the same time, 20" in err
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    "given", [("--then", "2009", "--now", "2002"), ("--then", "2020"), ("--now", "1990")]
)
def test_times_in_the_wrong_order_are_refused(model, capsys, given):
    assert main(["drift", str(model), *given]) == 2
    err = capsys.readouterr().err
    assert "--then must be before --now " in err
    swap = "swap the two" if len(given) == 4 else "the documents are from 2000 to 2011"
    assert err.endswith(f"; {swap}\n")


def test_python_warns_of_a_time_outside_the_data(model):
    fitted = wg.open_model(model)
    times: list[Any] = ["2005", None, float("nan")]
    for time in times:
        with pytest.raises(InputError, match="the time must be a finite number"):
            fitted.vectors_at(time)
    with pytest.warns(UserWarning, match="2040 is outside the documents' times, 2000 to 2011"):
        fitted.vectors_at(2040.0)
    with pytest.warns(UserWarning, match="2040 is outside the documents' times, 2000 to 2011"):
        fitted.displacement(2000.0, 2040.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fitted.vectors_at(2011.0)
        fitted.displacement(2000.0, 2011.0)


def test_extrapolated_times_and_another_trend_are_reported(model, capsys):
    other = drift_json(capsys, str(model), *PERMUTED, "--trend", "free")
    assert (other["test"]["trend"], other["model"]["trend"]) == ("free", "hold")
    assert any(note.startswith("F is tested with --trend free; ") for note in other["notes"])
    notes = drift_json(capsys, str(model), *FEW, "--then", "1900")["notes"]
    assert "--then 1900 is outside the documents' times, 2000 to 2011: extrapolated" in notes


def test_shuffled_years_give_no_significant_words(tmp_path, capsys):
    """None of 13 words is significant after the years were shuffled."""
    rng = np.random.default_rng(1)
    cells = [line.split("\t") for line in speeches()]
    years = rng.permutation([cell[1] for cell in cells])
    lines = [f"{c[0]}\t{year}\t{c[2]}" for c, year in zip(cells, years, strict=True)]
    model = str(train_model(tmp_path, lines))
    for options in (FEW, [*PERMUTED, "--permute", "documents"]):
        found = drift_json(capsys, model, *options)
        assert found["test"]["significant"] == 0
        assert found["test"]["global_p"] > 0.05


def test_the_report_does_not_depend_on_the_number_of_threads(model):
    options = DriftOptions(permutations=49)
    found = [
        drift(model, options, ReportOptions(), UseOptions(threads=k, quiet=True)).to_dict()
        for k in (1, 2)
    ]
    assert found[0] == found[1]


def test_the_python_functions_agree_with_the_commands(model, capsys, tmp_path):
    counts = wg.open_matrix(model.parent / "dtm")
    made = wg.train_model(counts, tmp_path / "again", dim=2, degree=1)
    assert made.store.digest == wg.open_model(model).store.digest
    np.testing.assert_array_equal(made.vectors_at(2005.0), wg.open_model(model).vectors_at(2005.0))
    report = wg.measure_drift(tmp_path / "again", "cell", permutations=99)
    found = drift_json(capsys, str(model), "cell", *FEW)
    assert report.to_dict()["words"] == found["words"]
    with pytest.raises(OptionError) as caught:
        wg.measure_drift(model, permutation=9)
    assert_one_line(caught, "permutation", "did you mean permutations?")


def test_words_are_in_use_if_they_occur_in_documents_near_the_time(tmp_path):
    X = np.zeros((20, 3), np.int64)
    X[:2, 0] = X[2, 1] = X[19, 2] = 1
    counts = store_documents(tmp_path / "dtm", X)
    times = np.arange(20.0)
    for time, words in ((0.0, [True, False, False]), (1.4, [True, True, False]), (99.0, [0, 0, 1])):
        assert words_in(counts, np.flatnonzero(documents_near(times, time))).tolist() == words
    tied = np.repeat([0.0, 1.0], 10)  # all documents of a time count
    assert documents_near(tied, 0.2).tolist() == [True] * 10 + [False] * 10


def test_a_word_has_no_neighbours_at_a_time_without_attestation(tmp_path, capsys):
    late = [line + (" tablet" * 3 if "\t2011\t" in line else "") for line in speeches()]
    found = drift_json(capsys, str(train_model(tmp_path, late)), "tablet", "cell", *FEW)["words"]
    tablet, cell = found
    assert (tablet["attested_then"], tablet["attested_now"]) == (False, True)
    assert tablet["neighbours_then"] == []
    assert len(tablet["neighbours_now"]) == len(cell["neighbours_now"]) == 3
    assert "tablet" not in cell["neighbours_then"]


def test_words_can_be_sorted_by_movement(model, capsys):
    fitted = DynamicModel.open(model)
    found = drift_json(capsys, str(model), *FEW, "--by", "movement")["words"]
    moved = dict(zip(fitted.words, fitted.movement().tolist(), strict=True))
    assert [word["movement"] for word in found] == sorted(moved.values(), reverse=True)
    assert all(word["movement"] == moved[word["word"]] for word in found)


def test_neighbours_have_the_highest_cosines():
    units = unit_vectors(np.random.default_rng(1).standard_normal((40, 5)).astype(np.float32))
    units[7] = 0.0
    rows = np.array([3, 7, 0])
    with Pool(2) as pool:
        found = nearest_words(units, rows, 4, pool, Progress(), "words")
    cosines = units @ units.T
    for row, near in zip(rows.tolist(), found, strict=True):
        others = [k for k in range(40) if k not in (row, 7)]
        expected = sorted(others, key=lambda k: -cosines[row, k])[:4]
        assert near == ([] if row == 7 else expected)


@pytest.mark.parametrize(
    ("words", "parts"),
    [
        (["sell"], ["unknown word 'sell'", "did you mean cell?"]),
        (["--then", "soon"], ["--then and --now must be times", "'soon'"]),
        (["--permute", "times"], ["--permute needs --test permutation, not flips"]),
        (["--trend", "free"], ["--trend needs --test permutation or f or factor, not flips"]),
        (["--still"], ["--still needs --test permutation or f or factor, not flips"]),
        (["--permutations", "0"], ["between 1 and 1000000", "0"]),
        ([*PERMUTED, "--permute", "within"], ["--group and --permute within require each other"]),
        ([*PERMUTED, "--group", "id"], ["--group and --permute within require each other"]),
        ([*PERMUTED, "--permute", "within", "--group", "no.tsv"], ["no.tsv", "no such file"]),
        (["--freedman-lane"], ["no option --freedman-lane"]),
        (["--test", "f", "--null", "own"], ["--null needs --test flips or permutation, not f"]),
        ([*PERMUTED, "--rank", "170"], ["degrees of freedom", "180 documents"]),
        (["--rank", "170"], ["170 topics need data of a higher rank than 15"]),
        (["--test", "factor"], ["needs linearly independent words"]),
        (["--permutation"], ["no option --permutation", "did you mean --permutations?"]),
    ],
)
def test_errors_are_one_line(model, capsys, words, parts):
    line = rejected(capsys, str(model), *words)
    for part in parts:
        assert part in line


def test_a_model_without_its_documents_is_rejected(tmp_path, capsys):
    model = train_model(tmp_path, speeches(60))
    (tmp_path / "dtm").rename(tmp_path / "moved")
    assert "dtm, are missing; restore them" in rejected(capsys, str(model))
    text = str(tmp_path / "speeches.tsv")
    more = ["--time-field", "2", "--text-field", "3", "--min-count", "2", "--quiet"]
    assert main(["build-dtm", text, "-o", str(tmp_path / "dtm"), *more]) == 0
    assert "which has changed since" in rejected(capsys, str(model))
    assert "no such model" in rejected(capsys, str(tmp_path / "none"))
    assert "not a dynamic LSA model" in rejected(capsys, str(tmp_path / "moved"))
