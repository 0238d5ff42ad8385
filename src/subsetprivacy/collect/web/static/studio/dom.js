// Small pieces of a page. Text goes in as text: no part of a survey is ever read as markup.

/** Make an element; attributes that are false or missing are left out, functions listen to their event. */
export function el(name, attributes = {}, ...children) {
  const node = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (typeof value === "function") node.addEventListener(key, value);
    else if (value !== false && value !== undefined && value !== null) node.setAttribute(key, value === true ? "" : value);
  }
  node.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return node;
}

let fields = 0;

/** Make a labeled field: `control` is an input, a select or a textarea. */
export function field(label, control, hint) {
  control.id ||= `field-${++fields}`;
  const hintLine = hint ? el("p", { class: "hint", id: `${control.id}-hint` }, hint) : null;
  if (hintLine) control.setAttribute("aria-describedby", hintLine.id);
  return el("div", { class: "field" }, el("label", { for: control.id }, label), control, hintLine);
}

/** Make an input for the text at a place of the document. */
export function textInput(place, value, change, attributes = {}) {
  return el("input", {
    type: "text",
    autocomplete: "off",
    "data-path": JSON.stringify(place),
    ...attributes,
    value: value ?? "",
    input: (event) => change(event.target.value),
  });
}

/** Make a larger field for the text at a place of the document. */
export function textArea(place, value, change, rows = 3) {
  const area = el("textarea", { rows, "data-path": JSON.stringify(place), input: (event) => change(event.target.value) });
  area.value = value ?? "";
  return area;
}

/** Make a choice among [value, words] pairs. */
export function choice(place, value, options, change) {
  const select = el(
    "select",
    { "data-path": JSON.stringify(place), change: (event) => change(event.target.value) },
    options.map(([key, words]) => el("option", { value: key, selected: key === value }, words)),
  );
  return select;
}

/** Make a box to tick. */
export function tick(label, value, change, attributes = {}) {
  const box = el("input", { type: "checkbox", ...attributes, change: (event) => change(event.target.checked) });
  box.checked = value;
  return el("label", { class: "check" }, box, el("span", {}, label));
}

/** Make a small button with a picture of a sign and a name that is read out. */
export const signButton = (sign, name, click, attributes = {}) =>
  el("button", { type: "button", class: "sign", "aria-label": name, title: name, click, ...attributes }, sign);
