"""A user's script as it should be: it runs, and passes `mypy --strict` and pyright."""

from typing import assert_type

import numpy as np

import subsetprivacy as sp
from subsetprivacy.errors import CategoryError

COLORS = ["black", "red", "green", "blue"]

design = sp.uniform(COLORS)
data = sp.privatize(["red", "blue", "blue", "black"] * 250, design, seed=1)
assert_type(data, sp.SubsetData)

fit = sp.estimate(data, "em", tol=1e-6, accelerate=True)
assert_type(fit, sp.Estimate)
print(fit.summary(), fit.w.round(2), fit.interval(0.9, method="profile"))
fit.plot(reference={"black": 0.25, "red": 0.25, "green": 0.0, "blue": 0.5}).set_xlim(0, 1)
print(fit.to_frame(engine="polars").height, fit.to_frame().shape, fit.contrast({"red": 1, "blue": -1}).value)

known: dict[str, float] = {"black": 0.01, "red": 0.1, "green": 0.2, "blue": 0.69}
report = sp.audit(design, known)
assert_type(report, sp.Audit)
print(report.to_dict()["mi_leakage"], sp.plan(COLORS, 0.05, w=known).summary())

question = sp.ask(design, seed=1)
assert_type(question, sp.Question)
asked = sp.draw_questions(design, 3, seed=1)
assert_type(sp.resolve(asked, [True, False, None], design), sp.SubsetData)

both = sp.product({"color": design, "size": sp.fixed_size(["s", "m", "l", "xl"], 2)})
table = sp.privatize({"color": ["red"] * 60 + ["blue"] * 60, "size": ["s", "m", "l", "xl"] * 30}, both, seed=1)
assert_type(table, sp.SubsetTable)
assert_type(sp.audit(table), sp.TableAudit)
assert_type(sp.ask(both, seed=1), dict[str, sp.Question])
print(table.to_frame(engine="polars").height, table.to_frame().shape)
pairs = sp.crosstab(table)
assert_type(pairs, sp.JointCounts)
print(sp.independence_test(pairs, "pearson", permutations=99, seed=1).pvalue)

assert_type(sp.simulate(both, np.full(16, 1 / 16), 100, seed=1), sp.JointCounts)

counts = sp.count(data)
assert_type(counts, sp.SubsetCounts)
groups = sp.count(data, by=["north", "south"] * 500)
for name, shares in zip(groups, sp.estimate_many(groups, "mom").w, strict=True):
    print(name, shares)

methods = sp.simulate_many(design, [0.1, 0.2, 0.3, 0.4], n=200, size=3, seed=np.random.default_rng(1))
print(sp.estimate_many(methods).w.mean(axis=0))

colors = sp.privatize(COLORS * 250, design, seed=2)
people = {"age": np.arange(1000.0), "rich": np.arange(1000) % 3 == 0, "color": colors}
model = sp.regress("rich ~ age + color", people, family="linear", baseline={"color": "blue"})
assert_type(model, sp.Regression | sp.OutcomeRegression)
print(model.summary(), model.coef, model.interval(0.9), model.test("color"), model.adjusted("age").estimate)
if isinstance(model, sp.OutcomeRegression):
    print(model.baselines, model.modeled)

try:
    sp.privatize(["pink"], design)
except CategoryError as error:
    print(error)
