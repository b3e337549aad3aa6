// The mechanism on a canvas, still or moving: scenes of the server, drawn by the picture of living pages.

import { el } from "./dom.js";
import { shown } from "./numbers.js";
import "./picture.js";

const FINER = 2; // dots of a still picture for each of its pixels

export class Mechanism {
  // options: label, width, height, player (with controls), words, ontime
  constructor({ label, width = 560, height = 340, player = true, words = {}, ontime = null }) {
    Object.assign(this, { width, height, ontime, words, time: 0, playing: false, ghosts: [], fixed: null });
    this.canvas = el("canvas", { role: "img", "aria-label": label, class: "mechanism", tabindex: player ? "0" : null });
    this.canvas.style.aspectRatio = `${width} / ${height}`;
    this.node = el("div", { class: "picture" }, this.canvas);
    if (player) this.addControls();
    this.addTurning();
    new ResizeObserver(() => this.draw()).observe(this.canvas);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.draw());
  }

  addControls() {
    const { words } = this;
    this.button = el("button", { type: "button", class: "small", "aria-label": words.play, onclick: () => this.toggle() }, "▶");
    this.slider = el("input", { type: "range", min: "0", max: "1", step: "any", value: "0", "aria-label": words.time,
      oninput: () => { this.pause(); this.seek(this.start + Number(this.slider.value) * (this.end - this.start)); } });
    this.clock = el("output", {}, "t = 0");
    this.node.append(el("div", { class: "controls" }, this.button, this.slider, this.clock));
    this.canvas.addEventListener("keydown", (event) => {
      if (event.key === " ") { event.preventDefault(); this.toggle(); }
      if (event.key === "ArrowLeft" || event.key === "ArrowRight") {
        event.preventDefault();
        const turn = event.key === "ArrowLeft" ? -1 : 1;
        if (event.shiftKey) { this.picture?.turn(-12 * turn, 0); this.draw(); } else { this.pause(); this.seek(this.time + (turn * (this.end - this.start)) / 100); }
      }
    });
  }

  addTurning() {
    let last = null;
    this.canvas.addEventListener("pointerdown", (event) => { last = [event.clientX, event.clientY]; this.canvas.setPointerCapture(event.pointerId); });
    this.canvas.addEventListener("pointerup", () => { last = null; });
    this.canvas.addEventListener("pointermove", (event) => {
      if (!last || !this.scene?.spatial) return;
      this.picture.turn(event.clientX - last[0], event.clientY - last[1]);
      last = [event.clientX, event.clientY];
      this.draw();
    });
  }

  // `ghosts` are scenes drawn pale behind; with a `frame` it stands still there.
  show(scene, { ghosts = [], frame = null } = {}) {
    const { spatial, up } = scene ?? {}, seen = this.picture?.view();
    Object.assign(this, { scene, ghosts: ghosts.filter(Boolean), fixed: frame });
    if (scene) {
      [this.start, this.end] = scene.times;
      this.time = Math.max(this.start, Math.min(this.end, this.time));
      if (!this.picture || this.spatial !== spatial || this.up !== up) {
        this.picture = globalThis.svyaz.picture(this.canvas, { spatial, up });
        if (seen) this.picture.look(seen.azimuth, seen.elevation);
        Object.assign(this, { spatial, up });
      }
      const all = [scene, ...this.ghosts], corner = (name, most) => scene[name].map((_, k) => most(...all.map((one) => one[name][k] ?? 0)));
      this.corners = [corner("low", Math.min), corner("high", Math.max)];
    }
    this.draw();
    return this;
  }

  frameOf(scene) {
    if (this.fixed !== null) return Math.min(this.fixed, scene.frames - 1);
    const [start, end] = scene.times;
    return end > start ? Math.max(0, Math.min(1, (this.time - start) / (end - start))) * (scene.frames - 1) : 0;
  }

  parts(scene) {
    const frame = this.frameOf(scene), row = Math.min(Math.floor(frame), Math.max(0, scene.frames - 2)), s = frame - row;
    return scene.items.map(({ kind, points, radius }) => {
      const [, size, dim] = points.shape, length = size * dim, found = new Float64Array(length), base = row * length;
      for (let k = 0; k < length; k++) found[k] = s ? points[base + k] * (1 - s) + points[base + length + k] * s : points[base + k];
      return { kind, size, dim, points: found, radius: radius ? radius[Math.round(frame)] : 0 };
    });
  }

  trails(scene) {
    if (this.fixed !== null || scene.frames < 2) return [];
    const count = Math.floor(this.frameOf(scene)) + 1;
    return scene.items.filter((item) => item.trace).map(({ points }) => {
      const [frames, size, dim] = points.shape, last = new Float64Array(frames * dim);
      for (let f = 0; f < frames; f++) for (let a = 0; a < dim; a++) last[f * dim + a] = points[(f * size + size - 1) * dim + a];
      return { dim, points: last, count };
    });
  }

  draw() {
    const { picture, canvas } = this;
    if (!picture || !this.scene) return;
    const small = !canvas.clientWidth, wide = canvas.clientWidth || this.width, high = canvas.clientHeight || this.height;
    picture.readColours();
    picture.resize(small ? { width: wide, height: high, ratio: FINER } : null);
    picture.plain = this.fixed !== null || !this.button;
    picture.fit(...this.corners);
    picture.draw(this.parts(this.scene), this.trails(this.scene), null, this.ghosts.map((ghost) => this.parts(ghost)));
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
