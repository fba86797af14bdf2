"""The weighting of the pairs behind a vectors file, as far as its run card records it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wordgeom.core.errors import FormatError, OptionError
from wordgeom.core.options import flag
from wordgeom.methods.gbu import method as gbu
from wordgeom.methods.gbu.weighted_sweeps import Loss
from wordgeom.vectors import run_card
from wordgeom.weighting.options import PmiOptions

_LOSS = ("x_max", "alpha", "background", "ridge")


@dataclass(frozen=True)
class TrainedOptions:
    """The weighting of pairs; recorded: names of the options in the run card; space, or None."""

    loss: Loss
    weighting: PmiOptions
    recorded: tuple[str, ...] = ()
    space: str | None = None

    @property
    def options(self) -> dict[str, Any]:
        """The weighting, by the names in run cards."""
        return {**self.weighting.result_options(), **vars(self.loss)}

    def note(self, named: str) -> str:
        """Return which options come from the run card of the vectors `named`."""
        own: list[str] = []
        other: list[str] = []
        for name, value in self.options.items():
            (own if name in self.recorded else other).append(_spelt(name, value))
        parts = [f"options from the run card of {named}: {', '.join(own)}"] if own else []
        return "; ".join([*parts, *([f"defaults of gbu: {', '.join(other)}"] if other else [])])


def trained_options(vectors: Path | None) -> TrainedOptions:
    """Return what the run card of a vectors file records, the defaults of gbu for the rest.

    The card of converted vectors records the request that made them as well.
    vectors: None for vectors in memory. Raises FormatError for an edited card.
    """
    card = {} if vectors is None else run_card.read_card(vectors) or {}
    request = card.get("request", {})
    if request.get("command") == "convert":
        request = card.get("source")
    options = request.get("options") if isinstance(request, dict) else None
    held: Mapping[str, Any] = options if isinstance(options, dict) else {}
    try:
        asked = gbu.Options.take({name: held[name] for name in _LOSS if name in held})
        weighting = PmiOptions.take({**gbu.weighting(asked), **held})
    except OptionError as error:
        where = "" if vectors is None else run_card.card_path(vectors)
        what, do = f"contains an invalid option: {error}", "make the vectors again, or remove it"
        raise FormatError(what, where=where, do=do) from None
    names = (*weighting.result_options(), *_LOSS)
    space = held.get("space")
    recorded = tuple(name for name in names if name in held)
    return TrainedOptions(
        asked.squared_loss, weighting, recorded, space if isinstance(space, str) and space else None
    )


def _spelt(name: str, value: Any) -> str:
    return f"{flag(name)} {value:g}" if isinstance(value, float) else f"{flag(name)} {value}"
