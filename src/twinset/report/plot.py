"""Curves of variance against resemblance, drawn with matplotlib."""

from pathlib import Path

import numpy as np

from twinset.documents.writing import whole
from twinset.errors import BadOption, MissingExtra
from twinset.estimate.planner import Plan
from twinset.estimate.variance import V3
from twinset.layout import parse

SHOWN = 6  # curves; more cannot be told apart
STYLES = ("-", "--", "-.", ":", (0, (5, 1)), (0, (1, 1)))
ENDINGS = (".svg", ".png", ".pdf")


def draw(plan: Plan, path: str | Path) -> None:
    """Draw the standard error of the first choices of a plan at every resemblance, as SVG, PNG or PDF; the styles of the lines survive grey print."""
    path = Path(path)
    if path.suffix not in ENDINGS:
        raise BadOption(f"plot is {str(path)!r}; allowed: a name that ends in {', '.join(ENDINGS)}")
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtra("a plot needs matplotlib; allowed: pip install 'twinset[studies]', or no plot") from None
    figure = Figure(figsize=(7, 4.5), layout="constrained")
    axes = figure.subplots()
    demand = plan.demand
    at = np.linspace(demand.least, demand.largest, 401)[1:-1]
    for choice, style in zip(plan.choices[:SHOWN], STYLES, strict=False):
        variance = V3(parse(choice.bits, choice.samples), at, demand.r1, demand.r2)
        axes.plot(at, variance, linestyle=style, color="black", linewidth=1.6 if choice is plan.best else 0.9, label=f"{choice.bits} × {choice.samples} ({choice.bytes} bytes)")
    top = max(float(V3(parse(choice.bits, choice.samples), demand.threshold, demand.r1, demand.r2)) for choice in plan.choices[:SHOWN])
    axes.axvline(demand.threshold, color="0.6", linewidth=0.8)
    axes.annotate(f"threshold {demand.threshold:g}", (demand.threshold, 0), xytext=(3, 3), textcoords="offset points", color="0.4", fontsize=8)
    axes.set(xlabel="resemblance R", ylabel="variance of the estimate", xlim=(at[0], at[-1]), ylim=(0, 4 * top))
    axes.legend(frameon=False, fontsize=8)
    with whole(path) as part:
        figure.savefig(part, format=path.suffix[1:])
