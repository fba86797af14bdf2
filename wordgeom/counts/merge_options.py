"""The options of `merge`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from wordgeom.core.errors import OptionError
from wordgeom.core.options import Options, option


@dataclass(frozen=True)
class MergeOptions(Options):
    """How matrices are combined; by default, matrices over the same words are added up."""

    subtract: bool = option(False, "subtract the other matrices from the first")
    union: bool = option(False, "merge different vocabularies; absent words count 0")
    part: bool = option(False, "merge adjacent shards of a count to a larger shard")

    def __post_init__(self) -> None:
        super().__post_init__()
        passed = [f"--{name}" for name in self.result_options()]
        if len(passed) > 1:
            what = f"{' and '.join(passed)} exclude each other"
            raise OptionError(what, do="pass one of them")

    def result_options(self) -> dict[str, Any]:
        """Return the options that are set: a plain sum has a request without any."""
        return {name: value for name, value in super().result_options().items() if value}
