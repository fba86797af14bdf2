"""What the pages say of methods, options, functions and errors is so, and every page is listed."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import click
import pytest

import wordgeom
from wordgeom import methods
from wordgeom.cli import group
from wordgeom.core import errors

ROOT = Path(wordgeom.__file__).parent.parent
DOCS = ROOT / "docs"
# The command whose options a section of a page lists, by page and heading.
LISTED = {
    **{(name, "Options"): f"train --method {name}" for name in methods.names()},
    ("drift", "Options"): "drift",
    ("drift-measures", "Options"): "drift",
    ("impute", "Options"): "impute",
    ("subwords", "Options"): "subwords",
    ("gbu", "New words"): "extend",
}
HEADINGS = ("When to use it", "When not to use it", "Options", "Figures", "Reference")
_ROW = re.compile(r"^\| ((?:`--[a-z-]+`(?:, )?)+) \| ([^|]*) \|", re.MULTILINE)
_LINK = re.compile(r"\]\(([^)#\s:]*)#([^)\s]+)\)")
MOST_WORDS = 900  # of README.md


def read(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def section(page: Path, title: str) -> str:
    """A section of a page, to the next heading of level 2."""
    return re.split(r"^## ", read(page).partition(f"\n## {title}\n")[2], flags=re.MULTILINE)[0]


def defaults_of(line: str) -> dict[str, str]:
    """The flags of a command and the defaults that its --help shows, "" for none."""
    name, *arguments = line.split()
    parent = click.Context(group, info_name="wordgeom")
    command = group.get_command(parent, name)
    assert command is not None
    context = command.make_context(name, [*arguments, "--help"], parent, resilient_parsing=True)
    found: dict[str, str] = {}
    for option in context.command.params:
        if isinstance(option, click.Option):
            default = (option.help or "").partition("  [")[2].removesuffix("]")
            found |= dict.fromkeys([*option.opts, *option.secondary_opts], default)
    return found


@pytest.mark.parametrize("name", [*methods.names(), "drift", "drift-measures", "impute"])
def test_a_method_has_a_page_of_the_usual_sections(name):
    page = DOCS / "methods" / f"{name}.md"
    for heading in HEADINGS:
        assert section(page, heading).strip(), heading
    assert "```bibtex\n@" in section(page, "Reference")


@pytest.mark.parametrize(("page", "heading"), LISTED)
def test_options_and_defaults_of_a_method_page_are_those_of_the_program(page, heading):
    known = defaults_of(LISTED[page, heading])
    rows = _ROW.findall(section(DOCS / "methods" / f"{page}.md", heading))
    assert rows
    for flags, default in rows:
        for flag in re.findall(r"--[a-z-]+", flags):
            assert flag in known
            assert not default.strip() or known[flag].split(";")[0] == default.strip(), flag


def test_every_public_name_is_in_the_api_reference():
    documented = re.findall(r"^::: wordgeom\.(\w+)$", read(DOCS / "reference" / "api.md"), re.M)
    assert sorted(documented) == sorted(wordgeom.__all__)


def test_every_error_is_documented_with_its_builtin_and_status():
    page = read(DOCS / "reference" / "errors.md")
    for name, error in inspect.getmembers(errors, inspect.isclass):
        if error.__module__ == errors.__name__ and error is not errors.WordgeomError:
            builtin, status = error.__bases__[-1].__name__, vars(errors)[name].exit_code
            row = rf"^\| `{name}` \| `{builtin}` \| .* \| {status} \|$"
            assert re.search(row, page, re.M), name


def test_every_page_is_in_the_navigation_of_the_site():
    listed = re.findall(r": ([\w/-]+\.md)$", read(ROOT / "scripts" / "mkdocs.yml"), re.M)
    pages = {path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md")}
    assert pages <= set(listed)
    assert len(listed) == len(set(listed))


def test_the_readme_is_short():
    assert len(read(ROOT / "README.md").split()) <= MOST_WORDS


@pytest.mark.parametrize(
    "page",
    [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))],
    ids=lambda p: p.relative_to(ROOT).as_posix(),
)
def test_every_anchor_of_a_link_is_a_heading(page):
    for target, anchor in _LINK.findall(read(page)):
        linked = page.parent / target if target else page
        assert anchor in anchors(linked), f"{target}#{anchor}"


def anchors(page: Path) -> set[str]:
    """The anchors that GitHub and MkDocs give to the headings of a page."""
    text = re.sub(r"^```.*?^```$", "", read(page), flags=re.MULTILINE | re.DOTALL)
    titles = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).strip().replace(" ", "-") for title in titles}
