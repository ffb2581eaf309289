"""Row ranges and threads: every row once, in ranges of the stated weight, and errors that come out."""

from threading import Barrier, Lock, get_ident
from time import sleep

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from twinset.errors import BadInput, BadOption
from twinset.parallel import go_on, ranges, spread, thread_count

THREADS = [1, 2, 5, None]
TEN = [(row, row + 1) for row in range(10)]


def offsets_of(lengths):
    return np.cumsum([0, *lengths], dtype=np.int64)


def expected_ranges(lengths, weight, most):
    """The definition: take rows while they fit, one at least and `most` at most."""
    result, first = [], 0
    while first < len(lengths):
        last = first + 1
        while last < len(lengths) and last - first < most and sum(lengths[first : last + 1]) <= weight:
            last += 1
        result.append((first, last))
        first = last
    return result


@settings(max_examples=200, deadline=None, derandomize=True)
@given(st.lists(st.integers(0, 9), max_size=30), st.integers(0, 20), st.integers(1, 6))
def test_ranges_equal_their_definition(lengths, weight, most):
    found = ranges(offsets_of(lengths), weight, most)
    assert found == expected_ranges(lengths, weight, most)
    assert [row for first, last in found for row in range(first, last)] == list(range(len(lengths)))


@pytest.mark.parametrize(
    ("lengths", "weight", "most", "expected"),
    [
        ([], 10, 5, []),
        ([0, 0, 0], 10, 5, [(0, 3)]),
        ([0, 0, 0], 0, 2, [(0, 2), (2, 3)]),
        ([100, 1, 1], 10, 5, [(0, 1), (1, 3)]),
        ([5, 5, 5], 10, 5, [(0, 2), (2, 3)]),
        ([5, 5, 5], 10**9, 1, [(0, 1), (1, 2), (2, 3)]),
    ],
)
def test_ranges(lengths, weight, most, expected):
    assert ranges(offsets_of(lengths), weight, most) == expected


def test_ranges_of_rows_that_do_not_start_at_zero():
    """A slice of an Arrow array keeps the buffer of the whole."""
    lengths = [3, 1, 4, 1, 5, 9, 2, 6]
    assert ranges(offsets_of(lengths) + 1000, 6, 4) == ranges(offsets_of(lengths), 6, 4)


@pytest.mark.parametrize("threads", THREADS)
def test_spread_does_every_range_once(threads):
    done, lock = [], Lock()

    def work(first, last):
        with lock:
            done.append((first, last))

    spread(iter(TEN), lambda: work, threads)
    assert sorted(done) == TEN


def test_threads_do_work_at_the_same_time():
    """Three ranges that wait for one another are done only if three threads have one each."""
    barrier = Barrier(3, timeout=20)
    spread(TEN[:3], lambda: lambda first, last: barrier.wait(), 3)
    assert not barrier.broken


def test_each_thread_prepares_once_and_keeps_to_its_own_work():
    prepared, strangers, barrier = [], [], Barrier(4, timeout=20)

    def prepare():
        owner = get_ident()
        prepared.append(owner)
        barrier.wait()
        return lambda first, last: strangers.append(get_ident()) if get_ident() != owner else None

    spread(TEN, prepare, 4)
    assert len(set(prepared)) == len(prepared) == 4
    assert strangers == []


def test_one_thread_works_in_order_in_the_thread_that_calls():
    seen = []
    spread(TEN, lambda: lambda first, last: seen.append((get_ident(), first)), 1)
    assert seen == [(get_ident(), row) for row in range(10)]


@pytest.mark.parametrize("threads", THREADS)
def test_nothing_to_do_is_done(threads):
    assert spread([], lambda: lambda first, last: pytest.fail("there is no range"), threads) is None


@pytest.mark.parametrize("threads", THREADS)
def test_the_first_error_comes_out_and_stops_the_rest(threads):
    """The other threads finish the range they are at; most of a long list is never begun."""
    begun = []

    def work(first, last):
        begun.append(first)
        raise BadInput(f"row {first} is bad")

    with pytest.raises(BadInput, match=r"^row \d is bad$"):
        spread(((row, row + 1) for row in range(100_000)), lambda: work, threads)
    assert len(begun) <= thread_count(threads)


@pytest.mark.parametrize("threads", THREADS)
def test_an_error_in_preparing_comes_out(threads):
    def prepare():
        raise BadInput("no scratch space")

    with pytest.raises(BadInput, match="^no scratch space$"):
        spread(TEN, prepare, threads)


@pytest.mark.parametrize("threads", THREADS)
def test_an_error_in_the_list_of_ranges_comes_out(threads):
    def todo():
        yield 0, 1
        raise BadInput("no second range")

    with pytest.raises(BadInput, match="^no second range$"):
        spread(todo(), lambda: lambda first, last: None, threads)


def test_thread_count():
    assert thread_count(3) == 3
    assert thread_count(None) >= 1


@pytest.mark.parametrize("threads", [0, -1])
def test_fewer_than_one_thread_is_refused(threads):
    with pytest.raises(BadOption, match=f"^threads is {threads}; allowed: 1 or more$"):
        thread_count(threads)
    with pytest.raises(BadOption, match=f"^threads is {threads}; allowed: 1 or more$"):
        spread(TEN, lambda: lambda first, last: None, threads)


def test_work_that_takes_long_stops_where_it_asks():
    """One thread fails while the other is in the middle of its only range: it leaves at its next `go_on`, and the failure is what comes out."""
    both, left = Barrier(2), []

    def work(first, last):
        both.wait()
        if first == 0:
            raise BadInput("no good")
        try:
            while True:
                go_on()
                sleep(0.001)
        finally:
            left.append(first)

    with pytest.raises(BadInput, match="no good"):
        spread([(0, 1), (1, 2)], lambda: work, 2)
    assert left == [1]
    go_on()  # outside of any spread it does nothing
