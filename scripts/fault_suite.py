"""The long fault tests: an hour on two cores, or a share of it.

    scripts/faults [boundaries] [kills] [draws] [signals] [disks] [surroundings] [fuzz]

boundaries    kill each command before each step that changes the disk, with and without old output,
              and run it again in every possible way
kills         kill −9 at random times
draws         commands in random order get SIGKILL, SIGTERM or SIGINT at a random time, and are run
              again as documented, with --resume where they have that; every command is drawn before
              one is drawn again
signals       SIGTERM, SIGINT and SIGKILL to processes that read and count longer texts
disks         file size limits, and disks of every size that is too small
surroundings  only the output directory is writable
fuzz          corrupt files for every reader

Without arguments, all sections run. Each prints what it tried and what failed; the exit status is 1
if anything failed. --share S runs that share of each section, drawn with --seed, but all tests of
signals, whose limit is on a median.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import islice, pairwise
from pathlib import Path
from typing import TypeVar

import numpy as np
from faults import cold, trials
from faults.commands import COMMANDS, REPORTS, Command, Report
from faults.workshop import RAM, Workshop, disks_can_be_mounted
from fuzz.campaign import findings
from fuzz.readers import READERS

SECTIONS = ("boundaries", "kills", "draws", "signals", "disks", "surroundings", "fuzz")
Try = Callable[[Workshop], object]
Task = Command | Report
Item = TypeVar("Item")
SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT)
SHOWN = 5
PAGE = 4096


class Bench:
    """A workshop per thread, and the failures in all of them; share: of the tests that run."""

    def __init__(self, folder: Path, share: float, *, disks: bool = False) -> None:
        self._folder, self._disks, self._share = folder, disks, share
        self._own, self._shops = threading.local(), list[Workshop]()
        self._pool = ThreadPoolExecutor(os.cpu_count() or 1)
        self.failures: list[str] = []

    def run(self, tries: Iterable[Try]) -> list[object]:
        """Run tries in the workshops; return the results of those that succeeded."""
        results = list(self._pool.map(self._run, tries))
        return [one for one in results if one is not None]

    def some(self, number: int) -> int:
        """Return the share of a number of tests, at least 1."""
        return max(1, round(self._share * number))

    def drawn(self, tries: Sequence[Try], rng: np.random.Generator) -> list[Try]:
        """Return the share of the tries, one drawn from each of as many runs of equal length."""
        bounds = np.linspace(0, len(tries), self.some(len(tries)) + 1).round().astype(int)
        return [tries[rng.integers(*run)] for run in pairwise(bounds.tolist())]

    def close(self) -> None:
        """Close the workshops."""
        self._pool.shutdown()
        for shop in self._shops:
            shop.__exit__(None, None, None)

    def _run(self, one: Try) -> object | None:
        try:
            return one(self._shop()) or True
        except Exception as error:  # any exception is a finding
            self.failures.append(" ".join(f"{type(error).__name__} {error}".split())[:1000])
            return None

    def _shop(self) -> Workshop:
        if not hasattr(self._own, "shop"):
            folder = Path(tempfile.mkdtemp(dir=self._folder))
            self._own.shop = Workshop(folder, disks=self._disks)
            self._shops.append(self._own.shop)
        shop: Workshop = self._own.shop
        return shop


def both(commands: Iterable[Command]) -> list[tuple[Command, bool]]:
    """Return each command without old output and, if it replaces that, with it."""
    return [(one, old) for one in commands for old in one.starts]


def boundaries(bench: Bench, rng: np.random.Generator) -> str:
    """Kill every command before every step that changes the disk."""
    cases = both(COMMANDS)
    steps = bench.run([partial(_steps, command=one, old=old) for one, old in cases])
    tries: list[Try] = [
        partial(trials.kill_at, command=one, step=k, old=old, ways=trials.again(one, old))
        for (one, old), number in zip(cases, steps, strict=True)
        for k in range(1, int(str(number)) + 1)
    ]
    drawn = bench.drawn(tries, rng)
    bench.run(drawn)
    return f"{len(drawn):,} of {len(tries):,} kills before a step, of {len(COMMANDS)} commands"


def _steps(shop: Workshop, *, command: Command, old: bool) -> int:
    return len(trials.steps(shop, command, old=old))


def kills(bench: Bench, rng: np.random.Generator) -> str:
    """Kill commands at random times."""
    cases = list(islice(_strata(both(COMMANDS), rng), bench.some(200)))
    shares = rng.random(len(cases))
    bench.run(
        partial(_at_random, command=one, old=old, share=share, number=signal.SIGKILL)
        for (one, old), share in zip(cases, shares, strict=True)
    )
    return f"{len(cases)} kills at random times"


def draws(bench: Bench, rng: np.random.Generator) -> str:
    """Disturb random commands with random signals at random times."""
    ended: Counter[str] = Counter()

    def one(shop: Workshop, task: Task, old: bool, share: float, number: int) -> None:
        status = _draw(shop, task=task, old=old, share=share, number=number)
        ended[f"{signal.Signals(number).name} {'too late' if status == 0 else 'in time'}"] += 1

    tasks: list[Task] = [*COMMANDS, *REPORTS]
    drawn = list(islice(_strata(tasks, rng), bench.some(300)))
    bench.run(
        partial(one, task=task, old=old, share=share, number=number)
        for task, old, share, number in [
            (task, bool(rng.integers(2)), 0.6 * rng.random(), rng.choice(SIGNALS)) for task in drawn
        ]
    )
    came = ", ".join(f"{what}: {number}" for what, number in sorted(ended.items()))
    several = len({task.name for task in drawn})
    return f"{len(drawn)} signals to {several} commands in random order ({came})"


def _strata(items: Sequence[Item], rng: np.random.Generator) -> Iterator[Item]:
    """Yield all items in random order, again and again."""
    while True:
        for k in rng.permutation(len(items)).tolist():
            yield items[k]


def _draw(shop: Workshop, *, task: Task, old: bool, share: float, number: int) -> int:
    """Disturb a command or a report; return its status."""
    if isinstance(task, Command):
        old = old and bool(task.old)
        return _at_random(shop, command=task, old=old, share=share, number=number)
    return trials.disturb_report(shop, task, number=number, share=share).status


def _at_random(shop: Workshop, *, command: Command, old: bool, share: float, number: int) -> int:
    """Disturb a command after a share of its duration; return its status.

    It is run again with --resume where it has that, as the last of the ways.
    """
    shop.known(command)
    duration = shop.run(shop.place(command, old=False), command.line.split()).seconds
    words = trials.again(command, old)[-1]
    return trials.disturb(
        shop, command, old=old, number=number, delay=share * duration, words=words
    ).status


def signals(bench: Bench, rng: np.random.Generator) -> str:
    """Interrupt processes that count a longer text; report how long they take to end."""
    lines = []
    with tempfile.TemporaryDirectory(dir=RAM) as name:
        wide = cold.LongCount(Path(name) / "wide", 6, 20)
        long = cold.LongCount(Path(name) / "long", 30, 1)
        for number in SIGNALS:
            delays = [(count, d * count.seconds) for count in (wide, long) for d in rng.random(12)]
            tries = [partial(_cold, count=one, number=number, delay=d) for one, d in delays]
            took = sorted(float(str(one)) for one in bench.run(tries))
            middle = took[len(took) // 2] if took else float("nan")
            most = took[-1] if took else float("nan")
            if middle >= 1:
                bench.failures.append(f"half of {number.name} took at least {middle:.2f} s to end")
            lines.append(
                f"{len(delays)} {number.name}, ended after {middle:.2f} s, most {most:.2f}"
            )
    return (
        f"a count of {wide.seconds:.1f} s, and one of {long.seconds:.1f} s that mostly reads: "
        f"{'; '.join(lines)}"
    )


def _cold(_: Workshop, *, count: cold.LongCount, number: int, delay: float) -> float:
    return count.interrupt(number, delay)


def disks(bench: Bench, rng: np.random.Generator) -> str:
    """Run commands with file size limits and on disks that are too small."""
    tries: list[Try] = []
    sizes = sorted({round(1.18**k) for k in range(60)})[:50]
    for one, old in both(COMMANDS):
        tries += [partial(trials.starve, command=one, old=old, most_bytes=n) for n in sizes]
        if disks_can_be_mounted():
            tries += [
                partial(trials.starve, command=one, old=old, disk=n * PAGE) for n in range(1, 51)
            ]
    drawn = bench.drawn(tries, rng)
    bench.run(drawn)
    without = "" if disks_can_be_mounted() else " (file size limits only: disks cannot be mounted)"
    return f"{len(drawn):,} of {len(tries):,} runs without space{without}"


def surroundings(bench: Bench, rng: np.random.Generator) -> str:
    """Run with the package and the home directory on read-only disks."""
    del rng
    if not disks_can_be_mounted():
        return "not tried: disks cannot be mounted here"
    bench.run([cold.read_only])
    return "a count and vectors with only the output directory writable"


def fuzz(bench: Bench, rng: np.random.Generator) -> str:
    """Give corrupt files to every reader."""
    del rng
    inputs = bench.some(10_000)
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        for found in pool.map(lambda one: findings([one.name], 0, inputs), READERS):
            bench.failures += [" ".join(str(one).split())[:1000] for one in found]
    return f"{inputs:,} inputs for each of {len(READERS)} readers"


def main() -> int:
    """Run sections; return the exit status."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("sections", nargs="*", help=", ".join(SECTIONS))
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--share", type=float, default=1, help="of the tests to run, above 0 to 1")
    args = parser.parse_args()
    if not 0.0 < args.share <= 1.0:
        parser.error(f"--share must be above 0 and at most 1, found {args.share:g}")
    # A shell makes background processes ignore Ctrl-C, and their children inherit it.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    failed = False
    for name in args.sections or SECTIONS:
        start = time.monotonic()
        with tempfile.TemporaryDirectory(dir=RAM) as folder:
            bench = Bench(
                Path(folder), args.share, disks=name == "disks" and disks_can_be_mounted()
            )
            summary = globals()[name](bench, np.random.default_rng(args.seed))
            bench.close()
        seconds = time.monotonic() - start
        print(f"{name}: {summary}; {len(bench.failures)} failed; {seconds:.0f} s", flush=True)
        for one in bench.failures[:SHOWN]:
            print(f"  {one}", flush=True)
        failed = failed or bool(bench.failures)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
