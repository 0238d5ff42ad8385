"""Advice of evaluation of classifiers, and of the unbiased indicators."""

from subsetprivacy.messages.advice import advise

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
