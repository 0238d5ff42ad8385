// The screen of one question, of each kind.

import { holds } from "./drawing.js";
import { button, claim, el, paragraphs, show } from "./element.js";
import { keySwitch, keysOf } from "./keys.js";
import { labels } from "./meaning.js";
import { say } from "./words.js";

/**
 * Show a question.
 *
 * `give(choice)` takes an answer, `skip()` and `back()` do what they say where they are given; `given` is what was
 * chosen before, `above` and `below` stand around the question, `progress` is [k, n].
 */
export function showQuestion(question, { give, skip, back, given, above, below, progress }) {
  const { variable } = question;
  const kind = KINDS[variable.kind](question, give, (choice) => given?.choice === choice);
  show({
    name: "question",
    heading: variable.question,
    above,
    content: [...paragraphs(variable.help, "help"), ...kind.content, below],
    actions: [kind.pair, minor(back, skip, given)],
    progress,
  });
}

function minor(back, skip, given) {
  return el(
    "div",
    { class: "minor" },
    back ? button(say("ask.back"), back, { kind: "quiet back", keys: keysOf("back") }) : null,
    skip
      ? button(say("ask.skip"), skip, { kind: "quiet", keys: keysOf("skip", "0"), before: given?.choice === null })
      : null,
    keySwitch(),
  );
}

const prompt = (words) => el("p", { class: "prompt", id: "prompt" }, words);

/** Make a list of options to read. */
export const optionList = (items) =>
  el("ul", { class: "options" }, items.map((item) => el("li", { dir: "auto" }, item)));

// Yes and no look alike and stand side by side: neither is the easier one.
function pair(give, before) {
  const answer = (deed, choice) =>
    button(say(`ask.${deed}`), () => give(choice), {
      kind: "answer",
      keys: keysOf(deed, String(choice + 1)),
      before: before(choice),
    });
  return el(
    "div",
    { class: "pair", role: "group", "aria-labelledby": "prompt" },
    answer("yes", 0),
    answer("no", 1),
  );
}

// Cards to choose one of; the first nine have a number as their key.
function cards(items, give, before) {
  return el(
    "div",
    { class: "cards", role: "group", "aria-labelledby": "prompt" },
    items.map((item, k) => {
      const keys = k < 9 ? String(k + 1) : "";
      return button(item, () => give(k), { kind: "card", keys, before: before(k) });
    }),
  );
}

// The options of a group one under the other; a comma for those who hear it read.
const stacked = (items) =>
  items.map((item, k) => {
    const comma = el("span", { class: "hidden" }, ", ");
    return el("span", { class: "line" }, item, k < items.length - 1 ? comma : null);
  });

// All options in the order of the survey, those asked about marked: folded up, since the question is about these alone.
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

const KINDS = {
  yes_no: ({ variable, asked }, give, before) => ({
    content: [prompt(say("ask.yes_no")), optionList(labels(variable, asked[0])), allOptions(variable, asked[0])],
    pair: pair(give, before),
  }),
  groups: ({ variable, asked }, give, before) => ({
    content: [prompt(say("ask.groups")), cards(asked.map((code) => stacked(labels(variable, code))), give, before)],
  }),
  bit: ({ variable, bit }, give, before) => ({
    content: [
      el(
        "div",
        { class: "numbers" },
        el("p", { class: "number" }, el("span", {}, say("bit.secret")), " ", el("strong", {}, String(bit))),
        el(
          "div",
          { class: "number" },
          el("p", {}, say("bit.answer")),
          el("ul", {}, variable.options.map((option, k) => el("li", {}, el("strong", {}, String(k)), " ", option))),
        ),
      ),
      prompt(say("ask.bit")),
      claim("promise.number"),
    ],
    pair: pair(give, before),
  }),
  local: ({ variable }, give, before) => ({
    content: [prompt(say("ask.local")), claim("promise.mark"), cards(variable.options, give, before)],
  }),
};

/** Show the set that was drawn around a mark. */
export function showDrawn(question, kept, { go, back, above, below, progress }) {
  const { variable } = question;
  show({
    name: "drawn",
    heading: say("local.heading"),
    above,
    content: [
      el("p", { class: "prompt" }, say("local.sent")),
      optionList(labels(variable, kept)),
      claim("promise.mark"),
      below,
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
