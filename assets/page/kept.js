// Restores the page after a reload or Back: this browser stores the ids of its runs, which nobody can guess, and
// its uploaded clips. The stored state is only changed once the page has applied it. If a page is left before
// its newest settings were previewed, the stored state says so, and the page previews them when reopened.
((gleanvid) => {
  let state = { shown: [], own: [], clip: "" };
  let [isApplied, isBehind] = [false, false];

  // Key of the stored state. Steps between clips (chosen_clip.js) have the same one.
  const entry = () => {
    if (!history.state?.gleanvid)
      history.replaceState({ ...history.state, gleanvid: `gleanvid:${Date.now()}.${Math.random()}` }, "");
    return history.state.gleanvid;
  };

  const keep = (changes, isBehind = false) => {
    Object.assign(state, changes);
    if (!isApplied) return;
    const text = JSON.stringify({ ...state, isBehind });
    try { sessionStorage.setItem(entry(), text); } catch { /* no session storage: nothing to restore later */ }
  };
  gleanvid.keepRuns = (shown) => keep({ shown });
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
})(window.gleanvid ??= {});
