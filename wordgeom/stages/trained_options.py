"""How the pairs behind a vectors file were weighted, as far as its run card tells."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wordgeom.core.errors import FormatError, OptionError
from wordgeom.core.options import flag
from wordgeom.methods.gbu import method
from wordgeom.methods.gbu.weighted_sweeps import Loss
from wordgeom.vectors import run_card
from wordgeom.weighting.options import PmiOptions

_LOSS = ("x_max", "alpha", "background", "ridge")


@dataclass(frozen=True)
class AsTrained:
    """The weighting of pairs; told: names of options that a run card holds; space, or None."""

    loss: Loss
    weighting: PmiOptions
    told: tuple[str, ...] = ()
    space: str | None = None

    @property
    def options(self) -> dict[str, Any]:
        """What weights the pairs, by the names that run cards have for it."""
        return {**self.weighting.result_options(), **vars(self.loss)}

    def note(self, named: str) -> str:
        """Tell which options the run card of the vectors `named` told, and which it did not."""
        card = [_spelt(name, value) for name, value in self.options.items() if name in self.told]
        other = [_spelt(name, value) for name, value in self.options.items()
                 if name not in self.told]  # fmt: skip
        parts = [f"as the run card of {named} says: {', '.join(card)}"] if card else []
        return "; ".join([*parts, *([f"defaults of gbu: {', '.join(other)}"] if other else [])])


def as_trained(vectors: Path | None) -> AsTrained:
    """Return what the run card of a vectors file tells, the defaults of gbu for the rest.

    vectors: None for those that lie in memory. Raises FormatError for a card that was edited.
    """
    card = {} if vectors is None else run_card.read_card(vectors) or {}
    options = card.get("request", {}).get("options")
    held: Mapping[str, Any] = options if isinstance(options, dict) else {}
    try:
        asked = method.Options.take({name: held[name] for name in _LOSS if name in held})
        weighting = PmiOptions.take({**method.weighting(asked), **held})
    except OptionError as error:
        where = None if vectors is None else run_card.card_path(vectors)
        what, do = "holds an option that cannot be", "make the vectors again, or remove it"
        raise FormatError(what, where=where or "", found=error, do=do) from None
    names = (*weighting.result_options(), *_LOSS)
    space = held.get("space")
    space = space if isinstance(space, str) and space else None
    told = tuple(name for name in names if name in held)
    return AsTrained(
        asked.loss, weighting, told, space if isinstance(space, str) and space else None
    )


def _spelt(name: str, value: Any) -> str:
    return f"{flag(name)} {value:g}" if isinstance(value, float) else f"{flag(name)} {value}"
