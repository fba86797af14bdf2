"""The jobs of a configuration file: its counts in shards, their sums, and the other commands."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from wordgeom.cli import frame, invocation
from wordgeom.cli.pipeline import Step
from wordgeom.core.options import specs
from wordgeom.corpus.encoding.obstacles import obstacle
from wordgeom.counts.windows import WindowOptions
from wordgeom.jobs.job import TASK, Job, Resources
from wordgeom.planning.pilot import Cost
from wordgeom.stages.build_cooc import BuildCooc
from wordgeom.stages.counted_vocabulary import CUT
from wordgeom.stages.invocation import RESOURCES

COUNT = "build-cooc"
_OF_PAIRS = {"oov", *(field.name for field, _ in specs(WindowOptions))}  # words have none
_SHARD = re.compile(rf"{re.escape(TASK)}/\d+")
_GIGABYTE = 1e9


@dataclass(frozen=True)
class Request:
    """What the jobs are for: a configuration file, the shards of each count, CPUs of a task.

    costs: predicted costs by the place of the step, none where there is no plan.
    """

    config: str
    shards: int
    cpus: int
    memory: int | None
    costs: Mapping[str, Cost]

    def resources(self, places: Iterable[str], share: int = 1) -> Resources:
        """Return the resources for steps one after the other; share: of their time."""
        found = [self.costs[place] for place in places if place in self.costs]
        memory = max((cost.memory for cost in found), default=None)
        seconds = sum(cost.seconds for cost in found) / share if found else None
        return Resources(self.cpus, self.memory or memory, seconds)


def job_list(request: Request, steps: Sequence[Step]) -> list[Job]:
    """Return the jobs, each after those that it needs. Raises what the steps find."""
    jobs: list[Job] = []
    counts = [step for step in steps if request.shards > 1 and _has_shards(step)]
    for number, step in enumerate(counts, 1):
        with step.errors():
            jobs += _count_jobs(request, step, f"-{number}" if len(counts) > 1 else "")
    rest = [step for step in steps if step not in counts]
    if rest or not counts:
        line = shlex.join(["wordgeom", "run", request.config, "--resume"])
        after = tuple(job.name for job in jobs if job.name.startswith("merge"))
        made = tuple(str(step.prepare().out) for step in counts)
        resources = request.resources(one.place for one in rest)
        jobs.append(Job("run", line, resources, after=after, inputs=made))
    return jobs


def _has_shards(step: Step) -> bool:
    """Return whether a step counts pairs with words that do not come from another step."""
    listed = step.table.get("read_vocab")
    there = listed is None or os.path.exists(listed)
    return step.name == COUNT and not step.table.get("vocab_only") and there


def _count_jobs(request: Request, step: Step, suffix: str) -> Iterator[Job]:
    """Yield the jobs that count a text: its words if that pays off, its pairs, and their sum."""
    stage = step.prepare()
    assert isinstance(stage, BuildCooc)
    stage.check()
    names, corpus, out = stage.inputs.names, stage.inputs.corpus, str(stage.out)
    shard = ["--shard", f"{TASK}/{request.shards}"]
    whole, each = (request.resources([step.place], of) for of in (1, request.shards))
    table = dict(step.table)
    after: tuple[str, ...] = ()
    cuttable = not obstacle(names, corpus)
    if cuttable and corpus.read_vocab is None:
        words, vocabulary = f"words{suffix}", f"{out}.words"
        left_out = _OF_PAIRS | {"save_vocab", "out"}
        line = _command(request, step, table, left_out, [*shard, "--vocab-only"], vocabulary)
        yield Job(words, line, each, request.shards)
        merged = f"vocabulary{suffix}"
        yield Job(merged, _merge(request, step, vocabulary), whole, after=(words,))
        table = {k: v for k, v in table.items() if k not in CUT} | {"read_vocab": vocabulary}
        after = (merged,)
    line = _command(request, step, table, {"save_vocab", "out"}, shard, out)
    yield Job(f"count{suffix}", line, each if cuttable else whole, request.shards, after)
    yield Job(f"merge{suffix}", _merge(request, step, out), whole, after=(f"count{suffix}",))


def _command(
    request: Request, step: Step, table: Mapping[str, Any], left_out: set[str],
    more: Sequence[str], out: str,
) -> str:  # fmt: skip
    """Return a counting command as a line of the shell, in which TASK stands as it is."""
    settings = {k: v for k, v in table.items() if k not in left_out | RESOURCES}
    command = frame.command_named(step.name)
    flags = [*invocation.flags_of(command, settings), *more, "-o", out]
    texts = [os.fspath(name) for name in invocation.arguments_of(command, settings)]
    words = ["wordgeom", step.name, *texts, *flags, *_limits(request, step), "--resume"]
    return _quoted(words)


def _merge(request: Request, step: Step, out: str) -> str:
    """Return the command that merges all shards of an output."""
    shards = f"{shlex.quote(out)}.shard-*-of-{request.shards}"
    limits = shlex.join(_limits(request, step))
    return f"wordgeom merge {shards} -o {shlex.quote(out)} {limits} --resume"


def _limits(request: Request, step: Step) -> list[str]:
    """Return the options for threads and memory, which the table may set."""
    memory = step.table.get("memory")
    cost = request.costs.get(step.place)
    if memory is None and (request.memory or cost is not None):
        known = request.memory or (cost.memory if cost else 0)
        memory = max(0.3, round(known / _GIGABYTE, 1))
    limit = [] if memory is None else ["--memory", f"{memory:g}"]
    return ["--threads", str(request.cpus), *limit]


def _quoted(words: Sequence[str]) -> str:
    """Join words for the shell; the number of the task is expanded there."""
    shown = (f'"{word}"' if _SHARD.fullmatch(word) else shlex.quote(word) for word in words)
    return " ".join(shown)
