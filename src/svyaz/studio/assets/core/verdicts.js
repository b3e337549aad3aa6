// What is known of the stability of a motion: the word, the roots, the theorem with its hypotheses.

import { el } from "./dom.js";
import { root } from "./numbers.js";
import { Plot, stretched } from "./plot.js";
import { told } from "./told.js";
import { t, word } from "./words.js";

export const COLOURS = { asymptotic: "var(--c2)", stable: "var(--c0)", unstable: "var(--c1)", undecided: "var(--c7)" };

export function verdict(name) {
  return el("span", { class: `verdict ${name}` }, word("verdict", name));
}

// What the verdict does not speak of: cyclic coordinates that drift, and perturbed momenta.
export function driftLines(found) {
  const names = found.drift || [], other = found.at_perturbed_momenta;
  const text = names.length > 1 ? "drift when their momenta are" : "drifts when its momentum is";
  return [
    names.length ? told(`${names.join(", ")} ${text} perturbed: the verdict speaks of the other coordinates, at fixed momenta`) : "",
    other && other !== found.verdict ? told(`at perturbed momenta: ${word("verdict", other)}`) : "",
  ].filter(Boolean);
}

export function theorem(found) {
  const marks = { true: `✓ ${t("holds")}`, false: `✗ ${t("fails")}`, null: `? ${t("unknown")}` };
  return el("div", {}, found.theorem ? el("p", {}, el("strong", {}, `${t("theorem")}: `), told(found.theorem)) : null,
    el("ul", { class: "hypotheses" }, (found.hypotheses || []).map((h) => el("li", {}, el("span", { class: `verdict ${h.holds ? "yes" : h.holds === false ? "no" : ""}` }, marks[String(h.holds)]), ` ${told(h.text)}`))));
}

export const roots = (list) => (list || []).map((r) => root(r)).join("; ") || "–";

// Roots on the complex plane; sets: [{name, roots, colour, points}]. Where they differ much in size the axes are stretched.
export function rootsPlane(sets, title = t("rootsPlane")) {
  const sizes = sets.flatMap((set) => set.roots.map((r) => Math.hypot(...r))).filter((size) => size > 1e-9);
  const least = Math.min(1, ...sizes), wide = Math.max(...sizes, 0) > 40 * least;
  const stretch = wide ? stretched(Math.max(least, 1e-3)) : null, to = stretch ? stretch.to : (x) => x;
  const plot = new Plot({ title, x: "Re", y: "Im", height: 260, stretch });
  const curves = sets.map(({ name, roots: list, colour, points = "cross" }) => ({ name, x: list.map((r) => to(r[0])), y: list.map((r) => to(r[1])), colour, points }));
  const reals = curves.flatMap((c) => c.x), highs = curves.flatMap((c) => c.y.map(Math.abs));
  const width = Math.max(1e-9, 0.5 * Math.max(...highs, 0), Math.max(0, ...reals) - Math.min(0, ...reals));
  const high = 1.15 * Math.max(1e-9, ...highs, 0.1 * width);
  plot.point = () => {};
  plot.draw(curves, { xs: [Math.min(-0.4 * width, ...reals) - 0.08 * width, Math.max(0.15 * width, ...reals) + 0.08 * width], ys: [-high, high], lines: [{ at: 0, vertical: true }, { at: 0 }] });
  return plot.node;
}
