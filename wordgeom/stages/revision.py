"""The frame of the stages that write given vectors in another form: `transform` and `compress`."""

from __future__ import annotations

from wordgeom.stages.given_vectors import GivenVectors
from wordgeom.stages.stage import Outcome
from wordgeom.vectors import run_card


class Revision(GivenVectors):
    """A stage that revises vectors."""

    def up_to_date(self) -> Outcome | None:
        """Return the vectors if they exist as requested, with the report of their run card."""
        if self.out is None:
            return None
        made = run_card.up_to_date(self.out, self.request, self.run.force, "file")
        if not self.whole(made):
            return None
        statistics = (run_card.read_card(self.out) or {}).get("statistics", {})
        lines = statistics.get("lines", [])
        return Outcome(f"{self.out}: up to date", self.out, [], lines, statistics)
