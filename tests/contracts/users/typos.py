# ruff: noqa
"""A user's mistakes, one a line. After each stands what mypy has to say about it: the code, then words of the message."""

import subsetprivacy as sp
from subsetprivacy import privatise  # attr-defined: no attribute "privatise"

design = sp.uniform(["a", "b", "c", "d"])
data = sp.privatize(["a", "b"], design)
both = sp.product({"x": design, "y": design})
table = sp.privatize({"x": ["a"], "y": ["b"]}, both)
fit = sp.estimate(data)

sp.estimat(data)  # attr-defined: no attribute "estimat"; maybe "estimate"
sp.estimate(data, "mel")  # arg-type: "Literal['mel']"; expected "Literal['mle',
sp.estimate(data, "mle", tool=1e-9)  # call-arg: keyword argument "tool" for "estimate"; did you mean "tol"
sp.estimate(data, tol="small")  # arg-type: "tol" to "estimate" has incompatible type "str"; expected "float"
sp.estimate(table)  # arg-type: "SubsetTable"; expected "SubsetData | SubsetCounts"
sp.privatize(["a"], design, mising="full")  # call-overload: No overload variant of "privatize"
sp.privatize(["a"], design, missing="ful")  # call-overload: No overload variant of "privatize"
fit.sumary()  # attr-defined: "Estimate" has no attribute "sumary"; maybe "summary"
fit.interval(method="prifile")  # arg-type: "Literal['prifile']"; expected "Literal['auto',
fit.plot(kind="estimat")  # arg-type: "Literal['estimat']"; expected "Literal['estimate',
fit.plot(ax=3)  # arg-type: "ax" to "plot" of "Estimate" has incompatible type "int"; expected "Axes | None"
fit.to_frame(engine="panda")  # call-overload: No overload variant of "to_frame" of "Estimate"
table.to_frame(engine="panda")  # call-overload: No overload variant of "to_frame" of "Result"
table.to_frame(engine="polars").iloc  # attr-defined: "DataFrame" has no attribute "iloc"
table.codes  # attr-defined: "SubsetTable" has no attribute "codes"
sp.count(data, by=["a", "b"]).n  # attr-defined: "GroupedCounts[SubsetCounts]" has no attribute "n"
sp.ask(both).resolve(True)  # attr-defined: "dict[str, Question]" has no attribute "resolve"
sp.audit(table).persons()  # attr-defined: "TableAudit" has no attribute "persons"
sp.independence_test(sp.crosstab(table), "person")  # arg-type: "Literal['person']"; expected "Literal['lrt',
sp.regress("y ~ x", {}, family="probit")  # arg-type: "Literal['probit']"; expected "Literal['logit',
sp.homogeneity_test("a", "b")  # arg-type: "homogeneity_test" has incompatible type "str"; expected "Mapping[Any,
sp.optimal("abcd", [0.25] * 4, {"mi": 0.5}, criterion="E")  # arg-type: "Literal['E']"; expected "Literal['A'
sp.plan(4, 0.05, w="even")  # arg-type: "w" to "plan" has incompatible type "str"
sp.errors.CategoriesError  # attr-defined: no attribute "CategoriesError"
