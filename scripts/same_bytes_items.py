"""What is compared of each file: its bytes, the values of a JSON text, the marks of a figure."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path
from typing import Any

# Seconds on an axis: this figure only has to be there.
_TIMED = "quality.svg"
# Keys of run cards and reports that may change without a change of data.
_DROPPED = {
    "seconds", "peak_bytes", "versions", "machine", "status", "notes", "messages", "warnings",
    "path", "paths", "stamp", "configuration", "invocation",
}  # fmt: skip
_MESSAGE = re.compile(r"\S+\s+\S+\s+\S")  # three words or more, which no value has
_PATH = re.compile(r"^/.*/")  # the directory of an absolute path
_SOME_MESSAGE = "(a message)"
_TEXT = re.compile(r'<g id="text_\d+">.*?</g>\s*</g>|<metadata>.*?</metadata>', re.DOTALL)
_DEFINITIONS = re.compile(r"<defs>.*?</defs>", re.DOTALL)


def files(work: Path) -> list[str]:
    """Return the names of all files that commands wrote, in order."""
    found = (path for path in work.rglob("*") if path.is_file() and not path.is_symlink())
    names = (path.relative_to(work) for path in found)
    return sorted(str(n) for n in names if n.parts[0] != "inputs" and n.suffix != ".toml")


def describe(work: Path, name: str) -> dict[str, Any]:
    """Return the size of a file, and the SHA-256 of what is compared of it."""
    path = work / name
    if kind(name) in ("array", "vectors", "other"):
        with path.open("rb") as handle:
            sha256 = hashlib.file_digest(handle, "sha256").hexdigest()
    else:
        sha256 = hashlib.sha256(_compared(work, name).encode()).hexdigest()
    return {"bytes": path.stat().st_size, "sha256": sha256}


def kind(name: str) -> str:
    """Return what a file is, which decides how it is compared."""
    path = Path(name)
    if path.name.endswith(".json"):
        beside = path.name == "meta.json" or len(path.suffixes) > 1
        return "run card" if beside else "report"
    if path.suffix == ".svg":
        return "figure"
    if path.suffix in (".npy", ".npz"):
        return "array"
    return "vectors" if path.suffix in (".bin", ".vec") else "other"


def facts(work: Path, name: str) -> Any:
    """Return what is compared of a JSON text; the whole text if it is none."""
    text = (work / name).read_text(encoding="utf-8", errors="replace")
    try:
        return _filtered(json.loads(text))
    except ValueError:
        return text


def marks(work: Path, name: str) -> str:
    """Return what is compared of a figure: all that is drawn, except text."""
    if Path(name).name == _TIMED:
        return "drawn"
    return _DEFINITIONS.sub("", _TEXT.sub("", (work / name).read_text(encoding="utf-8")))


def _compared(work: Path, name: str) -> str:
    if kind(name) == "figure":
        return marks(work, name)
    return json.dumps(facts(work, name), sort_keys=True)


def _filtered(value: Any) -> Any:
    """Return a value without dropped keys, messages, and the directories of absolute paths."""
    if isinstance(value, dict):
        kept = ((key, one) for key, one in value.items() if key not in _DROPPED)
        return {_key(key, k): _filtered(one) for k, (key, one) in enumerate(kept)}
    if isinstance(value, list):
        return [_filtered(one) for one in value]
    if isinstance(value, str):
        return _SOME_MESSAGE if _MESSAGE.search(value) else _PATH.sub("", value)
    return value


def _key(key: str, place: int) -> str:
    return f"{_SOME_MESSAGE} {place}" if _MESSAGE.search(key) else key
