"""Plain-Python twin of aligned passages, by their definition: every stretch is looked for everywhere. Never imported by the package."""


def occurs(part, whole):
    """Where `part` first stands in `whole`, or None."""
    return next((j for j in range(len(whole) - len(part) + 1) if whole[j : j + len(part)] == part), None)


def stretches(left, right):
    """For each position of `left` the longest stretch ending there that `right` has too: (length, where it first begins there)."""
    found = [[(n, occurs(left[e + 1 - n : e + 1], right)) for n in range(e + 2)] for e in range(len(left))]
    return [max((n, j) for n, j in row if j is not None) for row in found]


def trimmed(begin, end, taken):
    """[begin, end) without what is taken at its ends."""
    while begin < end and begin in taken:
        begin += 1
    while begin < end and end - 1 in taken:
        end -= 1
    return begin, end


def tiles(left, right, width):
    """(begin in left, units, begin in right) of every run, in the order of left: the longest that is left first, the first of equals."""
    longest = stretches(left, right)
    going_on = [e + 1 < len(longest) and longest[e + 1][0] == n + 1 for e, (n, _) in enumerate(longest)]
    open_ones = [(e - n + 1, e + width, j) for e, (n, j) in enumerate(longest) if n and not going_on[e]]
    taken, chosen = set(), []
    while open_ones:
        cut = [(*trimmed(begin, end, taken), j - begin) for begin, end, j in open_ones]
        best = max(range(len(cut)), key=lambda i: (cut[i][1] - cut[i][0], -i))
        begin, end, shift = cut[best]
        if end - begin < width:
            break
        taken |= set(range(begin, end))
        chosen.append((begin, end - begin, begin + shift))
        del open_ones[best]
    return sorted(chosen)
