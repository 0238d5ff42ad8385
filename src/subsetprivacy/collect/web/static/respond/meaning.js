// What is kept from an answer, and what that means, in words.

import { members } from "./drawing.js";
import { say } from "./words.js";

/** Return the words for what is kept from answer k. */
export function keptWords(answers, k) {
  const { variable } = answers.questions[k];
  const { choice } = answers.given[k];
  if (choice === null) return say("kept.none");
  if (variable.kind === "bit") return say(choice === 0 ? "kept.same" : "kept.differ");
  return say("kept.set", { list: labels(variable, answers.left(k)).join(" · ") });
}

/** Return the labels of a set. */
export const labels = (variable, code) => members(code, variable.options.length).map((j) => variable.options[j]);

/** Return what an answer means, in sentences: how many people would send the same, or what is left. */
export function meaningWords(answers, k) {
  const { variable } = answers.questions[k];
  const p = variable.options.length;
  const { choice } = answers.given[k];
  if (choice === null) return [say("meaning.all")];
  const sentences = variable.guess ? [shareWords(variable.kind === "local" ? "could" : "same", shareOf(answers, k))] : [];
  if (variable.kind === "bit") sentences.push(likelierWords(variable, choice));
  return sentences.length ? sentences : [say("meaning.left", { k: members(answers.left(k), p).length, p })];
}

// A secret number is no fair coin: at most so many times, rounded up.
function likelierWords({ options, draw }, choice) {
  const odds = (2 ** 48 - draw.ones) / draw.ones;
  const k = Math.ceil(Math.max(odds, 1 / odds) - 0.01);
  return say("meaning.both", { option: options[odds > 1 ? choice : 1 - choice], k });
}

/**
 * Return the share of people, by the stated guess, who would send the same answer to the same question.
 *
 * With a list or groups: whose value lies in the set that is left. With a secret number: whose number of an answer
 * meets theirs. With a set around a mark: who could send it.
 */
export function shareOf(answers, k) {
  const { variable } = answers.questions[k];
  const { choice } = answers.given[k];
  const total = variable.guess.reduce((sum, share) => sum + share, 0);
  const guess = variable.guess.map((share) => share / total);
  if (variable.kind === "bit") {
    const ones = variable.draw.ones / 2 ** 48;
    const same = guess[0] * (1 - ones) + guess[1] * ones;
    return choice === 0 ? same : 1 - same;
  }
  return members(answers.left(k), guess.length).reduce((sum, j) => sum + guess[j], 0);
}

/** Return a share in words: in tenths, or one in twenty, fifty, a hundred. */
export function shareWords(kind, share) {
  if (share > 0.95) return say(`meaning.${kind}.most`);
  if (share >= 0.075) return say(`meaning.${kind}`, { k: Math.max(1, Math.round(10 * share)), n: 10 });
  if (share < 0.0075) return say(`meaning.${kind}.rare`);
  return say(`meaning.${kind}`, { k: 1, n: share >= 0.035 ? 20 : share >= 0.015 ? 50 : 100 });
}
