// The engine: a mechanism computed in the browser, or in Node; no document is touched here.
//
//   const engine = svyaz.engine(record, programs)
//   engine.setting()            what may be moved, as the model states it: { values, start, keep, gains, until }
//   engine.run(setting)         a motion; engine.begin(setting) a job, job.advance(milliseconds) true when it is over, job.motion
//   engine.points(motion, t)    numbers of all drawn points, then radii, at a time between rows
//   engine.prepare(setting)     { values, state, off, moved }: all constants, and the start, moved onto the constraints
//   engine.pull(setting, k, p, target)   the setting with a start in which point p of drawing k is where it is wanted, as near
//                                        as the constraints let it be
//
// A motion: { count, times, states (count x states, by rows), columns: { kind: { name: numbers } }, status, reason, steps }.
//
// The record (made by svyaz.show.living): states, coordinates (places), rates (place of the velocity of each state, or -1),
// moved ([{name, value, low, high, input}]), constants, start, span, method ({a, b, c}), step, rows, phases ([{start, end, states,
// columns, gains, values, quasi}]), drawings ([{kind, size, dim, trace, radius}]), geometry, held, own, programs (names of inputs, outputs and
// parameters of each program). `programs`: { name: { constants(p), step(x, c, out) } }, see `svyaz derive --format javascript`.
((svyaz) => {
  "use strict";

  const SLICE = 64; // steps between two looks at the clock
  const GAINS = { beta: "A", alpha: "B", kappa: "E" };
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

    const untouched = (wanted) =>
      Object.keys(wanted.start).length === 0 && record.moved.every(({ name, value }) => wanted.values[name] === value);

    // ---- the start on the constraints

    const geometryAt = (geometry, state, time) => {
      const { size, count, order } = record.geometry;
      const x = [time, ...record.geometry.states.map((k) => state[k])];
      const out = new Float64Array(geometry.count);
      geometry.call(x, out);
      const lengths = { mass: size * size, jacobian: count * size, position: count, velocity: count };
      const found = {};
      let at = 0;
      for (const name of order) { found[name] = out.subarray(at, at + lengths[name]); at += lengths[name]; }
      return found;
    };

    // The least correction d in the norm of M with G d = wanted in the given rows, and d = 0 in what is kept.
    const correction = (mass, jacobian, rows, wanted, size, free) => {
      const f = free.length, m = rows.length, total = f + m;
      const matrix = new Float64Array(total * total), side = new Float64Array(total);
      let trace = 0;
      for (let i = 0; i < size; i++) trace += Math.abs(mass[i * size + i]);
      const least = 1e-9 * (trace / size || 1);
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
      return d;
    };

    const largest = (numbers) => numbers.reduce((most, x) => Math.max(most, Math.abs(x)), 0);

    // Newton's method for one level: positions (h = 0), then velocities (h' = 0, f = 0).
    const level = (geometry, state, kind, keep) => {
      const { size, holonomic, coordinates, speeds } = record.geometry;
      const rows = holonomic.map((h, k) => (kind === "velocity" || h ? k : -1)).filter((k) => k >= 0);
      const places = kind === "velocity" ? speeds : coordinates;
      if (!rows.length) return { state, off: 0 };
      const all = places.map((_, k) => k);
      const free = all.filter((k) => !keep.includes(record.states[places[k]]));
      let here = state.slice(), at = geometryAt(geometry, here, record.span[0]);
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
          const there = geometryAt(geometry, trial, record.span[0]);
          if (largest(residual(there)) < before) { here = trial; at = there; better = true; }
        }
        if (!better) break;
      }
      return { state: here, off: largest(residual(at)) };
    };

    const CLOSE = 1e-9;
    const ontoConstraints = (values, state, keep) => {
      const geometry = record.geometry ? bound("geometry", values) : null;
      if (!geometry) return { state, off: 0 };
      let placed = level(geometry, state, "position", keep);
      if (!(placed.off <= CLOSE) && keep.length) placed = level(geometry, state, "position", []);
      let speeded = level(geometry, placed.state, "velocity", keep);
      if (!(speeded.off <= CLOSE) && keep.length) speeded = level(geometry, placed.state, "velocity", []);
      return { state: speeded.state, off: Math.max(placed.off, speeded.off) };
    };

    const prepare = (wanted) => {
      const { known, starts, levels } = constantsOf(wanted);
      let state = record.start.slice();
      if (untouched(wanted)) return { values: known, levels, state, off: 0, moved: false };
      for (const [name, value] of Object.entries({ ...starts, ...wanted.start })) if (name in place) state[place[name]] = value;
      const given = state;
      const found = ontoConstraints(known, state, wanted.keep ?? []);
      state = found.state;
      const moved = state.some((x, k) => Math.abs(x - given[k]) > 1e-9 * (1 + Math.abs(x)));
      return { values: known, levels, state, off: found.off, moved };
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
        this.plans = phases.filter((phase) => phase.start < until || phase.number === 0)
          .map((phase) => ({ phase, plan: schedule(phase.start, Math.min(phase.end, until), wanted.step ?? record.step) }));
        const total = this.plans.reduce((steps, { plan }) => steps + plan.total, 0);
        this.every = Math.max(1, Math.ceil(total / (wanted.rows ?? record.rows)));
        const most = Math.ceil(total / this.every) + 2 * this.plans.length + 2;
        this.times = new Float64Array(most);
        this.states = new Float64Array(most * n);
        this.gains = new Float64Array(most * 2);
        this.gained = new Float64Array(2);
        this.opens = [];
        this.rowsOf = [];
        this.count = this.steps = 0;
        this.status = "finished";
        this.reason = "";
        this.state = this.prepared.state;
        this.number = -1;
        this.done = false;
        this.nextPhase();
      }

      nextPhase() {
        this.number++;
        if (this.number >= this.plans.length) { this.done = true; return; }
        const { phase, plan } = this.plans[this.number];
        const open = opened(phase, this.prepared, this.wanted, this.first);
        open.order = record.states.map((name) => phase.states.indexOf(name));
        this.open = open;
        this.plan = plan;
        this.opens.push(open);
        this.x = Float64Array.from([plan.t0, ...inStates(open, this.state, plan.t0)]);
        this.y = new Float64Array(open.size + 1);
        this.own = this.own ?? [];
        this.step = stepper(open);
        this.i = this.waiting = 0;
        if (this.number === 0) this.store();
      }

      store() {
        const row = this.count++;
        this.times[row] = this.x[0];
        outOfStates(this.open, this.x, this.states, row * n);
        this.gains.set(this.gained, 2 * row);
        this.own.push(Float64Array.from(this.x));
        this.rowsOf.push(this.number);
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
        const { plan, open } = this, size = open.size, stop = Math.min(plan.total, this.i + SLICE);
        while (this.i < stop) {
          const final = this.i + 1 === plan.total, h = final ? plan.last : plan.h;
          if (this.step(this.x, h, this.y, this.gained)) {
            return this.end("singular", `the equations could not be solved for the accelerations at t = ${this.x[0].toPrecision(6)}`);
          }
          this.y[0] = final ? plan.t1 : plan.t0 + (this.i + 1) * plan.h;
          if (open.after !== null) {
            const moved = this.moved ?? (this.moved = new Float64Array(open.after.count));
            if (open.after.call(this.y, moved)) return this.end("singular", `the state could not be moved onto the constraints at t = ${this.y[0].toPrecision(6)}`);
            this.y.set(moved, 1);
          }
          let sum = 0;
          for (let m = 1; m <= size; m++) sum += Math.abs(this.y[m]);
          if (!(sum < FAR)) return this.end("diverged", `the motion grew beyond all bounds at t = ${this.y[0].toPrecision(6)}`);
          [this.x, this.y] = [this.y, this.x];
          this.i++;
          this.steps++;
          this.waiting++;
          if (this.waiting === this.every || final) { this.waiting = 0; this.store(); }
        }
        if (this.i === plan.total) {
          const found = new Float64Array(n);
          outOfStates(open, this.x, found, 0);
          this.state = Array.from(found);
          this.moved = null;
          this.nextPhase();
        }
      }

      // Columns of what is observed along the rows.
      finish() {
        const { count } = this, columns = {};
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
        const states = this.states.subarray(0, count * n), times = this.times.subarray(0, count);
        this.watch(column, times, states);
        this.balance(columns, column);
        this.motion = {
          count, times, states, columns, status: this.status, reason: this.reason, steps: this.steps,
          prepared: this.prepared, draw: bound("draw", this.prepared.values),
        };
      }

      watch(column, times, states) {
        const watch = bound("watch", this.prepared.values);
        if (!watch) return;
        const out = new Float64Array(watch.count);
        const found = watch.outputs.map((name) => { const [kind] = name.split(" ", 1); return column(kind, name.slice(kind.length + 1)); });
        for (let row = 0; row < this.count; row++) {
          watch.call([times[row], ...states.subarray(row * n, (row + 1) * n)], out);
          for (let k = 0; k < found.length; k++) found[k][row] = out[k];
        }
      }

      // E - E0 = work - dissipated + remainder.
      balance(columns, column) {
        const energy = columns.energies?.energy;
        if (!energy) return;
        const parts = ["work", "dissipated", "remainder"].map((name) => column("balance", name));
        for (let row = 0; row < this.count; row++) {
          const [work, lost] = [this.gains[2 * row], this.gains[2 * row + 1]];
          parts[0][row] = work;
          parts[1][row] = lost;
          parts[2][row] = energy[row] - energy[0] - work + lost;
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
      const draw = bound("draw", values), geometry = record.geometry ? bound("geometry", values) : null;
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
      state = ontoConstraints(values, state, []).state;
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
