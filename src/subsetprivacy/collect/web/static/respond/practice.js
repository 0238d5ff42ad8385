// The practice: a jar of colored balls, asked about in each way that the survey asks. Nothing from it is kept.

import { Answers } from "./answers.js";
import { holds } from "./drawing.js";
import { button, claim, el, show } from "./element.js";
import { random } from "./hash.js";
import { keptWords, labels } from "./meaning.js";
import { optionList, showDrawn, showQuestion, twoNumbers } from "./question.js";
import { say } from "./words.js";

const COLORS = ["red", "blue", "green", "yellow", "white", "black"];
const JARS = {
  yes_no: { n: 6, draw: { rule: "uniform", p: 6 } },
  groups: { n: 6, draw: { rule: "groups", p: 6, sizes: [2, 2, 2] } },
  bit: { n: 2, draw: { rule: "bit", p: 2, ones: 2 ** 47 } },
  local: { n: 3, draw: { rule: "companions", p: 3, size: 2 } },
};

/**
 * Practice one question of each of the kinds.
 *
 * A wrong answer is explained, and what comes next is another question of the same kind. Everyone may continue:
 * a person who gives up here would be missing from the survey, and who gives up is not a matter of chance.
 *
 * `go` leads to the survey, `back` before the practice; `moved` receives what "back" does on the screen in view.
 */
export function practice(kinds, { go, back, moved }) {
  const turns = [...new Set(kinds)];
  const round = (turn) => {
    const kind = turns[turn];
    const jar = { ...JARS[kind], options: COLORS.slice(0, JARS[kind].n).map((name) => say(`color.${name}`)) };
    const variable = { id: "jar", kind, help: "", question: say("practice.question"), ...jar };
    const answers = new Answers("practice", [variable], { question: random(32), device: random(32) });
    const ball = random(1)[0] % jar.n; // only a story: an even draw is not needed
    askAbout(answers, ball, {
      badge: turns.length > 1 ? say("practice.badge_of", { k: turn + 1, n: turns.length }) : say("practice.badge"),
      again: () => round(turn),
      next: turn + 1 < turns.length ? () => round(turn + 1) : go,
      last: turn + 1 === turns.length,
      back: turn ? () => round(turn - 1) : back,
      go,
      moved,
    });
  };
  round(0);
}

const practiceLine = (badge, begins = false) =>
  el(
    "div",
    { class: "practice" },
    el("p", { class: `badge ${begins ? "start" : ""}`, tabindex: begins && "-1" }, badge),
    claim("promise.practice"),
  );

const story = (ball, color) =>
  el(
    "p",
    { class: "story" },
    el("span", { class: `ball ${COLORS[ball]}`, "aria-hidden": "true" }),
    el("span", {}, say("practice.story", { color })),
  );

function askAbout(answers, ball, steps) {
  const { badge, go, back, moved } = steps;
  const [question] = answers.questions;
  const storyLine = () => story(ball, question.variable.options[ball]);
  const repeat = () => askAbout(answers, ball, steps);
  const judge = () => {
    moved(repeat);
    showVerdict(answers, ball, steps);
  };
  moved(back);
  showQuestion(question, {
    above: [practiceLine(badge, true), storyLine()],
    back,
    give: (choice) => {
      answers.give(0, choice);
      if (question.variable.kind !== "local") return judge();
      moved(repeat);
      return showDrawn(question, answers.left(0), { above: [practiceLine(badge), storyLine()], go: judge, back: repeat });
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

// What would have been right, and why.
function reason({ variable, asked, bit }, ball) {
  const color = variable.options[ball];
  if (variable.kind === "bit") {
    return say(bit === ball ? "practice.same" : "practice.different", { color, number: ball, secret: bit });
  }
  if (variable.kind === "yes_no") return say(holds(asked[0], ball) ? "practice.yes" : "practice.no", { color });
  return say(variable.kind === "groups" ? "practice.group" : "practice.mark", { color });
}

// What was asked, once more.
function shownAgain(question, ball) {
  const { variable, asked } = question;
  if (variable.kind === "bit") return twoNumbers(question, ball);
  return variable.kind === "yes_no" ? optionList(labels(variable, asked[0])) : null;
}

function showVerdict(answers, ball, { badge, again, next, last }) {
  const [question] = answers.questions;
  const right = isTrue(question, answers.given[0].choice, ball);
  const further = say(last ? "practice.go" : "practice.next");
  const main = right ? [further, next] : [say("practice.retry"), again];
  const other = right ? [say("practice.again"), again] : [say("practice.anyway"), next];
  show({
    name: "practised",
    kind: right ? "right" : "wrong",
    heading: say(right ? "practice.right" : "practice.wrong"),
    above: practiceLine(badge),
    content: right
      ? [el("p", { class: "lead" }, keptWords(answers, 0)), el("p", {}, say("practice.learned"))]
      : [el("p", { class: "lead" }, reason(question, ball)), shownAgain(question, ball)],
    actions: [
      button(...main, { kind: "main", keys: "enter" }),
      el("div", { class: "minor" }, button(...other, { kind: "quiet" })),
    ],
  });
}
