"""The options that counts were made with, also where they were made by an older version."""

from __future__ import annotations

from typing import Any

# Options added since the first version, with the values that older counts were made with.
_BEFORE = {
    "input_format": "text", "text_field": None, "id_field": None, "time_field": None,
    "column": "form", "k": 3, "stop_words": None, "keep_words": None, "phrases": 0,
    "phrase_threshold": 5.0, "count": "pairs",
}  # fmt: skip


def made_options(request: dict[str, Any]) -> dict[str, Any]:
    """Return the options of a request for counts, completed with those added since."""
    return {**_BEFORE, **request["options"]}
