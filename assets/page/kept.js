// What a tab shows comes back when it is loaded again, or by Back: the ids of its runs stay in this
// browser, and nobody else knows them. Nothing is kept before what was kept has been read.
// A page left while its newest settings had no preview yet is behind: it previews them when it is back.
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
