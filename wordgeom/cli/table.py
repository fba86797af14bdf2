"""Words with their cosine similarities, as text or JSON."""

from __future__ import annotations

import json

import click


def print_words(found: list[tuple[str, float]], as_json: bool) -> None:
    """Print words with their cosines, one a line, or as JSON."""
    if as_json:
        rows = [{"word": word, "cosine": round(cosine, 6)} for word, cosine in found]
        click.echo(json.dumps(rows, ensure_ascii=False))
        return
    width = max((len(word) for word, _ in found), default=0)
    for word, cosine in found:
        click.echo(f"{word:<{width}}  {cosine:.4f}")
