// The mechanism on a canvas, in the plane or in space, still or moving.

import { el } from "./dom.js";
import { shown } from "./numbers.js";

const AZIMUTH = -Math.PI / 3, ELEVATION = (22 * Math.PI) / 180, COILS = 7;

export class Mechanism {
  // options: label, width, height, player (with controls), words, ontime
  constructor({ label, width = 560, height = 340, player = true, words = {}, ontime = null }) {
    Object.assign(this, { width, height, ontime, azimuth: AZIMUTH, elevation: ELEVATION, time: 0, playing: false });
    this.canvas = el("canvas", { role: "img", "aria-label": label, class: "mechanism", tabindex: player ? "0" : null });
    this.canvas.width = width * 2;
    this.canvas.height = height * 2;
    this.canvas.style.aspectRatio = `${width} / ${height}`;
    this.node = el("div", { class: "picture" }, this.canvas);
    if (player) this.addControls(words);
    this.turn();
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.draw());
  }

  addControls(words) {
    this.button = el("button", { type: "button", class: "small", "aria-label": words.play, onclick: () => this.toggle() }, "▶");
    this.slider = el("input", { type: "range", min: "0", max: "1", step: "any", value: "0", "aria-label": words.time,
      oninput: () => { this.pause(); this.seek(this.start + Number(this.slider.value) * (this.end - this.start)); } });
    this.clock = el("output", {}, "t = 0");
    this.node.append(el("div", { class: "controls" }, this.button, this.slider, this.clock));
    this.words = words;
    this.canvas.addEventListener("keydown", (event) => {
      if (event.key === " ") { event.preventDefault(); this.toggle(); }
      if (event.key === "ArrowLeft" || event.key === "ArrowRight") {
        event.preventDefault();
        const turn = event.key === "ArrowLeft" ? -1 : 1;
        if (event.shiftKey) { this.azimuth += turn * 0.1; this.draw(); }
        else { this.pause(); this.seek(this.time + (turn * (this.end - this.start)) / 100); }
      }
    });
  }

  turn() {
    let last = null;
    this.canvas.addEventListener("pointerdown", (event) => { last = [event.clientX, event.clientY]; this.canvas.setPointerCapture(event.pointerId); });
    this.canvas.addEventListener("pointerup", () => { last = null; });
    this.canvas.addEventListener("pointermove", (event) => {
      if (!last || !this.scene?.spatial) return;
      this.azimuth -= (event.clientX - last[0]) * 0.008;
      this.elevation = Math.max(-1.5, Math.min(1.5, this.elevation + (event.clientY - last[1]) * 0.008));
      last = [event.clientX, event.clientY];
      this.draw();
    });
  }

  show(scene, { ghosts = [], frame = null } = {}) {
    this.scene = scene;
    this.ghosts = ghosts;
    this.fixed = frame;
    if (scene) {
      [this.start, this.end] = scene.times;
      this.time = Math.max(this.start, Math.min(this.end, this.time));
      this.fit();
    }
    this.draw();
    return this;
  }

  fit() {
    const scenes = [this.scene, ...this.ghosts.filter(Boolean)];
    const low = [0, 1, 2].map((k) => Math.min(...scenes.map((s) => s.low[k] ?? 0)));
    const high = [0, 1, 2].map((k) => Math.max(...scenes.map((s) => s.high[k] ?? 0)));
    this.centre = low.map((x, k) => (x + high[k]) / 2);
    const size = high.map((x, k) => x - low[k]);
    if (this.scene.spatial) this.scale = Math.min(this.width, this.height) / (0.95 * Math.hypot(...size) || 1);
    else this.scale = Math.min(this.width / (1.15 * size[0] || 1), this.height / (1.15 * size[1] || 1));
  }

  project(x, y, z) {
    let right = x - this.centre[0], up = y - this.centre[1];
    if (this.scene.spatial) {
      const d = [x - this.centre[0], y - this.centre[1], (z ?? 0) - this.centre[2]];
      const [a, b, c] = { 0: [d[1], d[2], d[0]], 1: [d[0], -d[2], d[1]], 2: d }[this.scene.up];
      const sa = Math.sin(this.azimuth), ca = Math.cos(this.azimuth), se = Math.sin(this.elevation), ce = Math.cos(this.elevation);
      right = -sa * a + ca * b;
      up = -se * ca * a - se * sa * b + ce * c;
    }
    return [this.width / 2 + right * this.scale, this.height / 2 - up * this.scale];
  }

  at(item, scene, frame, k) {
    const [frames, size, dim] = item.points.shape;
    const f = Math.max(0, Math.min(frames - 1, frame)), j = Math.min(frames - 1, Math.floor(f)), next = Math.min(frames - 1, j + 1), s = f - j;
    const base = (j * size + k) * dim, other = (next * size + k) * dim;
    const value = (n) => item.points[base + n] * (1 - s) + item.points[other + n] * s;
    return this.project(value(0), value(1), dim === 3 ? value(2) : 0);
  }

  frameOf(scene) {
    if (this.fixed !== null && this.fixed !== undefined) return this.fixed;
    const [start, end] = scene.times;
    return end > start ? ((this.time - start) / (end - start)) * (scene.frames - 1) : 0;
  }

  draw() {
    const context = this.canvas.getContext("2d");
    context.setTransform(2, 0, 0, 2, 0, 0);
    context.clearRect(0, 0, this.width, this.height);
    if (!this.scene) return;
    const style = getComputedStyle(document.body);
    const ink = style.getPropertyValue("--ink").trim() || "#222", faint = style.getPropertyValue("--line").trim() || "#ccc";
    const accents = [0, 1, 2, 3, 4, 5, 6, 7].map((k) => style.getPropertyValue(`--c${k}`).trim() || "#1f5fbf");
    this.axes(context, faint);
    this.ghosts.forEach((ghost, g) => ghost && this.parts(context, ghost, accents[(g + 1) % 8], accents, 0.45));
    this.parts(context, this.scene, ink, accents, 1);
  }

  axes(context, faint) {
    context.strokeStyle = faint;
    context.lineWidth = 1;
    const reach = (Math.max(this.width, this.height) / this.scale) * (this.scene.spatial ? 0.15 : 1);
    const ends = this.scene.spatial ? [[reach, 0, 0], [0, reach, 0], [0, 0, reach]] : [[reach, 0, 0], [-reach, 0, 0], [0, reach, 0], [0, -reach, 0]];
    for (const [x, y, z] of ends) {
      const from = this.project(0, 0, 0);
      line(context, [from, this.project(x, y, z)]);
    }
  }

  parts(context, scene, ink, accents, opacity) {
    const frame = this.frameOf(scene);
    context.globalAlpha = opacity;
    let tint = 0;
    for (const item of scene.items) {
      const size = item.points.shape[1];
      const points = Array.from({ length: size }, (_, k) => this.at(item, scene, frame, k));
      if (item.trace && scene.frames > 1 && !Number.isInteger(this.fixed)) this.trail(context, scene, item, frame, accents[1]);
      context.strokeStyle = context.fillStyle = opacity < 1 ? ink : item.kind === "link" ? ink : accents[tint++ % 8];
      context.lineWidth = item.kind === "link" ? 3.5 : 1.6;
      context.lineCap = context.lineJoin = "round";
      if (item.kind === "link") { line(context, points); if (size <= 30) points.forEach((p) => dot(context, p, 3.4)); }
      else if (item.kind === "spring") line(context, coil(points));
      else if (item.kind === "circle") circle(context, points[0], this.radius(item, frame) * this.scale);
      else points.forEach((p) => dot(context, p, 5));
    }
    context.globalAlpha = 1;
  }

  radius(item, frame) {
    if (!item.radius) return 0;
    return item.radius[Math.max(0, Math.min(item.radius.length - 1, Math.round(frame)))];
  }

  trail(context, scene, item, frame, tint) {
    const last = item.points.shape[1] - 1, path = [];
    for (let k = 0; k <= frame; k++) path.push(this.at(item, scene, k, last));
    context.strokeStyle = tint;
    context.lineWidth = 1.2;
    context.globalAlpha *= 0.7;
    line(context, path);
    context.globalAlpha /= 0.7;
  }

  seek(time, { quiet = false } = {}) {
    if (!this.scene) return;
    this.time = Math.max(this.start, Math.min(this.end, time));
    if (this.slider) this.slider.value = this.end > this.start ? (this.time - this.start) / (this.end - this.start) : 0;
    if (this.clock) this.clock.textContent = `t = ${shown(this.time, 4)}`;
    this.draw();
    if (!quiet) this.ontime?.(this.time);
  }

  toggle() { if (this.playing) this.pause(); else this.play(); }

  play() {
    if (!this.scene || !(this.end > this.start)) return;
    if (this.time >= this.end) this.time = this.start;
    this.playing = true;
    this.button.textContent = "❚❚";
    this.button.setAttribute("aria-label", this.words.pause);
    let before = performance.now();
    const step = (now) => {
      if (!this.playing || !this.canvas.isConnected) return;
      this.seek(this.time + ((now - before) / 1000) * this.scene.speed);
      before = now;
      if (this.time >= this.end) this.pause(); else requestAnimationFrame(step);
    };
    requestAnimationFrame(step);
  }

  pause() {
    this.playing = false;
    if (this.button) { this.button.textContent = "▶"; this.button.setAttribute("aria-label", this.words.play); }
  }
}

function line(context, points) {
  context.beginPath();
  points.forEach(([x, y], k) => (k ? context.lineTo(x, y) : context.moveTo(x, y)));
  context.stroke();
}

function dot(context, [x, y], radius) {
  context.beginPath();
  context.arc(x, y, radius, 0, 7);
  context.fill();
}

function circle(context, [x, y], radius) {
  context.beginPath();
  context.arc(x, y, Math.max(radius, 1), 0, 7);
  context.stroke();
}

function coil([a, b]) {
  const along = [b[0] - a[0], b[1] - a[1]], length = Math.hypot(...along) || 1;
  const side = [(-along[1] / length) * 6, (along[0] / length) * 6], points = [a];
  for (let k = 0; k < 2 * COILS; k++) {
    const s = 0.15 + (0.7 * (k + 0.5)) / (2 * COILS), turn = k % 2 ? -1 : 1;
    points.push([a[0] + s * along[0] + turn * side[0], a[1] + s * along[1] + turn * side[1]]);
  }
  return [...points, b];
}
