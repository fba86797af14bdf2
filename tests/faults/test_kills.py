"""Killed at any step that changes the disk, or at any time, no command loses or spoils a thing.

This is the short form; `scripts/faults` tries every step of every command.
"""

from __future__ import annotations

import signal

import pytest

from faults import trials
from faults.commands import COMMANDS, REPORTS, Command, Report
from faults.workshop import STALLED, Workshop, command

pytestmark = pytest.mark.faults

EVERY = "convert"  # the command of which every step is tried
FEW = 3
SIGNALS = signal.SIGKILL, signal.SIGTERM, signal.SIGINT


@pytest.mark.parametrize(
    ("command", "old"),
    [
        pytest.param(one, old, id=f"{one.name}, {'over an old one' if old else 'new'}")
        for one in COMMANDS
        for old in one.starts
    ],
)
def test_a_kill_leaves_the_old_output_or_the_new_and_a_way_to_it(
    shop: Workshop, command: Command, old: bool
) -> None:
    steps = trials.steps(shop, command, old=old)
    ways = trials.again(command, old)
    most = len(steps) if command.name == EVERY else FEW
    for turn, step in enumerate(trials.spread(len(steps), most)):
        ended = trials.kill_at(shop, command, step, old=old, ways=[ways[turn % len(ways)]])
        assert ended.seconds < STALLED


def test_a_signal_at_any_time_leaves_the_old_output_or_the_new(shop: Workshop) -> None:
    for turn, one in enumerate(COMMANDS):
        number = SIGNALS[turn % len(SIGNALS)]
        delay = 0.004 * turn
        old = one.starts[turn % len(one.starts)]
        words = (trials.FORCE,) if one.old else ()
        ended = trials.disturb(shop, one, old=old, number=number, delay=delay, words=words)
        assert ended.seconds < STALLED


def test_arrays_that_were_written_on_after_their_last_state_are_gone_on_with(
    shop: Workshop,
) -> None:
    one = command("build-pmi")
    steps = enumerate(trials.steps(shop, one, old=False), 1)
    later = [k for k, step in steps if step.endswith(("rows/meta.json", "out/meta.json"))]
    assert len(later) > 2
    for step in (later[1], later[-1]):  # their headers tell of more than the state that counts
        ended = trials.kill_at(shop, one, step, old=False, ways=[("--resume",)])
        assert ended.status == -signal.SIGKILL


@pytest.mark.parametrize("report", REPORTS, ids=lambda one: one.name)
def test_a_report_that_was_killed_is_gone_on_with_to_the_same_report(
    shop: Workshop, report: Report
) -> None:
    place = shop.place(command(report.of), old=True)
    whole = shop.succeed(shop.copy(place), report.line.split())
    assert len(whole.steps) > FEW  # a checkpoint after each fold or block
    for step in trials.spread(len(whole.steps), FEW):
        here = shop.copy(place)
        ended = shop.run(here, report.line.split(), kill=step)
        assert ended.status in (0, -signal.SIGKILL)
        trials.resume_report(shop, report, here, whole)
