// Restores the page after a reload or Back: this browser stores the ids of its runs, which nobody can guess, and
// its uploaded clips. The stored state is only changed once the page has applied it. If a page is left before
// its newest settings were previewed, the stored state says so, and the page previews them when reopened.
((gleanvid) => {
  let state = { shown: [], compared: false, own: [], clip: "" };
  let [isApplied, isBehind, isNew, place] = [false, false, false, ""];

  // Each step of the browser's history has its own state, except steps between tabs (links.js).
  const begin = () => {
    place = `gleanvid:${Date.now()}.${Math.random()}`;
    return { ...history.state, gleanvid: place };
  };
  const entry = () => {
    if (history.state?.gleanvid) place = history.state.gleanvid;
    else history.replaceState(begin(), "");
    return place;
  };

  const keep = (changes, isBehind = false) => {
    Object.assign(state, changes);
    if (!isApplied || gleanvid.isElsewhere()) return;
    const text = JSON.stringify({ ...state, isBehind });
    try { sessionStorage.setItem(entry(), text); } catch { /* no session storage: nothing to restore later */ }
  };
  gleanvid.keepRuns = (shown) => keep({ shown });
  // Store whether there is a comparison table: it cannot be restored, and the reloaded page says so.
  gleanvid.keepCompared = (compared) => keep({ compared });
  // Store the uploaded clips: the end of each path, and each thumbnail.
  gleanvid.keepOwn = (own) => keep({ own });
  // Store the chosen clip if it is an upload; any other clip is in the address.
  gleanvid.keepClip = (clip) => keep({ clip });
  gleanvid.leave = (isBehind) => keep({}, isBehind);
  gleanvid.wasBehind = () => isBehind;

  gleanvid.readKept = () => {
    const place = entry();
    const type = performance.getEntriesByType("navigation")[0]?.type;
    if (!["reload", "back_forward"].includes(type)) return "";
    try {
      const text = sessionStorage.getItem(place) ?? "";
      if (text) ({ isBehind, ...state } = JSON.parse(text));
      return text;
    } catch { // the browser has no storage
      return "";
    }
  };
  gleanvid.appliedKept = () => { isApplied = true; };

  // Begin a step of the browser's history before another clip is opened: Back then reloads the page from the stored
  // state of the previous step. A reload would lose a comparison table, so a page with a table begins no step.
  gleanvid.beginStep = () => {
    if (state.compared) return;
    gleanvid.flushAddress();
    history.pushState(begin(), "");
    isNew = true;
  };
  // Whether a step of the browser's history has begun since the last call.
  gleanvid.tookStep = () => {
    const was = isNew;
    isNew = false;
    return was;
  };
  gleanvid.isElsewhere = () => place !== "" && history.state?.gleanvid !== place;
})(window.gleanvid ??= {});
