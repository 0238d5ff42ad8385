"""Reports of given values and of nobody, for every kind of design."""

import numpy as np
import pytest
from every_case import every_case
from lopsided import ABCD, DESIGNS, NEW
from refusals import refused
from scipy.stats import chisquare

import subsetprivacy as sp
from subsetprivacy.design import Covered, Mixture
from subsetprivacy.errors import CategoryError, CodeError
from subsetprivacy.mechanism import reports
from subsetprivacy.mechanism.randomness import SecureSource, SeededSource

PLAIN = {name: design for name, design in NEW.items() if not isinstance(design, Covered)}


def source(seed=1):
    return SeededSource(np.random.default_rng(seed))


@every_case("name", [*PLAIN, *DESIGNS])
def test_reports_of_nobody_are_as_likely_as_mu(name):
    design = {**PLAIN, **DESIGNS}[name]
    codes, mu = design.support()
    drawn = design.draw_any(200_000, source())
    seen = np.bincount(np.searchsorted(codes, drawn), minlength=len(codes))
    assert set(drawn.tolist()) <= set(codes.tolist())
    if len(codes) > 1:
        assert chisquare(seen, 200_000 * mu / mu.sum()).pvalue > 1e-4


@every_case("name", PLAIN)
def test_values_are_drawn_in_blocks_without_a_seam(name, monkeypatch):
    design = PLAIN[name]
    monkeypatch.setattr(reports, "_BLOCK", 7)
    x = np.arange(50) % design.p
    drawn = reports.draw_given(x, design, source())
    assert drawn.dtype == np.int64
    assert design.contains(drawn, x).all()
    assert design.allows(drawn).all()
    assert reports.draw_given(x[:0], design, source()).tolist() == []


@every_case("name", PLAIN)
def test_a_mixture_with_another_design_is_drawn_like_both(name):
    design = PLAIN[name]
    mixed = Mixture.of([design, design], [1, 2])
    assert mixed == design
    if design.code_space != "mask" or design.p > 40:
        return
    blind = sp.fully_private(design.categories)
    both = Mixture.of([design, blind], [1, 1])
    drawn = reports.draw_given(np.zeros(20_000, np.int64), both, source())
    assert (drawn == design.missing_code).mean() == pytest.approx(0.5, abs=0.02)
    assert design.contains(drawn, 0).all()


@every_case("name", ["fixed size, half", "partition, two groups", "hadamard, p=6", "joined, revealing"])
def test_a_mixture_of_questions_can_be_drawn(name):
    design = NEW[name]
    other = sp.uniform(design.categories)
    both = Mixture.of([design, other], [1, 1])
    assert both.is_independent or both == other
    drawn = reports.draw_given(np.ones(5000, np.int64), both, source())
    assert design.contains(drawn, 1).all()


@every_case("name", PLAIN)
def test_missing_values_are_stored_as_the_full_set(name):
    design = PLAIN[name]
    labels = list(design.categories.labels[:2])
    values = [labels[0], None, labels[1]] * 20
    if "product" in name or name == "joined by twos":
        data = sp.privatize(values, design, missing="full", seed=1).select(design.categories.names)
    else:
        data = sp.privatize(values, design, missing="full", seed=1)
    assert (data.codes[1::3] == design.missing_code).all()
    counts = data.counts()
    drawn_full = (design.is_missing(np.delete(data.codes, np.s_[1::3]))).sum()
    assert counts.n_missing == 20 + drawn_full
    assert sp.SubsetData(data.codes, design).counts().n == counts.n
    with pytest.raises(CategoryError):
        sp.privatize(values, design)


@every_case("name", NEW)
def test_what_is_drawn_can_be_stored_and_read_again(name):
    design = NEW[name]
    x = np.arange(200) % design.p
    values = [design.categories.labels[j] for j in x]
    data = sp.privatize(values, design.planned() if isinstance(design, Covered) else design, seed=3)
    if isinstance(data, sp.SubsetTable):
        data = data.select(data.names)
    read = sp.SubsetData(data.codes.tolist(), sp.design_from_json(data.design.to_json()))
    assert read.counts().counts.tolist() == data.counts().counts.tolist()
    with refused(CodeError, "codes"):
        sp.SubsetData([*data.codes.tolist(), 1 << design.code_bits], data.design)
    with refused(CodeError, "codes"):
        sp.SubsetData([0], data.design)


@every_case("name", PLAIN)
def test_an_unknown_value_is_refused_and_never_shown(name):
    design = PLAIN[name]
    values = [design.categories.labels[0], "secret-value"]
    with pytest.raises(CategoryError, match="row 1") as caught:
        sp.privatize(values, design)
    assert "secret" not in str(caught.value)


def test_a_seed_repeats_and_the_default_does_not():
    for name, design in PLAIN.items():
        x = np.zeros(3000, np.int64)
        one, two = (reports.draw_given(x, design, source(5)) for _ in range(2))
        assert one.tolist() == two.tolist(), name
        fresh = [reports.draw_given(x, design, SecureSource()).tolist() for _ in range(2)]
        assert fresh[0] != fresh[1], name


def test_designs_with_a_bit_or_dummies_are_no_surprise():
    # Whoever made a design that reveals has said so: no warning (they are errors here).
    for design in (sp.small(["n", "y"], "bit", reveals=True), sp.small(["n", "y"], "dummies", reveals=True)):
        assert len(sp.privatize(["n", "y"], design, seed=1)) >= 2


def test_covered_designs_that_draw_full_sets_have_no_empty_ones():
    # S is 1.5 times 2: half of the people are asked about everything, and nobody, not even a dummy, answers no to that.
    half = sp.independent(ABCD, {("a", "b"): 0.25, ("a", "c"): 0.125, ("a", "d"): 0.125, ABCD: 0.5})
    design = sp.covered(sp.product({"x": half, "y": sp.uniform(list("rstu"))}), 0.2)
    assert design.D == 3
    data = sp.privatize([("a", "r"), ("b", "s")] * 100, design, seed=1)
    assert data.counts().counts.sum() == len(data)
