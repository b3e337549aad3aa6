// The engine: a mechanism computed in the browser, or in Node; no document is touched here.
//
//   const engine = svyaz.engine(record, programs)
//   engine.setting()            what may be moved, as the model states it: { values, start, keep, gains, until, targets, resolve,
//                               beyond }; with a regulator its equilibrium is found anew while `resolve`, for an equilibrium with
//                               these `targets`; limits of the model end the motion unless it may go `beyond`
//   engine.run(setting)         a motion; engine.begin(setting) a job, job.advance(milliseconds) true when it is over, job.motion
//   engine.points(motion, t)    numbers of all drawn points, then radii, at a time between rows
//   engine.prepare(setting)     { values, state, off, moved, design }: all constants, and the start, moved onto the constraints;
//                               design: the equilibrium that was found (see regulator.js), { reason } where there is none
//   engine.pull(setting, k, p, target)   the setting with a start in which point p of drawing k is where it is wanted, as near
//                                        as the constraints let it be
//
// A motion: { count, times, states (count x states, by rows), columns: { kind: { name: numbers } }, status, reason, steps }.
//
// The record (made by svyaz.show.living): states, coordinates (places), rates (place of the velocity of each state, or -1),
// moved ([{name, value, low, high, input}]), constants, start, span, method ({a, b, c}), step, rows, phases ([{start, end, states,
// columns, gains, values, quasi}]), drawings ([{kind, size, dim, trace, radius}]), geometry, held, own, regulator, programs (names of
// inputs, outputs and parameters of each program). `programs`: { name: { constants(p), step(x, c, out) } }, see `svyaz derive --format javascript`.
((svyaz) => {
  "use strict";

  const SLICE = 64; // steps between two looks at the clock
  const GAINS = { beta: "A", alpha: "B", kappa: "E" };
  const SAMPLES = 16, LOW = 1e-9, MOST_EVENTS = 2000, MOST_STAGES = 2000, FAINT = 1e-9; // parts of a step with an event; when a condition is armed, of its terms
  const short = (x) => String(+x.toPrecision(9));
  const FAR = 1e12; // a state that is larger than this has grown beyond all bounds

  // matrix (n x n, by rows) · unknowns = side; null where it is singular. Both are kept.
  const solve = (n, matrix, side) => {
    const a = Float64Array.from(matrix), b = Float64Array.from(side);
    return svyaz.solveSystem(n, 1, a, b) ? null : b;
  };

  // Steps of size h from t0 to t1, the last one shortened: as svyaz.integrate.schedule.
  const schedule = (t0, t1, h) => {
    const ratio = (t1 - t0) / h;
    const whole = Math.abs(ratio - Math.round(ratio)) <= 1e-9 * Math.max(1, ratio);
    let total = whole ? Math.round(ratio) : Math.ceil(ratio);
    if (t1 > t0) total = Math.max(total, 1);
    let last = t1 - (t0 + (total - 1) * h);
    if (Math.abs(last - h) <= 8 * 2.3e-16 * Math.max(Math.abs(t0), Math.abs(t1))) last = h;
    return { t0, t1, h, last, total };
  };

  // The place between a and b where f, negative at a and not at b, rises through zero (regula falsi, Illinois): the later side.
  const crossing = (f, a, b, fa, fb, time) => {
    const widths = [b - a];
    for (let round = 0, side = 0; round < 200 && b - a > 4e-16 * Math.max(Math.abs(time + b), 1e-300) && fb !== 0; round++) {
      const slow = widths.length > 3 && widths[widths.length - 1] > 0.5 * widths[widths.length - 4];
      let middle = (a * fb - b * fa) / (fb - fa);
      if (slow || !(a < middle && middle < b)) middle = 0.5 * (a + b);
      if (!(a < middle && middle < b)) break;
      const value = f(middle);
      if (value < 0) { a = middle; fa = value; if (side < 0) fb *= 0.5; side = -1; } else { b = middle; fb = value; if (side > 0) fa *= 0.5; side = 1; }
      widths.push(b - a);
    }
    return b;
  };

  // Rows of a tableau without their zeros.
  const scheme = ({ a, b, c }) => {
    const sparse = (row) => {
      const columns = [], weights = [];
      row.forEach((w, k) => { if (w !== 0) { columns.push(k); weights.push(w); } });
      return { columns: Int32Array.from(columns), weights: Float64Array.from(weights) };
    };
    return { stages: b.length, rows: a.map(sparse), sum: sparse(b), b: Float64Array.from(b), nodes: Float64Array.from(c) };
  };

  svyaz.engine = (record, programs) => {
    const n = record.states.length;
    const rule = scheme(record.method);
    const place = Object.fromEntries(record.states.map((name, k) => [name, k]));
    const outline = record.programs;

    // A program with its constants: call(x, out) is 0, or 1 + the number of a singular system.
    const bound = (name, values) => {
      const program = programs[name];
      if (!program) return null;
      const c = program.constants(outline[name].parameters.map((p) => values[p] ?? 0));
      const outputs = outline[name].outputs;
      return { call: (x, out) => program.step(x, c, out), outputs, count: outputs.length, inputs: outline[name].inputs };
    };

    const setting = () => ({
      values: Object.fromEntries(record.moved.map(({ name, value }) => [name, value])),
      start: {},
      keep: [],
      gains: Object.assign({}, ...record.phases.map((phase) => phase.gains ?? {})),
      until: record.span[1],
      targets: { ...record.regulator?.targets },
      resolve: Boolean(record.regulator),
      beyond: false,
    });

    // All constants of the model, and what follows from those that were moved.
    const constantsOf = ({ values }) => {
      const known = { ...record.constants, ...values };
      const program = bound("setup", known);
      const found = { parameter: {}, start: {}, value: {} };
      if (program.count) {
        const out = new Float64Array(program.count);
        program.call([], out);
        program.outputs.forEach((name, k) => {
          const [kind] = name.split(" ", 1);
          found[kind][name.slice(kind.length + 1)] = out[k];
        });
      }
      return { known: { ...known, ...found.parameter }, starts: found.start, levels: found.value };
    };

    const sameTargets = (wanted) => Object.entries(record.regulator?.targets ?? {}).every(([name, value]) => (wanted.targets ?? {})[name] === value);
    const sameValues = (wanted) => record.moved.every(({ name, value }) => wanted.values[name] === value) && sameTargets(wanted);
    const untouched = (wanted) => Object.keys(wanted.start).length === 0 && sameValues(wanted);

    // ---- the equilibrium of a regulator, found anew where a parameter or a target was moved

    const regulator = record.regulator ? svyaz.regulator(record.regulator, (values) => bound("plant", values)) : null;

    const designed = (wanted) => {
      if (!regulator || !wanted.resolve || sameValues(wanted)) return null;
      const between = (from, to, s) => (s === 1 ? to : from + s * (to - from));
      return regulator.solve((s) => ({
        values: constantsOf({ values: Object.fromEntries(record.moved.map(({ name, value }) => [name, between(value, wanted.values[name], s)])) }).known,
        targets: Object.fromEntries(Object.entries(record.regulator.targets).map(([name, value]) => [name, between(value, wanted.targets[name], s)])),
      }));
    };

    // A closed loop starts where it was asked to, with the rest as in equilibrium.
    const startOf = ({ rest }) => {
      const { start, coordinates, dependent, variables } = record.regulator, first = coordinates.find((q) => !dependent.includes(q));
      const state = record.states.map((name) => rest[name] ?? 0);
      for (const [name, value] of Object.entries(start)) if (name in place) state[place[name]] = value;
      if (!Object.keys(start).length) state[place[first]] += 0.1 * Math.abs(rest[first]) || 0.01;
      return { state, keep: variables };
    };

    // ---- the start on the constraints

    const geometryAt = (geometry, state, time) => {
      const { size, count, order, states } = geometry.spec;
      const x = [time, ...states.map((k) => state[k])];
      const out = new Float64Array(geometry.count);
      geometry.call(x, out);
      const lengths = { mass: size * size, jacobian: count * size, position: count, velocity: count };
      const found = {};
      let at = 0;
      for (const name of order) { found[name] = out.subarray(at, at + lengths[name]); at += lengths[name]; }
      return found;
    };

    // The least correction d in the norm of M with G d = wanted in the given rows, and d = 0 in what is kept.
    // `pushes`, where it is given, gets the multipliers Λ of M d = Gᵀ Λ.
    const correction = (mass, jacobian, rows, wanted, size, free, pushes = null) =>
      corrected(mass, jacobian, rows, wanted, size, free, 0, pushes) ?? corrected(mass, jacobian, rows, wanted, size, free, 1e-9, pushes);

    const corrected = (mass, jacobian, rows, wanted, size, free, share, pushes) => {
      const f = free.length, m = rows.length, total = f + m;
      const matrix = new Float64Array(total * total), side = new Float64Array(total);
      let trace = 0;
      for (let i = 0; i < size; i++) trace += Math.abs(mass[i * size + i]);
      const least = share * (trace / size || 1);
      for (let i = 0; i < f; i++) {
        for (let j = 0; j < f; j++) matrix[i * total + j] = mass[free[i] * size + free[j]];
        matrix[i * total + i] += least;
        for (let k = 0; k < m; k++) {
          matrix[i * total + f + k] = matrix[(f + k) * total + i] = jacobian[rows[k] * size + free[i]];
        }
      }
      for (let k = 0; k < m; k++) side[f + k] = wanted[k];
      const found = solve(total, matrix, side);
      if (!found || !found.every(Number.isFinite)) return null;
      const d = new Float64Array(size);
      free.forEach((place, i) => { d[place] = found[i]; });
      if (pushes) rows.forEach((_, k) => { pushes[k] = -found[f + k]; });
      return d;
    };

    const largest = (numbers) => numbers.reduce((most, x) => Math.max(most, Math.abs(x)), 0);

    // Newton's method for one level: positions (h = 0), then velocities (h' = 0, f = 0).
    const level = (geometry, state, kind, keep, time) => {
      const { size, holonomic, coordinates, speeds } = geometry.spec;
      const rows = holonomic.map((h, k) => (kind === "velocity" || h ? k : -1)).filter((k) => k >= 0);
      const places = kind === "velocity" ? speeds : coordinates;
      if (!rows.length) return { state, off: 0 };
      const all = places.map((_, k) => k);
      const free = all.filter((k) => !keep.includes(record.states[places[k]]));
      let here = state.slice(), at = geometryAt(geometry, here, time);
      const residual = (found) => rows.map((k) => found[kind][k]);
      for (let round = 0; round < 40; round++) {
        const off = residual(at), before = largest(off);
        if (!(before > 1e-15)) break;
        const wanted = off.map((r) => -r);
        const d = correction(at.mass, at.jacobian, rows, wanted, size, free) ?? correction(at.mass, at.jacobian, rows, wanted, size, all);
        if (!d) break;
        let length = 1, better = false;
        for (let half = 0; half < 12 && !better; half++, length /= 2) {
          const trial = here.slice();
          places.forEach((place, k) => { trial[place] += length * d[k]; });
          const there = geometryAt(geometry, trial, time);
          if (largest(residual(there)) < before) { here = trial; at = there; better = true; }
        }
        if (!better) break;
      }
      return { state: here, off: largest(residual(at)) };
    };

    const CLOSE = 1e-9;
    const ontoConstraints = (geometry, state, keep, time) => {
      if (!geometry) return { state, off: 0 };
      let placed = level(geometry, state, "position", keep, time);
      if (!(placed.off <= CLOSE) && keep.length) placed = level(geometry, state, "position", [], time);
      let speeded = level(geometry, placed.state, "velocity", keep, time);
      if (!(speeded.off <= CLOSE) && keep.length) speeded = level(geometry, placed.state, "velocity", [], time);
      return { state: speeded.state, off: Math.max(placed.off, speeded.off) };
    };
    const measured = (name, spec, values) => (spec ? { ...bound(name, values), spec } : null);

    const prepare = (wanted) => {
      const { known, starts, levels } = constantsOf(wanted), design = designed(wanted);
      let state = record.start.slice(), keep = wanted.keep ?? [];
      if (untouched(wanted)) return { values: known, levels, state, off: 0, moved: false, design };
      if (design?.rest) {
        Object.assign(known, regulator.constants(design));
        if (!Object.keys(wanted.start).length) ({ state, keep } = startOf(design));
      }
      for (const [name, value] of Object.entries({ ...starts, ...wanted.start })) if (name in place) state[place[name]] = value;
      const given = state;
      const found = ontoConstraints(measured("geometry", record.geometry, known), state, keep, record.span[0]);
      state = found.state;
      const moved = state.some((x, k) => Math.abs(x - given[k]) > 1e-9 * (1 + Math.abs(x)));
      return { values: known, levels, state, off: found.off, moved, design };
    };

    // ---- one phase

    const gainsOf = (phase, gains) => {
      if (!phase.gains) return {};
      const found = {};
      for (const [name, block] of Object.entries(GAINS)) {
        if (!(name in (gains ?? {}))) continue;
        for (const key of Object.keys(phase.values)) {
          if (key.startsWith(`gain ${block} `)) found[key] = gains[name];
        }
        for (const { parameters } of [outline[`rates ${phase.number}`], outline[`observe ${phase.number}`]]) {
          for (const key of parameters) {
            const [word, letter, row, column] = key.split(" ");
            if (word === "gain" && letter === block && row === column) found[key] = gains[name];
          }
        }
      }
      return found;
    };

    const phases = record.phases.map((phase, number) => ({ ...phase, number }));

    const opened = (phase, prepared, wanted, first) => {
      const values = { ...phase.values, ...prepared.values, ...gainsOf(phase, wanted.gains) };
      const part = (name) => bound(`${name} ${phase.number}`, values);
      const observe = part("observe");
      // Integrals are held at the values that the model gives them, or at those of the first state.
      for (const name of record.held) {
        const key = `value of ${name}`;
        if (name in prepared.levels) values[key] = prepared.levels[name];
        else if (record.own.includes(name)) values[key] = first[name];
      }
      return {
        phase, values, observe,
        rates: part("rates"), after: part("after"), power: part("power"), leave: part("leave"), enter: part("enter"), frame: part("frame"),
        size: phase.states.length,
      };
    };

    // The first values of integrals, which hold what the model gives no value for.
    const firstIntegrals = (prepared, wanted) => {
      if (!record.own.length) return {};
      const phase = phases[0], values = { ...phase.values, ...prepared.values };
      const observe = bound("observe 0", values), out = new Float64Array(observe.count);
      const open = { phase, enter: bound("enter 0", values), frame: bound("frame 0", values) };
      observe.call([phase.start, ...inStates(open, prepared.state, phase.start)], out);
      return Object.fromEntries(phase.columns.map(([kind, name], k) => [kind === "integrals" ? name : "", out[k]]));
    };

    // The state of the equations from a state of the model: as it is, by expressions, or by least squares (N v = q' - n).
    const inStates = (open, state, time) => {
      const { phase, enter, frame } = open;
      if (enter) {
        const out = new Float64Array(enter.count);
        enter.call([time, ...state], out);
        return Array.from(out);
      }
      if (!frame) return phase.states.map((name) => state[place[name]]);
      const known = Object.fromEntries(record.states.map((name, k) => [name, state[k]]));
      known.t = time;
      const out = new Float64Array(frame.count);
      frame.call(frame.inputs.map((name) => known[name]), out);
      const speeds = record.coordinates, q = speeds.length, own = phase.states.filter((name) => !(name in place));
      const v = frame.count / q - 1, matrix = new Float64Array(v * v), side = new Float64Array(v);
      for (let i = 0; i < q; i++) {
        const gap = state[record.rates[speeds[i]]] - out[q * v + i];
        for (let j = 0; j < v; j++) {
          side[j] += out[i * v + j] * gap;
          for (let k = 0; k < v; k++) matrix[j * v + k] += out[i * v + j] * out[i * v + k];
        }
      }
      const found = solve(v, matrix, side) ?? new Float64Array(v);
      return phase.states.map((name) => (name in place ? state[place[name]] : found[own.indexOf(name)]));
    };

    const outOfStates = (open, x, into, at) => {
      if (open.leave) open.leave.call(x, into.subarray(at, at + n));
      else for (let k = 0; k < n; k++) into[at + k] = x[open.order[k] + 1];
    };

    // One step of the method from x to y, [t, states…] both; `gained` takes work and dissipation.
    const stepper = (open) => {
      const { rates, power, size } = open, { stages, rows, sum, b, nodes } = rule;
      const slopes = Array.from({ length: stages }, () => new Float64Array(size));
      const z = new Float64Array(size + 1), watts = new Float64Array(2), fall = rates.call;
      return (x, h, y, gained) => {
        for (let s = 0; s < stages; s++) {
          let at = x;
          if (s > 0) {
            const { columns, weights } = rows[s], count = columns.length;
            for (let m = 0; m < size; m++) {
              let total = 0;
              for (let e = 0; e < count; e++) total += weights[e] * slopes[columns[e]][m];
              z[m + 1] = x[m + 1] + h * total;
            }
            z[0] = x[0] + nodes[s] * h;
            at = z;
          }
          const fault = fall(at, slopes[s]);
          if (fault) return fault;
          if (power !== null && b[s] !== 0) {
            power.call(at, watts);
            gained[0] += h * b[s] * watts[0];
            gained[1] += h * b[s] * watts[1];
          }
        }
        const { columns, weights } = sum, count = columns.length;
        for (let m = 0; m < size; m++) {
          let total = 0;
          for (let e = 0; e < count; e++) total += weights[e] * slopes[columns[e]][m];
          y[m + 1] = x[m + 1] + h * total;
        }
        return 0;
      };
    };

    // ---- a run

    class Job {
      constructor(wanted) {
        this.wanted = wanted;
        this.prepared = prepare(wanted);
        this.first = firstIntegrals(this.prepared, wanted);
        const until = Math.min(wanted.until ?? record.span[1], record.span[1]);
        this.until = until;
        this.length = wanted.step ?? record.step;
        const total = Math.ceil((until - record.span[0]) / this.length);
        this.every = Math.max(1, Math.ceil(total / (wanted.rows ?? record.rows)));
        this.events = [];
        this.kept = { times: [], states: [], gains: [] };
        this.gained = new Float64Array(3);
        this.opens = [];
        this.rowsOf = [];
        this.own = [];
        this.watch = null;
        this.steps = 0;
        this.status = "finished";
        this.reason = "";
        this.state = this.prepared.state;
        this.number = -1;
        this.done = false;
        this.fence = wanted.beyond ? null : this.fenced();
        this.nextPhase();
        const unknown = record.states.filter((_, k) => !Number.isFinite(this.prepared.state[k]));
        if (unknown.length && !this.done) this.end("infeasible", `the start is not defined with these values: ${unknown.join(", ")}`);
        const outside = this.fence && !this.done ? this.fence(this.x) : null;
        if (outside?.over > 0) this.end("left", `at t = ${short(this.x[0])} ${outside.name} = ${short(outside.value)} lies ${outside.high ? "above" : "below"} its limit ${short(outside.side)}`);
      }

      // The limit that a state of the equations passes farthest, or comes nearest to; null for a model without limits.
      fenced() {
        const watch = bound("watch", this.prepared.values), limited = watch?.outputs.filter((name) => name.startsWith("limited ")).map((name) => name.slice(8)) ?? [];
        if (!limited.length) return null;
        const out = new Float64Array(watch.count), model = new Float64Array(n), at = (kind, name) => watch.outputs.indexOf(`${kind} ${name}`);
        const places = limited.map((name) => [name, at("limited", name), at("low", name), at("high", name)]);
        return (x) => {
          outOfStates(this.current, x, model, 0);
          watch.call([x[0], ...model], out);
          let found = { over: -Infinity };
          for (const [name, value, low, high] of places) {
            for (const [side, sign] of [[low, -1], [high, 1]]) {
              if (side < 0) continue;
              const over = sign * (out[value] - out[side]) - Math.max(1e-12 * Math.abs(out[side]), 1e-290);
              if (over > found.over) found = { over, name, value: out[value], side: out[side], high: sign > 0 };
            }
          }
          return found;
        };
      }

      // Is a limit passed before y? Then the motion ends there, and the answer is true.
      stopped(h, y, gained) {
        const there = this.fence?.(y);
        if (!(there?.over > 0)) return false;
        const from = Float64Array.from(this.x), over = (length) => { const to = this.again(from, length); return to ? this.fence(to).over : NaN; };
        const length = crossing(over, 0, h, Math.min(this.fence(from).over, -1e-300), there.over, from[0]), at = this.again(from, length);
        if (!at) return false;
        const { name, side, high } = this.fence(at);
        gained.forEach((value, k) => { this.gained[k] = value; });
        this.step(from, length, new Float64Array(from.length), this.gained);
        this.x = at;
        this.store();
        this.end("left", `${name} ${high ? "rises above" : "falls below"} its limit ${short(side)} at t = ${short(at[0])}`);
        return true;
      }

      // The next phase by time; where events switch constraints, the first set of them.
      nextPhase() {
        this.number++;
        const phase = phases[this.number], start = phase?.start;
        if (record.switched) {
          if (this.number > 0) this.done = true;
          else this.openSet(phases[0].active, record.span[0], this.state, []);
        } else if (!phase || (this.number > 0 && start >= this.until)) this.done = true;
        else this.open(phase, start, Math.min(phase.end, this.until));
      }

      open(phase, start, end) {
        const open = opened(phase, this.prepared, this.wanted, this.first);
        open.order = record.states.map((name) => phase.states.indexOf(name));
        this.current = open;
        this.plan = schedule(start, end, this.length);
        this.opens.push(open);
        this.x = Float64Array.from([start, ...inStates(open, this.state, start)]);
        this.y = new Float64Array(open.size + 1);
        this.step = stepper(open);
        this.i = this.waiting = 0;
        if (this.opens.length === 1) this.store();
      }

      store() {
        const { times, states, gains } = this.kept, found = new Float64Array(n);
        times.push(this.x[0]);
        outOfStates(this.current, this.x, found, 0);
        states.push(found);
        gains.push(Float64Array.from(this.gained));
        this.own.push(Float64Array.from(this.x));
        this.rowsOf.push(this.opens.length - 1);
      }

      // A set of constraints, by their names, from a time and a state of the model on; `continuing` are conditions that were
      // watched before and count there as soon as they are negative.
      openSet(active, time, state, continuing, stop = Infinity) {
        const phase = phases.find((p) => p.active.length === active.length && p.active.every((name) => active.includes(name)));
        if (!phase) return this.end("unknown", `at t = ${time.toPrecision(6)} constraints act together that this page does not carry: ${active.join(", ") || "none"}`);
        this.state = state;
        const times = record.switched.constraints.flatMap((c) => [c.start, c.end]).filter((t) => t !== null && t > time + 1e-12 * Math.max(1, Math.abs(t)));
        this.open(phase, time, Math.min(this.until, stop, ...times));
        const { values } = this.current, part = (name) => bound(`${name} ${phase.number}`, values);
        const conditions = part("conditions"), sizes = new Float64Array(conditions.count);
        part("sizes").call(this.x, sizes);
        const here = new Float64Array(conditions.count);
        conditions.call(this.x, here);
        this.watch = { phase, conditions, here, there: new Float64Array(conditions.count), levels: sizes.map((size) => LOW * (Number.isFinite(size) ? size : 0)) };
        this.watch.isOff = phase.keys.map(([word]) => word === "off");
        this.watch.armed = phase.keys.map(([word, name], k) => (continuing.includes(`${word} ${name}`) && here[k] < 0) || here[k] < -this.watch.levels[k]);
      }

      // The state after a part of a step, as `chunk` makes it; null where it fails.
      again(from, h) {
        const to = new Float64Array(from.length), { after } = this.current;
        if (this.step(from, h, to, new Float64Array(3))) return null;
        to[0] = from[0] + h;
        if (after !== null) {
          const moved = new Float64Array(after.count);
          if (after.call(to, moved)) return null;
          to.set(moved, 1);
        }
        return to;
      }

      conditionsAt(x) {
        const out = new Float64Array(this.watch.conditions.count);
        this.watch.conditions.call(x, out);
        return out;
      }

      // Does an armed condition rise in the step from x to y? Then the moment is found by making the step anew with other lengths.
      event(h) {
        const { conditions, here, there, armed, levels, phase } = this.watch;
        conditions.call(this.y, there);
        if (!armed.some((is, k) => is && there[k] >= 0 && here[k] < 0)) {
          for (let k = 0; k < armed.length; k++) if (there[k] < -levels[k]) armed[k] = true;
          here.set(there);
          return null;
        }
        const from = Float64Array.from(this.x);
        let low = 0, before = Float64Array.from(here), high = 0, risen = [], after = null;
        for (let k = 1; k <= SAMPLES && !risen.length; k++) {
          high = k === SAMPLES ? h : (h * k) / SAMPLES;
          const to = this.again(from, high);
          if (!to) return { failed: true };
          after = this.conditionsAt(to);
          risen = armed.map((is, c) => (is && after[c] >= 0 && before[c] < 0 ? c : -1)).filter((c) => c >= 0);
          if (risen.length) break;
          armed.forEach((_, c) => { if (after[c] < -levels[c]) armed[c] = true; });
          low = high;
          before = after;
        }
        const most = (length) => { const to = this.again(from, length); return to ? Math.max(...risen.map((c) => this.conditionsAt(to)[c])) : NaN; };
        const sides = [before, after].map((values) => Math.max(...risen.map((c) => values[c]))), b = crossing(most, low, high, ...sides, from[0]);
        const at = this.again(from, b), late = this.again(from, Math.min(b + 1e-10 * h, h));
        if (!at || !late) return { failed: true };
        const first = this.conditionsAt(at), soon = this.conditionsAt(late);
        const fired = phase.keys.filter((_, k) => armed[k] && (first[k] >= 0 || soon[k] >= 0)).map(([word, name]) => `${word} ${name}`);
        return { at, fired };
      }

      // What a contact that is reached does: null where it begins to act as others do, else true, and the motion goes on or ends.
      strike(fired) {
        const { contacts, constraints } = record.switched, time = this.x[0], now = this.current.phase.active;
        const struck = contacts?.names.filter((name) => fired.includes(`on ${name}`)) ?? [];
        if (!struck.length) return null;
        const state = new Float64Array(n), slopes = new Float64Array(this.current.size), { values } = this.current;
        outOfStates(this.current, this.x, state, 0);
        this.current.rates.call(this.x, slopes);
        const gaps = bound("gaps", values), out = new Float64Array(gaps.count);
        gaps.call([...this.x, ...slopes], out);
        const gap = (name) => { const k = 5 * contacts.names.indexOf(name); return { on: out[k], rate: out[k + 1], second: out[k + 2], size: out[k + 3], e: out[k + 4] }; };
        const touching = contacts.names.filter((name) => struck.includes(name) || now.includes(name) || Math.abs(gap(name).on) <= LOW * gap(name).size);
        const lively = touching.filter((name) => gap(name).e > 0);
        if (touching.length > 1 && lively.length < touching.length) return this.beyondThisPage(`contacts that do not throw back meet others at t = ${short(time)}: ${touching.join(", ")}`);
        const over = touching.map((name) => ({ name, ...gap(name) })).filter(({ name, rate, second, size, e }) => struck.includes(name) && (!(rate > 0 && e > 0) || this.settled(name, time, e * rate, second, size, e)));
        if (over.length) return touching.length > 1 ? this.beyondThisPage(`contacts come to rest together at t = ${short(time)}: ${touching.join(", ")}`) : null;
        const parted = new Set(), before = this.energyHere(), after = this.thrown(Array.from(state), time, touching, parted, (moved) => { gaps.call([time, ...inStates(this.current, moved, time), ...slopes], out); return gap; });
        if (!after) return true;
        const still = this.watch.phase.keys.map(([word, other]) => `${word} ${other}`).filter((key) => !fired.includes(key));
        // Contacts that acted go on unless they were struck or part.
        const quick = Math.max(...touching.map((name) => Math.abs(gap(name).rate)));
        const active = now.filter((name) => !touching.includes(name) || (!parted.has(name) && Math.abs(gap(name).rate) <= FAINT * quick));
        this.events.push({ t: time, on: [], off: now.filter((name) => !active.includes(name)), struck });
        const rises = touching.map(gap).map(({ rate, second }) => (second > 0 && rate < 0 ? -rate / second : Infinity));
        const rise = Math.min(...rises); // a hop shorter than a step is looked at where it is highest
        this.openSet(active, time, after, still, rise < this.length ? time + rise : Infinity);
        if (this.done) return true;
        this.gained[2] += before - this.energyHere();
        this.store();
        return true;
      }

      beyondThisPage(words) {
        this.end("unknown", `${words}; this page does not follow that`);
        return true;
      }

      // The state after an impact: contacts that approach are struck, then those that approach after that, and so on (J. Bernoulli);
      // `parted` takes the names of those that were struck, `look(state)` gives the gaps of a state. Undefined where the run has ended.
      thrown(state, time, touching, parted, look) {
        const { contacts } = record.switched, now = this.current.phase.active, geometry = measured("impact", contacts.geometry, this.current.values), { spec } = geometry;
        let strongest = 0;
        for (let stage = 0; stage < MOST_STAGES; stage++) {
          const gap = look(state), approaching = touching.filter((name) => gap(name).rate > FAINT * strongest);
          if (!approaching.length) return state;
          approaching.forEach((name) => parted.add(name));
          strongest = Math.max(strongest, ...approaching.map((name) => gap(name).rate));
          const here = geometryAt(geometry, state, time), pushes = [];
          const acting = spec.names.map((other, k) => (approaching.includes(other) || (now.includes(other) && !touching.includes(other)) ? k : -1)).filter((k) => k >= 0);
          const wanted = acting.map((k) => -(1 + (approaching.includes(spec.names[k]) ? gap(spec.names[k]).e : 0)) * here.velocity[k]);
          const jump = correction(here.mass, here.jacobian, acting, wanted, spec.size, spec.speeds.map((_, k) => k), pushes);
          if (!jump) return void this.end("singular", `the impact at t = ${short(time)} has no solution`);
          const most = largest(pushes), pulled = acting.filter((k, j) => contacts.pushes[spec.names[k]] * pushes[j] < -1e-7 * most);
          if (pulled.length) return void this.beyondThisPage(`in the impact at t = ${short(time)} a contact would pull: ${pulled.map((k) => spec.names[k]).join(", ")}`);
          spec.speeds.forEach((place, k) => { state[place] += jump[k]; });
        }
        return void this.beyondThisPage(`impacts at t = ${short(time)} do not end`);
      }

      // Are the hops of a contact over: so low beside the highest, with an end of their series that is known?
      settled(name, time, speed, push, size, e) {
        if (!(push > 0 && e < 1)) return false;
        const height = (speed * speed) / (2 * push), rest = time + (2 * speed) / (push * (1 - e)), known = (this.hops ??= {})[name];
        const highest = Math.max(known?.highest ?? 0, height), sure = known && Math.abs(rest - known.rest) <= 1e-10 * record.span[1];
        this.hops[name] = { highest, rest };
        return height <= Math.max((sure ? 1e-6 : 1e-14) * highest, 1e-8 * (Number.isFinite(size) ? size : 0));
      }

      // Constraints begin and cease to act: anchors are taken, positions and velocities made to fit those that act now.
      switchSet(fired) {
        const { constraints, anchors } = record.switched, time = this.x[0], now = this.current.phase.active;
        const at = (t) => t !== null && Math.abs(time - t) <= 1e-12 * Math.max(1, Math.abs(t));
        const active = constraints.filter(({ name, start, end }) => {
          let acts = now.includes(name);
          if (fired.includes(`on ${name}`) || at(start)) acts = true;
          if (fired.includes(`off ${name}`) || at(end)) acts = false;
          return acts;
        }).map(({ name }) => name);
        const begun = active.filter((name) => !now.includes(name)), { values } = this.current;
        const found = new Float64Array(n);
        outOfStates(this.current, this.x, found, 0);
        let state = Array.from(found);
        if (begun.length) {
          const taken = bound("anchors", values), out = new Float64Array(taken.count);
          taken.call([time, ...state], out);
          anchors.forEach(([name, place], k) => { if (begun.includes(name)) state[place] = out[k]; });
          const set = phases.find((p) => p.active.length === active.length && p.active.every((name) => active.includes(name)));
          const geometry = set ? measured(`geometry ${set.number}`, set.geometry, values) : null;
          if (geometry) {
            const here = geometryAt(geometry, state, time), speed = Math.max(1e-12, ...geometry.spec.speeds.map((k) => Math.abs(state[k])));
            const off = geometry.spec.names.filter((name, k) => begun.includes(name) && !constraints.find((c) => c.name === name).impact && Math.abs(here.velocity[k]) > 1e-5 * speed);
            if (off.length) return this.end("infeasible", `at t = ${time.toPrecision(6)} the velocities do not fit ${off.join(", ")}`);
            state = ontoConstraints(geometry, state, [], time).state;
          }
        }
        const still = this.watch.phase.keys.map(([word, name]) => `${word} ${name}`).filter((key) => !fired.includes(key));
        const before = this.energyHere();
        this.events.push({ t: time, on: begun, off: now.filter((name) => !active.includes(name)) });
        this.openSet(active, time, state, still);
        if (this.done) return;
        const { here: values_, levels, isOff, phase } = this.watch; // a contact that would have to pull is let go at once
        const pulled = record.switched.contacts ? phase.keys.filter(([, name], k) => isOff[k] && record.switched.contacts.names.includes(name) && values_[k] > levels[k]) : [];
        if (pulled.length && this.events.length <= MOST_EVENTS) return void this.switchSet(pulled.map(([word, name]) => `${word} ${name}`));
        this.gained[2] += before - this.energyHere();
        this.store();
      }

      energyHere() {
        const { observe, phase } = this.current, k = phase.columns.findIndex(([kind, name]) => kind === "energies" && name === "energy");
        if (k < 0) return 0;
        const out = new Float64Array(observe.count);
        return observe.call(this.x, out) ? 0 : out[k];
      }

      end(status, reason) {
        this.status = status;
        this.reason = reason;
        this.done = true;
      }

      // Some steps; true when the run is over.
      advance(milliseconds = Infinity) {
        const limit = milliseconds === Infinity ? Infinity : performance.now() + milliseconds;
        while (!this.done) {
          this.chunk();
          if (limit !== Infinity && performance.now() > limit) break;
        }
        if (this.done && !this.motion) this.finish();
        return this.done;
      }

      chunk() {
        const { plan, current } = this, size = current.size, stop = Math.min(plan.total, this.i + SLICE);
        while (this.i < stop) {
          const final = this.i + 1 === plan.total, h = final ? plan.last : plan.h, gained = Float64Array.from(this.gained);
          if (this.step(this.x, h, this.y, this.gained)) {
            return this.end("singular", `the equations could not be solved for the accelerations at t = ${this.x[0].toPrecision(6)}`);
          }
          this.y[0] = final ? plan.t1 : plan.t0 + (this.i + 1) * plan.h;
          if (current.after !== null) {
            const moved = this.moved?.length === current.after.count ? this.moved : (this.moved = new Float64Array(current.after.count));
            if (current.after.call(this.y, moved)) return this.end("singular", `the state could not be moved onto the constraints at t = ${this.y[0].toPrecision(6)}`);
            this.y.set(moved, 1);
          }
          let sum = 0;
          for (let m = 1; m <= size; m++) sum += Math.abs(this.y[m]);
          if (!(sum < FAR)) return this.end("diverged", `the motion grew beyond all bounds at t = ${this.y[0].toPrecision(6)}`);
          this.steps++;
          const found = this.watch ? this.event(h) : null;
          if (this.fence && !found?.failed && this.stopped(found ? found.at[0] - this.x[0] : h, found ? found.at : this.y, gained)) return undefined;
          if (found) {
            if (found.failed) return this.end("singular", `no state could be found at an event after t = ${this.x[0].toPrecision(6)}`);
            if (this.events.length > MOST_EVENTS) return this.end("infeasible", "events follow each other without end");
            gained.forEach((value, k) => { this.gained[k] = value; });
            this.step(this.x, found.at[0] - this.x[0], this.y, this.gained);
            this.x = found.at;
            this.store();
            return this.strike(found.fired) ?? this.switchSet(found.fired);
          }
          [this.x, this.y] = [this.y, this.x];
          this.i++;
          this.waiting++;
          if (this.waiting === this.every || final) { this.waiting = 0; this.store(); }
        }
        if (this.i < plan.total) return;
        if (this.watch && plan.t1 < this.until) return this.switchSet([]);
        const found = new Float64Array(n);
        outOfStates(current, this.x, found, 0);
        this.state = Array.from(found);
        this.nextPhase();
      }

      // Columns of what is observed along the rows.
      finish() {
        const count = this.kept.times.length, columns = {};
        this.count = count;
        this.gains = this.kept.gains;
        const column = (kind, name) => {
          const table = (columns[kind] ??= {});
          return (table[name] ??= new Float64Array(count).fill(NaN));
        };
        const outs = this.opens.map((open) => ({
          out: new Float64Array(open.observe.count),
          columns: open.phase.columns.map(([kind, name]) => column(kind, name)),
        }));
        for (let row = 0; row < count; row++) {
          const open = this.opens[this.rowsOf[row]], { out, columns: found } = outs[this.rowsOf[row]];
          if (open.observe.call(this.own[row], out)) continue;
          for (let k = 0; k < found.length; k++) found[k][row] = out[k];
        }
        const states = new Float64Array(count * n), times = Float64Array.from(this.kept.times);
        this.kept.states.forEach((state, row) => states.set(state, row * n));
        this.watched(column, times, states);
        this.balance(columns, column);
        this.motion = {
          count, times, states, columns, status: this.status, reason: this.reason, steps: this.steps, events: this.events,
          prepared: this.prepared, draw: bound("draw", this.prepared.values),
        };
      }

      watched(column, times, states) {
        const watch = bound("watch", this.prepared.values);
        if (!watch) return;
        const out = new Float64Array(watch.count);
        const found = watch.outputs.map((name) => { const [kind] = name.split(" ", 1); return column(kind, name.slice(kind.length + 1)); });
        for (let row = 0; row < this.count; row++) {
          watch.call([times[row], ...states.subarray(row * n, (row + 1) * n)], out);
          for (let k = 0; k < found.length; k++) found[k][row] = out[k];
        }
      }

      // E - E0 = work - dissipated - impacts + remainder.
      balance(columns, column) {
        const energy = columns.energies?.energy;
        if (!energy) return;
        const names = ["work", "dissipated", ...(record.switched ? ["impacts"] : [])];
        const parts = names.map((name) => column("balance", name)), remainder = column("balance", "remainder");
        for (let row = 0; row < this.count; row++) {
          const [work, lost, impacts] = this.gains[row];
          parts.forEach((part, k) => { part[row] = this.gains[row][k]; });
          remainder[row] = energy[row] - energy[0] - work + lost + impacts;
        }
      }
    }

    // ---- between rows

    const rowBefore = ({ times, count }, t) => {
      let low = 0, high = count - 1;
      while (high - low > 1) {
        const middle = (low + high) >> 1;
        if (times[middle] <= t) low = middle; else high = middle;
      }
      return low;
    };

    // The state of the model at a time: Hermite's cubic where the velocity is a state too, else linear.
    const stateAt = (motion, t) => {
      const { times, states, count } = motion, out = new Float64Array(n);
      if (count === 1) return out.fill(0).map((_, k) => states[k]);
      const row = rowBefore(motion, t), a = row * n, b = a + n, h = times[row + 1] - times[row];
      const s = h > 0 ? Math.max(0, Math.min(1, (t - times[row]) / h)) : 1;
      for (let k = 0; k < n; k++) {
        const rate = record.rates[k];
        if (rate < 0) { out[k] = (1 - s) * states[a + k] + s * states[b + k]; continue; }
        out[k] = (1 + 2 * s) * (1 - s) ** 2 * states[a + k] + s * (1 - s) ** 2 * h * states[a + rate]
          + s * s * (3 - 2 * s) * states[b + k] + s * s * (s - 1) * h * states[b + rate];
      }
      return out;
    };

    const pointsOf = (draw, state, t, out) => {
      draw.call([t, ...state], out);
      return out;
    };

    // ---- dragging: damped least squares for the wanted point, on the constraints

    const pull = (wanted, item, point, target) => {
      const { values, state: start } = prepare(wanted);
      const draw = bound("draw", values), geometry = measured("geometry", record.geometry, values);
      let offset = 0;
      for (let k = 0; k < item; k++) offset += record.drawings[k].size * record.drawings[k].dim;
      const dim = record.drawings[item].dim, first = offset + point * dim, t = record.span[0];
      const q = geometry ? record.geometry.coordinates : record.coordinates, size = q.length, out = new Float64Array(draw.count);
      const at = (state) => Array.from(pointsOf(draw, state, t, out).subarray(first, first + dim));
      let state = start.slice();
      for (let round = 0; round < 12; round++) {
        const here = at(state), gap = here.map((x, k) => (target[k] ?? x) - x);
        const slopes = q.map((place) => {
          const step = 1e-6 * (1 + Math.abs(state[place])), up = state.slice(), down = state.slice();
          up[place] += step;
          down[place] -= step;
          const [a, b] = [at(up), at(down)];
          return a.map((x, k) => (x - b[k]) / (2 * step));
        });
        const rows = geometry ? record.geometry.holonomic.map((h, k) => (h ? k : -1)).filter((k) => k >= 0) : [];
        const found = geometry ? geometryAt(geometry, state, t) : null, total = size + rows.length;
        const matrix = new Float64Array(total * total), side = new Float64Array(total);
        let trace = 0;
        for (let i = 0; i < size; i++) {
          for (let j = 0; j < size; j++) matrix[i * total + j] = slopes[i].reduce((sum, x, k) => sum + x * slopes[j][k], 0);
          side[i] = slopes[i].reduce((sum, x, k) => sum + x * gap[k], 0);
          trace += matrix[i * total + i];
        }
        if (!(trace > 0)) break;
        for (let i = 0; i < size; i++) matrix[i * total + i] += 1e-4 * trace;
        rows.forEach((row, k) => {
          for (let i = 0; i < size; i++) {
            matrix[(size + k) * total + i] = matrix[i * total + size + k] = found.jacobian[row * size + i];
          }
          side[size + k] = -found.position[row];
        });
        const d = solve(total, matrix, side);
        if (!d || !d.every(Number.isFinite)) break;
        const length = Math.min(1, 0.5 / Math.max(1e-12, largest(Array.from(d.subarray(0, size)))) * 2);
        q.forEach((place, i) => { state[place] += length * d[i]; });
        if (largest(Array.from(d.subarray(0, size))) < 1e-10) break;
      }
      state = ontoConstraints(geometry, state, [], t).state;
      if (!state.every(Number.isFinite)) return wanted;
      return { ...wanted, start: Object.fromEntries(record.states.map((name, k) => [name, state[k]])), keep: [] };
    };

    return {
      record, setting, prepare, pull, stateAt,
      begin: (wanted) => new Job(wanted),
      run: (wanted) => { const job = new Job(wanted); job.advance(); return job.motion; },
      points: (motion, t) => pointsOf(motion.draw, stateAt(motion, t), t, new Float64Array(motion.draw.count)),
    };
  };
})((globalThis.svyaz ??= {}));
