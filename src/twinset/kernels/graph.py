"""Groups of documents that pairs connect: components, and stars in which nothing hangs on a chain."""

from numba import njit


@njit(nogil=True, cache=True)
def components(left, right, root):
    """Write root[i] = the smallest row that a path of pairs (left[p], right[p]) connects with row i.

    left, right int64 (pairs,) · root int64 (n,). Union by the smaller root, with path halving: near-linear in pairs + n.
    """
    for i in range(root.shape[0]):
        root[i] = i
    for p in range(left.shape[0]):
        a, b = _find(root, left[p]), _find(root, right[p])
        if a != b:
            root[max(a, b)] = min(a, b)
    for i in range(root.shape[0]):
        root[i] = root[root[i]]  # roots precede their members, so root[i] has been settled


@njit(nogil=True, cache=True)
def _find(root, i):
    while root[i] != i:
        root[i] = root[root[i]]
        i = root[i]
    return i


@njit(nogil=True, cache=True)
def adjacency(left, right, offsets, neighbours, pairs):
    """Write both directions of every pair: neighbours[offsets[i] : offsets[i + 1]] are the rows paired with row i, in the order of the pairs, and `pairs` their numbers.

    left, right int64 (p,) · offsets int64 (n + 1,) · neighbours, pairs int64 (2 p,).
    """
    offsets[:] = 0
    for p in range(left.shape[0]):
        offsets[left[p]] += 1
        offsets[right[p]] += 1
    total = 0
    for i in range(offsets.shape[0]):
        total, offsets[i] = total + offsets[i], total
    for p in range(left.shape[0]):
        for i, j in ((left[p], right[p]), (right[p], left[p])):
            neighbours[offsets[i]], pairs[offsets[i]] = j, p
            offsets[i] += 1
    for i in range(offsets.shape[0] - 1, 0, -1):
        offsets[i] = offsets[i - 1]
    offsets[0] = 0


@njit(nogil=True, cache=True)
def independent(order, offsets, neighbours, kept):
    """Keep every row that no kept row before it in `order` is paired with. order int64 (n,) · offsets, neighbours from `adjacency` · kept bool (n,). Cost: n + pairs."""
    kept[:] = False
    for i in order:
        kept[i] = True
        for e in range(offsets[i], offsets[i + 1]):
            if kept[neighbours[e]]:
                kept[i] = False
                break


@njit(nogil=True, cache=True)
def witnesses(rank, offsets, neighbours, pairs, resemblance, leading, standing, witness):
    """Write witness[i] = the number of the pair of row i with the row it resembles most among those `standing`; -1 for rows that are `leading` or have none.

    rank int64 (n,): of equally alike rows the one of lower rank is taken · offsets, neighbours, pairs from `adjacency` · resemblance float64 (pairs,) · leading,
    standing bool (n,) · witness int64 (n,). Cost: n + pairs.
    """
    for i in range(witness.shape[0]):
        witness[i], nearest, place = -1, -1.0, 0
        if not leading[i]:
            for e in range(offsets[i], offsets[i + 1]):
                j, alike = neighbours[e], resemblance[pairs[e]]
                if standing[j] and (alike > nearest or (alike == nearest and rank[j] < place)):
                    witness[i], nearest, place = pairs[e], alike, rank[j]
