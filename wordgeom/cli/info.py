"""`wordgeom info`: describe a matrix, a model or a vectors file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from wordgeom.cli.command import Command

_SHORT = 3  # entries of a table that fit on a line; numbers shown of a long list
_LONG = 8  # numbers of a list that is shown in full
_NOTES = "notes"  # a list of sentences


@click.command("info", cls=Command)
@click.argument("path")
@click.option("--digest", is_flag=True, help="print only the digest of the content")
@click.option("--check", is_flag=True, help="verify every byte")
@click.option("--json", "as_json", is_flag=True, help="print JSON")
def command(path: str, digest: bool, check: bool, as_json: bool) -> None:
    """Describe PATH, a matrix, a model or a vectors file, and how it was made."""
    from wordgeom.cli.frame import text
    from wordgeom.stages.artefacts import artefact_at

    facts = artefact_at(Path(text("PATH", path))).describe(check=check)
    if digest:
        click.echo(facts["digest"])
    elif as_json:
        click.echo(json.dumps(facts, ensure_ascii=False, indent=1))
    else:
        lines = _validation(facts)
        _print(facts, "")
        if lines:
            click.echo("\n".join(["", *lines]))


def _validation(facts: dict[str, Any]) -> list[str]:
    """Remove the validation of imputed vectors from the facts, and return it as a table."""
    card = facts.get("run")
    statistics = card.get("statistics") if isinstance(card, dict) else None
    if not isinstance(statistics, dict) or "validation" not in statistics:
        return []
    from wordgeom.imputation.report import validation_lines
    from wordgeom.imputation.saved_validation import read_validation

    held = read_validation(statistics["validation"])
    if held is None:
        return []
    statistics["validation"] = f"{held.folds} folds, see below"
    return validation_lines(held)


def _print(facts: dict[str, Any], indent: str) -> None:
    facts = _known(facts)
    width = max(map(len, facts), default=0)
    for name, value in facts.items():
        if isinstance(value, dict) and (len(value) > _SHORT or not _flat(value)):
            click.echo(f"{indent}{name}")
            _print(value, indent + "  ")
        elif isinstance(value, list) and len(value) > 1 and _wide(name, value):
            click.echo("\n".join([f"{indent}{name}", *(f"{indent}  {_text(v)}" for v in value)]))
        else:
            click.echo(f"{indent}{name:<{width}}  {_text(value)}".rstrip())


def _known(facts: dict[str, Any]) -> dict[str, Any]:
    """Return the facts without options that were not given."""
    return {name: value for name, value in facts.items() if value is not None}


def _flat(facts: dict[str, Any]) -> bool:
    return not any(isinstance(value, (dict, list)) for value in facts.values())


def _wide(name: str, values: list[Any]) -> bool:
    """Return whether each value takes a line of its own."""
    return name == _NOTES or any(isinstance(value, dict) for value in values)


def _text(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{k} {_text(v)}" for k, v in _known(value).items())
    if isinstance(value, list):
        if len(value) > _LONG and all(isinstance(one, int | float) for one in value):
            first = ", ".join(map(_text, value[:_SHORT]))
            return f"{first} … {_text(value[-1])} ({len(value):,} numbers)"
        return ", ".join(map(_text, value))
    if isinstance(value, bool) or not isinstance(value, int):
        return str(value)
    return f"{value:,}"
