// A living model on a page: sliders, the motion computed anew at every move, bodies that can be dragged, plots, the address.
//
//   svyaz.startLiving()     brings every element .living[data-model] to life
//   its parts: .player (see player.js), [data-part="panel"] with rows .row[data-kind][data-name] of two inputs, [data-part="facts"],
//   [data-part="message"], .plot with selects and a canvas; what is missing is left out. `svyaz.lives` are the started ones:
//   { engine, setting(), motion(), change(setting), milliseconds } (of the last change, until it was drawn)
((svyaz) => {
  "use strict";

  const SLICE = 24; // milliseconds of computing before a picture is drawn and newer wishes are heard
  const GROUPS = [
    ["coordinates", "Coordinates"], ["velocities", "Velocities"], ["output", "Outputs"], ["energies", "Energies"],
    ["balance", "Energy balance"], ["residuals", "Residuals"], ["multipliers", "Multipliers"], ["integrals", "Integrals"],
  ];
  const DASHES = [[], [6, 3], [2, 2]];
  const WORDS = { kinetic: "T", potential: "P", energy: "E" };

  const short = (value, digits = 3) => {
    if (!Number.isFinite(value)) return "–";
    const size = Math.abs(value);
    if (value === 0 || (size >= 1e-3 && size < 1e5)) return String(+value.toPrecision(digits + 1)).replace("-", "−");
    const [number, power] = value.toExponential(digits - 1).split("e");
    return `${number}·10${svyaz.raised(Number(power))}`.replace("-", "−");
  };

  const largest = (columns) => {
    let most = 0, known = false;
    for (const column of Object.values(columns ?? {})) for (const x of column) if (x === x) { known = true; most = Math.max(most, Math.abs(x)); }
    return known ? most : null;
  };

  // Points of all drawings along the rows: corners, and the paths of what is traced.
  const film = (record, motion) => {
    const { draw, times, states, count } = motion, n = record.states.length;
    const x = new Float64Array(n + 1), out = new Float64Array(draw.count);
    const spatial = record.drawings.some((d) => d.dim === 3), low = [Infinity, Infinity, Infinity], high = [-Infinity, -Infinity, -Infinity];
    const traced = record.drawings.filter((d) => d.trace).map((d) => ({ dim: d.dim, points: new Float64Array(count * d.dim) }));
    for (let row = 0; row < count; row++) {
      x[0] = times[row];
      for (let k = 0; k < n; k++) x[k + 1] = states[row * n + k];
      draw.call(x, out);
      let at = 0, trace = 0, radius = out.length - record.drawings.filter((d) => d.radius).length;
      for (const { size, dim, trace: kept, radius: round } of record.drawings) {
        const reach = round ? Math.abs(out[radius++]) : 0;
        for (let p = 0; p < size; p++) {
          for (let a = 0; a < 3; a++) {
            const value = a < dim ? out[at + p * dim + a] : 0;
            if (value - reach < low[a]) low[a] = value - reach;
            if (value + reach > high[a]) high[a] = value + reach;
          }
        }
        if (kept) {
          const { points } = traced[trace++];
          for (let a = 0; a < dim; a++) points[row * dim + a] = out[at + (size - 1) * dim + a];
        }
        at += size * dim;
      }
    }
    const axes = spatial ? 3 : 2, corners = [low.slice(0, axes), high.slice(0, axes)];
    if (!corners.flat().every(Number.isFinite)) return { low: Array(axes).fill(-1), high: Array(axes).fill(1), traced };
    const room = 0.06 * Math.max(...corners[1].map((h, k) => h - corners[0][k])) || 1;
    return { low: corners[0].map((l) => l - room), high: corners[1].map((h) => h + room), traced };
  };

  const rowOf = ({ times, count }, t) => {
    let low = 0, high = count - 1;
    while (low < high) { const middle = (low + high + 1) >> 1; if (times[middle] <= t) low = middle; else high = middle - 1; }
    return low;
  };

  const sourceOf = (engine, motion, speed, corners) => {
    const { record } = engine, { times, count } = motion, shot = film(record, motion);
    const first = times[0], last = times[count - 1];
    if (corners) {
      shot.low = shot.low.map((l, k) => Math.min(l, corners.low[k]));
      shot.high = shot.high.map((h, k) => Math.max(h, corners.high[k]));
    }
    return {
      span: [first, last], speed, spatial: record.drawings.some((d) => d.dim === 3), up: record.up, low: shot.low, high: shot.high,
      interval: count > 1 ? (last - first) / Math.min(count - 1, 600) : 1,
      parts: (t) => {
        const out = engine.points(motion, t);
        let at = 0, radius = out.length - record.drawings.filter((d) => d.radius).length;
        return record.drawings.map(({ kind, size, dim, radius: round }) => {
          const points = out.subarray(at, at + size * dim);
          at += size * dim;
          return { kind, size, dim, points, radius: round ? out[radius++] : 0 };
        });
      },
      trails: (t) => { const row = rowOf(motion, t); return shot.traced.map((trail) => ({ ...trail, count: row + 1 })); },
    };
  };

  // ---- plots

  const groupsOf = (record, motion) => {
    const n = record.states.length, columns = {};
    const state = (k) => { const found = new Float64Array(motion.count); for (let row = 0; row < motion.count; row++) found[row] = motion.states[row * n + k]; return found; };
    const places = record.states.map((_, k) => k), coordinates = record.coordinates.length ? record.coordinates : places;
    columns.coordinates = Object.fromEntries(coordinates.map((k) => [record.states[k], state(k)]));
    columns.velocities = Object.fromEntries(places.filter((k) => !coordinates.includes(k)).map((k) => [record.states[k], state(k)]));
    return { ...columns, ...motion.columns };
  };

  const plots = (root, record, player, current) => {
    const card = root.querySelector('[data-part="plots"]');
    if (!card) return { refresh: () => {}, moved: () => {} };
    const find = (name) => card.querySelector(`[data-part="${name}"]`);
    const [group, across, up, timeCanvas, phaseCanvas, legend, cursor, dot] = ["group", "across", "up", "time", "phase", "legend", "cursor", "dot"].map(find);
    const named = (name) => WORDS[name] ?? record.shown[name] ?? name;
    const colours = () => { const style = getComputedStyle(card); return [1, 2, 3, 4, 5, 6].map((k) => style.getPropertyValue(`--trail-${k}`).trim()); };
    let groups = {}, time = null, phase = null, flat = {}, gaps = new Set();

    const filled = () => {
      for (const [key, title] of GROUPS) if (Object.keys(groups[key] ?? {}).length && ![...group.options].some((o) => o.value === key)) group.add(new Option(title, key));
      if (across.options.length) return;
      for (const name of ["t", ...Object.keys(flat)]) { across.add(new Option(named(name), name)); up.add(new Option(named(name), name)); }
      const first = Object.keys(groups.coordinates)[0], second = `${first}'` in flat ? `${first}'` : Object.keys(flat)[1] ?? first;
      across.value = first;
      up.value = second;
    };
    const drawTime = () => {
      const motion = current(), palette = colours(), chosen = groups[group.value] ?? {};
      const names = Object.keys(chosen).slice(0, 18), log = group.value === "residuals";
      const curves = names.map((name, k) => ({ x: motion.times, y: chosen[name], colour: palette[k % 6], dash: DASHES[Math.floor(k / 6) % 3] }));
      const bands = group.value === "output" || group.value === "coordinates" ? limitsOf(motion, names) : [];
      time = svyaz.plot(timeCanvas, { curves, log, bands, gaps });
      legend.replaceChildren(...names.map((name, k) => {
        const entry = document.createElement("span"), line = document.createElement("i");
        line.style.borderTop = `2.5px ${["solid", "dashed", "dotted"][Math.floor(k / 6) % 3]} ${palette[k % 6]}`;
        entry.append(line, log ? `|${named(name)}|` : group.value === "multipliers" ? `λ ${named(name)}` : named(name));
        return entry;
      }));
      timeCanvas.setAttribute("aria-label", `${group.selectedOptions[0]?.textContent ?? ""} over time: ${names.join(", ")}`);
    };
    const limitsOf = (motion, names) => (names.length === 1 && motion.columns.limited?.[names[0]]
      ? [[motion.columns.low?.[names[0]]?.[0] ?? -Infinity, motion.columns.high?.[names[0]]?.[0] ?? Infinity]] : []);
    const drawPhase = () => {
      const motion = current(), column = (name) => (name === "t" ? motion.times : flat[name]);
      const [x, y] = [column(across.value), column(up.value)];
      if (!x || !y) return;
      phase = svyaz.plot(phaseCanvas, { curves: [{ x, y, colour: colours()[0] }], across: named(across.value), up: named(up.value), gaps });
      phaseCanvas.setAttribute("aria-label", `${up.value} over ${across.value}`);
    };
    const moved = (t) => {
      const motion = current();
      if (time) cursor.style.transform = `translateX(${time.x(t)}px)`;
      if (!phase) return;
      const state = player.state(t), value = (name) => (name === "t" ? t : record.states.includes(name) ? state[record.states.indexOf(name)] : flat[name][rowOf(motion, t)]);
      const [x, y] = [value(across.value), value(up.value)];
      dot.style.visibility = Number.isFinite(x + y) ? "visible" : "hidden";
      dot.style.transform = `translate(${phase.x(x)}px, ${phase.y(y)}px)`;
    };
    const refresh = () => {
      const motion = current();
      groups = groupsOf(record, motion);
      gaps = new Set();
      for (let row = 1; row < motion.count; row++) if (motion.times[row] === motion.times[row - 1]) gaps.add(row);
      flat = Object.assign({}, ...["coordinates", "velocities", "output", "energies", "multipliers"].map((key) => groups[key] ?? {}));
      filled();
      drawTime();
      drawPhase();
      moved(player.now());
    };
    group.addEventListener("change", () => { drawTime(); moved(player.now()); });
    for (const select of [across, up]) select.addEventListener("change", () => { drawPhase(); moved(player.now()); });
    let held = false;
    const point = (event) => { if (time) { player.play(false); player.go(time.value(event.clientX - timeCanvas.getBoundingClientRect().left)); } };
    timeCanvas.addEventListener("pointerdown", (event) => { held = true; timeCanvas.setPointerCapture(event.pointerId); point(event); });
    timeCanvas.addEventListener("pointermove", (event) => { if (held) point(event); });
    for (const name of ["pointerup", "pointercancel"]) timeCanvas.addEventListener(name, () => { held = false; });
    new ResizeObserver(refresh).observe(timeCanvas);
    window.matchMedia("(prefers-color-scheme: dark)").addEventListener?.("change", refresh);
    return { refresh, moved };
  };

  // ---- the address: p.NAME, s.NAME, g.NAME, e.NAME of the equilibrium, gains, beyond, until, az, el

  const written = (engine, setting, view) => {
    const { record } = engine, given = engine.setting(), words = new URLSearchParams();
    for (const [name, value] of Object.entries(setting.values)) if (value !== given.values[name]) words.set(`p.${name}`, value);
    for (const [name, value] of Object.entries(setting.start)) words.set(`s.${name}`, value);
    for (const [name, value] of Object.entries(setting.gains)) if (value !== given.gains[name]) words.set(`g.${name}`, value);
    for (const [name, value] of Object.entries(setting.targets)) if (value !== given.targets[name]) words.set(`e.${name}`, value);
    if (setting.resolve !== given.resolve) words.set("gains", "kept");
    if (setting.beyond) words.set("beyond", "1");
    if (setting.until !== record.span[1]) words.set("until", setting.until);
    if (view) { words.set("az", view.azimuth.toFixed(3)); words.set("el", view.elevation.toFixed(3)); }
    return words.toString();
  };

  const readAddress = (engine) => {
    const setting = engine.setting(), { record } = engine, words = new URLSearchParams(location.hash.slice(1));
    const tables = { p: setting.values, s: setting.start, g: setting.gains, e: setting.targets };
    if (words.get("gains") === "kept") setting.resolve = false;
    setting.beyond = words.has("beyond");
    for (const [key, text] of words) {
      const value = Number(text), name = key.slice(2), table = tables[key[0]];
      if (!Number.isFinite(value)) continue;
      if (key === "until") setting.until = Math.max(record.step, Math.min(value, record.span[1]));
      else if (key[1] === "." && table && (key[0] === "s" ? record.states.includes(name) : name in table)) table[name] = value;
    }
    const view = words.has("az") && words.has("el") ? [Number(words.get("az")), Number(words.get("el"))] : null;
    return { setting, view: view && view.every(Number.isFinite) ? view : null };
  };

  // ---- one model

  const start = (root) => {
    const data = JSON.parse(root.querySelector('script[data-part="record"]').textContent), record = data.record;
    const find = (name) => root.querySelector(`[data-part="${name}"]`);
    const engine = svyaz.engine(record, svyaz.programs[root.dataset.model]), addressed = root.hasAttribute("data-address");
    const read = addressed ? readAddress(engine) : { setting: engine.setting(), view: null };
    const begun = performance.now();
    let setting = read.setting, job = null, motion = engine.run(setting), source = sourceOf(engine, motion, data.speed, null);
    let asked = 0, life = null;
    const player = svyaz.player(root.querySelector(".player"), source);
    player.state = (t) => engine.stateAt(motion, t);
    if (read.view) player.picture.look(...read.view);
    const graphs = plots(root, record, player, () => motion);
    player.onTime((t) => graphs.moved(t));

    const rows = [...root.querySelectorAll(".row[data-name]")].map((row) => {
      const [range, number] = row.querySelectorAll("input");
      return { row, range, number, kind: row.dataset.kind, name: row.dataset.name };
    });
    const ofRegulator = (name) => record.regulator !== null && /^(gain|rest|held) /.test(name); // no name of a model has a blank
    const valueOf = ({ kind, name }) => {
      if (kind === "until") return setting.until;
      if (kind === "start") return motion.prepared.state[record.states.indexOf(name)];
      if (kind === "values" && ofRegulator(name)) return motion.prepared.values[name];
      return setting[kind][name];
    };
    const showRows = (except) => {
      for (const entry of rows) {
        const value = valueOf(entry), { range, number } = entry;
        if (value < Number(range.min)) range.min = value;
        if (value > Number(range.max)) range.max = value;
        if (range !== except) range.value = value;
        if (number !== except) number.value = +value.toPrecision(6);
      }
      if (find("resolve")) find("resolve").checked = setting.resolve;
      if (find("beyond")) find("beyond").checked = setting.beyond;
    };
    const showFacts = () => {
      const facts = { residual: largest(motion.columns.residuals), remainder: largest({ e: motion.columns.balance?.remainder ?? [] }), steps: motion.steps, milliseconds: life?.milliseconds };
      for (const entry of root.querySelectorAll("[data-fact]")) {
        const value = facts[entry.dataset.fact];
        entry.textContent = value === null || value === undefined ? "–" : entry.dataset.fact === "milliseconds" ? `${value.toFixed(1)} ms` : short(value, 2);
      }
      const beyond = Object.keys(motion.columns.limited ?? {}).filter((name) => {
        const { limited, low, high } = motion.columns;
        return limited[name].some((x, k) => x > (high?.[name]?.[k] ?? Infinity) || x < (low?.[name]?.[k] ?? -Infinity));
      });
      const words = [];
      if (motion.status !== "finished") words.push(`${motion.status}: ${motion.reason}`);
      if (motion.prepared.design?.reason) words.push(`${motion.prepared.design.reason}: the equilibrium is that of the model`);
      if (motion.prepared.off > 1e-9) words.push(`no start near this one satisfies the constraints: they are off by ${short(motion.prepared.off, 2)}`);
      if (beyond.length && motion.status !== "left") words.push(`beyond the limits of the model: ${beyond.map((name) => record.shown[name] ?? name).join(", ")}`);
      const message = find("message");
      if (message) {
        message.textContent = words.join("; ");
        message.hidden = words.length === 0;
      }
    };
    const note = () => {
      if (!addressed) return;
      const moved = player.picture.camera.spatial && (read.view || life.turned) ? player.picture.view() : null;
      try { history.replaceState(null, "", `#${written(engine, setting, moved)}`); } catch { /* an address that cannot be changed */ }
    };
    let noting = 0;
    const noteLater = () => { clearTimeout(noting); noting = setTimeout(note, 250); };

    const finish = (asked, steady, except) => {
      motion = job.motion;
      job = null;
      source = sourceOf(engine, motion, data.speed, steady ? source : null);
      player.use(source);
      player.show();
      graphs.refresh();
      life.milliseconds = performance.now() - asked;
      showRows(except);
      showFacts();
      noteLater();
    };
    // The newest wish counts: what is being computed for an older one is dropped. `steady`: the picture is not scaled anew.
    const change = (wanted, steady = false, except = null) => {
      const wished = performance.now(), number = ++asked;
      setting = wanted;
      try { job = engine.begin(wanted); } catch (error) { return; }
      const go = () => {
        if (number !== asked) return;
        if (job.advance(SLICE)) finish(wished, steady, except);
        else setTimeout(go, 0);
      };
      go();
    };
    // Moves that come while the browser is busy are taken together: one change a frame, with the last values.
    let waiting = null;
    const changeSoon = (wanted, except) => {
      const idle = waiting === null;
      waiting = wanted;
      if (idle) queueMicrotask(() => { const next = waiting; waiting = null; change(next, true, except); });
    };
    const moved = ({ kind, name }, value, except) => {
      const next = { ...setting, values: { ...setting.values }, start: { ...setting.start }, gains: { ...setting.gains }, targets: { ...setting.targets }, keep: [] };
      if (kind === "values" && ofRegulator(name)) { // a gain set by hand: the others stay as they are
        for (const other of Object.keys(next.values)) if (ofRegulator(other)) next.values[other] = motion.prepared.values[other];
        next.resolve = false;
      }
      if (kind === "until") next.until = Math.max(record.step, Math.min(value, record.span[1]));
      else if (kind === "start") {
        record.states.forEach((state, k) => { next.start[state] = motion.prepared.state[k]; });
        next.start[name] = value;
        next.keep = [name];
        player.play(false);
        player.go(record.span[0]);
      } else next[kind][name] = value;
      changeSoon(next, except);
    };
    for (const entry of rows) {
      const { range, number } = entry;
      range.addEventListener("input", () => moved(entry, Number(range.value), range));
      number.addEventListener("change", () => { const value = Number(number.value); if (number.value !== "" && Number.isFinite(value)) moved(entry, value, null); else showRows(); });
      range.addEventListener("change", () => { if (!job) { source = sourceOf(engine, motion, data.speed, null); player.use(source); player.show(); } showRows(); });
    }
    find("resolve")?.addEventListener("change", (event) => {
      const given = engine.setting().values, values = { ...setting.values };
      for (const name of Object.keys(values)) if (ofRegulator(name)) values[name] = event.target.checked ? given[name] : motion.prepared.values[name];
      change({ ...setting, values, resolve: event.target.checked });
    });
    find("beyond")?.addEventListener("change", (event) => change({ ...setting, beyond: event.target.checked }));
    find("reset")?.addEventListener("click", () => change(engine.setting()));
    find("link")?.addEventListener("click", async (event) => {
      note();
      const button = event.currentTarget, words = button.textContent;
      try { await navigator.clipboard.writeText(location.href); button.textContent = "Copied"; } catch { button.textContent = "It is in the address bar"; }
      setTimeout(() => { button.textContent = words; }, 1600);
    });

    const near = (picture, from, x, y) => {
      if (player.playing() || !record.coordinates.length) return null;
      const found = picture.hit(from.parts(player.now()), x, y);
      return found.distance <= 16 ? found : null;
    };
    player.onGrab({
      near,
      begin: (picture, from, x, y) => {
        const found = near(picture, from, x, y);
        if (!found) return null;
        player.go(record.span[0]);
        const again = picture.hit(source.parts(player.now()), x, y);
        const taken = again.distance <= 24 ? again : found;
        player.mark(taken);
        player.show();
        return taken;
      },
      move: (picture, taken, x, y) => {
        const part = source.parts(record.span[0])[taken.part], base = taken.point * part.dim;
        const here = [part.points[base], part.points[base + 1], part.dim === 3 ? part.points[base + 2] : 0];
        changeSoon(engine.pull(waiting ?? setting, taken.part, taken.point, picture.place(x, y, here)), null);
      },
      end: () => { player.mark(null); if (!job) { source = sourceOf(engine, motion, data.speed, null); player.use(source); } player.show(); },
    });
    if (addressed) window.addEventListener("hashchange", () => { const next = readAddress(engine); change(next.setting); if (next.view) player.picture.look(...next.view); });
    root.querySelector(".player canvas").addEventListener("pointerup", () => { if (player.picture.camera.spatial) { life.turned = true; noteLater(); } });

    life = { engine, change, setting: () => setting, motion: () => motion, player, milliseconds: 0, turned: false };
    showRows();
    graphs.refresh();
    life.milliseconds = performance.now() - begun;
    showFacts();
    svyaz.lives.push(life);
    if (!window.matchMedia("(prefers-reduced-motion: reduce)").matches) player.play(true);
  };

  // A motion that was computed beforehand: the player and the plots, without sliders.
  const startKept = (root) => {
    const { record, times, states, columns } = JSON.parse(root.querySelector('script[data-part="record"]').textContent);
    const stage = root.querySelector(".player"), n = record.states.length, count = times.length;
    const numbers = (column) => Float64Array.from(column, (x) => x ?? NaN);
    const motion = { count, times: numbers(times), states: new Float64Array(count * n), columns: {} };
    states.forEach((column, k) => column.forEach((x, row) => { motion.states[row * n + k] = x ?? NaN; }));
    for (const [kind, table] of Object.entries(columns)) motion.columns[kind] = Object.fromEntries(Object.entries(table).map(([name, column]) => [name, numbers(column)]));
    const player = svyaz.player(stage, svyaz.kept(JSON.parse(stage.querySelector("script").textContent)));
    player.state = (t) => {
      const row = Math.min(rowOf(motion, t), count - 2), h = motion.times[row + 1] - motion.times[row], s = h > 0 ? (t - motion.times[row]) / h : 0;
      return record.states.map((_, k) => (1 - s) * motion.states[row * n + k] + s * motion.states[(row + 1) * n + k]);
    };
    const graphs = plots(root, record, player, () => motion);
    player.onTime((t) => graphs.moved(t));
    graphs.refresh();
    if (!window.matchMedia("(prefers-reduced-motion: reduce)").matches) player.play(true);
  };

  svyaz.lives = [];
  svyaz.startLiving = () => {
    for (const root of document.querySelectorAll(".living[data-model]")) start(root);
    for (const root of document.querySelectorAll(".living[data-kept]")) startKept(root);
  };
})((globalThis.svyaz ??= {}));
