"""Advice about planning and optimizing."""

from subsetprivacy.messages.advice import advise
from subsetprivacy.messages.installing import how_to_install

# What is planned: categories and designs

CATEGORIES_OR_NUMBER = advise(
    "categories_or_number",
    python="sp.plan(5) has the categories 0 to 4",
    shell="--n-categories 5 has the categories 0 to 4",
)
GROUP_RARE_CATEGORIES = advise("group_rare_categories", "the nearest is {most}; group rare categories")
SMALL_WITH_DUMMIES = advise(
    "small_with_dummies",
    python="sp.small(categories, 'dummies', floor=...) has dummy rows; it reveals the value to anyone who knows which "
    "rows are people",
    shell="subsetprivacy design small --route dummies has dummy rows; it reveals the value to anyone who knows which "
    "rows are people",
)
LIST_OF_DESIGNS = advise("list_of_designs", python="designs=[sp.uniform(categories)]", keyword_of="plan")
DESIGN_IN_A_LIST = advise("design_in_a_list", python="designs=[design]", keyword_of="plan")
COVER_EACH_DESIGN = advise("cover_each_design", python="pass sp.covered(design, floor)")
PLAN_FOR_PUBLISHING = advise(
    "plan_for_publishing",
    python="mode='publish' allows it, for publishers who have the values",
    shell="--publish allows it, for publishers who have the values",
    keyword_of="plan",
)
USE_HADAMARD = advise(
    "use_hadamard",
    python="sp.hadamard(categories) has a closed form",
    shell="subsetprivacy design hadamard makes a design that has a closed form",
)
HADAMARD_HAS_A_BOUND = advise("hadamard_has_a_bound", python="sp.hadamard(categories) has a bound")
WEIGH_TELLING_SUBSETS = advise(
    "weigh_telling_subsets", "the subsets that determine it have almost no weight; give them more"
)

# What is asked of a plan

LEAVE_OUT_THE_UNKNOWN = advise("leave_out_the_unknown", "leave one of them out, and it is computed")
MARGIN_OR_RELATIVE = advise(
    "margin_or_relative",
    python="margin=0.02 is two percentage points, relative=0.2 is 20% of the share; give one of them",
    shell="--margin 0.02 is two percentage points, --relative 0.2 is 20% of the share; give one of them",
    keyword_of="plan",
)
TWO_POINTS = advise("two_points", "write two percentage points as 0.02")
RELATIVE_SHARE = advise("relative_share", "20% of the share is 0.2")
ONE_BIT = advise("one_bit", "yes/no is 1")
NO_DUMMY_ROWS = advise("no_dummy_rows", "leave it out for no dummy rows")
GIVE_W = advise(
    "give_w",
    python="give `w`, the distribution to plan for",
    shell="--w gives the distribution to plan for",
)
SMALL_SHARES = advise(
    "small_shares", "give the other categories the shares that you still want to detect, such as 0.01"
)
SHARE_OR_CATEGORY = advise(
    "share_or_category",
    python="give it the smallest share that still matters in `w`, or name another `category`",
    shell="give it the smallest share that still matters in --w, or name another --category",
)
ONE_OF_THE_CATEGORIES = advise("one_of_the_categories", "one of {categories}")
GROUPS_WITH_SHARES = advise(
    "groups_with_shares",
    python="groups=2 for two of the same size, or groups={{'f': 0.3, 'm': 0.7}}",
    shell="--groups 2 for two of the same size, or --group f=0.3 --group m=0.7",
    keyword_of="plan",
)
SUBGROUPS_WITH_SHARES = advise(
    "subgroups_with_shares",
    python="subgroups={{'young': 0.2, 'old': 0.8}}",
    shell="--subgroup young=0.2 --subgroup old=0.8",
    keyword_of="plan",
)
DIVIDE_BY_100 = advise("divide_by_100", "these look like percentages; divide by 100")
GROUPS_OR_SUBGROUPS = advise(
    "groups_or_subgroups",
    python="`groups` for the differences between them, `subgroups` for the shares in each",
    shell="--groups for the differences between them, --subgroup for the shares in each",
)

# Power

POWER_OF_80 = advise(
    "power_of_80", python="target=0.8 computes the number of people", keyword_of=("power", "independence_power")
)
SHARE_OF_ONE = advise("share_of_one", "30% is 0.3")
CONTRAST_BY_LABEL = advise("contrast_by_label", python="contrast={example}", keyword_of="power")
PRODUCT_OF_TWO = advise("product_of_two", python="sp.product({{'x': ..., 'y': ...}})")
SIMULATE_POWER = advise("simulate_power", python="replications=200 simulates", keyword_of="independence_power")
FEWER_SAMPLES = advise(
    "fewer_samples",
    python="fewer replications, or permutations=0 for asymptotic p-values",
    keyword_of="independence_power",
)
STRONGER_DEPENDENCE = advise(
    "stronger_dependence", python="use a joint distribution that differs more from the product of its margins"
)

EFFECT_POWER_OF_80 = advise(
    "effect_power_of_80",
    python="target=0.8 computes the number of people",
    shell="--target 0.8 computes the number of people",
    keyword_of=("response_power", "predictor_power", "means_power"),
)
RATIO_OF_ONE = advise("ratio_of_one", "1.5 multiplies the odds by one and a half, 1 is no effect")
POSITIVE_SHARES = advise("positive_shares", "give every category the smallest share that it may have, such as 0.01")
PILOT_TERMS = advise("pilot_terms", python="pilot=fit, term='age', category='daily'", keyword_of="response_power")
PILOT_COEFFICIENT = advise("pilot_coefficient", python="pilot=fit, term='race[Black]'", keyword_of="predictor_power")
EFFECT_BY_FAMILY = advise(
    "effect_by_family",
    python="difference=... for family='linear', odds_ratio=... for 'logit', rate_ratio=... for 'poisson'",
    shell="--difference for --family linear, --odds-ratio for logit, --rate-ratio for poisson",
    keyword_of="predictor_power",
)
TWO_GROUPS = advise(
    "two_groups", python="groups=('Black', 'White')", shell="--group Black --group White", keyword_of="means_power"
)
GROUP_FOR_POWER = advise("group_for_power", "group rare categories")
UNCOVERED_PLAN = advise("uncovered_plan", "plan with the design of the people, without dummy rows")
FEWER_OR_MERGED = advise("fewer_or_merged", "ask more people, or merge rare categories")

# Asking again

ONE_VARIABLE_AT_A_TIME = advise("one_variable_at_a_time", python="one variable at a time, such as {name!r}")
ASK_ONCE = advise("ask_once", "remember the first answer, or ask each person once")

# The best design for a budget

INTERIOR_SOLVER = advise(
    "interior_solver", python="solver='interior' allows up to {most}", keyword_of=("optimal", "frontier")
)
INSTALL_CONIC_SOLVER = advise(
    "install_conic_solver",
    python=f"{how_to_install('conic')}, or solver='interior'",
    keyword_of=("optimal", "frontier"),
)
GROUP_OR_HADAMARD = advise("group_or_hadamard", python="group rare categories, or use sp.hadamard(categories)")
SMALLEST_SHARE = advise("smallest_share", "give it the smallest share that it may have")
BUDGET_BY_LEAKAGE = advise("budget_by_leakage", python="budget={{'mi': 0.4}}", keyword_of=("optimal", "frontier"))
LEAKS_WITHOUT_DATA = advise("leaks_without_data", "the leakage is that large even without data")
ALLOW_MORE = advise(
    "allow_more",
    python=(
        "allow more, or use full_set=True: some people are then asked nothing, and any budget above the leakage "
        "without data is possible"
    ),
    keyword_of=("optimal", "frontier"),
)
A_THOUSANDTH_MORE = advise("a_thousandth_more", "allow a thousandth more")
MORE_STEPS = advise("more_steps", python="raise max_iter")

# Reading a plan

MORE_COLUMNS = advise(
    "more_columns",
    python="to_frame() has them",
    shell="--json has them",
)
INVITE_MORE = advise("invite_more", "invite more if some may refuse")
ASK_AS_INDEPENDENT = advise("ask_as_independent", python="ask with design.as_independent()")
