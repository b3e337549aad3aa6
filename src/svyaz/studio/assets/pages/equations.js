// The equations of motion: in a form, typeset, counted, and copied as formulas or programs.

import { button, card, choice, table, tick, toClipboard } from "../core/controls.js";
import { download, el, fill, formula } from "../core/dom.js";
import { variantPanel } from "../core/values.js";
import { t } from "../core/words.js";
import { asOptions } from "./motion.js";

const ENDINGS = { c: "c", python: "py", matlab: "m", julia: "jl", maple: "mpl", latex: "tex", json: "json", javascript: "js" };

export function show(root, app) {
  const options = app.options("equations"), { stated } = app;
  const formulas = el("div", {}), counts = el("div", {}), code = el("pre", { class: "code", tabindex: "0", "aria-label": t("program"), hidden: true });
  let found = null;

  const set = (name, value) => {
    if (value) options[name] = value; else delete options[name];
    app.remember();
  };

  const derive = async () => {
    try { found = await app.work(app.question("derive", { options: { form: options.form } })); } catch { fill(formulas, el("p", { class: "wrong-text" }, app.status.textContent)); fill(counts); return; }
    if (!found) return;
    app.answer = found;
    fill(formulas, found.formulas.map((line) => (line.html ? formula(line.html) : el("pre", { class: "code", tabindex: "0" }, line.latex))), found.left ? el("p", {}, `… ${found.left}`) : null);
    fill(counts, table([t("counts"), found.form], Object.entries(found.record.operations || {}).filter(([, n]) => n), { caption: t("counts") }));
  };

  const written = async () => {
    const more = { ...asOptions(app.options("motion")), form: options.form, language: options.language || "python", program: Boolean(options.program) };
    if (!options.program) delete more.stabilize;
    try { return (await app.work(app.question("export", { options: more })))?.text ?? null; } catch { return null; }
  };
  const use = async (how) => {
    const text = await written();
    if (text === null) return;
    code.hidden = false;
    code.textContent = text;
    if (how === "copy") await toClipboard(text, (said) => app.say(said));
    if (how === "file") download(`model.${ENDINGS[options.language || "python"] || "txt"}`, text);
  };

  root.append(el("div", { class: "columns" }, el("div", {}, card(t("typeset"), formulas)), el("aside", {},
    card(t("form"), variantPanel(app), choice(t("form"), [["", t("asModel")], ...stated.forms.map((f) => [f, f])], options.form || "", (v) => { set("form", v); derive(); }), counts,
      button(`${t("copyAs")} LaTeX`, () => found && toClipboard(found.latex, (said) => app.say(said)), "small")),
    card(t("copyAs"), choice(t("languageOf"), [...new Set([...stated.languages])].map((l) => [l, l]), options.language || "python", (v) => set("language", v)),
      tick(t("program"), options.program, (v) => set("program", v)),
      el("div", { class: "row" }, button(t("copy"), () => use("copy"), "primary"), button(t("download"), () => use("file"))), code))));
  derive();
}
