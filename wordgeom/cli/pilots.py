"""The pilot runs of a plan: each step on each sample, reading what the steps before it made."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from wordgeom.cli.pipeline import Step
from wordgeom.core.errors import InputError, OptionError
from wordgeom.corpus.vocabulary import read_vocabulary_bytes
from wordgeom.imputation.domain import read_domain
from wordgeom.linalg.device import memory_limit
from wordgeom.matrices.document_term import StoredDocuments
from wordgeom.planning.estimate import COUNTING, PAIRWISE, STREAMING, TESTING, TRAINING, estimate
from wordgeom.planning.model_parts import take_model, take_words
from wordgeom.planning.parts import Parts, can_be_cut, take_entities, take_parts
from wordgeom.planning.pilot import Cost, run_pilot
from wordgeom.planning.sample import SIZES, take_samples
from wordgeom.planning.shards import shards_of
from wordgeom.planning.verdict import Planned
from wordgeom.stages.corpus_inputs import Inputs
from wordgeom.stages.counting import CountStage
from wordgeom.stages.drift import Drift
from wordgeom.stages.embed import Embed
from wordgeom.stages.impute import Impute
from wordgeom.stages.invocation import RESOURCES
from wordgeom.stages.stage import Stage
from wordgeom.storage import store
from wordgeom.storage.store import Store

LATER = (
    "merge", "build-pmi", "train", "extend", "subwords", "transform", "compress", "impute", "drift",
)  # fmt: skip
_SEVERAL = ("merge",)  # read several inputs of one kind
_TRAINING = ("train", "extend", "subwords", "transform", "compress", "impute")  # hold their input
_CUT = {"impute": "domain", "extend": "counts"}  # the input that is cut, if that is not the first
# Options that were applied when a domain was read, and words that a part need not have.
_LEFT_OUT = {"impute": {"names", "name_map", "lower", "duplicates", "missing"}, "drift": {"words"}}
_KEPT = ("threads", "memory")  # of the resources: they decide the cost


@dataclass(frozen=True)
class _Input:
    """An input of later steps: for each pilot its path and its size, and the size of the whole."""

    paths: Mapping[int, Path]
    sizes: Mapping[int, float]
    size: float


class Pilots:
    """Pilot runs in a directory, one subdirectory for each sample.

    What a step makes is found by its name, so that later steps read the pilot's output instead. A
    stored input that no step makes is cut into parts. finished: called with 1 after each run.
    """

    def __init__(self, folder: Path, finished: Callable[[int], object]) -> None:
        self._finished = finished
        self._folders = [folder / str(part) for part in SIZES]
        for one in self._folders:
            one.mkdir()
        self._inputs: dict[str, _Input] = {}  # by real path
        self._runs = 0

    def can_follow(self, step: Step) -> bool:
        """Return whether a step reads what a planned one makes, or what is stored."""
        if step.name == "embed":
            vectors = next(step.paths(["vectors"]), step.inputs["vectors"])
            return vectors is not None and self._there(vectors)
        if not is_test(step.name, step.prepare()):
            return False
        paths = self._read_first(step)
        return step.name in LATER and bool(paths) and all(map(self._there, paths))

    def _there(self, path: str) -> bool:
        return os.path.realpath(path) in self._inputs or can_be_cut(Path(path))

    def count(self, step: Step, shards: int = 1) -> list[Planned]:
        """Return the plan of a count of text; of several shards, each one's and their merge's."""
        stage = step.prepare()
        assert isinstance(stage, CountStage)
        stage.check()
        made, shares = self._sampled(step, stage, stage.inputs)
        sizes = [float(cost.tokens) for _, cost in made]
        goal = sizes[-1] / shares[-1]
        limit = memory_limit(stage.run)
        most = self._most_frequent(stage.out)

        def predicted(tokens: float) -> Cost:
            found = estimate([cost for _, cost in made], sizes, tokens, COUNTING)
            found = _with_entries_of(stage.entry_bytes(round(most * tokens / sizes[-1])), found)
            temporary = stage.temporary_bytes(round(goal), found.disk)
            return replace(found, memory=min(found.memory, limit), temporary=temporary)

        planned = self._plan(step, stage, predicted(goal), limit)
        return [planned] if shards == 1 else shards_of(planned, predicted(goal / shards), shards)

    def _most_frequent(self, out: Path) -> int:
        """Return how often the most frequent word of the largest sample occurs."""
        paths = self._inputs[os.path.realpath(out)].paths
        made = Store.open(paths[max(paths)])
        words = read_vocabulary_bytes(made.text("vocab"), made.path)
        return int(words.counts.max(initial=0))

    def embed(self, step: Step) -> Planned:
        """Return the plan of vectors of texts. Raises OptionError for lines on standard output."""
        stage = step.prepare()
        assert isinstance(stage, Embed)
        if stage.out is None:
            raise OptionError("embed to standard output cannot be planned", do="name a file")
        known = self._inputs.get(os.path.realpath(stage.vectors))
        inputs = stage.inputs if known is None else self._of_pilot(stage, known).inputs
        made, shares = self._sampled(step, stage, inputs)
        found = estimate([cost for _, cost in made], shares, 1.0, COUNTING)
        return self._plan(step, stage, found, memory_limit(stage.run))

    def _of_pilot(self, stage: Embed, known: _Input) -> Embed:
        """Return the stage with vectors that exist: those of the last pilot."""
        return replace(stage, vectors=known.paths[max(known.paths)])

    def _sampled(
        self, step: Step, stage: Stage, inputs: Inputs
    ) -> tuple[list[tuple[int, Cost]], list[float]]:
        """Run a step on samples of its text; return the number and cost, and the share, of each."""
        corpus, setting = inputs.corpus, "texts" if step.name == "embed" else "corpus"
        samples = take_samples(
            inputs.names, corpus.input_format, of_files=corpus.document == "file",
            folder=self._samples(),
        )  # fmt: skip
        try:
            made = self._run(step, stage, [{setting: list(one.names)} for one in samples])
        except InputError as error:
            what = error.what
            for name in (name for sample in samples for name in sample.names):
                what = what.removeprefix(f"{name}: ")
            what = f"its sample cannot be read: {what}"
            raise InputError(what, where=inputs.names[0]) from None
        return made, [samples[k].share for k, _ in made]

    def follow(self, step: Step) -> Planned:
        """Return the plan of a step that reads planned or stored inputs."""
        first = self._read_first(step)
        stage = step.prepare()
        assert isinstance(stage, Stage)
        for path in {os.path.realpath(one) for one in first} - set(self._inputs):
            self._inputs[path] = self._cut(stage, Path(path))
        if isinstance(stage, Drift) and stage.options.counts is not None:
            self._cut_counts(stage.options.counts)
        sources = [self._inputs[os.path.realpath(one)] for one in first]
        made = self._run(step, stage, self._named(step, first, sources))
        sizes = [sum(source.sizes[k] for source in sources) for k, _ in made]
        bounds = TRAINING if step.name in _TRAINING else STREAMING
        bounds = TESTING if isinstance(stage, Drift) else bounds
        of_rows = not store.exists(sources[0].paths[made[0][0]])
        pairwise = step.name in ("train", "impute") and of_rows
        found = estimate(
            [cost for _, cost in made], sizes, sum(source.size for source in sources), bounds,
            PAIRWISE if pairwise else None,
        )  # fmt: skip
        if step.name not in _CUT:  # of a domain, the stage itself knows little before it is read
            found = _closed(stage, first, found)
        return self._plan(step, stage, found, memory_limit(stage.run))

    def _cut(self, stage: Stage, path: Path) -> _Input:
        """Return the parts of a stored input."""
        name = f"part-{len(self._inputs)}"
        if isinstance(stage, Impute):
            domain = read_domain(path, stage.of_domain, memory_limit(stage.run))
            return _of_parts(take_entities(domain, self._folders, name))
        take = take_model if isinstance(stage, Drift) else take_parts
        return _of_parts(take(path, self._folders, name))

    def _cut_counts(self, path: str) -> None:
        """Take from other counts the words of the parts of the model that they test."""
        known = os.path.realpath(path)
        if known not in self._inputs:
            counts, name = StoredDocuments.open(path), f"part-{len(self._inputs)}"
            self._inputs[known] = _of_parts(take_words(counts, self._folders, name))

    def _plan(self, step: Step, stage: Stage, cost: Cost, limit: int) -> Planned:
        if stage.out is not None:
            known = self._inputs[os.path.realpath(stage.out)]
            self._inputs[os.path.realpath(stage.out)] = replace(known, size=float(cost.size))
        return Planned(step.place, step.name, stage.out, cost, limit)

    def _samples(self) -> Path:
        folder = self._folders[0].parent / f"text-{self._runs}"
        folder.mkdir()
        return folder

    def _read_first(self, step: Step) -> list[str]:
        """Return the paths of the matrices or vectors that a step reads first."""
        if step.name not in LATER:
            return []
        name = _cut_input(step)
        default = step.inputs[name]
        found = list(step.paths([name])) or ([] if default is None else [default])
        return found if step.name in _SEVERAL else found[:1]

    def _named(
        self, step: Step, first: Sequence[str], sources: Sequence[_Input]
    ) -> list[dict[str, Any]]:
        """Return the setting of the first input, by pilot."""
        name = _cut_input(step)
        made: list[dict[str, Any]] = []
        for k in range(len(SIZES)):
            paths = [str(source.paths[k]) for source in sources if k in source.paths]
            made.append({name: paths if step.name in _SEVERAL else "".join(paths[:1])})
        return made

    def _run(self, step: Step, stage: Stage, more: list[dict[str, Any]]) -> list[tuple[int, Cost]]:
        """Return the number and cost of each pilot; without --memory where samples exceed it.

        The cost then says how much is needed, and the plan that it does not fit.
        """
        try:
            return self._runs_of(step, stage, more)
        except InputError:
            if "memory" not in step.table:
                raise
            table = {name: value for name, value in step.table.items() if name != "memory"}
            return self._runs_of(replace(step, table=table), stage, more)

    def _runs_of(
        self, step: Step, stage: Stage, more: list[dict[str, Any]]
    ) -> list[tuple[int, Cost]]:
        """Run a step on each sample that is large enough; return the number and cost of each."""
        found: list[tuple[int, Cost]] = []
        paths: dict[int, Path] = {}
        problem: InputError | None = None
        for k, folder in enumerate(self._folders):
            out = None if stage.out is None else folder / f"{self._runs}-{stage.out.name}"
            written = {} if out is None else {"out": str(out)}
            settings = {**self._moved(step, k), **more[k], **written, "quiet": True}
            try:
                cost = run_pilot(step.name, settings, out, folder / "pilot.toml")
            except InputError as error:  # a small sample may have no pairs, or too low a rank
                problem = error
                continue
            finally:
                self._finished(1)
            found.append((k, cost))
            if out is not None:
                paths[k] = out
        self._runs += 1
        if len(found) < len(SIZES) - 1 and problem is not None:
            if stage.out is not None:
                raise problem
            what = f"a part of its words cannot be tested: {problem.what}"
            raise InputError(what, where=step.place, do="run the command itself")
        if stage.out is not None:
            sizes = {k: float(cost.size) for k, cost in found}
            self._inputs[os.path.realpath(stage.out)] = _Input(paths, sizes, 0.0)
        return found

    def _moved(self, step: Step, k: int) -> dict[str, Any]:
        """Return the settings of a step, with pilot k's outputs for those of earlier steps."""
        dropped = (RESOURCES - set(_KEPT)) | {"out", "save_vocab", "documents"}
        dropped |= _LEFT_OUT.get(step.name, set())
        settings = {name: value for name, value in step.table.items() if name not in dropped}
        for name, value in settings.items():
            known = self._inputs.get(os.path.realpath(value)) if isinstance(value, str) else None
            if known is not None and k in known.paths:
                settings[name] = str(known.paths[k])
        return settings


def is_test(name: str, stage: object) -> bool:
    """Return False for a `drift` that measures change instead of testing a model."""
    return name != "drift" or isinstance(stage, Drift)


def _of_parts(parts: Parts) -> _Input:
    return _Input(dict(enumerate(parts.paths)), dict(enumerate(parts.sizes)), parts.size)


def _cut_input(step: Step) -> str:
    """Return the setting of the input whose parts are the pilots'."""
    return _CUT.get(step.name) or next(iter(step.inputs))


def _with_entries_of(size: int, found: Cost) -> Cost:
    """Return a cost whose entries take `size` bytes each."""
    more = (size - found.entry_bytes) * found.entries
    return replace(found, disk=found.disk + more, entry_bytes=size)


def _closed(stage: Stage, first: Sequence[str], found: Cost) -> Cost:
    """Return a cost with the disk space that the stage itself knows, if its inputs exist."""
    if not all(map(os.path.exists, first)):
        return found
    demand = stage.demand
    exact = demand.output.least == demand.output.expected > 0
    disk = demand.output.expected + found.ngrams if exact else found.disk
    return replace(found, disk=disk, temporary=demand.scratch.expected)
