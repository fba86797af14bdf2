"""A shell script whose steps any batch system can run as jobs and job arrays."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from wordgeom.jobs.job import Job
from wordgeom.runtime.batch import IN_JOB
from wordgeom.storage.meta import META


def plain_script(jobs: Sequence[Job], made_by: str, folder: str) -> str:
    """Return a script that runs the step it is given; made_by: the command, for a comment."""
    names = "|".join(job.name for job in jobs)
    order = [f"#   {job.name:<12}{_tasks(job)}".rstrip() for job in jobs]
    cases = [line for job in jobs for line in _case(job)]
    return "\n".join([
        "#!/bin/bash",
        f"# Made by {made_by}",
        "# Run one step after the other, each as a job:  bash SCRIPT STEP",
        "# A step with tasks is a job array: set TASK_ID to the number of the task. Exit status 75",
        "# means that the run was interrupted, and that the same command continues it.",
        *order,
        "set -euo pipefail",
        f"cd {shlex.quote(folder)}",
        f"export {IN_JOB}=1",
        'case "${1:-}" in',
        *cases,
        f"*) printf 'usage: bash %s {names}\\n' \"$0\" >&2; exit 2 ;;",
        "esac",
        "",
    ])  # fmt: skip


def _tasks(job: Job) -> str:
    return f"tasks 1 to {job.tasks}" if job.tasks else ""


def _case(job: Job) -> list[str]:
    check = ['    : "${TASK_ID:?is the number of the task}"'] if job.tasks else []
    check += map(_needs, job.inputs)
    return [f"{job.name})", *check, f"    exec {job.line} ;;"]


def _needs(store: str) -> str:
    """Return the line that ends a step whose input is missing."""
    path, what = shlex.quote(f"{store}/{META}"), shlex.quote(f"{store}: run its merge first")
    return f"    [[ -e {path} ]] || {{ printf '%s\\n' {what} >&2; exit 1; }}"
