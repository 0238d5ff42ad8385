"""What a survey will ask and store, in numbers and sentences, before anyone answers."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from enum import StrEnum

import numpy as np
from attrs import frozen

from subsetprivacy.collect.survey.definition import SurveyDefinition, VariableDefinition
from subsetprivacy.collect.survey.drawing import WORD_BITS
from subsetprivacy.collect.survey.revealing_sets import Price, RevealingSets, price, revealing_sets
from subsetprivacy.collect.survey.rules import asking, number_of_questions
from subsetprivacy.design import Design

_LIKELY = 0.9  # from here on, a report reveals nearly everything
KIND_WORDS = {
    "yes_no": "yes or no",
    "groups": "which group",
    "bit": "secret number",
    "local": "drawn on the device",
}


@frozen
class VariableFacts:
    """Facts about a variable.

    Attributes
    ----------
    kind
        The kind of question: "yes_no", "groups", "bit" or "local".
    design
        The kind of design.
    questions
        How many different questions a respondent could be asked. For "local", how many sets could be sent.
    smallest_set
        The fewest options that an answer leaves possible.
    bits
        The fingerprint: the entropy of what is drawn for a person, which stays the same in every wave.
    revealing
        The smallest sets that can be sent. None if no answer rules an option out.
    never_alone
        The sets that are forbidden.
    price
        What forbidding them costs. None if there are none.
    """

    id: str
    options: int
    kind: str
    design: str
    questions: int
    smallest_set: int
    bits: float
    revealing: RevealingSets | None
    never_alone: tuple[tuple[str, ...], ...]
    price: Price | None


class NoticeKind(StrEnum):
    """What a notice is about."""

    ODDS = "odds"  # how much an answer to randomized response reveals
    ON_DEVICE = "on_device"  # the device draws around the answer
    LIKELY = "likely"  # some answer reveals nearly everything
    LINKED = "linked"  # variables that are kept together
    OPEN = "open"  # the people select themselves


@frozen
class Notice:
    """A remark for the author of a survey.

    Attributes
    ----------
    about
        The ids of the variables that it is about. Empty if it is about the survey.
    """

    kind: NoticeKind
    about: tuple[str, ...]
    text: str

    def naming(self, names: Mapping[str, str]) -> str:
        """Return the notice with names instead of ids."""
        about = " and ".join(names[name] for name in self.about)
        return f"{about}: {self.text}" if about else self.text

    def __str__(self) -> str:
        return self.naming({name: name for name in self.about})


@frozen
class SurveyFacts:
    """Facts about a survey.

    Attributes
    ----------
    groups
        The ids that are kept together, and the bits of what is kept. Links first, then every other variable alone.
    bits
        The fingerprint of everything a person sends. Only the server sees it together, when it arrives.
    notices
        Remarks for its author.
    """

    variables: tuple[VariableFacts, ...]
    groups: tuple[tuple[tuple[str, ...], float], ...]
    bits: float
    notices: tuple[Notice, ...]


def survey_facts(survey: SurveyDefinition) -> SurveyFacts:
    """Return facts about what a survey will ask and store."""
    facts = tuple(_variable_facts(variable) for variable in survey.variables)
    kept = {each.id: kept_rows(each.design) for each in survey.variables}
    groups = tuple((group, math.fsum(kept[name].bits for name in group)) for group in survey.groups)
    notices = [notice for each, known in zip(survey.variables, facts, strict=True) for notice in _notices(each, known)]
    notices += [_linked(names, [kept[name] for name in names]) for names in survey.groups if len(names) > 1]
    if survey.mode == "open":
        notices.append(
            Notice(
                NoticeKind.OPEN,
                (),
                "open mode: anyone who has the link can answer, and a cleared browser draws another question. The "
                "people select themselves.",
            )
        )
    return SurveyFacts(facts, groups, math.fsum(each.bits for each in facts), tuple(notices))


def _variable_facts(variable: VariableDefinition) -> VariableFacts:
    design = variable.design
    kind, rule = asking(design)
    number = number_of_questions(rule)
    bits = fingerprint_bits(design)
    return VariableFacts(
        id=variable.id,
        options=design.p,
        kind=kind,
        design=design.kind,
        questions=number,
        smallest_set=design.smallest_set,
        bits=bits,
        revealing=revealing_sets(variable),
        never_alone=variable.never_alone,
        price=price(variable),
    )


def fingerprint_bits(design: Design) -> float:
    """Return the entropy of what is drawn for a person and remembered: the question, or the device's own draw.

    Anyone who sees a person's draws in two places can recognize the person by them. If the draw depends on the value,
    return the largest entropy over all values.

    Examples
    --------
    >>> from subsetprivacy.design import hadamard, uniform
    >>> round(fingerprint_bits(uniform(range(8))), 1), round(fingerprint_bits(hadamard(range(8))), 1)
    (6.9, 2.8)
    """
    _, rule = asking(design)
    if rule["rule"] == "bit":
        ones = rule["ones"] / (1 << WORD_BITS)
        return _entropy_bits([ones, 1 - ones])
    if rule["rule"] == "listed":  # both sides of a question, or its groups in any order, are the same question
        asked: Counter[tuple[int, ...]] = Counter()
        for question, weight in zip(rule["questions"], rule["weights"], strict=True):
            asked[tuple(sorted(question))] += weight
        return _entropy_bits(asked.values())
    if rule["rule"] == "given":
        weighed = list(zip(rule["subsets"], rule["weights"], strict=True))
        return max(_entropy_bits([n for code, n in weighed if code >> j & 1]) for j in range(design.p))
    if rule["rule"] == "companions":
        return math.log2(math.comb(design.p - 1, rule["size"] - 1))
    return math.log2(number_of_questions(rule))


@frozen
class KeptRows:
    """What is stored about people who have the same value: the number of possible contents, and their entropy.

    Attributes
    ----------
    number
        The number of different contents, for the value that has most.
    bits
        The entropy of the content, for the value with the largest entropy.
    """

    number: int
    bits: float


def kept_rows(design: Design) -> KeptRows:
    """Return how well the stored data of a variable tell people with the same value apart.

    For a question with groups, only the chosen group is stored. So the stored data reveal less than the question, which
    anyone who sees a whole submission sees (`fingerprint_bits`).

    Examples
    --------
    >>> from subsetprivacy.design import partition, uniform
    >>> kept_rows(partition(range(9), 3)).number, kept_rows(uniform(range(5))).number
    (28, 10)
    """
    _, rule = asking(design)
    p = int(rule["p"])
    if rule["rule"] == "bit":
        return KeptRows(2, fingerprint_bits(design))
    if rule["rule"] == "groups":  # a value is in a group of s with probability s/p for each of them, any s - 1 others
        likely = {size: size * times / p for size, times in Counter(rule["sizes"]).items()}
        ways = {size: math.comb(p - 1, size - 1) for size in likely}
        return KeptRows(sum(ways.values()), math.fsum(x * math.log2(ways[s] / x) for s, x in likely.items()))
    if rule["rule"] == "listed":
        asked = zip(rule["questions"], rule["weights"], strict=True)
        return _kept_of([(code, weight) for question, weight in asked for code in question], p)
    if rule["rule"] == "given":
        return _kept_of(list(zip(rule["subsets"], rule["weights"], strict=True)), p)
    number = math.comb(p - 1, rule["size"] - 1) if rule["rule"] == "companions" else number_of_questions(rule)
    return KeptRows(number, math.log2(number))


def _kept_of(weighed: list[tuple[int, int]], p: int) -> KeptRows:
    """Return what is stored if every set has a weight among those that contain a value."""
    number, bits = 0, 0.0
    for j in range(p):
        weights: Counter[int] = Counter()
        for code, weight in weighed:
            if code >> j & 1:
                weights[code] += weight
        number, bits = max(number, len(weights)), max(bits, _entropy_bits(weights.values()))
    return KeptRows(number, bits)


def _entropy_bits(weights: Iterable[float]) -> float:
    values = np.array(list(weights), float)
    share = values / values.sum()
    return float(-(share * np.log2(share)).sum())


def _notices(variable: VariableDefinition, facts: VariableFacts) -> list[Notice]:
    notices = []
    design, about = variable.design, (variable.id,)
    if not design.rules_out:
        text = f"an answer multiplies the odds of a value by at most {math.exp(design.epsilon):.3g}."
        notices.append(Notice(NoticeKind.ODDS, about, text))
    if facts.kind == "local":
        some = f"{facts.smallest_set} of the {facts.options}" if design.by_size is not None else "some"
        consequence = (
            "The pair reveals which one it is not." if facts.options == 3 else "It never leaves the device alone."
        )
        text = f"the answer is marked on the respondent's device, and {some} possible answers are sent. {consequence}"
        notices.append(Notice(NoticeKind.ON_DEVICE, about, text))
    if variable.guess is not None:
        likely = design.largest_posterior(np.array(variable.guess) / math.fsum(variable.guess))
        if likely >= _LIKELY:
            text = f"if the guess is right, some answer leaves one value {likely:.0%} likely. Merge rare ones."
            notices.append(Notice(NoticeKind.LIKELY, about, text))
    return notices


def _linked(names: tuple[str, ...], kept: list[KeptRows]) -> Notice:
    number, bits = math.prod(each.number for each in kept), math.fsum(each.bits for each in kept)
    rows = "more than a million" if number > 10**6 else f"up to {number:,}"
    text = (
        f"kept together. The questions drawn can turn people with the same values into {rows} different rows "
        f"({bits:.1f} bits). With fewer people than that, most rows are unique."
    )
    return Notice(NoticeKind.LINKED, names, text)
