// Regulators: from the model to a run, link by link, for any model with inputs. The preset is the stand GBB 1005.

import { Latest, Negative } from "../core/ask.js";
import { assignments, button, card, choice, entry, sides, slider, table, tick, toClipboard } from "../core/controls.js";
import { el, fill } from "../core/dom.js";
import { Mechanism } from "../core/mechanism.js";
import { pretty, shown } from "../core/numbers.js";
import { Plot } from "../core/plot.js";
import { valuePanel, variantPanel } from "../core/values.js";
import { roots, rootsPlane, theorem, verdict } from "../core/verdicts.js";
import { told } from "../core/told.js";
import { t } from "../core/words.js";

const STAND = "model=ball-and-beam&with.control=voltage&with.motor=numbers&with.equilibrium=nonzero";
const LEAVING = `${STAND}&set.d=0.0935&control.design=both&control.until=60&control.start=~{"r":0.23}`;
const WINDOW = `${STAND}&set.d=0.08&control.dependent=alpha&control.measure=r&control.until=60&control.start=~{"r":0.22}`;
const STORIES = [
  ["story.41", `#control?${WINDOW}&control.design=shulgin`], ["story.42", `#control?${WINDOW}&control.design=linearised`],
  ["story.leaves", `#control?${LEAVING}&control.dependent=alpha`], ["story.creeps", `#control?${LEAVING}&control.dependent=theta`],
];
const TRIALS = { shulgin: ["regulator"], linearised: ["linearised constraints"], both: ["regulator", "linearised constraints"] };
const FAR = 30;

export function show(root, app) {
  const options = app.options("control"), { stated } = app;
  const latest = new Latest();
  const chain = el("ol", { class: "chain" }), charts = el("div", { class: "grid2" }), numbers = el("div", {}), start = el("div", {}), place = el("div", {}), weights = el("div", {}), pictures = el("div", { class: "positions" }), critical = el("div", {});
  const outcome = el("p", { class: "outcome", role: "status" }), hints = el("div", { class: "row" });
  const mechanism = new Mechanism({ label: `${t("mechanism")}: ${stated.title}`, height: 260, words: { play: t("play"), pause: t("pause"), time: t("time") }, ontime: (time) => plots.forEach((p) => p.cursorAt(time)) });
  let plots = [], answer = null, kept = (app.kept ||= []);

  const set = (name, value) => {
    if (value === "" || value === null || value === false) delete options[name]; else options[name] = value;
    app.remember();
    run();
  };
  const design = () => (stated.constraints.length ? options.design || "shulgin" : "shulgin");

  const asked = () => ({
    run: true, until: options.until || "20", against: design() !== "shulgin", beyond: Boolean(options.beyond), dependent: options.dependent, measure: options.measure, variables: options.variables,
    inputs: options.inputs, box: sides(options.box),
    fix: assignments(options.fix), near: Object.fromEntries(Object.entries(options.near || {}).filter(([name]) => !(name in assignments(options.fix)))), start: options.start || {}, weights: options.weights || {}, solver: options.solver === "poles" ? undefined : options.solver, poles: options.solver === "poles" ? options.poles : undefined,
  });

  const run = () => latest.run(async (signal) => {
    const began = performance.now();
    try { answer = await app.work(app.question("regulate", { options: asked() }), { signal }); } catch (error) { refused(error); return; }
    if (!answer) return;
    app.answer = answer;
    draw();
    app.shownIn = performance.now() - began;
  });

  function refused(error) {
    outcome.className = "outcome wrong-text";
    outcome.textContent = app.status.textContent;
    const record = error instanceof Negative ? error.facts.record : null;
    fill(chain, links({ ...(record || {}), refused: true, reason: error.message }));
    const turning = stated.cyclic[0] && !options.fix ? `${stated.cyclic[0]}' = ${shown(stated.initial[`${stated.cyclic[0]}'`] || 1, 4)}` : null;
    fill(hints, button(t("showAll"), choose, "small"), turning ? button(`${t("fix")}: ${turning}`, () => set("fix", turning), "small") : null, options.measure ? button(t("fullState"), () => set("measure", ""), "small") : null, options.fix ? button(`${t("fix")}: ${t("none")}`, () => set("fix", ""), "small") : null);
    fill(charts);
    plots = [];
  }

  function draw() {
    const { record, trials } = answer, names = TRIALS[design()].filter((n) => trials[n]);
    fill(chain, links(record));
    const runs = record.runs || {};
    outcome.className = names.some((n) => runs[n].status !== "finished") ? "outcome wrong-text" : "outcome";
    const label = (n) => (!stated.constraints.length ? "" : `${n === "regulator" ? t("shulgin") : t("linearised")}: `);
    outcome.textContent = names.map((n) => `${label(n)}${told(runs[n].answer)}`).join(" · ") || record.against?.reason || "";
    fill(hints, names.some((n) => runs[n].status === "left") ? button(t("beyond"), () => set("beyond", true), "small") : null,
      design() !== "shulgin" && names.some((n) => n !== "regulator" && runs[n].status !== "finished") ? button(t("shulgin"), () => set("design", "shulgin"), "small") : null,
      record.reason && options.measure ? button(t("fullState"), () => set("measure", ""), "small") : null);
    const main = trials[names[0]];
    if (main?.scene) { mechanism.show(main.scene, { ghosts: names.slice(1).map((n) => trials[n].scene) }); mechanism.seek(mechanism.time, { quiet: true }); } else if (answer.place) mechanism.show(answer.place);
    drawCurves(names);
    drawNumbers(record);
    drawStart(record);
    drawPlace();
    drawWeights(record);
  }

  // What was prescribed of the equilibrium, by a family or by a person: a slider each, within the limits or the box of the model.
  let placeOf = "";
  function drawPlace() {
    const fixed = Object.entries(answer.fixed || {}).filter(([name]) => stated.coordinates.includes(name) || name in stated.inputs || name.endsWith("'"));
    const key = fixed.map(([name]) => name).join();
    if (key === placeOf) return;
    placeOf = key;
    fill(place, fixed.map(([name, value]) => {
      const [low, high] = stated.limits[name] || [null, null], size = Math.max(0.5, Math.abs(value));
      return slider(name, value, { low: low ?? value - size, high: high ?? value + size, label: `${pretty(name)} ₀`, oninput: (v) => {
        options.fix = Object.entries({ ...assignments(options.fix), [name]: v }).map(([n, x]) => `${n} = ${x}`).join(", ");
        options.start = {};
        startOf = "";
        prescribed.querySelector("input").value = options.fix;
        app.remember();
        run();
      } });
    }));
  }

  function drawCurves(names) {
    const { trials } = answer, first = trials[names[0]] || trials.regulator;
    if (!first) return;
    const variables = Object.keys(first.deviations), inputs = Object.keys(first.inputs);
    const titles = [...variables.map((n) => t("transient", pretty(n))), ...inputs.map((n) => `${t("controlOf")} ${pretty(n)}`)];
    if (plots.map((p) => p.title).join("|") !== titles.join("|")) {
      plots = titles.map((title) => new Plot({ title, height: 170 }));
      fill(charts, plots.map((p) => p.node));
    }
    const shownRuns = [...kept.map((k, j) => ({ ...k, old: true, dash: ["4 3", "2 3", "8 4"][j % 3] })), ...names.map((n) => ({ label: n === "regulator" ? t("shulgin") : t("linearised"), trial: trials[n], rival: n !== "regulator" && names.length > 1 }))];
    variables.forEach((name, k) => {
      const curves = [];
      for (const { label, trial, rival, old, dash } of shownRuns) {
        const tag = names.length > 1 || old ? `${label}, ` : "";
        if (trial.linear[name]) curves.push({ name: `${tag}${t("linear")}`, x: trial.linear_t, y: trial.linear[name], colour: old ? "var(--c7)" : rival ? "var(--c5)" : "var(--c0)", pale: true });
        if (trial.deviations[name]) curves.push({ name: `${tag}${t("nonlinear")}`, x: trial.t, y: trial.deviations[name], colour: old ? "var(--c4)" : rival ? "var(--c3)" : "var(--c1)", dash: old ? dash : rival ? "6 3" : "" });
      }
      const limit = first.limits[name];
      const most = FAR * Math.max(1e-12, ...Array.from(first.linear[name] || first.deviations[name], Math.abs));
      plots[k].reach = ([low, high]) => [Math.max(low, -most), Math.min(high, most)];
      plots[k].draw(curves, { bands: limit ? [{ low: limit[0], high: limit[1] }] : [] });
    });
    inputs.forEach((name, k) => {
      const given = stated.inputs[name], bound = given && (given.low !== null || given.high !== null);
      plots[variables.length + k].draw(shownRuns.filter((r) => r.trial.inputs[name]).map(({ label, trial, rival, old, dash }) => ({ name: names.length > 1 || old ? label : name, x: trial.t, y: trial.inputs[name], colour: old ? "var(--c4)" : rival ? "var(--c3)" : "var(--c1)", dash: old ? dash : "" })),
        { bands: bound ? [{ low: given.low, high: given.high }] : [] });
    });
  }

  function links(record) {
    const runs = record.runs || {}, trial = runs[TRIALS[design()][0]];
    const link = (name, good, told) => el("li", { class: good === null ? "" : good ? "yes" : "no", title: told || "" }, `${t(`chain.${name}`)}: `, el("span", { class: `verdict ${good === null ? "" : good ? "yes" : "no"}` }, good === null ? t("skipped") : good ? "✓" : "✗"), told ? ` ${told}` : "");
    const state = record.state ? Object.entries(record.state).filter(([n]) => stated.coordinates.includes(n)).slice(0, 4).map(([n, x]) => `${pretty(n)} = ${shown(x, 4)}`).join(", ") : "";
    const gains = record.K ? shown(Math.max(...record.K.flat().map(Math.abs)), 3) : "";
    return [
      link("model", true, `${stated.coordinates.length} + ${stated.constraints.length}`), link("equilibrium", Boolean(record.state), state || record.reason),
      record.A ? link("approximation", true, `${record.variables.length} × ${record.variables.length}`) : null,
      record.controllable === undefined ? null : link("controllable", record.controllable, record.controllable ? "" : record.reason),
      record.refused ? null : link("gain", Boolean(record.K), record.K ? `|K| ≤ ${gains}` : record.reason),
      record.refused ? null : link("observer", record.observable, record.observable === null ? "" : record.observable ? "" : record.reason),
      trial ? link("start", trial.consistent, trial.halvings ? `÷ 2^${trial.halvings}` : "") : null, trial ? link("run", trial.status === "finished" && (trial.returned || /returning|tends/.test(trial.answer)), told(trial.answer)) : null,
    ];
  }

  function drawNumbers(record) {
    const rows = record.variables, inputs = Object.keys(record.inputs || {}).length ? Object.keys(record.inputs) : [];
    const matrix = (title, values, side, heads) => values && values.length ? el("details", { open: title === "K" }, el("summary", {}, title), table([title, ...heads.map(pretty)], values.map((row, k) => [pretty(side[k] ?? ""), ...row.map((x) => shown(x, 6))]), { caption: title }), copies(title, values)) : null;
    const kalman = (title, pair, side, heads) => {
      if (!pair?.matrix) return null;
      const wide = pair.matrix[0].length, tall = pair.matrix.length;
      return matrix(title, pair.matrix, Array.from({ length: tall }, (_, k) => (tall > side.length ? `${side[k % side.length] ?? ""} ${Math.floor(k / Math.max(1, side.length))}` : side[k])), Array.from({ length: wide }, (_, k) => (wide > heads.length ? `${heads[k % heads.length] ?? ""} ${Math.floor(k / Math.max(1, heads.length))}` : heads[k])));
    };
    const used = record.K ? inputs.slice(0, record.K.length) : inputs;
    fill(numbers, el("p", {}, `${t("programme")}: ${inputs.map((n) => `${pretty(n)} = ${shown(record.inputs[n], 7)}`).join(", ")}`),
      el("p", {}, `${t("controllable")}: `, verdictOf(record.controllable), `; ${t("observable")}: `, verdictOf(record.observable), `; ${t("riccati")}: ${shown(record.riccati_residual, 3)}; ${t("defect")}: ${shown(record.linearisation_defect, 4)}`),
      matrix("K", record.K, used, rows), record.against?.K ? matrix(`K, ${t("linearised")}`, record.against.K, used, rows) : null, matrix("A", record.A, rows, rows), matrix("B", record.B, rows, used), matrix("Z", record.Z, rows, record.dependent || []),
      record.observer ? matrix("Λ", record.observer.gain, rows, record.observer.measured) : null, record.observer ? matrix("C", record.observer.C, record.observer.measured, rows) : null,
      kalman(`${t("controllability")} [B, AB, …]`, record.controllability, rows, used), record.observability ? kalman(`${t("observability")} [C; CA; …]`, record.observability, record.observer?.measured || [], rows) : null,
      el("p", {}, `${t("openRoots")}: ${roots(record.open_roots)}`), el("p", {}, `${t("closedRoots")}: ${roots(record.closed_roots)}`), record.against ? el("p", {}, `${t("closedRoots")}, ${t("linearised")}: ${roots(record.against.closed_roots)}`) : null,
      rootsPlane([{ name: t("openRoots"), roots: record.open_roots, colour: "var(--c7)" }, { name: t("closedRoots"), roots: record.closed_roots, colour: "var(--c0)", points: "dot" }, ...(record.against?.closed_roots?.length ? [{ name: t("linearised"), roots: record.against.closed_roots, colour: "var(--c1)", points: "dot" }] : [])]),
      theorem(record), record.notes?.length ? el("ul", { class: "hypotheses" }, record.notes.map((n) => el("li", {}, n))) : null);
  }

  const verdictOf = (good) => el("span", { class: `verdict ${good ? "yes" : good === false ? "no" : ""}` }, good === null || good === undefined ? t("skipped") : good ? t("yes") : t("no"));

  function copies(name, values) {
    const plain = name.replace(/[^A-Za-z]/g, "") || "L";
    const forms = { MATLAB: `${plain} = [${values.map((r) => r.join(" ")).join("; ")}];`, NumPy: `${plain} = np.array(${JSON.stringify(values)})`, LaTeX: `${plain} = \\begin{pmatrix} ${values.map((r) => r.map((x) => Number(x.toPrecision(6))).join(" & ")).join(" \\\\ ")} \\end{pmatrix}` };
    return el("div", { class: "row" }, t("copyAs"), Object.entries(forms).map(([kind, text]) => button(kind, () => toClipboard(text, (said) => app.say(said)), "small")));
  }

  let startOf = "";
  function drawStart(record) {
    const names = [...new Set(record.variables)], trial = record.runs?.regulator;
    const key = names.join() + JSON.stringify(record.state);
    if (key !== startOf) {
      startOf = key;
      const rows = names.map((name) => {
        const rest = record.state[name] ?? 0, sides = stated.limits[name], size = Math.max(0.1, Math.abs(rest) || 0.3);
        return slider(name, options.start?.[name] ?? trial?.start?.[name] ?? rest, { low: sides?.[0] ?? rest - size, high: sides?.[1] ?? rest + size, oninput: (v) => { options.start = { ...(options.start || {}), [name]: v }; app.remember(); run(); } });
      });
      fill(start, rows, (start.told = el("div", {})));
    }
    if (!trial) return;
    const dependent = (record.dependent || []).map((n) => `${pretty(n)} = ${shown(trial.start[n], 7)}`).join(", ");
    fill(start.told, dependent ? el("p", {}, `${t("completed")}: ${dependent}`) : null,
      answer.iterations?.length ? el("details", {}, el("summary", {}, t("iterations")), table([t("iteration"), t("squared"), t("length"), t("radius")], answer.iterations.map((r) => r.map((x) => (x === null ? "–" : shown(x, 6)))), { caption: t("iterations") })) : null);
  }

  let weightsOf = "";
  function drawWeights(record) {
    const measured = record.observer?.measured || [], names = [...record.variables, "|", ...measured].join();
    if (names === weightsOf) return;
    weightsOf = names;
    const of = (kind, name) => slider(name, Math.log10(options.weights?.[kind]?.[name] ?? 1), { low: -3, high: 3, oninput: (v) => {
      const all = structuredClone(options.weights || {});
      (all[kind] ||= {})[name] = Number((10 ** Number(v)).toPrecision(3));
      options.weights = all;
      app.remember();
      run();
    } });
    const part = (key, kind, list) => (list.length ? [el("h3", {}, t(key)), list.map((n) => of(kind, n))] : null);
    fill(weights, el("small", {}, t("weightsHelp")), part("weights.state", "state", record.variables), part("weights.input", "input", options.inputs?.length ? options.inputs : Object.keys(record.inputs || {})),
      measured.length ? [part("weights.noise", "noise", record.variables), part("weights.measurement", "measurement", measured)] : null);
  }

  const choose = async () => {
    const fix = assignments(options.fix);
    if (!Object.keys(fix).length && stated.parameters.r0 && stated.coordinates.includes("r")) fix.r = "r0";
    let found;
    try { found = await app.work(app.question("equilibria", { options: { fix } })); } catch { return; }
    if (!found) return;
    if (found.record.reason) app.say(found.record.reason);
    fill(pictures, found.record.equilibria.map((e, k) => {
      const node = el("button", { type: "button", "aria-pressed": "false", onclick: () => {
        [...pictures.children].forEach((other) => other.setAttribute("aria-pressed", String(other === node)));
        options.start = {};
        startOf = "";
        set("near", Object.fromEntries(Object.entries(e.state).filter(([n]) => stated.coordinates.includes(n))));
      } });
      if (found.scene) node.append(new Mechanism({ label: `${k + 1}`, player: false, width: 170, height: 110 }).show(found.scene, { frame: k }).node);
      node.append(el("span", {}, Object.entries(e.state).filter(([n]) => stated.coordinates.includes(n)).map(([n, x]) => `${pretty(n)} = ${shown(x, 4)}`).join(", ")), verdict(e.verdict));
      return node;
    }));
  };

  const findCritical = async () => {
    const name = options.critical || Object.keys(stated.parameters)[0], value = stated.parameters[name]?.value ?? 1;
    const span = [options.criticalFrom || String(0.5 * value), options.criticalTo || String(1.5 * value)];
    let found;
    try { found = await app.work(app.question("regulate", { options: { ...asked(), run: false, critical: { [name]: span } } })); } catch { return; }
    if (!found) return;
    const c = found.record.critical, plot = new Plot({ title: `${t("critical")} ${pretty(name)}`, x: name, y: "Re", height: 180 });
    app.criticalValue = c.value;
    fill(critical, el("p", {}, el("strong", {}, c.value === null ? t("never_fails") : t("fails_at", pretty(name), shown(c.value, 6)))),
      plot.draw([{ name: "max Re", x: c.values, y: c.largest_real_part.map((x) => x ?? NaN), colour: "var(--c0)" }], { lines: [{ at: 0 }] }).node);
  };

  const basin = el("div", {});
  const prescribed = entry(t("fix"), options.fix, (v) => { placeOf = ""; set("fix", v); }, { help: t("fixHelp"), placeholder: stated.cyclic.length ? `${stated.cyclic[0]}' = 5` : "" });
  const findBasin = async () => {
    const within = sides(options.within), count = options.count || "300";
    let found;
    try { found = await app.work(app.question("basin", { options: { ...asked(), run: false, against: false, within, count } })); } catch { fill(basin, el("p", { class: "wrong-text" }, app.status.textContent)); return; }
    if (!found) return;
    app.basin = found;
    const { names, record, rest } = found, [rows, width] = found.starts.shape, [a, b] = [options.basinX, options.basinY].map((n, k) => (names.includes(n) ? n : names[Math.min(k, width - 1)]));
    const column = (name) => Float64Array.from({ length: rows }, (_, k) => rest[name] + found.starts[k * width + names.indexOf(name)]);
    const [x, y] = [column(a), a === b ? new Float64Array(rows) : column(b)], pick = (want) => ({ x: x.filter((_, k) => found.returned[k] === want), y: y.filter((_, k) => found.returned[k] === want) });
    const plot = new Plot({ title: t("basin"), x: a, y: a === b ? "" : b, height: 280 });
    const axis = (key, now) => choice(key === "basinX" ? "x" : "y", names.map((n) => [n, pretty(n)]), now, (v) => { options[key] = v; app.remember(); findBasin(); });
    fill(basin, el("p", {}, el("strong", {}, t("basinOf", record.returned, record.count)), record.left ? ` ${t("basinLeft", record.left)}` : "", record.outside ? ` ${t("basinOutside", record.outside)}` : "", ` ${t("basinRadius", shown(100 * record.radius, 3))}`),
      plot.draw([{ name: t("returned"), ...pick(1), colour: "var(--c2)", points: "dot" }, { name: t("lost"), ...pick(0), colour: "var(--c1)", points: "cross" }]).node, names.length > 2 ? el("div", { class: "row" }, axis("basinX", a), axis("basinY", b)) : null);
  };

  if (!Object.keys(stated.inputs).length) root.append(card(t("control"), el("p", {}, t("noInputs")), presets(app)));
  else {
    const inputNames = Object.keys(stated.inputs);
    const info = options.measure ? "sensors" : "full";
    const measured = entry(t("measured"), options.measure, (v) => set("measure", v), { placeholder: stated.coordinates[0] });
    const aside = el("aside", {},
      card(t("preset"), presets(app)),
      card(t("design"), variantPanel(app, ["dependent"]),
        stated.constraints.length ? choice(t("design"), ["shulgin", "linearised", "both"].map((d) => [d, t(d)]), design(), (v) => set("design", v)) : null,
        choice(t("information"), [["full", t("fullState")], ["sensors", t("sensors")]], info, (v) => set("measure", v === "full" ? "" : stated.coordinates[0])), measured,
        stated.constraints.length ? choice(t("dependent"), [["", t("best")], ...stated.coordinates.map((q) => [q, pretty(q)])], options.dependent || "", (v) => set("dependent", v)) : null,
        stated.cyclic.length ? choice(t("variables"), [["", t("lagrange")], ["routh", t("routh")]], options.variables || "", (v) => set("variables", v)) : null,
        prescribed,
        entry(t("box"), options.box, (v) => set("box", v), { help: t("boxHelp"), placeholder: stated.coordinates[0] ? `${stated.coordinates[0]} = -1:1` : "" }),
        inputNames.length > 1 ? el("fieldset", {}, el("legend", {}, t("actingInputs")), inputNames.map((n) => tick(pretty(n), !options.inputs || options.inputs.includes(n), (on) => {
          const now = inputNames.filter((m) => (m === n ? on : !options.inputs || options.inputs.includes(m)));
          weightsOf = "";
          set("inputs", now.length && now.length < inputNames.length ? now : null);
        }))) : null,
        choice(t("regulator"), ["schur", "establishment", "poles"].map((s) => [s, t(`solver.${s}`)]), options.solver || "schur", (v) => set("solver", v)),
        entry(t("poles"), options.poles, (v) => { options.poles = v; set("solver", "poles"); }, { placeholder: "-1, -2, -3+1i, -3-1i" }),
        entry(t("horizon"), options.until, (v) => set("until", v), { placeholder: "20" }), tick(t("beyond"), options.beyond, (v) => set("beyond", v)), button(t("run"), run, "primary")),
      card(t("deviations"), start), card(null, el("details", { class: "group" }, el("summary", {}, t("weights")), weights)), card(null, ...valuePanel(app, { groups: ["parameters"], onchange: run })));
    root.append(el("div", { class: "columns" }, el("div", {}, card(t("chain"), chain, outcome, hints),
      el("div", { class: "grid2" }, card(t("equilibrium"), stated.drawn ? mechanism.node : null, place, button(t("showAll"), choose, "small"), pictures),
        card(t("critical"), el("div", { class: "row" }, choice(t("critical"), Object.keys(stated.parameters).map((n) => [n, pretty(n)]), options.critical || Object.keys(stated.parameters)[0], (v) => { options.critical = v; app.remember(); }),
          entry(t("from"), options.criticalFrom, (v) => { options.criticalFrom = v; app.remember(); }), entry(t("to"), options.criticalTo, (v) => { options.criticalTo = v; app.remember(); }), button(t("find"), findCritical)), critical)),
      card(t("motion"), el("div", { class: "row" }, button(t("overlay"), () => { if (answer?.trials) { kept.push(...TRIALS[design()].filter((n) => answer.trials[n]).map((n) => ({ label: `${kept.length + 1}`, trial: answer.trials[n] }))); draw(); } }, "small"), button(t("clearRuns"), () => { kept = app.kept = []; if (answer) draw(); }, "small")), charts),
      card(t("basin"), el("p", {}, t("basinHelp")), el("div", { class: "row" }, entry(t("within"), options.within, (v) => { options.within = v; app.remember(); }, { help: t("boxHelp"), placeholder: stated.coordinates[0] ? `${stated.coordinates[0]} = -1:1` : "" }),
        entry(t("starts"), options.count, (v) => { options.count = v; app.remember(); }, { placeholder: "300" }), button(t("find"), findBasin)), basin),
      card(t("numbers"), numbers),
      card(null, el("details", { class: "group" }, el("summary", {}, `${t("parameters")}: ${t("unit")}, ${t("source")}`), table([t("name"), t("value"), t("unit"), t("source")],
        Object.entries(stated.parameters).map(([n, p]) => [pretty(n), shown(Number(app.state.settings[n] ?? p.value), 7), p.unit, p.source ? t(p.source === "published" ? "published_" : p.source) : ""]), { caption: t("parameters") })))), aside));
    run();
  }
  return () => latest.stop();
}

function presets(app) {
  return el("div", {}, el("div", { class: "row" }, button("Ball and Beam GBB 1005", async () => {
    await app.openModel({ name: "ball-and-beam", variant: { control: "voltage", motor: "numbers" } });
    Object.assign(app.options("control"), { dependent: "alpha", critical: "d" });
    app.remember();
    await app.showPage();
  }, "primary")), el("p", {}, `${t("stories")}: `, STORIES.map(([key, address]) => [el("a", { href: address }, t(key)), " · "])));
}
