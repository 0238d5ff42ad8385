"""Advice about independence, honesty, auditing and privacy."""

from subsetprivacy.messages.advice import advise

_TESTS = ("independence_test", "homogeneity_test", "conditional_independence_test")
_BUDGETED = (*_TESTS, "trend_test")

# Tables and groups
PICK_TWO = advise(
    "pick_two",
    python="table.margin('x', 'y') selects two; conditional_independence_test(table, given='z') uses a third",
    shell="name two columns, and a third one with --given",
)
PICK_SOME = advise("pick_some", python="table.margin(...) selects variables")
CROSS_TWO_COLUMNS = advise("cross_two_columns", python="sp.crosstab(a, b) makes a table of two columns")
CROSS_BY_GROUP = advise("cross_by_group", python="sp.crosstab(a, b, by=group) makes them")
CROSS_BY_COLUMN = advise(
    "cross_by_column", python="pass a known column to sp.crosstab(a, b, by=column)", shell="--by COLUMN"
)
NAME_THE_GIVEN = advise(
    "name_the_given", python="given={name}", shell="--given {name}", keyword_of="conditional_independence_test"
)
TABLE_FOR_EACH_GROUP = advise(
    "table_for_each_group", python="use sp.conditional_independence_test for a table per group"
)
TABLE_OF_NUMBERS = advise(
    "table_of_numbers",
    python="JointCounts.of_table takes counts of subset pairs; for values, use scipy.stats.chi2_contingency",
)
EACH_ESTIMATE = advise("each_estimate", python="alternative_estimates has one for each")
COUNT_BY_GROUP = advise("count_by_group", python="sp.count(data, by=group) makes them", shell="--by COLUMN")
UNPACK_GROUPS = advise("unpack_groups", python="homogeneity_test(*groups)")
NAME_THE_OPTION = advise(
    "name_the_option", python="options have names, as in method='lrt'", keyword_of="homogeneity_test"
)
WEIGHT_ALL_GROUPS = advise("weight_all_groups", python="count all with weights", shell="--weights COLUMN")
WITHOUT_WEIGHTS = advise("without_weights", python="count without weights", shell="leave --weights out")
JOIN_RARE = advise("join_rare", "merge rare categories")
PRODUCT_OF_DESIGNS = advise("product_of_designs", python="sp.product(designs) combines several designs")

# How much is computed
NO_BUDGET = advise(
    "no_budget",
    python="budget=None",
    shell="fewer --permutations, or 0 for the asymptotic p-value",
    keyword_of=_BUDGETED,
)
NO_BUDGET_OR_FASTER = advise(
    "no_budget_or_faster",
    python="budget=None, or method='pearson-conditional', which is faster",
    shell=("--method pearson-conditional, which is faster", "fewer --permutations, or 0 for the asymptotic p-value"),
    keyword_of=_TESTS,
)
NO_BUDGET_NO_LIMIT_LAW = advise(
    "no_budget_no_limit_law", python="budget=None", shell="fewer --permutations", keyword_of=_BUDGETED
)
METHOD_LRT = advise("method_lrt", python="method='lrt'", shell="--method lrt", keyword_of=_TESTS)
MORE_ITERATIONS = advise("more_iterations", python="raise max_iter")

# Trends
COUNT_ONE_VARIABLE = advise("count_one_variable", python="sp.count(data, 'name', by=group) counts one variable")
GROUPS_OR_TABLE = advise(
    "groups_or_table", python="sp.count(data, by=group) makes groups, and sp.crosstab(a, b) a table of two variables"
)
COMPARE_DISTRIBUTIONS = advise(
    "compare_distributions",
    python="homogeneity_test(groups) compares groups under different designs",
    shell="leave --trend out, to compare groups under different designs",
)
SCORE_EACH = advise(
    "score_each",
    python="scores=[1, 2, 3], in the order of the labels, or by label",
    shell="numbers in the order of the labels, 1,2,3, or LABEL=1,LABEL=2",
    keyword_of="trend_test",
)
ORDER_GROUPS = advise(
    "order_groups",
    python="group_scores={{'low': 1, 'middle': 2, 'high': 3}}, or count by an ordered column, such as a pandas ordered "
    "categorical",
    shell="--group-scores low=1,middle=2,high=3",
    keyword_of="trend_test",
)
WALD_MEANS = advise("wald_means", python="method='wald'", keyword_of=("TrendResult.summary", "TrendResult.to_frame"))

# Honesty
RESIDUAL_COUNTS = advise("residual_counts", python="residuals.summary() lists the counts")
CHECK_ONE_VARIABLE = advise(
    "check_one_variable",
    python="one variable at a time: check_honesty(table[{name}])",
    page="look at one variable at a time",
)
DRAWS_OF_ONE_VARIABLE = advise(
    "draws_of_one_variable",
    python="one variable at a time: check_draws(table[{name}])",
    page="look at one variable at a time",
)
RECORD_THE_QUESTION = advise("record_the_question", "use yes/no questions, or partitions that record the question")
FEWER_REPLICATIONS = advise(
    "fewer_replications", python="with 999, a p-value of 5% is accurate to 1.4 percentage points"
)
BOOTSTRAP_FIT = advise("bootstrap_fit", python="method='bootstrap'", keyword_of=("check_honesty", "check_draws"))
LONG_BOOTSTRAP = advise(
    "long_bootstrap",
    python="method='bootstrap' is slower and does not need this approximation",
    keyword_of=("check_honesty", "check_draws"),
)
ASK_DIFFERENT_SIZES = advise("ask_different_sizes", "ask questions of different sizes")
ASK_THE_OTHER_QUESTIONS = advise(
    "ask_the_other_questions",
    python="collect more people, since some questions of the design were never asked; "
    "check_draws(data) still tests the draws",
    page="collect more people, since some questions of the design were never asked",
)
MORE_HADAMARD_QUESTIONS = advise(
    "more_hadamard_questions",
    python="ask more questions, hadamard(categories, questions={more}); check_draws(data) still tests the draws",
    page="ask more questions",
)
FIVE_CATEGORIES = advise(
    "five_categories",
    python="use five or more categories; check_draws(data) still tests the draws",
    page="use five or more categories",
)
MORE_DIFFERENT_QUESTIONS = advise("more_different_questions", "ask more different questions, of different sizes")
MORE_QUESTIONS_OR_DRAWS = advise(
    "more_questions_or_draws",
    python="ask more different questions, of different sizes; check_draws(data) still tests the draws",
    page="ask more different questions, of different sizes",
)
DRAWS_SOLVE_NONE = advise("draws_solve_none", python="check_draws(counts) has no such limit")
COUNT_PEOPLE = advise(
    "count_people",
    "count without weights, since honesty does not depend on whom people represent",
)
CHECK_HONESTY_ALONE = advise("check_honesty_alone", python="check_honesty(counts) takes some seconds")
CHECK_MAPPING = advise("check_mapping", python="sp.check_all({{'race': counts}}) takes counts by name")
CHECK_WITH_DESIGNS = advise("check_with_designs", python="designs={{'race': design}}", keyword_of="check_all")
CHECK_WITH_BUDGET = advise(
    "check_with_budget", python="check_all with a larger budget draws more samples", keyword_of="check_all"
)
COUNT_THE_QUESTIONS = advise(
    "count_the_questions",
    python="sp.count_questions(table, shown=..., answer=..., design=design), or sp.read_questions of a survey's export",
)
DRAWS_BY_PAIRS = advise("draws_by_pairs", python="method='auto' compares pairs of options", keyword_of=("check_draws",))

# Audits
GIVE_THE_DISTRIBUTION = advise("give_the_distribution", python="try audit(design, fit.w), or audit(data)")
AUDIT_DATA = advise("audit_data", python="audit(data) on the result of privatize has them")
ALL_PEOPLE = advise("all_people", python="to_frame() has all rows, summary(most=...) more of them")

# Covariates
PUBLISH_LESS = advise(
    "publish_less",
    "publish coarser covariates, use a design that reveals less, or publish the subsets without the covariates",
)
DIVIDE_EACH_ROW = advise("divide_each_row", "divide each row by its sum")
DUMMIES_HAVE_NO_COVARIATES = advise(
    "dummies_have_no_covariates", "dummy rows have no covariates, so audit a covered design before publishing"
)
AUDIT_OTHER_ROWS = advise(
    "audit_other_rows", python="audit(data.counts(), given=...) takes other rows, such as those of a pilot"
)
PROBABILITIES_OF_ROWS = advise(
    "probabilities_of_rows", python="an array of shape (n, p), a data frame with a column for each category, or a fit"
)
ASK_FOR_ROWS_AGAIN = advise("ask_for_rows_again", python="compute it again from the data")
