"""Advice that any module gives."""

from subsetprivacy.messages.advice import advise
from subsetprivacy.messages.installing import how_to_install

NEAREST = advise("nearest", "the nearest is {nearest}")
INSTALL = advise("install", how_to_install("{extra}"))
INSTALL_LIBRARY = advise("install_library", "pip install {library}")
MORE_PEOPLE = advise("more_people", "more people")

# Of arguments that many functions take
LEVEL_AS_A_SHARE = advise("level_as_a_share", "95% is 0.95")
ALPHA_OF_A_TEST = advise("alpha_of_a_test", "level is 0.95 for 95% intervals; the level of a test is called alpha")
LEVEL_OF_INTERVALS = advise(
    "level_of_intervals", "alpha is 0.05 for a test at 5%; the confidence level of intervals is called level"
)
PROJECT_THE_SHARES = advise(
    "project_the_shares", python="a moment estimate can leave the simplex; use fit.projected().w"
)
SHARES_NOT_PERCENT = advise("shares_not_percent", "these look like percentages; divide by 100")
DIVIDE_BY_THE_SUM = advise(
    "divide_by_the_sum",
    python="divide by the sum; for a moment estimate, use fit.projected()",
    shell="divide by the sum",
    page="divide by the sum",
)
SAME_INDEX = advise(
    "same_index",
    python="frame.reset_index(drop=True) on both matches rows by position, frame.reindex() by their index",
)
GAPS_AS_FULL = advise("gaps_as_full", "store a missing answer as the full set")
GAPS_AS_MISSING = advise(
    "gaps_as_missing",
    python="a column with gaps turns into floats; sp.count and sp.crosstab read it as it is, gaps as missing",
)
KEEP = advise("keep", python="{what}")
FINDINGS_OF = advise("findings_of", python="read a file with sp.read_release, or count a column with sp.count")
GROUPS_OF_A_FILE = advise(
    "groups_of_a_file", python="write the table with its groups by sp.write_release, or compare counts by sp.compare"
)
