"""`wordgeom impute`, alone and as a step of `wordgeom run`: output and errors."""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np
import pytest

from wordgeom.vectors.keyed import read_vectors, write_vectors


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory with firms.csv, 30 of whose 60 entities are in vectors.bin."""
    monkeypatch.chdir(tmp_path)
    draw = np.random.default_rng(0)
    rows = [f"firm{k}," + ",".join(f"{x:.6f}" for x in draw.standard_normal(4)) for k in range(60)]
    Path("firms.csv").write_text("name,a,b,c,d\n" + "\n".join(rows) + "\n")
    words = ["the", *(f"firm{k}" for k in range(30))]
    write_vectors("vectors.bin", words, draw.standard_normal((31, 5)).astype(np.float32))
    return tmp_path


def contents(folder: Path) -> dict[str, str]:
    return {p.name: hashlib.sha256(p.read_bytes()).hexdigest() for p in folder.iterdir()}


def test_the_default_output_is_next_to_the_vectors(ask, folder):
    done = ask("impute", "--domain", "firms.csv")
    assert (done.status, done.err) == (0, "")
    assert done.out.startswith("vectors.imputed.bin: 60 entities, 30 known, 30 imputed; ")
    assert len(read_vectors("vectors.imputed.bin").words) == 61
    assert Path("vectors.imputed.tsv").read_text().startswith("entity\tsource\tanchor\tdistance\t")
    assert ask("impute", "--domain", "firms.csv").out == "vectors.imputed.bin: up to date\n"


def test_quiet_prints_nothing(ask, folder):
    assert ask("impute", "--domain", "firms.csv", "--validate", "2", "--quiet") == (0, "", "")


def test_validation_is_printed_as_a_table(ask, folder):
    done = ask("impute", "--domain", "firms.csv", "--validate", "5")
    for part in ("imputation", "mean vector", "nearest known", "ridge", "mean cosine",
                 "mean reciprocal rank", "median rank", "among first 10",
                 "30 known vectors hidden in 5 folds"):  # fmt: skip
        assert part in done.out


def test_a_saved_validation_is_printed_when_up_to_date(ask, folder):
    args = ("impute", "--domain", "firms.csv", "--validate", "5")
    first, again = ask(*args).out.splitlines(), ask(*args).out.splitlines()
    assert again == ["vectors.imputed.bin: up to date", *first[1:]]
    shown = ask("info", "vectors.imputed.bin").out.splitlines()
    assert shown[-len(first) + 1 :] == first[1:]
    assert max(map(len, shown)) < 200
    assert '"nearest known"' in ask("info", "--json", "vectors.imputed.bin").out


def test_all_known_is_success_with_a_note(ask, folder):
    lines = Path("firms.csv").read_text().splitlines()[:31]
    Path("known.csv").write_text("\n".join(lines))
    done = ask("impute", "--domain", "known.csv")
    assert done.status == 0
    assert "note: all 30 entities are known; nothing to impute" in done.err
    assert "30 known, 0 imputed" in done.out


@pytest.mark.parametrize(
    ("args", "status", "parts"),
    [
        ((), 2, ("impute needs --domain",)),
        (("--domain", "none.npy"), 1, ("none.npy", "no such file")),
        (("--domain", "firms.csv", "--vectors", "none.bin"), 1, ("none.bin", "no such file")),
        (("--domain", "firms.csv", "--vectors", "firms.csv"), 1, ("firms.csv",)),
        (("--domain", "firms.csv", "-o", "vectors.bin"), 2, ("vectors.bin", "is an input")),
        (("--domain", "firms.csv", "-o", "x.npy"), 2, (".bin, .txt or .vec",)),
        (("--domain", "firms.csv", "--delta", "0"), 2, ("--delta must be at least 1",)),
        (("--domain", "firms.csv", "--delta", "60"), 2, ("more than 60", "--delta 59")),
        (("--domain", "firms.csv", "--validate", "1"), 2, ("--validate",)),
        (("--domain", "firms.csv", "--validate", "31"), 2, ("--validate 31", "found 30")),
        (("--domain", "firms.csv", "--detla", "3"), 2, ("did you mean --delta?",)),
        (("--domain", "firms.csv", "--weights", "x"), 2, ("simplex",)),
        (("--domain", "one.csv"), 1, ("no entity is a word", "rename them with --name-map")),
        (("--domain", "two.csv",), 2, ("--delta 8", "more than 2 entities", "--delta 1 or less")),
    ],
)  # fmt: skip
def test_a_mistake_is_one_line_and_changes_nothing(ask, folder, args, status, parts):
    Path("one.csv").write_text("name,a\nξξξ,1\n")
    Path("two.csv").write_text("name,a\nfirm1,1\nξξξ,1\n")
    before = contents(folder)
    done = ask("impute", *args)
    assert (done.status, done.out) == (status, "")
    assert done.err.count("\n") == 1, done.err
    assert "Traceback" not in done.err
    for part in parts:
        assert part in done.err
    assert contents(folder) == before


def test_it_is_a_step_of_run_between_train_and_eval(ask, folder):
    (folder / "pairs.tsv").write_text("".join(f"firm{k}\tfirm{k + 30}\t{k}\n" for k in range(30)))
    (folder / "x.toml").write_text(
        '[eval]\nvectors = "vectors.imputed.bin"\nsets = "pairs.tsv"\n'
        '[impute]\ndomain = "firms.csv"\ndelta = 5\nname-map = "map.tsv"\n'
    )
    (folder / "map.tsv").write_text("firm59\tthe\n")
    done = ask("run", "x.toml")
    assert done.status == 0, done.err
    first, *rest = done.out.splitlines()
    assert first.startswith("vectors.imputed.bin: 60 entities, 31 known, 29 imputed; ")
    assert any(line.startswith("pairs") for line in rest)
    assert "vectors.imputed.bin: up to date" in ask("run", "x.toml").out
    (folder / "x.toml").write_text('[impute]\ndomain = "firms.csv"\ndelta = "five"\n')
    assert "x.toml [impute]: --delta must be an integer" in ask("run", "x.toml").err


@pytest.mark.parametrize(
    ("lines", "missing"),
    [
        ('domain = "none.csv"', "none.csv"),
        ('domain = "firms.csv"\nname-map = "none.tsv"', "none.tsv"),
        ('domain = "firms.npy"\nnames = "none.txt"', "none.txt"),
    ],
)
def test_run_reports_a_missing_table_before_its_first_stage(ask, folder, lines, missing):
    np.save("firms.npy", np.ones((3, 2)))
    Path("corpus.txt").write_text("a b a b\n")
    Path("x.toml").write_text(
        f'[build-cooc]\ncorpus = "corpus.txt"\n[impute]\nvectors = "later.bin"\n{lines}\n'
    )
    before = contents(folder)
    done = ask("run", "x.toml")
    assert (done.status, done.out) == (1, "")
    assert f"{missing}: no such file" in done.err
    assert contents(folder) == before


def test_info_describes_imputed_vectors(ask, folder):
    ask("impute", "--domain", "firms.csv")
    shown = ask("info", "vectors.imputed.bin")
    assert "impute" in shown.out
    assert "no run card" not in shown.out
