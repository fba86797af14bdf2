"""The frame of the stages that write given vectors in another form: `transform` and `compress`."""

from __future__ import annotations

import os

from wordgeom.runtime.run_options import RunOptions
from wordgeom.stages.inference import Source
from wordgeom.stages.stage import Outcome, Stage
from wordgeom.vectors import run_card
from wordgeom.vectors.keyed import Vectors


class Revision(Stage):
    """A stage that revises vectors; vectors: a file, or vectors in memory."""

    vectors: Source
    run: RunOptions

    @property
    def named(self) -> str:
        """What messages call the vectors."""
        return "the vectors" if isinstance(self.vectors, Vectors) else os.fspath(self.vectors)

    def up_to_date(self) -> Outcome | None:
        """Return the vectors if they exist as requested, with the report of their run card."""
        asked, force = self.request, self.run.force
        if self.out is None or not run_card.up_to_date(self.out, asked, force, "file"):
            return None
        statistics = (run_card.read_card(self.out) or {}).get("statistics", {})
        lines = statistics.get("lines", [])
        return Outcome(f"{self.out}: up to date", self.out, [], lines, statistics)
