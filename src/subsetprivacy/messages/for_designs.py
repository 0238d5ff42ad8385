"""Advice about design, subsets, variables, incidence."""

from subsetprivacy.messages.advice import advise

# What a survey's file can always say: see collect/survey.
_RECOMMENDED = '"recommended" fits any number of options'

# Another kind of design ---------------------------------------------------------------------------------------------

SMALL_DESIGNS = advise(
    "small_designs",
    python="with two or three categories, some answers would reveal the value; use sp.small(categories), or sp.join() "
    "to combine several variables",
    shell="with two or three categories, some answers would reveal the value; use subsetprivacy design small, or "
    "subsetprivacy design join to combine several variables",
    page=_RECOMMENDED,
)
USE_SMALL = advise(
    "use_small",
    python="use sp.small(categories) for two or three categories",
    shell="use subsetprivacy design small for two or three categories",
    page=_RECOMMENDED,
)
USE_UNIFORM = advise(
    "use_uniform", python="sp.uniform(categories)", shell="subsetprivacy design uniform", page=_RECOMMENDED
)
HADAMARD_FOR_MANY = advise(
    "hadamard_for_many",
    python="sp.hadamard(categories) allows up to a million",
    shell="subsetprivacy design hadamard allows up to a million",
    page=_RECOMMENDED,
)
USE_WARNER = advise(
    "use_warner",
    python="with two categories try sp.warner(categories)",
    shell="with two categories try subsetprivacy design warner",
    page=_RECOMMENDED,
)
MORE_THAN_TWO = advise(
    "more_than_two",
    python="sp.fixed_size(categories, 2) for three, sp.uniform(categories) for four and more",
    shell="subsetprivacy design fixed-size --size 2 for three, subsetprivacy design uniform for four and more",
    page=_RECOMMENDED,
)
SAFE_ROUTE = advise("safe_route", python="route={route!r} is safe", shell="--route {route} is safe", keyword_of="small")
VALUE_AT_HAND = advise(
    "value_at_hand",
    python="this design needs the value to draw a subset; call sp.privatize([value], design) on the respondent's "
    "device or at the publisher",
    shell="this design needs the values to draw subsets; run subsetprivacy privatize where they are",
    page='"recommended" can be asked',
)

# How a design is made -----------------------------------------------------------------------------------------------

MAKE_A_DESIGN = advise("make_a_design", python="sp.uniform([...]) makes one")
TRY_A_QUARTER = advise("try_a_quarter", python="q=0.25", shell="--q 0.25", page="0.25", keyword_of="warner")
SAFE_Q = advise(
    "safe_q", python="the nearest safe q is {nearest}", shell="--q {nearest} is the nearest safe one", page="{nearest}"
)
WRITE_WEIGHTS = advise("write_weights", python="write {example}")
DIVIDE_THE_WEIGHTS = advise("divide_the_weights", "divide the weights by their sum")
MORE_SUBSETS = advise(
    "more_subsets",
    "give weight to more subsets",
)
CONDITIONAL_KIND = advise("conditional_kind", python="kind='conditional' accepts three", keyword_of="optimal")
PRODUCT_DESIGN = advise(
    "product_design",
    python="sp.product({{'race': ..., 'sex': ...}}) makes one",
    shell="subsetprivacy design product NAME=PATH NAME=PATH makes one",
)
SEPARATE_QUESTIONS = advise(
    "separate_questions",
    python="ask each separately: sp.product({{'one': ..., 'other': ...}})",
    shell="ask each separately: subsetprivacy design product",
)

# Dummy rows ---------------------------------------------------------------------------------------------------------

WHOLE_LEAKAGE = advise(
    "whole_leakage",
    python="yes/no questions have S = 2, sp.partition(categories, groups=m) has S = m",
    shell="yes/no questions have S = 2, subsetprivacy design partition --groups M has S = M",
)
LOWER_FLOOR = advise("lower_floor", "use any number below {most}; with {even} there are as many dummy rows as people")
FEWER_CATEGORIES = advise(
    "fewer_categories",
    python="group rare categories, or use sp.hadamard(categories)",
    shell="group rare categories, or use subsetprivacy design hadamard",
)
COVER_THE_WHOLE = advise(
    "cover_the_whole",
    python="cover the whole product: sp.covered(sp.product(...), floor)",
    shell="cover the whole product: subsetprivacy design product, then subsetprivacy design covered",
)
DESIGN_OF_THE_DATA = advise(
    "design_of_the_data",
    python="use the design that came with the data, data.design",
    shell="use the design document that was written with the data",
)
PRIVATIZE_EACH_GROUP = advise("privatize_each_group", "dummy rows belong to no group; privatize each group separately")

# What a design cannot answer ----------------------------------------------------------------------------------------

GIVE_THE_DESIGN = advise(
    "give_the_design",
    python="pass design=... when counting; only maximum likelihood estimates need none",
    shell="--design FILE; only maximum likelihood estimates need none",
    keyword_of="count",
)
NO_LIST_NEEDED = advise(
    "no_list_needed",
    python="estimates with observed information, and sp.simulate(...), need no such list",
    shell="estimates with observed information need no such list",
)
FEWER_AT_A_TIME = advise(
    "fewer_at_a_time",
    python="look at fewer variables at a time, as in data.counts('a', 'b')",
    shell="look at fewer columns at a time",
    page="look at fewer questions at a time",
)
FEWER_BITS = advise(
    "fewer_bits",
    python="designs that number their subsets need few bits: sp.partition(..., record=True), sp.hadamard of more than "
    "{most} categories",
    shell="designs that number their subsets need few bits: subsetprivacy design hadamard, for more than {most} "
    "categories",
)
ESTIMATE_BY_MOMENTS = advise(
    "estimate_by_moments",
    python="method='mom' has standard errors in closed form",
    shell="--method mom has standard errors in closed form",
    keyword_of="estimate",
)

# Documents and text -------------------------------------------------------------------------------------------------

DOCUMENT_OF_A_TABLE = advise("document_of_a_table", "this is the document of a table; read it together with the table")
READ_BY_A_NEWER_VERSION = advise("read_by_a_newer_version", "a newer version of the package may read it")
TEXT_LABELS = advise("text_labels", "name the categories by text, numbers, True or False; a pickle keeps any label")
WRITE_CODES = advise(
    "write_codes",
    python="form='codes'",
    shell=("--form codes", "--codes"),
    keyword_of=("write_release", "write_counts"),
)
SUBSET_AS_TEXT = advise(
    "subset_as_text", "a subset is written like {example}; is this the design the data were collected with?"
)

# Labels and columns -------------------------------------------------------------------------------------------------

LIST_THE_LABELS = advise("list_the_labels", python="write ['a', 'b', 'c', 'd'], not 'abcd'")
ORDER_THE_LABELS = advise("order_the_labels", python="pass sorted(...) or a list")
COLLECT_THE_LABELS = advise("collect_the_labels", python="write ('a', 'b')")
PASS_A_COLUMN = advise("pass_a_column", python="pass frame['name']")
NAME_THE_VARIABLES = advise(
    "name_the_variables",
    python="{{'sex': ['f', 'm'], 'smokes': ['yes', 'no']}}",
    shell="subsetprivacy design join sex=f,m smokes=yes,no",
)
PASS_COLUMNS = advise("pass_columns", python="pass a data frame, or {{'name': column, ...}}")
