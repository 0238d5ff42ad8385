// The file as text: a problem links to its line, the position of the cursor is shown, and no typed text is lost.

const text = document.querySelector("#text");
const where = document.querySelector("#where");
const state = document.querySelector("#state");
const { form } = text;
const isDraft = !form.action.endsWith("/new");
const isConflict = form.elements.editor !== undefined; // the page that shows two versions
let saved = document.querySelector(".problems-card") ? null : text.value; // null: the text shown was refused
let leaving = false;

const isChanged = () => text.value !== saved;

function goTo(line) {
  const lines = text.value.split("\n");
  const start = lines.slice(0, line - 1).reduce((sum, before) => sum + before.length + 1, 0);
  text.focus();
  text.setSelectionRange(start, start + (lines[line - 1] ?? "").length);
  const height = parseFloat(getComputedStyle(text).lineHeight);
  text.scrollTop = Math.max(0, (line - 4) * height);
  tell();
}

function tell() {
  const before = text.value.slice(0, text.selectionStart).split("\n");
  where.textContent = `Line ${before.length}, character ${before.at(-1).length + 1}`;
}

function tellState() {
  document.querySelector(".success")?.remove();
  state.textContent = isChanged() ? "Not saved" : "Saved";
}

// One after the other: each save must know the revision that the one before it made.
let saving = Promise.resolve();
const save = () => (saving = saving.then(saveNow));

/** Save without leaving the page, and return whether it was saved. Problems and conflicts open a page that shows them. */
async function saveNow() {
  state.textContent = "Saving…";
  const sent = text.value;
  try {
    const reply = await fetch(form.action, { method: "POST", body: new URLSearchParams(new FormData(form)) });
    if ([404, 409, 422].includes(reply.status)) return (leaving = true), form.submit(), false;
    const { pathname, searchParams } = new URL(reply.url);
    if (!reply.ok || pathname !== new URL(form.action).pathname) throw new Error("not taken");
    form.elements.revision.value = searchParams.get("saved");
  } catch {
    state.textContent = "Could not be saved. If you were signed out, sign in again in another tab and save here once more.";
    return false;
  }
  saved = sent;
  document.querySelector(".problems-card")?.remove();
  document.querySelector("#preview")?.contentWindow.location.reload();
  tellState();
  return true;
}

form.addEventListener("submit", (event) => {
  if (!isDraft || isConflict || event.submitter?.name === "convert") return void (leaving = true);
  event.preventDefault();
  save();
});

// Links that publish, download or show the draft save it first.
for (const link of document.querySelectorAll("[data-save-first]")) {
  link.addEventListener("click", async (event) => {
    if (!isChanged()) return;
    event.preventDefault();
    if (await save()) location.assign(link.href);
  });
}
for (const link of document.querySelectorAll("[data-line]")) {
  link.addEventListener("click", (event) => {
    event.preventDefault();
    goTo(Number(link.dataset.line));
  });
}
// Not on blur: a shorter or longer line would move the button that is being pressed.
for (const event of ["keyup", "click", "focus"]) text.addEventListener(event, tell);
text.addEventListener("input", tellState);
addEventListener("beforeunload", (event) => isDraft && isChanged() && !leaving && event.preventDefault());
if (location.search) history.replaceState(null, "", location.pathname); // "Saved" is shown once

// Ctrl+S saves, as people expect of an editor.
document.addEventListener("keydown", (event) => {
  if ((event.ctrlKey || event.metaKey) && event.key === "s") {
    event.preventDefault();
    form.requestSubmit(form.querySelector(".primary"));
  }
});
