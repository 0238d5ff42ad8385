"""Advice of log-linear models."""

from subsetprivacy.messages.advice import advise

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
