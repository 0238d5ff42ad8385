"""One refusal of each class, word by word. Everywhere else a test names the class and the argument."""

import pytest
from every_case import every_case

import subsetprivacy as sp
from subsetprivacy import errors

LABELS = [*"abcd"]
U4 = sp.uniform(LABELS)
ROTATED = sp.conditional(LABELS, {("a", "b"): 0.5, ("b", "c"): 0.5, ("c", "d"): 0.5, ("d", "a"): 0.5})
FIT = sp.estimate(sp.privatize(LABELS * 50, U4, seed=1))

REFUSALS = {
    "InvalidDesignError": (
        lambda: sp.uniform([*"ab"]),
        "a uniform design must have at least 4 categories; got 2. Hint: with two or three categories, some answers "
        "would reveal the value; use sp.small(categories), or sp.join() to combine several variables.",
    ),
    "NotIndependentError": (
        lambda: sp.draw_questions(sp.fixed_size(LABELS, 3), 5),
        "the design must be independent to be asked as yes/no questions; got a fixed_size design. Hint: this design "
        "needs the value to draw a subset; call sp.privatize([value], design) on the respondent's device or at the "
        "publisher.",
    ),
    "NotIdentifiableError": (
        lambda: sp.estimate(sp.SubsetCounts([3, 12], [20, 30], ROTATED)),
        "the design must be identifiable; got one where moving weight from {a, c} to {b, d} changes no subset's "
        "probability. Hint: give weight to more subsets.",
    ),
    "UnknownDesignError": (
        lambda: sp.estimate(sp.count([{"a", "b"}, {"b", "c"}], categories=LABELS), "mom"),
        "the design of these data must be known for this; got subsets without one. Hint: pass design=... when "
        "counting; only maximum likelihood estimates need none.",
    ),
    "DesignDocumentError": (
        lambda: sp.design_from_json("{}"),
        'a design document must be an object with "format": "subsetprivacy.design".',
    ),
    "CategoryError": (
        lambda: sp.privatize(["a", "secret"], U4),
        "every value must be one of the design's categories; got 1 value that is not, first in row 1 (counted from 0).",
    ),
    "CodeError": (
        lambda: sp.SubsetData([3, 0], U4),
        "`codes` must lie in 1…15; got 1 code that does not, first in row 1 (0, the empty set).",
    ),
    "DistributionError": (
        lambda: sp.simulate(U4, [0.5, 0.6, 0.1, 0.1], 10),
        "`w` must sum to 1; got 1.3. Hint: divide by the sum; for a moment estimate, use fit.projected().",
    ),
    "DataFileError": (
        lambda: sp.read_release("/nowhere/absent.parquet"),
        "the file '/nowhere/absent.parquet' must exist; it does not.",
    ),
    "NoDataError": (
        lambda: sp.estimate(sp.SubsetCounts([15], [5], U4)),
        "there must be at least one informative subset; got only full sets (5), which carry no information.",
    ),
    "MismatchError": (
        lambda: FIT.difference(sp.estimate(sp.privatize([*"wxyz"], sp.uniform([*"wxyz"]), seed=1))),
        "`other` must have the same categories; 0 are in both, 4 only here and 4 only there.",
    ),
    "ArgumentError": (lambda: FIT.interval(95), "`level` must be between 0 and 1; got 95. Hint: 95% is 0.95."),
    "TooLargeError": (
        lambda: sp.uniform(range(30)).support(),
        "the support of a uniform design lists all subsets and must have at most 22 categories; got 30. Hint: "
        "estimates with observed information, and sp.simulate(...), need no such list.",
    ),
}


def test_every_class_is_here():
    classes = {
        kind.__name__ for kind in errors.SubsetPrivacyError.__subclasses__() if kind.__module__ == errors.__name__
    }
    assert classes == set(REFUSALS)


@every_case("name", REFUSALS)
def test_the_sentence(name):
    call, sentence = REFUSALS[name]
    with pytest.raises(getattr(errors, name)) as caught:
        call()
    assert str(caught.value) == sentence
