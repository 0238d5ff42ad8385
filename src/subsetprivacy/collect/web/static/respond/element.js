// Small pieces of the page. Text goes in as text: no part of a survey is ever read as markup.

import { say } from "./words.js";

/** Make an element; attributes that are false or missing are left out, `press` is what a click does. */
export function el(name, attributes = {}, ...children) {
  const { press, ...rest } = attributes;
  const node = document.createElement(name);
  for (const [key, value] of Object.entries(rest)) {
    if (value !== false && value !== undefined) node.setAttribute(key, value === true ? "" : value);
  }
  // The second click of a double click would answer the next question, which no one has read.
  if (press) node.addEventListener("click", (event) => event.detail > 1 || press());
  node.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined));
  return node;
}

/** Make a paragraph for each part of a text between empty lines. */
export function paragraphs(text, className) {
  const parts = text.split(/\n\s*\n/).filter((part) => part.trim());
  return parts.map((part) => el("p", { class: className, dir: "auto" }, part.trim()));
}

/** Make a sentence that promises or admits something: its key leads to the tests behind it. */
export const claim = (key, gaps, name = "p") =>
  el(name, { "data-claim": key, class: `claim ${key.split(".")[0]}` }, say(key, gaps));

/** Make a button; `more` is a second line of its name, `keys` presses it too, and the first of them is shown. */
export function button(label, press, { keys = "", kind, more, before = false } = {}) {
  const [first] = keys.split(" ");
  const shortcut = first === "enter" ? "Enter" : first.toUpperCase();
  const hint = first === "enter" ? "↵" : shortcut;
  return el(
    "button",
    { type: "button", class: kind, press, "aria-keyshortcuts": shortcut || false, "data-keys": keys || false },
    el("span", { class: "label" }, label),
    more ? [" ", el("span", { class: "more" }, more)] : null,
    before ? el("span", { class: "before" }, say("ask.before")) : null,
    hint ? el("kbd", { "aria-hidden": "true" }, hint) : null,
  );
}

/**
 * Show a screen and move the reader to its beginning: what is marked with `start`, or else its heading.
 *
 * A screen is { name, kind, heading, above, content, actions, progress: [k, n] }: `above` comes before the heading,
 * `actions` stay in view at the bottom, and so does the heading if there is no `content` between them (null).
 */
export function show({ name, kind = "", heading, above = [], content = [], actions = [], progress = null }) {
  const main = document.querySelector("main");
  const title = el("h1", { id: "heading", tabindex: "-1", dir: "auto" }, heading);
  main.dataset.screen = name;
  main.dataset.kind = kind;
  main.replaceChildren(
    el("div", { class: "content" }, above, content && [title, content]),
    actions.length ? el("div", { class: "actions" }, content ? null : title, actions) : "",
  );
  document.body.dataset.screen = name;
  showProgress(progress);
  scrollTo(0, 0);
  // In a preview next to an editor, the focus stays in the editor.
  if (window === top || document.hasFocus()) (main.querySelector(".start") ?? title).focus({ preventScroll: true });
}

function showProgress(progress) {
  const bar = document.querySelector("header progress");
  bar.hidden = !progress;
  const words = progress ? say("ask.progress", { k: progress[0], n: progress[1] }) : "";
  document.querySelector("#progress").textContent = words;
  if (!progress) return;
  bar.setAttribute("aria-label", words);
  [bar.value, bar.max] = progress;
}
