"""Plain-Python twins of the searchers and their kernels: the definitions. Never imported by the package."""


def resemblance(left, right):
    return len(left & right) / len(left | right) if left and right else 0.0


def join(rows, threshold):
    """(left, right, shared) of every pair within a list of sets, by comparing all with all."""
    pairs = ((i, j) for i in range(len(rows)) for j in range(i + 1, len(rows)))
    return [(i, j, len(rows[i] & rows[j])) for i, j in pairs if resemblance(rows[i], rows[j]) >= threshold]


def query(new, rows, threshold):
    """(left, right, shared) of every pair of one of `new` and one of `rows`."""
    pairs = ((i, j) for i in range(len(new)) for j in range(len(rows)))
    return [(i, j, len(new[i] & rows[j])) for i, j in pairs if resemblance(new[i], rows[j]) >= threshold]


def needed(a, b, threshold):
    return next(s for s in range(a + b) if s / (a + b - s) >= threshold)


def useful(values, border):
    """The members of a list of sets that are in two of them; with a border, those both in a set before it and in one from it on."""
    below, above = (set().union(*part) for part in (values[:border], values[border:]))
    return {x for x in below | above if (x in below and x in above if border else sum(x in row for row in values) > 1)}


def partners(classes, paired, members, within):
    """For each row, the (row, shared) of the members of the classes that its class is paired with; only rows above it if `within`."""
    found = [sorted((e, common) for c, common in paired.get(own, []) for e in members[c]) for own in classes]
    return [[pair for pair in pairs if not within or pair[0] > d] for d, pairs in enumerate(found)]


def mix(x):
    x = (x ^ x >> 33) * 0xFF51AFD7ED558CCD % 2**64
    x = (x ^ x >> 33) * 0xC4CEB9FE1A85EC53 % 2**64
    return x ^ x >> 33


def postings(rows, prefix):
    """For each token the (row, position) of its places in the first prefix[r] tokens of each row r."""
    tokens = range(max((x + 1 for row in rows for x in row), default=0))
    return [[(r, p) for r, row in enumerate(rows) for p, x in enumerate(row[: prefix[r]]) if x == token] for token in tokens]
