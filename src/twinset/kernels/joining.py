"""Pairs of sets by their rare tokens: prefix, length and positional filters, verification by merging, and expanding to the rows that share a set.

Rows are int32 tokens, ascending, rare ones first; tokens that no pair shares are left out, so the size of a set (`sizes`) is more than the length of its row.
Rows are ordered by size. References: prefix filter, Chaudhuri et al. 2006 and Bayardo et al. 2007; positional filter and the two ends of a merge, Xiao et al. 2008.
"""

import numpy as np
from numba import njit

SHORT = 16  # postings that are walked rather than searched


@njit(nogil=True, cache=True)
def needed(a, b, threshold):
    """The least s with s / (a + b - s) >= threshold in float64: what sets of a > 0 and b > 0 elements must share. It can be more than they have."""
    s = np.int64(threshold / (1.0 + threshold) * (a + b))
    while s > 0 and (s - 1) / (a + b - (s - 1)) >= threshold:
        s -= 1
    while s / (a + b - s) < threshold:
        s += 1
    return s


@njit(nogil=True, cache=True)
def least_shared(sizes, threshold, any_size, same_size):
    """Write what a set of sizes[r] > 0 elements must share: any_size[r] with a set of any size, same_size[r] with one at least as large. int64 (rows,)."""
    for r in range(sizes.shape[0]):
        a = sizes[r]
        s = np.int64(threshold * a)
        while s > 0 and (s - 1) / a >= threshold:
            s -= 1
        while s / a < threshold:
            s += 1
        any_size[r] = s
        same_size[r] = needed(a, a, threshold)


@njit(nogil=True, cache=True)
def count_postings(tokens, offsets, prefix, heads):
    """Add to heads[x + 1] the number of rows with token x among their first prefix[r]. heads int64 (tokens + 1,)."""
    for r in range(prefix.shape[0]):
        for i in range(offsets[r], offsets[r] + prefix[r]):
            heads[tokens[i] + 1] += 1


@njit(nogil=True, cache=True)
def fill_postings(tokens, offsets, prefix, tails, postings):
    """Write (row, position in the row) of each token x of a prefix to postings from tails[x] on, rows ascending. tails int64 moves on · postings int32 (entries, 2)."""
    for r in range(prefix.shape[0]):
        for p in range(prefix[r]):
            x = tokens[offsets[r] + p]
            postings[tails[x], 0] = r
            postings[tails[x], 1] = p
            tails[x] += 1


@njit(nogil=True, cache=True)
def seek(postings, begin, end, row):
    """The first entry from begin to end - 1 whose row is at least `row`, or end."""
    while end - begin > SHORT:
        middle = (begin + end) >> 1
        if postings[middle, 0] < row:
            begin = middle + 1
        else:
            end = middle
    while begin < end and postings[begin, 0] < row:
        begin += 1
    return begin


@njit(nogil=True, cache=True)
def merge(tokens, a, a_end, b, b_end, enough):
    """How many tokens [a, a_end) and [b, b_end) have in common, or some number below `enough` if that is fewer than `enough`."""
    common = 0
    while a < a_end and b < b_end:
        if common + min(a_end - a, b_end - b) < enough:
            break
        x, y = tokens[a], tokens[b]
        common += np.int64(x == y)
        a += np.int64(x <= y)
        b += np.int64(y <= x)
    return common


@njit(nogil=True, cache=True)
def shared_from(tokens, a, a_end, b, b_end, a_prefix, b_prefix, common, enough):
    """How many tokens two rows have in common if it is `enough`, else some smaller number; their prefixes have `common`, 1 or more, in common.

    The prefix whose last token comes first is done with: all that is common up to that token is counted, and the other row's part of it is at least `common` long.
    """
    if tokens[a + a_prefix - 1] < tokens[b + b_prefix - 1]:
        a, b = a + a_prefix, b + common
    else:
        a, b = a + common, b + b_prefix
    return common + merge(tokens, a, a_end, b, b_end, enough - common)


@njit(nogil=True, cache=True)
def gather(r, tokens, offsets, sizes, threshold, low, high, probing, heads, postings, counts, touched):
    """Write the rows q, low[r] <= q < high[r], that may pair with row r to touched, and counts[q] = how many tokens their prefixes share. Returns how many there are."""
    found, a = 0, offsets[r + 1] - offsets[r]
    for p in range(probing[r]):
        x = tokens[offsets[r] + p]
        for entry in range(seek(postings, heads[x], heads[x + 1], low[r]), heads[x + 1]):
            q = postings[entry, 0]
            if q >= high[r]:
                break
            if counts[q] == 0:
                rest = min(a - p, offsets[q + 1] - offsets[q] - postings[entry, 1])
                if rest < needed(sizes[r], sizes[q], threshold):
                    continue  # and so at any later common token: a row once left out stays out
                touched[found] = q
                found += 1
            counts[q] += 1
    return found


@njit(nogil=True, cache=True)
def probe(first, last, tokens, offsets, sizes, threshold, low, high, probing, indexed, heads, postings, counts, touched, lefts, rights, shared):
    """Write the pairs (r, q) at or above the threshold, first <= r < last and low[r] <= q < high[r], with what they share.
    Returns the next row and the number of pairs.

    tokens int32 · offsets, sizes, low, high int64 · probing, indexed int64 (rows,): the lengths of the prefixes that are looked up, and that are in the index
    heads int64 (tokens + 1,), postings int32 (entries, 2). Scratch: counts int32 (rows,), all 0, left so · touched int64 (rows,).
    Out: lefts, rights, shared int64 (room,), room >= rows. Stops early before a row whose candidates may not fit. Cost: the entries looked up, and a merge for each candidate.
    """
    pairs = 0
    for r in range(first, last):
        found = gather(r, tokens, offsets, sizes, threshold, low, high, probing, heads, postings, counts, touched)
        if pairs + found > lefts.shape[0]:
            for k in range(found):
                counts[touched[k]] = 0
            return r, pairs
        for k in range(found):
            q = touched[k]
            enough = needed(sizes[r], sizes[q], threshold)
            common = shared_from(tokens, offsets[r], offsets[r + 1], offsets[q], offsets[q + 1], probing[r], indexed[q], counts[q], enough)
            counts[q] = 0
            if common >= enough:
                lefts[pairs], rights[pairs], shared[pairs] = r, q, common
                pairs += 1
    return last, pairs


@njit(nogil=True, cache=True)
def place(keys, tails, out):
    """Sort by counting: write i to out[tails[keys[i]]] and move that tail on, for all i in order. int64 arrays; tails begins as where each key's part of out begins."""
    for i in range(keys.shape[0]):
        out[tails[keys[i]]] = i
        tails[keys[i]] += 1


@njit(nogil=True, cache=True)
def first_member(members, begin, end, row):
    """The first place from begin to end - 1 with a member above `row`, or end."""
    while begin < end:
        middle = (begin + end) >> 1
        if members[middle] <= row:
            begin = middle + 1
        else:
            end = middle
    return begin


@njit(nogil=True, cache=True)
def count_partners(first, last, classes, bounds, partners, within, starts, members, out):
    """Write out[d] = how many rows row d is paired with: all members of the partners of its class, or those above d if `within`. For first <= d < last.

    classes int64 (n,), -1 for a row without · partners of class c: partners[bounds[c]:bounds[c + 1]] · members of class c: members[starts[c]:starts[c + 1]], ascending.
    """
    for d in range(first, last):
        out[d] = 0
        if classes[d] >= 0:
            for i in range(bounds[classes[d]], bounds[classes[d] + 1]):
                begin, end = starts[partners[i]], starts[partners[i] + 1]
                out[d] += end - (first_member(members, begin, end, d) if within else begin)


@njit(nogil=True, cache=True)
def fill_partners(first, last, classes, bounds, partners, common, within, starts, members, scale, places, lefts, rights, shared):
    """Write the pairs that `count_partners` counted from places[d] on, rights ascending, and what they share: common[i] for partner i. int64; scale > every common[i]."""
    for d in range(first, last):
        at = places[d]
        if classes[d] >= 0:
            for i in range(bounds[classes[d]], bounds[classes[d] + 1]):
                begin, end = starts[partners[i]], starts[partners[i] + 1]
                for k in range(first_member(members, begin, end, d) if within else begin, end):
                    rights[at] = members[k] * scale + common[i]
                    at += 1
            if bounds[classes[d] + 1] - bounds[classes[d]] > 1:
                rights[places[d] : at].sort()
        for k in range(places[d], at):
            lefts[k], shared[k] = d, rights[k] % scale
            rights[k] //= scale
