// The panel of values: parameters, starts and controls of the model as sliders.

import { ask } from "./ask.js";
import { button, choice, reach, reachOfStart, slider } from "./controls.js";
import { el, fill } from "./dom.js";
import { t, word } from "./words.js";

// `onchange` is called while a slider moves; what was set stands in the settings of the state.
export function valuePanel(app, { groups = ["parameters", "start", "inputs"], onchange, only = null }) {
  const { stated, state } = app;
  const set = (key) => (value) => {
    state.settings[key] = String(value);
    app.remember();
    onchange(key, value);
  };
  const current = (key, value) => {
    const given = state.settings[key];
    return given === undefined ? value : Number.isFinite(Number(given)) ? Number(given) : given;
  };
  const parts = [];
  if (groups.includes("parameters")) {
    const names = Object.keys(stated.parameters).filter((name) => !only || only.includes(name));
    const rows = names.map((name) => {
      const { value, unit, source } = stated.parameters[name];
      const now = current(name, value ?? 0), [low, high] = reach(value ?? 0);
      return slider(name, now, { low: Math.min(low, Number(now) || low), high: Math.max(high, Number(now) || high), unit, source, derived: stated.derived.includes(name), oninput: set(name) });
    });
    if (rows.length) parts.push(group(t("parameters"), rows, rows.length <= 24));
  }
  if (groups.includes("start")) {
    const rows = stated.states.map((name) => {
      const value = stated.initial[name] ?? 0, key = `initial.${name}`, [low, high] = reachOfStart(value, name);
      return slider(name, current(key, value), { low, high, oninput: set(key) });
    });
    if (rows.length) parts.push(group(t("start"), rows, rows.length <= 16));
  }
  if (groups.includes("inputs")) {
    const rows = Object.entries(stated.inputs).map(([name, given]) => {
      const [low, high] = reach(given.value ?? 0);
      return slider(name, current(name, given.value ?? 0), { low: given.low ?? Math.min(-1, low), high: given.high ?? Math.max(1, high), oninput: set(name) });
    });
    if (rows.length) parts.push(group(t("inputs"), rows, true));
  }
  parts.push(button(t("reset"), () => { state.settings = {}; app.remember(); app.reload(); }, "small"));
  return parts;
}

function group(title, rows, open) {
  return el("details", { class: "group", open }, el("summary", {}, title), rows);
}

let gallery = null;
export const galleryOf = async () => (gallery ||= ask({ ask: "gallery" }));

// What can be chosen of a model of the gallery.
export function variantPanel(app, without = []) {
  const box = el("div", { class: "row variants" });
  galleryOf().then(({ models }) => {
    const { name, text, variant } = app.state.model;
    const found = text === null && models.find((m) => m.name === name || m.name.replace(":N", "") === name.split(":")[0]);
    fill(box, Object.entries((found && found.variants) || {}).filter(([what]) => !without.includes(what)).map(([what, options]) => choice(word("variant", what), options.map((o) => [o, word("variant", o)]), variant[what] ?? options[0], (value) => app.choose(what, value))));
  });
  return box;
}
