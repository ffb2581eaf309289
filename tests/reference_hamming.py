"""Hamming search and VOSH by definition, in Python integers."""

from itertools import combinations


def distance(one, other):
    """Differing bits of two fingerprints, each a list of 64-bit words."""
    return sum((x ^ y).bit_count() for x, y in zip(one, other, strict=True))


def matches(asked, stored, most):
    """All (row of asked, row of stored) within the distance."""
    return [(i, j) for i, x in enumerate(asked) for j, y in enumerate(stored) if distance(x, y) <= most]


def within(stored, most):
    """All pairs i < j within the distance."""
    return [(i, j) for i, j in matches(stored, stored, most) if i < j]


def subsets(costs, most):
    """Keys of all subsets of 1 to `most` positions in falling probability: cost in the high 32 bits, positions in the low."""
    chosen = (each for size in range(1, most + 1) for each in combinations(range(len(costs)), size))
    return sorted(sum(costs[s] for s in each) << 32 | sum(1 << s for s in each) for each in chosen)


def header(words, bits):
    """The highest bits of the first word."""
    return words[0] >> (64 - bits)


def tree(size, bits):
    """The subsets below the root (1..size), by the rules of the paper: position 1 is the likeliest."""
    waiting, found = [tuple(range(1, size + 1))], []
    while waiting:
        node = waiting.pop()
        found.append(node)
        if node[-1] < bits:
            waiting.append((*node[:-1], node[-1] + 1))
        gaps = [(i, node[i + 1] - node[i]) for i in range(size - 1) if node[i + 1] - node[i] >= 2]
        if gaps and gaps[-1][1] == 2:
            i = gaps[-1][0]
            waiting.append((*node[:i], node[i] + 1, *node[i + 1 :]))
    return found


def volatile(asked, costs, stored, most, bits, probes):
    """What the search finds: pairs within the distance whose headers differ in no bit, or in one of the `probes` likeliest subsets.

    costs: for each query, the cost of flipping each bit of its header, from the least significant.
    """
    result = []
    for i, words in enumerate(asked):
        order = sorted(range(bits), key=lambda j: (costs[i][j], j))
        keys = subsets([costs[i][j] for j in order], most)[:probes]
        headers = {header(words, bits) ^ sum(1 << order[s] for s in range(bits) if key >> s & 1) for key in [0, *keys]}
        result += [(i, j) for j, y in enumerate(stored) if header(y, bits) in headers and distance(words, y) <= most]
    return result
