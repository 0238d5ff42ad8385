"""The panel of the publish page that names the smallest sets an answer may become, and what it costs to forbid one."""

from attrs import frozen

from subsetprivacy._words import counted
from subsetprivacy.collect.survey.definition import SurveyDefinition, VariableDefinition
from subsetprivacy.collect.survey.revealing_sets import (
    Price,
    RevealingSet,
    RevealingSets,
    price,
    price_of,
    price_words,
    revealing_sets,
    set_words,
)

_SHOWN = 4  # of a question at once; the others are folded away
_MOST_PRICED = 24  # sets of which it is told what it costs to forbid them: some hundredths of a second each
_MOST_OPTIONS_PRICED = 12  # beyond, tenths


@frozen
class SetLine:
    """A set that an answer may become: in words, how often, and what forbidding it would cost where that is told."""

    words: str
    chance: str
    cost: str


@frozen
class RevealingPanel:
    """What is said of one question.

    Attributes
    ----------
    label
        What the question is called.
    size, options
        How many answers the smallest sets leave, and of how many.
    number
        How many such sets there are, in words.
    first, others
        The sets that are shown at once, and those that are folded away.
    unnamed
        How many more there are.
    runs
        Larger sets of neighbouring answers.
    forbidden
        The sets that are never sent, in words.
    price
        What that costs, as part of a sentence; "" where nothing is forbidden.
    are_all_needed
        Whether none of the first can be forbidden.
    """

    label: str
    size: int
    options: int
    number: str
    first: tuple[SetLine, ...]
    others: tuple[SetLine, ...]
    unnamed: int
    runs: tuple[SetLine, ...]
    forbidden: tuple[str, ...]
    price: str
    are_all_needed: bool


def revealing_panels(survey: SurveyDefinition) -> tuple[RevealingPanel, ...]:
    """Return what is said of each question; nothing of those whose answers rule nothing out.

    Those that leave the fewest answers come first. What forbidding costs is worked out for them and for so many sets
    that the page does not have to be waited for.
    """
    revealing = [(variable, sets) for variable in survey.variables if (sets := revealing_sets(variable)) is not None]
    revealing.sort(key=lambda pair: pair[1].size)
    left, panels, titles = _MOST_PRICED, [], survey.titles
    for variable, sets in revealing:
        priced = min(left, len(sets.sets[:_SHOWN])) if len(variable.options) <= _MOST_OPTIONS_PRICED else 0
        left -= priced
        prices = [price_of(variable, each.options) for each in sets.sets[:priced]]
        panels.append(_panel(titles[variable.id], variable, sets, prices))
    return tuple(panels)


def _panel(
    title: str, variable: VariableDefinition, revealing: RevealingSets, prices: list[Price | None]
) -> RevealingPanel:
    needed = bool(prices) and not any(prices)
    costs = ["" if needed else _cost(each, is_first=not variable.never_alone) for each in prices] + [""] * _SHOWN
    paid = price(variable)
    return RevealingPanel(
        label=title,
        size=revealing.size,
        options=len(variable.options),
        number=counted(
            revealing.number,
            "pair" if revealing.size == 2 else f"set of {revealing.size}",
            _many(revealing.size),
            comma=True,
        ),
        first=tuple(_line(each, cost) for each, cost in zip(revealing.sets[:_SHOWN], costs, strict=False)),
        others=tuple(_line(each) for each in revealing.sets[_SHOWN:]),
        unnamed=revealing.number - len(revealing.sets),
        runs=tuple(_line(each) for each in revealing.runs),
        forbidden=tuple(set_words(options) for options in variable.never_alone),
        price="" if paid is None else price_words(paid),
        are_all_needed=needed,
    )


def _many(size: int) -> str:
    return "pairs" if size == 2 else f"sets of {size}"


def _line(revealing: RevealingSet, cost: str = "") -> SetLine:
    return SetLine(set_words(revealing.options), f"{100 * revealing.chance:.3g}%", cost)


def _cost(price: Price | None, *, is_first: bool) -> str:
    """Return what a further set costs; all prices of the page are counted from the design without any forbidden set."""
    if price is None:
        return "it cannot be forbidden" if is_first else "it cannot be forbidden as well"
    more = f"{price.more_percent}%" if price.more_percent else "no"
    if is_first:
        return f"to forbid it takes {more} more people"
    return f"to forbid it as well takes {more} more people than to forbid none"
