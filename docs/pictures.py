"""Draw the two pictures of README.md: ``python docs/pictures.py``."""

from __future__ import annotations

from pathlib import Path

import matplotlib.pyplot as plt

from odrf import load_data, odt

PICTURES = Path(__file__).parent / "pictures"


def main() -> None:
    """Write pictures/tree.svg and pictures/path.svg."""
    plt.rcParams["svg.hashsalt"] = "odrf"  # the same file each time
    cars = load_data("auto_mpg").dropna()
    tree = odt("mpg ~ weight + horsepower + year", cars, alpha=None, seed=1)
    PICTURES.mkdir(exist_ok=True)
    for name, ax in [
        ("tree", tree.prune(leaves=4).plot()),
        ("path", tree.pruning_path(cv=10).plot()),
    ]:
        ax.figure.savefig(
            PICTURES / f"{name}.svg",
            bbox_inches="tight",
            facecolor="white",
            metadata={"Date": None},
        )


if __name__ == "__main__":
    main()
