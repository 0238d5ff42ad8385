// The questions of one visit, what was answered so far, and the content that will leave this device.

import { Stream, drawAround, drawBit, drawQuestion, members } from "./drawing.js";

// This file keeps the promise that two answers stay possible, whatever rules the server sends.
function refuseUnless(safe, question) {
  if (!safe || question.variable.draw.p !== question.variable.options.length) throw new Error("unsafe");
  return question;
}

// A secret number that is nearly always the same is not secret. survey/rules.py refuses odds above 20; this leaves room for
// the rounding of a chance to 48 bits.
const MOST_ODDS = 20.001;

function hides(ones) {
  const zeros = 2 ** 48 - ones;
  return ones > 0 && zeros > 0 && Math.max(ones / zeros, zeros / ones) <= MOST_ODDS;
}

// Tell whether sets are disjoint, together contain everything, and each has at least two members.
function isPartition(codes, p) {
  const sizes = codes.map((code) => members(code, p).length);
  const sum = (numbers) => numbers.reduce((total, number) => total + number, 0);
  return sum(codes) === 2 ** p - 1 && sum(sizes) === p && sizes.every((size) => size >= 2);
}

// The longest answer to a variable. Anyone who watches the network sees the length of a message, so spaces make all
// messages equally long.
function longest({ kind, draw }) {
  const full = 2 ** draw.p - 1;
  if (kind === "bit") return { answer: null };
  if (kind === "local") return { kept: Math.max(full, 1000) }; // four digits are as long as `null`
  const questions = draw.questions ?? [draw.sizes ?? [0, 0]];
  return { asked: Array(Math.max(...questions.map(({ length }) => length))).fill(full), answer: null };
}

/**
 * The questions and answers of a survey.
 *
 * Lists and groups are drawn from `seeds.question` (of the coin flip, where there is one); secret numbers and sets
 * around a mark from `seeds.device`, which the server does not see.
 */
export class Answers {
  constructor(study, variables, seeds) {
    this.study = study;
    this.seeds = seeds;
    this.questions = variables.map((variable) => this.drawn(variable));
    this.given = variables.map(() => undefined);
  }

  drawn(variable) {
    const { id, kind, draw } = variable;
    if (kind === "bit") {
      const bit = drawBit(draw, this.stream("device", id));
      return refuseUnless(hides(draw.ones), { variable, bit });
    }
    if (kind === "local") {
      const size = draw.size ?? Math.min(...draw.subsets.map((code) => members(code, draw.p).length));
      return refuseUnless(size >= 2, { variable });
    }
    const asked = drawQuestion(draw, this.stream("question", id));
    return refuseUnless(isPartition(asked, draw.p), { variable, asked });
  }

  stream(seed, id) {
    return new Stream(this.seeds[seed], this.study, id);
  }

  get length() {
    return this.questions.length;
  }

  /** Give an answer: the position of a button, for a local question of the marked option; null for a skip. */
  give(k, choice) {
    const { variable } = this.questions[k];
    const given = { choice };
    if (variable.kind === "local") {
      given.kept = choice === null ? null : drawAround(variable.draw, choice, this.stream("device", variable.id));
    }
    this.given[k] = given;
  }

  /** Return the set that an answer leaves, or null: of a skip, and of a bit, which leaves both options. */
  left(k) {
    const { variable, asked } = this.questions[k];
    const { choice, kept } = this.given[k];
    if (choice === null || variable.kind === "bit") return null;
    return variable.kind === "local" ? kept : asked[choice];
  }

  sent(k) {
    const { variable, asked } = this.questions[k];
    const { choice, kept } = this.given[k];
    if (variable.kind === "local") return { kept };
    return variable.kind === "bit" ? { answer: choice } : { asked, answer: choice };
  }

  /** Return the literal content: the answers after what the envelope says, then spaces. */
  body(envelope) {
    const content = (entryOf) => {
      const answers = this.questions.map(({ variable }, k) => [variable.id, entryOf(variable, k)]);
      return JSON.stringify({ ...envelope, answers: Object.fromEntries(answers) });
    };
    return content((_, k) => this.sent(k)).padEnd(content(longest).length);
  }
}
