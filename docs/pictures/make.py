"""Draw the pictures of the README; run from the root of the repository."""

from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import subsetprivacy as sp
from subsetprivacy.examples import adult

counts = sp.simulate(sp.uniform(adult.races), adult.race, 500, seed=7)
picture = sp.estimate(counts).plot(reference=adult.race, method="profile")
picture.figure.savefig(Path(__file__).with_name("estimate.png"), dpi=110)

frontiers = [sp.frontier(adult.races, adult.race, kind=kind) for kind in ("independent", "conditional")]
frontiers[0].plot(frontiers[1]).figure.savefig(Path(__file__).with_name("frontier.png"), dpi=110)
people = adult.rows()
race = sp.privatize(people["race"], sp.uniform(adult.races), seed=1)
income = sp.privatize(people["income"], sp.warner(["low", "high"]), seed=2)
found = sp.independence_test(sp.crosstab(race, income, names=["race", "income"]), seed=1)
found.plot("residuals").figure.savefig(Path(__file__).with_name("residuals.png"), dpi=110)
sp.plan(9, margin=0.02).plot().figure.savefig(Path(__file__).with_name("plan.png"), dpi=110)
