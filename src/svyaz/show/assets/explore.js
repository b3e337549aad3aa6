// Sliders over a system: a move is sent to the kernel, which answers with the motion that follows. While it computes, only
// the newest move waits. The player (svyazPlayer) draws the mechanism, the curves are drawn here.

const element = (tag, name, text) => {
  const made = document.createElement(tag);
  if (name) made.className = name;
  if (text) made.textContent = text;
  return made;
};

const shortNumber = (value, step) => {
  const digits = Math.max(0, Math.min(8, -Math.floor(Math.log10(step) + 1e-9)));
  return Math.abs(value) >= 1e6 || (value !== 0 && Math.abs(value) < 1e-4) ? value.toExponential(2) : value.toFixed(digits);
};

const ticks = (low, high, count) => {
  const least = (high - low) / count || 1;
  const power = 10 ** Math.floor(Math.log10(least));
  const step = power * [1, 2, 5, 10].find((m) => m * power >= least * 0.999);
  const found = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * step; k++) found.push(k * step);
  return [found, step];
};

const extent = (rows, margin = 0.05) => {
  let low = Infinity, high = -Infinity;
  for (const row of rows) for (const value of row) if (value !== null) { low = Math.min(low, value); high = Math.max(high, value); }
  if (!(low <= high)) return [0, 1];
  const room = high > low ? (high - low) * margin : Math.abs(high) * 0.1 || 1;
  return [low - room, high + room];
};

// One panel: all lines of a view with their names.
const drawCurves = (canvas, view, colours) => {
  const ratio = window.devicePixelRatio || 1;
  const width = canvas.clientWidth, height = canvas.clientHeight;
  if (!width || !height) return;
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  const pen = canvas.getContext("2d");
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  const lines = Object.entries(view.lines);
  const [left, right, top, bottom] = [52, width - 8, 22, height - 30];
  const [x0, x1] = extent(lines.map(([, line]) => line.right), view.across === "t" ? 0 : 0.05);
  const [y0, y1] = extent(lines.map(([, l]) => l.up));
  const place = (x, y) => [left + ((x - x0) / (x1 - x0 || 1)) * (right - left), bottom - ((y - y0) / (y1 - y0)) * (bottom - top)];
  Object.assign(pen, { font: "11px system-ui, sans-serif", lineWidth: 1, strokeStyle: colours.grid, fillStyle: colours.muted });
  const [across, stepX] = ticks(x0, x1, 8);
  const [up, stepY] = ticks(y0, y1, 5);
  for (const x of across) {
    const [px] = place(x, y0);
    pen.beginPath(); pen.moveTo(px, top); pen.lineTo(px, bottom); pen.stroke();
    pen.textAlign = "center"; pen.textBaseline = "top"; pen.fillText(shortNumber(x, stepX), px, bottom + 4);
  }
  for (const y of up) {
    const [, py] = place(x0, y);
    pen.beginPath(); pen.moveTo(left, py); pen.lineTo(right, py); pen.stroke();
    pen.textAlign = "right"; pen.textBaseline = "middle"; pen.fillText(shortNumber(y, stepY), left - 5, py);
  }
  pen.textAlign = "right"; pen.textBaseline = "bottom"; pen.fillText(view.across, right, height - 1);
  let name = left;
  lines.forEach(([title, line], k) => {
    pen.strokeStyle = colours.trails[k % colours.trails.length];
    pen.lineWidth = 1.7;
    pen.beginPath();
    let open = true;
    line.right.forEach((x, row) => {
      const y = line.up[row];
      if (x === null || y === null) { open = true; return; }
      pen[open ? "moveTo" : "lineTo"](...place(x, y));
      open = false;
    });
    pen.stroke();
    pen.fillStyle = pen.strokeStyle; pen.textAlign = "left"; pen.textBaseline = "top";
    if (name < right - 20) pen.fillText(title, name, 4);
    name += pen.measureText(title).width + 14;
  });
};

const render = ({ model, el }) => {
  const root = element("div", "svyaz-explore");
  const board = element("div", "board"), rows = element("div", "sliders"), stage = element("div", "stage");
  const trouble = element("p", "trouble"), words = element("p", "quiet");
  trouble.setAttribute("role", "status");
  root.append(board, stage);
  el.append(root);

  let values = { ...model.get("given") }, moved = null, waiting = false, pending = false, asked = 0;
  const inputs = {};
  const ask = () => {
    if (waiting) { pending = true; return; }
    waiting = true;
    pending = false;
    root.dataset.computing = "";  // the player rests: the processor is needed
    asked = performance.now();
    model.send({ values, moved });
  };
  const label = (slider) => { inputs[slider.name].number.textContent = shortNumber(values[slider.name], slider.step); };
  const sliders = model.get("sliders");
  for (const slider of sliders) {
    const row = element("label", "slider");
    const input = element("input"), number = element("output");
    Object.assign(input, { type: "range", min: slider.low, max: slider.high, step: "any" });
    input.setAttribute("aria-label", slider.name);
    input.value = values[slider.name];
    row.append(element("span", "name", slider.name.replace(/^initial\.(.*)$/, "$1 at t = 0")), input, number);
    rows.append(row);
    inputs[slider.name] = { input, number };
    label(slider);
    input.addEventListener("input", () => {
      values = { ...values, [slider.name]: Math.round(Number(input.value) / slider.step) * slider.step };
      moved = slider.name;
      label(slider);
      ask();
    });
  }
  const reset = element("button", "reset", "As given");
  reset.type = "button";
  reset.addEventListener("click", () => { for (const s of sliders) set(s, s.value); moved = null; ask(); });
  board.append(rows, reset, trouble, words);
  const set = (slider, value) => {
    values = { ...values, [slider.name]: value };
    inputs[slider.name].input.value = value;
    label(slider);
  };

  let play = null, answer = null, panels = [];
  const colours = () => {
    const style = getComputedStyle(root), get = (name) => style.getPropertyValue(name).trim();
    return { grid: get("--grid"), muted: get("--muted"), trails: [1, 2, 3, 4, 5, 6].map((k) => get(`--trail-${k}`)) };
  };
  const repaint = () => { const found = colours(); panels.forEach((panel, k) => drawCurves(panel, answer.curves[k], found)); };
  const show = (next) => {
    trouble.textContent = next.trouble;
    root.classList.toggle("stale", !next.curves);
    if (!next.curves) return;
    answer = next;
    words.textContent = next.words.join("; ");
    if (next.scene && !play) {
      stage.insertAdjacentHTML("afterbegin", model.get("player"));
      play = globalThis.svyazPlayer.start(stage.querySelector(".player"), next.scene);
    } else if (next.scene) {
      play(next.scene);
    }
    while (panels.length < next.curves.length) {
      const panel = element("canvas", "curves");
      stage.append(panel);
      panels.push(panel);
    }
    repaint();
    for (const slider of sliders) {
      const held = next.initial[slider.name];
      if (held !== undefined && slider.name !== moved && Math.abs(held - values[slider.name]) > slider.step / 2) set(slider, held);
    }
  };
  const hear = (message) => {
    if (message.kind !== "answer") return;
    waiting = false;
    delete root.dataset.computing;
    model.set("given", message.values);  // for views that are opened later
    model.set("answer", message.answer);
    if (!pending) for (const slider of sliders) if (slider.name !== moved) set(slider, message.values[slider.name]);
    show(message.answer);
    root.dataset.redrawn = (performance.now() - asked).toFixed(1);
    root.dataset.computed = (1000 * message.answer.seconds).toFixed(1);
    root.dataset.answers = Number(root.dataset.answers || 0) + 1;
    if (pending) ask();
  };
  model.on("msg:custom", hear);
  new ResizeObserver(repaint).observe(stage);
  const theme = new MutationObserver(() => requestAnimationFrame(() => { repaint(); if (play && answer.scene) play(answer.scene); }));
  theme.observe(document.body, { attributes: true, attributeFilter: ["class", "data-jp-theme-light", "data-theme"] });
  show(model.get("answer"));
  return () => { model.off("msg:custom", hear); theme.disconnect(); };
};

export default { render };
