// Links: reads the settings in the address, writes the open tab there, and copies the address.
((gleanvid) => {
  const FIRST_TAB = "Tokens";
  const COPIED_MS = 4000;
  const opened = location.search; // later edits of the address are ignored

  // Show the result of a link once the page has applied its settings; restored results are shown already.
  gleanvid.openLink = (hasStart) => (kept, clip) => {
    if (kept) gleanvid.chooseClip(clip?.path); // the viewer may report another clip than the page's
    const keys = [...new URLSearchParams(opened).keys()];
    const hasSettings = keys.some((key) => !["tab", "view", "__theme"].includes(key));
    if ((hasSettings || hasStart) && (!kept || gleanvid.wasBehind())) gleanvid.preview(true)();
  };

  gleanvid.copyLink = async () => {
    await new Promise((done) => setTimeout(done, 400)); // by then the last change is in the address
    try {
      await navigator.clipboard.writeText(location.href);
    } catch { // browsers allow the clipboard only over https or on localhost
      prompt("Copy this link", location.href);
    }
    return gleanvid.hasOwnClip() ? "Copied: settings and question. Your clip is not in it." : "Link copied";
  };
  gleanvid.afterCopy = (title) => () => new Promise((done) => setTimeout(() => done(title), COPIED_MS));

  // Opening a tab adds a step to the browser's history: Back returns to the tab before and keeps the settings.
  const tabOf = (text) => text ?? FIRST_TAB;
  const setTab = (tab) => gleanvid.writeAddress("tab", tab === FIRST_TAB ? "" : tab);
  // A tab that the settings do not touch has no settings beside it: style.css knows which.
  const nameTab = (tab) => { document.documentElement.dataset.tab = tab; };
  nameTab(tabOf(new URLSearchParams(opened).get("tab")));
  gleanvid.openedTab = () => setTimeout(() => {
    const open = document.querySelector("[role=tab][aria-selected=true]")?.textContent.trim();
    if (open) nameTab(open);
    if (!open || open === tabOf(gleanvid.addressed("tab"))) return;
    gleanvid.flushAddress(); // settings changed in the previous tab
    setTab(open);
    gleanvid.flushAddress(true);
  }, 100);
  addEventListener("popstate", () => {
    const before = tabOf(new URLSearchParams(location.search).get("tab"));
    setTab(before);
    gleanvid.flushAddress();
    const tabs = [...document.querySelectorAll("[role=tab], .overflow-dropdown button")];
    tabs.find((tab) => tab.textContent.trim() === before)?.click();
  });
})(window.gleanvid ??= {});
