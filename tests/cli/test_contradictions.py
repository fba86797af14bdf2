"""Options that contradict each other are refused, also where one is given at its default."""

from __future__ import annotations

import pickle
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from matrices import random_counts, store_matrix

import wordgeom as wg
from wordgeom.api.messages import in_keywords
from wordgeom.core.errors import OptionError
from wordgeom.methods.gbu import method as gbu

CASES = [
    ("train", {"as_published": True, "sweeps": 3}, "--as-published excludes --sweeps 3"),
    ("train", {"as_published": True, "x_max": 20.0}, "--x-max has no effect with --as-published"),
    ("train", {"sweeps": 0, "mix": 0.2}, "--mix has no effect with --sweeps 0"),
    ("train", {"weighted": False, "ridge": 3.0}, "--ridge has no effect with --no-weighted"),
    ("train", {"as_published": True, "weighted": True},
     "--weighted has no effect with --as-published"),
    ("train", {"sweeps": 0, "weighted": True}, "--weighted has no effect with --sweeps 0"),
    ("build-cooc", {"k": 3}, "--k needs --tokeniser kmer"),
    ("build-cooc", {"column": "form"}, "--column applies to conllu, not to text"),
    ("drift", {"test": "factor", "permute": "times"}, "--permute needs --test permutation"),
]  # fmt: skip
PYTHON: dict[str, Callable[..., object]] = {"train": wg.train, "build-cooc": wg.count}
INPUT = {
    "train": {"matrix": "cooc", "method": "gbu"},
    "build-cooc": {"corpus": "corpus.txt"},
    "drift": {"model": "model"},
}
TRAIN = ("train", "cooc", "--method", "gbu", "--dim", "3")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    store_matrix(Path("cooc"), random_counts(np.random.default_rng(0), 30))
    Path("corpus.txt").write_text("a b c\n" * 20)
    return tmp_path


def flags_of(options):
    for name, value in options.items():
        flag = f"--{name.replace('_', '-')}"
        if isinstance(value, bool):
            yield flag if value else flag.replace("--", "--no-")
        else:
            yield from (flag, str(value))


@pytest.mark.parametrize(("command", "options", "say"), CASES)
def test_an_option_at_its_default_contradicts_too(ask, folder, command, options, say):
    (_, path), *more = INPUT[command].items()
    answer = ask(command, path, *flags_of(dict(more)), *flags_of(options))
    assert (answer.status, say in answer.err) == (2, True), answer
    table = {**INPUT[command], **options}
    lines = [
        f"{k} = {str(v).lower() if isinstance(v, bool) else repr(v)}" for k, v in table.items()
    ]
    Path("x.toml").write_text(f"[{command}]\n" + "\n".join(lines) + "\n")
    answer = ask(command, "--config", "x.toml")
    assert (answer.status, say in answer.err) == (2, True), answer
    if command == "train":
        with pytest.raises(OptionError, match=re.escape(in_keywords(say))):
            PYTHON[command]("cooc", "gbu", **options)
    if command == "build-cooc":
        with pytest.raises(OptionError, match=re.escape(in_keywords(say))):
            PYTHON[command]("corpus.txt", **options)


@pytest.mark.parametrize(("name", "value"), [("eta", 0.01), ("max_iterations", 10_000)])
def test_options_of_the_power_iteration_need_it(ask, folder, name, value):
    Path("t.csv").write_text("name,a\none,1\ntwo,2\n")
    answer = ask("impute", "--domain", "t.csv", *flags_of({name: value}))
    say = f"--{name.replace('_', '-')} has no effect with --solver exact; add --solver power"
    assert (answer.status, say in answer.err) == (2, True), answer
    with pytest.raises(OptionError, match=f"{name}= has no effect"):
        wg.impute("t.csv", "v.bin", **{name: value})


def test_what_agrees_with_another_option_is_accepted(ask, folder):
    published = {"as_published": True, "sweeps": 0, "anchors": 0, "anchor_choice": "frequency"}
    assert ask(*TRAIN, *flags_of(published), "-o", "p.bin").status == 0
    weighted = {"sweeps": 3, "loss": "logistic", "mix": 0.2, "temper": 0.75, "weighted": True}
    assert ask(*TRAIN, *flags_of(weighted), "-o", "v.bin").status == 0
    assert "up to date" in ask(*TRAIN, "-o", "v.bin").out


def test_what_was_given_is_no_part_of_the_value():
    given, taken = gbu.Options.asked({"sweeps": 3}), gbu.Options.take({"sweeps": 3})
    assert (given, hash(given)) == (taken, hash(taken))
    assert given.is_set("sweeps")
    assert not taken.is_set("sweeps")
    assert gbu.Options(sweeps=2).is_set("sweeps")
    assert pickle.loads(pickle.dumps(given)).given == {"sweeps"}
    assert given.result_options() == taken.result_options()
