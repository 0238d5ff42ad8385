"""Draw the picture of the README, from the quickstart's data; run from the root of the repository."""

from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import subsetprivacy as sp

design = sp.uniform(["black", "red", "green", "blue"])
data = sp.privatize(["black", "red", "green", "blue", "blue"] * 400, design, seed=1)
picture = sp.estimate(data).plot()
picture.figure.savefig(Path(__file__).with_name("estimate.png"), dpi=110)
