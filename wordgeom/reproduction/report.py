"""The report of `rerun`: the answer for each output, and what else differs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wordgeom.reproduction.circumstances import differences
from wordgeom.reproduction.closeness import Answer, Closeness
from wordgeom.reproduction.files import compare_outputs, digest_at
from wordgeom.reproduction.recorded import Recorded, read_recorded


@dataclass(frozen=True)
class Report:
    """Each output with its closeness, and (what, then, now) for everything else that differs."""

    outputs: Sequence[tuple[Path, Closeness]]
    differences: Sequence[tuple[str, str, str]]

    @property
    def different(self) -> bool:
        """Whether an output is different."""
        return self.answer == Answer.DIFFERENT

    @property
    def answer(self) -> Answer:
        """The worst answer."""
        return Closeness.worst([one for _, one in self.outputs]).answer

    def text(self) -> str:
        """Return the report in lines."""
        lines = [f"{path}: {one.answer.words}" + (f" ({one.how})" if one.how else "")
                 for path, one in self.outputs]  # fmt: skip
        lines += [f"  {what}: {then} then, {now} now" for what, then, now in self.differences]
        if self.different and not self.differences:
            lines.append("  versions, processor, inputs and options are the same")
        return "\n".join(lines)

    def facts(self) -> dict[str, Any]:
        """Return the report as JSON values."""
        outputs = [{"path": str(path), "answer": one.answer.name.lower(), "how": one.how}
                   for path, one in self.outputs]  # fmt: skip
        others = [{"what": what, "then": then, "now": now} for what, then, now in self.differences]
        return {"answer": self.answer.name.lower(), "outputs": outputs, "differences": others}


def compare_runs(
    recorded: Recorded,
    outputs: Mapping[Path, Path],
    options: Mapping[str, Any],
    changed: Sequence[str],
) -> Report:
    """Return the report on a repeated run.

    outputs: each recorded output with the repeated one; options: of the repetition; changed: the
    inputs that changed. Raises FormatError for a damaged output.
    """
    found: list[tuple[Path, Closeness]] = []
    now: Mapping[str, Any] = {}
    for then, made in outputs.items():
        if _same(then, recorded.output):
            now = read_recorded(made).card
            found.append((then, _compare_recorded(then, made, recorded.digest)))
        elif then.exists():
            found.append((then, compare_outputs(then, made)))
    others = [(path, _then(recorded, path), "another") for path in changed]
    return Report(found, [*others, *differences(recorded, now, options)])


def _then(recorded: Recorded, path: str) -> str:
    """Return how a changed input is described as it was."""
    return f"digest {recorded.inputs[path][:12]}…" if path in recorded.inputs else "not an input"


def _compare_recorded(then: Path, made: Path, digest: str) -> Closeness:
    """Compare with the digest of the card, and where that differs with what lies there."""
    if digest_at(made) == digest:
        return Closeness(Answer.IDENTICAL)
    if not then.exists() or digest_at(then) != digest:
        how = "the recorded output is gone or has changed, so by how much is unknown"
        return Closeness(Answer.DIFFERENT, how)
    return compare_outputs(then, made)


def _same(one: Path, other: Path) -> bool:
    return one.absolute().resolve() == other.resolve()
