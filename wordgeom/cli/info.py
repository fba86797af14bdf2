"""`wordgeom info`: what a matrix or a vectors file is."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import click


@click.command("info")
@click.argument("path")
@click.option("--digest", is_flag=True, help="print the content's digest alone")
@click.option("--check", is_flag=True, help="read everything and check it")
@click.option("--json", "as_json", is_flag=True, help="print JSON")
def command(path: str, digest: bool, check: bool, as_json: bool) -> None:
    """Tell what the matrix folder or vectors file PATH holds and how it was made."""
    from wordgeom.describe import describe

    facts = describe(Path(path), check=check)
    if digest:
        click.echo(facts["digest"])
    elif as_json:
        click.echo(json.dumps(facts, ensure_ascii=False, indent=1))
    else:
        _print(facts, "")


def _print(facts: dict[str, Any], indent: str) -> None:
    for name, value in facts.items():
        if isinstance(value, dict):
            click.echo(f"{indent}{name}")
            _print(value, indent + "  ")
        elif isinstance(value, list):
            click.echo(f"{indent}{name}  {', '.join(map(_text, value))}")
        else:
            click.echo(f"{indent}{name}  {_text(value)}")


def _text(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{k} {_text(v)}" for k, v in value.items())
    if isinstance(value, bool) or not isinstance(value, int):
        return os.fspath(value) if isinstance(value, os.PathLike) else str(value)
    return f"{value:,}"
