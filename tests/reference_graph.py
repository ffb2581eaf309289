"""Groups in plain Python."""


def components(rows, pairs):
    """The smallest row reachable from each row."""
    reach = {i: {i} for i in range(rows)}
    for i, j in pairs:
        joined = reach[i] | reach[j]
        for row in joined:
            reach[row] = joined
    return [min(reach[i]) for i in range(rows)]


def stars(order, pairs):
    """(kept rows, {removed row: its witness}); pairs maps (i, j) to a resemblance, both ways round."""
    kept = []
    for i in order:
        if not any((i, j) in pairs for j in kept):
            kept.append(i)
    witness = {}
    for i in set(order) - set(kept):
        witness[i] = max((j for j in kept if (i, j) in pairs), key=lambda j, i=i: (pairs[i, j], -order.index(j)))
    return set(kept), witness
