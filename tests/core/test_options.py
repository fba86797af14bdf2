"""Options: flags, TOML keys, ranges and choices follow from one declaration."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
import numpy as np
import pytest

from wordgeom import methods
from wordgeom.cli import flags, main
from wordgeom.core.errors import OptionError
from wordgeom.core.options import Options, flag, kind, off_flag, option, specs, suggestion
from wordgeom.corpus.options import CorpusOptions
from wordgeom.counts.windows import WindowOptions
from wordgeom.drift.options import DriftOptions
from wordgeom.drift.report import ReportOptions
from wordgeom.linalg.options import DeviceOptions
from wordgeom.runtime.run_options import ResumeOptions, RunOptions
from wordgeom.weighting.options import DocumentOptions, PmiOptions

SHARED: list[type[Options]] = [
    CorpusOptions, WindowOptions, PmiOptions, DocumentOptions, DeviceOptions, ResumeOptions,
    RunOptions,
]  # fmt: skip
METHODS = {name: methods.load(name).Options for name in methods.names()}
CLASSES = [*SHARED, DriftOptions, ReportOptions, *METHODS.values()]
FIELDS = [(cls, field, spec) for cls in CLASSES for field, spec in specs(cls)]
IDS = [f"{cls.__module__.removeprefix('wordgeom.')} {field.name}" for cls, field, _ in FIELDS]
NUMBERS = [
    (case, name)
    for case, name in zip(FIELDS, IDS, strict=True)
    if kind(case[1]) in ("int", "float")
]


@dataclass(frozen=True)
class Example(Options):
    """One option of each kind."""

    many: int = option(3, "a number", low=1, high=9)
    much: float = option(0.5, "a share", low=0.0, metavar="S")
    which: str = option("one", "a choice", choices=("one", "two"))
    where: str | None = option(None, "a file", metavar="FILE")
    really: bool = option(False, "a switch", result=False)
    usual_too: bool = option(True, "a switch that is on")


def values_of(arguments: list[str]) -> dict[str, object]:
    command = click.Command("example", params=[*flags.parameters(Example)])
    given = command.make_context("example", [*arguments]).params
    return {name: value for name, value in given.items() if value is not None}


def test_a_field_is_a_flag():
    assert values_of([]) == {}
    given = ["--many", "4", "--much", "1", "--which", "two", "--where", "x", "--really"]
    assert values_of(given) == {
        "many": 4, "much": 1.0, "which": "two", "where": "x", "really": True,
    }  # fmt: skip
    assert values_of(["--no-usual-too"]) == {"usual_too": False}
    assert values_of(["--usual-too"]) == {"usual_too": True}
    with pytest.raises(click.NoSuchOption):  # what is off is left out
        values_of(["--no-really"])
    assert Example.take(values_of(given)) == Example(4, 1.0, "two", "x", True)
    help_ = click.Command("example", params=[*flags.parameters(Example)]).get_help(
        click.Context(click.Command("example"))
    )
    for part in (
        "a number  [3]",
        "--much S",
        "[0.5]",
        "[one|two]",
        "--where FILE",
        "a switch",
        "--usual-too / --no-usual-too",
    ):
        assert part in help_


def test_a_field_is_a_key(tmp_path):
    path = tmp_path / "x.toml"
    path.write_bytes(
        b"\xef\xbb\xbf[example]\r\nmany = 4\r\nreally = true\r\nmuch = 2\r\nusual-too = false\r\n"
    )
    table = flags.read_tables(str(path), ["example"])["example"][0]
    assert Example.take(table) == Example(many=4, much=2, really=True, usual_too=False)


def test_options_without_effect_on_the_result_are_not_in_a_request():
    assert set(Example().result_options()) == {"many", "much", "which", "where", "usual_too"}


@pytest.mark.parametrize(
    ("name", "value", "say"),
    [
        ("many", 0, "--many must be between 1 and 9, found 0"),
        ("many", 10, "--many must be between 1 and 9, found 10"),
        ("many", 4.0, "--many must be an integer, found 4.0"),
        ("many", True, "--many must be an integer, found True"),
        ("many", "4", "--many must be an integer, found '4'"),
        ("many", None, "--many must be an integer, found None"),
        ("much", -1, "--much must be at least 0, found -1"),
        ("much", float("nan"), "--much must be at least 0, found nan"),
        ("much", "x", "--much must be a number, found 'x'"),
        ("which", "three", "--which must be one or two, found 'three'"),
        ("which", 1, "--which must be one or two, found 1"),
        ("where", 5, '--where must be text, found 5; write it in quotes: "5"'),
        ("where", "", "--where must not be empty"),
        ("where", "a\0b", "--where must be text, found 'a\\x00b'"),
        ("really", 1, "--really must be true or false, found 1"),
    ],
)
def test_a_value_that_does_not_fit_is_rejected(name, value, say):
    with pytest.raises(OptionError) as caught:
        Example(**{name: value})
    assert str(caught.value) == say


def test_scalars_of_numpy_become_those_of_python():
    given: dict[str, Any] = {"many": np.int64(3), "much": np.float32(0.5), "really": np.True_}
    made = Example(**given, which=np.str_("two"))
    values = made.many, made.much, made.really, made.which
    assert [type(value) for value in values] == [int, float, bool, str]
    assert values == (3, 0.5, True, "two")
    wrong: dict[str, Any] = {"many": np.float64(3)}
    with pytest.raises(OptionError, match=r"--many must be an integer, found 3\.0$"):
        Example(**wrong)


def test_a_long_value_is_cut_in_a_message():
    wrong: dict[str, Any] = {"where": {str(k): k for k in range(999)}}
    with pytest.raises(OptionError, match=r"--where must be text, found dict \{'0': 0") as caught:
        Example(**wrong)
    assert len(str(caught.value)) < 120


@pytest.mark.parametrize(("cls", "field", "spec"), FIELDS, ids=IDS)
def test_every_option_is_explained_and_its_default_fits(cls, field, spec):
    assert getattr(cls(), field.name) == field.default
    assert spec.help[0] == spec.help[0].lower() or spec.help.split()[0].istitle()
    assert not spec.help.endswith(".")
    assert "\n" not in spec.help
    (made,) = (p for p in flags.parameters(cls) if p.name == field.name)
    assert made.opts == [flag(field.name)]
    assert made.secondary_opts == ([off_flag(field.name)] if field.default is True else [])
    if spec.choices:
        assert field.default in (None, *spec.choices)


def bad_numbers(low: float | None, high: float | None, whole: bool) -> list[str]:
    below = [] if low is None else [low - 1, low - 10**6, *([] if whole else [low - 1e-9])]
    above = [] if high is None else [high + 1, high * 10 + 1]
    above += [] if whole or high is None else [math.nextafter(high, math.inf)]
    numbers = [str(int(x) if whole else x) for x in (*below, *above)]
    return [*numbers, "", "x", "1,5", "nan", *(["1.5", "inf"] if whole else []), "0x10"]


def test_every_number_has_a_range():
    for (_, field, spec), name in NUMBERS:
        assert spec.low is not None, f"{name}: {flag(field.name)} may be any number"


@pytest.mark.parametrize("case", [case for case, _ in NUMBERS], ids=[name for _, name in NUMBERS])
def test_a_number_out_of_range_is_rejected_by_its_flag(case, capsys, tmp_path, monkeypatch):
    cls, field, spec = case
    monkeypatch.chdir(tmp_path)
    Path("corpus.txt").write_text("a b\n")
    command = {CorpusOptions: "build-cooc", WindowOptions: "build-cooc", RunOptions: "build-cooc"}
    line = [command.get(cls, "train")]
    line += ["corpus.txt"]
    if line[0] == "train":
        owners = [n for n in methods.names() if methods.load(n).Options is cls]
        line += ["--method", *(owners or methods.names()[:1])]
    for value in bad_numbers(spec.low, spec.high, kind(field) == "int"):
        assert main([*line, f"{flag(field.name)}={value}"]) == 2, value
        told = capsys.readouterr()
        assert told.err.count("\n") == 1
        assert flag(field.name) in told.err
        assert not told.out
    assert [path.name for path in Path().iterdir()] == ["corpus.txt"]


@pytest.mark.parametrize("method", METHODS)
def test_one_name_has_one_meaning(method):
    """But for what only methods have: one has sweeps of rows, another of documents."""
    meanings: dict[str, tuple[str, object]] = {}
    for cls in (*SHARED, METHODS[method]):
        for field, spec in specs(cls):
            meaning = (spec.help, field.default)
            assert meanings.setdefault(field.name, meaning) == meaning, field.name


def test_a_suggestion_is_the_nearest_name_or_a_list():
    assert suggestion("windw", ["window", "seed"]) == "did you mean window?"
    assert suggestion("xyz", ["window", "seed"]) == "choose one of seed, window"
    assert suggestion("xyz", [f"key{k}" for k in range(50)]).endswith(", …")
