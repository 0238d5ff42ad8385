// Forbidden sets: sets of a question's answers, which follow them when they are renamed or removed.

import { el, tick } from "./dom.js";
import { movers } from "./variables.js";

/** Rename the answer at a place in the sets that have it, and where they show it. */
export function followAnswer(editor, k, j, before, after) {
  const variable = editor.document.variables[k];
  variable.never_alone = variable.never_alone?.map((set) => set.map((name) => (name === before ? after : name)));
  for (const shown of document.querySelectorAll(`[data-answer="${k}-${j}"]`)) shown.textContent = after;
}

/** Remove a deleted answer from the sets, and remove sets with fewer than two answers left. */
export function forgetAnswer(variable, gone) {
  if (!variable.never_alone) return;
  variable.never_alone = variable.never_alone.map((set) => set.filter((name) => name !== gone)).filter((set) => set.length > 1);
  if (!variable.never_alone.length) delete variable.never_alone;
}

// Say why no set can be forbidden, where survey/forbidden_sets.py would refuse every set.
function refusal({ options, design }) {
  if (options.length < 3) return "Not with two answers: both stay possible anyway.";
  if (options.length === 3) return "Not with three answers: all pairs are needed to estimate the shares. Write five answers or more.";
  if (options.length > 4 || design.kind === "fixed_size") return null;
  return "Not with four answers and yes/no questions: all questions are needed to estimate the shares. Write five answers or more, or choose “On the device” under “How it is asked”, with 3 answers sent together.";
}

/** Make the fields of the sets of a question. */
export function neverAloneFields(editor, k) {
  const variable = editor.document.variables[k];
  const add = () =>
    editor.redraw(() => {
      variable.never_alone = [...(variable.never_alone ?? []), []];
      return ["variables", k, "never_alone", variable.never_alone.length - 1];
    });
  const refused = refusal(variable);
  const why =
    "These answers are never sent without another one. For example, “thought of it” or “did it” would admit something. The Publish page lists the sets that can be sent and how many more people you need if you forbid one.";
  return el(
    "div",
    { class: "field", "data-path": JSON.stringify(["variables", k, "never_alone"]), tabindex: "-1" },
    (variable.never_alone ?? []).map((set, i) => setFields(editor, k, i)),
    el("p", { class: "label" }, "Forbidden sets"),
    el("button", { type: "button", class: "small", disabled: refused !== null, click: add }, "Add a set"),
    el("p", { class: "hint" }, refused ?? why),
  );
}

function setFields(editor, k, i) {
  const variable = editor.document.variables[k];
  const set = variable.never_alone[i];
  const toggle = (name) => (on) =>
    editor.change(() => {
      const chosen = new Set(variable.never_alone[i]);
      if (on) chosen.add(name());
      else chosen.delete(name());
      variable.never_alone[i] = [...chosen];
    });
  const ticks = variable.options.map((answer, j) =>
    answer === "" ? null : tick(el("span", { "data-answer": `${k}-${j}` }, answer), set.includes(answer), toggle(() => variable.options[j])),
  );
  const unknown = set.filter((name) => !variable.options.includes(name)); // left over from a list that was pasted
  return el(
    "fieldset",
    { class: "link", "data-path": JSON.stringify(["variables", k, "never_alone", i]), tabindex: "-1" },
    el("legend", {}, `Forbidden set ${i + 1}`),
    el(
      "div",
      { class: "card-head" },
      el("div", { class: "ticks-row" }, ticks, unknown.map((name) => tick(name, true, toggle(() => name)))),
      movers(editor, ["variables", k, "never_alone"], i, `set ${i + 1}`),
    ),
  );
}
