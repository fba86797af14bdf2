"""Compare two digests: a table of what is identical, and every difference with its size."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from same_bytes_items import kind
from same_bytes_sizes import Difference, measure

Digest = Mapping[str, Any]  # as same_bytes_digest makes it
_KINDS = ("array", "vectors", "run card", "report", "figure", "other")
_ROW = "{:<12}{:>10}{:>11}{:>11}{:>10}"


def compare(before: Digest, after: Digest, expected: Sequence[str]) -> bool:
    """Print the table and the differences; tell whether all of these are expected.

    expected: patterns of file names, or of places in JSON texts, `FILE:run.statistics.steps`.
    Raises SystemExit for digests of different data.
    """
    if before["inputs"] != after["inputs"]:
        raise SystemExit("the two digests are of different data")
    for label, digest in (("before", before), ("after", after)):
        print(
            f"{label}: {digest['checkout']} at {digest['commit']}, {len(digest['items']):,} files"
        )
    found = {**_failures(before, after), **_differences(before, after)}
    known = {name for name, one in found.items() if _is_expected(name, one, expected)}
    _print_table({*before["items"], *after["items"]}, found, known)
    for name, difference in found.items():
        print(f"{'expected' if name in known else 'DIFFERS '}  {name}: {difference.size}")
    return len(known) == len(found)


def _failures(before: Digest, after: Digest) -> dict[str, Difference]:
    labelled = (("before", before["failed"]), ("after", after["failed"]))
    return {
        f"failed {label}: {line}": Difference(message)
        for label, failed in labelled
        for line, message in failed.items()
    }


def _differences(before: Digest, after: Digest) -> dict[str, Difference]:
    one, other = before["items"], after["items"]
    found = {name: Difference("only before") for name in one if name not in other}
    found |= {name: Difference("only after") for name in other if name not in one}
    apart = [n for n in one if n in other and one[n]["sha256"] != other[n]["sha256"]]
    places = Path(before["outputs"]), Path(after["outputs"])
    for name in apart:
        if all((place / name).is_file() for place in places):
            found[name] = measure(*places, name)
        else:
            sizes = f"{one[name]['bytes']:,} bytes and {other[name]['bytes']:,}"
            found[name] = Difference(f"{sizes}; digest with --outputs to see by how much")
    return found


def _is_expected(name: str, found: Difference, patterns: Sequence[str]) -> bool:
    def matches(text: str) -> bool:
        return any(fnmatchcase(text, pattern) for pattern in patterns)

    places = [f"{name}:{leaf}" for leaf in found.leaves]
    return matches(name) or (bool(places) and all(map(matches, places)))


def _print_table(names: set[str], found: Mapping[str, Difference], known: set[str]) -> None:
    compared = Counter(map(kind, names))
    differing = Counter(kind(name) for name in found if name in names and name not in known)
    expected = Counter(kind(name) for name in known if name in names)
    print(f"\n{_ROW.format('files', 'compared', 'identical', 'differing', 'expected')}")
    for what in (*_KINDS, "all"):
        counts = [
            sum(c.values()) if what == "all" else c[what] for c in (compared, differing, expected)
        ]
        identical = counts[0] - counts[1] - counts[2]
        print(_ROW.format(what, counts[0], identical, counts[1], counts[2]))
    print()
