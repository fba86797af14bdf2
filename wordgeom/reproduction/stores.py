"""Compare two stores, part by part."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from wordgeom.reproduction.closeness import TOLERANCE, Answer, Closeness, Differences
from wordgeom.storage.store import Store

_BLOCK = 1 << 20  # numbers compared at once
_SHOWN = 40  # characters of an attribute


def compare_stores(then: Store, now: Store) -> Closeness:
    """Return how close two stores of different digests are. Raises FormatError."""
    if then.kind != now.kind:
        return _different(f"a {now.kind} store, not {then.kind}")
    if not _close(then.attributes, now.attributes):
        names = dict.fromkeys((*then.attributes, *now.attributes))
        pairs = ((name, then.attributes.get(name), now.attributes.get(name)) for name in names)
        name, one, other = next(pair for pair in pairs if not _close(pair[1], pair[2]))
        return _different(f"{name}: {str(one)[:_SHOWN]} then, {str(other)[:_SHOWN]} now")
    if then.parts().keys() != now.parts().keys():
        return _different("other parts")
    every = [_compare_part(name, then, now) for name in then.parts()]
    return Closeness.worst([*every, Closeness(Answer.EQUAL, "attributes")])


def _compare_part(name: str, then: Store, now: Store) -> Closeness:
    one, other = then.array(name), now.array(name)
    if one.dtype != other.dtype or one.length != other.length:
        return _different(f"{name} has another length or type")
    found, same = Differences(), True
    for start in range(0, one.length, _BLOCK):
        stop = min(start + _BLOCK, one.length)
        left, right = one.read(start, stop), other.read(start, stop)
        if left.tobytes() != right.tobytes():
            same = False
            if left.dtype.kind != "f":
                return _different(f"{name} differs")
        if left.dtype.kind == "f":
            found.add(left, right)
    return Closeness(Answer.IDENTICAL) if same else found.closeness(name)


def _different(how: str) -> Closeness:
    return Closeness(Answer.DIFFERENT, how)


def _close(then: Any, now: Any) -> bool:
    """Return whether two JSON values agree, numbers to the tolerance."""
    if isinstance(then, dict) and isinstance(now, dict):
        return then.keys() == now.keys() and all(_close(then[k], now[k]) for k in then)
    if isinstance(then, list) and isinstance(now, list):
        if all(isinstance(x, float) for x in (*then, *now)) and len(then) == len(now):
            found = Differences()
            found.add(np.array(then), np.array(now))
            return found.closeness("").answer <= Answer.EQUAL
        return len(then) == len(now) and all(map(_close, then, now))
    if isinstance(then, float) and isinstance(now, float):
        return then == now or math.isclose(then, now, rel_tol=TOLERANCE)
    return bool(then == now)
