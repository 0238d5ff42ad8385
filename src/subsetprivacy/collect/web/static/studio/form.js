// The form editor: a survey's document as fields. What is saved is the same file that the other tab shows.

import { choice, el, field, textArea, textInput, tick } from "./dom.js";
import { forgetAnswer } from "./never_alone.js";
import { movers, newVariable, variableCard } from "./variables.js";

const root = document.querySelector("#form");
const bar = document.querySelector("#save-bar");
const state = document.querySelector("#state");
const problems = document.querySelector("#problems");

const placeholders = new Set(JSON.parse(root.dataset.placeholders));

const editor = {
  document: JSON.parse(root.dataset.document),
  changed: false,

  /** Change the document without drawing the form again. */
  change(act) {
    act();
    this.changed = true;
    tell("Not saved");
  },

  /** Change the document's shape, draw the form again, and go to the place that `act` returns. */
  redraw(act) {
    const place = act();
    this.changed = true;
    tell("Not saved");
    draw();
    if (place) focusPlace(place);
  },

  /** Remove an entry of a list. */
  remove(path, k) {
    this.redraw(() => {
      const list = path.reduce((part, key) => part[key], this.document);
      const [gone] = list.splice(k, 1);
      if (path.length === 1 && path[0] === "variables") unlink(gone.id);
      if (path[2] === "options") {
        this.document.variables[path[1]].guess?.splice(k, 1);
        forgetAnswer(this.document.variables[path[1]], gone);
      }
      if (path[2] === "never_alone" && !list.length) delete this.document.variables[path[1]].never_alone;
      return list.length ? [...path, Math.min(k, list.length - 1)] : path;
    });
  },
};

function unlink(name) {
  const { links } = editor.document;
  for (const link of links) link.variables = link.variables.filter((id) => id !== name);
  editor.document.links = links.filter((link) => link.variables.length > 1);
}

function tell(words) {
  state.textContent = words;
  bar.classList.toggle("changed", editor.changed);
}

// Go to the field of a place, or to the nearest above it.
function focusPlace(place) {
  for (let path = [...place]; path.length; path = path.slice(0, -1)) {
    const target = document.querySelector(`[data-path='${JSON.stringify(path)}']`);
    if (target) {
      target.closest("details")?.setAttribute("open", "");
      target.focus();
      target.scrollIntoView({ block: "center" });
      return;
    }
  }
}

function draw() {
  const { variables } = editor.document;
  root.replaceChildren(
    aboutCard(),
    ...variables.map((_, k) => variableCard(editor, k)),
    el("p", { class: "add" }, el("button", { type: "button", click: addVariable }, "Add a question")),
    ...(variables.length > 1 ? [linksCard()] : []),
  );
}

function addVariable() {
  editor.redraw(() => {
    editor.document.variables.push(newVariable(editor.document));
    return ["variables", editor.document.variables.length - 1, "question"];
  });
}

let studyFollows = "studyFollows" in root.dataset;

function setStudy(text) {
  studyFollows = text === "";
  editor.change(() => {
    if (studyFollows) delete editor.document.study;
    else editor.document.study = text;
  });
}

function aboutCard() {
  const survey = editor.document;
  const set = (name) => (text) => editor.change(() => (survey[name] = text));
  const study = textInput(["study"], survey.study, setStudy, { class: "mono", spellcheck: "false", placeholder: "made from the title" });
  const setTitle = (text) => {
    set("title")(text);
    if (!studyFollows) return;
    delete survey.study; // made from the title again when it is saved
    study.value = "";
  };
  const number = (text) => editor.change(() => (survey.batch = text === "" ? null : Number(text)));
  return el(
    "section",
    { class: "card", "aria-label": "The survey" },
    el("h2", {}, "The survey"),
    field("Title", textInput(["title"], survey.title, setTitle)),
    field("Introduction", textArea(["introduction"], survey.introduction, set("introduction"), 4), "What the survey is about and who is asking. Empty lines separate paragraphs."),
    el(
      "div",
      { class: "pair" },
      field("Who answers", choice(["mode"], survey.mode, [["code", "people with a personal link"], ["open", "anyone with the link"]], set("mode"))),
      field("Batch", textInput(["batch"], survey.batch, number, { type: "number", min: 10, step: 1 }), "Results appear when twice this many people have answered, and change with each further batch. At least 10."),
    ),
    el(
      "details",
      { class: "more" },
      el("summary", {}, "Thanks, contact, language, study"),
      field("Thanks", textArea(["thanks"], survey.thanks, set("thanks"), 2)),
      field("Contact", textInput(["contact"], survey.contact, set("contact")), "Who is asking, and whom to contact."),
      el(
        "div",
        { class: "pair" },
        field("Language of the page", choice(["language"], survey.language, [["en", "English"], ["de", "Deutsch"], ["ar", "العربية"]], set("language"))),
        field("Study", study, "In the same browser, all surveys of a study ask a person the same questions."),
      ),
      tick("Start with a practice question of each kind", survey.practice, (on) => editor.change(() => (survey.practice = on))),
    ),
  );
}

function linksCard() {
  const { links } = editor.document;
  const add = () => editor.redraw(() => (links.push({ variables: [] }), ["links", links.length - 1]));
  return el(
    "section",
    { class: "card", "aria-label": "Linked questions" },
    el("h2", {}, "Kept together"),
    el("p", { class: "dim" }, "Every question is counted separately, so that no one can tell which answers belong together. To see how questions are related, link them. Their answers are then kept together, and respondents are told."),
    links.map((link, k) => linkFields(link, k)),
    el("button", { type: "button", class: "small", click: add }, "Link questions"),
  );
}

function linkFields(link, k) {
  const toggle = (name) => (on) =>
    editor.change(() => {
      const order = editor.document.variables.map(({ id }) => id);
      const chosen = new Set(link.variables);
      if (on) chosen.add(name);
      else chosen.delete(name);
      link.variables = order.filter((id) => chosen.has(id));
    });
  return el(
    "fieldset",
    { class: "link", "data-path": JSON.stringify(["links", k]), tabindex: "-1" },
    el("legend", {}, `Link ${k + 1}`),
    el("div", { class: "card-head" }, el("div", { class: "ticks-row" }, editor.document.variables.map(({ id, label }) => tick(label || id, link.variables.includes(id), toggle(id)))), movers(editor, ["links"], k, `link ${k + 1}`)),
  );
}

// Empty lines at the end of a list are no answers, and a question without a label gets its text as a label.
function tidy() {
  let changed = false;
  for (const [k, variable] of editor.document.variables.entries()) {
    while (variable.options.length > 2 && !variable.options.at(-1).trim()) {
      variable.options.pop();
      variable.guess?.splice(variable.options.length);
      changed = true;
    }
    const question = variable.question.trim();
    if (!variable.label.trim() && question) {
      variable.label = question.length > 60 || question.includes("\n") ? `Question ${k + 1}` : question;
      changed = true;
    }
  }
  if (!changed) return;
  const { path } = document.activeElement?.dataset ?? {};
  draw();
  if (path) focusPlace(JSON.parse(path));
}

// One after the other: each save must know the revision that the one before it made.
let saving = Promise.resolve();
const save = () => (saving = saving.then(saveNow));

/** Save, and return whether it was. */
async function saveNow() {
  tell("Saving…");
  tidy();
  const { revision, format } = root.dataset;
  const sent = JSON.stringify(editor.document);
  let outcome;
  try {
    const reply = await fetch(root.dataset.save, {
      method: "POST",
      redirect: "error",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ revision, format, document: editor.document }),
    });
    outcome = await reply.json();
  } catch {
    tell("Could not be saved. If you were signed out, sign in again in another tab and save here once more.");
    return false;
  }
  if (outcome.text !== undefined) return showConflict({ revision, format, text: outcome.text, editor: "form" });
  showProblems(outcome.problems ?? []);
  if (!outcome.saved) {
    tell("Not saved: see the problems above");
    return false;
  }
  root.dataset.revision = outcome.revision;
  document.querySelector("#comments")?.remove();
  editor.changed = JSON.stringify(editor.document) !== sent;
  tell(editor.changed ? "Not saved" : "Saved");
  document.querySelector("h1").textContent = editor.document.title;
  document.querySelector("#preview")?.contentWindow.location.reload();
  return true;
}

// Someone else has saved or deleted the draft: the page that shows both versions takes what was typed here.
function showConflict(values) {
  editor.changed = false;
  const fields = Object.entries(values).map(([name, value]) => el("input", { type: "hidden", name, value }));
  const form = el("form", { method: "post", action: `${root.dataset.save}/file`, hidden: true }, fields);
  document.body.append(form);
  form.submit();
  return false;
}

function showProblems(listed) {
  problems.hidden = !listed.length;
  const go = (path) => (event) => (event.preventDefault(), focusPlace(path));
  problems.replaceChildren(
    el("h2", {}, listed.length === 1 ? "1 problem: not saved yet" : `${listed.length} problems: not saved yet`),
    el("ol", { class: "problems" }, listed.map((problem) => el("li", {}, el("a", { href: "#form", class: "place", click: go(problem.path) }, problem.place), " ", problem.message))),
  );
  if (listed.length) problems.focus();
}

document.querySelector("#save").addEventListener("click", save);
document.addEventListener("keydown", (event) => {
  if ((event.ctrlKey || event.metaKey) && event.key === "s") {
    event.preventDefault();
    save();
  }
});
// Links that publish, download or show the draft save it first.
for (const link of document.querySelectorAll("[data-save-first]")) {
  link.addEventListener("click", async (event) => {
    if (!editor.changed) return;
    event.preventDefault();
    if (await save()) location.assign(link.href);
  });
}
// A placeholder is selected, so that typing replaces it.
root.addEventListener("focusin", ({ target }) => placeholders.has(target.value) && target.select?.());
addEventListener("beforeunload", (event) => editor.changed && event.preventDefault());
draw();
bar.hidden = false;
tell("Saved");
