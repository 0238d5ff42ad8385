// One key for each button: the letter that it shows, its English letter, or its number; Enter for the main one.

import { el } from "./element.js";
import { say } from "./words.js";

const ENGLISH = { y: "yes", n: "no", s: "same", d: "different", r: "skip", b: "back", backspace: "back" };

let listening = true;

/** Listen for keys. They do nothing with a modifier, while something is typed, or while held down. */
export function listen() {
  document.addEventListener("keydown", (event) => {
    if (!listening || event.ctrlKey || event.metaKey || event.altKey || event.repeat || event.isComposing) return;
    if (event.target.closest("input, textarea, select, [contenteditable]")) return;
    const pressed = event.key.toLowerCase();
    if (pressed === "enter" && event.target.closest("button, summary, a")) return; // it presses what has the focus
    const digit = /^(?:Digit|Numpad)(\d)$/.exec(event.code)?.[1];
    const wanted = [...document.querySelectorAll("main [data-keys]")].find((node) => {
      const keys = node.dataset.keys.split(" ");
      return keys.includes(pressed) || keys.includes(digit);
    });
    if (!wanted) return;
    event.preventDefault();
    wanted.click();
  });
}

/** Wait for a sign of a person. Browsers also tell of a pointer that has not moved. */
export const somebody = () =>
  new Promise((go) => {
    const sign = ({ movementX: x, movementY: y }) => (x === 0 && y === 0) || go();
    for (const name of ["pointermove", "touchstart", "scroll", "keydown"]) addEventListener(name, sign);
  });

/** Return the keys of an action ("yes", "same", "skip", …), the one to show first, and the number of its button if given. */
export function keysOf(deed, number) {
  const letters = Object.keys(ENGLISH).filter((key) => ENGLISH[key] === deed);
  return [say(`key.${deed}`).toLowerCase(), ...letters, number].filter((key) => key !== undefined).join(" ");
}

/** Make the switch that turns the keys off, for people whose software sends letters. */
export function keySwitch() {
  const words = () => say(listening ? "keys.off" : "keys.on");
  const node = el("button", { type: "button", class: "quiet keys", press: () => turn() }, words());
  function turn() {
    listening = !listening;
    document.body.classList.toggle("no-keys", !listening);
    node.textContent = words();
  }
  return node;
}
