// The player: a picture with a clock, buttons and keys. It shows a source; a living page exchanges it at every change.
//
//   const player = svyaz.player(root, source)      root: an element with the parts canvas, play, slider, clock, speed, trail
//   source: { span: [first, last], speed, spatial, up, low, high, interval, parts(t), trails(t) }   (parts: see picture.js)
//   player.use(source), player.go(t), player.play(wanted), player.show(), player.now(), player.onTime(f)
//   svyaz.kept(data)                               the source of a motion that is kept in a page: points as 16-bit integers
((svyaz) => {
  "use strict";

  const RATES = [0.1, 0.25, 0.5, 1, 2, 4, 10];

  const bytes = (text) => Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
  const integers = (text) => new Int16Array(bytes(text).buffer);

  // Moments at equal intervals, for each part its points as base64 of little-endian integers, q -> centre + half * q / 32767.
  svyaz.kept = (scene) => {
    const unit = scene.half / 32767, [first, last] = scene.span, { frames } = scene;
    const interval = frames > 1 ? (last - first) / (frames - 1) : 1;
    const items = scene.items.map((item) => ({
      ...item,
      values: Float64Array.from(integers(item.points), (v, k) => scene.centre[k % item.dim] + unit * v),
      radii: item.radius === null ? null : Float64Array.from(integers(item.radius), (v) => unit * v),
    }));
    const frame = (t) => Math.max(0, Math.min((t - first) / interval, frames - 1));
    const at = (item, f) => {
      const k = Math.min(Math.floor(f), Math.max(0, frames - 2)), s = frames > 1 ? f - k : 0, width = item.size * item.dim;
      const points = item.values.slice(k * width, (k + 1) * width);
      if (s > 0) for (let e = 0; e < width; e++) points[e] += s * (item.values[(k + 1) * width + e] - points[e]);
      return { kind: item.kind, size: item.size, dim: item.dim, points, radius: item.radii ? item.radii[Math.round(f)] : 0 };
    };
    const traced = items.filter((item) => item.trace).map((item) => {
      const points = new Float64Array(frames * item.dim);
      for (let k = 0; k < frames; k++) for (let a = 0; a < item.dim; a++) points[k * item.dim + a] = item.values[((k + 1) * item.size - 1) * item.dim + a];
      return { dim: item.dim, points };
    });
    return {
      span: scene.span, speed: scene.speed, spatial: scene.dim === 3, up: scene.up, low: scene.low, high: scene.high, interval,
      parts: (t) => items.map((item) => at(item, frame(t))),
      trails: (t) => traced.map((trail) => ({ ...trail, count: Math.floor(frame(t)) + 1 })),
    };
  };

  svyaz.player = (root, given) => {
    const find = (name) => root.querySelector(`[data-part="${name}"]`);
    const [canvas, button, slider, clock, speed, trail] = ["canvas", "play", "slider", "clock", "speed", "trail"].map(find);
    const picture = svyaz.picture(canvas, given), heard = [];
    let source = given, now = given.span[0], playing = false, before = null, rest = 0, marked = null;
    let digits = 2;

    const use = (next) => {
      source = next;
      const length = next.span[1] - next.span[0];
      digits = Math.max(2, Math.min(8, 2 - Math.floor(Math.log10(length || 1))));
      slider.min = next.span[0];
      slider.max = length > 0 ? next.span[1] : next.span[0] + 1;
      now = Math.max(next.span[0], Math.min(now, next.span[1]));
      picture.fit(next.low, next.high);
    };
    const show = () => {
      picture.draw(source.parts(now), source.trails(now), marked);
      slider.value = now;
      const words = now.toFixed(digits);
      clock.textContent = `t = ${words}`;
      slider.setAttribute("aria-valuetext", `time ${words}`);
      for (const tell of heard) tell(now);
    };
    const go = (time) => { now = Math.max(source.span[0], Math.min(time, source.span[1])); show(); };
    const step = (stamp) => {
      if (!playing) return;
      if (root.closest("[data-computing]")) { before = null; requestAnimationFrame(step); return; } // the processor is needed
      if (before !== null) {
        const passed = Math.min((stamp - before) / 1000, 0.1);
        if (now >= source.span[1]) {
          rest += passed;
          if (rest > 0.8) { rest = 0; now = source.span[0]; }
        } else {
          now = Math.min(now + passed * Number(speed.value), source.span[1]);
        }
        show();
      }
      before = stamp;
      requestAnimationFrame(step);
    };
    const play = (wanted) => {
      if (wanted === playing) return;
      playing = wanted;
      before = null;
      rest = 1;
      button.textContent = playing ? "❚❚" : "▶";
      button.setAttribute("aria-label", playing ? "Pause" : "Play");
      if (playing) requestAnimationFrame(step);
    };
    const turn = (dx, dy) => { picture.turn(dx, dy); show(); };

    for (const rate of RATES) speed.add(new Option(`× ${+(rate * given.speed).toPrecision(3)}`, rate * given.speed, rate === 1, rate === 1));
    button.addEventListener("click", () => play(!playing));
    slider.addEventListener("input", () => { play(false); go(Number(slider.value)); });
    trail.addEventListener("change", () => { picture.trail = trail.checked; show(); });
    const turned = (event) => event.shiftKey && source.spatial;
    const keys = {
      " ": () => play(!playing),
      ArrowRight: (event) => (turned(event) ? turn(12, 0) : (play(false), go(now + source.interval))),
      ArrowLeft: (event) => (turned(event) ? turn(-12, 0) : (play(false), go(now - source.interval))),
      ArrowUp: (event) => turned(event) && turn(0, 12),
      ArrowDown: (event) => turned(event) && turn(0, -12),
      Home: () => { play(false); go(source.span[0]); },
      End: () => { play(false); go(source.span[1]); },
      "+": () => { speed.selectedIndex = Math.min(speed.selectedIndex + 1, RATES.length - 1); },
      "-": () => { speed.selectedIndex = Math.max(speed.selectedIndex - 1, 0); },
      t: () => trail.click(),
    };
    root.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey || !keys[event.key]) return;
      const { target } = event;
      if (target.tagName === "SELECT" || target.tagName === "SUMMARY" || (target.tagName === "INPUT" && target !== slider)) return;
      if (target !== root && target !== canvas && event.key === " ") return;
      if ((event.key === "ArrowUp" || event.key === "ArrowDown") && !event.shiftKey) return;
      event.preventDefault();
      keys[event.key](event);
    });

    // A drag turns a spatial view, unless somebody takes hold of a body (grab: see living.js); a click on a plane one plays.
    let held = null, taken = null, grab = null;
    const spot = (event) => { const box = canvas.getBoundingClientRect(); return [event.clientX - box.left, event.clientY - box.top]; };
    if (given.spatial) canvas.style.touchAction = "none";
    canvas.addEventListener("pointerdown", (event) => {
      const [x, y] = spot(event);
      held = [event.clientX, event.clientY, false];
      taken = grab ? grab.begin(picture, source, x, y) : null;
      canvas.setPointerCapture(event.pointerId);
    });
    canvas.addEventListener("pointermove", (event) => {
      const [x, y] = spot(event);
      if (!held) {
        const near = grab ? grab.near(picture, source, x, y) : null;
        canvas.style.cursor = near ? "grab" : given.spatial ? "move" : "pointer";
        return;
      }
      if (Math.hypot(event.clientX - held[0], event.clientY - held[1]) > 3) held[2] = true;
      if (taken) grab.move(picture, taken, x, y);
      else if (given.spatial) { turn(event.clientX - held[0], event.clientY - held[1]); held = [event.clientX, event.clientY, true]; }
    });
    const release = () => {
      if (held && !held[2] && !taken && !given.spatial) play(!playing);
      if (taken) grab.end(taken);
      held = taken = null;
    };
    canvas.addEventListener("pointerup", release);
    canvas.addEventListener("pointercancel", () => { if (taken) grab.end(taken); held = taken = null; });
    canvas.addEventListener("touchstart", (event) => {
      const box = canvas.getBoundingClientRect(), { clientX, clientY } = event.touches[0];
      if (grab && grab.near(picture, source, clientX - box.left, clientY - box.top)) event.preventDefault();
    }, { passive: false });

    const repaint = () => { picture.readColours(); picture.resize(); show(); };
    use(given);
    new ResizeObserver(repaint).observe(canvas);
    const dark = window.matchMedia("(prefers-color-scheme: dark)");
    if (dark.addEventListener) dark.addEventListener("change", repaint);
    window.addEventListener("beforeprint", repaint);
    repaint();
    return {
      use, go, play, show, picture, repaint,
      now: () => now,
      playing: () => playing,
      onTime: (tell) => heard.push(tell),
      onGrab: (hooks) => { grab = hooks; },
      mark: (what) => { marked = what; },
    };
  };

  // Where a scene that takes another's place is drawn: as before, so that changes of length are seen, while it fits there.
  const sameFrame = (scene, before) => {
    const inside = scene.low.every((low, k) => low >= before.low[k] && scene.high[k] <= before.high[k]);
    const reach = (one) => Math.max(...one.high.map((high, k) => high - one.low[k]));
    return inside && reach(scene) > 0.5 * reach(before) ? { ...scene, low: before.low, high: before.high } : scene;
  };

  // A player of kept scenes; the answer is a function that shows another scene in its place.
  const start = (root, given) => {
    let scene = given;
    const player = svyaz.player(root, svyaz.kept(given));
    if (!window.matchMedia("(prefers-reduced-motion: reduce)").matches) player.play(true);
    return (next) => {
      scene = sameFrame(next, scene);
      player.use(svyaz.kept(scene));
      player.repaint();
    };
  };
  globalThis.svyazPlayer = { start };

  // Players with a motion inside begin at once; those of living models are started by living.js.
  svyaz.startPlayers = () => {
    for (const data of document.querySelectorAll('.player > script[type="application/json"]')) {
      if (!data.closest(".living")) start(data.parentElement, JSON.parse(data.textContent));
    }
  };
})((globalThis.svyaz ??= {}));
