"""Advice of evaluation of classifiers, and of the unbiased indicators."""

from subsetprivacy.messages.advice import advise

LIKELIHOOD_NEEDS_NO_DESIGN = advise(
    "likelihood_needs_no_design",
    python="pass the design that drew them; only maximum likelihood, as in sp.estimate(data), needs none",
    shell="--design FILE; only maximum likelihood, as in subsetprivacy estimate, needs none",
)
UNCOVERED = advise(
    "uncovered",
    "use the data before dummy rows were added; sp.estimate(data) takes them as they are",
    shell="use the data before dummy rows were added; subsetprivacy estimate takes them as they are",
)
ORDER_OF_CLASSES = advise(
    "order_of_classes",
    "the columns of an array are in the order of the categories of the design; a data frame names them",
)
ADD_A_COLUMN = advise("add_a_column", "where a classifier never predicts a category, give it a column of zeros")
