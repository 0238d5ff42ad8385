// The questions of the form editor.

import { choice, el, field, signButton, textArea, textInput } from "./dom.js";
import { followAnswer, neverAloneFields } from "./never_alone.js";

const DESIGNS = [
  ["recommended", "Recommended"],
  ["uniform", "Uniform: asks about any list of answers"],
  ["hadamard", "Hadamard: a few different lists, small fingerprint"],
  ["partition", "Groups: which of several groups is it in?"],
  ["fixed_size", "On the device: hides the answer among others and sends all of them"],
  ["warner", "Secret number, for two answers"],
];
const TABLES = { partition: { groups: 3 }, fixed_size: { size: 2 }, warner: { q: 0.25 } };
const NUMBERS = {
  groups: ["How many groups", { min: 2, max: 24, step: 1 }],
  size: ["How many answers are sent together", { min: 2, max: 47, step: 1 }],
  q: ["Chance that the secret number is 1", { min: 0.01, max: 0.99, step: 0.01 }],
};

/** Return a name for files and columns made from words. */
export function nameFrom(words, taken) {
  const plain = words.normalize("NFKD").toLowerCase().replace(/[^a-z0-9]+/g, "_").replace(/^[^a-z]+|_+$/g, "");
  const base = plain.slice(0, 28).replace(/_+$/, "") || "question";
  let name = base;
  for (let k = 2; taken.has(name); k += 1) name = `${base}_${k}`;
  return name;
}

/** Return a new question for a document. */
export function newVariable(document_) {
  const taken = new Set(document_.variables.map(({ id }) => id));
  const name = nameFrom(`question ${document_.variables.length + 1}`, taken);
  return { id: name, label: "", question: "", help: "", options: ["", "", "", ""], design: "recommended" };
}

/** Make the card of a question; `editor` redraws, and knows the document. */
export function variableCard(editor, k) {
  const variable = editor.document.variables[k];
  const title = variable.label || variable.question || `Question ${k + 1}`;
  const heading = el("h2", {}, `${k + 1}. ${title}`);
  const rename = () => (heading.textContent = `${k + 1}. ${variable.label || variable.question || `Question ${k + 1}`}`);
  return el(
    "section",
    { class: "card variable", "aria-label": `Question ${k + 1}` },
    el("div", { class: "card-head" }, heading, movers(editor, ["variables"], k, `question ${k + 1}`)),
    field(
      "Question",
      textArea(["variables", k, "question"], variable.question, (text) => editor.change(() => ((variable.question = text), rename())), 2),
    ),
    optionList(editor, k),
    el(
      "div",
      { class: "pair" },
      field(
        "Label",
        textInput(["variables", k, "label"], variable.label, (text) => editor.change(() => relabel(editor, k, text, rename))),
        "The name of the question in tables and figures.",
      ),
      field(
        "Name",
        textInput(["variables", k, "id"], variable.id, (text) => editor.change(() => renameId(editor, k, text)), { class: "mono", spellcheck: "false" }),
        "The name in files and columns. Keep it if you ask the question again.",
      ),
    ),
    designFields(editor, k),
    el(
      "details",
      { class: "more", open: Boolean(variable.help || variable.guess || variable.never_alone) },
      el("summary", {}, "Help text, guessed shares, forbidden sets"),
      field("Help text under the question", textInput(["variables", k, "help"], variable.help, (text) => editor.change(() => (variable.help = text)))),
      guessFields(editor, k),
      neverAloneFields(editor, k),
    ),
  );
}

function relabel(editor, k, text, rename) {
  const variable = editor.document.variables[k];
  const others = new Set(editor.document.variables.filter((other) => other !== variable).map(({ id }) => id));
  const followed = variable.id === nameFrom(variable.label || `question ${k + 1}`, others);
  variable.label = text;
  rename();
  if (followed && text) {
    renameId(editor, k, nameFrom(text, others));
    document.querySelector(`[data-path='${JSON.stringify(["variables", k, "id"])}']`).value = variable.id;
  }
}

// Links refer to variables by their id, so they change with it.
function renameId(editor, k, name) {
  const variable = editor.document.variables[k];
  for (const link of editor.document.links) link.variables = link.variables.map((id) => (id === variable.id ? name : id));
  variable.id = name;
}

/** Make the buttons that move and remove an entry of a list. */
export function movers(editor, path, k, what) {
  const list = path.reduce((part, key) => part[key], editor.document);
  const move = (by) => () =>
    editor.redraw(() => {
      list.splice(k + by, 0, ...list.splice(k, 1));
      return [...path, k + by];
    });
  return el(
    "div",
    { class: "movers" },
    signButton("↑", `Move ${what} up`, move(-1), { disabled: k === 0 }),
    signButton("↓", `Move ${what} down`, move(1), { disabled: k === list.length - 1 }),
    signButton("×", `Remove ${what}`, () => editor.remove(path, k)),
  );
}

function optionList(editor, k) {
  const variable = editor.document.variables[k];
  const rows = variable.options.map((option, j) => {
    const place = ["variables", k, "options", j];
    let known = option; // its name in the sets of answers; not changed while another answer has the typed name
    const rename = (text) => {
      variable.options[j] = text;
      if (text === "" || variable.options.filter((other) => other === text).length > 1) return;
      followAnswer(editor, k, j, known, text);
      known = text;
    };
    const input = textInput(place, option, (text) => editor.change(() => rename(text)), {
      "aria-label": `Answer ${j + 1} of question ${k + 1}`,
      paste: (event) => pasteLines(editor, k, j, event),
      keydown: (event) => event.key === "Enter" && !event.isComposing && (event.preventDefault(), nextOption(editor, k, j + 1)),
    });
    return el("li", {}, input, movers(editor, ["variables", k, "options"], j, `answer ${j + 1}`));
  });
  return el(
    "fieldset",
    { class: "options" },
    el("legend", {}, "Possible answers"),
    el("ol", { "data-path": JSON.stringify(["variables", k, "options"]), tabindex: "-1" }, rows),
    el("button", { type: "button", class: "small", click: () => addOption(editor, k, variable.options.length) }, "Add an answer"),
    el("p", { class: "hint" }, "Four or more answers protect best. Press Enter to add an answer. If you paste a list, each line becomes an answer."),
  );
}

// Continue with the next answer: a new one, unless the next one is empty.
function nextOption(editor, k, at) {
  if (editor.document.variables[k].options[at] !== "") return addOption(editor, k, at);
  document.querySelector(`[data-path='${JSON.stringify(["variables", k, "options", at])}']`).focus();
}

function addOption(editor, k, at) {
  editor.redraw(() => {
    const variable = editor.document.variables[k];
    variable.options.splice(at, 0, "");
    if (variable.guess) variable.guess.splice(at, 0, 0);
    return ["variables", k, "options", at];
  });
}

function pasteLines(editor, k, j, event) {
  const lines = event.clipboardData.getData("text").split(/\r?\n/).map((line) => line.trim()).filter(Boolean);
  if (lines.length < 2) return;
  event.preventDefault();
  editor.redraw(() => {
    const variable = editor.document.variables[k];
    variable.options.splice(j, 1, ...lines);
    delete variable.guess;
    return ["variables", k, "options", j + lines.length - 1];
  });
}

const kindOf = (design) => (typeof design === "string" ? design : DESIGNS.some(([kind]) => kind === design.kind) ? design.kind : "file");

function designFields(editor, k) {
  const variable = editor.document.variables[k];
  const kind = kindOf(variable.design);
  const offered = kind === "file" || !DESIGNS.some(([name]) => name === kind) ? [...DESIGNS, [kind, "As the file says"]] : DESIGNS;
  const chosen = choice(["variables", k, "design"], kind, offered, (value) =>
    editor.redraw(() => {
      if (value !== kind) variable.design = TABLES[value] ? { kind: value, ...TABLES[value] } : value;
      return ["variables", k, "design"];
    }),
  );
  const parts = [field("How it is asked", chosen, "Keep “Recommended” unless you have a reason not to. It depends on the number of answers and on the links.")];
  const table = typeof variable.design === "object" ? variable.design : {};
  for (const [name, [label, bounds]] of Object.entries(NUMBERS)) {
    if (typeof table[name] !== "number") continue;
    const change = (text) => editor.change(() => (table[name] = Number(text)));
    parts.push(field(label, textInput(["variables", k, "design", name], table[name], change, { type: "number", ...bounds })));
  }
  return el("div", { class: "pair" }, parts);
}

function guessFields(editor, k) {
  const variable = editor.document.variables[k];
  if (!variable.guess) {
    const add = () =>
      editor.redraw(() => {
        const p = variable.options.length;
        const even = Math.round(1000 / p) / 1000;
        variable.guess = variable.options.map((_, j) => (j ? even : Math.round(1000 * (1 - even * (p - 1))) / 1000));
        return ["variables", k, "guess", 0];
      });
    const why = "The page then shows sentences such as “about 4 in 10 people would send this same answer”.";
    return el("div", { class: "field" }, el("button", { type: "button", class: "small", click: add }, "Guess the shares"), el("p", { class: "hint" }, why));
  }
  const inputs = variable.guess.map((share, j) =>
    field(
      variable.options[j] || `Answer ${j + 1}`,
      textInput(["variables", k, "guess", j], share, (text) => editor.change(() => (variable.guess[j] = Number(text))), { type: "number", min: 0, max: 1, step: "any" }),
    ),
  );
  const remove = () => editor.redraw(() => (delete variable.guess, ["variables", k, "help"]));
  return el(
    "fieldset",
    { class: "guess" },
    el("legend", {}, "Guessed shares (the sum is 1)"),
    el("div", { class: "shares" }, inputs),
    el("button", { type: "button", class: "small", click: remove }, "Remove the guess"),
  );
}
