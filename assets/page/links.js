// Links: reads the settings in the address, writes the open tab there, and copies the address.
((gleanvid) => {
  const FIRST_TAB = "Tokens";
  const COPIED_MS = 4000;
  const opened = location.search; // later edits of the address are ignored

  // Show the result of a link once the page has applied the link's settings, unless results were restored.
  gleanvid.openLink = (hasStart) => (kept, clip) => {
    gleanvid.appliedKept();
    // Choose the viewer's clip if runs were restored or the clip is an upload; a clip named in a link is chosen already.
    if (kept || (clip && !gleanvid.isNamed(clip.path))) gleanvid.chooseClip(clip?.path);
    const keys = [...new URLSearchParams(opened).keys()];
    const hasSettings = keys.some((key) => !["tab", "view", "__theme"].includes(key));
    // Restored results show all tokens as A: settings pinned for A in the address need a new preview.
    const isOlder = !kept || gleanvid.wasBehind() || (clip && gleanvid.addressed("a"));
    if ((hasSettings || hasStart || gleanvid.hasOwnClip()) && isOlder) gleanvid.preview(true)();
  };

  gleanvid.copyLink = async () => {
    await new Promise((done) => setTimeout(done, 400)); // wait until the last change is written to the address
    const isOwn = gleanvid.hasOwnClip(), link = new URL(location.href);
    if (isOwn) link.searchParams.set("clip", "own"); // a page opened from this link says that the clip is missing
    try {
      await navigator.clipboard.writeText(link.href);
    } catch { // browsers allow the clipboard only over https or on localhost
      prompt("Copy this link", link.href);
    }
    return isOwn ? "Link copied, without your clip" : "Link copied, without answers";
  };
  gleanvid.afterCopy = (title) => () => new Promise((done) => setTimeout(() => done(title), COPIED_MS));

  // The open tab is in the address, but a press of a tab is not a step of the browser's history.
  // style.css hides the settings next to tabs that do not depend on them.
  const nameTab = (tab) => { document.documentElement.dataset.tab = tab; };
  nameTab(new URLSearchParams(opened).get("tab") ?? FIRST_TAB);
  gleanvid.openedTab = () => setTimeout(() => {
    const open = document.querySelector("[role=tab][aria-selected=true]")?.textContent.trim();
    if (!open) return;
    nameTab(open);
    gleanvid.writeAddress("tab", open === FIRST_TAB ? "" : open);
  }, 100);

  // A link to another tab is a step: Back returns to the tab and the place that it was pressed at.
  const show = (name, scroll) => {
    const tabs = [...document.querySelectorAll("[role=tab], .overflow-dropdown button")];
    tabs.find((tab) => tab.textContent.trim() === name)?.click();
    setTimeout(scroll, 100); // Gradio shows the tab first
  };
  document.addEventListener("gleanvid:jump", ({ detail: { tab, part } }) => {
    history.replaceState({ ...history.state, jump: { tab: document.documentElement.dataset.tab, top: scrollY } }, "");
    gleanvid.flushAddress(true);
    history.replaceState({ ...history.state, jump: { tab, part } }, "");
    show(tab, () => document.querySelector(part)?.scrollIntoView());
  });
  addEventListener("popstate", ({ state }) => {
    const { tab, part, top } = state?.jump ?? {};
    if (tab) show(tab, () => (part ? document.querySelector(part)?.scrollIntoView() : scrollTo(0, top)));
  });
})(window.gleanvid ??= {});
