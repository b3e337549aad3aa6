// Player of a motion. The numbers stand in a JSON element inside the player: moments at equal intervals, for each part
// its points as base64 of little-endian 16-bit integers, q -> centre + half * q / 32767. A player without that element
// waits for a script: svyazPlayer.start(root, scene) returns a function that shows another scene in its place.
(() => {
  "use strict";

  const RATES = [0.1, 0.25, 0.5, 1, 2, 4, 10];
  const COILS = 7;
  const FEW_LINKS = 15;

  const integers = (text) => {
    const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
    const view = new DataView(bytes.buffer);
    return Int16Array.from({ length: bytes.length / 2 }, (_, k) => view.getInt16(2 * k, true));
  };

  const decode = (scene) => {
    const unit = scene.half / 32767;
    for (const item of scene.items) {
      const q = integers(item.points);
      const axes = item.dim;
      item.values = Float64Array.from(q, (v, k) => scene.centre[k % axes] + unit * v);
      item.radii = item.radius === null ? null : Float64Array.from(integers(item.radius), (v) => unit * v);
    }
    return scene;
  };

  // Point p of a part at the real-valued frame f, linear between frames.
  const pointAt = (item, f, p) => {
    const k = Math.min(Math.floor(f), item.frames - 2 < 0 ? 0 : item.frames - 2);
    const s = item.frames > 1 ? f - k : 0;
    const out = [0, 0, 0];
    for (let a = 0; a < item.dim; a++) {
      const here = item.values[(k * item.size + p) * item.dim + a];
      const next = item.frames > 1 ? item.values[((k + 1) * item.size + p) * item.dim + a] : here;
      out[a] = here + s * (next - here);
    }
    return out;
  };

  const niceStep = (least) => {
    const power = 10 ** Math.floor(Math.log10(least));
    return power * [1, 2, 5, 10].find((m) => m * power >= least * 0.999);
  };

  class Camera {
    constructor(scene) {
      this.scene = scene;
      this.spatial = scene.dim === 3;
      this.azimuth = scene.azimuth;
      this.elevation = scene.elevation;
    }

    plane(point) {
      if (!this.spatial) return [point[0], point[1]];
      const [u, v, w] = point.map((entry, k) => entry - this.scene.centre[k]);
      const [x, y, z] = [[v, w, u], [u, -w, v], [u, v, w]][this.scene.up];
      const sa = Math.sin(this.azimuth), ca = Math.cos(this.azimuth);
      const se = Math.sin(this.elevation), ce = Math.cos(this.elevation);
      return [-sa * x + ca * y, -se * (ca * x + sa * y) + ce * z];
    }

    fit(width, height) {
      const { low, high } = this.scene;
      if (this.spatial) {
        const reach = Math.hypot(...high.map((h, k) => (h - low[k]) / 2)) || 1;
        this.scale = Math.min(width, height) / (2 * reach);
        this.middle = [0, 0];
      } else {
        this.scale = Math.min(width / (high[0] - low[0]), height / (high[1] - low[1]));
        this.middle = [(low[0] + high[0]) / 2, (low[1] + high[1]) / 2];
      }
      this.width = width;
      this.height = height;
    }

    pixel(point) {
      const [x, y] = this.plane(point);
      return [this.width / 2 + this.scale * (x - this.middle[0]), this.height / 2 - this.scale * (y - this.middle[1])];
    }
  }

  const zigzag = ([x0, y0], [x1, y1]) => {
    const dx = x1 - x0, dy = y1 - y0;
    const at = (s, side) => [x0 + s * dx - 0.11 * side * dy, y0 + s * dy + 0.11 * side * dx];
    const coils = Array.from({ length: 2 * COILS }, (_, k) => at(0.15 + (0.7 * (k + 0.5)) / (2 * COILS), k % 2 ? -1 : 1));
    return [[x0, y0], at(0.15, 0), ...coils, at(0.85, 0), [x1, y1]];
  };

  class Picture {
    constructor(canvas, scene, camera) {
      this.canvas = canvas;
      this.pen = canvas.getContext("2d");
      this.scene = scene;
      this.camera = camera;
      this.trail = true;
      this.joints = scene.items.filter((item) => item.kind === "link").length <= FEW_LINKS;
      this.readColours();
    }

    readColours() {
      const style = getComputedStyle(this.canvas);
      const get = (name) => style.getPropertyValue(name).trim();
      this.colours = { ink: get("--ink"), muted: get("--muted"), grid: get("--grid"), paper: get("--paper"), dot: get("--warm") };
      this.trails = ["--trail-1", "--trail-2", "--trail-3", "--trail-4", "--trail-5", "--trail-6"].map(get);
    }

    resize() {
      const ratio = window.devicePixelRatio || 1;
      const { clientWidth: width, clientHeight: height } = this.canvas;
      this.canvas.width = Math.max(1, Math.round(width * ratio));
      this.canvas.height = Math.max(1, Math.round(height * ratio));
      this.pen.setTransform(ratio, 0, 0, ratio, 0, 0);
      this.camera.fit(width, height);
    }

    line(points, colour, width) {
      const { pen } = this;
      pen.beginPath();
      points.forEach(([x, y], k) => (k ? pen.lineTo(x, y) : pen.moveTo(x, y)));
      pen.strokeStyle = colour;
      pen.lineWidth = width;
      pen.stroke();
    }

    disc([x, y], radius, fill, outline) {
      const { pen } = this;
      pen.beginPath();
      pen.arc(x, y, radius, 0, 2 * Math.PI);
      if (fill) { pen.fillStyle = fill; pen.fill(); }
      if (outline) { pen.strokeStyle = this.colours.ink; pen.lineWidth = outline; pen.stroke(); }
    }

    text(words, x, y, align, baseline) {
      Object.assign(this.pen, { fillStyle: this.colours.muted, textAlign: align, textBaseline: baseline, font: "11px system-ui, sans-serif" });
      this.pen.fillText(words, x, y);
    }

    grid() {
      const { camera } = this;
      const step = niceStep(70 / camera.scale);
      const digits = Math.max(0, Math.min(10, -Math.floor(Math.log10(step) + 1e-9)));
      const left = camera.middle[0] - camera.width / 2 / camera.scale, right = left + camera.width / camera.scale;
      const bottom = camera.middle[1] - camera.height / 2 / camera.scale, top = bottom + camera.height / camera.scale;
      for (let k = Math.ceil(left / step); k * step <= right; k++) {
        const [x] = camera.pixel([k * step, 0, 0]);
        this.line([[x, 0], [x, camera.height]], this.colours.grid, k ? 1 : 1.8);
        if (x > 40 && x < camera.width - 14) this.text((k * step).toFixed(digits), x, camera.height - 4, "center", "bottom");
      }
      for (let k = Math.ceil(bottom / step); k * step <= top; k++) {
        const [, y] = camera.pixel([0, k * step, 0]);
        this.line([[0, y], [camera.width, y]], this.colours.grid, k ? 1 : 1.8);
        if (y > 12 && y < camera.height - 22) this.text((k * step).toFixed(digits), 6, y - 2, "left", "bottom");
      }
    }

    triad() {
      const { camera, scene } = this;
      const length = scene.half * 0.3;
      const origin = camera.pixel([0, 0, 0]);
      ["x", "y", "z"].forEach((name, k) => {
        const tip = [0, 0, 0];
        tip[k] = length;
        const end = camera.pixel(tip);
        this.line([origin, end], this.colours.grid, 2);
        this.text(name, end[0] + 4, end[1] - 4, "left", "bottom");
      });
    }

    trace(item, f, colour) {
      const points = [];
      for (let k = 0; k <= Math.floor(f); k++) points.push(this.camera.pixel(pointAt(item, k, item.size - 1)));
      points.push(this.camera.pixel(pointAt(item, f, item.size - 1)));
      this.pen.globalAlpha = 0.85;
      this.line(points, colour, 1.5);
      this.pen.globalAlpha = 1;
    }

    part(item, f) {
      const pixels = Array.from({ length: item.size }, (_, p) => this.camera.pixel(pointAt(item, f, p)));
      if (item.kind === "circle") {
        const radius = Math.abs(item.radii[Math.min(Math.round(f), item.frames - 1)]) * this.camera.scale;
        this.disc(pixels[0], radius, null, 2);
      } else if (item.kind === "point") {
        this.disc(pixels[0], 5.5, this.colours.dot, 0);
      } else if (item.kind === "spring") {
        for (let k = 0; k + 1 < pixels.length; k++) this.line(zigzag(pixels[k], pixels[k + 1]), this.colours.muted, 2);
      } else {
        this.line(pixels, this.colours.ink, 2.6);
        if (this.joints) for (const pixel of pixels) this.disc(pixel, 3.6, this.colours.paper, 1.6);
      }
    }

    draw(f) {
      const { pen, camera, scene } = this;
      pen.clearRect(0, 0, camera.width, camera.height);
      pen.lineJoin = pen.lineCap = "round";
      if (camera.spatial) this.triad();
      else this.grid();
      if (this.trail) {
        scene.items.filter((item) => item.trace).forEach((item, k) => this.trace(item, f, this.trails[k % this.trails.length]));
      }
      for (const item of scene.items) if (item.kind !== "point") this.part(item, f);
      for (const item of scene.items) if (item.kind === "point") this.part(item, f);
    }
  }

  // Where a scene that takes another's place is drawn: as before, so that changes of length are seen, while it fits there.
  const sameFrame = (scene, before) => {
    const inside = scene.low.every((low, k) => low >= before.low[k] && scene.high[k] <= before.high[k]);
    const reach = (one) => Math.max(...one.high.map((high, k) => high - one.low[k]));
    if (inside && reach(scene) > 0.5 * reach(before)) Object.assign(scene, { low: before.low, high: before.high });
    return scene;
  };

  const start = (root, given) => {
    let scene = decode(given);
    const find = (name) => root.querySelector(`[data-part="${name}"]`);
    const [canvas, button, slider, clock, speed, trail] = ["canvas", "play", "slider", "clock", "speed", "trail"].map(find);
    const camera = new Camera(scene);
    const picture = new Picture(canvas, scene, camera);
    let first, last, frames, interval, digits;
    const measure = () => {
      [first, last] = scene.span;
      frames = scene.frames;
      interval = frames > 1 ? (last - first) / (frames - 1) : 1;
      digits = Math.max(2, Math.min(8, 2 - Math.floor(Math.log10(last - first || 1))));
      slider.max = Math.max(frames - 1, 1);
    };
    measure();
    let now = first, playing = false, before = null, rest = 0;

    for (const rate of RATES) {
      const option = new Option(`× ${+(rate * scene.speed).toPrecision(3)}`, rate * scene.speed, rate === 1, rate === 1);
      speed.add(option);
    }

    const show = () => {
      const f = Math.max(0, Math.min((now - first) / interval, frames - 1));
      picture.draw(f);
      slider.value = f;
      const words = now.toFixed(digits);
      clock.textContent = `t = ${words}`;
      slider.setAttribute("aria-valuetext", `time ${words}`);
    };
    const go = (time) => { now = Math.max(first, Math.min(time, last)); show(); };
    const step = (stamp) => {
      if (!playing) return;
      if (before !== null) {
        const passed = Math.min((stamp - before) / 1000, 0.1);
        if (now >= last) {
          rest += passed;
          if (rest > 0.8) { rest = 0; now = first; }
        } else {
          now = Math.min(now + passed * Number(speed.value), last);
        }
        show();
      }
      before = stamp;
      requestAnimationFrame(step);
    };
    const play = (wanted) => {
      playing = wanted;
      before = null;
      rest = 1;
      button.textContent = playing ? "❚❚" : "▶";
      button.setAttribute("aria-label", playing ? "Pause" : "Play");
      if (playing) requestAnimationFrame(step);
    };

    button.addEventListener("click", () => play(!playing));
    slider.addEventListener("input", () => { play(false); go(first + interval * Number(slider.value)); });
    trail.addEventListener("change", () => { picture.trail = trail.checked; show(); });
    const turn = (dx, dy) => {
      camera.azimuth -= dx * 0.01;
      camera.elevation = Math.max(-Math.PI / 2, Math.min(Math.PI / 2, camera.elevation + dy * 0.01));
      show();
    };
    const keys = {
      " ": () => play(!playing),
      ArrowRight: (event) => (event.shiftKey && camera.spatial ? turn(12, 0) : (play(false), go(now + interval))),
      ArrowLeft: (event) => (event.shiftKey && camera.spatial ? turn(-12, 0) : (play(false), go(now - interval))),
      ArrowUp: (event) => event.shiftKey && camera.spatial && turn(0, 12),
      ArrowDown: (event) => event.shiftKey && camera.spatial && turn(0, -12),
      Home: () => go(first),
      End: () => { play(false); go(last); },
      "+": () => { speed.selectedIndex = Math.min(speed.selectedIndex + 1, RATES.length - 1); },
      "-": () => { speed.selectedIndex = Math.max(speed.selectedIndex - 1, 0); },
      t: () => trail.click(),
    };
    root.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey || !keys[event.key]) return;
      const own = event.target.tagName === "SELECT" || (event.target !== root && event.target !== canvas && event.key === " ");
      if (own || ((event.key === "ArrowUp" || event.key === "ArrowDown") && !event.shiftKey)) return;
      event.preventDefault();
      keys[event.key](event);
    });

    if (camera.spatial) {
      let held = null;
      canvas.style.touchAction = "none";
      canvas.style.cursor = "grab";
      canvas.addEventListener("pointerdown", (event) => { held = [event.clientX, event.clientY]; canvas.setPointerCapture(event.pointerId); });
      canvas.addEventListener("pointerup", () => { held = null; });
      canvas.addEventListener("pointermove", (event) => {
        if (!held) return;
        turn(event.clientX - held[0], event.clientY - held[1]);
        held = [event.clientX, event.clientY];
      });
    } else {
      canvas.addEventListener("click", () => play(!playing));
    }
    const repaint = () => { picture.readColours(); picture.resize(); show(); };
    new ResizeObserver(repaint).observe(canvas);
    const dark = window.matchMedia("(prefers-color-scheme: dark)");
    if (dark.addEventListener) dark.addEventListener("change", repaint);
    window.addEventListener("beforeprint", repaint);
    repaint();
    if (!window.matchMedia("(prefers-reduced-motion: reduce)").matches) play(true);
    return (next) => {
      scene = camera.scene = picture.scene = sameFrame(decode(next), scene);
      measure();
      now = Math.max(first, Math.min(now, last));
      repaint();
    };
  };

  globalThis.svyazPlayer = { start };
  document.querySelectorAll('.player > script[type="application/json"]').forEach((data) => start(data.parentElement, JSON.parse(data.textContent)));
})();
