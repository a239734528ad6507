// Restores the results of a page after a reload or Back: this browser stores the ids of its runs, which
// nobody can guess. Nothing is stored before the stored state has been read. A page that is left before
// its newest settings were previewed is `behind`, and previews them when it is opened again.
((gleanvid) => {
  let [read, newest, compared, behind, own] = [false, [], false, false, []];

  // Each step of the browser's history has its own: Back from another link must not show its runs.
  const entry = () => {
    const known = history.state?.gleanvid;
    if (known) return known;
    const made = `gleanvid:${Date.now()}.${Math.random()}`;
    history.replaceState({ ...history.state, gleanvid: made }, "");
    return made;
  };

  gleanvid.keepRuns = (shown, isBehind = false) => {
    if (!read) return;
    newest = shown;
    const text = JSON.stringify({ shown, compared, isBehind, own });
    try { sessionStorage.setItem(entry(), text); } catch { /* a browser without storage */ }
  };

  // Remember that the page had a comparison table: it cannot be restored, and the page says so.
  gleanvid.keepCompared = (hasTable) => {
    compared = hasTable;
    gleanvid.keepRuns(newest);
  };

  gleanvid.leave = (isBehind) => { if (isBehind) gleanvid.keepRuns(newest, true); };
  gleanvid.wasBehind = () => behind;

  // Remember uploaded clips: a reload removes them from the row of clips, and the page says so.
  gleanvid.keepOwn = (clips) => {
    own = clips;
    gleanvid.keepRuns(newest);
  };

  gleanvid.readKept = () => {
    read = true;
    const place = entry();
    const type = performance.getEntriesByType("navigation")[0]?.type;
    if (!["reload", "back_forward"].includes(type)) return "";
    try {
      const text = sessionStorage.getItem(place) ?? "";
      behind = text !== "" && JSON.parse(text).isBehind === true;
      return text;
    } catch { // a browser without storage
      return "";
    }
  };
})(window.gleanvid ??= {});
