"""What holds rows of people shows none of them: no class of these packages has a repr that lists its arrays."""

import importlib
import inspect
import pkgutil

import attrs
from every_case import every_case

import subsetprivacy

PACKAGES = ("sampling", "raking", "imputation", "means", "predictors")


def classes():
    modules = [
        f"subsetprivacy.{package}.{result.name}"
        for package in PACKAGES
        for result in pkgutil.iter_modules([f"{subsetprivacy.__path__[0]}/{package}"])
    ]
    for module in [*modules, "subsetprivacy.estimation.survey_sample"]:
        for _, one in inspect.getmembers(importlib.import_module(module), inspect.isclass):
            if one.__module__ == module and attrs.has(one):
                yield one


# Totals of margins, numbers of fits, a function: nothing of a row.
OF_NO_PERSON = {"KnownMargin", "ReadFit", "SurveyUncertainty"}


@every_case("one", classes())
def test_arrays_are_not_listed(one):
    holds_rows = any(
        "Array" in str(each.type) or "ndarray" in str(each.type) for each in attrs.fields(one) if each.repr
    )
    generated = "attrs generated" in getattr(getattr(one.__repr__, "__code__", None), "co_filename", "")
    assert not (holds_rows and generated) or one.__name__ in OF_NO_PERSON
