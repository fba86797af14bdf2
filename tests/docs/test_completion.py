"""Shell completion as docs/guide/command-line.md sets it up."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import wordgeom
from wordgeom import methods
from wordgeom.cli import COMMANDS, main

ROOT = Path(wordgeom.__file__).parent.parent


def completions(
    line: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> list[str]:
    """Return bash's completions of the last word of a line, as `type,value`."""
    words = line.split(" ")
    monkeypatch.setenv("COMP_WORDS", line)
    monkeypatch.setenv("COMP_CWORD", str(len(words) - 1))
    monkeypatch.setenv("_WORDGEOM_COMPLETE", "bash_complete")
    assert main([]) == 0
    return capsys.readouterr().out.split()


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("wordgeom ", [f"plain,{name}" for name in COMMANDS]),
        ("wordgeom build-", ["plain,build-cooc", "plain,build-dtm", "plain,build-pmi"]),
        ("wordgeom train --method ", [f"plain,{name}" for name in methods.names()]),
        ("wordgeom train --method pm", ["plain,pmi-eigs"]),
        ("wordgeom compare --methods gbu,pm", ["plain,gbu,pmi-eigs"]),
        ("wordgeom train --method gbu --sw", ["plain,--sweeps"]),
        ("wordgeom train --weighting n", ["plain,npmi"]),
        ("wordgeom plot s", ["plain,spectrum"]),
        ("wordgeom nothing-of-that-name", []),
    ],
)
def test_commands_options_choices_and_methods_are_completed(line, expected, capsys, monkeypatch):
    assert completions(line, capsys, monkeypatch) == expected


@pytest.mark.parametrize("line", ["wordgeom eval vec", "wordgeom train coo", "wordgeom train -o v"])
def test_other_words_are_left_to_the_shell_as_files(line, capsys, monkeypatch):
    word = line.rpartition(" ")[2]
    assert completions(line, capsys, monkeypatch) == [f"file,{word}"]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_of_a_shell_can_be_read_by_it(shell, capsys, monkeypatch):
    monkeypatch.setenv("_WORDGEOM_COMPLETE", f"{shell}_source")
    assert main([]) == 0
    script = capsys.readouterr().out
    assert "_WORDGEOM_COMPLETE" in script
    if program := shutil.which(shell):
        subprocess.run([program, "-n"], input=script, text=True, check=True)


def test_bash_completes_after_the_line_of_the_guide(tmp_path):
    guide = (ROOT / "docs" / "guide" / "command-line.md").read_text(encoding="utf-8")
    line = 'eval "$(_WORDGEOM_COMPLETE=bash_source wordgeom)"'
    assert line in guide
    program = tmp_path / "wordgeom"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m wordgeom "$@"\n', encoding="utf-8")
    program.chmod(0o755)
    asked = "COMP_WORDS=(wordgeom train --method g); COMP_CWORD=3; _wordgeom_completion wordgeom"
    path = f"{tmp_path}:{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-c", f'{line}; {asked}; echo "${{COMPREPLY[@]}}"'], capture_output=True,
        text=True, check=True, env={**os.environ, "PATH": path, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    assert done.stdout.split() == ["gbu"]
