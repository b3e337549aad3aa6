// What the sources print beside what is computed, and their figures drawn anew.

import { ask } from "../core/ask.js";
import { button, card, choice, table } from "../core/controls.js";
import { el, fill } from "../core/dom.js";
import { shown } from "../core/numbers.js";
import { t, word } from "../core/words.js";

export function show(root, app) {
  const options = app.options("published");
  const rows = el("div", {}), figures = el("div", { class: "figures" }), side = el("aside", {});
  root.append(el("div", { class: "columns" }, el("div", {}, card(t("published"), rows, figures)), side));

  const numbers = (list) => (list || []).map((x) => (typeof x === "number" ? shown(x, 7) : x)).join(", ");
  const reproduce = async () => {
    fill(figures);
    let found;
    try { found = await app.work({ ask: "published", options: { subject: options.subject } }); } catch { fill(rows, el("p", { class: "wrong-text" }, app.status.textContent)); return; }
    if (!found) return;
    app.answer = found;
    fill(rows, table([t("what"), t("source"), t("printed"), t("computed"), t("verdict")], found.rows.map((r) => [r.what, r.source, r.text || numbers(r.printed), numbers(r.computed), el("span", { class: `verdict ${r.verdict === "differs" ? "no" : "yes"}` }, word("row", r.verdict), r.erratum ? ` (${r.erratum})` : "")]), { caption: options.subject }));
  };
  const draw = async () => {
    let found;
    try { found = await app.work({ ask: "figures", options: { subject: options.subject } }); } catch { return; }
    if (!found) return;
    fill(figures, found.figures.map((f) => el("figure", { class: "chart" }, el("figcaption", {}, f.name), el("img", { src: `data:image/png;base64,${f.png}`, alt: t("figure", f.name) }))));
  };
  ask({ ask: "subjects" }).then(({ subjects, drawable }) => {
    options.subject ||= subjects.includes(app.state.model.name) ? app.state.model.name : subjects[0];
    const drawing = button(t("drawFigures"), draw);
    const update = () => { drawing.hidden = !drawable.includes(options.subject); app.remember(); };
    update();
    fill(side, card(t("subject"), choice(t("subject"), subjects.map((s) => [s, s]), options.subject, (v) => { options.subject = v; update(); reproduce(); }), el("div", { class: "row" }, button(t("reproduce"), reproduce, "primary"), drawing)));
    reproduce();
  }).catch((error) => app.tell(error));
}
