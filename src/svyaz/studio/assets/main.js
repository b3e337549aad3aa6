// The studio: reads the address, asks for the model that is named there, and shows a page.

import { ask, Latest, Mistakes, Negative, Refused } from "./core/ask.js";
import { button, toClipboard } from "./core/controls.js";
import { download, el, fill, later } from "./core/dom.js";
import { checked, fromAddress, PAGES, toAddress } from "./core/state.js";
import { language, LANGUAGES, setLanguage, t } from "./core/words.js";

class App {
  constructor() {
    this.stated = null;
    this.reading = new Latest();
    this.works = new Set();
    this.remember = later(150, () => this.writeAddress(false));
    this.cache = new Map();
    window.addEventListener("hashchange", () => { if (location.hash !== this.written) this.readAddress(); });
    window.addEventListener("popstate", () => { if (location.hash !== this.written) this.readAddress(); });
  }

  async begin() {
    setLanguage(localStorage.getItem("language") || navigator.language.slice(0, 2));
    const theme = localStorage.getItem("theme");
    if (theme) document.documentElement.dataset.theme = theme;
    this.frame();
    await this.readAddress();
  }

  frame() {
    this.status = el("div", { class: "status", role: "status", "aria-live": "polite" });
    this.bar = el("progress", { max: "1", hidden: true, "aria-label": t("working") });
    this.stopper = el("button", { type: "button", class: "small", hidden: true, onclick: () => this.cancel() }, t("cancel"));
    this.nav = el("nav", { "aria-label": t("pages") });
    this.main = el("main", { id: "main", tabindex: "-1" });
    const languages = el("select", { "aria-label": t("language"), onchange: () => { localStorage.setItem("language", languages.value); setLanguage(languages.value); this.frame(); this.draw(); this.showPage(); } });
    for (const [code, name] of Object.entries(LANGUAGES)) languages.append(el("option", { value: code, lang: code }, name));
    languages.value = language();
    const theme = el("button", { type: "button", class: "small", "aria-label": t("theme"), title: t("theme"), onclick: () => this.turnTheme() }, "◐");
    const chooser = el("input", { type: "file", accept: ".json", hidden: true, "aria-label": t("loadState"), onchange: () => this.loadState(chooser) });
    document.title = t("title");
    fill(document.body, el("a", { class: "skip", href: "#main", onclick: (event) => { event.preventDefault(); this.main.focus(); } }, t("skip")),
      el("header", {}, el("div", { class: "top" }, el("h1", {}, "svyaz"), (this.model = el("span", { class: "model-name" })),
        el("span", { class: "tools" },
          button(t("link"), () => toClipboard(location.href, (text) => this.say(text)), "small"),
          button(t("saveState"), () => this.saveState(), "small"),
          button(t("loadState"), () => chooser.click(), "small"), chooser, languages, theme)),
        this.nav),
      this.main,
      el("footer", {}, this.status, this.bar, this.stopper));
  }

  turnTheme() {
    const dark = document.documentElement.dataset.theme === "dark" || (!document.documentElement.dataset.theme && matchMedia("(prefers-color-scheme: dark)").matches);
    document.documentElement.dataset.theme = dark ? "light" : "dark";
    localStorage.setItem("theme", document.documentElement.dataset.theme);
    this.showPage();
  }

  async readAddress() {
    this.state = await fromAddress(location.hash);
    await this.writeAddress(false);
    await this.reload();
  }

  async writeAddress(push) {
    this.written = await toAddress(this.state);
    if (location.hash !== this.written) history[push ? "pushState" : "replaceState"](null, "", this.written);
    this.draw();
  }

  draw() {
    if (!this.state) return;
    fill(this.nav, PAGES.map((page) => {
      const link = el("a", { href: `#${page}${this.written.replace(/^#\w+/, "")}`, onclick: (event) => { if (event.ctrlKey || event.metaKey) return; event.preventDefault(); this.go(page); } }, t(page));
      if (page === this.state.page) link.setAttribute("aria-current", "page");
      return link;
    }));
    this.model.textContent = this.stated ? this.stated.title : this.state.model.name;
  }

  async go(page) {
    this.cancel();
    this.state.page = page;
    await this.writeAddress(true);
    await this.showPage();
    this.main.focus({ preventScroll: true });
  }

  async openModel(model) {
    this.state.model = { variant: {}, text: null, ...model };
    this.state.settings = {};
    this.state.options = {};
    this.cache.clear();
    await this.writeAddress(true);
    await this.reload();
  }

  // Another variant of the same model, with what was set.
  async choose(what, choice) {
    this.state.model = { name: this.state.model.name, text: null, variant: { ...this.state.model.variant, [what]: choice } };
    this.cache.clear();
    await this.writeAddress(true);
    await this.reload();
  }

  question(kind, more = {}) {
    return { ask: kind, model: this.state.model, settings: this.state.settings, ...more };
  }

  options(page = this.state.page) { return (this.state.options[page] ||= {}); }

  // Read the model anew and show the page.
  async reload() {
    await this.reading.run(async (signal) => {
      try {
        this.read = await ask({ ask: "read", model: this.state.model, settings: this.state.settings }, { signal });
        this.stated = this.read.stated;
        this.wrong = null;
      } catch (error) {
        if (error.name === "AbortError") return;
        this.wrong = error;
        if (!this.stated || error instanceof Mistakes) this.stated = error instanceof Mistakes ? null : this.stated;
      }
    });
    this.draw();
    await this.showPage();
  }

  async showPage() {
    if (!this.state) return;
    const page = this.wrong && this.state.page !== "published" ? "model" : this.state.page;
    const ticket = (this.ticket = Symbol(page));
    const { show } = await import(`./pages/${page}.js`);
    if (ticket !== this.ticket) return;
    this.leave?.();
    this.leave = null;
    this.status.textContent = "";
    const root = el("div", { class: `page ${page}` });
    fill(this.main, root);
    document.title = `${t(page)} · ${this.stated?.title ?? t("title")}`;
    this.leave = show(root, this) || null;
    document.documentElement.dataset.shown = page;
  }

  // Ask and tell how far it is; mistakes and refusals are said. Gives null where there is no answer.
  async work(question, { signal = null, quiet = false } = {}) {
    const abort = new AbortController();
    signal?.addEventListener("abort", () => abort.abort());
    this.works.add(abort);
    const timer = setTimeout(() => { this.bar.hidden = this.stopper.hidden = false; this.bar.removeAttribute("value"); }, 250);
    if (!quiet) document.documentElement.dataset.working = "yes";
    try {
      const found = await ask(question, { signal: abort.signal, progress: (done, total) => { this.bar.value = total ? done / total : 0; this.told = [done, total]; this.onprogress?.(done, total); } });
      if (!quiet) this.say("");
      return found;
    } catch (error) {
      if (error.name === "AbortError") { this.say(t("cancelled")); return null; }
      this.tell(error);
      throw error;
    } finally {
      clearTimeout(timer);
      this.works.delete(abort);
      if (!this.works.size) { this.bar.hidden = this.stopper.hidden = true; document.documentElement.dataset.working = "no"; }
    }
  }

  cancel() { for (const abort of this.works) abort.abort(); }

  say(text) { this.status.textContent = text; this.status.classList.remove("wrong"); }

  tell(error) {
    this.status.textContent = said(error);
    this.status.classList.add("wrong");
  }

  saveState() {
    const text = JSON.stringify({ studio: 1, ...this.state }, null, 2);
    download(`${this.state.model.name.replace(/[^\w-]+/g, "-")}.studio.json`, text, "application/json");
  }

  async loadState(chooser) {
    try {
      this.state = checked(JSON.parse(await chooser.files[0].text()));
      await this.writeAddress(true);
      await this.reload();
    } catch (error) { this.tell(error); }
  }
}

export function said(error) {
  if (error instanceof Mistakes) return error.problems.map((p) => `${p.line ? `${t("line", p.line)}: ` : ""}${p.message}${p.hint ? ` (${t("hint", p.hint)})` : ""}`).join("\n");
  if (error instanceof Negative) return error.facts.reason;
  if (error instanceof Refused) return t(`refused.${error.kind}`, ...error.parts);
  return String(error.message || error);
}

const app = new App();
window.studio = app;
app.begin();
