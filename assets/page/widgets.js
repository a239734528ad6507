// Adds keyboard support and accessible names to Gradio's widgets, and tells the viewer the question.

// Send the question to the viewer as it is typed, so that it marks answers to another question as stale.
document.addEventListener("input", ({ target }) => {
  if (!target.matches?.("#gv-question textarea")) return;
  document.dispatchEvent(new CustomEvent("gleanvid:question", { detail: { text: target.value } }));
});

// Gradio's sliders report the release of a pointer but not of a key: dispatch one for a key.
document.addEventListener("keyup", (event) => {
  const moves = /^(Arrow|Page|Home|End)/.test(event.key);
  if (moves && event.target.matches?.("#gv-settings input[type=range]"))
    event.target.dispatchEvent(new PointerEvent("pointerup", { bubbles: true }));
});

// Keep the Tab key from Gradio's menus: they open their list on every key, and the list would stay open. Take the
// list out of the tab order, too: a list with a scroll bar would get the focus just as it closes.
document.addEventListener("keydown", (event) => {
  if (event.key !== "Tab" || !event.target.matches?.("input[role=combobox]")) return;
  event.stopImmediatePropagation();
  const list = document.getElementById(event.target.getAttribute("aria-controls"));
  for (const part of [list, list?.parentElement]) part?.setAttribute("tabindex", "-1");
}, true);

// Escape closes the panel of models; if a Gradio menu is open, Escape closes only this menu.
document.addEventListener("keydown", ({ key, target }) => {
  if (key !== "Escape" || !target.closest?.("#gv-load") || target.getAttribute("aria-expanded") === "true") return;
  document.getElementById("gv-load-close").click();
  document.getElementById("gv-load-open")?.focus();
});

// The tab Compare is mounted when first opened: store the viewer's pair of runs until then.
((gleanvid) => {
  gleanvid.showMethods = () => document.body.toggleAttribute("data-all-methods", true);
  document.addEventListener("gleanvid:pair", ({ detail: { a, b, source } }) => {
    if (source === "viewer") gleanvid.pair = { a, b };
  });
})(window.gleanvid ??= {});

// Name the setting of each reset arrow.
new MutationObserver(() => {
  for (const arrow of document.querySelectorAll(".reset-button:not([data-of])")) {
    const title = arrow.closest(".block")?.querySelector("[data-testid=block-info]")?.textContent.trim();
    if (!title) continue;
    arrow.dataset.of = title;
    arrow.setAttribute("aria-label", `Reset ${title} to its default`);
  }
}).observe(document.documentElement, { childList: true, subtree: true });
