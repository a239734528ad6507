// What a tab shows comes back when it is loaded again: the ids of its runs stay in this browser, and
// nobody else knows them. Nothing is kept before what was kept has been read.
((gleanvid) => {
  const KEY = "gleanvid";
  let [read, newest, compared] = [false, [], false];

  gleanvid.keepRuns = (shown) => {
    if (!read) return;
    newest = shown;
    const text = JSON.stringify({ shown, compared });
    try { sessionStorage.setItem(KEY, text); } catch { /* a browser without storage */ }
  };

  // A table of a comparison stands on the page, which is not kept: it is to be said.
  gleanvid.keepCompared = () => {
    compared = true;
    gleanvid.keepRuns(newest);
  };

  gleanvid.readKept = () => {
    read = true;
    const type = performance.getEntriesByType("navigation")[0]?.type;
    try {
      return ["reload", "back_forward"].includes(type) ? sessionStorage.getItem(KEY) ?? "" : "";
    } catch {
      return "";
    }
  };
})(window.gleanvid ??= {});
