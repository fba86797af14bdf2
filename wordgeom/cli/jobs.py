"""`wordgeom jobs`: the scripts that run a configuration file on a cluster, in shards."""

from __future__ import annotations

import logging
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from wordgeom.cli import flags, frame
from wordgeom.cli.command import Command
from wordgeom.core.errors import OptionError, UnavailableError, WordgeomError
from wordgeom.jobs.options import ShardOptions, TaskOptions

if TYPE_CHECKING:
    from wordgeom.planning.pilot import Cost

# What sbatch says without a configuration, a controller, or the means to log in there.
_UNREACHABLE = re.compile("configuration|unable to contact|munge|authentication", re.IGNORECASE)
_log = logging.getLogger("wordgeom")
_HELP = """Print a shell script that runs the TOML file CONFIG as jobs of a cluster.

Text is counted in shards, by the tasks of a job array, and the shards are merged; one more job runs
the other commands of CONFIG. CPUs, memory and time of each job come from `wordgeom plan`, unless
--memory and --time set them.

\b
  wordgeom jobs x.toml --shards 64                    for any batch system
  wordgeom jobs x.toml --shards 64 --slurm            submits the jobs when it is run
  wordgeom jobs x.toml --shards 64 --slurm --submit   submits them now
"""


@click.command("jobs", cls=Command, help=_HELP)
@click.argument("config")
@click.option("--slurm", is_flag=True, help="print a script that submits jobs to Slurm")
@click.option("--submit", is_flag=True, help="submit the jobs to Slurm, through sbatch")
@click.option("--time", metavar="TIME", help="time limit of each task  [as planned]")
@click.option("--partition", metavar="NAME", help="partition of the cluster")
@click.option("--account", metavar="NAME", help="account that pays for the jobs")
@click.option("--sbatch", multiple=True, metavar="OPTION",
              help="another option of sbatch, such as --qos=long (repeatable)")  # fmt: skip
@click.option("--tmp-dir", metavar="DIR", help="directory for the samples of the plan")
def command(
    config: str, slurm: bool, submit: bool, time: str | None, partition: str | None,
    account: str | None, sbatch: tuple[str, ...], tmp_dir: str | None, **given: Any,
) -> None:  # fmt: skip
    """Print the script, or run it."""
    from wordgeom.cli.job_list import Request, job_list
    from wordgeom.cli.pipeline import read_steps
    from wordgeom.jobs.job import check_time
    from wordgeom.jobs.plain import plain_script
    from wordgeom.jobs.slurm import Site, slurm_script
    from wordgeom.runtime.run_options import GIGABYTE

    split, task = flags.taken(given, ShardOptions, TaskOptions)
    if submit and shutil.which("sbatch") is None:
        do = "run this where jobs are submitted, or leave --submit out to print the script"
        raise UnavailableError("--submit needs sbatch, which is not installed", do=do)
    time = None if time is None else check_time(time)
    queue = {"--partition": partition, "--account": account, "--sbatch": "\n".join(sbatch)}
    _check_queue({name: value for name, value in queue.items() if value}, slurm=slurm or submit)
    steps = read_steps(frame.text("CONFIG", config))
    costs: dict[str, Cost] = {}
    if task.memory is None or (time is None and (slurm or submit)):
        from wordgeom.cli.job_costs import predicted_costs

        with click.get_current_context().obj:
            costs, problem = predicted_costs(steps, tmp_dir)
        if problem:
            _log.info("note: no resources are set: %s", problem)
    limit = None if task.memory is None else round(task.memory * GIGABYTE)
    jobs = job_list(Request(config, split.shards, task.cpus, limit, costs), steps)
    made_by = f"wordgeom {shlex.join(sys.argv[1:])}"
    if not (slurm or submit):
        click.echo(plain_script(jobs, made_by, os.getcwd()), nl=False)
        return
    script = slurm_script(jobs, Site(partition, account, time, sbatch), made_by, os.getcwd())
    if submit:
        _submit(script)
    else:
        click.echo(script, nl=False)


command.params[1:1] = flags.parameters(ShardOptions, TaskOptions)


def _check_queue(given: Mapping[str, str], *, slurm: bool) -> None:
    """Raise OptionError for options of Slurm without Slurm, and for values of several lines."""
    for name, value in given.items():
        if not slurm:
            raise OptionError(f"{name} is for Slurm", do="pass --slurm, or leave it out")
        if name != "--sbatch" and len(value.splitlines()) > 1:
            raise OptionError(f"{name} has several lines", do="pass one name")


def _submit(script: str) -> None:
    """Run the script, which prints the numbers of the jobs. Raises WordgeomError."""
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=False)
    click.echo(done.stdout, nl=False)
    if done.returncode:
        said = [re.sub("^sbatch: (error|fatal): ", "", line) for line in done.stderr.splitlines()]
        reason = ", ".join(filter(None, said)) or f"status {done.returncode}"
        numbers = [line.split("\t")[-1] for line in done.stdout.splitlines()]
        first = f"cancel what was submitted (scancel {' '.join(numbers)}), " if numbers else ""
        if _UNREACHABLE.search(done.stderr):
            what = f"Slurm does not answer on this machine: {reason}"
            do = f"{first}check it with sinfo, or leave --submit out to print the script"
        else:
            what, do = f"sbatch rejected a job: {reason}", f"{first}correct that and submit again"
        raise WordgeomError(what, do=do)
