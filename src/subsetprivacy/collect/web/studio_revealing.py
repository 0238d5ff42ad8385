"""The panel of the publish page that lists the smallest sets that can be sent, and what it costs to forbid one."""

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

_SHOWN = 4  # shown per question; the others are folded
_MOST_PRICED = 24  # sets with the cost of forbidding them: some hundredths of a second each
_MOST_OPTIONS_PRICED = 12  # beyond, tenths


@frozen
class SetLine:
    """A set that can be sent: in words, how often, and the cost of forbidding it where it is shown."""

    words: str
    chance: str
    cost: str


@frozen
class RevealingPanel:
    """The panel of one question.

    Attributes
    ----------
    label
        The title of the question.
    size, options
        How many answers the smallest sets leave, and out of how many.
    number
        How many such sets there are, in words.
    first, others
        The sets that are shown, and those that are folded.
    unnamed
        How many more there are.
    runs
        Larger sets of neighboring answers.
    forbidden
        The sets that are never sent, in words.
    price
        What that costs, as part of a sentence, or "" if nothing is forbidden.
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
    """Return the panels of all questions whose answers rule something out.

    Those that leave the fewest answers come first. The cost of forbidding is computed for these, and for so few sets
    that the page stays fast.
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
    """Return the cost of another set. All costs on the page are relative to the design without forbidden sets."""
    if price is None:
        return "it cannot be forbidden" if is_first else "it cannot be forbidden as well"
    more = f"{price.more_percent}%" if price.more_percent else "no"
    if is_first:
        return f"forbidding it takes {more} more people"
    return f"forbidding it as well takes {more} more people than forbidding none"
