"""The documentation: every command and option is in it, and every link leads somewhere."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import click
import pytest

import wordgeom
from wordgeom import methods
from wordgeom.cli import COMMANDS, group
from wordgeom.cli.frame import TABLES
from wordgeom.cli.plot import PLOTS

ROOT = Path(wordgeom.__file__).parent.parent
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), ROOT / "data" / "README.md"])
_LINK = re.compile(r"\]\(([^)\s]+)\)")


def options_of(name: str, method: str | None = None) -> set[str]:
    """The flags that --help of a command, or of one inside it, shows."""
    parent = click.Context(group, info_name="wordgeom")
    command: click.Command | None = group
    for word in name.split():
        assert isinstance(command, click.Group)
        command = command.get_command(parent, word)
    assert command is not None
    arguments = ["--method", method, "--help"] if method else ["--help"]
    context = command.make_context(name, arguments, parent, resilient_parsing=True)
    text = command.get_help(context)
    rows = re.findall(r"^  (?:-\w, )?(--[a-z0-9-]+)(?: / (--no-[a-z-]+))?", text, re.MULTILINE)
    return {spelling for row in rows for spelling in row if spelling}


def section(title: str) -> str:
    """A section of docs/reference/commands.md, to the next heading of its level or a higher one."""
    text = (ROOT / "docs" / "reference" / "commands.md").read_text(encoding="utf-8")
    level, _, rest = text.partition(f"# {title}\n")
    depth = len(level) - len(level.rstrip("#")) + 1
    return re.split(rf"^#{{1,{depth}}} ", rest, maxsplit=1, flags=re.MULTILINE)[0]


@pytest.mark.parametrize("name", [*COMMANDS, *(f"plot {picture}" for picture in PLOTS)])
def test_every_command_and_option_is_documented(name):
    shown = options_of(name)
    assert "--help" in shown
    documented = section(name)
    for spelling in shown - {"--help"}:
        assert f"`{spelling}`" in documented


@pytest.mark.parametrize("method", methods.names())
def test_every_option_of_a_method_is_documented(method):
    documented = section(f"train --method {method}") + section("train")
    for spelling in options_of("train", method) - {"--help"}:
        assert f"`{spelling}`" in documented


def test_the_reference_of_commands_is_up_to_date():
    script = ROOT / "scripts" / "command_reference.py"
    done = subprocess.run(
        [sys.executable, str(script), "--check"], capture_output=True, text=True, check=False,
        env={"PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    ("command", "row"),
    [
        ("similar", "| `--top` | N at least 1 |"),
        ("drift", "| `--top` | N at least 0 |"),
        ("jobs", "| `--memory` | GB between 0.3 and 1000000 |"),
        ("train --method gbu", "| `--anchors` | M at least 0 |"),
        ("train --method mde", "| `--anchors` | FILE |"),
    ],
)
def test_the_reference_gives_each_command_its_own_range(command, row):
    assert row in section(command)


def test_the_guide_gives_the_order_of_the_pipeline():
    text = (ROOT / "docs" / "guide" / "command-line.md").read_text(encoding="utf-8")
    found = re.search(r"in the order of the pipeline: ([^.]*)\.", text)
    assert found is not None
    assert re.findall(r"`([\w-]+)`", found[1]) == list(TABLES)


@pytest.mark.parametrize("option", ["--json", "--markdown"])
def test_the_guide_lists_the_commands_with_an_option(option):
    text = (ROOT / "docs" / "guide" / "command-line.md").read_text(encoding="utf-8")
    found = re.search(rf"^\| `{option}` \| (.*) \|$", text, re.MULTILINE)
    assert found is not None
    have = {name for name in COMMANDS if option in options_of(name)}
    assert set(re.findall(r"`([\w-]+)`", found[1])) == have


def test_the_readme_names_every_command():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert "docs/reference/commands.md" in readme
    for name in COMMANDS:
        assert f"`{name}`" in readme


def test_every_extra_is_documented():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = set(project["optional-dependencies"]) - {"dev", "docs"}  # those of contributors
    listed = re.search(r"# extras: (.*)", (ROOT / "README.md").read_text(encoding="utf-8"))
    assert listed is not None
    assert set(listed[1].split(", ")) == extras
    errors = (ROOT / "docs" / "reference" / "errors.md").read_text(encoding="utf-8")
    assert set(re.findall(r"`pip install 'wordgeom\[(\w+)\]'`", errors)) == extras


@pytest.mark.parametrize("page", PAGES, ids=lambda p: str(p.relative_to(ROOT)))
def test_every_link_leads_to_a_file(page):
    text = page.read_text(encoding="utf-8")
    prose = re.sub(r"^```.*?^```|^    .*?$", "", text, flags=re.MULTILINE | re.DOTALL)
    for link in _LINK.findall(prose):
        if not re.match(r"[a-z]+:|#", link):
            assert (page.parent / link.partition("#")[0]).exists(), link
