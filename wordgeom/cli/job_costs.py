"""What the steps of a configuration file will cost, as `plan` predicts it."""

from __future__ import annotations

from collections.abc import Sequence

from wordgeom.cli.pipeline import Step
from wordgeom.cli.plan import plan_steps
from wordgeom.core.errors import InputError
from wordgeom.planning.pilot import Cost


def predicted_costs(steps: Sequence[Step], tmp_dir: str | None) -> tuple[dict[str, Cost], str]:
    """Return the costs by the place of the step, and why there are none, if so."""
    try:
        planned, _ = plan_steps(steps, tmp_dir)
    except InputError as error:
        return {}, str(error)
    return {one.place: one.cost for one in planned}, ""
