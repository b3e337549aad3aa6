// Things to set: fields with labels, choices, sliders for values, tables.

import { add, el, unique } from "./dom.js";
import { pretty, shown } from "./numbers.js";
import { t } from "./words.js";

export function field(label, control, help = null) {
  const id = control.id || unique("field");
  control.id = id;
  return el("div", { class: "field" }, el("label", { for: id }, label), control, help ? el("small", {}, help) : null);
}

export function choice(label, options, value, onchange) {
  const box = el("select", { onchange: () => onchange(box.value) });
  for (const [name, text] of options) box.append(el("option", { value: name, selected: name === value }, text));
  box.value = value ?? "";
  return field(label, box);
}

export function entry(label, value, onchange, { placeholder = "", help = null } = {}) {
  const box = el("input", { type: "text", value: value ?? "", placeholder, autocomplete: "off", onchange: () => onchange(box.value.trim()) });
  return field(label, box, help);
}

export function tick(label, value, onchange) {
  const box = el("input", { type: "checkbox", onchange: () => onchange(box.checked) });
  box.checked = Boolean(value);
  return el("label", { class: "tick" }, box, ` ${label}`);
}

export function button(text, onclick, look = "") {
  return el("button", { type: "button", class: look, onclick }, text);
}

// A value with a slider and a box; `oninput` while it moves.
export function slider(name, value, { low, high, unit = "", source = "", derived = false, label = null, oninput }) {
  const title = label || pretty(name);
  const range = el("input", { type: "range", min: String(low), max: String(high), step: "any", value: String(value), "aria-label": title });
  const box = el("input", { type: "text", class: "number", value: plain(value), "aria-label": `${title} =`, inputmode: "decimal" });
  range.addEventListener("input", () => { const v = rounded(Number(range.value), high - low); box.value = plain(v); oninput(v); });
  box.addEventListener("change", () => {
    const text = box.value.trim().replace("−", "-");
    if (!text) return;
    const v = Number(text);
    if (Number.isFinite(v)) { widen(range, v); range.value = String(v); oninput(v); } else oninput(text);
  });
  const row = el("div", { class: "slider", dataset: { name } }, el("span", { class: "symbol", title: name }, title), range, box,
    el("span", { class: "unit" }, unit), source ? el("span", { class: `origin ${source}`, title: t(source === "published" ? "published_" : source) }, "●") : null);
  if (derived) row.classList.add("derived");
  return row;
}

function widen(range, v) {
  if (v < Number(range.min)) range.min = String(v);
  if (v > Number(range.max)) range.max = String(v);
}

const plain = (v) => (typeof v === "number" ? String(Number(v.toPrecision(7))) : String(v));
const rounded = (v, span) => Number(v.toFixed(Math.max(0, 4 - Math.floor(Math.log10(span || 1)))));

export function reach(value, name = "") {
  if (name.endsWith("'")) return [Math.min(-5, 2 * value), Math.max(5, 2 * value)];
  if (!value) return [-1, 1];
  return value > 0 ? [0, 2 * value] : [2 * value, 0];
}

export function reachOfStart(value, name) {
  const size = Math.max(1, Math.abs(value)) * (name.endsWith("'") ? 3 : 1);
  return [value - size, value + size];
}

export function table(heads, rows, { caption = null, look = "" } = {}) {
  const body = rows.map((row) => el("tr", {}, row.map((cell, k) => el(k ? "td" : "th", k ? {} : { scope: "row" }, cell instanceof Node ? cell : typeof cell === "number" ? shown(cell) : (cell ?? "–")))));
  return el("div", { class: `table ${look}`, tabindex: "0", role: "region", "aria-label": caption || heads.join(", ") }, el("table", {}, caption ? el("caption", {}, caption) : null,
    el("thead", {}, el("tr", {}, heads.map((head) => el("th", { scope: "col" }, head)))), el("tbody", {}, body)));
}

export function card(title, ...children) {
  return add(el("section", { class: "card" }, title ? el("h2", {}, title) : null), children);
}

export async function toClipboard(text, say) {
  try { await navigator.clipboard.writeText(text); } catch {
    const box = el("textarea", {}, text);
    document.body.append(box);
    box.select();
    document.execCommand("copy");
    box.remove();
  }
  say(t("copied"));
}

// "name = value, name = value" → {name: value}
export function assignments(text) {
  const found = {};
  for (const part of (text || "").split(",")) {
    const [name, value] = part.split("=").map((word) => word?.trim());
    if (name && value) found[name] = value;
  }
  return found;
}

// "name = low:high, name = low:high" → {name: [low, high]}
export function sides(text) {
  const found = {};
  for (const [name, range] of Object.entries(assignments(text))) {
    const [low, high] = range.split(":").map((word) => word.trim());
    if (low && high) found[name] = [low, high];
  }
  return found;
}
