// A regulator found anew in the browser: the equilibrium by Newton's method, the first approximation, Riccati's equation.
//
//   const regulator = svyaz.regulator(record, bound)    record: see svyaz.show.living.regulated; bound(values): the program of
//                                                       the plant, call(x, out), with these constants
//   regulator.solve(from, to, targets)                  { rest, held, gain, A, B, residual } or { reason }; from, to:
//                                                       functions of s in [0, 1] that give constants and targets
//   svyaz.riccati(A, B, Q, R)                           { V, K, residual } of VA + AᵀV - VBR⁻¹BᵀV + Q = 0, K = R⁻¹BᵀV, or null
//
// Matrices are arrays of rows.
((svyaz) => {
  "use strict";

  const ACCURATE = 1e-8; // a larger relative residual of Riccati's equation is not trusted
  const SHORTEST = 1 / 256; // of the way from the model's values to those wanted, in one go
  const ROUNDS = 60, NEWTON = 14, REFINEMENTS = 6;

  const zeros = (n, m) => Array.from({ length: n }, () => new Float64Array(m));
  const transposed = (a) => a[0] ? Array.from(a[0], (_, j) => Float64Array.from(a, (row) => row[j])) : [];
  const times = (a, b) => {
    const m = b[0]?.length ?? 0;
    return a.map((row) => {
      const out = new Float64Array(m);
      for (let k = 0; k < row.length; k++) if (row[k] !== 0) for (let j = 0; j < m; j++) out[j] += row[k] * b[k][j];
      return out;
    });
  };
  const combined = (a, b, weight) => a.map((row, i) => row.map((x, j) => x + weight * b[i][j]));
  const norm = (a) => Math.hypot(...a.map((row) => Math.hypot(...row)));

  // X of A X = B for square A; null where A is singular.
  const solved = (a, b) => {
    const n = a.length, m = b[0].length, matrix = new Float64Array(n * n), sides = new Float64Array(n * m);
    a.forEach((row, i) => matrix.set(row, i * n));
    b.forEach((row, i) => row.forEach((x, j) => { sides[j * n + i] = x; }));
    if (svyaz.solveSystem(n, m, matrix, sides)) return null;
    return a.map((_, i) => Float64Array.from({ length: m }, (__, j) => sides[j * n + i]));
  };

  // Powers of two that make rows and columns of a matrix alike in size, by the diagonal similarity of Osborne.
  const balancing = (a) => {
    const n = a.length, scale = new Float64Array(n).fill(1);
    for (let round = 0, changed = true; changed && round < 40; round++) {
      changed = false;
      for (let i = 0; i < n; i++) {
        let row = 0, column = 0;
        for (let j = 0; j < n; j++) if (j !== i) { row += Math.abs(a[i][j] * scale[j] / scale[i]); column += Math.abs(a[j][i] * scale[i] / scale[j]); }
        if (!(row > 0 && column > 0)) continue;
        const factor = 2 ** Math.round(Math.log2(row / column) / 2);
        if (factor !== 1 && column * factor + row / factor < 0.95 * (row + column)) { scale[i] *= factor; changed = true; }
      }
    }
    return scale;
  };

  const residualOf = (a, q, g, v) => {
    const va = times(v, a), quadratic = times(times(v, g), v), rest = va.map((row, i) => row.map((x, j) => x + va[j][i] - quadratic[i][j] + q[i][j]));
    return norm(rest) / Math.max(2 * norm(va) + norm(quadratic) + norm(q), 1e-300);
  };

  // The stabilising V from the sign of the Hamiltonian matrix [A -G; -Q -Aᵀ] (Roberts): [S₁₂; S₂₂ + E] V = -[S₁₁ + E; S₂₁].
  const bySign = (a, q, g) => {
    const n = a.length, size = 2 * n, unit = zeros(size, size);
    let s = zeros(size, size);
    for (let i = 0; i < n; i++) for (let j = 0; j < n; j++) { s[i][j] = a[i][j]; s[i][n + j] = -g[i][j]; s[n + i][j] = -q[i][j]; s[n + i][n + j] = -a[j][i]; }
    unit.forEach((row, i) => { row[i] = 1; });
    for (let round = 0; round < ROUNDS; round++) {
      const inverse = solved(s, unit);
      if (!inverse) return null;
      const factor = round < 30 ? Math.sqrt(norm(inverse) / norm(s)) : 1;
      const next = s.map((row, i) => row.map((x, j) => 0.5 * (factor * x + inverse[i][j] / factor))), change = norm(combined(next, s, -1));
      s = next;
      if (!Number.isFinite(change)) return null;
      if (change <= 1e-14 * norm(s)) break;
    }
    const left = zeros(size, n), right = zeros(size, n);
    for (let i = 0; i < size; i++) for (let j = 0; j < n; j++) { left[i][j] = s[i][n + j] + (i === n + j ? 1 : 0); right[i][j] = -s[i][j] - (i === j ? 1 : 0); }
    const back = transposed(left), v = solved(times(back, left), times(back, right));
    return v && v.map((row, i) => row.map((x, j) => 0.5 * (x + v[j][i])));
  };

  // X of FᵀX + XF + W = 0, W symmetric: its n(n + 1)/2 equations as they are.
  const lyapunov = (f, w) => {
    const n = f.length, place = (i, j) => (i <= j ? (j * (j + 1)) / 2 + i : (i * (i + 1)) / 2 + j), size = (n * (n + 1)) / 2;
    const matrix = zeros(size, size), side = zeros(size, 1);
    for (let j = 0; j < n; j++) {
      for (let i = 0; i <= j; i++) {
        const row = matrix[place(i, j)];
        for (let k = 0; k < n; k++) { row[place(k, j)] += f[k][i]; row[place(i, k)] += f[k][j]; }
        side[place(i, j)][0] = -w[i][j];
      }
    }
    const x = solved(matrix, side);
    return x && Array.from({ length: n }, (_, i) => Float64Array.from({ length: n }, (__, j) => x[place(i, j)][0]));
  };

  const isPositive = (v) => {
    const n = v.length, l = zeros(n, n);
    for (let j = 0; j < n; j++) {
      for (let i = j; i < n; i++) {
        let sum = v[i][j];
        for (let k = 0; k < j; k++) sum -= l[i][k] * l[j][k];
        if (i === j && !(sum > 0)) return false;
        l[i][j] = i === j ? Math.sqrt(sum) : sum / l[j][j];
      }
    }
    return true;
  };

  svyaz.riccati = (A, B, Q, R) => {
    const scale = balancing(A), n = A.length;
    const a = A.map((row, i) => Float64Array.from(row, (x, j) => (x * scale[j]) / scale[i]));
    const b = B.map((row, i) => Float64Array.from(row, (x) => x / scale[i]));
    const q = Q.map((row, i) => Float64Array.from(row, (x, j) => x * scale[i] * scale[j]));
    const lever = solved(R, transposed(b));
    if (!lever) return null;
    const g = times(b, lever);
    let v = bySign(a, q, g);
    if (!v || !v.every((row) => row.every(Number.isFinite))) return null;
    let residual = residualOf(a, q, g, v);
    for (let round = 0; round < REFINEMENTS; round++) { // Newton's steps (Kleinman) as long as the residual falls
      const gv = times(g, v), better = lyapunov(combined(a, gv, -1), combined(q, times(v, gv), 1));
      const now = better ? residualOf(a, q, g, better) : NaN;
      if (!(now < residual)) break;
      v = better;
      residual = now;
    }
    if (!(residual <= ACCURATE)) return null;
    // A solution with all roots of the closed loop on the left: that of Lyapunov's equation with a unit matrix is positive.
    const unit = zeros(n, n);
    unit.forEach((row, i) => { row[i] = 1; });
    const certificate = lyapunov(combined(a, times(g, v), -1), unit);
    if (!certificate || !isPositive(certificate)) return null;
    const gain = times(lever, v);
    return {
      V: v.map((row, i) => row.map((x, j) => x / scale[i] / scale[j])),
      K: gain.map((row) => row.map((x, j) => x / scale[j])),
      residual,
    };
  };

  svyaz.regulator = (record, bound) => {
    const { states, inputs, coordinates, dependent, further, variables, acting, constraints: m } = record;
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
        const d = solved(matrix, balanced.map((row) => [-found.value[row]]));
        if (!d) return null;
        let step = 0;
        free.forEach((name, k) => { here[at[name]] += d[k][0]; step = Math.max(step, Math.abs(d[k][0]) / (1 + Math.abs(here[at[name]]))); });
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

    const approximation = (plant, x) => {
      const { slope } = measured(plant, x), independent = coordinates.filter((q) => !dependent.includes(q));
      const A = variables.map((row) => Float64Array.from(variables, (column) => {
        let sum = slope(at[row], at[column]);
        if (independent.includes(column)) for (const s of dependent) sum += slope(at[row], at[s]) * slope(at[s], at[`${column}'`]);
        return sum;
      }));
      return { A, B: variables.map((row) => Float64Array.from(acting, (u) => slope(at[row], at[u]))) };
    };

    const solve = (along) => {
      const x = followed(along);
      if (!x) return { reason: "no equilibrium was found for these values" };
      const { A, B } = approximation(bound(along(1).values), x), found = svyaz.riccati(A, B, record.Q, record.R);
      if (!found) return { reason: "there is no regulator for these values" };
      return { rest: Object.fromEntries(by.map((name, k) => [name, x[k]])), A, B, K: found.K, residual: found.residual };
    };

    // The constants of the closed loop: where it rests, what holds it there, its gains.
    const constants = ({ rest, K }) => {
      const found = {};
      for (const name of variables) found[`rest ${name}`] = rest[name];
      acting.forEach((u, i) => variables.forEach((x, j) => { found[`gain ${u} by ${x}`] = K[i][j]; }));
      for (const u of inputs) found[acting.includes(u) ? `held ${u}` : u] = rest[u];
      return found;
    };

    return { solve, constants };
  };
})((globalThis.svyaz ??= {}));
