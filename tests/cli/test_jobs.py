"""`wordgeom jobs`: the printed commands come to what the configuration asks for."""

from __future__ import annotations

import glob
import os
import re
import shlex
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from wordgeom.core.errors import OptionError
from wordgeom.jobs.job import Job, Resources, check_time
from wordgeom.jobs.slurm import Site, slurm_script
from wordgeom.storage.store import Store

FIXED = ("--memory", "1", "--time", "30")  # no pilot runs
CONFIG = """
[build-cooc]
corpus = "corpus.txt"
min-count = 2
window = 3
stop-words = "stop.txt"
out = "the counts"

[build-pmi]
counts = "the counts"
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A text and a configuration that counts and weights it."""
    monkeypatch.chdir(tmp_path)
    Path("corpus.txt").write_text("a b c d the a\nb c the d e\n\nnaïve a b\n" * 30)
    Path("stop.txt").write_text("the\n")
    Path("x.toml").write_text(CONFIG)
    return tmp_path


def steps_of(script: str) -> dict[str, str]:
    """Return the command of each step of a plain script, by name."""
    found = re.findall(
        r"^([\w-]+)\)\n(?:    (?::|\[\[) .*\n)*    exec wordgeom (.*) ;;$", script, re.M
    )
    return dict(found)


def arguments(line: str, task: int) -> list[str]:
    """Return the arguments of a line as the shell would."""
    words = shlex.split(line.replace("$TASK_ID", str(task)))
    return [one for word in words for one in (sorted(glob.glob(word)) or [word])]


def run_steps(ask, script: str, shards: int) -> list[str]:
    """Run all steps and tasks in this process, the tasks in another order; return the names."""
    steps = steps_of(script)
    for line in steps.values():
        tasks = range(shards, 0, -1) if "$TASK_ID" in line else [0]
        for task in tasks:
            answer = ask(*arguments(line, task))
            assert answer.status == 0, answer.err
    return list(steps)


def test_the_steps_make_what_a_run_makes(folder, ask):
    script = ask("jobs", "x.toml", "--shards", "3", *FIXED).out
    assert run_steps(ask, script, 3) == ["words", "vocabulary", "count", "merge", "run"]
    made = {name: Store.open(name).digest for name in ("the counts", "pmi")}
    assert "up to date" in ask("run", "x.toml").out.splitlines()[0]
    for name in made:
        Path(name).rename(f"in shards {name}")
    assert ask("run", "x.toml").status == 0
    assert made == {name: Store.open(name).digest for name in made}


def test_text_that_cannot_be_cut_is_read_by_every_shard(folder, ask):
    Path("x.toml").write_text(CONFIG.replace("min-count = 2", "sample = 0.1"))
    script = ask("jobs", "x.toml", "--shards", "2", *FIXED).out
    assert run_steps(ask, script, 2) == ["count", "merge", "run"]
    made = Store.open("the counts").digest
    ask("run", "x.toml", "--force")
    assert Store.open("the counts").digest == made


def test_without_shards_there_is_one_job(folder, ask):
    script = ask("jobs", "x.toml", *FIXED).out
    assert steps_of(script) == {"run": "run x.toml --resume"}


def test_several_counts_have_jobs_of_their_own(folder, ask):
    second = '[[build-cooc]]\ncorpus = "corpus.txt"\nread-vocab = "stop.txt"\nout = "other"\n'
    Path("x.toml").write_text(CONFIG.replace("[build-cooc]", "[[build-cooc]]") + second)
    steps = steps_of(ask("jobs", "x.toml", "--shards", "2", *FIXED).out)
    each = ["words-1", "vocabulary-1", "count-1", "merge-1", "count-2", "merge-2", "run"]
    assert list(steps) == each
    script = ask("jobs", "x.toml", "--shards", "2", "--slurm", *FIXED).out
    assert '--dependency="afterok:$job_merge_1:$job_merge_2"' in script


def test_a_count_with_words_of_another_table_is_left_to_the_run(folder, ask):
    tables = '[[build-cooc]]\ncorpus = "corpus.txt"\nvocab-only = true\nout = "words"\n'
    tables += '[[build-cooc]]\ncorpus = "corpus.txt"\nread-vocab = "words"\n[build-pmi]\n'
    Path("x.toml").write_text(tables)
    script = ask("jobs", "x.toml", "--shards", "2", *FIXED).out
    assert run_steps(ask, script, 2) == ["run"]
    assert Store.open("pmi").request["inputs"][0]["digest"] == Store.open("cooc").digest


def test_the_ready_script_is_what_jobs_prints(folder, ask):
    ready = Path(__file__).parents[2] / "configs" / "cluster"
    Path("gbu.toml").write_bytes((ready / "gbu.toml").read_bytes())
    fixed = ("--shards", "64", "--slurm", "--memory", "8", "--time", "4:00:00")
    printed = ask("jobs", "gbu.toml", *fixed).out.splitlines()[2:]
    expected = (ready / "slurm.sh").read_text().splitlines()[2:]
    assert ["cd ." if line.startswith("cd ") else line for line in printed] == expected


def executable(path: Path, *lines: str) -> None:
    """Write a shell script that can be run."""
    path.write_text("\n".join(["#!/bin/bash", *lines, ""]))
    path.chmod(path.stat().st_mode | stat.S_IXUSR)


@pytest.fixture
def queue(folder, monkeypatch):
    """An sbatch that keeps what it is given and answers with numbers from 101."""
    (folder / "bin").mkdir()
    executable(
        folder / "bin" / "sbatch", 'n=$(ls submitted 2>/dev/null | wc -l); mkdir -p submitted',
        'number=$((101 + n)); cat > "submitted/$number"',
        'printf "#SBATCH %s\\n" "$@" >> "submitted/$number"',
        'echo "$number;cluster"',
    )  # fmt: skip
    monkeypatch.setenv("PATH", f"{folder / 'bin'}{os.pathsep}{os.environ['PATH']}")
    return folder / "submitted"


def test_submitted_jobs_wait_for_those_that_they_need(queue, ask):
    more = ("--partition", "long", "--account", "me", "--sbatch=--qos=low", "--cpus", "3")
    answer = ask("jobs", "x.toml", "--shards", "5", "--submit", *more, *FIXED)
    names = ["words", "vocabulary", "count", "merge", "run"]
    assert answer.out == "".join(f"{name}\t{101 + k}\n" for k, name in enumerate(names))
    texts = [(queue / str(101 + k)).read_text() for k in range(5)]
    assert [re.findall(r"--dependency=(.*)", text) for text in texts] == [
        [], *([f"afterok:{101 + k}"] for k in range(4))
    ]  # fmt: skip
    assert ["--array=1-5" in text for text in texts] == [True, False, True, False, False]
    wanted = ("--partition=long", "--account=me", "--qos=low", "--cpus-per-task=3", "--time=30",
              "--signal=B:TERM@90", "--requeue", "--mem=1449M")  # fmt: skip
    for text in texts:
        assert set(wanted) <= {line.removeprefix("#SBATCH ") for line in text.splitlines()}
        assert subprocess.run(["bash", "-n"], input=text.encode(), check=False).returncode == 0


def test_a_job_that_is_rejected_is_one_line(queue, ask):
    executable(
        queue.parent / "bin" / "sbatch", "echo 'sbatch: error: no such partition' >&2; exit 1"
    )
    answer = ask("jobs", "x.toml", "--submit", *FIXED)
    line = (
        "wordgeom: error: sbatch rejected a job: no such partition; correct that and submit again\n"
    )
    assert (answer.status, answer.err) == (1, line)


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (
            ["error: fetch_config: DNS SRV lookup failed",
             "fatal: Could not establish a configuration source"],
            "fetch_config: DNS SRV lookup failed, Could not establish a configuration source",
        ),
        (
            ["error: Batch job submission failed: Unable to contact slurm controller"],
            "Batch job submission failed: Unable to contact slurm controller",
        ),
    ],
)  # fmt: skip
def test_a_slurm_that_does_not_work_is_no_rejected_job(queue, ask, lines, said):
    printed = " ".join(f"'sbatch: {line}'" for line in lines)
    executable(queue.parent / "bin" / "sbatch", f"printf '%s\\n' {printed} >&2; exit 1")
    answer = ask("jobs", "x.toml", "--submit", *FIXED)
    assert (answer.status, answer.out) == (1, "")
    assert answer.err == (
        f"wordgeom: error: Slurm does not answer on this machine: {said}; check it with sinfo, or "
        "leave --submit out to print the script\n"
    )


def test_jobs_that_were_submitted_before_a_rejected_one_are_named(queue, ask):
    sbatch = queue.parent / "bin" / "sbatch"
    said = "printf 'sbatch: error: %s\\n' full 'try later' >&2"
    reject = f"if ((n == 2)); then {said}; exit 1; fi"
    sbatch.write_text(sbatch.read_text().replace("number=$((", f"{reject}\nnumber=$(("))
    answer = ask("jobs", "x.toml", "--shards", "2", "--submit", *FIXED)
    assert answer.status == 1
    assert answer.err == (
        "wordgeom: error: sbatch rejected a job: full, try later; cancel what was submitted "
        "(scancel 101 102), correct that and submit again\n"
    )


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["--partition", "long"], "--partition is for Slurm; pass --slurm, or leave it out"),
        (["--account", "me"], "--account is for Slurm; pass --slurm, or leave it out"),
        (["--sbatch=--qos=low"], "--sbatch is for Slurm; pass --slurm, or leave it out"),
        (["--slurm", "--partition", "a\nb"], "--partition has several lines; pass one name"),
    ],
)
def test_options_of_slurm_are_for_slurm(folder, ask, given, said):
    answer = ask("jobs", "x.toml", *given, *FIXED)
    assert (answer.status, answer.err) == (2, f"wordgeom: error: {said}\n")
    assert answer.out == ""


def test_the_names_of_a_cluster_are_quoted(folder, ask):
    given = ("--partition", "a b; c", "--account", "$me")
    lines = ask("jobs", "x.toml", "--slurm", *given, *FIXED).out.splitlines()
    assert "#SBATCH --partition='a b; c'" in lines
    assert "#SBATCH --account='$me'" in lines


def test_the_plain_script_runs_nothing_before_its_merge(folder, ask):
    Path("steps.sh").write_text(ask("jobs", "x.toml", "--shards", "2", *FIXED).out)
    executable(folder / "wordgeom", 'echo "$WORDGEOM_JOB $*"')
    environment = {**os.environ, "PATH": f"{folder}{os.pathsep}{os.environ['PATH']}"}

    def run() -> subprocess.CompletedProcess[str]:
        return subprocess.run(["bash", "steps.sh", "run"], env=environment, check=False, text=True,
                              capture_output=True)  # fmt: skip

    before = run()
    assert (before.returncode, before.stdout) == (1, "")
    assert before.stderr == "the counts: run its merge first\n"
    assert ask("build-cooc", "corpus.txt", "-o", "the counts").status == 0
    assert run().stdout == "1 run x.toml --resume\n"


def test_without_a_queue_nothing_is_submitted(folder, ask, monkeypatch):
    monkeypatch.setenv("PATH", str(folder))
    answer = ask("jobs", "x.toml", "--submit", *FIXED)
    assert answer.status == 1
    assert answer.err == (
        "wordgeom: error: --submit needs sbatch, which is not installed; run this where jobs are "
        "submitted, or leave --submit out to print the script\n"
    )


def job_script(line: str) -> str:
    """Return the script of a job that runs a line."""
    script = slurm_script([Job("one", line, Resources(1))], Site(), "test", ".")
    head, body = (script.split(f"<<'{end}'\n")[1].split(f"\n{end}\n")[0] for end in ("HEAD", "JOB"))
    return f"{head}\n{body}"


@pytest.mark.parametrize(
    ("line", "restarts", "status", "requeued"),
    [
        ("bash -c 'exit 0'", 0, 0, False),
        ("bash -c 'exit 1'", 0, 1, False),
        ("bash -c 'exit 75'", 0, 75, True),
        ("bash -c 'exit 75'", 20, 75, False),
        ("bash -c 'kill -KILL $$'", 3, 137, True),
    ],
)
def test_a_job_is_requeued_where_that_continues_it(
    folder, monkeypatch, line: str, restarts: int, status: int, requeued: bool
):
    executable(folder / "scontrol", 'echo "$*" > requeued')
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("SLURM_JOB_ID", "7")
    monkeypatch.setenv("SLURM_RESTART_COUNT", str(restarts))
    assert subprocess.run(["bash", "-c", job_script(line)], check=False).returncode == status
    assert Path("requeued").exists() == requeued
    assert not requeued or Path("requeued").read_text() == "requeue 7\n"


def test_a_job_passes_the_signal_on_and_waits(folder, monkeypatch):
    executable(folder / "scontrol", 'echo "$*" > requeued')
    saves = (
        "import signal, sys, time; "
        "signal.signal(signal.SIGTERM, lambda *_: (time.sleep(.3), print('saved'), sys.exit(75))); "
        "print('ready', flush=True); time.sleep(60)"
    )
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("SLURM_JOB_ID", "8")
    script = job_script(shlex.join([sys.executable, "-c", saves]))
    with subprocess.Popen(["bash", "-c", script], stdout=subprocess.PIPE, text=True) as shell:
        assert shell.stdout is not None
        assert shell.stdout.readline() == "ready\n"
        time.sleep(0.1)
        shell.terminate()
        assert shell.stdout.read() == "saved\n"
    assert shell.returncode == 75
    assert Path("requeued").read_text() == "requeue 8\n"


@pytest.mark.parametrize("text", ["90", "1:30:00", "2-12", "2-12:30:15", "5:30"])
def test_times_of_slurm_are_taken(text: str):
    assert check_time(text) == text


@pytest.mark.parametrize("text", ["0", "4", "4:59", "0:4:59", "0-0:3"])
def test_times_that_leave_no_time_are_refused(text: str):
    with pytest.raises(OptionError, match="--time must be at least 5 minutes, found"):
        check_time(text)


@pytest.mark.parametrize("text", ["", "1h", "1;rm x", "2-", ":30", "1:2:3:4"])
def test_other_times_are_refused(text: str):
    with pytest.raises(OptionError, match="--time is not a time"):
        check_time(text)


def test_a_plan_sets_memory_and_time(folder, ask, monkeypatch):
    from wordgeom.cli import job_costs
    from wordgeom.planning.pilot import Cost

    cost = Cost(0, 0, 0, 0, 0, memory=2 << 30, seconds=3600.0)
    monkeypatch.setattr(
        job_costs, "predicted_costs", lambda steps, tmp: ({one.place: cost for one in steps}, "")
    )
    script = ask("jobs", "x.toml", "--shards", "2", "--slurm").out
    jobs = script.split("\nsubmit ")[1:]
    times = [re.search(r"--time=(\d+)", job) for job in jobs]
    # Words and counts take half of the time each; a run of both tables, which has one left.
    assert [int(time[1]) for time in times if time] == [100, 190, 100, 190, 190]
    assert all(f"--mem={(2 << 10) * 5 // 4 + 256}M" in job for job in jobs)
    assert all("--memory 2.1" in job for job in jobs[:-1])
