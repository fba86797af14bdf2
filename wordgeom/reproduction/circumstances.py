"""What differs between a recorded run and its repetition, besides the output."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from wordgeom.core.options import flag
from wordgeom.reproduction.recorded import Recorded

_SHARED, _BLAS = ("processor", "system"), "blas"


def differences(
    recorded: Recorded, now: Mapping[str, Any], options: Mapping[str, Any]
) -> Iterator[tuple[str, str, str]]:
    """Yield (what, then, now) for each version, part of the machine and option that differs.

    now: the run card of the repetition; options: of its request.
    """
    then = recorded.card
    yield from _differing(_table(then, "versions"), _table(now, "versions"))
    before, after = _table(then, "machine"), _table(now, "machine")
    shared = [name for name in (*_SHARED, _BLAS) if name in before and name in after]
    if _BLAS in shared:  # the libraries that were loaded, which earlier stages of a process add to
        one, other = (set(str(table[_BLAS]).split(", ")) for table in (before, after))
        shared = [name for name in shared if name != _BLAS or not (one <= other or other <= one)]
    yield from _differing({n: before[n] for n in shared}, {n: after[n] for n in shared})
    made = recorded.options
    asked = {name: value for name, value in options.items() if name in made or value}
    known = {flag(name): made[name] for name in asked if name in made}
    yield from _differing(known, {flag(name): value for name, value in asked.items()})


def _differing(then: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    for name in dict.fromkeys((*then, *now)):
        one, other = (_spelt(table.get(name)) for table in (then, now))
        if one != other:
            yield name, one, other


def _table(card: Mapping[str, Any], name: str) -> dict[str, Any]:
    value = card.get(name)
    return value if isinstance(value, dict) else {}


def _spelt(value: Any) -> str:
    if value is None or value is False:
        return "none"
    return ", ".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)
