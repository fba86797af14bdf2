"""The pilot runs of a plan: each step on each sample, reading what the steps before it made."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from wordgeom.cli.pipeline import Step
from wordgeom.core.errors import InputError
from wordgeom.linalg.device import memory_limit
from wordgeom.planning.estimate import COUNTING, STREAMING, TRAINING, estimate
from wordgeom.planning.pilot import Cost, run_pilot
from wordgeom.planning.sample import SIZES, take_samples
from wordgeom.planning.verdict import Planned
from wordgeom.stages.counting import CountStage
from wordgeom.stages.invocation import RESOURCES
from wordgeom.stages.stage import Stage

_KEPT = ("threads", "memory")  # of the resources: they decide the cost


class Pilots:
    """Pilot runs in a directory, one subdirectory for each sample.

    What a step makes is found by its name, so that later steps read the pilot's output instead.
    """

    def __init__(self, folder: Path) -> None:
        self._folders = [folder / str(part) for part in SIZES]
        for one in self._folders:
            one.mkdir()
        self._made: dict[str, list[tuple[int, Cost]]] = {}  # by real path: pilot and its cost
        self._planned: dict[str, Cost] = {}

    def makes_input_of(self, step: Step) -> bool:
        """Return whether a step reads what a planned one makes."""
        return self._input(step) is not None

    def count(self, step: Step) -> Planned:
        """Return the plan of a count of text."""
        stage = step.prepare()
        assert isinstance(stage, CountStage)
        stage.check()
        corpus = stage.inputs.corpus
        samples = take_samples(
            stage.inputs.names, corpus.input_format, of_files=corpus.document == "file",
            folder=self._samples(step),
        )  # fmt: skip
        texts = [{"corpus": list(sample.names)} for sample in samples]
        made = self._run(step, stage, texts)
        sizes = [float(cost.tokens) for _, cost in made]
        goal = sizes[-1] / samples[made[-1][0]].share
        found = estimate([cost for _, cost in made], sizes, goal, COUNTING)
        limit = memory_limit(stage.run)
        bounded = Cost(**{**vars(found), "memory": min(found.memory, limit)})
        return self._plan(step, stage, bounded, limit)

    def follow(self, step: Step) -> Planned:
        """Return the plan of a step that reads a planned matrix."""
        stage = step.prepare()
        assert isinstance(stage, Stage)
        source = self._input(step)
        assert source is not None
        entries = {k: float(cost.entries) for k, cost in self._made[source]}
        made = self._run(step, stage, [{} for _ in SIZES])
        sizes = [entries[k] for k, _ in made]
        goal = float(self._planned[source].entries)
        bounds = TRAINING if step.name == "train" else STREAMING
        found = estimate([cost for _, cost in made], sizes, goal, bounds)
        return self._plan(step, stage, found, memory_limit(stage.run))

    def _plan(self, step: Step, stage: Stage, cost: Cost, limit: int) -> Planned:
        assert stage.out is not None
        self._planned[os.path.realpath(stage.out)] = cost
        return Planned(step.name, stage.out, cost, limit)

    def _samples(self, step: Step) -> Path:
        folder = self._folders[0].parent / f"text-{len(self._made)}"
        folder.mkdir()
        return folder

    def _input(self, step: Step) -> str | None:
        """Return the planned matrix that a step reads first."""
        for path in map(os.path.realpath, step.paths(list(step.inputs))):
            if path in self._planned and self._planned[path].entries:
                return path
        return None

    def _run(self, step: Step, stage: Stage, more: list[dict[str, Any]]) -> list[tuple[int, Cost]]:
        """Run a step on each sample that is large enough; return the number and cost of each."""
        assert stage.out is not None
        found: list[tuple[int, Cost]] = []
        problem: InputError | None = None
        for k, folder in enumerate(self._folders):
            out = folder / f"{len(self._made)}-{stage.out.name}"
            settings = {**self._moved(step, k), **more[k], "out": str(out), "quiet": True}
            try:
                cost = run_pilot(step.name, settings, out, folder / "pilot.toml")
            except InputError as error:  # a small sample may have no pairs, or too low a rank
                problem = error
                continue
            found.append((k, cost))
        if len(found) < len(SIZES) - 1 and problem is not None:
            raise problem
        self._made[os.path.realpath(stage.out)] = found
        return found

    def _moved(self, step: Step, k: int) -> dict[str, Any]:
        """Return the settings of a step, with pilot k's outputs for those of earlier steps."""
        dropped = (RESOURCES - set(_KEPT)) | {"out", "save_vocab", "documents"}
        settings = {name: value for name, value in step.table.items() if name not in dropped}
        names = {path: f"{n}-{Path(path).name}" for n, path in enumerate(self._made)}
        for name, value in settings.items():
            if isinstance(value, str) and os.path.realpath(value) in names:
                settings[name] = str(self._folders[k] / names[os.path.realpath(value)])
        return settings
