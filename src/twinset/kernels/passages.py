"""The longest stretches that two sequences share.

They come from a suffix automaton of the right sequence, which the left one walks: linear in both, however often anything repeats. (Blumer et al., 1985.)
"""

import numpy as np
from numba import njit

from twinset.kernels.shingles import mix

NONE = -1
LONGEST, LINK, END, HEAD = 0, 1, 2, 3  # of a state: its longest string, the state of its longest suffix elsewhere, where it first ends, its first edge
FROM, BY, TO, NEXT = 0, 1, 2, 3  # of an edge: states and symbol, and the next edge of the same state
S32 = np.uint64(32)
LOW = 0xFFFFFFFF


@njit(nogil=True, cache=True)
def slot_of(edges, table, state, symbol):
    """The place in `table` that holds the edge from `state` by `symbol`, or the free place where it belongs. table int32 (a power of two,), NONE where free."""
    mask = table.shape[0] - 1
    slot = np.int64(mix((np.uint64(state) << S32) | np.uint64(symbol)) & np.uint64(mask))
    while table[slot] != NONE and (edges[FROM, table[slot]] != state or edges[BY, table[slot]] != symbol):
        slot = (slot + 1) & mask
    return slot


@njit(nogil=True, cache=True)
def put_state(states, state, longest, link, end):
    """Write a state without edges."""
    states[LONGEST, state], states[LINK, state], states[END, state], states[HEAD, state] = longest, link, end, NONE


@njit(nogil=True, cache=True)
def add_edge(states, edges, table, edge, state, symbol, target):
    """Make `edge` lead from `state` by `symbol`, by which none leads yet, to `target`; return the next free edge."""
    table[slot_of(edges, table, state, symbol)] = edge
    edges[FROM, edge], edges[BY, edge], edges[TO, edge], edges[NEXT, edge] = state, symbol, target, states[HEAD, state]
    states[HEAD, state] = edge
    return edge + 1


@njit(nogil=True, cache=True)
def split(states, edges, table, clone, edge, state, symbol):
    """Make `clone` a copy of the state that follows `state` by `symbol`, for its strings no longer than those of `state` and a symbol; return the next free edge."""
    old = edges[TO, table[slot_of(edges, table, state, symbol)]]
    put_state(states, clone, states[LONGEST, state] + 1, states[LINK, old], states[END, old])
    copied = states[HEAD, old]
    while copied != NONE:
        edge = add_edge(states, edges, table, edge, clone, edges[BY, copied], edges[TO, copied])
        copied = edges[NEXT, copied]
    states[LINK, old] = clone
    while state != NONE:
        slot = slot_of(edges, table, state, symbol)
        if edges[TO, table[slot]] != old:
            break
        edges[TO, table[slot]] = clone
        state = states[LINK, state]
    return edge


@njit(nogil=True, cache=True)
def automaton(symbols, states, edges, table):
    """Build the suffix automaton of `symbols`: every path from state 0 spells one of its substrings, and state s first ends at states[END, s].

    symbols int64 (n,), 0 or more, below 2^31 · states int32 (4, 2n + 2) · edges int32 (4, 3n + 3) · table int32, a power of two no less than 6n + 6, NONE
    everywhere. Cost: linear, since no edge is ever removed.
    """
    put_state(states, 0, 0, NONE, NONE)
    last, total, edge = 0, 1, 0
    for i in range(symbols.shape[0]):
        symbol, fresh, state = symbols[i], total, last
        put_state(states, fresh, i + 1, 0, i)
        total += 1
        while state != NONE and table[slot_of(edges, table, state, symbol)] == NONE:
            edge = add_edge(states, edges, table, edge, state, symbol, fresh)
            state = states[LINK, state]
        if state != NONE:
            follower = edges[TO, table[slot_of(edges, table, state, symbol)]]
            if states[LONGEST, state] + 1 != states[LONGEST, follower]:
                edge = split(states, edges, table, total, edge, state, symbol)
                follower = total
                total += 1
            states[LINK, fresh] = follower
        last = fresh


@njit(nogil=True, cache=True)
def walk(symbols, states, edges, table, lengths, ends):
    """For each position the longest stretch ending there that the sequence of the automaton holds too: its length, and where it first ends there.

    symbols int64 (n,), NONE where nothing may match · lengths, ends int64 (n,); where lengths[i] is 0, ends[i] means nothing. Cost: linear.
    """
    state = length = 0
    for i in range(symbols.shape[0]):
        symbol, found = symbols[i], NONE
        if symbol == NONE:
            state = length = 0
        else:
            found = table[slot_of(edges, table, state, symbol)]
            while found == NONE and state != 0:
                state = states[LINK, state]
                length = np.int64(states[LONGEST, state])
                found = table[slot_of(edges, table, state, symbol)]
        if found != NONE:
            state = edges[TO, found]
            length += 1
        lengths[i], ends[i] = length, states[END, state]


@njit(nogil=True, cache=True)
def sift(heap, count):
    """Restore the order of a heap, greatest first, of which only the first member may be too small. heap int64, of which `count` are in use."""
    key, place = heap[0], 0
    while 2 * place + 1 < count:
        child = 2 * place + 1
        child += child + 1 < count and heap[child + 1] > heap[child]
        if heap[child] <= key:
            break
        heap[place] = heap[child]
        place = child
    heap[place] = key


@njit(nogil=True, cache=True)
def tile(begins, sizes, width, heap, covered):
    """Of stretches that overlap keep the longest whole; what it leaves of the others competes on by its length, and is given up below `width`.

    begins, sizes int64 (m,): both begins and ends ascend; overwritten with what is kept of each stretch, size 0 for nothing · heap int64 (m,), descending: sizes[i] << 32 |
    LOW - i · covered int64 (2, n), zeros, n at least every end: scratch. Of equal lengths the first goes first. Cost: m log m + n for each time a stretch is cut.
    """
    count = heap.shape[0]
    while count:
        i = LOW - (heap[0] & LOW)
        begin, end = begins[i], begins[i] + sizes[i]
        while begin < end and covered[1, begin]:
            begin = covered[1, begin]
        while begin < end and covered[1, end - 1]:
            end = covered[0, end - 1]
        whole = end - begin == sizes[i]
        begins[i], sizes[i] = begin, end - begin if end - begin >= width else 0
        if whole:
            covered[0, begin:end] = begin
            covered[1, begin:end] = end
        if whole or sizes[i] == 0:
            count -= 1
            heap[0] = heap[count]
        else:
            heap[0] = sizes[i] << 32 | LOW - i
        sift(heap, count)
