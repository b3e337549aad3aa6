// The model: its text with mistakes told as one types, the gallery, templates, files of the folder.

import { ask, Mistakes, postJson, Refused } from "../core/ask.js";
import { button, card } from "../core/controls.js";
import { el, fill } from "../core/dom.js";
import { Editor } from "../core/editor.js";
import { Mechanism } from "../core/mechanism.js";
import { galleryOf, variantPanel } from "../core/values.js";
import { t } from "../core/words.js";

const AT_ONCE = 6;

export function show(root, app) {
  const told = el("div", { role: "status" });
  const picture = new Mechanism({ label: t("mechanism"), player: false, width: 480, height: 260 });
  const notes = el("p", { class: "notes" });
  const editor = new Editor({ onchange: (text) => typed(text) });
  let checking = null;

  async function typed(text) {
    app.state.model.text = text;
    app.cache.clear();
    app.remember();
    checking?.abort();
    checking = new AbortController();
    await check(checking.signal);
  }

  async function check(signal) {
    try {
      app.read = await ask(app.question("read"), { signal });
      app.stated = app.read.stated;
      app.wrong = null;
      result();
    } catch (error) {
      if (error.name === "AbortError") return;
      app.wrong = error;
      result();
    }
    app.draw();
  }

  function result() {
    const error = app.wrong;
    const problems = error instanceof Mistakes ? error.problems : [];
    editor.tell(problems);
    if (!error) {
      const warnings = app.read.warnings.map((w) => el("li", {}, w.line ? `${t("line", w.line)}: ` : "", w.message));
      fill(told, el("p", { class: "fine" }, `✓ ${t("correct")}`), warnings.length ? el("ul", { class: "problems" }, warnings) : null);
      picture.show(app.read.scene);
      notes.textContent = app.stated.notes;
      return;
    }
    if (!problems.length) { fill(told, el("p", { class: "wrong-text" }, error instanceof Refused ? t(`refused.${error.kind}`, ...error.parts) : String(error.message))); return; }
    fill(told, el("h3", {}, t("mistakes")), el("ul", { class: "problems" }, problems.map((p) => el("li", {},
      p.line ? button(t("line", p.line), () => editor.go(p.line, p.column), "small") : null, ` ${p.message} `, p.hint ? el("em", {}, t("hint", p.hint)) : null,
      p.line ? p.meant.map((word) => button(t("replace", word), () => editor.mend(p, word), "small")) : null))));
  }

  editor.text = app.state.model.text ?? app.read?.text ?? "";
  const saveName = el("input", { type: "text", "aria-label": t("name"), value: `${app.state.model.name.replace(/[^\w-]+/g, "-").replace(/-toml$/, "")}.toml` });
  const save = async (over = false) => {
    try {
      await postJson("/save", { name: saveName.value, text: editor.text, over });
      app.say(t("saved", saveName.value));
      listFiles();
    } catch (error) {
      if (!over && error.parts?.[0]?.includes("already") && confirm(t("overwrite", saveName.value))) await save(true);
      else app.tell(error);
    }
  };
  const files = el("div", {});
  const listFiles = async () => {
    const found = await postJson("/files");
    const models = found.files.filter((f) => !f.name.endsWith(".json"));
    fill(files, el("p", {}, el("small", {}, t("folder", found.folder))), el("div", { class: "row" }, models.map((f) => button(f.name, async () => {
      try { await app.openModel({ name: f.name, text: (await postJson("/open", { name: f.name })).text }); } catch (error) { app.tell(error); }
    }, "small"))));
  };
  const galleryBox = el("div", {});
  root.append(el("div", { class: "columns even" },
    el("div", {}, card(t("editor"), variantPanel(app), editor.node, told, el("div", { class: "row" }, saveName, button(t("save"), () => save())))),
    el("div", {}, card(t("mechanism"), picture.node, notes), card(t("files"), files), card(t("gallery"), galleryBox))));
  result();
  listFiles().catch((error) => app.tell(error));
  const leave = new AbortController();
  showGallery(app, galleryBox, leave.signal);
  return () => { leave.abort(); checking?.abort(); };
}

const pictures = new Map();

async function showGallery(app, box, signal) {
  const { models, templates } = await galleryOf();
  const cards = el("div", { class: "cards" });
  const search = el("input", { type: "search", "aria-label": t("search"), placeholder: t("search"), oninput: () => {
    const wanted = search.value.toLowerCase();
    for (const node of cards.children) node.hidden = !node.dataset.words.includes(wanted);
  } });
  fill(box, el("div", { class: "row" }, el("span", {}, t("templates")), Object.keys(templates).map((kind) =>
    button(t(`template.${kind}`), () => app.openModel({ name: `my-${kind}`, text: templates[kind] }), "small"))), search, cards);
  for (const { name } of models) cards.append(cardOf(app, name));
  const wanted = models.map((m) => m.name).filter((name) => !pictures.has(name));
  for (let k = 0; k < wanted.length && !signal.aborted; k += AT_ONCE) {
    const names = Object.fromEntries(wanted.slice(k, k + AT_ONCE).map((name) => [name, true]));
    try {
      const found = await ask({ ask: "thumbnails", names }, { signal });
      for (const [name, picture] of Object.entries(found)) {
        pictures.set(name, picture);
        const old = [...cards.children].find((node) => node.dataset.name === name);
        old?.replaceWith(cardOf(app, name));
      }
    } catch (error) { if (error.name === "AbortError") return; }
  }
}

function cardOf(app, name) {
  const known = pictures.get(name);
  const current = app.state.model.name.split(":")[0] === name.split(":")[0];
  const node = el("button", { type: "button", class: "model-card", "aria-pressed": String(current), title: known?.notes ?? "", dataset: { name, words: `${name} ${known?.title ?? ""} ${known?.notes ?? ""}`.toLowerCase() },
    onclick: () => app.openModel({ name: known?.example ?? name.replace(":N", ":3") }) });
  if (known?.scene) node.append(new Mechanism({ label: known.title, player: false, width: 160, height: 100 }).show(known.scene).node);
  node.append(el("strong", {}, name), el("span", {}, known?.title ?? ""));
  return node;
}

