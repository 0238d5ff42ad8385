// The other screens: the beginning, the check before sending, the end, and what can go wrong.

import { button, claim, el, paragraphs, show } from "./element.js";
import { keysOf } from "./keys.js";
import { keptWords, meaningWords } from "./meaning.js";
import { both, has, say } from "./words.js";

const ofLists = ({ kind }) => kind === "yes_no" || kind === "groups";

function linked(manifest) {
  const label = Object.fromEntries(manifest.variables.map(({ id, label }) => [id, label]));
  return manifest.groups.filter((group) => group.length > 1).map((group) => both(group.map((id) => label[id])));
}

function promises(manifest, lasting) {
  const groups = linked(manifest);
  const code = manifest.mode === "code";
  const anywhere = code && manifest.variables.every(ofLists); // other draws are known to one device only
  const same = anywhere ? "promise.same_code" : lasting && "promise.same_open";
  return [
    claim("promise.value", {}, "li"),
    claim(code && manifest.variables.some(ofLists) ? "promise.chance_code" : "promise.chance_open", {}, "li"),
    claim("promise.shown", {}, "li"),
    claim("promise.counts", {}, "li"),
    manifest.variables.length > 1 && !groups.length ? claim("promise.apart", {}, "li") : null,
    groups.length ? claim("promise.linked", { list: groups.join("; ") }, "li") : null,
    claim("promise.batches", { batch: manifest.batch }, "li"),
    claim(code ? "promise.once_code" : "promise.once_open", {}, "li"),
    same ? claim(same, {}, "li") : null,
  ];
}

function limits(manifest) {
  const keys = [
    "limit.operator",
    "limit.page",
    manifest.mode === "code" ? "limit.code" : "limit.open",
    "limit.batch",
    "limit.waiting",
    manifest.variables.length > 1 && "limit.together",
    linked(manifest).length && "limit.linked",
    "limit.little",
    "limit.skip",
  ];
  return keys.filter(Boolean).map((key) => claim(key, {}, "li"));
}

// How the questions work. If there are several kinds, each gets a line.
function steps(manifest) {
  const kinds = [...new Set(manifest.variables.map(({ kind }) => kind))];
  const each = kinds.map((kind) => el("li", {}, say(`how.${kind}`)));
  return [
    kinds.some((kind) => kind !== "local") ? el("li", {}, say("how.think")) : null,
    kinds.length > 1 ? el("li", {}, say("how.kinds"), el("ul", { class: "steps" }, each)) : each,
    el("li", {}, say("how.end")),
  ];
}

/** Show what the survey is about, how it works, what is promised and what cannot be. */
export function showIntro(manifest, { start, lasting }) {
  show({
    name: "intro",
    heading: manifest.title,
    content: [
      paragraphs(manifest.introduction, "lead"),
      lasting ? null : claim("limit.unstored"),
      isSecureContext ? null : claim("limit.plain"),
      el("h2", {}, say("intro.how")),
      el("ul", { class: "steps" }, steps(manifest)),
      el("h2", {}, say("intro.promises")),
      el("ul", { class: "claims" }, promises(manifest, lasting)),
      el(
        "details",
        {},
        el("summary", {}, claim("limit.summary", {}, "span")),
        el("ul", { class: "claims" }, limits(manifest)),
      ),
      manifest.contact ? [el("h2", {}, say("intro.contact")), paragraphs(manifest.contact)] : null,
    ],
    actions: [button(say("intro.start"), start, { kind: "main" })],
  });
}

/** Show what is kept from each answer, what that means, and the literal content. */
export function showReview(manifest, answers, body, { send, back, change }) {
  const guessed = manifest.variables.some(({ guess }, k) => guess && answers.given[k].choice !== null);
  const skipped = answers.given.some(({ choice }) => choice === null);
  show({
    name: "review",
    heading: say("review.heading"),
    content: [
      el("ol", { class: "kept" }, manifest.variables.map((variable, k) => keptItem(variable, answers, k, change))),
      guessed ? el("p", { class: "small" }, say("review.guess")) : null,
      skipped ? claim("limit.skip") : null,
      el("h2", {}, say("review.content")),
      claim("promise.literal"),
      el("pre", { dir: "ltr", translate: "no" }, body),
      claim("promise.length"),
      el("details", {}, el("summary", {}, say("review.parts")), parts(manifest)),
      claim("limit.envelope"),
    ],
    actions: [
      button(say("review.send"), send, { kind: "main" }),
      el("div", { class: "minor" }, button(say("ask.back"), back, { kind: "quiet back", keys: keysOf("back") })),
    ],
  });
}

function keptItem(variable, answers, k, change) {
  const again = button(say("review.change"), () => change(k), { kind: "quiet change" });
  again.setAttribute("aria-label", say("review.change_of", { label: variable.label }));
  return el(
    "li",
    {},
    el("p", { class: "small", dir: "auto" }, variable.label),
    el("p", { class: "set" }, keptWords(answers, k)),
    meaningWords(answers, k).map((words) => el("p", { class: "small" }, words)),
    again,
  );
}

// What the names that occur in the content mean.
function parts(manifest) {
  const kinds = [...new Set(manifest.variables.map(({ kind }) => kind))];
  const pressed = kinds.filter((kind) => kind !== "local");
  const names = {
    fingerprint: ["fingerprint"],
    ticket: ["ticket"],
    opening: manifest.mode === "code" ? ["opening"] : [],
    answers: ["answers"],
    asked: manifest.variables.some(ofLists) ? ["asked"] : [],
    answer: pressed.map((kind) => `answer_${kind}`),
    kept: kinds.includes("local") ? ["kept"] : [],
  };
  const item = ([name, keys]) => [
    keys.length ? el("dt", {}, el("code", {}, name)) : null,
    keys.map((key) => el("dd", {}, say(`part.${key}`))),
  ];
  return el("dl", {}, Object.entries(names).map(item));
}

/** Show that the draw is being made. */
export function showStarting() {
  show({ name: "starting", heading: say("starting.heading") });
}

/** Show that the content is on its way. */
export function showSending() {
  show({ name: "sending", heading: say("sending.heading") });
}

/** Show that the content has not arrived yet. */
export function showUnsent(lasting, retry) {
  show({
    name: "unsent",
    heading: say("unsent.heading"),
    content: [el("p", { class: "lead" }, say("unsent.text")), claim(lasting ? "promise.unsent" : "limit.unsent")],
    actions: [button(say("unsent.retry"), retry, { kind: "main" })],
  });
}

/** Show the end; `outcome` is "counted", "already_counted" or "preview". */
export function showDone(manifest, { outcome, fairness, lasting, forget }) {
  const thanks = paragraphs(manifest.thanks.trim() || say("done.thanks"), "lead");
  const stored = outcome !== "preview" && lasting;
  show({
    name: "done",
    heading: say("done.heading"),
    content: [
      thanks,
      el("p", {}, say(`done.${outcome}`)),
      outcome === "preview" ? null : claim("promise.cleared"),
      outcome === "preview" ? null : again(manifest, lasting),
      fairness,
      stored ? claim("limit.device") : null,
    ],
    actions: stored ? [forgetButton(forget)] : [],
  });
}

function again(manifest, lasting) {
  if (manifest.mode === "code") return claim("promise.again");
  return lasting ? claim("promise.again_open") : null;
}

/** Make the words about the check of the draw: "fair", "unfair", or "later" while the key is secret. */
export function fairnessWords(result) {
  if (result === "unfair") return el("p", { class: "warning", role: "alert" }, say("problem.unfair"));
  return result ? claim(result === "fair" ? "promise.fair" : "promise.check") : null;
}

const forgetButton = (forget) => button(say("done.forget"), forget, { kind: "second" });

/** Show that nothing is left on this device. */
export function showForgotten() {
  const content = [claim("promise.forgotten"), claim("limit.history")];
  show({ name: "forgotten", heading: say("forgotten.heading"), content });
}

/** Show that someone opened this link before. */
export function showElsewhere(go) {
  show({
    name: "elsewhere",
    heading: say("elsewhere.heading"),
    content: [claim("limit.reopened")],
    actions: [button(say("ask.go"), go, { kind: "main" })],
  });
}

/** Show a problem by its name, with what to do. */
export function showProblem(name, { more, forget } = {}) {
  const known = has(`problem.${name}.title`) ? name : "broken";
  const again = ["unreachable", "stale", "broken"].includes(known);
  const reload = button(say("problem.reload"), () => location.reload(), { kind: "main" });
  show({
    name: "problem",
    heading: say(`problem.${known}.title`),
    content: [el("p", { class: "lead" }, say(`problem.${known}.text`)), more],
    actions: again ? [reload] : forget ? [forgetButton(forget)] : [],
  });
}
