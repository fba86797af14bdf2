"""The weighting of the pairs behind a vectors file, as far as its run card records it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wordgeom.core.errors import FormatError, OptionError
from wordgeom.core.options import flag
from wordgeom.methods.gbu import method as gbu
from wordgeom.vectors import run_card
from wordgeom.weighting.options import PmiOptions

_KEEPING = ("convert", "subwords")  # commands whose vectors fit the same pairs
_WHETHER = ("weighted", "sweeps", "as_published")  # options that decide whether sweeps are weighted


@dataclass(frozen=True)
class TrainedOptions:
    """The weighting of pairs, and the loss of gbu's sweeps.

    recorded: names of the options in the run card; space: that of the run card, or None.
    """

    sweeps: gbu.Options
    weighting: PmiOptions
    recorded: tuple[str, ...] = ()
    space: str | None = None

    @property
    def options(self) -> dict[str, Any]:
        """The weighting and the loss, by the names in run cards."""
        loss = {name: getattr(self.sweeps, name) for name in _names(self.sweeps)}
        return self.weighting.result_options() | loss

    def note(self, named: str) -> str:
        """Return which options come from the run card of the vectors `named`."""
        own: list[str] = []
        other: list[str] = []
        for name, value in self.options.items():
            if value is None:  # follows from the counts, as --shrinkage does
                continue
            (own if name in self.recorded else other).append(_spelt(name, value))
        parts = [f"options from the run card of {named}: {', '.join(own)}"] if own else []
        return "; ".join([*parts, *([f"by default: {', '.join(other)}"] if other else [])])


def trained_options(vectors: Path | None) -> TrainedOptions:
    """Return what the run card of a vectors file records, the defaults of gbu for the rest.

    The loss is squared for vectors of other methods and for those of plain sweeps. Without a run
    card it is logistic, which suits skip-gram's vectors (docs/methods/gbu.md). The card of vectors
    that were converted, or have subwords added, records the request that trained them as well.
    vectors: None for vectors in memory. Raises FormatError for an edited card.
    """
    card = {} if vectors is None else run_card.read_card(vectors) or {}
    request = card.get("request", {})
    if request.get("command") in _KEEPING:
        request = card.get("source")
    options = request.get("options") if isinstance(request, dict) else None
    held: Mapping[str, Any] = options if isinstance(options, dict) else {}
    try:
        sweeps = _sweeps(held)
        weighting = PmiOptions.take({**gbu.weighting(sweeps), **held})
    except OptionError as error:
        where = "" if vectors is None else run_card.card_path(vectors)
        what, do = f"contains an invalid option: {error}", "make the vectors again, or remove it"
        raise FormatError(what, where=where, do=do) from None
    recorded = [name for name in weighting.result_options() if name in held]
    recorded += [name for name in _names(sweeps) if name in _of_gbu(held)]
    space = held.get("space")
    known = space if isinstance(space, str) and space else None
    return TrainedOptions(sweeps, weighting, tuple(recorded), known)


def _sweeps(held: Mapping[str, Any]) -> gbu.Options:
    """Return the options of the loss that a run card holds. Raises OptionError."""
    own = _of_gbu(held)
    swept = gbu.Options.take({name: own[name] for name in _WHETHER if name in own})
    logistic = swept.in_weighted_sweeps and own.get("loss") == gbu.LOGISTIC
    loss = gbu.LOGISTIC if logistic or not held else gbu.SQUARED
    known = {name: own[name] for name in gbu.OF_LOSS[loss] if name in own}
    return gbu.Options.take({**known, "loss": loss})


def _names(sweeps: gbu.Options) -> tuple[str, ...]:
    """Return the names of the options of a loss."""
    return ("loss", *gbu.OF_LOSS[sweeps.loss])


def _of_gbu(held: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the options unless they are of another method, whose names may mean something else."""
    return held if held.get("method", "gbu") == "gbu" else {}


def _spelt(name: str, value: Any) -> str:
    return f"{flag(name)} {value:g}" if isinstance(value, float) else f"{flag(name)} {value}"
