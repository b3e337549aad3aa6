// Drawing of a mechanism on a canvas, in the plane or in space.
//
//   const picture = svyaz.picture(canvas, { spatial, up })   up: the axis of space that is drawn upwards (0, 1, 2)
//   picture.fit(low, high)                 the corners of what is to be seen
//   picture.draw(parts, trails, marked, ghosts)   parts: [{ kind, size, dim, points, radius }], points by rows; kinds: link,
//                                          point, circle, spring; trails: [{ dim, points, count }], the first `count` points of
//                                          each; ghosts: parts of other mechanisms, drawn pale behind
//   picture.hit(parts, x, y)               { part, point, distance } nearest to a place of the canvas
//   picture.place(x, y, near)              the point of space under a place, in the plane of the screen through `near`
//   picture.turn(dx, dy), picture.view()   azimuth and elevation of the eye; picture.resize(), picture.readColours()
//   picture.plain, picture.trail           whether the grid is left out, and the trails are drawn
((svyaz) => {
  "use strict";

  const COILS = 7;
  const FEW_LINKS = 15; // joints are marked on mechanisms of up to so many links; more would be a row of dots
  const AZIMUTH = (-60 * Math.PI) / 180, ELEVATION = (22 * Math.PI) / 180;

  const niceStep = (least) => {
    const power = 10 ** Math.floor(Math.log10(least));
    return power * [1, 2, 5, 10].find((m) => m * power >= least * 0.999);
  };

  const zigzag = ([x0, y0], [x1, y1]) => {
    const dx = x1 - x0, dy = y1 - y0;
    const at = (s, side) => [x0 + s * dx - 0.11 * side * dy, y0 + s * dy + 0.11 * side * dx];
    const coils = Array.from({ length: 2 * COILS }, (_, k) => at(0.15 + (0.7 * (k + 0.5)) / (2 * COILS), k % 2 ? -1 : 1));
    return [[x0, y0], at(0.15, 0), ...coils, at(0.85, 0), [x1, y1]];
  };

  class Camera {
    constructor({ spatial, up }) {
      this.spatial = spatial;
      this.up = up;
      this.azimuth = AZIMUTH;
      this.elevation = ELEVATION;
      this.low = [-1, -1, -1];
      this.high = [1, 1, 1];
      this.width = this.height = 1;
    }

    // Right and upward directions of the screen in space.
    axes() {
      const sa = Math.sin(this.azimuth), ca = Math.cos(this.azimuth), se = Math.sin(this.elevation), ce = Math.cos(this.elevation);
      const back = ([x, y, z]) => [[z, x, y], [x, z, -y], [x, y, z]][this.up];
      return [back([-sa, ca, 0]), back([-se * ca, -se * sa, ce])];
    }

    plane(x, y, z) {
      if (!this.spatial) return [x, y];
      const u = x - this.centre[0], v = y - this.centre[1], w = z - this.centre[2], [right, upward] = this.directions;
      return [right[0] * u + right[1] * v + right[2] * w, upward[0] * u + upward[1] * v + upward[2] * w];
    }

    refit() {
      const { low, high, width, height } = this;
      this.centre = low.map((l, k) => (l + high[k]) / 2);
      this.directions = this.axes();
      if (this.spatial) {
        const reach = Math.hypot(...high.map((h, k) => (h - low[k]) / 2)) || 1;
        this.scale = Math.min(width, height) / (2 * reach);
        this.middle = [0, 0];
      } else {
        this.scale = Math.min(width / (high[0] - low[0]), height / (high[1] - low[1]));
        this.middle = [this.centre[0], this.centre[1]];
      }
    }

    pixel(x, y, z) {
      const [u, v] = this.plane(x, y, z);
      return [this.width / 2 + this.scale * (u - this.middle[0]), this.height / 2 - this.scale * (v - this.middle[1])];
    }
  }

  class Picture {
    constructor(canvas, scene) {
      this.canvas = canvas;
      this.pen = canvas.getContext("2d");
      this.camera = new Camera(scene);
      this.trail = true;
      this.plain = false;
      this.readColours();
      this.resize();
    }

    readColours() {
      const style = getComputedStyle(this.canvas);
      const get = (name) => style.getPropertyValue(name).trim();
      this.colours = { ink: get("--ink"), muted: get("--muted"), grid: get("--grid"), paper: get("--paper"), dot: get("--warm"), accent: get("--accent") };
      this.trails = ["--trail-1", "--trail-2", "--trail-3", "--trail-4", "--trail-5", "--trail-6"].map(get);
    }

    // As large as the canvas is shown, or as it will be: { width, height, ratio } in pixels of the page.
    resize(given = null) {
      const ratio = given?.ratio ?? (window.devicePixelRatio || 1);
      const { width, height } = given ?? { width: this.canvas.clientWidth, height: this.canvas.clientHeight };
      this.canvas.width = Math.max(1, Math.round(width * ratio));
      this.canvas.height = Math.max(1, Math.round(height * ratio));
      this.pen.setTransform(ratio, 0, 0, ratio, 0, 0);
      this.camera.width = width || 1;
      this.camera.height = height || 1;
      this.camera.refit();
    }

    fit(low, high) {
      this.camera.low = low;
      this.camera.high = high;
      this.camera.refit();
    }

    turn(dx, dy) {
      const { camera } = this;
      camera.azimuth -= dx * 0.01;
      camera.elevation = Math.max(-Math.PI / 2, Math.min(Math.PI / 2, camera.elevation + dy * 0.01));
      camera.refit();
    }

    look(azimuth, elevation) {
      Object.assign(this.camera, { azimuth, elevation });
      this.camera.refit();
    }

    view() {
      return { azimuth: this.camera.azimuth, elevation: this.camera.elevation };
    }

    pixels(part) {
      const { dim, points, size } = part, found = [];
      for (let p = 0; p < size; p++) found.push(this.camera.pixel(points[p * dim], points[p * dim + 1], dim === 3 ? points[p * dim + 2] : 0));
      return found;
    }

    hit(parts, x, y) {
      let best = { part: -1, point: -1, distance: Infinity };
      parts.forEach((part, k) => {
        this.pixels(part).forEach(([u, v], p) => {
          const reach = part.kind === "circle" ? Math.max(0, Math.hypot(u - x, v - y) - Math.abs(part.radius) * this.camera.scale) : Math.hypot(u - x, v - y);
          if (reach < best.distance) best = { part: k, point: p, distance: reach };
        });
      });
      return best;
    }

    place(x, y, near) {
      const { camera } = this, u = (x - camera.width / 2) / camera.scale, v = (camera.height / 2 - y) / camera.scale;
      if (!camera.spatial) return [u + camera.middle[0], v + camera.middle[1]];
      const here = camera.plane(...near), [right, upward] = camera.directions;
      return near.map((e, k) => e + (u - here[0]) * right[k] + (v - here[1]) * upward[k]);
    }

    line(points, colour, width) {
      const { pen } = this;
      pen.beginPath();
      points.forEach(([x, y], k) => (k ? pen.lineTo(x, y) : pen.moveTo(x, y)));
      pen.strokeStyle = colour;
      pen.lineWidth = width;
      pen.stroke();
    }

    disc([x, y], radius, fill, outline, ink = this.colours.ink) {
      const { pen } = this;
      pen.beginPath();
      pen.arc(x, y, radius, 0, 2 * Math.PI);
      if (fill) { pen.fillStyle = fill; pen.fill(); }
      if (outline) { pen.strokeStyle = ink ?? this.colours.ink; pen.lineWidth = outline; pen.stroke(); }
    }

    text(words, x, y, align, baseline) {
      Object.assign(this.pen, { fillStyle: this.colours.muted, textAlign: align, textBaseline: baseline, font: "11px system-ui, sans-serif" });
      this.pen.fillText(words, x, y);
    }

    grid() {
      const { camera } = this;
      const step = niceStep(70 / camera.scale);
      const digits = Math.max(0, Math.min(10, -Math.floor(Math.log10(step) + 1e-9)));
      const told = (value) => value.toFixed(digits).replace("-", "−");
      const left = camera.middle[0] - camera.width / 2 / camera.scale, right = left + camera.width / camera.scale;
      const bottom = camera.middle[1] - camera.height / 2 / camera.scale, top = bottom + camera.height / camera.scale;
      for (let k = Math.ceil(left / step); k * step <= right; k++) {
        const [x] = camera.pixel(k * step, 0, 0);
        this.line([[x, 0], [x, camera.height]], this.colours.grid, k ? 1 : 1.8);
        if (x > 40 && x < camera.width - 14) this.text(told(k * step), x, camera.height - 4, "center", "bottom");
      }
      for (let k = Math.ceil(bottom / step); k * step <= top; k++) {
        const [, y] = camera.pixel(0, k * step, 0);
        this.line([[0, y], [camera.width, y]], this.colours.grid, k ? 1 : 1.8);
        if (y > 12 && y < camera.height - 22) this.text(told(k * step), 6, y - 2, "left", "bottom");
      }
    }

    triad() {
      const { camera } = this;
      const length = 0.15 * Math.max(...camera.high.map((h, k) => h - camera.low[k]));
      const origin = camera.pixel(0, 0, 0);
      ["x", "y", "z"].forEach((name, k) => {
        const tip = [0, 0, 0];
        tip[k] = length;
        const end = camera.pixel(...tip);
        this.line([origin, end], this.colours.grid, 2);
        this.text(name, end[0] + 4, end[1] - 4, "left", "bottom");
      });
    }

    path({ dim, points, count }, colour) {
      const { pen, camera } = this;
      pen.beginPath();
      for (let k = 0; k < count; k++) {
        const [x, y] = camera.pixel(points[k * dim], points[k * dim + 1], dim === 3 ? points[k * dim + 2] : 0);
        if (k) pen.lineTo(x, y); else pen.moveTo(x, y);
      }
      pen.strokeStyle = colour;
      pen.lineWidth = 1.5;
      pen.globalAlpha = 0.85;
      pen.stroke();
      pen.globalAlpha = 1;
    }

    part(part, joints, ink = null) {
      const pixels = this.pixels(part);
      if (part.kind === "circle") this.disc(pixels[0], Math.abs(part.radius) * this.camera.scale, null, 2, ink);
      else if (part.kind === "point") this.disc(pixels[0], 5.5, ink ?? this.colours.dot, 0);
      else if (part.kind === "spring") for (let k = 0; k + 1 < pixels.length; k++) this.line(zigzag(pixels[k], pixels[k + 1]), this.colours.muted, 2);
      else {
        this.line(pixels, ink ?? this.colours.ink, 2.6);
        if (joints) for (const pixel of pixels) this.disc(pixel, 3.6, this.colours.paper, 1.6, ink);
      }
    }

    ghost(parts, ink) {
      this.pen.globalAlpha = 0.45;
      for (const part of parts) this.part(part, false, ink);
      this.pen.globalAlpha = 1;
    }

    mark(part, point) {
      const pixel = this.pixels(part)[point];
      this.pen.globalAlpha = 0.25;
      this.disc(pixel, 14, this.colours.accent, 0);
      this.pen.globalAlpha = 1;
    }

    draw(parts, trails = [], marked = null, ghosts = []) {
      const { pen, camera } = this;
      pen.clearRect(0, 0, camera.width, camera.height);
      pen.lineJoin = pen.lineCap = "round";
      if (camera.spatial) this.triad();
      else if (!this.plain) this.grid();
      if (this.trail) trails.forEach((trail, k) => this.path(trail, this.trails[k % this.trails.length]));
      ghosts.forEach((ghost, k) => this.ghost(ghost, this.trails[(k + 1) % this.trails.length]));
      const joints = parts.reduce((sum, { kind, size }) => sum + (kind === "link" ? size - 1 : 0), 0) <= FEW_LINKS;
      for (const part of parts) if (part.kind !== "point") this.part(part, joints);
      for (const part of parts) if (part.kind === "point") this.part(part, joints);
      if (marked) this.mark(parts[marked.part], marked.point);
    }
  }

  svyaz.picture = (canvas, scene) => new Picture(canvas, scene);
  svyaz.niceStep = niceStep;
})((globalThis.svyaz ??= {}));
