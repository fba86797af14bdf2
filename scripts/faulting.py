"""The long form of the fault suite: under ten minutes on two cores.

    scripts/faults [boundaries] [kills] [signals] [disks] [surroundings] [fuzz]

boundaries: each command with output is killed before each step that changes the disk, over an old
output and without one, and run again in each way there is. kills: kill −9 at random times.
signals: SIGTERM, SIGINT and SIGKILL to processes that read and count longer texts. disks: files
that may not grow, and disks of each size that is too small. surroundings: nothing but the output
can be written to. fuzz: broken files for every reader. Without a name, all of them. Each prints
what it tried and what went wrong; the exit status is 1 where anything did.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import numpy as np
from faults import cold, trials
from faults.commands import COMMANDS, Command
from faults.workshop import RAM, Workshop, disks_can_be_mounted
from fuzz.campaign import findings
from fuzz.readers import READERS

SECTIONS = ("boundaries", "kills", "signals", "disks", "surroundings", "fuzz")
Try = Callable[[Workshop], object]
SHOWN = 5
PAGE = 4096


class Bench:
    """A workshop for each of two threads, and what went wrong in them."""

    def __init__(self, folder: Path, *, disks: bool = False) -> None:
        self._folder, self._disks = folder, disks
        self._own, self._shops = threading.local(), list[Workshop]()
        self._pool = ThreadPoolExecutor(os.cpu_count() or 1)
        self.wrong: list[str] = []

    def run(self, tries: Iterable[Try]) -> list[object]:
        """Run tries, each in some workshop; return what came of those that went well."""
        results = list(self._pool.map(self._run, tries))
        return [one for one in results if one is not None]

    def close(self) -> None:
        """End the workshops."""
        self._pool.shutdown()
        for shop in self._shops:
            shop.__exit__(None, None, None)

    def _run(self, one: Try) -> object | None:
        try:
            return one(self._shop()) or True
        except Exception as error:  # a finding, whatever it is
            self.wrong.append(" ".join(f"{type(error).__name__} {error}".split())[:1000])
            return None

    def _shop(self) -> Workshop:
        if not hasattr(self._own, "shop"):
            folder = Path(tempfile.mkdtemp(dir=self._folder))
            self._own.shop = Workshop(folder, disks=self._disks)
            self._shops.append(self._own.shop)
        shop: Workshop = self._own.shop
        return shop


def both(commands: Iterable[Command]) -> list[tuple[Command, bool]]:
    """Return each command without an old output and over one."""
    return [(one, old) for one in commands for old in (False, True)]


def boundaries(bench: Bench, rng: np.random.Generator) -> str:
    """Kill every command before every step."""
    del rng
    cases = both(COMMANDS)
    steps = bench.run([partial(_steps, command=one, old=old) for one, old in cases])
    tries = [
        partial(trials.kill_at, command=one, step=k, old=old, ways=trials.again(one, old))
        for (one, old), number in zip(cases, steps, strict=True)
        for k in range(1, int(str(number)) + 1)
    ]
    bench.run(tries)
    return f"{len(tries):,} kills before a step, of {len(COMMANDS)} commands"


def _steps(shop: Workshop, *, command: Command, old: bool) -> int:
    return len(trials.steps(shop, command, old=old))


def kills(bench: Bench, rng: np.random.Generator) -> str:
    """Kill commands at random times."""
    cases = [both(COMMANDS)[k % (2 * len(COMMANDS))] for k in range(200)]
    shares = rng.random(len(cases))
    bench.run(
        partial(_at_random, command=one, old=old, share=share)
        for (one, old), share in zip(cases, shares, strict=True)
    )
    return f"{len(cases)} kills at random times"


def _at_random(shop: Workshop, *, command: Command, old: bool, share: float) -> None:
    shop.known(command)
    whole = shop.run(shop.place(command, old=False), command.line.split()).seconds
    for words in trials.again(command, old)[-1:]:
        trials.disturb(
            shop, command, old=old, number=signal.SIGKILL, delay=share * whole, words=words
        )


def signals(bench: Bench, rng: np.random.Generator) -> str:
    """Interrupt processes that count a longer text; tell how long they take to end."""
    told = []
    with tempfile.TemporaryDirectory(dir=RAM) as name:
        wide = cold.LongCount(Path(name) / "wide", 6, 20)
        long = cold.LongCount(Path(name) / "long", 30, 1)
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGKILL):
            delays = [(count, d * count.seconds) for count in (wide, long) for d in rng.random(12)]
            tries = [partial(_cold, count=one, number=number, delay=d) for one, d in delays]
            took = sorted(float(str(one)) for one in bench.run(tries))
            middle = took[len(took) // 2] if took else float("nan")
            most = took[-1] if took else float("nan")
            if middle >= 1:
                bench.wrong.append(f"half of {number.name} took {middle:.2f} s or more to end")
            told.append(f"{len(delays)} {number.name}, ended after {middle:.2f} s, most {most:.2f}")
    return (
        f"a count of {wide.seconds:.1f} s, and one of {long.seconds:.1f} s that mostly reads: "
        f"{'; '.join(told)}"
    )


def _cold(_: Workshop, *, count: cold.LongCount, number: int, delay: float) -> float:
    return count.interrupt(number, delay)


def disks(bench: Bench, rng: np.random.Generator) -> str:
    """Let files and disks be too small."""
    del rng
    tries: list[Try] = []
    sizes = sorted({round(1.18**k) for k in range(60)})[:50]
    for one, old in both(COMMANDS):
        tries += [partial(trials.starve, command=one, old=old, most_bytes=n) for n in sizes]
        if disks_can_be_mounted():
            tries += [
                partial(trials.starve, command=one, old=old, disk=n * PAGE) for n in range(1, 51)
            ]
    bench.run(tries)
    without = (
        "" if disks_can_be_mounted() else " (no disk can be mounted here: limits on files alone)"
    )
    return f"{len(tries):,} runs without room{without}"


def surroundings(bench: Bench, rng: np.random.Generator) -> str:
    """Run with the package and the home on disks that cannot be written to."""
    del rng
    if not disks_can_be_mounted():
        return "not tried: no disk can be mounted here"
    bench.run([cold.read_only])
    return "a count and vectors with nothing but their folder to write to"


def fuzz(bench: Bench, rng: np.random.Generator, inputs: int = 10_000) -> str:
    """Give every reader broken files."""
    del rng
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        for found in pool.map(lambda one: findings([one.name], 0, inputs), READERS):
            bench.wrong += [" ".join(str(one).split())[:1000] for one in found]
    return f"{inputs:,} inputs for each of {len(READERS)} readers"


def main() -> int:
    """Run sections; return the exit status."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("sections", nargs="*", help=", ".join(SECTIONS))
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    # A shell ignores Ctrl-C for what it puts in the background, and so would all that begins here.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    failed = False
    for name in args.sections or SECTIONS:
        began = time.monotonic()
        with tempfile.TemporaryDirectory(dir=RAM) as folder:
            bench = Bench(Path(folder), disks=name == "disks" and disks_can_be_mounted())
            told = globals()[name](bench, np.random.default_rng(args.seed))
            bench.close()
        seconds = time.monotonic() - began
        print(f"{name}: {told}; {len(bench.wrong)} went wrong; {seconds:.0f} s", flush=True)
        for one in bench.wrong[:SHOWN]:
            print(f"  {one}", flush=True)
        failed = failed or bool(bench.wrong)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
