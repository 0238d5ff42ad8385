"""Advice about regression, formulas and learning from subsets."""

from subsetprivacy.messages.advice import advise

# Data
UNCOVERED_RESPONSE = advise("uncovered_response", "for regression, publish the rows of people without dummy rows")
DROP_A_COLUMN = advise(
    "drop_a_column",
    python="leave these columns out, or use ridge=1.0",
    shell="leave these columns out of the formula, or use --ridge 1",
    keyword_of="regress",
)
CENTER_THE_COLUMN = advise("center_the_column", "subtract a constant from the column, for instance its mean")
SCALE_THE_COLUMN = advise(
    "scale_the_column", "change the unit of the column, for instance divide it by its standard deviation"
)
FEWER_COLUMNS = advise(
    "fewer_columns",
    python="use fewer covariates, or ridge='cv'",
    shell="use fewer covariates, or --ridge cv",
    keyword_of="regress",
)

DESIGN_OF_THE_RESPONSE = advise(
    "design_of_the_response",
    python="designs={{'race': design}}, or open a file that contains its designs with sp.read_release",
    shell="--design, or a file that was written with its designs",
    keyword_of="regress",
)
RESPONSE_AND_COVARIATES = advise(
    "response_and_covariates",
    python="sp.regress('race ~ age', table, designs={{...}}), or sp.regress(data, covariates) with a SubsetData",
)

# Private predictors
PRIVATE_BASELINE = advise(
    "private_baseline",
    python="baseline={{'race': 'White'}} names the column too",
    shell="--baseline race=White names the column too",
    keyword_of="regress",
)
LEAVE_COLUMNS_OUT = advise("leave_columns_out", "leave these columns out")
FEWER_TERMS = advise("fewer_terms", "use fewer terms, or collect more people")
MERGE_BY_COLUMN = advise(
    "merge_by_column",
    python="merge={{'race': {{'Other': ['Other', 'Eskimo']}}}}",
    shell="--merge race:Other=Other,Eskimo",
    keyword_of="regress",
)
COUNTS_OR_LINEAR = advise(
    "counts_or_linear",
    python="family='linear' takes any numbers, family='poisson' counts, family='logit' two levels",
    shell="--family linear takes any numbers, --family poisson counts, --family logit two levels",
    keyword_of="regress",
)
LINEAR_OR_TWO_LEVELS = advise(
    "linear_or_two_levels",
    python="family='linear' models the share itself, family='poisson' its logarithm",
    shell="--family linear models the share itself, --family poisson its logarithm",
    keyword_of="regress",
)
OTHER_LEVEL = advise(
    "other_level",
    python="baseline={{'{name}': {written}}} models {other} instead",
    shell="--baseline {name}={level} models {other} instead",
    keyword_of="regress",
)
PRIVATE_RESPONSE_OF_LEVELS = advise(
    "private_response_of_levels",
    python="make a column that is True for the level in question, for one level at a time",
    shell="make a column of 0 and 1 for one level at a time; numbers of a CSV file stay numbers if privatize writes a "
    ".csv file",
)
WITHOUT_PREDICTORS = advise(
    "without_predictors",
    python="merge= joins rare categories of a private term, which keeps estimates finite",
    shell="--merge joins rare categories of a private term, which keeps estimates finite",
    keyword_of="regress",
)
LOAD_OR_SAMPLE = advise(
    "load_or_sample",
    python="stream=False loads them anyway; a sample of the rows also gives valid answers, with wider intervals",
    shell="--no-stream loads them anyway; a sample of the rows also gives valid answers, with wider intervals",
    keyword_of="regress",
)
NAME_THE_DESIGN_OF_TEXT = advise(
    "name_the_design_of_text",
    python="designs={{'{name}': design}} if these are subsets; otherwise write the labels without bars",
    shell="--design {name}=FILE if these are subsets; otherwise write the labels without bars",
    keyword_of="regress",
)

# Fits
SHRINK = advise(
    "shrink",
    python="shrink=True keeps all estimates finite; or merge rare categories, or leave a covariate out",
    shell="--shrink keeps all estimates finite; or merge rare categories, or leave a covariate out",
    keyword_of="regress",
)
MORE_TERMS = advise("more_terms", "add interactions, powers or splines")
MORE_TERMS_OR_CORRECTED = advise(
    "more_terms_or_corrected",
    python="add interactions, powers or splines, or use method='corrected'",
    shell="add interactions, powers or splines, or use --method corrected",
    keyword_of="regress",
)
CORRECTED = advise(
    "corrected",
    python="method='corrected', the default, does not depend on the model",
    shell="--method corrected, the default, does not depend on the model",
    keyword_of="regress",
)
SAME_TARGET = advise(
    "same_target",
    python="fewer covariates, more people, or shrink=True",
    shell="fewer covariates, more people, or --shrink",
    keyword_of="regress",
)
ROBUST_INTERVALS = advise(
    "robust_intervals", python="interval(method='robust'), or test(method='robust')", shell="--interval robust"
)
FIT_BY_LIKELIHOOD = advise("fit_by_likelihood", python="method='ml'", shell="--method ml", keyword_of="regress")
LOGIT_FAMILY = advise("logit_family", python="family='logit'", shell="--family logit", keyword_of="regress")
LINEAR_OR_MERGE = advise(
    "linear_or_merge",
    python="merge={{'{name}': {{'others': [...]}}}} joins it with other categories, without new data; or use "
    "family='linear', which needs people in each category but not with each outcome",
    shell="--merge {name}:others=LABEL,LABEL joins it with other categories, without new data; or use --family linear, "
    "which needs people in each category but not with each outcome",
    keyword_of="regress",
)
MERGE_PREDICTOR = advise(
    "merge_predictor",
    python="merge={{'{name}': {{'others': [...]}}}} joins it with other categories, without new data; or use fewer "
    "terms",
    shell="--merge {name}:others=LABEL,LABEL joins it with other categories, without new data; or use fewer terms",
    keyword_of="regress",
)
LIKELIHOOD_OF_PREDICTORS = advise(
    "likelihood_of_predictors", python="method='ml'", shell="--method ml", keyword_of="regress"
)
CORRECTED_FOR_FPC = advise(
    "corrected_for_fpc", python="method='corrected'", shell="--method corrected", keyword_of="regress"
)
CORRECTED_IF_WRONG = advise(
    "corrected_if_wrong",
    python="method='corrected' (the default) needs neither model",
    shell="--method corrected (the default) needs neither model",
    keyword_of="regress",
)
TEST_A_TERM = advise("test_a_term", python="fit.test('term') tests a term of either kind of fit")
TEST_TERMS = advise(
    "test_terms", python="fit.test('term') fits without a term and keeps its columns for the private value"
)
FITTED_FROM_A_TABLE = advise("fitted_from_a_table", python="sp.regress('income ~ age + race', table, designs={{...}})")
MERGE_OR_MORE = advise("merge_or_more", "merge rare categories, use fewer covariates, or collect more people")
MEASURE_LEAKAGE = advise("measure_leakage", python="fit.leakage() measures the difference")
IN_MEMORY = advise(
    "in_memory",
    python="stream=False keeps all rows in memory; predict() takes a separate table",
    shell="--no-stream keeps all rows in memory",
    keyword_of="regress",
)
WITHOUT_A_STREAM = advise(
    "without_a_stream",
    python="stream=False keeps all rows in memory",
    shell="--no-stream keeps all rows in memory",
    keyword_of="regress",
)
NAME_A_COLUMN = advise("name_a_column", "put them in a column of the file or table")

# Formulas -----------------------------------------------------------------------------------------------------------

WRITE_A_FORMULA = advise("write_a_formula", "a formula is written as in race ~ age + sex + age:sex")
NAME_IN_BACKTICKS = advise("name_in_backticks", "put a name with spaces or signs in backticks")
PRIVATE_AS_IT_IS = advise(
    "private_as_it_is",
    "write {name} without a function, alone or in interactions: its categories are compared with a baseline",
)
OFFSET_AS_AN_ARGUMENT = advise(
    "offset_as_an_argument", python="offset='column'", shell="--offset COLUMN", keyword_of="regress"
)
COMPUTE_THE_COLUMN_FIRST = advise(
    "compute_the_column_first",
    "center, scale, poly and bs remember what they need for new rows; compute anything else as a column of the table",
)
COVARIATES_AS_A_TABLE = advise(
    "covariates_as_a_table", "a table has a column for each covariate, an array has numbers only"
)
LEVELS_OR_NUMBERS = advise("levels_or_numbers", "turn other values into numbers or text first")
FILL_OR_LEAVE_OUT = advise(
    "fill_or_leave_out",
    python="fill these cells in, or leave their rows out: with a sampling by sampling.within(known), which keeps the "
    "rows of the sample, and otherwise out of the table",
    shell="fill these cells in, or leave their rows out of the table; with --strata, --clusters or --fpc, rows of "
    "weight 0 may have empty cells",
)
FINITE_TERMS = advise("finite_terms", "a logarithm or a quotient needs numbers above 0")
LEAVE_OUT_CONSTANT = advise("leave_out_constant", "omit it; a constant column duplicates the intercept")
RENAME_A_COLUMN = advise("rename_a_column", "rename one of the columns of the table")
SPLINE_BOUNDS = advise(
    "spline_bounds",
    "a spline is defined between its lower_bound and upper_bound, by default the smallest and largest value seen; its "
    "argument extrapolation, 'clip' or 'extend', sets what it is beyond them",
)
VARIABLES_OF_THE_MODEL = advise("variables_of_the_model", "the formula uses {names}")
LEVELS_OF_THE_MODEL = advise("levels_of_the_model", "its levels are {levels}")
LABELS_OF_A_PREDICTOR = advise(
    "labels_of_a_predictor", "new rows need a label of {name}, not a subset; its categories are {labels}"
)
LEVELS_OF_MIXED_CELLS = advise(
    "levels_of_mixed_cells", "correct these cells, or use C in the formula to make each text a level"
)
LOAD_THE_TABLE = advise(
    "load_the_table",
    python="stream=False keeps all rows in memory; or give a spline its knots, lower_bound and upper_bound",
    shell="--no-stream keeps all rows in memory; or give a spline its knots, lower_bound and upper_bound",
    keyword_of="regress",
)

# Learning -----------------------------------------------------------------------------------------------------------

NUMBERS_ONLY = advise(
    "numbers_only", python="turn other columns into numbers first, for instance by scikit-learn's OneHotEncoder"
)
MORE_ITERATIONS_OR_RIDGE = advise("more_iterations_or_ridge", python="raise max_iter, or use a larger ridge")
WITH_PROBABILITIES = advise(
    "with_probabilities", python="use another classifier; a support vector machine gives probabilities on request"
)
SCALE_OUTSIDE = advise(
    "scale_outside", python="put other steps, such as scaling, in a pipeline around SubsetClassifier, not inside it"
)
STOP_OUTSIDE = advise(
    "stop_outside", python="leave early stopping to the rounds: `validation_fraction` sets people aside"
)
