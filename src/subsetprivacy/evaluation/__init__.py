"""How good a classifier is, when the labels of the test set are subsets."""
