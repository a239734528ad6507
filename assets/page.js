// What the page does by itself, once: keys on sliders, the address that holds the settings, and
// curves that follow the viewer.

// A setting that is not at its default stands in the address, once the hand is off it.
(() => {
  const changed = new Map();
  let timer = null;

  function write() {
    const query = new URLSearchParams(location.search);
    for (const [name, text] of changed) text === null ? query.delete(name) : query.set(name, text);
    changed.clear();
    const text = query.toString();
    history.replaceState(history.state, "", text ? `?${text}` : location.pathname);
  }

  window.gvLink = (name, value, usual) => {
    const text = String(value ?? "");
    changed.set(name, text === "" || text === String(usual) ? null : text);
    clearTimeout(timer);
    timer = setTimeout(write, 300);
  };

  // The open tab, once it is marked as such.
  window.gvTab = () => setTimeout(() => {
    const open = document.querySelector("[role=tab][aria-selected=true]");
    if (open) gvLink("tab", open.textContent.trim(), "Tokens");
  }, 100);
})();

// What a tab shows comes back when it is loaded again: the ids of its runs stay in this browser, and
// nobody else knows them. Nothing is kept before what was kept has been read.
(() => {
  const [KEY, kept] = ["gleanvid", { turns: [], shown: [] }];
  let read = false;

  window.gvKeep = (part, ids) => {
    if (!read) return;
    kept[part] = [...ids];
    try { sessionStorage.setItem(KEY, JSON.stringify(kept)); } catch { /* a browser without storage */ }
  };

  window.gvKept = () => {
    read = true;
    const type = performance.getEntriesByType("navigation")[0]?.type;
    try {
      return ["reload", "back_forward"].includes(type) ? sessionStorage.getItem(KEY) ?? "" : "";
    } catch {
      return "";
    }
  };
})();

// Gradio's sliders report the release of a pointer but not of a key: make one of the other.
document.addEventListener("keyup", (event) => {
  const moves = /^(Arrow|Page|Home|End)/.test(event.key);
  if (moves && event.target.matches?.("#gv-settings input[type=range]"))
    event.target.dispatchEvent(new PointerEvent("pointerup", { bubbles: true }));
});

// The clip follows the viewer while it rests, the viewer follows the clip while it plays or is sought.
(() => {
  let shown = ""; // name of the clip in the viewer
  let [sent, under] = [null, false]; // where the clip was sent from here; whether it is under way

  const shows = (clip) => shown && decodeURIComponent(clip.currentSrc).split("/").pop().startsWith(shown);

  document.addEventListener("gleanvid:unit", ({ detail: { seconds, until, name, moved, source } }) => {
    if (source !== "viewer") return;
    shown = name;
    const clip = document.querySelector("#gv-clip video");
    if (!moved || !clip?.readyState || !clip.paused || !shows(clip)) return;
    if (clip.currentTime >= seconds && clip.currentTime < until) return;
    clip.currentTime = seconds;
    under = true;
  });

  function follow({ type, target: clip }) {
    if (!clip.matches?.("#gv-clip video") || !shows(clip)) return;
    if (under && type === "seeked" && !clip.seeking) [sent, under] = [clip.currentTime, false];
    if (under || (clip.paused && clip.currentTime === sent)) return;
    const detail = { seconds: clip.currentTime, source: "clip" };
    document.dispatchEvent(new CustomEvent("gleanvid:unit", { detail }));
  }
  for (const kind of ["timeupdate", "seeked"]) document.addEventListener(kind, follow, true);
})();

// A clip that this browser cannot play is no error: its frames are in the viewer all the same.
for (const kind of ["error", "loadeddata"])
  document.addEventListener(
    kind,
    (event) => {
      const player = event.target.matches?.("video") && event.target.closest("#gv-clip");
      if (!player) return;
      player.toggleAttribute("data-unplayed", kind === "error");
      if (kind === "error") event.stopImmediatePropagation(); // Gradio would call it an error
    },
    true,
  );

// Curves over units: pointing at one moves the viewer; the unit on show is a line on every one.
// A plot is made anew with every figure, so each new one is found and heard.
(() => {
  const heard = new WeakSet();
  let unit = null;

  function cursor(plot) {
    const axis = plot._fullLayout?.xaxis;
    if (!axis || unit === null) return;
    let line = plot.querySelector(":scope > .gv-cursor");
    if (!line) {
      line = document.createElement("div");
      line.className = "gv-cursor";
      plot.append(line);
    }
    const [low, high] = axis.range;
    const inside = unit + 1 >= Math.min(low, high) && unit + 1 <= Math.max(low, high);
    const { top, height } = plot._fullLayout._size ? { top: plot._fullLayout._size.t, height: plot._fullLayout._size.h } : { top: 0, height: 0 };
    Object.assign(line.style, {
      display: inside ? "block" : "none",
      left: `${axis._offset + axis.l2p(unit + 1)}px`,
      top: `${top}px`,
      height: `${height}px`,
    });
  }

  const plots = () => document.querySelectorAll(".gv-linked .js-plotly-plot");

  function hear(plot) {
    if (heard.has(plot) || !plot.on) return;
    heard.add(plot);
    plot.on("plotly_hover", ({ points }) => {
      const next = Math.round(points[0].x) - 1;
      if (next === unit) return;
      const detail = { unit: next, source: "curves" };
      document.dispatchEvent(new CustomEvent("gleanvid:unit", { detail }));
    });
    plot.on("plotly_afterplot", () => cursor(plot));
    cursor(plot);
  }

  document.addEventListener("gleanvid:unit", ({ detail }) => {
    unit = detail.unit ?? unit;
    plots().forEach(cursor);
  });
  let queued = false;
  new MutationObserver(() => {
    if (queued) return;
    queued = true;
    requestAnimationFrame(() => {
      queued = false;
      plots().forEach(hear);
      // A table wider than its place scrolls: keys have to reach it.
      for (const table of document.querySelectorAll(".gv-models table")) table.tabIndex = 0;
    });
  }).observe(document.documentElement, { childList: true, subtree: true });
})();

// The curves take the width of their place when the window changes; folded settings change it too.
document.addEventListener("transitionend", ({ target, propertyName }) => {
  if (target.matches?.(".sidebar-parent") && propertyName === "padding-left")
    dispatchEvent(new Event("resize"));
});
