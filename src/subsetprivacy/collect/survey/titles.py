"""The titles of variables, by which people tell them apart."""

from collections import Counter
from collections.abc import Mapping


def titles_of(labels: Mapping[str, str]) -> dict[str, str]:
    """Return a title for each variable by its id: its label, with the id where another has the same label.

    Examples
    --------
    >>> titles_of({"weekday": "Sleep", "weekend": "Sleep", "tea": "Tea"})
    {'weekday': 'Sleep (weekday)', 'weekend': 'Sleep (weekend)', 'tea': 'Tea'}
    """
    number = Counter(labels.values())
    titles = {name: label if number[label] == 1 else f"{label} ({name})" for name, label in labels.items()}
    if len(set(titles.values())) == len(titles):
        return titles
    return {name: f"{label} ({name})" for name, label in labels.items()}  # ids have neither blanks nor brackets
