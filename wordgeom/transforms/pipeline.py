"""The steps of `wordgeom transform`, in their order.

normalise → center → remove-top → canonical, dim and power → orthonormal → fit → align. Whatever
needs the spectrum comes before what has none: `--dim` and `--power` act on the singular values, and
`--align` needs the final dimension.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from wordgeom.core.errors import InputError
from wordgeom.linalg.blas import one_thread
from wordgeom.runtime.context import Context
from wordgeom.transforms.align import align
from wordgeom.transforms.canonical import canonical
from wordgeom.transforms.centre import centre, remove_top
from wordgeom.transforms.fit.choice import fit
from wordgeom.transforms.fit.pairs import PairFile
from wordgeom.transforms.options import TransformOptions
from wordgeom.transforms.orthonormal import orthonormal
from wordgeom.transforms.power import best_power, power
from wordgeom.transforms.space import Space, Step
from wordgeom.vectors.keyed import Vectors


@dataclass(frozen=True)
class Files:
    """What the steps read besides the vectors.

    fitted: pairs of --fit; powered: those of --power best; other: vectors to align to, and named.
    """

    fitted: PairFile | None = None
    powered: PairFile | None = None
    other: Vectors | None = None
    named: str = ""


@dataclass
class Transformed:
    """The space after the steps so far, the facts of each step by its name, notes and lines."""

    space: Space
    facts: dict[str, dict[str, Any]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)

    def add(self, name: str, step: Step) -> None:
        """Record a step."""
        self.space, self.facts[name] = step.space, step.facts
        self.notes += step.notes
        self.lines += [step.line] if step.line else []


def transformed(
    vectors: Vectors, options: TransformOptions, files: Files, context: Context
) -> Transformed:
    """Return the space after all steps. Raises InputError, OptionError, RankError."""
    made = Transformed(Space.of(vectors, context.pool))
    with one_thread():
        if not made.space.moments().products.any():
            raise InputError("all vectors are zero", do="train again")
        if options.normalise:
            made.add("normalise", Step(replace(made.space, unit=True)))
        if options.center:
            made.add("center", centre(made.space))
        if options.remove_top:
            made.add("remove_top", remove_top(made.space, options.remove_top))
        if options.canonical or options.dim or options.power:
            _add_canonical(made, options, files)
        if options.orthonormal:
            made.add("orthonormal", orthonormal(made.space))
        if files.fitted is not None:
            made.add("fit", fit(made.space, files.fitted, options, context))
        if files.other is not None:
            other = Space.of(files.other, context.pool)
            made.add("align", align(made.space, other, files.named))
    return made


def _add_canonical(made: Transformed, options: TransformOptions, files: Files) -> None:
    """Add the canonical form, with --dim and --power."""
    step, singular = canonical(made.space, options.dim)
    made.add("canonical", step)
    if not options.power:
        return
    exponent, chosen = options.exponent, files.powered or files.fitted
    facts: dict[str, Any] = {}
    if exponent is None:
        assert chosen is not None
        exponent, facts = best_power(chosen.judged(made.space), singular)
    step = power(made.space, singular, exponent)
    line = "--power best: {power:g}, correlation with {pairs:,} pairs {before:.4f} → {after:.4f}"
    facts = {**step.facts, **facts}
    made.add(
        "power", replace(step, facts=facts, line=line.format(**facts) if "pairs" in facts else "")
    )
