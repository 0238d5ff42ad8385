// The screen of one question, of each kind.

import { holds } from "./drawing.js";
import { button, claim, el, paragraphs, show } from "./element.js";
import { keySwitch, keysOf } from "./keys.js";
import { labels } from "./meaning.js";
import { say } from "./words.js";

/**
 * Show a question.
 *
 * `give(choice)` takes an answer, `skip()` and `back()` do what they say if they are given; `given` is what was
 * chosen before, `above` comes before the question, `progress` is [k, n].
 */
export function showQuestion(question, { give, skip, back, given, above = [], progress }) {
  const { variable } = question;
  const { kind } = variable;
  const asked = KINDS[kind](question, give, (choice) => given?.choice === choice);
  show({
    name: "question",
    kind,
    heading: asked.heading,
    above: [above, asked.above ?? []],
    content: asked.content,
    actions: [asked.pair, minor(back, skip, given, kind)],
    progress,
  });
}

// A number on the screen is a number to compare: with a secret number, none is a key.
const numberKey = (kind, number) => (kind === "bit" ? undefined : number);

function minor(back, skip, given, kind) {
  const keys = keysOf("skip", numberKey(kind, "0"));
  return el(
    "div",
    { class: "minor" },
    back ? button(say("ask.back"), back, { kind: "quiet back", keys: keysOf("back") }) : null,
    skip ? button(say("ask.skip"), skip, { kind: "quiet", keys, before: given?.choice === null }) : null,
    keySwitch(),
  );
}

// What the survey asks is the topic, and not what the buttons answer: it must not look like a headline above them.
const topic = ({ question, help }) =>
  el(
    "div",
    { class: "topic" },
    el(
      "p",
      { class: "start", tabindex: "-1" },
      el("span", { class: "name" }, say("ask.topic")),
      " ",
      el("span", { class: "text", dir: "auto" }, question),
    ),
    paragraphs(help, "help"),
  );

/** Make a list of options to read. */
export const optionList = (items) =>
  el("ul", { class: "options" }, items.map((item) => el("li", { dir: "auto" }, item)));

/** Make the two numbers to compare: the one of each answer (`mine` is marked, in the practice), and the secret one. */
export const twoNumbers = ({ variable, bit }, mine) =>
  el(
    "div",
    { class: "numbers" },
    el(
      "div",
      { class: "number" },
      el("p", {}, say("bit.answer")),
      el(
        "ul",
        {},
        variable.options.map((option, k) =>
          el(
            "li",
            { class: k === mine && "mine" },
            el("span", { dir: "auto" }, option),
            " ",
            el("span", { class: "is" }, "="),
            " ",
            digit(k),
          ),
        ),
      ),
    ),
    el("p", { class: "number secret" }, el("span", {}, say("bit.secret")), " ", digit(bit)),
  );

const digit = (number) => el("strong", { class: "digit" }, String(number));

// Two buttons that look alike and are next to each other: neither is the easier one.
function pair(kind, names, give, before) {
  return el(
    "div",
    { class: "pair", role: "group", "aria-labelledby": "heading" },
    names.map((name, choice) =>
      button(say(`ask.${name}`), () => give(choice), {
        kind: "answer",
        keys: keysOf(name, numberKey(kind, String(choice + 1))),
        more: kind === "yes_no" ? say(`ask.${name}_list`) : undefined,
        before: before(choice),
      }),
    ),
  );
}

// Cards to choose one of; the first nine have a number as their key.
function cards(items, give, before) {
  return el(
    "div",
    { class: "cards", role: "group", "aria-labelledby": "heading" },
    items.map((item, k) => {
      const keys = k < 9 ? String(k + 1) : "";
      return button(item, () => give(k), { kind: "card", keys, before: before(k) });
    }),
  );
}

// The options of a group, one per line, with a comma for screen readers.
const stacked = (items) =>
  items.map((item, k) => {
    const comma = el("span", { class: "hidden" }, ", ");
    return el("span", { class: "line" }, item, k < items.length - 1 ? comma : null);
  });

// All options in the order of the survey, those asked about marked: folded, because the question is only about these.
function allOptions(variable, code) {
  const item = (option, j) =>
    el(
      "li",
      { class: holds(code, j) && "asked", dir: "auto" },
      option,
      holds(code, j) ? [" ", el("span", { class: "hidden" }, say("all.asked"))] : null,
    );
  return el(
    "details",
    { class: "all" },
    el("summary", {}, say("all.heading")),
    el("p", { class: "small" }, say("all.note")),
    el("ul", {}, variable.options.map(item)),
  );
}

// The heading is what the buttons answer.
const KINDS = {
  yes_no: ({ variable, asked }, give, before) => ({
    above: [topic(variable)],
    heading: say("ask.yes_no"),
    content: [optionList(labels(variable, asked[0])), allOptions(variable, asked[0])],
    pair: pair("yes_no", ["yes", "no"], give, before),
  }),
  groups: ({ variable, asked }, give, before) => ({
    above: [topic(variable)],
    heading: say("ask.groups"),
    content: [cards(asked.map((code) => stacked(labels(variable, code))), give, before)],
  }),
  bit: (question, give, before) => ({
    above: [topic(question.variable), twoNumbers(question), claim("promise.number")],
    heading: say("ask.bit"),
    content: null,
    pair: pair("bit", ["same", "different"], give, before),
  }),
  local: ({ variable }, give, before) => ({
    heading: variable.question,
    content: [
      paragraphs(variable.help, "help"),
      el("p", { class: "prompt" }, say("ask.local")),
      claim("promise.mark"),
      cards(variable.options, give, before),
    ],
  }),
};

/** Show the set that was drawn around a mark. */
export function showDrawn(question, kept, { go, back, above, progress }) {
  const { variable } = question;
  show({
    name: "drawn",
    heading: say("local.heading"),
    above,
    content: [
      el("p", { class: "prompt" }, say("local.sent")),
      optionList(labels(variable, kept)),
      claim("promise.mark"),
    ],
    actions: [
      button(say("ask.go"), go, { kind: "main" }),
      el(
        "div",
        { class: "minor" },
        button(say("local.change"), back, { kind: "quiet back", keys: keysOf("back") }),
        keySwitch(),
      ),
    ],
    progress,
  });
}
