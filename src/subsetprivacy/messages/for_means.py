"""Advice of means by private category."""

from subsetprivacy.messages.advice import advise

MORE_PEOPLE_OR_MERGE = advise(
    "more_people_or_merge", "collect more people, or merge rare categories in the design before subsets are drawn"
)
MERGE_SMALL_GROUPS = advise("merge_small_groups", "collect more people, or merge small groups")
CORRECTED_MEANS = advise(
    "corrected_means",
    python="leave model out: sp.group_means(y, data) assumes nothing about y",
    shell="leave --model out: the default assumes nothing about the outcome",
)
OUTCOME_AND_DATA = advise(
    "outcome_and_data",
    python="sp.group_means('income', table, column='race', designs={{'race': design}}), or sp.group_means(y, data) "
    "with numbers y and a SubsetData",
    shell="--of COLUMN for the outcome, --column COLUMN for the private one",
)
EMPTY_OUTCOMES = advise(
    "empty_outcomes",
    "leave out people without an outcome from both columns, if they do not differ from the others",
)
NAME_TWO_CELLS = advise(
    "name_two_cells",
    python="without known groups a cell is a category; with them it is (group, category)",
    shell="give a category",
)
