// Equilibria and steady motions: listed, drawn and judged; branches followed along a quantity.

import { Latest } from "../core/ask.js";
import { assignments, button, card, choice, entry, sides, table } from "../core/controls.js";
import { el, fill } from "../core/dom.js";
import { Mechanism } from "../core/mechanism.js";
import { pretty, shown } from "../core/numbers.js";
import { Plot } from "../core/plot.js";
import { valuePanel, variantPanel } from "../core/values.js";
import { COLOURS, driftLines, roots, rootsPlane, theorem, verdict } from "../core/verdicts.js";
import { t, word } from "../core/words.js";

export function show(root, app) {
  const options = app.options("stability"), { stated } = app;
  const list = el("div", { class: "positions" }), told = el("div", {}), chart = el("div", {});
  const drawing = new Latest();
  const kind = () => options.kind || (stated.cyclic.length ? "steady" : "equilibria");
  const set = (name, value) => { if (value === "" || value === null) delete options[name]; else options[name] = value; app.remember(); };

  const ask = (name, more) => app.work(app.question(name, { options: { fix: assignments(options.fix), box: sides(options.box), ...more } }));

  const find = async () => {
    const which = kind();
    let found;
    try { found = await ask(which, {}); } catch { fill(list); fill(chart); fill(told, el("p", { class: "wrong-text" }, app.status.textContent)); return; }
    if (!found) return;
    app.answer = found;
    const { record, scene } = found;
    const families = (record.families || []).flatMap((family) => family.members.map((m) => ({ ...m, family })));
    const members = which === "steady" ? record.motions : [...record.equilibria, ...families];
    fill(list, members.map((m, k) => picture(m, k, scene, () => one(members, k))));
    if (record.reason) app.say(record.reason);
    if (members.length) one(members, Math.min(Number(options.chosen) || 0, members.length - 1));
    else fill(told, el("p", {}, record.reason || t("noMotion")));
    fill(chart);
  };

  function picture(member, k, scene, onclick) {
    const node = el("button", { type: "button", "aria-pressed": "false", onclick });
    if (scene && k < scene.frames) node.append(new Mechanism({ label: `${k + 1}`, player: false, width: 170, height: 110 }).show(scene, { frame: k }).node);
    const values = Object.entries({ ...member.state, ...(member.speeds || {}) }).filter(([n]) => !n.endsWith("'") || member.speeds?.[n] !== undefined).slice(0, 4);
    node.append(el("span", {}, `${k + 1}: ${values.map(([n, x]) => `${pretty(n)} = ${shown(x, 4)}`).join(", ")}`), verdict(member.verdict));
    return node;
  }

  function one(members, k) {
    const m = members[k];
    set("chosen", k);
    [...list.children].forEach((node, j) => node.setAttribute("aria-pressed", String(j === k)));
    const rows = Object.entries({ ...m.state, ...(m.speeds || {}), ...(m.momenta || {}), ...m.inputs, ...m.parameters }).map(([n, x]) => [pretty(n), shown(x, 9)]);
    fill(told, el("p", {}, verdict(m.verdict)), ...driftLines(m).map((line) => el("p", {}, line)),
      el("div", { class: "grid2" }, table([t("name"), t("value")], rows), m.roots.length ? rootsPlane([{ name: t("roots"), roots: m.roots, colour: COLOURS[m.verdict] }]) : null),
      el("p", {}, `${t("roots")}: ${roots(m.roots)}; ${t("zeroRoots")}: ${m.zero_roots ?? "–"}`), theorem(m),
      m.notes?.length ? el("ul", { class: "hypotheses" }, m.notes.map((n) => el("li", {}, n))) : null);
  }

  const follow = async () => {
    const along = options.along || quantities()[0], from = options.from ?? "0", to = options.to ?? "10";
    let found;
    try { found = await ask("branches", { along: { [along]: [from, to] } }); } catch { fill(told, el("p", { class: "wrong-text" }, app.status.textContent)); return; }
    if (!found) return;
    app.answer = found;
    const members = found.record.branch;
    const name = options.upwards || Object.keys(members[0]?.state || {}).find((n) => !n.endsWith("'")) || along;
    const plot = new Plot({ title: `${t("branches")}: ${pretty(name)}`, x: along, y: name, height: 300, legend: true, onpick: (x) => pick(members, x, along) });
    const value = (m) => m.state[name] ?? m.speeds?.[name] ?? m.momenta?.[name] ?? NaN;
    const curves = [];
    for (const number of new Set(members.map((m) => m.number))) {
      const own = members.filter((m) => m.number === number);
      for (const w of new Set(own.map((m) => m.verdict)))
        curves.push({ name: "", x: own.map((m) => m.value), y: own.map((m) => (m.verdict === w ? value(m) : NaN)), colour: COLOURS[w], width: 2.4 });
    }
    for (const special of ["branching", "turning"]) {
      const points = members.filter((m) => m.kind === special);
      if (points.length) curves.push({ name: word("kind", special), x: points.map((m) => m.value), y: points.map(value), colour: "var(--ink)", points: "dot" });
    }
    for (const w of new Set(members.map((m) => m.verdict))) curves.push({ name: word("verdict", w), x: [NaN], y: [NaN], colour: COLOURS[w] });
    const drawable = [...Object.keys(members[0]?.state || {}), ...Object.keys(members[0]?.speeds || {}), ...Object.keys(members[0]?.momenta || {})];
    fill(chart, plot.draw(curves).node, choice(t("upwards"), drawable.map((n) => [n, pretty(n)]), name, (v) => { set("upwards", v); follow(); }), table([pretty(along), t("kind"), pretty(name)], members.filter((m) => m.kind !== "regular").map((m) => [shown(m.value, 8), word("kind", m.kind), shown(value(m), 8)]), { caption: t("branches") }));
    pick(members, Number(options.at ?? (members[0]?.value + members.at(-1)?.value) / 2), along);
  };

  function pick(members, x, along) {
    if (!members.length) return;
    set("at", shown(x, 6).replace("−", "-"));
    const near = [...new Set(members.map((m) => m.number))].map((n) => members.filter((m) => m.number === n).reduce((a, b) => (Math.abs(b.value - x) < Math.abs(a.value - x) ? b : a)));
    const draw = (scene) => { fill(list, near.map((m, k) => picture(m, k, scene, () => one(near, k)))); [...list.children][Number(options.chosen) || 0]?.setAttribute("aria-pressed", "true"); };
    draw(null);
    one(near, 0);
    if (stated.drawn) drawing.run(async (signal) => {
      const states = near.slice(0, 24).map((m) => Object.fromEntries(Object.entries({ ...m.parameters, ...m.state, ...(along in stated.parameters ? { [along]: m.value } : {}) }).filter(([, v]) => Number.isFinite(v))));
      const found = await app.work(app.question("places", { options: { states } }), { signal });
      if (found?.scene) draw(found.scene);
    });
    app.say(`${pretty(along)} ≈ ${shown(near[0].value, 6)}`);
  }

  const quantities = () => [...stated.cyclic.map((q) => `${q}'`), ...stated.cyclic.map((q) => `p_${q}`), ...Object.keys(stated.parameters)];
  const kinds = [["equilibria", t("equilibria")]];
  if (stated.cyclic.length) kinds.unshift(["steady", t("steady")]);
  const aside = el("aside", {}, card(t("find"), variantPanel(app), choice(t("find"), kinds, kind(), (v) => { set("kind", v); find(); }),
    entry(t("fix"), options.fix, (v) => { set("fix", v); find(); }, { help: t("fixHelp"), placeholder: stated.cyclic.length ? `${stated.cyclic[0]}' = 5` : "" }), entry(t("box"), options.box, (v) => { set("box", v); find(); }, { help: t("boxHelp"), placeholder: stated.coordinates[0] ? `${stated.coordinates[0]} = -1:1` : "" }), button(t("find"), find, "primary")),
  stated.cyclic.length ? card(t("branches"), choice(t("along"), quantities().map((q) => [q, pretty(q)]), options.along || quantities()[0], (v) => set("along", v)),
    el("div", { class: "row" }, entry(t("from"), options.from ?? "0", (v) => set("from", v)), entry(t("to"), options.to ?? "10", (v) => set("to", v))), button(t("follow"), follow, "primary")) : card(t("steady"), el("p", {}, t("noCyclic"))),
  card(null, ...valuePanel(app, { groups: ["parameters"], onchange: () => {} }), button(t("find"), find, "small")));
  root.append(el("div", { class: "columns" }, el("div", {}, card(t(kind()), list, chart, told)), aside));
  if (options.follow) follow(); else find();
}
