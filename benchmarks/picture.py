"""The README's picture: one private answer at three budgets, with its error bars, beside the truth."""

from __future__ import annotations

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import sulq

EPSILONS = {"1/2": "#c2d4ec", "1": "#6f9bd1", "3": "#1f4e8c"}


def draw(path: Path) -> None:
    people = sulq.randhie()
    plans = people.schema["plan"].levels  # type: ignore[union-attr]
    asked = [sulq.mean(sulq.col("doctor_visits") > 0, by="plan")]
    truth = people.exact().ask(sulq.Round(asked))[0].value

    figure, axes = plt.subplots(figsize=(8, 3.6), dpi=150)
    places = np.arange(len(plans))
    axes.hlines(truth, places - 0.38, places + 0.38, color="#444", linewidth=1.2, label="exact")
    for offset, (epsilon, colour) in zip((-0.22, 0, 0.22), EPSILONS.items(), strict=True):
        [answer] = people.curator(epsilon=epsilon).ask(sulq.Round(asked, share=1))
        axes.errorbar(
            places + offset,
            answer.value,
            yerr=answer.radius(0.05),
            fmt="o",
            color=colour,
            capsize=4,
            label=f"ε = {epsilon}",
        )
    axes.set_xticks(places, plans)
    axes.set_xlabel("insurance plan: the share of bills people paid themselves")
    axes.set_ylabel("saw a doctor in the year")
    axes.yaxis.set_major_formatter(lambda share, _: f"{share:.0%}")
    axes.set_ylim(0.3, 1)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False, ncols=4, loc="upper right")
    figure.tight_layout()
    figure.savefig(path)


if __name__ == "__main__":
    draw(Path(__file__).parent.parent / "docs" / "plans.png")
