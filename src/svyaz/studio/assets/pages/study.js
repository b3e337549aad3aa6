// Studies: one or two quantities varied, every run measured; the rows that are done are kept, and a study can be resumed.

import { ask } from "../core/ask.js";
import { button, card, choice, entry, table, tick } from "../core/controls.js";
import { el, fill } from "../core/dom.js";
import { pretty, shown } from "../core/numbers.js";
import { Heat, Plot } from "../core/plot.js";
import { t, word } from "../core/words.js";
import { asOptions } from "./motion.js";

export function show(root, app) {
  const options = app.options("study"), { stated } = app;
  const picture = el("div", {}), told = el("div", {}), axesBox = el("div", {}), kept = el("p", {}), progress = el("p", { role: "status", class: "progress" });
  const names = [...Object.keys(stated.parameters), ...stated.states.map((n) => `initial.${n}`), "run.step", ...(stated.constraints.length ? ["stabilize", "alpha", "beta"] : [])];
  const axes = (options.axes ||= [{ name: names[0], from: "", to: "", count: "21", log: false }]);
  let found = null;

  const valueOf = (name) => (stated.parameters[name]?.value ?? stated.initial[name.replace("initial.", "")] ?? stated.run[name.replace("run.", "")] ?? 1) || 0;
  const range = (axis) => { const v = Number(valueOf(axis.name)); return [axis.from || String(v ? 0.5 * v : -1), axis.to || String(v ? 1.5 * v : 1)]; };

  const drawAxes = () => fill(axesBox, axes.map((axis, k) => el("fieldset", { class: "field" }, el("legend", {}, `${t("vary")} ${k + 1}`),
    choice(t("name"), names.map((n) => [n, pretty(n)]), axis.name, (v) => { Object.assign(axis, { name: v, from: "", to: "" }); app.remember(); drawAxes(); }),
    el("div", { class: "row" }, entry(t("from"), axis.from, (v) => { axis.from = v; app.remember(); }, { placeholder: range(axis)[0] }), entry(t("to"), axis.to, (v) => { axis.to = v; app.remember(); }, { placeholder: range(axis)[1] }), entry(t("count"), axis.count, (v) => { axis.count = v; app.remember(); })),
    tick(t("logSpaced"), axis.log, (v) => { axis.log = v; app.remember(); }))),
  axes.length < 2 ? button(t("addAxis"), () => { axes.push({ name: names[Math.min(1, names.length - 1)], from: "", to: "", count: "15", log: false }); app.remember(); drawAxes(); }, "small") : button("−", () => { axes.pop(); app.remember(); drawAxes(); }, "small"));

  const question = (more) => {
    const vary = Object.fromEntries(axes.map((axis) => [axis.name, [...range(axis), axis.count, Boolean(axis.log)]]));
    const measure = (options.measure || "").split(",").map((w) => w.trim()).filter(Boolean);
    return app.question("sweep", { options: { ...asOptions(app.options("motion")), ...(options.until ? { until: options.until } : {}), vary, ...(measure.length ? { measure } : {}), ...more } });
  };

  const begin = async (anew) => {
    app.onprogress = (done, total) => { progress.textContent = t("ofMembers", Math.round(done), Math.round(total)); };
    try { found = await app.work(question(anew ? { anew: true } : {})); } catch { fill(told, el("p", { class: "wrong-text" }, app.status.textContent)); return; } finally { app.onprogress = null; look(); }
    if (!found) { fill(told, el("p", {}, `${t("cancelled")} ${t("keptRows")}`)); return; }
    app.answer = found;
    progress.textContent = t("ofMembers", found.record.done, found.record.members);
    draw();
  };

  const draw = () => {
    const measures = Object.keys(found.grids), name = measures.includes(options.shown) ? options.shown : measures[0], keys = Object.keys(found.axes);
    const values = Float64Array.from(found.grids[name], (v, k) => (found.finished[k] ? v : NaN));
    const chooser = choice(t("measure"), measures.map((m) => [m, m]), name, (v) => { options.shown = v; app.remember(); draw(); });
    const positive = !/^final|^t$/.test(name);
    if (keys.length === 1) {
      const plot = new Plot({ title: name, x: keys[0], height: 280, log: positive && values.some((v) => v > 0) });
      fill(picture, chooser, plot.draw([{ name, x: found.axes[keys[0]], y: values, colour: "var(--c0)" }]).node);
    } else {
      const [a, b] = keys.map((k) => found.axes[k]), turned = new Float64Array(values.length);
      for (let i = 0; i < a.length; i++) for (let j = 0; j < b.length; j++) turned[j * a.length + i] = values[i * b.length + j];
      const heat = new Heat({ title: name, x: keys[0], y: keys[1], log: positive, onpick: (x, y) => open(keys, [x, y]) });
      fill(picture, chooser, heat.draw(a, b, turned).node);
    }
    fill(told, table([t("outcome"), t("count")], Object.entries(found.record.outcomes).map(([s, n]) => [word("status", s), String(n)]), { caption: t("outcome") }), el("p", {}, found.file));
  };

  // A click in the picture opens the motion there.
  const open = (keys, values) => {
    keys.forEach((key, k) => { if (!key.startsWith("run.") && !["stabilize", "alpha", "beta"].includes(key)) app.state.settings[key] = String(values[k]); });
    app.go("motion");
  };

  const look = async () => {
    try {
      const { rows } = await ask(app.question("kept"));
      app.keptRows = rows;
      resume.hidden = !rows;
      kept.textContent = rows ? `${t("keptRows")} (${rows})` : "";
    } catch { /* the studio is gone: said elsewhere */ }
  };

  const resume = button(t("resume"), () => begin(false), "primary resume");
  resume.hidden = true;
  drawAxes();
  root.append(el("div", { class: "columns" }, el("div", {}, card(t("study"), progress, picture, told)), el("aside", {}, card(t("vary"), axesBox,
    entry(t("measure"), options.measure, (v) => { options.measure = v; app.remember(); }, { placeholder: "residual, final.x, drift.energy, error" }), entry(t("until"), options.until, (v) => { options.until = v; app.remember(); }, { placeholder: String(stated.until ?? "") }),
    el("div", { class: "row" }, button(t("begin"), () => begin(true), "primary begin"), resume), kept))));
  look();
  return () => { app.onprogress = null; };
}
