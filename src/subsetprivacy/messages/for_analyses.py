"""Advice about measures of association, log-linear models, means by category, evaluation and imputation."""

from subsetprivacy.messages.advice import advise

# Measures of association ----------------------------------------------------------------------------------------------

_COMPARISONS = ("Association.difference", "Association.risk_ratio", "Association.odds_ratio")

# Which variables and categories
DESIGN_OF_SEVERAL = advise(
    "design_of_several", python=("count two columns together, as in sp.association(sp.crosstab(a, b))")
)
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
METHOD_PROFILE = advise("method_profile", python="method='profile'", keyword_of=_COMPARISONS)
ONE_SIDED_PROFILE = advise(
    "one_sided_profile", python="method='profile' gives a one-sided interval", keyword_of=_COMPARISONS[1:]
)
METHOD_DELTA = advise("method_delta", python="method='delta'", keyword_of=_COMPARISONS)
LIKELIHOOD_OR_DELTA = advise(
    "likelihood_or_delta", python="sp.association(sp.estimate(data)), or method='delta'", keyword_of=_COMPARISONS
)
DELTA_OR_FEWER_VARIABLES = advise(
    "delta_or_fewer_variables",
    python="method='delta', or fewer variables, as in data.counts('a', 'b')",
    keyword_of=_COMPARISONS,
)

# What output leaves out
CORRECT_V = advise("correct_v", python="corrected=True", keyword_of="Association.cramers_v")
COMPARE_A_FEW = advise("compare_a_few", python="difference() and odds_ratio() need only a few standard errors")
ASK_FOR_ERRORS = advise("ask_for_errors", python="the attribute se has them")
ASK_FOR_ERRORS_AND_V = advise("ask_for_errors_and_v", python="the attribute se and cramers_v(corrected=True) have them")
ALL_PAIRS = advise("all_pairs", python="to_frame() has all pairs")

# Log-linear models ----------------------------------------------------------------------------------------------------

WRITE_GENERATORS = advise(
    "write_generators",
    "write the model as in [race sex][sex income], with quotes around names that contain spaces, or use saturated, "
    "all pairs or independence",
)
VARIABLES_OF_THE_TABLE = advise("variables_of_the_table", "its variables are {names}")
COUNT_COLUMNS_TOGETHER = advise(
    "count_columns_together",
    python="sp.crosstab(race, sex, income) counts columns of the same people together",
    shell="subsetprivacy count counts several columns of one table together",
)
NAME_THEM_TOGETHER = advise("name_them_together", "name all of {names} in the model, since they were asked together")
GENERATOR_FOR_THE_MARGIN = advise(
    "generator_for_the_margin", "add [{names}] to the model, so that the margin can be fixed"
)
SMALLER_MODEL = advise(
    "smaller_model", "leave interactions out of the model, merge rare categories, or collect more people"
)
MODEL_WITHOUT = advise(
    "model_without",
    "name the columns of the model, as in [race sex][sex income], and leave {name} out or group its values",
)
BOOTSTRAP_THE_TEST = advise(
    "bootstrap_the_test",
    python="test(bootstrap=199) computes p-values from simulated tables",
    shell="--bootstrap 199 computes p-values from simulated tables",
    keyword_of="LogLinear.test",
)
WALD_TESTS = advise("wald_tests", python="test(method='wald')", keyword_of="LogLinear.test")
SAME_TABLE = advise(
    "same_table", "fit both models to the same counts, with the same variables: [race sex][income] has income too"
)
WITHOUT_DUMMIES = advise("without_dummies", "count the rows of people without dummy rows")

# Means by private category --------------------------------------------------------------------------------------------

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
OUTCOME_AS_NUMBERS = advise(
    "outcome_as_numbers",
    python="convert it to numbers, or name another column",
    shell="name another column; numbers of a CSV file stay numbers if privatize writes a .csv file",
)
EMPTY_OUTCOMES = advise(
    "empty_outcomes",
    python="sampling=sampling.within(known) leaves people without an outcome out, and keeps the rows of the sample; "
    "without a sampling, leave them out of both columns, if they do not differ from the others",
    shell="rows of weight 0 need no outcome, so give such people weight 0 in the column of --weights",
    keyword_of="group_means",
)
NAME_TWO_CELLS = advise(
    "name_two_cells",
    python="without known groups a cell is a category; with them it is (group, category)",
    shell="give a category",
)

# Evaluation of classifiers, and unbiased indicators -------------------------------------------------------------------

LIKELIHOOD_NEEDS_NO_DESIGN = advise(
    "likelihood_needs_no_design",
    python="pass the design that drew them; sp.estimate(data), by maximum likelihood, needs none",
    shell="--design FILE; subsetprivacy estimate, by maximum likelihood, needs none",
)
SUBSET_LOSS_NEEDS_NO_DESIGN = advise(
    "subset_loss_needs_no_design",
    python="pass the design that drew them, or metrics='subset_log_loss', which needs none",
    shell="--design FILE, or --metric subset_log_loss, which needs none",
    keyword_of="evaluate",
)
UNCOVERED = advise(
    "uncovered",
    python="use the data before dummy rows were added; sp.estimate(data) takes them as they are",
    shell="use the data before dummy rows were added; subsetprivacy estimate takes them as they are",
)
ORDER_OF_CLASSES = advise(
    "order_of_classes",
    python="columns of an array are in the order of data.categories; a data frame names its own",
    shell="a file of predictions has a column per category, under its name",
)
ADD_A_COLUMN = advise("add_a_column", "if a classifier never predicts a category, give it a column of zeros")
GUESS_CATEGORIES = advise("guess_categories", "give the label of a category for everyone, in the spelling of the data")
GIVE_PROBA = advise(
    "give_proba",
    python="pass proba=..., the probabilities that the classifier predicts",
    shell="--proba FILE with a column of probabilities per category",
    keyword_of="evaluate",
)
RARE_CATEGORIES = advise(
    "rare_categories",
    "collect more people, or merge rare categories; to choose among classifiers use the subset log loss, which rare "
    "categories do not affect",
)
SUBSET_LOSS_INSTEAD = advise(
    "subset_loss_instead", "the subset log loss is far less noisy, and also smallest for the true probabilities"
)

# Multiple imputation --------------------------------------------------------------------------------------------------

PEOPLE_ONLY = advise("people_only", "use the rows of people without dummy rows")
SAME_PEOPLE = advise(
    "same_people",
    python="fit again to these people, or pass probabilities, given=fit.predict(table).estimate",
    keyword_of="impute",
)
ONE_FIT = advise(
    "one_fit",
    python="sp.regress('race ~ income + age', table, designs={{'race': design}}) with the design of the data",
)
ROW_PER_PERSON = advise("row_per_person", "repeat each row as often as it counts, and fit again")
FINITE_FIT = advise(
    "finite_fit", python="shrink=True keeps all coefficients finite; or merge rare categories", keyword_of="regress"
)
PROBABILITIES_OR_FIT = advise(
    "probabilities_or_fit",
    python="given=sp.regress(data, covariates), or an array of shape (n, p)",
    keyword_of="impute",
)
RICHER_MODEL = advise("richer_model", "add interactions, powers or splines to the regression, and impute again")
DRAW_PARAMETERS = advise(
    "draw_parameters",
    python="given=fit draws the coefficients for each set; an array of shape (m, n, p) has probabilities for each set",
    keyword_of="impute",
)
MORE_SETS = advise("more_sets", python="sp.impute(data, m={m}, given=fit)")
DISTINCT_NAMES = advise("distinct_names", "rename the column of the table")
WRITE_PARQUET = advise("write_parquet", "name a file that ends in .parquet or .arrow")
IMPUTED_ROWS = advise(
    "imputed_rows", "read it as a plain table of guesses; the subsets are in the file that was imputed from"
)
PRIVATIZE_ANSWERS = advise("privatize_answers", "privatize people's own values")
NAME_THE_PARAMETERS = advise(
    "name_the_parameters", python="pass (estimate, variance) pairs, or {{'term': (estimate, se)}} mappings"
)
SAME_TERMS = advise("same_terms", "merge rare categories: one that no one has in some set has no coefficient there")
COVARIANCES = advise("covariances", python="pass (estimates, covariance matrix) pairs")
