// Curves on a canvas: over time, or one quantity over another.
//
//   svyaz.plot(canvas, { curves: [{ x, y, colour, dash }], across, up, log, bands, gaps })
//     x, y: arrays of numbers; across, up: what the axes are called; log: sizes on a logarithmic scale; bands: [[low, high]],
//     beyond which is shaded; gaps: numbers of rows before which curves are open, for what jumps there
//   returns { value(place), x(value), y(value) }: between places of the canvas (pixels of the page) and numbers
((svyaz) => {
  "use strict";

  const LEFT = 58, RIGHT = 10, TOP = 10, BOTTOM = 34, LEAST = 1e-17;

  const raised = (power) => String(power).replace(/[-0-9]/g, (c) => (c === "-" ? "⁻" : "⁰¹²³⁴⁵⁶⁷⁸⁹"[c]));

  const told = (value, step) => {
    if (Math.abs(value) < 1e-9 * step) return "0";
    if (Math.abs(value) < 1e5 && step >= 1e-4) return value.toFixed(Math.max(0, Math.min(10, -Math.floor(Math.log10(step) + 1e-9)))).replace("-", "−");
    const digits = Math.max(0, Math.min(3, Math.ceil(Math.log10(Math.abs(value) / step) - 1e-9)));
    const [number, power] = value.toExponential(digits).split("e");
    return `${number}·10${raised(Number(power))}`.replace("-", "−");
  };

  const extent = (arrays, size) => {
    let low = Infinity, high = -Infinity;
    for (const array of arrays) {
      for (let k = 0; k < array.length; k++) {
        const value = size(array[k]);
        if (value < low) low = value;
        if (value > high) high = value;
      }
    }
    return low <= high ? [low, high] : [0, 1];
  };

  svyaz.plot = (canvas, { curves, across = "t", up = "", log = false, bands = [], gaps = new Set() }) => {
    const ratio = window.devicePixelRatio || 1, width = canvas.clientWidth || 1, height = canvas.clientHeight || 1;
    if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
      canvas.width = Math.round(width * ratio);
      canvas.height = Math.round(height * ratio);
    }
    const pen = canvas.getContext("2d"), style = getComputedStyle(canvas), colour = (name) => style.getPropertyValue(name).trim();
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.clearRect(0, 0, width, height);
    const [x0, x1] = extent(curves.map((c) => c.x), (v) => v);
    const size = log ? (v) => (v === v ? Math.log10(Math.max(Math.abs(v), LEAST)) : NaN) : (v) => v;
    let [y0, y1] = extent(curves.map((c) => c.y), size);
    for (const [low, high] of bands) {
      const near = 0.5 * (y1 - y0);
      for (const side of [low, high]) if (side >= y0 - near && side <= y1 + near) { y0 = Math.min(y0, side); y1 = Math.max(y1, side); }
    }
    const smallest = 1e-9 * Math.max(Math.abs(y0), Math.abs(y1), log ? 1e10 : 1e-9);
    if (y1 - y0 < smallest) { const middle = (y0 + y1) / 2, room = log ? 1 : Math.max(0.1 * Math.abs(middle), smallest, 1e-12); y0 = middle - room; y1 = middle + room; }
    const room = 0.05 * (y1 - y0);
    y0 -= room;
    y1 += room;
    const left = across === "t" ? x0 : x0 - 0.04 * (x1 - x0), right = across === "t" ? x1 : x1 + 0.04 * (x1 - x0);
    const wide = right > left ? right - left : 1;
    const px = (x) => LEFT + ((x - left) / wide) * (width - LEFT - RIGHT), py = (y) => TOP + ((y1 - y) / (y1 - y0)) * (height - TOP - BOTTOM);

    pen.font = "11px system-ui, sans-serif";
    pen.lineWidth = 1;
    pen.fillStyle = colour("--muted");
    const line = (a, b, c, d, stroke) => { pen.beginPath(); pen.moveTo(a, b); pen.lineTo(c, d); pen.strokeStyle = stroke; pen.stroke(); };
    const xStep = svyaz.niceStep((wide * 80) / (width - LEFT - RIGHT));
    pen.textAlign = "center";
    pen.textBaseline = "top";
    for (let k = Math.ceil(left / xStep - 1e-9); k * xStep <= right + 1e-9 * xStep; k++) {
      line(px(k * xStep), TOP, px(k * xStep), height - BOTTOM, colour("--grid"));
      pen.fillText(told(k * xStep, xStep), px(k * xStep), height - BOTTOM + 5);
    }
    pen.fillText(across, (LEFT + width - RIGHT) / 2, height - 14);
    pen.textAlign = "right";
    pen.textBaseline = "middle";
    const yStep = log ? Math.max(1, Math.ceil((y1 - y0) / ((height - TOP - BOTTOM) / 26))) : svyaz.niceStep(((y1 - y0) * 36) / (height - TOP - BOTTOM));
    for (let k = Math.ceil(y0 / yStep); k * yStep <= y1; k++) {
      line(LEFT, py(k * yStep), width - RIGHT, py(k * yStep), colour("--grid"));
      pen.fillText(log ? `10${raised(k * yStep)}` : told(k * yStep, yStep), LEFT - 6, py(k * yStep));
    }
    if (up) {
      pen.save();
      pen.translate(11, (TOP + height - BOTTOM) / 2);
      pen.rotate(-Math.PI / 2);
      pen.textAlign = "center";
      pen.fillText(up, 0, 0);
      pen.restore();
    }
    pen.save();
    pen.beginPath();
    pen.rect(LEFT, TOP, width - LEFT - RIGHT, height - TOP - BOTTOM);
    pen.clip();
    pen.globalAlpha = 0.12;
    pen.fillStyle = colour("--warm");
    for (const [low, high] of bands) {
      if (high < y1) pen.fillRect(LEFT, TOP, width, py(high) - TOP);
      if (low > y0) pen.fillRect(LEFT, py(low), width, height);
    }
    pen.globalAlpha = 1;
    pen.lineJoin = "round";
    curves.forEach(({ x, y, colour: stroke, dash = [] }) => {
      pen.beginPath();
      let down = false;
      for (let k = 0; k < y.length; k++) {
        const value = size(y[k]);
        if (!(value === value) || value === Infinity || value === -Infinity) { down = false; continue; }
        if (down && !gaps.has(k)) pen.lineTo(px(x[k]), py(value)); else pen.moveTo(px(x[k]), py(value));
        down = true;
      }
      pen.strokeStyle = stroke;
      pen.lineWidth = 1.6;
      pen.setLineDash(dash);
      pen.stroke();
      pen.setLineDash([]);
    });
    pen.restore();
    return { value: (x) => left + ((x - LEFT) / (width - LEFT - RIGHT)) * wide, x: px, y: (value) => py(size(value)) };
  };
  svyaz.raised = raised;
})((globalThis.svyaz ??= {}));
