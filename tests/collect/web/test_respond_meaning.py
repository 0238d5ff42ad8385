"""What the page says an answer means: shares found by letting everybody answer, and put into words."""

import json
from fractions import Fraction

from attrs import evolve
from fake_collector import DRUGS, HEALTH, INCOME, SPORT, make_survey
from visitor import TRUTH

import subsetprivacy as sp
from subsetprivacy.collect.survey.definition import VariableDefinition


def share_of_everybody(variable, given, guess):
    """Let everybody answer the same question, each with the weight of their value, and count who sends the same."""
    share = Fraction(0)
    for value, weight in enumerate(map(Fraction, guess)):
        if variable["kind"] == "bit":
            ones = Fraction(variable["draw"]["ones"], 1 << 48)
            for number, chance in ((1, ones), (0, 1 - ones)):
                share += weight * chance * ((0 if number == value else 1) == given["answer"])
        elif variable["kind"] == "local":
            share += weight * (given["kept"] >> value & 1)
        else:
            answer = next(k for k, code in enumerate(given["asked"]) if code >> value & 1)
            share += weight * (answer == given["answer"])
    return share / sum(map(Fraction, guess))


def in_words(words, kind, share):
    name = "could" if kind == "local" else "same"
    if share > Fraction(95, 100):
        return words[f"meaning.{name}.most"]
    if share < Fraction(75, 10_000):
        return words[f"meaning.{name}.rare"]
    if share >= Fraction(75, 1000):
        k, n = max(1, round(10 * share)), 10
    else:
        k, n = 1, min((20, 50, 100), key=lambda n: abs(n - float(1 / share)))
    return words[f"meaning.{name}"].format(k=k, n=n)


GUESSES = [
    (
        (0.197, 0.197, 0.24, 0.172, 0.046, 0.148),
        (0.72, 0.28),
        (0.5, 0.3, 0.2),
    ),  # no sum of them lies between two tenths
    ((0.001, 0.002, 0.001, 0.99, 0.003, 0.003), (0.99, 0.01), (0.98, 0.01, 0.01)),
    ((0.02, 0.02, 0.02, 0.9, 0.02, 0.02), (0.5, 0.5), (0.005, 0.001, 0.994)),
]


def test_the_sentence_is_the_share_of_those_who_would_send_the_same(site):
    asked = [
        evolve(v, id=f"{v.id}{k}", guess=guess)
        for k, guesses in enumerate(GUESSES)
        for v, guess in zip((INCOME, DRUGS, HEALTH), guesses)
    ]
    manifest = site.collector.add(make_survey(variables=tuple(asked), practice=False))
    with site.visitor() as visitor:
        visitor.open(site.link(manifest))
        visitor.start(practised=False)
        for keys in ("ys1", "nd3"):
            for key in keys * len(GUESSES):
                visitor.page.keyboard.press(key)
                if key.isdigit():
                    visitor.wait("drawn")
                    visitor.press("ask.go")
            visitor.wait("review")
            answers = json.loads(visitor.literal())["answers"]
            shown = visitor.page.locator(".kept > li > .small:nth-child(3)").all_inner_texts()
            for variable, words, one in zip(manifest.variables, shown, asked, strict=True):
                given = answers[one.id]
                share = share_of_everybody(variable, given, one.guess)
                assert words == in_words(visitor.words, variable["kind"], share)
                if variable["kind"] == "bit":
                    assert visitor.says("meaning.both", option=DRUGS.options[given["answer"]], k=3)
            assert visitor.says("review.guess")
            for _ in asked:
                visitor.page.keyboard.press("b")


def test_without_a_guess_it_says_what_is_left(site):
    pets = ("cat", "dog", "bird", "fish", "none")
    variables = (VariableDefinition("pet", "Pet", "Which pet?", pets, sp.uniform(pets)), SPORT, HEALTH)
    variables += (VariableDefinition("car", "Car", "Have you a car?", ("no", "yes"), sp.warner(("no", "yes"))),)
    manifest = site.collector.add(make_survey(variables=variables, practice=False))
    with site.visitor() as visitor:
        visitor.open(site.link(manifest))
        visitor.start(practised=False)
        visitor.answer_all(manifest, TRUTH | {"pet": 1, "car": 0})
        answers = json.loads(visitor.literal())["answers"]
        kept = visitor.page.locator(".kept .set").all_inner_texts()
        meaning = visitor.page.locator(".kept > li > .small:nth-child(3)").all_inner_texts()
        assert not visitor.says("review.guess")
    for k, (name, options) in enumerate((("pet", pets), ("sport", SPORT.options))):
        left = answers[name]["asked"][answers[name]["answer"]]
        labels = [label for j, label in enumerate(options) if left >> j & 1]
        assert kept[k] == "Your answer is one of these: " + " · ".join(labels)
        assert meaning[k] == f"This leaves {len(labels)} of {len(options)} answers possible."
    assert meaning[2] == "This leaves 2 of 3 answers possible."
    option = ("no", "yes")[answers["car"]["answer"]]
    assert meaning[3] == f"This leaves both answers possible, but makes “{option}” up to 3 times as likely as before."
    number = "your answer’s number and the secret number are"
    assert kept[3] in (f"Same: {number} the same.", f"Different: {number} different.")


TIMES = {0.25: 3, 0.2: 4, 0.3: 3, 0.8: 4}  # by the probability that the secret number is 1


def test_which_of_two_options_becomes_more_likely_and_how_much(site):
    options = ("nein", "ja")
    variables = tuple(
        VariableDefinition(f"car{k}", "Auto", "Haben Sie ein Auto?", options, sp.warner(options, q=q))
        for k, q in enumerate(TIMES)
    )
    manifest = site.collector.add(make_survey(variables=variables, practice=False, language="de"))
    with site.visitor(language="de") as visitor:
        visitor.open(site.link(manifest))
        visitor.start(practised=False)
        for same, key in ((True, "ask.same"), (False, "ask.different")):
            for k in range(len(TIMES)):
                visitor.page.wait_for_function("k => document.querySelector('progress').value === k", arg=k + 1)
                visitor.press(key)
            visitor.wait("review")
            shown = visitor.page.locator(".kept > li").all_inner_texts()
            for text, (q, times) in zip(shown, TIMES.items(), strict=True):
                option = "nein" if same == (q < 0.5) else "ja"
                assert visitor.words["meaning.both"].format(option=option, k=times) in text
            for _ in TIMES:
                visitor.press("ask.back")


def test_a_guess_is_spoken_of_where_a_number_is_shown(site):
    manifest = site.collector.add(make_survey(variables=(DRUGS, SPORT), practice=False))
    with site.visitor() as visitor:
        visitor.open(site.link(manifest))
        visitor.start(practised=False)
        visitor.answer_all(manifest, TRUTH | {"drugs": None})
        assert not visitor.says("review.guess")
        visitor.page.locator(".change").first.click()
        visitor.press("ask.same")
        visitor.wait("review")
        assert visitor.says("review.guess")
