"""Advice of multiple imputation."""

from subsetprivacy.messages.advice import advise

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
