"""A shell script that submits jobs to Slurm, each after those that it needs."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass

from wordgeom.jobs.job import Job
from wordgeom.runtime.batch import IN_JOB

_NOTICE = 90  # seconds before the time limit at which Slurm sends TERM
# Slurm signals the shell, which passes that on, and waits for the command to save its checkpoint.
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
_SUBMIT = """\
# submit NAME OPTION...: submit the commands on standard input, and print their name and number.
submit() {
    local name=$1
    shift
    number=$(sbatch --parsable --job-name="wordgeom-$name" "$@" <<<"$head"$'\\n'"$(cat)")
    number=${number%%;*}
    printf '%s\\t%s\\n' "$name" "$number"
}"""


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
    submissions = [line for job in jobs for line in _submission(job, site)]
    return "\n".join([
        "#!/bin/bash",
        f"# Made by {made_by}",
        "set -euo pipefail",
        f"cd {shlex.quote(folder)}",
        "",
        "# All jobs begin with this. An interrupted (status 75) or killed command is run again.",
        "head=$(cat <<'HEAD'",
        "#!/bin/bash",
        *(f"#SBATCH {line}" for line in _directives(site)),
        f"export {IN_JOB}=1",
        _RUN,
        "HEAD",
        ")",
        "",
        _SUBMIT,
        *submissions,
        "",
    ])  # fmt: skip


def _directives(site: Site) -> list[str]:
    """Return the options of all jobs."""
    chosen = [("partition", site.partition), ("account", site.account), ("time", site.time)]
    return [
        f"--signal=B:TERM@{_NOTICE}",
        "--requeue",
        "--open-mode=append",
        "--kill-on-invalid-dep=yes",
        *(f"--{name}={shlex.quote(value)}" for name, value in chosen if value is not None),
        *site.lines,
    ]


def _submission(job: Job, site: Site) -> list[str]:
    """Return the lines that submit a job and keep its number in a variable."""
    task = ["TASK_ID=$SLURM_ARRAY_TASK_ID"] if job.tasks else []
    return [
        "",
        " ".join(["submit", job.name, *_options(job, site), "<<'JOB'"]),
        *task,
        f"run {job.line}",
        "JOB",
        f"{_variable(job.name)}=$number",
    ]


def _options(job: Job, site: Site) -> list[str]:
    """Return the options of one job: its tasks, what it needs, and what it waits for."""
    before = ":".join(f"${_variable(name)}" for name in job.after)
    memory, minutes = job.resources.mebibytes, None if site.time else job.resources.minutes
    return [
        *([f"--array=1-{job.tasks}"] if job.tasks else []),
        f"--output={'%x-%A_%a.log' if job.tasks else '%x-%j.log'}",
        f"--cpus-per-task={job.resources.cpus}",
        *([] if memory is None else [f"--mem={memory}M"]),
        *([] if minutes is None else [f"--time={minutes}"]),
        *([f'--dependency="afterok:{before}"'] if before else []),
    ]


def _variable(name: str) -> str:
    return f"job_{name.replace('-', '_')}"
