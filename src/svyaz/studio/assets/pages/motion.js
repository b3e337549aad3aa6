// The motion: the mechanism, curves over time, deviations from constraints, the balance of energy; gains to choose.

import { Latest } from "../core/ask.js";
import { button, card, choice, entry, table, tick } from "../core/controls.js";
import { el, fill } from "../core/dom.js";
import { Mechanism } from "../core/mechanism.js";
import { pretty, shown } from "../core/numbers.js";
import { colour, Heat, Plot } from "../core/plot.js";
import { valuePanel } from "../core/values.js";
import { told as sentence } from "../core/told.js";
import { t, word } from "../core/words.js";

const DASHES = ["", "6 4", "2 3", "8 3 2 3", "1 3"];
const AT_MOST = 8;

export function show(root, app) {
  const options = app.options("motion"), { stated } = app;
  const latest = new Latest();
  const charts = el("div", { class: "grid2" }), tables = el("div", {}), outcome = el("p", { class: "outcome", role: "status" });
  const mechanism = new Mechanism({ label: `${t("mechanism")}: ${stated.title}`, words: { play: t("play"), pause: t("pause"), time: t("time") }, ontime: (time) => plots.forEach((plot) => plot.xName === "t" && plot.cursorAt(time)) });
  let plots = [];

  const set = (name, value) => {
    if (value === "" || value === null || value === false) delete options[name]; else options[name] = value;
    app.remember();
    run();
  };

  const run = () => latest.run(async (signal) => {
    const began = performance.now();
    const asked = asOptions(options);
    if (options.compare && stated.constraints.length) asked.against = [{ stabilize: "off", force: true }];
    let found;
    try { found = await app.work(app.question("simulate", { options: asked }), { signal }); } catch (error) {
      outcome.textContent = app.status.textContent;
      outcome.className = "outcome wrong-text";
      return;
    }
    if (!found) return;
    draw(found.runs);
    app.shownIn = performance.now() - began;
    app.answer = found;
  });

  function draw(runs) {
    const [first] = runs, { record } = first;
    const where = `${word("status", record.status)}, t = ${shown(record.t)}`;
    outcome.className = record.status === "finished" ? "outcome" : "outcome wrong-text";
    outcome.textContent = `${where}; ${record.form}, ${record.method}, ${record.step === null ? `rtol ${shown(record.rtol)}` : `${t("step")} ${shown(record.step)}`}${record.reason ? `; ${sentence(record.reason)}` : ""}`;
    if (first.scene) mechanism.show(first.scene, { ghosts: runs.slice(1).map((r) => r.scene) });
    mechanism.seek(Math.min(mechanism.time, mechanism.end ?? 0), { quiet: true });
    drawCharts(runs);
    drawTables(runs);
  }

  function drawCharts(runs) {
    const groups = runs[0].groups, wanted = [];
    const state = groups.state || {}, speeds = new Set(stated.velocities);
    const coordinates = Object.keys(state).filter((n) => stated.coordinates.includes(n));
    const velocities = Object.keys(state).filter((n) => speeds.has(n));
    const rest = Object.keys(state).filter((n) => !coordinates.includes(n) && !velocities.includes(n));
    wanted.push(["coordinates", "state", coordinates, false], ["velocities", "state", velocities, false], ["states", "state", rest, false]);
    for (const [title, group, log] of [["residuals", "residuals", true], ["multipliers", "multipliers", false], ["energy", "energy", false], ["energyError", "energy error", true], ["balance", "balance", false], ["integrals", "integrals", false], ["inputs", "inputs", false], ["outputs", "outputs", false]])
      wanted.push([title, group, Object.keys(groups[group] || {}), log]);
    const drawn = wanted.filter(([, , names]) => names.length);
    if (plots.length !== drawn.length + 1 || plots.some((p, k) => k < drawn.length && p.kind !== drawn[k][0])) {
      plots = drawn.map(([title, , , log]) => Object.assign(new Plot({ title: t(title), log }), { kind: title }));
      plots.push(phasePlane(coordinates, velocities));
      fill(charts, plots.map((p) => p.node));
    }
    drawn.forEach(([, group, names], k) => {
      const shownNames = names.slice(0, AT_MOST), curves = [];
      runs.forEach((run, r) => shownNames.forEach((name, j) => {
        const y = run.groups[group]?.[name];
        if (y) curves.push({ name: r ? (j ? "" : told(run.changes)) : name, x: run.t, y, colour: colour(j), dash: DASHES[r] });
      }));
      const bands = names.length === 1 && stated.limits[names[0]] ? [{ low: stated.limits[names[0]][0], high: stated.limits[names[0]][1] }] : [];
      plots[k].draw(curves, { bands });
    });
    drawPhase(plots.at(-1), runs);
  }

  function phasePlane(coordinates, velocities) {
    const plot = Object.assign(new Plot({ title: t("phase"), x: options.across || coordinates[0] || "", legend: false }), { kind: "phase" });
    const names = [...coordinates, ...velocities];
    if (!names.length) return plot;
    const box = (label, key, value) => choice(label, names.map((n) => [n, pretty(n)]), options[key] || value, (v) => { options[key] = v; app.remember(); run(); });
    plot.node.append(el("div", { class: "row" }, box("x", "across", names[0]), box("y", "upwards", velocities[0] || names.at(-1))));
    plot.names_ = [names[0], velocities[0] || names.at(-1)];
    return plot;
  }

  function drawPhase(plot, runs) {
    if (!plot.names_) return;
    const x = options.across || plot.names_[0], y = options.upwards || plot.names_[1];
    plot.xName = x;
    plot.yName = y;
    plot.draw(runs.filter((r) => r.groups.state[x] && r.groups.state[y]).map((r, k) => ({ name: "", x: r.groups.state[x], y: r.groups.state[y], colour: colour(k) })));
  }

  function drawTables(runs) {
    const parts = [];
    for (const run of runs) {
      const { record } = run, label = runs.length > 1 ? ` (${Object.keys(run.changes).length ? told(run.changes) : t("asModel")})` : "";
      const kept = Object.entries(record.residuals || {});
      if (kept.length) parts.push(table([t("constraint"), t("largest"), t("final"), t("multipliers")], kept.map(([n, r]) => [n, r.max, r.final, record.multipliers?.[n]]), { caption: t("residuals").replace(/ \(.*/, "") + label }));
      const integrals = Object.entries(record.integrals || {});
      if (integrals.length) parts.push(table([t("integral"), t("initial"), t("final"), t("drift")], integrals.map(([n, i]) => [n, i.initial, i.final, i.drift]), { caption: t("integrals") + label }));
      if (record.energy) parts.push(table([t("term"), t("value")], Object.entries(record.energy), { caption: t("balance") + label }));
      if (record.phases?.length > 1) parts.push(table([t("moment"), t("begins"), t("ceases")], record.phases.map((p) => [shown(p.t, 8), p.on.join(", "), p.off.join(", ")]), { caption: t("phases") + label }));
      if (record.notes?.length) parts.push(el("ul", { class: "hypotheses" }, record.notes.map((n) => el("li", {}, n))));
    }
    fill(tables, parts);
  }

  const side = el("aside", {}, card(t("run"), ...runControls(app, options, set), button(t("run"), run, "primary")), card(null, ...valuePanel(app, { onchange: run })));
  root.append(el("div", { class: "columns" }, el("div", {},
    el("div", { class: "grid2" }, card(t("mechanism"), stated.drawn ? mechanism.node : el("p", {}, t("noLooks")), outcome), card(t("outcome"), tables)),
    card(t("motion"), charts)), side));
  run();
  return () => latest.stop();
}

const told = (changes) => Object.entries(changes).filter(([k]) => k !== "force").map(([k, v]) => `${t(k)}: ${word("stabilize", typeof v === "object" ? JSON.stringify(v) : String(v))}`).join(", ");

export function asOptions(options) {
  const found = {};
  for (const name of ["form", "method", "step", "rtol", "until", "project", "halve", "beyond", "force"]) if (options[name] !== undefined) found[name] = options[name];
  if (options.step) delete found.rtol;
  const how = options.stabilize;
  if (how === "kappa") found.stabilize = Number(options.kappa) || 10;
  else if (how === "pair") found.stabilize = { alpha: Number(options.alpha) || 20, beta: Number(options.beta) || 100 };
  else if (how) found.stabilize = how;
  return found;
}

export function runControls(app, options, set) {
  const { stated } = app, model = ["", t("asModel")];
  const parts = [
    choice(t("form"), [model, ...stated.forms.map((f) => [f, f])], options.form || "", (v) => set("form", v)),
    choice(t("method"), [model, ...stated.methods.map((m) => [m, m])], options.method || "", (v) => set("method", v)),
    el("div", { class: "row" }, entry(t("step"), options.step, (v) => set("step", v), { placeholder: stated.run.step ?? "" }), entry(t("until"), options.until, (v) => set("until", v), { placeholder: String(stated.until ?? "") })),
    entry(t("rtol"), options.rtol, (v) => set("rtol", v), { placeholder: stated.run.rtol ?? "" }),
  ];
  if (stated.constraints.length) parts.push(...gains(app, options, set));
  parts.push(tick(t("halve"), options.halve, (v) => set("halve", v)));
  if (Object.keys(stated.limits).length) parts.push(tick(t("beyond"), options.beyond, (v) => set("beyond", v)));
  return parts;
}

function gains(app, options, set) {
  const kinds = ["off", "auto", "projection", "kappa", "pair"].map((k) => [k, t(`stabilize.${k}`)]);
  const more = el("div", {}), plane = el("div", {});
  const numbers = () => {
    fill(more, options.stabilize === "kappa" ? entry("κ", options.kappa ?? "10", (v) => set("kappa", v)) : null,
      options.stabilize === "pair" ? el("div", { class: "row" }, entry("α", options.alpha ?? "20", (v) => set("alpha", v)), entry("β", options.beta ?? "100", (v) => set("beta", v))) : null);
  };
  numbers();
  const showPlane = async () => {
    try {
      const found = await app.work(app.question("plane", { options: asOptions(options) }), { quiet: true });
      if (!found) return;
      const heat = new Heat({ title: `${t("plane")}: ${found.method}, ${t("step")} ${shown(found.step)}`, x: "alpha", y: "beta", onpick: (alpha, beta) => {
        Object.assign(options, { stabilize: "pair", alpha: alpha.toPrecision(4), beta: beta.toPrecision(4) });
        set("stabilize", "pair");
        box.querySelector("select").value = "pair";
        numbers();
        heat.draw(found.alpha, found.beta, found.factor, { limit: 1, levels: [0, 1], mark: [alpha, beta] });
      } });
      const mark = options.stabilize === "pair" ? [Number(options.alpha), Number(options.beta)] : null;
      fill(plane, heat.draw(found.alpha, found.beta, found.factor, { limit: 1, levels: [0, 1], mark }).node, el("small", {}, t("planeHelp")));
    } catch { fill(plane); }
  };
  const box = choice(t("stabilize"), [["", t("asModel")], ...kinds], options.stabilize || "", (v) => { options.stabilize = v; numbers(); set("stabilize", v); });
  return [box, more, tick(t("compare"), options.compare, (v) => set("compare", v)), tick(t("project"), options.project, (v) => set("project", v)), tick(t("force"), options.force, (v) => set("force", v)),
    button(t("plane"), showPlane, "small"), plane];
}
