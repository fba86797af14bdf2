"""A shell script that submits jobs to Slurm, each after those that it needs."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass

from wordgeom.jobs.job import Job, Resources

# Slurm signals the shell, which must not wait for the command to end before it passes that on.
# A command that a signal has ended, or that saved a checkpoint and ended with 75, runs again.
_RUN = """\
run() {
    local child status=0
    "$@" &
    child=$!
    trap 'kill -TERM "$child" 2>/dev/null' TERM
    wait "$child" || status=$?
    while kill -0 "$child" 2>/dev/null; do
        status=0
        wait "$child" || status=$?
    done
    if ((status == 75 || status > 128)) && ((${SLURM_RESTART_COUNT:-0} < 20)); then
        scontrol requeue "$SLURM_JOB_ID"
    fi
    exit "$status"
}"""
_NOTICE = 90  # seconds before the time limit at which Slurm sends TERM


@dataclass(frozen=True)
class Site:
    """What a cluster wants to know of every job; time: instead of the predicted ones."""

    partition: str | None = None
    account: str | None = None
    time: str | None = None
    lines: tuple[str, ...] = ()


def slurm_script(jobs: Sequence[Job], site: Site, made_by: str, folder: str) -> str:
    """Return a script that submits the jobs and prints their numbers.

    made_by: the command, for a comment; folder: where the jobs run.
    """
    parts = [part for job in jobs for part in _submission(job, site)]
    return "\n".join([
        "#!/bin/bash",
        f"# Made by {made_by}",
        "# Submits each job after those that it needs. Jobs that are interrupted are requeued.",
        "set -euo pipefail",
        f"cd {shlex.quote(folder)}",
        *parts,
        "",
    ])  # fmt: skip


def _submission(job: Job, site: Site) -> list[str]:
    """Return the lines that submit a job and keep its number in a variable."""
    before = ":".join(f"${{{_variable(name)}}}" for name in job.after)
    dependency = f' --dependency="afterok:{before}"' if before else ""
    variable = _variable(job.name)
    task = ["TASK_ID=$SLURM_ARRAY_TASK_ID"] if job.tasks else []
    return [
        "",
        f"{variable}=$(sbatch --parsable{dependency} <<'JOB'",
        "#!/bin/bash",
        *(f"#SBATCH {line}" for line in _directives(job, site)),
        *task,
        _RUN,
        f"run {job.line}",
        "JOB",
        ")",
        f"{variable}=${{{variable}%%;*}}",
        f"printf '%s\\t%s\\n' {job.name} \"${variable}\"",
    ]


def _directives(job: Job, site: Site) -> list[str]:
    array = [f"--array=1-{job.tasks}"] if job.tasks else []
    log = "%x-%A_%a.log" if job.tasks else "%x-%j.log"
    chosen = [("partition", site.partition), ("account", site.account)]
    return [
        f"--job-name=wordgeom-{job.name}",
        *array,
        *_limits(job.resources, site),
        f"--output={log}",
        "--open-mode=append",
        f"--signal=B:TERM@{_NOTICE}",
        "--requeue",
        "--kill-on-invalid-dep=yes",
        *(f"--{name}={value}" for name, value in chosen if value is not None),
        *site.lines,
    ]


def _limits(resources: Resources, site: Site) -> list[str]:
    """Return the CPUs, and the memory and the time where they are known."""
    memory, minutes = resources.mebibytes, site.time or resources.minutes
    return [
        f"--cpus-per-task={resources.cpus}",
        *([] if memory is None else [f"--mem={memory}M"]),
        *([] if minutes is None else [f"--time={minutes}"]),
    ]


def _variable(name: str) -> str:
    return f"job_{name.replace('-', '_')}"
