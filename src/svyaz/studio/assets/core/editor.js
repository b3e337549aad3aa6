// An editor for model files: colours beneath a plain text area, mistakes marked in the text and told under their line.

import { el, fill, later } from "./dom.js";
import { t } from "./words.js";

const TOKEN = /(#.*$)|(^\s*\[\[?[^\]\n]*\]?\]?)|("""[\s\S]*?"""|'''[\s\S]*?'''|"(?:\\.|[^"\\\n])*"?|'[^'\n]*'?)|(^\s*(?:"[^"\n]*"|[\w'.-]+)(?=\s*=))|(\b(?:true|false)\b)|([-+]?\b\d[\d_]*(?:\.\d+)?(?:e[-+]?\d+)?\b)/gim;
const KINDS = ["comment", "table", "string", "key", "word", "number"];
const LINE = 20;
const SPACE = 10;

export class Editor {
  constructor({ onchange, delay = 250 }) {
    this.colours = el("pre", { class: "colours", "aria-hidden": "true" });
    this.marks = el("div", { class: "marks", "aria-hidden": "true" });
    this.numbers = el("div", { class: "numbers", "aria-hidden": "true" });
    this.area = el("textarea", { class: "area", spellcheck: "false", autocapitalize: "off", autocomplete: "off", wrap: "off", "aria-label": t("editor") });
    this.bubble = el("div", { class: "bubble", role: "status" });
    this.inside = el("div", { class: "inside" }, this.colours, this.marks, this.area, this.bubble);
    this.node = el("div", { class: "editor" }, this.numbers, this.inside);
    const changed = later(delay, () => onchange(this.area.value));
    this.area.addEventListener("input", () => { this.paint(); this.bubble.hidden = true; changed(); });
    this.area.addEventListener("scroll", () => this.follow());
    for (const kind of ["keyup", "click"]) this.area.addEventListener(kind, () => this.bubbleUp());
    this.problems = [];
  }

  get text() { return this.area.value; }

  set text(value) {
    if (this.area.value !== value) this.area.value = value;
    this.paint();
  }

  paint() {
    const text = this.area.value, parts = [];
    let from = 0;
    for (const found of text.matchAll(TOKEN)) {
      const kind = found.slice(1).findIndex((group) => group !== undefined);
      parts.push(text.slice(from, found.index), el("span", { class: `t-${KINDS[kind]}` }, found[0]));
      from = found.index + found[0].length;
    }
    fill(this.colours, parts, text.slice(from), "\n");
    const count = text.split("\n").length;
    if (count !== this.count) {
      this.count = count;
      this.numbers.textContent = Array.from({ length: count }, (_, k) => k + 1).join("\n");
    }
    this.follow();
  }

  follow() {
    const { scrollTop, scrollLeft } = this.area;
    this.colours.style.transform = this.marks.style.transform = `translate(${-scrollLeft}px, ${-scrollTop}px)`;
    this.numbers.style.transform = `translateY(${-scrollTop}px)`;
    this.place();
  }

  // Mistakes: {message, hint, line, column, meant}
  tell(problems) {
    this.problems = problems.filter((p) => p.line);
    const lines = this.area.value.split("\n");
    fill(this.marks, this.problems.map((p) => {
      const before = (lines[p.line - 1] || "").slice(0, p.column - 1);
      const word = /^[\w']+/.exec((lines[p.line - 1] || "").slice(p.column - 1))?.[0] || " ";
      return el("div", { class: "mark", style: { top: `${(p.line - 1) * LINE + SPACE}px` } }, el("span", {}, before), el("u", {}, word));
    }));
    this.bubbleUp();
  }

  // The mistake on the line of the cursor, else the first, is told right under its line.
  bubbleUp() {
    const line = this.area.value.slice(0, this.area.selectionStart).split("\n").length;
    this.told = this.problems.find((p) => p.line === line) || this.problems[0] || null;
    this.bubble.hidden = !this.told;
    if (!this.told) return;
    fill(this.bubble, el("strong", {}, `${t("line", this.told.line)}: `), this.told.message, this.told.hint ? el("em", {}, ` ${t("hint", this.told.hint)}`) : null);
    this.place();
  }

  place() {
    if (!this.told) return;
    const top = this.told.line * LINE + SPACE - this.area.scrollTop;
    this.bubble.style.top = `${top}px`;
    this.bubble.hidden = top < LINE || top > this.area.clientHeight;
  }

  go(line, column = 1) {
    const lines = this.area.value.split("\n");
    const at = lines.slice(0, line - 1).reduce((sum, text) => sum + text.length + 1, 0) + column - 1;
    this.area.focus();
    this.area.setSelectionRange(at, at);
    this.area.scrollTop = Math.max(0, (line - 4) * LINE);
    this.bubbleUp();
  }

  // Write another word where a mistake is.
  mend(problem, word) {
    const lines = this.area.value.split("\n");
    const text = lines[problem.line - 1];
    const wrong = /^[\w]+/.exec(text.slice(problem.column - 1))?.[0] ?? "";
    lines[problem.line - 1] = text.slice(0, problem.column - 1) + word + text.slice(problem.column - 1 + wrong.length);
    this.area.value = lines.join("\n");
    this.area.dispatchEvent(new Event("input"));
  }
}
