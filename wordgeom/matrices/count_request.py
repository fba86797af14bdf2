"""The options of stored counts, completed for those that an older version wrote."""

from __future__ import annotations

from typing import Any

from wordgeom.corpus.options import case_of

# Options added since the first version, with the values that older versions used.
_BEFORE = {
    "input_format": "text", "text_field": None, "id_field": None, "time_field": None,
    "column": "form", "k": 3, "stop_words": None, "keep_words": None, "phrases": 0,
    "phrase_threshold": 5.0, "normalise": "none", "header": "no", "count": "pairs",
    "bad_records": "error", "delimiter": "auto", "time_from_name": None, "metadata": None,
    "token_pattern": None, "strip": "none", "passages": None,
}  # fmt: skip


def made_options(request: dict[str, Any]) -> dict[str, Any]:
    """Return the options of a count request, with defaults for options added since."""
    made = {**_BEFORE, **request["options"]}
    return {"case": case_of(made.get("tokeniser", "words"), "auto"), **made}
