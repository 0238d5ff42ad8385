// The file as text: a problem leads to its line, and the place of the cursor is told.

const text = document.querySelector("#text");
const where = document.querySelector("#where");
const usual = where.textContent;

function goTo(line) {
  const lines = text.value.split("\n");
  const start = lines.slice(0, line - 1).reduce((sum, one) => sum + one.length + 1, 0);
  text.focus();
  text.setSelectionRange(start, start + (lines[line - 1] ?? "").length);
  const height = parseFloat(getComputedStyle(text).lineHeight);
  text.scrollTop = Math.max(0, (line - 4) * height);
  tell();
}

function tell() {
  if (document.activeElement !== text) return void (where.textContent = usual);
  const before = text.value.slice(0, text.selectionStart).split("\n");
  where.textContent = `Line ${before.length}, character ${before.at(-1).length + 1}`;
}

for (const link of document.querySelectorAll("[data-line]")) {
  link.addEventListener("click", (event) => {
    event.preventDefault();
    goTo(Number(link.dataset.line));
  });
}
for (const event of ["keyup", "click", "focus", "blur"]) text.addEventListener(event, tell);

// Ctrl+S saves, as people expect of an editor.
document.addEventListener("keydown", (event) => {
  if ((event.ctrlKey || event.metaKey) && event.key === "s") {
    event.preventDefault();
    text.form.requestSubmit(text.form.querySelector(".primary"));
  }
});
