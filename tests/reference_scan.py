"""The scan in plain Python: unpack, count, compare."""


def differing(left, i, right, j):
    """Differing samples after each block of 64, in storage order."""
    a, b = left.samples([i])[0].tolist(), right.samples([j])[0].tolist()
    result, total, place = [], 0, 0
    for part in left.config.layout.components:
        for begin in range(place, place + part.samples, 64):
            total += sum(a[s] != b[s] for s in range(begin, min(begin + 64, place + part.samples)))
            result.append(total)
        place += part.samples
    return result


def head(left, i, right, j, cut):
    """Differing samples of the heads: the lowest planes of the first blocks."""
    a, b = (sketches.samples([row])[0].tolist() for sketches, row in ((left, i), (right, j)))
    count = min(64 * cut.blocks, cut.layout.components[0].samples)
    return sum((a[s] ^ b[s]) % 2**cut.planes != 0 for s in range(count))


def scanned(left, right, cut, threshold):
    """Every pair of rows with shingles, sizes that allow the threshold, and samples that pass every test."""
    (left_low, left_high), (right_low, right_high) = left.sizes.bounds(), right.sizes.bounds()
    return [
        (i, j)
        for i in range(len(left))
        for j in range(len(right))
        if left_low[i] > 0 and right_low[j] > 0
        if min(left_high[i], right_high[j]) / max(left_low[i], right_low[j]) >= threshold
        if head(left, i, right, j, cut) <= cut.most
        if all(found <= limit for found, limit in zip(differing(left, i, right, j), cut.limits.tolist(), strict=True))
    ]
