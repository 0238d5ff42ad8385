"""Draw the picture of the README; run from the root of the repository."""

from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import subsetprivacy as sp
from subsetprivacy.examples import adult

counts = sp.simulate(sp.uniform(adult.races), adult.race, 500, seed=7)
picture = sp.estimate(counts).plot(reference=adult.race, method="profile")
picture.figure.savefig(Path(__file__).with_name("estimate.png"), dpi=110)
