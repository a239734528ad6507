// What widgets lack: keys, names, and what follows the viewer.

// Answers belong to the question they were given to: the viewer hears of another one in the box.
document.addEventListener("input", ({ target }) => {
  if (!target.matches?.("#gv-question textarea")) return;
  document.dispatchEvent(new CustomEvent("gleanvid:question", { detail: { text: target.value } }));
});

// Gradio's sliders report the release of a pointer but not of a key: make one of the other.
document.addEventListener("keyup", (event) => {
  const moves = /^(Arrow|Page|Home|End)/.test(event.key);
  if (moves && event.target.matches?.("#gv-settings input[type=range]"))
    event.target.dispatchEvent(new PointerEvent("pointerup", { bubbles: true }));
});

// Gradio's menus take every key as a wish to see the list: Tab would leave it open behind itself. And
// a list that scrolls is a stop of Tab, which is gone once it is reached.
document.addEventListener("keydown", (event) => {
  if (event.key !== "Tab" || !event.target.matches?.("input[role=combobox]")) return;
  event.stopImmediatePropagation();
  const list = document.getElementById(event.target.getAttribute("aria-controls"));
  for (const part of [list, list?.parentElement]) part?.setAttribute("tabindex", "-1");
}, true);

// Escape closes the panel of models; in an open list of Gradio's it closes that.
document.addEventListener("keydown", ({ key, target }) => {
  if (key !== "Escape" || !target.closest?.("#gv-load") || target.getAttribute("aria-expanded") === "true") return;
  document.getElementById("gv-load-close").click();
  document.getElementById("gv-load-open")?.focus();
});

// A row that is wider than its room scrolls: it fades at the side where more of it is.
(() => {
  const mark = (row) => {
    const rest = row.scrollWidth - row.clientWidth - row.scrollLeft;
    row.dataset.more = `${row.scrollLeft > 1 ? "before" : ""} ${rest > 1 ? "after" : ""}`.trim();
  };
  const sized = new ResizeObserver((rows) => rows.forEach(({ target }) => mark(target)));
  addEventListener("scroll", ({ target }) => { if (target.dataset?.more !== undefined) mark(target); }, true);
  new MutationObserver(() => {
    for (const row of document.querySelectorAll(".gv-sideways:not([data-more])")) {
      row.dataset.more = "";
      sized.observe(row); // marks it once the page has its layout
      const changed = { childList: true, subtree: true, attributeFilter: ["hidden"] };
      new MutationObserver(() => mark(row)).observe(row, changed);
    }
  }).observe(document.documentElement, { childList: true, subtree: true });
})();

// Curves and Compare are mounted when their tab is opened: what the viewer shows is kept for them.
((gleanvid) => {
  gleanvid.unit = null;
  document.addEventListener("gleanvid:pair", ({ detail: { a, b, source } }) => {
    if (source === "viewer") gleanvid.pair = { a, b };
  });
  document.addEventListener("gleanvid:unit", ({ detail }) => { gleanvid.unit = detail.unit ?? gleanvid.unit; });
})(window.gleanvid ??= {});

// A table wider than its place scrolls: keys have to reach it. Arrows that reset say what.
new MutationObserver(() => {
  for (const table of document.querySelectorAll(".gv-models table")) table.tabIndex = 0;
  for (const arrow of document.querySelectorAll(".reset-button:not([data-of])")) {
    const title = arrow.closest(".block")?.querySelector("[data-testid=block-info]")?.textContent.trim();
    if (!title) continue;
    arrow.dataset.of = title;
    arrow.setAttribute("aria-label", `Reset ${title} to its default`);
  }
}).observe(document.documentElement, { childList: true, subtree: true });

// A fold of Gradio's does not say whether it is open.
(() => {
  const say = () => {
    for (const head of document.querySelectorAll("button.label-wrap"))
      head.setAttribute("aria-expanded", String(head.classList.contains("open")));
  };
  document.addEventListener("click", () => setTimeout(say), true);
  const first = new MutationObserver(() => {
    if (!document.querySelector("button.label-wrap")) return;
    say();
    first.disconnect();
  });
  first.observe(document.documentElement, { childList: true, subtree: true });
})();
