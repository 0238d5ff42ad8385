// The practice round: an urn of coloured balls, asked about in the way of the survey. Nothing of it is kept.

import { Answers } from "./answers.js";
import { holds } from "./drawing.js";
import { button, claim, el, show } from "./element.js";
import { random } from "./hash.js";
import { keptWords } from "./meaning.js";
import { showDrawn, showQuestion } from "./question.js";
import { say } from "./words.js";

const COLOURS = ["red", "blue", "green", "yellow", "white", "black"];
const URNS = {
  yes_no: { n: 6, draw: { rule: "uniform", p: 6 } },
  groups: { n: 6, draw: { rule: "groups", p: 6, sizes: [2, 2, 2] } },
  bit: { n: 2, draw: { rule: "bit", p: 2, ones: 2 ** 46 } },
  local: { n: 3, draw: { rule: "companions", p: 3, size: 2 } },
};

/** Practise one question of each of the kinds in turn, until the reader goes on. */
export function practise(kinds, { go, back }) {
  const turns = [...new Set(kinds)];
  const round = (turn) => {
    const kind = turns[turn % turns.length];
    const urn = { ...URNS[kind], options: COLOURS.slice(0, URNS[kind].n).map((name) => say(`colour.${name}`)) };
    const variable = { id: "urn", kind, help: "", question: say("practice.question"), ...urn };
    const answers = new Answers("practice", [variable], { question: random(32), device: random(32) });
    const ball = random(1)[0] % urn.n; // only a story: an even draw is not needed
    askAbout(answers, ball, { again: () => round(turn + 1), go, back });
  };
  round(0);
}

function story(ball, colour) {
  return [
    el("p", { class: "badge" }, say("practice.badge")),
    el(
      "p",
      { class: "story" },
      el("span", { class: `ball ${COLOURS[ball]}`, "aria-hidden": "true" }),
      el("span", {}, say("practice.story", { colour })),
    ),
  ];
}

function askAbout(answers, ball, { again, go, back }) {
  const [question] = answers.questions;
  const colour = question.variable.options[ball];
  const told = { above: story(ball, colour), below: claim("promise.practice") };
  const repeat = () => askAbout(answers, ball, { again, go, back });
  const judge = () => showVerdict(answers, ball, { again, go, back: repeat });
  showQuestion(question, {
    ...told,
    back,
    give: (choice) => {
      answers.give(0, choice);
      if (question.variable.kind !== "local") return judge();
      return showDrawn(question, answers.left(0), { ...told, go: judge, back: repeat });
    },
  });
  const leave = button(say("practice.leave"), go, { kind: "quiet" });
  document.querySelector(".minor").insertBefore(leave, document.querySelector(".keys"));
}

/** Tell whether an answer about the ball is true. */
export function isTrue(question, choice, ball) {
  const { variable, asked, bit } = question;
  if (variable.kind === "bit") return (bit === ball) === (choice === 0);
  return variable.kind === "local" ? choice === ball : holds(asked[choice], ball);
}

function showVerdict(answers, ball, { again, go, back }) {
  const [question] = answers.questions;
  const right = isTrue(question, answers.given[0].choice, ball);
  const colour = question.variable.options[ball];
  show({
    name: "practised",
    heading: say(right ? "practice.right" : "practice.wrong"),
    above: [el("p", { class: "badge" }, say("practice.badge"))],
    content: [
      el("p", { class: "lead" }, right ? keptWords(answers, 0) : say("practice.look", { colour })),
      right ? el("p", {}, say("practice.learned")) : null,
      claim("promise.practice"),
    ],
    actions: [
      button(say("practice.go"), go, { kind: "main" }),
      el(
        "div",
        { class: "minor" },
        button(say(right ? "practice.again" : "practice.retry"), right ? again : back, { kind: "quiet" }),
      ),
    ],
  });
}
