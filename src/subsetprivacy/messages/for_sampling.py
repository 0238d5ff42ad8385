"""Advice of samples with weights, strata and clusters."""

from subsetprivacy.messages.advice import advise

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
    python="sp.estimate(data, sampling=sp.Sampling(weights, strata=strata)), with a row per person in both",
)
RESOLVE_COLUMNS = advise("resolve_columns", python="sampling.of(table) reads its columns")
