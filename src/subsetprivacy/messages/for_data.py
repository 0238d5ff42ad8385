"""Advice about data, counting, tabulating, mechanism, sampling, raking."""

from subsetprivacy.messages.advice import advise

# Codes and counts ---------------------------------------------------------------------------------------------------

IS_THIS_THE_DESIGN = advise("is_this_the_design", "is this the design the data were collected with?")
PRIVATIZE_FIRST = advise(
    "privatize_first",
    python="these are single values; sp.privatize_table makes subsets of them",
    shell="these are single values; subsetprivacy privatize makes subsets of them",
)
COUNT_REPEATED_CODES = advise("count_repeated_codes", python="sp.count(codes, design=...) counts repeated codes")
PASS_SQUARES = advise("pass_squares", python="for sampling weights, pass `squares` too")
COUNT_WITH_WEIGHTS = advise("count_with_weights", "count all rows with weights")
MAKE_DATA = advise(
    "make_data",
    python="sp.privatize(values, design) makes data, and sp.count(subsets, design=design) counts subsets",
)
ONE_GROUP_AT_A_TIME = advise(
    "one_group_at_a_time",
    python="pass one group at a time, as in sp.estimate(groups['f']); sp.estimate_many(groups) takes all",
)
COUNT_THE_RELEASE = advise(
    "count_the_release",
    python="release.count('column') counts one column, and release.crosstab('one', 'other') several",
)
CELLS_THAT_OCCUR = advise(
    "cells_that_occur", python="the counts contain only the cells that occur; estimates and tests use these"
)
PICK_TWO_VARIABLES = advise("pick_two_variables", python="table.margin('x', 'y') selects two")
LABEL_BY_SUBSETS = advise(
    "label_by_subsets",
    python="pass frame.to_numpy() with the codes of its rows and columns, or count people with sp.crosstab",
)
AS_TO_DICT_WROTE = advise("as_to_dict_wrote", python="from_dict(...) reads what to_dict() wrote")
KEEP_GROUPS_PLAIN = advise(
    "keep_groups_plain", python="name groups by text, numbers, True, False, None or dates; a pickle keeps any name"
)

# Counting -----------------------------------------------------------------------------------------------------------

COUNT_A_COLUMN = advise("count_a_column", python="sp.count(frame, 'name', design=...) counts a column of a data frame")
PASS_ONE_COLUMN = advise(
    "pass_one_column",
    python="pass frame['name'], or the frame and a name, as in sp.count(frame, 'name', design=...)",
)
PASS_A_LIST = advise("pass_a_list", python="pass a list; a set of sets would merge people who reported the same")
PASS_CODES = advise("pass_codes", "pass codes; this design numbers its subsets")
CODES_OR_TEXT = advise("codes_or_text", "codes are integers, text is labels joined by a bar")
MISSING_AS_FULL = advise(
    "missing_as_full",
    python="missing='full' counts them as full sets, which carry no information",
    shell="--missing full counts them as full sets, which carry no information",
    keyword_of=("count", "crosstab"),
)
SINGLE_ANSWER = advise("single_answer", python="a single answer is {{'a'}} or, as text, 'a'")
CAST_TO_INTEGERS = advise("cast_to_integers", python="cast the column to int64", shell="store the codes as integers")
WEIGH_A_TABLE_OF_COUNTS = advise(
    "weigh_a_table_of_counts",
    python="weights='{name}', weights_kind='frequency'; sp.read_release(path) reads the file with its numbers",
    shell="--weights {name} --weights-kind frequency",
    keyword_of=("count", "crosstab", "regress", "group_means"),
)
WEIGH_OR_DROP_A_COUNT = advise(
    "weigh_or_drop_a_count",
    python="weights='{name}', weights_kind='frequency' if it counts people; leave the column out if every row is a "
    "person",
    shell=(
        "--weights {name} --weights-kind frequency if it counts people; leave the column out of the file if every row "
        "is a person",
        "if it counts people, write a file of counts: subsetprivacy count TABLE --weights {name} --weights-kind "
        "frequency -o counts.csv; leave the column out of the file if every row is a person",
    ),
    keyword_of=("count", "crosstab", "regress", "group_means"),
)
NAME_GROUP_COLUMNS = advise(
    "name_group_columns",
    python="by='region', or by=['region', 'year']",
    shell="--by REGION names a column",
    keyword_of=("count", "crosstab"),
)

# Several variables --------------------------------------------------------------------------------------------------

COVERED_AS_IT_IS = advise(
    "covered_as_it_is",
    python="pass the covered release of several variables directly to sp.estimate or sp.independence_test",
    shell="pass the covered release of several variables directly to subsetprivacy estimate",
)
COUNT_TOGETHER = advise(
    "count_together",
    "count the columns together, since counts of single variables do not show how often subsets occur together",
)
CROSSTAB_OF_NAMES = advise(
    "crosstab_of_names",
    python="sp.crosstab(frame, 'a', 'b', designs=...), or sp.crosstab(frame['a'], frame['b'], designs=...)",
)
A_DESIGN_EACH = advise(
    "a_design_each",
    python="designs=[design_of_the_first, design_of_the_second]",
    shell="--column NAME=DESIGN for each",
    keyword_of="crosstab",
)
NAME_AT_LEAST_TWO = advise("name_at_least_two", "name at least two")

# Drawing ------------------------------------------------------------------------------------------------------------

TABLE_OF_DESIGNS = advise(
    "table_of_designs",
    python="sp.privatize_table(frame, {{'race': ...}}, output=...) takes a design for each column, "
    "and sp.product({{'race': ...}}) combines several designs",
)
DRAW_ONCE = advise(
    "draw_once", python="sp.privatize_table(frame, {{'race': ...}}, output=...) draws once and writes the result"
)
PRIVATIZE_A_PRODUCT = advise(
    "privatize_a_product", python="sp.privatize(values, design) takes a product; a Publisher takes one variable"
)
STORE_MISSING_AS_FULL = advise(
    "store_missing_as_full",
    python="missing='full' stores them as the full set",
    shell="--missing full stores them as the full set",
    keyword_of=("privatize", "privatize_table"),
)
SAME_TYPES = advise("same_types", "the categories are of type {kinds}; check that the values are too")
ALL_VARIABLES_IN_ONE = advise("all_variables_in_one", python="table.select(table.names) has all variables in one")
PUBLISH_ONCE = advise(
    "publish_once",
    "publish once, since dummy rows would be drawn again each time, and the rows that two releases share "
    "belong to people",
)

# Keys and ids -------------------------------------------------------------------------------------------------------

PASS_A_KEY = advise("pass_a_key", python="key=secrets.token_bytes(32)", shell="--key-file FILE", keyword_of="privatize")
MAKE_A_KEY = advise(
    "make_a_key",
    python="secrets.token_bytes(32) makes one; keep it as safe as the data",
    shell="subsetprivacy key -o secret.key makes one; keep it as safe as the data",
)
READ_THE_KEY = advise("read_the_key", python="sp.read_key(path) reads a key file")
MAKE_A_KEY_FILE = advise("make_a_key_file", "subsetprivacy key -o secret.key makes one")
PROTECT_THE_KEY = advise("protect_the_key", "chmod 600 {path}")
ONE_ROW_PER_PERSON = advise(
    "one_row_per_person",
    "keep one row per person, since two values of one person would get the same question, and the two answers together "
    "could reveal them",
)
IDS_AS_TEXT = advise("ids_as_text", "read the column as text, since whole numbers with gaps become floats")

# Questions ----------------------------------------------------------------------------------------------------------

COUNT_THE_SUBSETS = advise("count_the_subsets", python="use sp.count to count the subsets that were sent")
READ_THE_ANSWER = advise("read_the_answer", python="{code} keeps None for no answer")
ASK_THE_BASE = advise(
    "ask_the_base", python="sp.ask(design.base), and sp.cover(data, floor) before publishing", page='"recommended"'
)
PASS_QUESTION_CODES = advise("pass_question_codes", python="[q.code for q in questions]")
ASK_ONE_AT_A_TIME = advise(
    "ask_one_at_a_time", "ask several variables one at a time, and use the base of a covered design"
)
USE_ITS_COUNTS = advise("use_its_counts", python="pass the counts of the estimate, fit.counts")

# Samples with weights, strata and clusters; raking --------------------------------------------------------------------

WEIGHTS_OF_ALL = advise("weights_of_all", "give people who should not count the weight 0, and keep their rows")
UNITS_OF_A_STRATUM = advise(
    "units_of_a_stratum", "give the share of first-stage units drawn in the stratum, or the number of units in it"
)
WEIGHTS_OF_A_FILE = advise(
    "weights_of_a_file",
    python="with weights only, sp.count(table, column, weights=..., weights_kind='sampling') needs no rows in memory",
    shell="with weights only, --weights and --weights-kind sampling need no rows in memory",
)
LONELY = advise(
    "lonely",
    python="merge strata, or use lonely='center', which compares such a unit with the mean of all",
    shell=("merge strata, or use --lonely center", "merge strata"),
    keyword_of="Sampling",
)
BOOTSTRAP_REPLICATES = advise("bootstrap_replicates", python="with_replicates('bootstrap')", shell=())
MARGIN_OF_ALL_LABELS = advise(
    "margin_of_all_labels",
    python="sp.rake(table, dict(sex=dict(f=0.52, m=0.48))), with every label that occurs",
)
SHARES_OR_TOTALS = advise("shares_or_totals", "give shares that sum to 1, or the number of people with each label")
DESIGNS_OF_SUBSETS = advise(
    "designs_of_subsets",
    python="give every label that occurs; a column of subsets is read with designs=dict({name}=design)",
    shell="give every label that occurs; a column of subsets is read with --column and its design document",
    keyword_of="rake",
)
RAKE_A_TABLE = advise("rake_a_table", python="sp.rake(table, margins), with a row per person")
WEIGHTS_STAY_POSITIVE = advise(
    "weights_stay_positive",
    python="method='raking' keeps weights positive, and so does bounds=(0.1, 10)",
    keyword_of="rake",
)
WIDER_BOUNDS = advise(
    "wider_bounds",
    python="merge labels with few people, or rake to fewer margins; bounds=(0.3, 3) limits ratios",
    keyword_of="rake",
)
FEWER_MARGINS = advise("fewer_margins", "merge labels with few people, or use fewer margins")
LOOSER_BOUNDS = advise("looser_bounds", "use wider bounds, merge labels with few people, or use fewer margins")
ROWS_FOR_SAMPLING = advise(
    "rows_for_sampling",
    python="sp.estimate(data, sampling=sp.Sampling(weights, strata=strata)), with a row per person in both; counts "
    "allow sp.Sampling(fpc=1) only",
)
OF_PEOPLE = advise("of_people", python="sampling.of_people(n) describes n people")
RESOLVE_COLUMNS = advise("resolve_columns", python="sampling.of(table) reads its columns")
