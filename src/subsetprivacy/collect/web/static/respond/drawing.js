// The draw of a question: the same as in survey/drawing.py, checked against shared examples.
// Codes go up to 2^48: they are taken apart by division, since JavaScript's bit operations stop at 32 bits.

import { hmac, join, utf8 } from "./hash.js";

const WORDS = 2 ** 48;

/** Random words that a seed and a label determine. */
export class Stream {
  constructor(seed, study, variable) {
    this.seed = seed;
    this.label = utf8(`subsetprivacy draw v1\0${study}\0${variable}\0`);
    this.blocks = 0;
    this.words = [];
  }

  /** Return the next number below 2^48. */
  word() {
    if (!this.words.length) {
      const number = new DataView(new ArrayBuffer(4));
      number.setUint32(0, this.blocks++);
      const block = hmac(this.seed, join(this.label, new Uint8Array(number.buffer)));
      for (let at = 24; at >= 0; at -= 6) {
        this.words.push(block.subarray(at, at + 6).reduce((word, byte) => word * 256 + byte, 0));
      }
    }
    return this.words.pop();
  }

  /** Return a uniform draw from 0 … bound - 1. Words above the last whole multiple are discarded. */
  below(bound) {
    if (!Number.isInteger(bound) || bound < 1 || bound > WORDS) throw new Error("unsafe"); // no word is large enough
    const limit = WORDS - (WORDS % bound);
    let word = this.word();
    while (word >= limit) word = this.word();
    return word % bound;
  }

  /** Return the items in a uniformly random order. */
  shuffle(items) {
    const order = [...items];
    for (let i = order.length - 1; i > 0; i--) {
      const j = this.below(i + 1);
      [order[i], order[j]] = [order[j], order[i]];
    }
    return order;
  }

  /** Return a position with probability proportional to its whole-number weight. */
  weighted(weights) {
    let left = this.below(weights.reduce((sum, weight) => sum + weight, 0));
    return weights.findIndex((weight) => (left -= weight) < 0);
  }
}

/** Tell whether a set contains a position. */
export const holds = (code, position) => Math.floor(code / 2 ** position) % 2 === 1;

/** Return the positions in a set, of p. */
export const members = (code, p) => Array.from({ length: p }, (_, j) => j).filter((j) => holds(code, j));

const codeOf = (positions) => positions.reduce((code, j) => code + 2 ** j, 0);

/** Draw a question: the codes of its answers in the order they are shown. */
export function drawQuestion(rule, stream) {
  const full = 2 ** rule.p - 1;
  if (rule.rule === "uniform") {
    for (;;) {
      const asked = stream.below(full + 1);
      const size = members(asked, rule.p).length;
      if (size >= 2 && size <= rule.p - 2) return [asked, full - asked];
    }
  }
  if (rule.rule === "listed") return stream.shuffle(rule.questions[stream.weighted(rule.weights)]);
  let at = 0;
  const order = stream.shuffle(members(full, rule.p));
  return stream.shuffle(rule.sizes.map((size) => codeOf(order.slice(at, (at += size)))));
}

/** Draw the secret number of Warner's question. */
export const drawBit = (rule, stream) => (stream.word() < rule.ones ? 1 : 0);

/** Draw the set around a marked answer. */
export function drawAround(rule, value, stream) {
  if (rule.rule === "companions") {
    const others = members(2 ** rule.p - 1, rule.p).filter((j) => j !== value);
    for (let i = 0; i < rule.size - 1; i++) {
      const j = i + stream.below(others.length - i);
      [others[i], others[j]] = [others[j], others[i]];
    }
    return codeOf([value, ...others.slice(0, rule.size - 1)]);
  }
  const holding = rule.subsets.map((_, k) => k).filter((k) => holds(rule.subsets[k], value));
  return rule.subsets[holding[stream.weighted(holding.map((k) => rule.weights[k]))]];
}
