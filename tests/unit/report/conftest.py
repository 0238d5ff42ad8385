"""Releases without a file, and a page taken apart."""

import pytest
from report_pages import Page, Rows

import subsetprivacy as sp
from subsetprivacy.examples import adult
from subsetprivacy.report import report_html


@pytest.fixture(scope="session")
def census():
    """Race by uniform questions, sex and income joined: the Adult rows."""
    rows = adult.rows()
    joined = sp.join({"sex": ["Female", "Male"], "income": ["low", "high"]})
    return Rows(
        {
            "race": sp.privatize(rows["race"], sp.uniform(adult.races), seed=1),
            "sex_income": sp.privatize({"sex": rows["sex"], "income": rows["income"]}, joined, seed=2),
        },
        "adult.parquet",
    )


@pytest.fixture(scope="session")
def census_page(census):
    return Page(report_html(census, seed=1, permutations=199))
