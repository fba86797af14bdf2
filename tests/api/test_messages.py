"""Errors and notes from Python speak of keywords and functions, never of flags and commands."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import wordgeom as wg
from wordgeom.api.messages import FUNCTIONS, in_keywords
from wordgeom.cli import COMMANDS
from wordgeom.core.errors import OptionError, StoppedError, WriteError

PACKAGE = Path(wg.__file__).parent
# What no function of Python calls; and what only the command line says.
_OTHERS = (
    "cli/", "api/", "plot/", "comparison/", "peers/", "planning/", "jobs/", "reproduction/",
    "stages/merging/", "stages/build_vocabulary.py", "counts/merge_options.py",
)  # fmt: skip
_ONLY_THERE = ("--json and --markdown are mutually exclusive", "--no-")
_FLAG = re.compile(r"(?<![\w-])(--[a-z]|-o\b)")
PUBLIC = [getattr(wg, name) for name in wg.__all__]  # their modules declare all keywords


def texts() -> Iterator[tuple[str, str]]:
    """Yield the string constants of the package that name a flag or a command, but docstrings."""
    for file in sorted(PACKAGE.rglob("*.py")):
        if file.relative_to(PACKAGE).as_posix().startswith(_OTHERS):
            continue
        tree = ast.parse(file.read_text(encoding="utf-8"))
        documented = (ast.Module, ast.ClassDef, ast.FunctionDef)
        docs = {id(node.body[0].value) for node in ast.walk(tree) if isinstance(node, documented)
                and node.body and isinstance(node.body[0], ast.Expr)}  # fmt: skip
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                text = node.value
                if id(node) not in docs and (_FLAG.search(text) or "wordgeom " in text):
                    yield file.name, text


def test_every_flag_in_a_message_has_a_keyword():
    found = list(texts())
    assert len(found) > 150
    left = [(file, text) for file, text in found if _FLAG.search(in_keywords(text))]
    assert [text for _, text in left if text not in _ONLY_THERE] == []


def test_every_command_in_a_message_that_has_a_function_is_named_by_it():
    assert set(FUNCTIONS) < set(COMMANDS)
    assert all(callable(getattr(wg, name)) for name in FUNCTIONS.values())
    commands = "|".join(FUNCTIONS)
    for file, text in texts():
        assert not re.search(rf"wordgeom ({commands})\b", in_keywords(text)), file


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("--window must be at least 1", "window must be at least 1"),
        ("pass --force to overwrite it, or choose another with -o",
         "pass force=True to overwrite it, or choose another with out="),
        ("exists and was made with --text-field body, not None",
         "exists and was made with text_field=body, not None"),
        ("exists and was made with --dim 6, not 7", "exists and was made with dim=6, not 7"),
        ("lower --dim or --ridge", "lower dim= or ridge="),
        ("raise --anchors to 50 or more", "raise anchors= to 50 or more"),
        ("pass --window 20 or less, or --window-weight flat or dynamic",
         'pass window=20 or less, or window_weight="flat" or "dynamic"'),
        ("pass --bad-bytes replace or --bad-bytes skip",
         'pass bad_bytes="replace" or bad_bytes="skip"'),
        ("use --null pooled or more --permutations", 'use null="pooled" or more permutations='),
        ("add --no-weighted, or omit --mix", "add weighted=False, or omit mix="),
        ("--as-published excludes --sweeps 5", "as_published=True excludes sweeps=5"),
        ("set --tol below 1e-4", "set tol= below 1e-4"),
        ("pass --input-format tsv --text-field N", 'pass input_format="tsv", text_field=N'),
        ("run wordgeom build-cooc", "run wg.count"),
        ("make it again: wordgeom build-pmi /a/cooc -o /a/pmi --force",
         'make it again: wg.pmi("/a/cooc", out="/a/pmi", force=True)'),
        ("with wordgeom build-dtm --time-field FIELD",
         "with wg.count_documents(time_field=field)"),
        ("combine the shards with wordgeom merge", "combine the shards with wordgeom merge"),
        ("unknown word '--force'", "unknown word '--force'"),
        ("a well-known on-off word", "a well-known on-off word"),
    ],
)  # fmt: skip
def test_a_flag_becomes_a_keyword_with_its_value(text, said):
    assert in_keywords(text) == said
    assert in_keywords(said) == said


def test_every_part_of_an_error_but_its_place_is_reworded():
    error = OptionError("--dim is high", where="--dim", found="--dim 5", do="lower --dim")
    error.reword(in_keywords)
    assert str(error) == "--dim: dim= is high, found dim=5; lower dim="
    assert (error.what, error.found, error.do) == ("dim= is high", "dim=5", "lower dim=")
    written = WriteError("no space", where="v.bin", do="check --tmp-dir")
    written.reword(in_keywords)
    assert str(written) == "v.bin: no space; check tmp_dir="
    stopped = StoppedError(saved=True)
    stopped.reword(in_keywords)
    assert "continue with resume=True" in str(stopped)


def test_functions_and_their_notes_speak_of_keywords(tmp_path):
    text = tmp_path / "c.txt"
    ids = np.random.default_rng(1).integers(0, 9, (60, 12))
    text.write_text("\n".join(" ".join(f"w{k}" for k in line) for line in ids))
    lines = tmp_path / "short.txt"
    lines.write_text("a b\n" * 9)
    notes = wg.count(lines, window=3).notes
    assert any('pass document="block" or document="file"' in note for note in notes)
    with pytest.raises(wg.errors.OutputExistsError, match=r"window=10, not 3; pass force=True"):
        wg.count(text, window=3, out=wg.count(text, out=tmp_path / "cooc").path)
    with pytest.raises(wg.errors.RankError, match="lower dim="):
        wg.train(tmp_path / "cooc", "gbu", dim=1000)
    with pytest.raises(wg.WordgeomError, match=r"run wg\.count_documents"):
        wg.train_model(tmp_path / "cooc", tmp_path / "model")


def test_too_little_memory_is_an_error_in_python(tmp_path):
    (tmp_path / "text.txt").write_text("a b c\n")
    with pytest.raises(OptionError, match=r"^memory must be 0 or at least"):
        wg.count(tmp_path / "text.txt", memory=0.1)
    with pytest.raises(OptionError, match=r"^memory must be 0 or at least"):
        wg.train(tmp_path / "cooc", "gbu", memory=0.1)
    with pytest.raises(OptionError, match="memory must be 0 or at least"):
        wg.TextVectorizer(memory=0.1).fit(["a b", "b c"])
