"""Advice about estimation."""

from subsetprivacy.messages.advice import advise

# Intervals
AUTO_INTERVAL = advise("auto_interval", python="interval(method='auto')", shell="--interval auto")
ADJUSTED_FOR_SOME = advise(
    "adjusted_for_some",
    python="interval(method='adjusted', categories=[...]), for some of them",
    shell="--interval adjusted, which takes longer",
)
PROFILE_INTERVAL = advise("profile_interval", python="interval(method='profile')", shell="--interval profile")
WALD_INTERVAL = advise("wald_interval", python="interval(method='wald')", shell="--interval wald")
ESTIMATE_BY_LIKELIHOOD = advise(
    "estimate_by_likelihood",
    python="sp.estimate(data) estimates by likelihood; for moments, interval(method='wald')",
    shell="leave --method out, or use --interval wald",
)

# Methods
METHOD_MLE = advise("method_mle", python="method='mle'", shell="--method mle", keyword_of="estimate")
ANY_DESIGN_OR_DATA = advise(
    "any_design_or_data",
    python="method='mom' works for any known design, 'mle' for any data",
    shell="--method mom works for any known design, mle for any data",
    keyword_of="estimate",
)
MORE_PEOPLE_OR_MOM = advise(
    "more_people_or_mom",
    python="collect more people, or use method='mom'",
    shell="collect more people, or use --method mom",
    page="collect more people",
    keyword_of="estimate",
)
MORE_PEOPLE_OR_MLE = advise(
    "more_people_or_mle",
    python="collect more people, or use method='mle', which reports what remains undetermined",
    shell="collect more people, or use --method mle, which reports what remains undetermined",
    page="collect more people",
    keyword_of="estimate",
)
UNBIASED_MOMENTS = advise(
    "unbiased_moments",
    python="method='mom' is unbiased, with reliable standard errors",
    shell="--method mom is unbiased, with reliable standard errors",
    keyword_of="estimate",
)
RAISE_MAX_ITER = advise(
    "raise_max_iter", python="raise max_iter, or use method='mle'", shell="--method mle", keyword_of="estimate"
)
MORE_PEOPLE_OR_QUESTIONS = advise(
    "more_people_or_questions", "collect more people, or ask other questions if these cannot identify the shares"
)
PROJECT = advise(
    "project",
    python="projected() gives a distribution",
    shell="--method mle, the default, always gives a distribution",
)
SINGLE_ERRORS = advise(
    "single_errors",
    python="contrast({{label: 1}}) gives the standard error of one share, and method='mom' gives all of them",
    shell="--method mom gives them",
    keyword_of="estimate",
)

# What to pass
WEIGHTS_BY_LABEL = advise("weights_by_label", python="write {{'a': 1, 'b': -1}}")
COUNT_FIRST = advise(
    "count_first",
    python="for groups call sp.count(table, by=...) first; for survey weights pass sampling=sp.Sampling(...)",
    keyword_of="estimate",
)
FEWER_VARIABLES = advise(
    "fewer_variables",
    python="use fewer variables at a time, as in data.counts('a', 'b')",
    shell="name fewer columns at a time",
    page="look at fewer variables at a time",
)
ALL_ROWS = advise("all_rows", python="to_frame() has all rows", shell="-o FILE.csv has all rows")

# Comparisons
CONTRAST_BY_WALD = advise(
    "contrast_by_wald",
    python="method='wald'",
    shell="--method wald",
    keyword_of=("Estimate.contrast", "Margin.contrast", "Difference.interval"),
)
COLLAPSE_FIRST = advise(
    "collapse_first",
    python="merge categories with fit.collapse({{'often': ['weekly', 'daily']}}) until both have the same categories",
    shell="merge categories with --merge NAME=LABEL,LABEL until both have the same categories",
)
JOINT_WAVES = advise(
    "joint_waves",
    python="count both answers of each person together: joint = sp.estimate(sp.crosstab(first, second, "
    "names=('first', 'second'))), then joint.margin('first').difference(joint.margin('second'))",
)
NAME_ESTIMATES = advise("name_estimates", python="sp.compare({{'2024': fit, '2025': other}})")
COLLAPSE_FORM = advise("collapse_form", python="collapse({{'often': ['weekly', 'daily']}})")
UNWEIGHTED = advise("unweighted", python="count people without weights", shell="leave --weights out")
INTERVALS_OF_ONE_GROUP = advise(
    "intervals_of_one_group",
    python="batch[name].interval() gives likelihood intervals for one group",
    shell="--interval adjusted, which takes longer",
)
CHI_SQUARE_NULL = advise(
    "chi_square_null", python="null='chi-square'", shell="--null chi-square", keyword_of="fit_test"
)
MARGINS_OF_ONE = advise(
    "margins_of_one",
    python="compare margins of one estimate with joint.margin('first').difference(joint.margin('second'))",
)
ESTIMATE_GROUPS = advise("estimate_groups", python="sp.estimate_many(groups) estimates each of them")
ONE_SAMPLE = advise(
    "one_sample", python="sp.estimate(counts) is for one sample, sp.estimate_many({{'a': counts}}) for several"
)
LOOK_AT_NAMES = advise("look_at_names", python="the attribute names lists them")
