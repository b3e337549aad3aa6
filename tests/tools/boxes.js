// What is wrong with the boxes of a report: parts cut off, parts that overlap, a page wider than its window.
(() => {
  const wrong = [];
  const told = (e) => `${e.tagName.toLowerCase()}.${[...e.classList].join(".")} "${(e.textContent || "").trim().slice(0, 40)}"`;
  const room = document.documentElement.clientWidth;
  if (document.documentElement.scrollWidth > room) wrong.push(`the page is ${document.documentElement.scrollWidth} wide`);
  const inKatex = (e) => e.closest(".katex") !== null;
  const scrolls = (e) => ["auto", "scroll"].includes(getComputedStyle(e).overflowX);
  for (const e of document.querySelectorAll("main *")) {
    if (inKatex(e) || e.closest("script, details:not([open]) > pre")) continue;
    const box = e.getBoundingClientRect();
    if (!box.width || !box.height) continue;
    if (box.right > room + 1 || box.left < -1) {
      let above = e.parentElement;
      while (above && !scrolls(above)) above = above.parentElement;
      if (!above) wrong.push(`beyond the page: ${told(e)}`);
    }
    const style = getComputedStyle(e);
    if (style.overflowX === "hidden" && e.scrollWidth > e.clientWidth + 1) wrong.push(`cut: ${told(e)}`);
    if (style.overflowY === "hidden" && e.scrollHeight > e.clientHeight + 2) wrong.push(`cut below: ${told(e)}`);
  }
  const overlap = (a, b) =>
    Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1.5 && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 1.5;
  const check = (parts, what) => {
    const boxes = parts.map((e) => [e, e.getBoundingClientRect()]).filter(([, b]) => b.width && b.height);
    for (let k = 1; k < boxes.length; k++)
      for (let j = Math.max(0, k - 6); j < k; j++)
        if (overlap(boxes[j][1], boxes[k][1])) wrong.push(`${what}: ${told(boxes[j][0])} and ${told(boxes[k][0])}`);
  };
  for (const e of document.querySelectorAll("main, section, .first, .facts, .columns, .controls, .card, header"))
    check([...e.children].filter((c) => !["SCRIPT", "SUMMARY"].includes(c.tagName)), "overlapping");
  for (const e of document.querySelectorAll(".katex-html")) check([...e.children].filter((c) => c.classList.contains("base")), "formula overlaps itself");
  for (const e of document.querySelectorAll("tr")) check([...e.children], "cells overlap");
  const wide = [...document.querySelectorAll(".formula")].filter((e) => e.scrollWidth > e.clientWidth + 1);
  const controls = document.querySelector(".controls");
  return {
    wrong: [...new Set(wrong)].slice(0, 12),
    scrolled: wide.map((e) => e.scrollWidth - e.clientWidth),
    controls: controls ? controls.getBoundingClientRect().bottom + window.scrollY : null,
  };
})()
