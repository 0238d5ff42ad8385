"""Advice of measures."""

from subsetprivacy.messages.advice import advise

_COMPARISONS = ("Association.difference", "Association.risk_ratio", "Association.odds_ratio")
_EVERY_MEASURE = (*_COMPARISONS, "Association.cramers_v")

# Which variables and categories
DESIGN_OF_SEVERAL = advise("design_of_several", python="sp.product({{'a': ..., 'b': ...}}) is their design")
NAME_TWO_VARIABLES = advise("name_two_variables", python="sp.association(fit, {first!r}, {second!r})")
SWAP_ROWS_AND_COLUMNS = advise(
    "swap_rows_and_columns", python="this is a category of {other}; swap `rows` and `columns`"
)
GIVEN_THE_OTHER = advise(
    "given_the_other",
    python="this is a category of {other}; with given={second!r} `between` is of {second} and `outcome` of {first}",
    keyword_of=_COMPARISONS[:2],
)
KIND_CONDITIONAL = advise("kind_conditional", python="kind='conditional'", keyword_of="Association.plot")

# Intervals
METHOD_PROFILE = advise("method_profile", python="method='profile'", keyword_of=_EVERY_MEASURE)
ONE_SIDED_PROFILE = advise(
    "one_sided_profile", python="method='profile' gives a one-sided interval", keyword_of=_COMPARISONS[1:]
)
METHOD_DELTA = advise("method_delta", python="method='delta'", keyword_of=_EVERY_MEASURE)
LIKELIHOOD_OR_DELTA = advise(
    "likelihood_or_delta", python="sp.association(sp.estimate(data)), or method='delta'", keyword_of=_EVERY_MEASURE
)
DELTA_OR_FEWER_VARIABLES = advise(
    "delta_or_fewer_variables",
    python="method='delta', or fewer variables, as in data.counts('a', 'b')",
    keyword_of=_EVERY_MEASURE,
)
TWO_VARIABLES_ALONE = advise(
    "two_variables_alone",
    python="sp.association(data.counts('a', 'b')), or method='delta'",
    keyword_of="Association.cramers_v",
)

# What output leaves out
CORRECT_V = advise("correct_v", python="corrected=True", keyword_of="Association.cramers_v")
COMPARE_A_FEW = advise("compare_a_few", python="difference() and odds_ratio() need only a few standard errors")
ASK_FOR_ERRORS = advise("ask_for_errors", python="the attribute se has them")
ASK_FOR_ERRORS_AND_V = advise("ask_for_errors_and_v", python="the attribute se and cramers_v(corrected=True) have them")
ALL_PAIRS = advise("all_pairs", python="to_frame() has all pairs")
