// The equilibrium of a regulated system, found anew in the browser by Newton's method. The gains are those of its design.
//
//   const regulator = svyaz.regulator(record, bound)    record: see svyaz.show.living.regulated; bound(values): the program of
//                                                       the plant, call(x, out), with these constants
//   regulator.solve(along)                              { rest } or { reason }; along(s), s in [0, 1]: constants and targets
//   regulator.constants({ rest })                       those of the closed loop: where it rests, and what holds it there
((svyaz) => {
  "use strict";

  const SHORTEST = 1 / 256; // of the way from the model's values to those wanted, in one go
  const NEWTON = 14;

  // x of A x = b, A an array of rows; null where A is singular.
  const solved = (a, b) => {
    const n = a.length, matrix = new Float64Array(n * n), side = Float64Array.from(b);
    a.forEach((row, i) => matrix.set(row, i * n));
    return svyaz.solveSystem(n, 1, matrix, side) ? null : side;
  };

  svyaz.regulator = (record, bound) => {
    const { states, inputs, coordinates, further, variables, acting, constraints: m } = record;
    const by = [...states, ...inputs], at = Object.fromEntries(by.map((name, k) => [name, k])), N = states.length, width = by.length;
    const rows = [...states.map((_, k) => k), ...Array.from({ length: m }, (_, k) => N + k)];
    const isSpeed = (name) => !coordinates.includes(name) && !further.includes(name);
    // At rest rates of coordinates vanish by themselves: what remains are those of velocities and further states, and h.
    const balanced = rows.filter((k) => k >= N || !coordinates.includes(states[k]));
    const unknown = by.filter((name) => !(N > at[name] && isSpeed(name)));

    const measured = (plant, x) => {
      const out = new Float64Array((N + m) * (1 + width));
      if (plant.call([0, ...x], out)) return null;
      return { value: out.subarray(0, N + m), slope: (row, column) => out[N + m + row * width + column] };
    };

    // Newton's method from x, with every step at least halving what is off; null where it leads nowhere.
    const atRest = (plant, x, targets) => {
      const free = unknown.filter((name) => !(name in targets)), size = free.length;
      if (balanced.length !== size) return null;
      let here = Float64Array.from(x);
      for (const [name, value] of Object.entries(targets)) here[at[name]] = value;
      for (let round = 0, before = Infinity; round < NEWTON; round++) {
        const found = measured(plant, here);
        if (!found) return null;
        const matrix = balanced.map((row) => Float64Array.from(free, (name) => found.slope(row, at[name])));
        const d = solved(matrix, balanced.map((row) => -found.value[row]));
        if (!d) return null;
        let step = 0;
        free.forEach((name, k) => { here[at[name]] += d[k]; step = Math.max(step, Math.abs(d[k]) / (1 + Math.abs(here[at[name]]))); });
        if (!Number.isFinite(step) || (round > 2 && step > 0.5 * before && step > 1e-9)) return null;
        if (step <= 1e-14 || (step <= 1e-11 && step >= 0.5 * before)) return here;
        before = step;
      }
      return null;
    };

    // The equilibrium is followed from that of the model: s runs from 0 to 1, values and targets with it.
    const followed = (along) => {
      let x = Float64Array.from(by, (name) => record.rest[name]), s = 0, length = 1;
      while (s < 1) {
        const next = Math.min(1, s + length), { values, targets } = along(next), plant = bound(values);
        const found = atRest(plant, x, targets);
        if (found) { x = found; s = next; length *= 2; } else { length /= 2; if (length < SHORTEST) return null; }
      }
      return x;
    };

    const solve = (along) => {
      const x = followed(along);
      return x ? { rest: Object.fromEntries(by.map((name, k) => [name, x[k]])) } : { reason: "no equilibrium was found for these values" };
    };

    // The constants of the closed loop that follow: where it rests, and what holds it there.
    const constants = ({ rest }) => ({
      ...Object.fromEntries(variables.map((name) => [`rest ${name}`, rest[name]])),
      ...Object.fromEntries(inputs.map((u) => [acting.includes(u) ? `held ${u}` : u, rest[u]])),
    });

    return { solve, constants };
  };
})((globalThis.svyaz ??= {}));
