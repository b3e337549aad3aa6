// Numbers and names as people read them.

const GREEK = {
  alpha: "α", beta: "β", gamma: "γ", delta: "δ", epsilon: "ε", zeta: "ζ", eta: "η", theta: "θ", kappa: "κ", lambda: "λ",
  mu: "μ", nu: "ν", xi: "ξ", rho: "ρ", sigma: "σ", tau: "τ", phi: "φ", chi: "χ", psi: "ψ", omega: "ω",
  Gamma: "Γ", Delta: "Δ", Theta: "Θ", Lambda: "Λ", Xi: "Ξ", Sigma: "Σ", Phi: "Φ", Psi: "Ψ", Omega: "Ω",
};
const BELOW = { 0: "₀", 1: "₁", 2: "₂", 3: "₃", 4: "₄", 5: "₅", 6: "₆", 7: "₇", 8: "₈", 9: "₉" };

export function pretty(name) {
  return name.replace(/^([A-Za-z]+?)(\d*)('*)$/, (whole, word, digits, primes) => {
    const letter = GREEK[word] ?? (word.length <= 2 || !digits ? word : null);
    if (letter === null) return whole;
    return letter + [...digits].map((d) => BELOW[d]).join("") + primes.replaceAll("'", "′");
  });
}

export function shown(value, digits = 6) {
  if (value === null || value === undefined || Number.isNaN(value)) return "–";
  if (typeof value !== "number") return String(value);
  if (!Number.isFinite(value)) return value > 0 ? "∞" : "−∞";
  if (value === 0) return "0";
  const size = Math.abs(value);
  const text = size >= 1e6 || size < 1e-4 ? value.toExponential(Math.max(0, digits - 2)) : Number(value.toPrecision(digits)).toString();
  return text.replace(/\.?0+e/, "e").replace("e+", "e").replaceAll("-", "−");
}

export function root([re, im], digits = 5) {
  if (!im) return shown(re, digits);
  return `${shown(re, digits)} ${im > 0 ? "+" : "−"} ${shown(Math.abs(im), digits)}i`;
}

export function ticks(low, high, about = 5) {
  if (!(high > low)) return [low];
  const raw = (high - low) / about, power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= raw * 0.999);
  const found = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + step * 1e-9; k++) found.push(k * step);
  return found;
}

export function extent(arrays, { log = false } = {}) {
  let low = Infinity, high = -Infinity;
  for (const array of arrays)
    for (let k = 0; k < array.length; k++) {
      const x = array[k];
      if (!Number.isFinite(x) || (log && x <= 0)) continue;
      if (x < low) low = x;
      if (x > high) high = x;
    }
  return low <= high ? [low, high] : null;
}
