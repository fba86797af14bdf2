"""One fault, and what must hold after it: the old output or the new, and a way to the new one."""

from __future__ import annotations

import signal
from collections.abc import Iterator, Sequence
from pathlib import Path

from faults.commands import Command, Report
from faults.products import Products, committed, expected, products
from faults.workshop import Ended, Workshop, command

FORCE, RESUME = "--force", "--resume"
Words = tuple[str, ...]


def first_words(old: bool) -> Words:
    """Return what a run needs that replaces an old output."""
    return (FORCE,) if old else ()


def again(command: Command, old: bool) -> list[Words]:
    """Return the ways in which a command is run once more."""
    if not command.old:  # nor has it --force
        return [()]
    ways: list[Words] = [(FORCE,)] if old else [(), (FORCE,)]
    return [*ways, (*first_words(old), RESUME)] if command.resumes else ways


def steps(shop: Workshop, command: Command, *, old: bool) -> list[str]:
    """Return the steps of a run that nothing disturbs."""
    shop.known(command)
    place = shop.place(command, old=old)
    return shop.succeed(place, [*command.line.split(), *first_words(old)]).steps


def kill_at(
    shop: Workshop, command: Command, step: int, *, old: bool, ways: Sequence[Words]
) -> Ended:
    """Kill a run before a step; the output is whole, and each way to run it again makes it."""
    place = shop.place(command, old=old)
    ended = shop.run(place, [*command.line.split(), *first_words(old)], kill=step)
    assert ended.status in (0, -signal.SIGKILL), ended
    check_output(shop, command, place, old=old)
    for words in ways:
        check_again(shop, command, shop.copy(place), words)
    return ended


def disturb(
    shop: Workshop, command: Command, *, old: bool, number: int, delay: float, words: Words
) -> Ended:
    """Send a run a signal after a while; as `kill_at`."""
    place = shop.place(command, old=old)
    ended = shop.run(place, [*command.line.split(), *first_words(old)], signal=number, delay=delay)
    done = check_done(shop, command, place)  # and the summary may have been printed
    allowed = (0, 1, 75, 130, -signal.SIGKILL, -number if done or not ended.steps else 0)
    assert ended.status in allowed, ended
    assert len(ended.lines) <= command.tables or done, ended
    check_output(shop, command, place, old=old)
    check_again(shop, command, place, words)
    return ended


def disturb_report(shop: Workshop, report: Report, *, number: int, share: float) -> Ended:
    """Send a report a signal after a share of its duration; run again, it is the same."""
    place = shop.place(command(report.of), old=True)
    whole = shop.run(shop.copy(place), report.line.split())
    assert whole.status == 0, whole
    ended = shop.run(place, report.line.split(), signal=number, delay=share * whole.seconds)
    assert ended.status in (0, 75, 130, -signal.SIGKILL, -number), ended
    resume_report(shop, report, place, whole)
    return ended


def resume_report(shop: Workshop, report: Report, place: Path, whole: Ended) -> None:
    """Assert that a resumed report is that of a whole run and that nothing else is left."""
    resumed = shop.run(place, [*report.line.split(), RESUME])
    assert (resumed.status, resumed.lines) == (0, whole.lines), (resumed, whole)
    assert products(place) == products(shop.place(command(report.of), old=True)), report.name


def starve(
    shop: Workshop, command: Command, *, old: bool, most_bytes: int = 0, disk: int = 0
) -> Ended:
    """Run without room; it fails in a line and leaves all as it was, or makes all."""
    _, before, after = shop.known(command)
    place = shop.place(command, old=old)
    words = [*command.line.split(), *first_words(old)]
    ended = shop.run(place, words, most_bytes=most_bytes, disk=disk)
    if ended.status == 0:
        assert products(place) == after, ended
        return ended
    assert ended.status == 1, ended
    assert ended.lines[-1].startswith("wordgeom: error: "), ended
    assert len(ended.lines) <= command.tables, ended
    check_undone(shop, command, place, ended, before if old else {})
    return ended


def check_undone(
    shop: Workshop, command: Command, place: Path, ended: Ended, before: Products
) -> None:
    """Assert that a run that failed left all as it was, and at most what --resume goes on from."""
    states = list(place.glob(".*.state"))
    if not states:
        assert products(place) == before, ended
        return
    assert committed(place) == expected(before), ended
    assert command.resumes, (ended, states)
    assert list(states[0].glob("*/meta.json")), f"{ended} left an empty state"
    check_again(shop, command, place, (*first_words(bool(before)), RESUME))


def check_done(shop: Workshop, command: Command, place: Path) -> bool:
    """Tell whether all of the output is there."""
    return committed(place) == expected(shop.known(command)[2])


def check_output(shop: Workshop, command: Command, place: Path, *, old: bool) -> None:
    """Assert that each output is the old one or the new one, whole."""
    known = shop.known(command)
    before, after = expected(known[1]) if old else {}, expected(known[2])
    found = committed(place)
    for name, digest in found.items():
        assert digest in (before.get(name), after.get(name)), (name, found)
    if old:
        assert found.keys() >= before.keys(), found


def check_again(shop: Workshop, command: Command, place: Path, words: Words) -> None:
    """Assert that running a command once more makes the new output and leaves nothing else."""
    after = shop.known(command)[2]
    done = not command.old and check_done(shop, command, place)
    ended = shop.run(place, [*command.line.split(), *words])
    if done:
        assert ended.status == 1, ended
        assert "exists" in ended.line, ended
    elif ended.status == 1 and FORCE not in words and FORCE in ended.line:
        # What is there is not overwritten unasked: it must be whole, or to be gone on with.
        there = committed(place)
        assert there.items() <= expected(after).items(), (ended, there)
        assert there or RESUME in ended.line, ended
        ended = shop.run(place, [*command.line.split(), FORCE])
    assert done or ended.status == 0, (words, ended)
    assert products(place) == after, (words, products(place), after)


def spread(number: int, most: int) -> Iterator[int]:
    """Yield at most `most` of the numbers 1 … number, evenly, with the first and the last."""
    if number <= most:
        yield from range(1, number + 1)
    else:
        yield from sorted({1 + round(k * (number - 1) / (most - 1)) for k in range(most)})
