"""The pictures of RESULTS.md: quality against ε, one panel for each data set."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.ticker import MaxNLocator, NullFormatter, NullLocator
from sklearn.isotonic import IsotonicRegression

from measure import EPSILONS, Cell

Lines = Mapping[str, Sequence[Cell]]
# Okabe and Ito's colours, which the colour-blind can tell apart.
COLOURS = {
    "sulq": "#0072B2",
    "sulq, by counts": "#56B4E9",
    "exact": "#000000",
    "diffprivlib": "#D55E00",
    "diffprivlib tree": "#D55E00",
    "diffprivlib forest": "#E69F00",
    "diffprivlib logistic": "#CC79A7",
}
LABEL = 13.0
"""How far apart names must be, in points."""
TIMES = (1, 1.5, 2, 3, 5, 10, 20)
X = [float(epsilon) for epsilon in EPSILONS]


def accuracies(path: Path, panels: Mapping[str, Lines]) -> None:
    """Accuracy against ε, with standard errors."""
    figure, axes = plt.subplots(1, max(1, len(panels)), figsize=(11, 4.2), dpi=150, squeeze=False)
    for ax, (name, lines) in zip(axes[0], panels.items(), strict=False):
        for method, cells in lines.items():
            _line(ax, method, cells)
        _named(ax, lines)
        ax.set_title(name.capitalize(), loc="left", fontweight="bold")
        ax.yaxis.set_major_locator(MaxNLocator(8, steps=[1, 2, 5, 10]))
        ax.yaxis.set_major_formatter(lambda share, _: f"{share:.0%}")
    axes[0][0].set_ylabel("accuracy on rows not learned from")
    _saved(figure, path)


def ratios(path: Path, panels: Mapping[str, Lines]) -> None:
    """Inertia over scikit-learn's against ε, with standard errors, on a logarithmic scale."""
    wide = 4
    high = -(-len(panels) // wide)
    figure, axes = plt.subplots(high, wide, figsize=(11, 2.9 * high), dpi=150, squeeze=False, sharey=True)
    for ax, lines in zip(axes.flat, panels.values(), strict=False):
        for method, cells in lines.items():
            _line(ax, method, cells)
        ax.axhline(1, color="#999999", linewidth=0.8)
    axes[0][0].set_yscale("log")
    axes[0][0].set_yticks(TIMES, [f"{times:g}×" for times in TIMES])
    axes[0][0].yaxis.set_minor_locator(NullLocator())
    for ax, (name, lines) in zip(axes.flat, panels.items(), strict=False):
        _named(ax, lines)
        ax.set_title(name, loc="left", fontweight="bold", fontsize=10)
    for ax in list(axes.flat)[len(panels) :]:
        ax.set_visible(False)
    for line in axes:
        line[0].set_ylabel("inertia over scikit-learn's")
    _saved(figure, path)


def _line(ax: Any, method: str, cells: Sequence[Cell]) -> None:
    points = [(x, cell.mean, cell.error) for x, cell in zip(X, cells, strict=True) if cell.values]
    if not points:
        return
    x, y, error = zip(*points, strict=True)
    style: dict[str, Any] = {"color": COLOURS[method], "linewidth": 2.2 if method == "sulq" else 1.3}
    if method == "exact":
        ax.plot(x, y, linestyle=":", **style)
    else:
        ax.errorbar(x, y, yerr=error, marker="o", markersize=4, capsize=2.5, **style)


def _named(ax: Any, lines: Lines) -> None:
    """Names at the right ends of the lines, moved apart where they would overlap."""
    ax.set_xscale("log")
    ax.set_xticks(X, EPSILONS)
    ax.xaxis.set_minor_formatter(NullFormatter())
    ax.xaxis.set_minor_locator(NullLocator())
    ax.set_xlabel("ε")
    ax.spines[["top", "right"]].set_visible(False)
    ax.figure.canvas.draw()
    ends = sorted((cells[-1].mean, method) for method, cells in lines.items() if cells[-1].values)
    at = np.array([ax.transData.transform((X[-1], value))[1] * 72 / ax.figure.dpi for value, _ in ends])
    steps = LABEL * np.arange(len(ends))
    places = IsotonicRegression().fit_transform(steps, at - steps) + steps
    for (value, method), shift in zip(ends, places - at, strict=True):
        ax.annotate(
            method,
            (X[-1], value),
            xytext=(8, shift),
            textcoords="offset points",
            va="center",
            fontsize=8.5,
            color=COLOURS[method],
            annotation_clip=False,
        )


def _saved(figure: Any, path: Path) -> None:
    figure.tight_layout()
    figure.savefig(path)
    plt.close(figure)
