"""Kill workers, schedulers and clients of runs on Dask, and compare the outputs.

    scripts/cluster_test dask [--rounds 50] [--seed 1] [--only drift,impute,extend]

Each round runs a command on a scheduler with two workers and kills (-9) one of these processes, or
the client, at a random moment, mostly while blocks are computed. A run that lost a worker must
finish. A run that lost its scheduler must end with one line: status 75, or 1 if it had not
connected yet. After a lost scheduler or client, `--resume`, with or without a scheduler, must
finish. Every output, or report, must have the bytes of a run on one process, and nothing else may
be left.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from dask_cluster import DaskCluster
from matrices import random_counts, store_documents, store_matrix

import wordgeom as wg
from wordgeom.vectors.keyed import write_vectors

SHARDS = [f"part.shard-{k}-of-4" for k in range(1, 5)]
VICTIMS = ("worker", "scheduler", "client")
RESUMABLE = 75
PATIENCE = 300.0  # seconds for a run
# Small blocks are sent to the workers too, so that short runs have many.
_RUN = Path(__file__).with_name("small_blocks.py")


@dataclass(frozen=True)
class Command:
    """A command, and the files and directories that it writes; none: it prints a report."""

    arguments: list[str]
    outputs: list[str]


def trained(matrix: str, *options: str) -> Command:
    """Return a command that trains vectors."""
    return Command(["train", matrix, "--method", *options, "-o", "out.bin"], VECTORS)


VECTORS = ["out.bin", "out.bin.json"]
COMMANDS = [
    Command(["build-cooc", "text.txt", "--min-count", "1", "-o", "out"], ["out"]),
    Command(["build-cooc", "text.txt", "--vocab-only", "-o", "out"], ["out"]),
    Command(["merge", *SHARDS, "-o", "out"], ["out"]),
    Command(["build-pmi", "cooc", "-o", "out"], ["out"]),
    trained("cooc", "gbu", "--dim", "40", "--sweeps", "8"),
    trained("cooc", "gbu", "--dim", "20", "--sweeps", "2", "--loss", "squared"),
    trained("cooc", "pmi-eigs", "--dim", "40", "--tol", "1e-5"),
    trained("cooc", "dc", "--dim", "20", "--first-block", "500", "--block", "100"),
    trained("dtm", "lsa", "--dim", "20"),
    Command(["train", "dtm", "--method", "dlsa", "--dim", "10", "--sweeps", "4", "-o", "out"],
            ["out"]),
    Command(["drift", "model", "--permutations", "1999", "--json"], []),
    Command(["drift", "model", "--test", "permutation", "--permutations", "1999", "--json"], []),
    Command(["impute", "--domain", "domain.csv", "--vectors", "known.bin", "-o", "out.bin"],
            [*VECTORS, "out.tsv"]),
    Command(["extend", "known.bin", "cooc", "-o", "out.bin"], VECTORS),
]  # fmt: skip


class Workplace:
    """A folder with inputs, a cluster that is repaired after each round, and reference outputs."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._logs = folder / "logs"
        self._logs.mkdir()
        rng = np.random.default_rng(1)
        store_matrix(folder / "cooc", random_counts(rng, 2500))
        words = rng.zipf(1.2, 2_000_000) % 20_000
        lines = (words[k : k + 1000] for k in range(0, len(words), 1000))
        (folder / "text.txt").write_text("\n".join(" ".join(map(str, line)) for line in lines))
        dates = [(1, row + 1, "", str(1990 + row % 20)) for row in range(2000)]
        store_documents(folder / "dtm", rng.poisson(0.2, (2000, 500)), dates)
        for k in range(1, 5):
            wg.count(folder / "text.txt", out=folder / SHARDS[k - 1], shard=f"{k}/4")
        wg.train_model(folder / "dtm", folder / "model", dim=10, sweeps=2)
        names = [f"w{k}" for k in range(2500)]
        points = rng.standard_normal((2500, 20)).astype(np.float32)
        write_vectors(folder / "known.bin", names[:1500], points[:1500, :10].copy())
        rows = [",".join([name, *map(str, x)]) for name, x in zip(names, points, strict=True)]
        header = ",".join(["name", *(f"x{k}" for k in range(20))])
        (folder / "domain.csv").write_text("\n".join([header, *rows]) + "\n")
        self.inputs = set(os.listdir(folder))
        self.cluster = DaskCluster(self._logs, 2)
        self.wanted: dict[str, bytes] = {}
        self.seconds: dict[str, float] = {}

    def start(self, command: Command, *options: str) -> subprocess.Popen[bytes]:
        """Start a command in a process of its own."""
        arguments = [*command.arguments, "--checkpoint", "0", "--threads", "1", *options]
        return subprocess.Popen(
            [sys.executable, str(_RUN), *arguments], cwd=self.folder,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip

    def on_cluster(self, command: Command, *options: str) -> subprocess.Popen[bytes]:
        """Start a command on the cluster."""
        return self.start(command, "--scheduler", self.cluster.address, *options)

    def measure(self, command: Command) -> None:
        """Run a command in one process, and note what it writes and how long the cluster takes."""
        name = " ".join(command.arguments)
        self.wanted[name] = self.content(command, expect(self.start(command), {0}).printed)
        self.clean()
        client = self.on_cluster(command)
        assert self.await_blocks(client), f"{name} shared nothing with its workers"
        begun = time.monotonic()
        ended = expect(client, {0})
        self.seconds[name] = time.monotonic() - begun
        self.check(command, ended)

    def await_blocks(self, client: subprocess.Popen[bytes]) -> bool:
        """Wait until a run has shared an array with its workers, or ended; tell whether it has."""
        while not any(self.folder.glob(".*.shared/*.npy")):
            if client.poll() is not None:
                return False
            time.sleep(0.005)
        return True

    def content(self, command: Command, printed: bytes) -> bytes:
        """Return the data of the outputs, or the report; run cards and summaries have times."""
        found = [] if command.outputs else [printed]
        for output in command.outputs:
            path = self.folder / output
            files = sorted(path.iterdir()) if path.is_dir() else [path]
            found += [one.read_bytes() for one in files if one.suffix != ".json"]
        return b"".join(found)

    def check(self, command: Command, ended: Ended) -> None:
        """Compare the outputs of a run with those of one process, and remove them."""
        left = set(os.listdir(self.folder)) - self.inputs - set(command.outputs)
        assert not left, f"left behind: {sorted(left)}"
        same = self.content(command, ended.printed) == self.wanted[" ".join(command.arguments)]
        assert same, "the bytes differ from those of one process"
        self.clean()

    def clean(self) -> None:
        """Remove everything but the inputs."""
        for name in set(os.listdir(self.folder)) - self.inputs:
            path = self.folder / name
            shutil.rmtree(path) if path.is_dir() else path.unlink()

    def repair(self) -> None:
        """Start what was killed again; workers belong to one scheduler."""
        if self.cluster.scheduler.poll() is not None:
            self.cluster.__exit__()
            self.cluster = DaskCluster(self._logs, 2)
            self.cluster.__enter__()
        for worker in [one for one in self.cluster.workers if one.poll() is not None]:
            self.cluster.workers.remove(worker)
            self.cluster.start_worker()


@dataclass(frozen=True)
class Ended:
    """How a run ended: its status, and what it printed."""

    status: int
    printed: bytes


def expect(process: subprocess.Popen[bytes], statuses: set[int]) -> Ended:
    """Wait for a process, which must end with one of the statuses and at most one line of error."""
    printed, said = process.communicate(timeout=PATIENCE)
    lines = [line for line in said.decode().splitlines() if "note:" not in line]
    assert process.returncode in statuses, f"status {process.returncode}: {said.decode()[-500:]}"
    assert len(lines) <= 1, said.decode()[-500:]
    return Ended(process.returncode, printed)


def play(place: Workplace, command: Command, victim: str, chance: random.Random) -> str:
    """Run one round; return how the run ended."""
    seconds = place.seconds[" ".join(command.arguments)]
    early, resumed_there = chance.random() < 0.2, chance.random() < 0.5
    client = place.on_cluster(command)
    if not early:  # an early kill often comes before the run is connected
        place.await_blocks(client)
    time.sleep(chance.uniform(0.0, seconds))
    workers, scheduler = place.cluster.workers, place.cluster.scheduler
    killed = {"worker": chance.choice(workers), "scheduler": scheduler, "client": client}[victim]
    killed.kill()
    killed.wait() if killed is not client else None
    allowed = {"worker": {0}, "scheduler": {0, 1, RESUMABLE}, "client": {0, -signal.SIGKILL}}
    ended = first = expect(client, allowed[victim])
    place.repair()
    if first.status:
        again = place.on_cluster if resumed_there else place.start
        ended = expect(again(command, "--resume"), {0})
    place.check(command, ended)
    return f"status {first.status}" + (
        f", run again {'there' if resumed_there else 'alone'}" * bool(first.status)
    )


def main() -> int:
    """Run the rounds; return 1 if one failed."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", metavar="NAME,NAME", help="commands; all by default")
    asked = parser.parse_args()
    chance, failed = random.Random(asked.seed), 0
    names = asked.only.split(",") if asked.only else [one.arguments[0] for one in COMMANDS]
    commands = [one for one in COMMANDS if one.arguments[0] in names]
    with tempfile.TemporaryDirectory() as folder:
        place = Workplace(Path(folder))
        place.cluster.__enter__()
        try:
            for command in commands:
                place.measure(command)
            for number in range(asked.rounds):
                command, victim = chance.choice(commands), VICTIMS[number % len(VICTIMS)]
                try:
                    ended = play(place, command, victim, chance)
                except (AssertionError, subprocess.TimeoutExpired) as error:
                    failed, ended = failed + 1, f"FAILED: {error}"
                    place.clean()
                what = " ".join(command.arguments[:4])
                print(f"{number + 1}: {what}: killed the {victim}: {ended}", flush=True)
        finally:
            place.cluster.__exit__()
    print(f"{asked.rounds} rounds, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
