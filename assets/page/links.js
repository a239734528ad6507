// Links: what a page opens with, its open tab in the address, and the copied link.
((gleanvid) => {
  const FIRST_TAB = "Tokens";
  const COPIED_MS = 4000;
  const opened = location.search; // what a hand puts into the address later is no link

  // A link is shown once the page has taken its settings; what was kept is on show already.
  gleanvid.openLink = (hasStart) => (kept, clip) => {
    if (kept) gleanvid.chooseClip(clip?.path); // the viewer may tell of a clip that is not the page's
    const keys = [...new URLSearchParams(opened).keys()];
    const hasSettings = keys.some((key) => !["tab", "view", "__theme"].includes(key));
    if ((hasSettings || hasStart) && (!kept || gleanvid.wasBehind())) gleanvid.preview(true)();
  };

  gleanvid.copyLink = async () => {
    await new Promise((done) => setTimeout(done, 400)); // what was set last is in the address then
    try {
      await navigator.clipboard.writeText(location.href);
    } catch { // only pages served by https or from this computer may copy by themselves
      prompt("Copy this link", location.href);
    }
    return gleanvid.hasOwnClip() ? "Copied: settings and question. Your clip is not in it." : "Link copied";
  };
  gleanvid.afterCopy = (title) => () => new Promise((done) => setTimeout(() => done(title), COPIED_MS));

  // The open tab is a step that Back takes back; settings stay.
  const tabOf = (text) => text ?? FIRST_TAB;
  const setTab = (tab) => gleanvid.writeAddress("tab", tab === FIRST_TAB ? "" : tab);
  // A tab that the settings do not touch has no settings beside it: style.css knows which.
  const nameTab = (tab) => { document.documentElement.dataset.tab = tab; };
  nameTab(tabOf(new URLSearchParams(opened).get("tab")));
  gleanvid.openedTab = () => setTimeout(() => {
    const open = document.querySelector("[role=tab][aria-selected=true]")?.textContent.trim();
    if (open) nameTab(open);
    if (!open || open === tabOf(gleanvid.addressed("tab"))) return;
    gleanvid.flushAddress(); // what was set under the tab before
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
