"""Advice of samples with weights, strata and clusters."""

from subsetprivacy.messages.advice import advise

WEIGHTS_OF_ALL = advise("weights_of_all", "give people who are not to be counted the weight 0, and keep their rows")
LONELY = advise(
    "lonely",
    python="merge strata, or use lonely='center', which compares such a unit with the mean of all",
    shell="merge strata",
    keyword_of="Sampling",
)
BOOTSTRAP_REPLICATES = advise("bootstrap_replicates", python="with_replicates('bootstrap')", shell=())
ROWS_FOR_SAMPLING = advise(
    "rows_for_sampling",
    python="sp.estimate(data, sampling=sp.Sampling(weights, strata=strata)), with a row per person in both",
)
RESOLVE_COLUMNS = advise("resolve_columns", python="sampling.of(table) reads its columns")
