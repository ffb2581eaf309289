"""What `scan` says, in plain Python: sets of shingles, every pair of documents, sorted."""

from twinset.documents.shingles import shingle


def shingle_sets(texts, config):
    found = shingle(texts, config)
    return [set(found.values[found.offsets[d] : found.offsets[d + 1]].tolist()) for d in range(len(texts))]


def frequent(sets, share):
    """Shingles in more than a share of the sets that are not empty, and in three at least."""
    limit = share * sum(map(bool, sets))
    every = set().union(*sets)
    return {value for value in every if (count := sum(value in one for one in sets)) > limit and count >= 3}


def scan(names, sets, threshold, by="containment", border=0):
    """(left, right, resemblance, containment of the left in the right, of the right in the left), the greatest first; of pairs below the border none."""
    pairs = []
    for j in range(border, len(sets)):
        for i in range(j):
            if shared := len(sets[i] & sets[j]):
                resemblance, of_left, of_right = shared / len(sets[i] | sets[j]), shared / len(sets[i]), shared / len(sets[j])
                containment = max(of_left, of_right)
                rank = (containment, resemblance) if by == "containment" else (resemblance, containment)
                if rank[0] >= threshold:
                    pairs.append(((-rank[0], -rank[1], i, j), (names[i], names[j], resemblance, of_left, of_right)))
    return [pair for _, pair in sorted(pairs)]
