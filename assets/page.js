// What the page does by itself, once: keys on sliders, the address that holds the settings, and
// curves that follow the viewer.

// A setting that is not at its default stands in the address, once the hand is off it.
(() => {
  const query = new URLSearchParams(location.search); // as the page is now
  let [timer, ownClip] = [null, ""];

  function write(isStep = false) {
    const text = query.toString();
    const address = text ? `?${text}` : location.pathname;
    history[isStep ? "pushState" : "replaceState"](history.state, "", address);
  }

  // What is made of the settings hears when they are others.
  window.gvSetting = (name, value) => {
    document.dispatchEvent(new CustomEvent("gleanvid:setting", { detail: { name, value } }));
  };

  // Gradio's arrow goes back to what stood there when the slider was last drawn. Where a setting has
  // been changed, it goes to the default.
  const usuals = new Map();
  document.addEventListener("click", (event) => {
    const slider = event.target.closest?.(".reset-button")?.closest("[id^=gv-of-]");
    const usual = usuals.get(slider?.id.slice("gv-of-".length));
    if (usual === undefined) return;
    event.stopImmediatePropagation();
    const range = slider.querySelector("input[type=range]");
    range.value = String(usual);
    range.dispatchEvent(new Event("input", { bubbles: true }));
  }, true);

  const newest = new Map(); // by name, what the page has heard last
  let packed = []; // [name, default] of each widget whose values come together; null: not in links

  window.gvDefaults = (pairs) => {
    packed = pairs;
    for (const [name, usual] of pairs) {
      usuals.set(name, usual);
      newest.set(name, usual);
    }
  };

  function noteChanges(values) {
    packed.forEach(([name, usual], place) => {
      if (name !== null && newest.get(name) !== values[place]) gvLink(name, values[place], usual);
    });
  }

  // All values as one, and how often so far.
  let turn = 0;
  const numbered = (values) => [[...values, ++turn]];
  window.gvGather = (values) => { noteChanges(values); return numbered(values); };
  window.gvGatherPaced = async (values) => {
    noteChanges(values);
    await window.gvPace();
    return numbered(values);
  };

  window.gvLink = (name, value, usual) => {
    usuals.set(name, usual);
    newest.set(name, value);
    const text = String(value ?? "");
    if (name === "clip") {
      markClip(text);
    } else {
      window.gvSetting(name, value);
    }
    text === "" || text === String(usual) ? query.delete(name) : query.set(name, text);
    clearTimeout(timer);
    timer = setTimeout(write, 300);
  };

  // The name of a clip of one's own; "" for an example, null for none at all. A link holds examples alone.
  window.gvOwnClip = (name) => { ownClip = name; };
  window.gvHasOwnClip = () => ownClip !== "";

  // What the widget of the clip holds; `examples`: folder and name of each, the first one usual.
  window.gvHolds = (value, examples) => {
    const name = (path) => path.split("/").pop();
    const clip = (value?.path ?? "").split("/").slice(-2).join("/");
    const isExample = examples.includes(clip);
    window.gvSetting("clip", clip);
    window.gvOwnClip(isExample ? "" : name(clip) || null);
    window.gvLink("clip", isExample ? name(clip) : "", name(examples[0] ?? ""));
  };

  // The clip that was chosen, or else is on show, is marked among those to choose from. The button
  // that brings one's own bears its name.
  function markClip(name) {
    const example = ownClip === "" ? document.getElementById(`gv-example-${name}`) : null;
    const upload = document.getElementById("gv-upload");
    const chosen = example ?? (ownClip === null ? null : upload);
    upload.title = chosen === upload ? ownClip || name : "";
    upload.textContent = upload.title || "Upload your own";
    for (const button of document.querySelectorAll(".gv-examples button")) {
      if (button === chosen) button.setAttribute("aria-current", "true");
      else button.removeAttribute("aria-current");
    }
  }
  document.addEventListener("gleanvid:unit", ({ detail }) => { if (detail.name) markClip(detail.name); });

  // A link is shown as soon as the page has taken its settings; what was kept is on show already.
  // What a hand has put into the address meanwhile is no link.
  const opened = location.search;
  window.gvOpenLink = (kept, isStart = false) => {
    const query = new URLSearchParams(opened);
    const said = [...query.keys()].some((key) => !["tab", "view", "__theme"].includes(key));
    if ((said || isStart) && !kept) document.querySelector("#gv-refresh")?.click();
  };
  document.addEventListener("input", ({ target }) => {
    if (target.matches?.("input[name=gv-view]")) gvLink("view", target.value, "kept");
  });

  // The open tab, once it is marked as such: a step that Back takes back. Settings stay.
  const FIRST_TAB = "Tokens";
  const tabOf = (said) => said.get("tab") ?? FIRST_TAB;
  window.gvTab = () => setTimeout(() => {
    const open = document.querySelector("[role=tab][aria-selected=true]")?.textContent.trim();
    if (!open || open === tabOf(query)) return;
    write(); // what was set under the tab before
    open === FIRST_TAB ? query.delete("tab") : query.set("tab", open);
    write(true);
  }, 100);
  addEventListener("popstate", () => {
    const before = tabOf(new URLSearchParams(location.search));
    before === FIRST_TAB ? query.delete("tab") : query.set("tab", before);
    write();
    const tabs = [...document.querySelectorAll("[role=tab], .overflow-dropdown button")];
    tabs.find((tab) => tab.textContent.trim() === before)?.click();
  });
})();

// Of many calls in quick succession the first passes at once, then the newest of a while, and the
// last one as soon as the pointer is released. The others fail, and Gradio lets their event end there.
(() => {
  const [DRAGGED, FREE] = [60, 30]; // milliseconds from one to the next
  let [newest, passed, isDown] = [0, -Infinity, false];
  let hasten = () => {};
  addEventListener("pointerdown", () => { isDown = true; }, true);
  for (const end of ["pointerup", "pointercancel"])
    addEventListener(end, () => { isDown = false; hasten(); }, true);

  window.gvPace = async () => {
    const mine = ++newest;
    const wait = passed + (isDown ? DRAGGED : FREE) - performance.now();
    if (wait > 0) await new Promise((done) => { hasten = done; setTimeout(done, wait); });
    if (mine !== newest) throw new Error("a newer one comes");
    passed = performance.now();
  };
})();

// What a tab shows comes back when it is loaded again: the ids of its runs stay in this browser, and
// nobody else knows them. Nothing is kept before what was kept has been read.
(() => {
  const KEY = "gleanvid";
  let [read, newest, compared] = [false, [], false];

  window.gvKeep = (shown) => {
    if (!read) return;
    newest = shown;
    const text = JSON.stringify({ shown, compared });
    try { sessionStorage.setItem(KEY, text); } catch { /* a browser without storage */ }
  };

  // A table of a comparison stands on the page, which is not kept: it is to be said.
  window.gvCompared = () => {
    compared = true;
    window.gvKeep(newest);
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

// A clip of one's own: a file dropped anywhere, or what the webcam saw, goes the way of an upload.
(() => {
  const SECONDS = 10;
  const give = (file) => {
    const input = document.querySelector("#gv-upload").parentElement.querySelector("input[type=file]");
    const files = new DataTransfer();
    files.items.add(file);
    input.files = files.files;
    input.dispatchEvent(new Event("change", { bubbles: true }));
  };
  // What a button asks for. Gradio would refuse other files in its own words.
  const TYPES = { "gv-upload": "video/*,.gif", "gv-open": ".zip" };
  document.addEventListener("click", ({ target }) => {
    const button = target.closest?.("button");
    if (TYPES[button?.id]) button.parentElement.querySelector("input[type=file]").accept = TYPES[button.id];
  }, true);
  const brings = ({ dataTransfer }) => [...(dataTransfer?.types ?? [])].includes("Files");
  const mark = (on) => document.body.classList.toggle("gv-dropping", on);
  addEventListener("dragover", (event) => {
    if (!brings(event)) return;
    event.preventDefault();
    mark(true);
  });
  addEventListener("dragleave", ({ relatedTarget }) => { if (!relatedTarget) mark(false); });
  addEventListener("drop", (event) => {
    if (!brings(event)) return;
    event.preventDefault();
    mark(false);
    if (event.dataTransfer.files.length) give(event.dataTransfer.files[0]);
  });

  let recorder = null;
  const say = (text) => { document.querySelector("#gv-webcam").textContent = text; };

  const NO_CAMERA = {
    NotAllowedError: "The camera was refused: allow it in the browser's address bar, or upload a file.",
    SecurityError: "The browser gives the camera only to pages served by https or from this computer: upload a file.",
    NotFoundError: "No camera was found: connect one, or upload a file.",
    NotReadableError: "Another program uses the camera: close it, or upload a file.",
  };
  const camera = async () => {
    const devices = navigator.mediaDevices;
    if (!devices) throw new DOMException("", "SecurityError");
    try {
      return await devices.getUserMedia({ video: true, audio: true });
    } catch (error) {
      if (error.name !== "NotFoundError") throw error;
      return devices.getUserMedia({ video: true }); // there may be no microphone
    }
  };

  // Gives what stands in the way, for the line of messages; nothing once it records.
  window.gvRecord = async () => {
    if (recorder) return recorder.stop();
    try {
      const stream = await camera();
      const parts = [];
      recorder = new MediaRecorder(stream);
      recorder.ondataavailable = ({ data }) => parts.push(data);
      recorder.onstop = () => {
        recorder = null;
        say("Webcam");
        stream.getTracks().forEach((track) => track.stop());
        give(new File(parts, "webcam.webm", { type: "video/webm" }));
      };
      recorder.start();
      setTimeout(() => { if (recorder?.state === "recording") recorder.stop(); }, 1000 * SECONDS);
      say("Stop and use");
    } catch ({ name }) {
      return { text: NO_CAMERA[name] ?? NO_CAMERA.NotFoundError, kind: "problem" };
    }
  };
})();

// Answers belong to the question they were given to: the viewer hears of another one in the box.
document.addEventListener("input", ({ target }) => {
  if (!target.matches?.("#gv-question textarea")) return;
  document.dispatchEvent(new CustomEvent("gleanvid:question", { detail: { text: target.value } }));
});

// Gradio's sliders report the release of a pointer but not of a key: make one of the other.
document.addEventListener("keyup", (event) => {
  const moves = /^(Arrow|Page|Home|End)/.test(event.key);
  if (moves && event.target.matches?.("#gv-settings input[type=range]"))
    event.target.dispatchEvent(new PointerEvent("pointerup", { bubbles: true }));
});

// Gradio's menus take every key as a wish to see the list: Tab would leave it open behind itself. And
// a list that scrolls is a stop of Tab, which is gone once it is reached.
document.addEventListener("keydown", (event) => {
  if (event.key !== "Tab" || !event.target.matches?.("input[role=combobox]")) return;
  event.stopImmediatePropagation();
  const list = document.getElementById(event.target.getAttribute("aria-controls"));
  for (const part of [list, list?.parentElement]) part?.setAttribute("tabindex", "-1");
}, true);

// A row that is wider than its room scrolls: it fades at the side where more of it is.
(() => {
  const mark = (row) => {
    const rest = row.scrollWidth - row.clientWidth - row.scrollLeft;
    row.dataset.more = `${row.scrollLeft > 1 ? "before" : ""} ${rest > 1 ? "after" : ""}`.trim();
  };
  const sized = new ResizeObserver((rows) => rows.forEach(({ target }) => mark(target)));
  addEventListener("scroll", ({ target }) => { if (target.dataset?.more !== undefined) mark(target); }, true);
  new MutationObserver(() => {
    for (const row of document.querySelectorAll(".gv-sideways:not([data-more])")) {
      mark(row);
      sized.observe(row);
      const changed = { childList: true, subtree: true, attributeFilter: ["hidden"] };
      new MutationObserver(() => mark(row)).observe(row, changed);
    }
  }).observe(document.documentElement, { childList: true, subtree: true });
})();

// Curves are mounted when their tab is opened: the unit that the viewer shows is kept for them.
document.addEventListener("gleanvid:unit", ({ detail }) => { window.gvUnit = detail.unit ?? window.gvUnit; });

// A table wider than its place scrolls: keys have to reach it. Arrows that reset say what.
new MutationObserver(() => {
  for (const table of document.querySelectorAll(".gv-models table")) table.tabIndex = 0;
  for (const arrow of document.querySelectorAll(".reset-button:not([data-of])")) {
    const title = arrow.closest(".block")?.querySelector("[data-testid=block-info]")?.textContent.trim();
    if (!title) continue;
    arrow.dataset.of = title;
    arrow.setAttribute("aria-label", `Reset ${title} to its default`);
  }
}).observe(document.documentElement, { childList: true, subtree: true });
