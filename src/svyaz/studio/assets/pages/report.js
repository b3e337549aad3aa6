// One click: the report of the motion as it is set, written into the folder of the studio.

import { button, card } from "../core/controls.js";
import { el, fill } from "../core/dom.js";
import { word, t } from "../core/words.js";
import { asOptions } from "./motion.js";

export function show(root, app) {
  const told = el("div", {});
  const write = async () => {
    let found;
    try { found = await app.work(app.question("report", { options: asOptions(app.options("motion")) })); } catch { fill(told, el("p", { class: "wrong-text" }, app.status.textContent)); return; }
    if (!found) return;
    app.answer = found;
    fill(told, el("p", {}, word("status", found.status)), el("h3", {}, t("reportFiles")), el("ul", {}, found.files.map((file) => el("li", {}, el("a", { href: `/${file}`, target: "_blank", rel: "noopener" }, file)))), (found.notes || []).map((note) => el("p", { class: "quiet" }, note)));
  };
  root.append(card(t("report"), el("p", {}, t("reportHelp")), button(t("writeReport"), write, "primary"), told));
}
