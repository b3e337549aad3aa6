// Curves over time and points in a plane, as SVG: sharp at any size, in the colours of the page.

import { el, svg, unique } from "./dom.js";
import { extent, pretty, shown, ticks } from "./numbers.js";

const W = 640, LEFT = 62, RIGHT = 12, TOP = 10, BOTTOM = 28;
const MOST = 500;

export const colour = (k) => `var(--c${k % 8})`;

export class Plot {
  // options: title, height, log, x (name of the abscissa), equal, onpick(x, y)
  constructor({ title, height = 190, log = false, x = "t", y = "", legend = true, onpick = null, reach = null, stretch = null }) {
    Object.assign(this, { title, height, log, xName: x, yName: y, legend, onpick, reach, stretch });
    this.picture = svg("svg", { viewBox: `0 0 ${W} ${height}`, role: "img", "aria-label": title, class: "plot" });
    this.names = el("div", { class: "legend" });
    this.node = el("figure", { class: "chart" }, el("figcaption", {}, title), this.names, this.picture);
    this.picture.addEventListener("pointermove", (event) => this.point(event));
    this.picture.addEventListener("pointerleave", () => this.cursorAt(null));
    if (onpick) this.picture.addEventListener("click", (event) => onpick(...this.place(event)));
    this.curves = [];
    this.clip = unique("clip");
  }

  // curves: {name, x, y, colour, dash, width, pale, points}; bands: {low, high}; lines: {at}
  draw(curves, { bands = [], lines = [], xs = null, ys = null } = {}) {
    this.curves = curves;
    const xr = xs || extent(curves.map((c) => c.x)) || [0, 1];
    let yr = ys || extent(curves.map((c) => c.y), { log: this.log }) || (this.log ? [1e-12, 1] : [-1, 1]);
    if (this.reach && !ys) yr = this.reach(yr);
    if (this.log) yr = [Math.floor(Math.log10(yr[0]) - 0.01), Math.ceil(Math.log10(yr[1]) + 0.01)];
    else if (yr[1] - yr[0] < 1e-12 * Math.max(Math.abs(yr[0]), Math.abs(yr[1]), 1e-300)) {
      const room = Math.abs(yr[0]) * 0.1 || 1;
      yr = [yr[0] - room, yr[1] + room];
    } else if (!ys) yr = [yr[0] - 0.05 * (yr[1] - yr[0]), yr[1] + 0.05 * (yr[1] - yr[0])];
    this.xr = xr[1] > xr[0] ? xr : [xr[0] - 0.5, xr[0] + 0.5];
    this.yr = yr;
    const frame = { x: LEFT, y: TOP, width: W - LEFT - RIGHT, height: this.height - TOP - BOTTOM };
    this.picture.replaceChildren(
      svg("defs", {}, svg("clipPath", { id: this.clip }, svg("rect", frame))),
      ...this.grid(),
      svg("g", { "clip-path": `url(#${this.clip})` },
        ...bands.map((band) => this.band(band)), ...lines.map((line) => this.level(line)), ...curves.map((c, k) => this.curve(c, k))),
      (this.cursor = svg("line", { class: "cursor", y1: TOP, y2: this.height - BOTTOM, x1: -9, x2: -9 })),
    );
    const told = curves.map((c) => c.name).filter(Boolean).map(pretty).join(", ");
    this.picture.setAttribute("aria-label", `${this.title}${told ? `: ${told}` : ""}`);
    this.tell(null);
    return this;
  }

  across(x) { return LEFT + ((x - this.xr[0]) / (this.xr[1] - this.xr[0])) * (W - LEFT - RIGHT); }

  up(y) {
    const value = this.log ? Math.log10(Math.max(y, 1e-300)) : y;
    return TOP + ((this.yr[1] - value) / (this.yr[1] - this.yr[0])) * (this.height - TOP - BOTTOM);
  }

  place(event) {
    const box = this.picture.getBoundingClientRect();
    const x = ((event.clientX - box.x) / box.width) * W, y = ((event.clientY - box.y) / box.height) * this.height;
    return [
      this.xr[0] + ((x - LEFT) / (W - LEFT - RIGHT)) * (this.xr[1] - this.xr[0]),
      this.yr[1] - ((y - TOP) / (this.height - TOP - BOTTOM)) * (this.yr[1] - this.yr[0]),
    ];
  }

  grid() {
    const parts = [];
    const told = (v) => shown(clean(this.stretch ? this.stretch.back(v) : v), 4);
    const places = (range, about) => (this.stretch ? this.stretch.ticks(range) : ticks(...range, about));
    for (const x of places(this.xr, 8)) {
      const at = this.across(x);
      parts.push(svg("line", { class: "grid", x1: at, x2: at, y1: TOP, y2: this.height - BOTTOM }));
      parts.push(svg("text", { class: "tick", x: at, y: this.height - BOTTOM + 15, "text-anchor": "middle" }, told(x)));
    }
    let levels = places(this.yr, 4);
    if (this.log) levels = ticks(this.yr[0], this.yr[1], 5).filter(Number.isInteger);
    for (const y of levels) {
      const at = this.up(this.log ? 10 ** y : y);
      parts.push(svg("line", { class: "grid", x1: LEFT, x2: W - RIGHT, y1: at, y2: at }));
      parts.push(svg("text", { class: "tick", x: LEFT - 6, y: at + 4, "text-anchor": "end" }, this.log ? `1e${y}`.replace("-", "−") : told(y)));
    }
    parts.push(svg("text", { class: "tick", x: W - RIGHT, y: this.height - 2, "text-anchor": "end" }, pretty(this.xName)));
    if (this.yName) parts.push(svg("text", { class: "tick", x: 2, y: TOP + 4 }, pretty(this.yName)));
    return parts;
  }

  curve(c, k) {
    const stroke = c.colour || colour(k);
    if (c.points) return svg("g", {}, ...Array.from(c.x, (x, j) => this.mark(c, x, c.y[j], stroke)));
    const step = Math.max(1, Math.floor(c.x.length / MOST));
    let path = "", pen = "M";
    for (let j = 0; j < c.x.length; j += step) {
      const y = c.y[j];
      if (!Number.isFinite(y) || (this.log && y <= 0)) { pen = "M"; continue; }
      const py = Math.max(-1e4, Math.min(1e4, this.up(y)));
      path += `${pen}${this.across(c.x[j]).toFixed(1)} ${py.toFixed(1)}`;
      pen = "L";
    }
    const look = { class: "curve", d: path || "M0 0", stroke, "stroke-width": c.width || 1.6 };
    if (c.pale) Object.assign(look, { "stroke-width": 5, "stroke-opacity": 0.35 });
    if (c.dash) look["stroke-dasharray"] = c.dash;
    return svg("path", look);
  }

  mark(c, x, y, stroke) {
    const at = { cx: this.across(x), cy: this.up(y), r: c.size || 4.5 };
    if (c.points === "cross") {
      const s = 4;
      return svg("path", { d: `M${at.cx - s} ${at.cy - s}l${2 * s} ${2 * s}m0 ${-2 * s}l${-2 * s} ${2 * s}`, stroke, "stroke-width": 2, fill: "none" });
    }
    return svg("circle", { ...at, fill: stroke, "fill-opacity": 0.85 });
  }

  band({ low, high }) {
    const top = high === null || !Number.isFinite(high) ? TOP - 50 : this.up(high);
    const bottom = low === null || !Number.isFinite(low) ? this.height + 50 : this.up(low);
    return svg("g", { class: "band" },
      svg("rect", { x: LEFT, width: W - LEFT - RIGHT, y: -2000, height: Math.max(0, top + 2000) }),
      svg("rect", { x: LEFT, width: W - LEFT - RIGHT, y: bottom, height: 2000 }));
  }

  level({ at, vertical = false }) {
    const place = vertical ? { x1: this.across(at), x2: this.across(at), y1: TOP, y2: this.height - BOTTOM } : { x1: LEFT, x2: W - RIGHT, y1: this.up(at), y2: this.up(at) };
    return svg("line", { class: "level", ...place });
  }

  point(event) {
    if (!this.curves.length || !this.xr) return;
    this.cursorAt(this.place(event)[0]);
  }

  cursorAt(x) {
    if (!this.cursor) return;
    const at = x === null ? -9 : this.across(x);
    this.cursor.setAttribute("x1", at);
    this.cursor.setAttribute("x2", at);
    this.tell(x);
  }

  tell(x) {
    if (!this.legend) return;
    const pieces = this.curves.filter((c) => c.name).map((c, k) => {
      const value = x === null ? "" : ` = ${shown(valueAt(c, x), 5)}`;
      return el("span", { class: "key" }, el("i", { style: { background: c.colour || colour(k), opacity: c.pale ? 0.45 : 1 } }), `${pretty(c.name)}${value}`);
    });
    this.names.replaceChildren(...pieces);
  }
}

function valueAt(curve, x) {
  let low = 0, high = curve.x.length - 1;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (curve.x[middle] <= x) low = middle; else high = middle;
  }
  return x - curve.x[low] < curve.x[high] - x ? curve.y[low] : curve.y[high];
}

const clean = (x) => Number(x.toPrecision(12));

// Of numbers of very different size and both signs: ±log10(1 + |x|/unit), marked at powers of ten.
export function stretched(unit) {
  const to = (x) => Math.sign(x) * Math.log10(1 + Math.abs(x) / unit);
  const back = (v) => Math.sign(v) * (10 ** Math.abs(v) - 1) * unit;
  const marks = ([low, high]) => {
    const found = [0];
    for (let size = 10 ** Math.ceil(Math.log10(unit)); to(size) <= Math.max(-low, high); size *= 10) found.push(to(size), to(-size));
    return found.filter((v) => v >= low && v <= high);
  };
  return { to, back, ticks: marks };
}

// A picture of numbers over a rectangle, by colour; `onpick` is told the place that was clicked.
export class Heat {
  constructor({ title, x, y, onpick = null, log = false }) {
    Object.assign(this, { title, xName: x, yName: y, onpick, log });
    this.canvas = el("canvas", { width: 480, height: 320, role: "img", "aria-label": title, class: onpick ? "heat pick" : "heat" });
    this.scale = el("div", { class: "scale" });
    this.node = el("figure", { class: "chart" }, el("figcaption", {}, title), this.canvas, this.scale);
    if (onpick) this.canvas.addEventListener("click", (event) => {
      const box = this.canvas.getBoundingClientRect();
      const s = (event.clientX - box.x) / box.width, t = (event.clientY - box.y) / box.height;
      const [x, y] = this.placeOf(s * 480, t * 320);
      if (x !== null) onpick(x, y);
    });
  }

  placeOf(px, py) {
    const s = (px - 56) / (480 - 66), t = (290 - py) / (290 - 8);
    if (s < 0 || s > 1 || t < 0 || t > 1) return [null, null];
    return [between(this.xs, s), between(this.ys, t)];
  }

  // values: rows by y, columns by x; limit: values above it are grey; mark: [x, y]
  draw(xs, ys, values, { limit = Infinity, mark = null, levels = null } = {}) {
    Object.assign(this, { xs, ys });
    const context = this.canvas.getContext("2d");
    const style = getComputedStyle(document.body);
    context.clearRect(0, 0, 480, 320);
    const map = (v) => (this.log ? Math.log10(v) : v);
    const kept = Array.from(values).filter((v) => Number.isFinite(v) && v <= limit && (!this.log || v > 0)).map(map);
    let low = Infinity, high = -Infinity;
    for (const v of kept) { low = Math.min(low, v); high = Math.max(high, v); }
    if (levels) [low, high] = levels;
    const w = (480 - 66) / xs.length, h = (290 - 8) / ys.length;
    for (let j = 0; j < ys.length; j++)
      for (let i = 0; i < xs.length; i++) {
        const v = values[j * xs.length + i];
        const good = Number.isFinite(v) && v <= limit && (!this.log || v > 0);
        context.fillStyle = good ? viridis(high > low ? (map(v) - low) / (high - low) : 0.5) : style.getPropertyValue("--missing") || "#999";
        context.fillRect(56 + i * w, 290 - (j + 1) * h, w + 0.6, h + 0.6);
      }
    context.fillStyle = style.color;
    context.font = "12px system-ui";
    context.textAlign = "center";
    for (const k of spread(xs.length)) context.fillText(shown(xs[k], 3), 56 + (k + 0.5) * w, 305);
    context.fillText(pretty(this.xName), 56 + (480 - 66) / 2, 318);
    context.textAlign = "right";
    for (const k of spread(ys.length)) context.fillText(shown(ys[k], 3), 52, 290 - (k + 0.5) * h + 4);
    context.save();
    context.translate(12, 150);
    context.rotate(-Math.PI / 2);
    context.textAlign = "center";
    context.fillText(pretty(this.yName), 0, 0);
    context.restore();
    if (mark) {
      const s = nearest(xs, mark[0]), t = nearest(ys, mark[1]);
      context.strokeStyle = "#fff";
      context.lineWidth = 4;
      context.beginPath();
      context.arc(56 + (s + 0.5) * w, 290 - (t + 0.5) * h, 6, 0, 7);
      context.stroke();
      context.strokeStyle = "#b3261e";
      context.lineWidth = 2;
      context.stroke();
    }
    const back = this.log ? (v) => 10 ** v : (v) => v;
    this.scale.textContent = low <= high ? `${shown(back(low), 3)} … ${shown(back(high), 3)}` : "";
    return this;
  }
}

const between = (values, s) => {
  const k = Math.min(values.length - 1, Math.floor(s * values.length));
  return values[k];
};
const nearest = (values, x) => values.reduce((best, v, k) => (Math.abs(v - x) < Math.abs(values[best] - x) ? k : best), 0);
const spread = (n) => (n <= 5 ? [...Array(n).keys()] : [0, 0.25, 0.5, 0.75, 1].map((s) => Math.round(s * (n - 1))));

const VIRIDIS = [[68, 1, 84], [59, 82, 139], [33, 145, 140], [94, 201, 98], [253, 231, 37]];
function viridis(s) {
  const at = Math.max(0, Math.min(0.9999, s)) * 4, k = Math.floor(at), f = at - k;
  return `rgb(${VIRIDIS[k].map((c, j) => Math.round(c + f * (VIRIDIS[k + 1][j] - c))).join(",")})`;
}
