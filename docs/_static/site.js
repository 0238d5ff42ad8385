// A button on every block of code or commands. It copies what can be pasted: no prompts, no output.
(() => {
  "use strict";

  const PROMPT = /^(?:\$|>>>|\.\.\.)(?: |$)/;

  function pasteable(text) {
    const lines = text.replace(/\n+$/, "").split("\n");
    if (!lines.some((line) => /^(?:\$|>>>) /.test(line))) {
      return lines.join("\n");
    }
    const kept = [];
    let continued = false;
    for (const line of lines) {
      if (continued || PROMPT.test(line)) {
        kept.push(line.replace(PROMPT, ""));
        continued = line.endsWith("\\");
      }
    }
    return kept.join("\n");
  }

  async function write(text) {
    if (navigator.clipboard && window.isSecureContext) {
      await navigator.clipboard.writeText(text);
      return;
    }
    const field = document.createElement("textarea"); // for pages that are not served by https
    field.value = text;
    field.style.position = "fixed";
    field.style.opacity = "0";
    document.body.append(field);
    field.select();
    const done = document.execCommand("copy");
    field.remove();
    if (!done) {
      throw new Error("the browser does not let a page copy");
    }
  }

  function addButton(block, status) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "copy";
    button.textContent = "Copy";
    button.setAttribute("aria-label", "Copy this code");
    button.addEventListener("click", async () => {
      const source = block.querySelector("pre");
      let message = "Copied";
      try {
        await write(pasteable(source.textContent));
      } catch {
        message = "Press Ctrl+C";
        window.getSelection().selectAllChildren(source);
      }
      button.textContent = message;
      status.textContent = message;
      window.setTimeout(() => {
        button.textContent = "Copy";
        status.textContent = "";
      }, 1500);
    });
    block.append(button);
  }

  // A table, a picture, a formula or a block that is wider than the page can be scrolled with the keyboard, too.
  function watchWidth(box) {
    new ResizeObserver(() => {
      const scrolls = box.scrollWidth - box.clientWidth > 1;
      box.classList.toggle("scrolls", scrolls);
      if (scrolls) {
        box.tabIndex = 0;
      } else {
        box.removeAttribute("tabindex");
      }
    }).observe(box);
  }

  // Names of code are not broken inside a word: short ones stay on a line, long ones break after a joint.
  function breakAtJoints(name) {
    const text = name.textContent;
    if (name.children.length > 0) {
      return;
    }
    if (text.length <= (name.closest("td") ? 12 : 24)) {
      name.classList.add("whole");
      return;
    }
    name.replaceChildren();
    for (const part of text.split(/(?<=[_./:,=|])/)) {
      name.append(part, document.createElement("wbr"));
    }
  }

  document.addEventListener("DOMContentLoaded", () => {
    const status = document.createElement("div");
    status.setAttribute("role", "status");
    status.className = "copy-status";
    document.body.append(status);
    for (const block of document.querySelectorAll("article div.highlight")) {
      if (!block.closest(".cell_output, .highlight-text, .highlight-none, .viewcode-block")) {
        addButton(block, status);
      }
    }
    document.querySelectorAll("article code .pre, article :not(pre) > code:not(:has(.pre))").forEach(breakAtJoints);
    document.querySelectorAll("article :is(pre, .cell_output, .math-block, .wide-picture, .reproduction figure)").forEach(watchWidth);
    for (const table of document.querySelectorAll("article table")) {
      let box = table.parentElement;
      if (!box.classList.contains("table-wrapper")) {
        box = document.createElement("div");
        table.replaceWith(box);
        box.append(table);
      }
      box.classList.add("wide-table");
      watchWidth(box);
    }
  });
})();
