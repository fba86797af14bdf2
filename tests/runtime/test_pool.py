"""The thread pool: ordered results, bounded look-ahead, prompt interruption."""

from __future__ import annotations

import itertools
import os
import signal
import threading
import time

import pytest

from wordgeom.runtime.pool import PerThread, Pool, Reusable


@pytest.mark.parametrize("threads", [1, 3])
def test_results_come_in_the_order_of_the_items(threads: int):
    def slow_first(k: int) -> int:
        time.sleep(0.02 if k % 5 == 0 else 0)
        return k * k

    with Pool(threads) as pool:
        assert list(pool.map(slow_first, range(20))) == [k * k for k in range(20)]


def test_no_more_items_are_begun_than_fit_ahead():
    begun = []

    def items():
        for k in range(100):
            begun.append(k)
            yield k

    with Pool(2) as pool:
        results = pool.map(lambda k: k, items(), ahead=3)
        assert [next(results) for _ in range(5)] == list(range(5))
        assert len(begun) <= 5 + 3


def test_an_error_in_a_block_reaches_the_caller():
    with Pool(2) as pool, pytest.raises(ZeroDivisionError):
        list(pool.map(lambda k: 1 // (3 - k), range(9)))


def test_a_long_call_does_not_hold_up_an_interrupt():
    free, start = threading.Event(), time.monotonic()
    threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
    try:
        with pytest.raises(KeyboardInterrupt), Pool(1) as pool:
            pool.call(lambda: free.wait(30))
        assert time.monotonic() - start < 5
    finally:
        free.set()


def test_reusable_objects_have_one_user_and_are_reused():
    numbers, held, lock = itertools.count(), set(), threading.Lock()
    lent = Reusable(lambda: next(numbers))

    def borrow(_: int) -> None:
        piece = lent.take()
        with lock:
            assert piece not in held
            held.add(piece)
        time.sleep(0.001)
        with lock:
            held.remove(piece)
        lent.give_back(piece)

    with Pool(3) as pool:
        for _ in pool.map(borrow, range(60)):
            pass
    assert 1 <= next(numbers) <= 3


def test_a_thread_has_one_object():
    pieces: PerThread[list[tuple[int, int]]] = PerThread(list)

    def note(k: int) -> None:
        number, mine = pieces.own()
        mine.append((threading.get_ident(), k))
        assert pieces.all[number] is mine

    with Pool(3) as pool:
        for _ in pool.map(note, range(60)):
            pass
    assert sorted(k for piece in pieces.all for _, k in piece) == list(range(60))
    for piece in pieces.all:
        assert len({thread for thread, _ in piece}) == 1
        assert [k for _, k in piece] == sorted(k for _, k in piece)
