"""The frame that every stage runs in.

A stage reads files, computes, and writes files. `run_stage` does what all of them share: is the
output up to date? → lock it → restore the checkpoint → open threads and memory → work and commit →
remove the checkpoint. A stage declares what differs.
"""

from __future__ import annotations

import contextlib
import logging
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from wordgeom.checkpoint.method_state import MethodState
from wordgeom.checkpoint.state import (
    State,
    evaluation_notes,
    forget_state,
    replacing_state,
    state_folder,
)
from wordgeom.core.errors import LockedError, LostSchedulerError, SchedulerError, WriteError
from wordgeom.linalg.device import open_context
from wordgeom.methods.contract import Result, Status
from wordgeom.runtime.context import Context
from wordgeom.runtime.provenance import Clock, card, configuration, recording
from wordgeom.runtime.run_options import ResumeOptions, RunOptions, UseOptions
from wordgeom.runtime.scheduler import Cluster
from wordgeom.schedulers.shared_folder import folder_beside, remove_left_folder
from wordgeom.stages.invocation import Invocation
from wordgeom.storage import store
from wordgeom.storage.disk_space import Demand, check_space
from wordgeom.storage.files import Lock, folder_bytes
from wordgeom.storage.input_protection import check_outputs
from wordgeom.storage.meta import LOCK, unfinished_folder
from wordgeom.subwords.stored import SUFFIX
from wordgeom.vectors import run_card

_log = logging.getLogger(__name__)


@dataclass
class Outcome:
    """What a stage made, or found up to date.

    summary: one line; path: of the output, None where nothing was written; notes: remarks for the
    user; lines: printed after the summary; value: what a Python caller gets, None where the output
    was up to date and was not read; report: text that a stage without output prints.
    """

    summary: str
    path: Path | None = None
    notes: list[str] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    statistics: dict[str, Any] = field(default_factory=dict)
    status: Status = Status.CONVERGED
    value: Any = None
    report: str = ""

    def __repr__(self) -> str:
        return f"<Outcome: {self.summary}>"


@dataclass(frozen=True)
class Job:
    """What a stage works with: its context, its clock, and the state to resume from.

    state: None for a stage that writes nothing.
    """

    context: Context
    clock: Clock
    state: State | None

    @property
    def checkpoint(self) -> State:
        """The state of a stage that writes output."""
        assert self.state is not None
        return self.state

    def card(
        self, request: Mapping[str, Any], made: Outcome | Result | None = None
    ) -> dict[str, Any]:
        """Return the run card of an output; made: its statistics, notes and status."""
        seconds = self.clock.seconds()
        if made is None:
            return card(request, {}, seconds)
        ending = {"notes": made.notes, "status": made.status.value}
        return card(request, made.statistics, seconds) | ending

    def seconds(self) -> str:
        """Return the elapsed time, for a summary."""
        return f"{self.clock.seconds():.1f} s"


class Stage(ABC):
    """One step of the pipeline: its parsed options, its inputs and its output.

    out: the path of the output, None for a stage that writes nothing; invocation: the command and
    its settings, None for a stage that no command made.
    """

    run: UseOptions
    resume: ResumeOptions
    out: Path | None
    invocation: Invocation | None = None

    @property
    @abstractmethod
    def request(self) -> dict[str, Any]:
        """What a checkpoint belongs to: command, options and inputs."""

    @property
    def output(self) -> Path | None:
        """The output as it is written, which may spell `out` in another way."""
        return self.out

    @property
    def writes_store(self) -> bool:
        """Whether the output is a store, which its own writer locks."""
        return False

    @property
    def state(self) -> Path | None:
        """Where checkpoints are saved, None for a stage that saves none."""
        return None if self.output is None else state_folder(self.output)

    @property
    def shared_folder(self) -> Path | None:
        """The folder of the arrays that a cluster reads, None for a stage that uses none."""
        return None if self.state is None else folder_beside(self.state)

    @property
    def cluster(self) -> Cluster | None:
        """The cluster that computes blocks, None for the threads of this process."""
        if self.shared_folder is None or self.resume.scheduler is None:
            return None
        return Cluster(self.resume.scheduler, self.shared_folder)

    @property
    def beside(self) -> Sequence[Path]:
        """The files that are written with the output."""
        return ()

    @property
    def output_paths(self) -> Sequence[Path]:
        """All files and stores that are written."""
        if self.output is None:
            return ()
        cards = () if self.writes_store else (run_card.card_path(self.output),)
        return (self.output, *cards, *self.beside)

    @property
    def input_paths(self) -> Sequence[str | Path]:
        """The files and stores that are read, which no output may replace."""
        return ()

    @property
    def device(self) -> str:
        """Where its linear algebra runs: cpu or cuda."""
        return "cpu"

    @property
    def demand(self) -> Demand:
        """The disk space that it needs, as far as it is known before the inputs are read."""
        return Demand()

    def check(self) -> None:  # noqa: B027 - most stages find their mistakes in the request
        """Raise the errors that need no lock, such as missing directories."""

    def check_ours(self, *, force: bool) -> None:
        """Raise OutputExistsError where the output exists and no command of ours made it.

        The n-grams of vectors are output too. force: may replace a file, though not a directory.
        """
        if self.out is None:
            return
        if self.writes_store:
            store.check_ours(self.out)
        else:
            run_card.check_ours(self.out, force=force)
        for path in self.beside:
            if path.suffix == SUFFIX:
                store.check_ours(path)

    def up_to_date(self) -> Outcome | None:
        """Return the outcome of an earlier run of the same request, None to run.

        Raises OutputExistsError where the output exists with other content.
        """
        return None

    @abstractmethod
    def work(self, job: Job) -> Outcome:
        """Compute, and commit the output."""


def run_stage(stage: Stage, *, show: bool = False) -> Outcome:
    """Run a stage unless its output is up to date; show: display progress.

    Raises what the stage raises; OptionError for an output that is an input; StoppedError for an
    interruption that `--resume` continues.
    """
    clock = Clock()
    stage.check()
    if stage.output is not None:
        check_outputs(stage.output_paths, [*stage.input_paths, *configuration().values()])
    with _lock(stage, files=True), _recorded(stage):
        if stage.shared_folder is not None:
            remove_left_folder(stage.shared_folder)
        made = stage.up_to_date()
        if made is not None:
            _forget(stage)
            return made
        with _opened_state(stage) as state:
            _check_space(stage)
            return _worked(stage, state, clock, show=show)


def _worked(stage: Stage, state: State | None, clock: Clock, *, show: bool) -> Outcome:
    """Return the outcome of the work, and remove the state."""
    made: Outcome | None = None
    writes = stage.output is not None
    resumable = _without_state(stage) if state is None else state.resumable(output=writes)
    opened = open_context(stage.run, stage.device, show=show, cluster=stage.cluster)
    try:
        with resumable, opened as context:
            if state is not None:
                context = replace(context, checkpoint=MethodState(state))
            made = stage.work(Job(context, clock, state))
            if stage.output is not None:
                made.notes += evaluation_notes(stage.output)
    except KeyboardInterrupt:
        if made is None:  # else the output is complete, and only a cluster was to be closed
            raise
    if state is not None:
        state.remove()
    return made


def _recorded(stage: Stage) -> AbstractContextManager[None]:
    """Record in the run cards what repeats the stage, unless it writes nothing."""
    if stage.invocation is None or stage.output is None:
        return contextlib.nullcontext()
    return recording(stage.invocation.record(stage.input_paths))


def _lock(stage: Stage, *, files: bool) -> AbstractContextManager[object]:
    """Keep a second writer of the output away; files: of a file, else of a store."""
    if stage.output is None or stage.writes_store == files:
        return contextlib.nullcontext()
    return run_card.writer_lock(stage.output) if files else store.writer_lock(stage.output)


def _check_space(stage: Stage) -> None:
    """Raise WriteError where the disk cannot hold the output, and warn where it may not."""
    if stage.output is None:
        return
    # A run that resumes goes on with these files, and any other removes them.
    left = [unfinished_folder(stage.output), *([] if stage.state is None else [stage.state])]
    scratch = stage.run.tmp_dir if isinstance(stage.run, RunOptions) else None
    folder = stage.output.absolute().parent
    check_space(stage.demand, folder, scratch, sum(map(folder_bytes, left)))


@contextlib.contextmanager
def _opened_state(stage: Stage) -> Iterator[State | None]:
    """Open the state of a stage, None where it saves none or another run holds the state."""
    with contextlib.ExitStack() as held:
        if stage.state is None or not _holds_state(stage.state, stage, held):
            yield None
            return
        # Without output there is nothing to overwrite, and an old state is simply replaced.
        force = not isinstance(stage.run, RunOptions) or stage.run.force
        yield State(stage.state, stage.request, stage.resume, force=force)


def _holds_state(folder: Path, stage: Stage, held: contextlib.ExitStack) -> bool:
    """Lock the state of a stage without output, as several may read the same vectors or model."""
    if stage.output is not None:  # which is locked
        return True
    try:
        held.enter_context(Lock(folder.with_name(f"{folder.name}.lock"), folder))
    except (LockedError, WriteError) as error:
        _log.info("note: no checkpoint is saved: %s", error)
        return False
    return True


@contextlib.contextmanager
def _without_state(stage: Stage) -> Iterator[None]:
    """Run a stage that leaves nothing to resume, not even after a lost scheduler."""
    try:
        with _replacing(stage):
            yield
    except LostSchedulerError as error:
        do = "run the command again, with the same scheduler, another one or none"
        raise SchedulerError(error.what, do=do) from error


def _replacing(stage: Stage) -> AbstractContextManager[None]:
    """Remove the state of another command that was to write the output, unless there is none."""
    if stage.output is None or not isinstance(stage.run, RunOptions):
        return contextlib.nullcontext()
    return replacing_state(stage.output, force=stage.run.force)


def _forget(stage: Stage) -> None:
    """Remove the state and the lock that a run left which was killed after its output was made."""
    if stage.output is None:
        return
    state = stage.state is not None and stage.state.exists()
    if state or (stage.writes_store and (stage.output / LOCK).exists()):
        with contextlib.suppress(LockedError), _lock(stage, files=False):
            if state:
                forget_state(stage.output, stage.request)
