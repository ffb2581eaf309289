"""Time against the number of documents, from the results of bands_speed.py and hamming_speed.py: a plot, a table, and the fitted exponents.

python benchmarks/scaling_plot.py        # writes docs/images/scaling.png and prints the table
"""

import csv
from pathlib import Path

import numpy as np

RESULTS = Path(__file__).parent / "results"
PICTURE = Path(__file__).resolve().parents[1] / "docs" / "images" / "scaling.png"
SEARCHES = ("PSM_A", "PSM_F")


def bands() -> list[tuple[int, float]]:
    """(rows, seconds of a whole join)."""
    with (RESULTS / "bands_speed.csv").open(newline="") as file:
        return [(int(row["rows"]), float(row["seconds"])) for row in csv.DictReader(file) if row["section"] == "scaling"]


def look_ups(search: str) -> list[tuple[int, float]]:
    """(fingerprints, nanoseconds of a query), at the best header of each size."""
    best: dict[int, float] = {}
    with (RESULTS / "hamming_speed.csv").open(newline="") as file:
        for row in csv.DictReader(file):
            if row["engine"].startswith(search):
                best[int(row["n"])] = min(best.get(int(row["n"]), np.inf), 1e9 / float(row["queries_per_s"]))
    return sorted(best.items())


def exponent(points: list[tuple[int, float]]) -> float:
    """The slope of the logarithms."""
    return float(np.polyfit(*np.log(np.array(points, float)).T, 1)[0])


def draw(joins: list[tuple[int, float]], queries: dict[str, list[tuple[int, float]]]) -> None:
    import matplotlib

    matplotlib.use("agg")
    import matplotlib.pyplot as plt

    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
    left.loglog(*zip(*joins, strict=True), "o-", color="#1b3a5c")
    left.set(xlabel="documents", ylabel="seconds, 2 threads", title=f"bands: a join, n^{exponent(joins):.2f}")
    for (name, points), style in zip(queries.items(), ("o-", "s--"), strict=True):
        right.loglog(*zip(*points, strict=True), style, color="#1b3a5c")
        right.annotate(f"{name}, n^{exponent(points):.2f}", points[-1], textcoords="offset points", xytext=(-70, 8))
    right.set(xlabel="fingerprints", ylabel="nanoseconds a query, 1 thread", title="volatile: a look-up", ylim=(200, 1500))
    for axes in (left, right):
        axes.spines[["top", "right"]].set_visible(False)
    PICTURE.parent.mkdir(exist_ok=True)
    figure.savefig(PICTURE, dpi=130)


def main() -> None:
    joins, queries = bands(), {name: look_ups(name) for name in SEARCHES}
    print(f"bands   n^{exponent(joins):.2f}   " + "  ".join(f"{n:.1e}: {seconds:.3f} s" for n, seconds in joins))
    for name, points in queries.items():
        print(f"{name}   n^{exponent(points):.2f}   " + "  ".join(f"{n:.1e}: {each:.0f} ns" for n, each in points))
    draw(joins, queries)


if __name__ == "__main__":
    main()
