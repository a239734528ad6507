// A setting that is not at its default stands in the address, once the hand is off it.
(() => {
  const query = new URLSearchParams(location.search); // as the page is now
  let timer = null;

  function write(isStep = false) {
    const text = query.toString();
    const address = text ? `?${text}` : location.pathname;
    history[isStep ? "pushState" : "replaceState"](history.state, "", address);
  }

  // What is made of the settings hears when they are others, or asks how one is once it is mounted.
  const now = new Map();
  window.gvNow = (name) => now.get(name);
  window.gvSetting = (name, value) => {
    now.set(name, value);
    document.dispatchEvent(new CustomEvent("gleanvid:setting", { detail: { name, value } }));
  };

  // Gradio's arrow goes back to what stood there when the slider was last drawn. Where a setting has
  // been changed, it goes to the default.
  const defaults = new Map();
  document.addEventListener("click", (event) => {
    const slider = event.target.closest?.(".reset-button")?.closest("[id^=gv-of-]");
    const value = defaults.get(slider?.id.slice("gv-of-".length));
    if (value === undefined) return;
    event.stopImmediatePropagation();
    const range = slider.querySelector("input[type=range]");
    range.value = String(value);
    range.dispatchEvent(new Event("input", { bubbles: true }));
  }, true);

  let packed = []; // name of each widget whose values come together; null: not in links
  let folded = new Set(); // names of the settings that are not in sight
  let held = new Map(); // by name, what differs from its default, as far as the page has heard
  let turn = 0; // how often all were asked for

  window.gvDefaults = (names, standards, hidden, examples) => {
    packed = names;
    folded = new Set(hidden);
    for (const [name, value] of Object.entries(standards)) defaults.set(name, value);
    window.gvExamples(examples);
  };

  // One value holds the settings of many methods, by name: those that are not at their default.
  const named = (values) => values.flatMap((value, place) =>
    packed[place] === null ? [] : packed[place] ? [[packed[place], value]] : Object.entries(value));

  window.gvGather = (values) => {
    const standing = new Map(named(values));
    for (const name of new Set([...held.keys(), ...standing.keys()])) {
      const of = (all) => (all.has(name) ? all.get(name) : defaults.get(name));
      if (of(standing) !== of(held)) gvLink(name, of(standing));
    }
    held = standing;
    return [[...values, ++turn]];
  };
  // Of many moves at once not every one is shown.
  window.gvPaced = async (values) => {
    const gathered = window.gvGather(values);
    await window.gvPace();
    return gathered;
  };

  // A method's setting may be nothing; for others that is no value.
  window.gvLink = (name, value, standard = defaults.get(name)) => {
    defaults.set(name, standard);
    const text = (value) => String(value ?? (name.includes(".") ? "none" : ""));
    window.gvSetting(name, name.includes(".") ? value ?? "none" : value);
    window.gvAddress(name, text(value) === text(standard) ? "" : text(value));
  };

  // A fold says how much in it is not at its default.
  function mark() {
    const method = now.get("compressor") ?? defaults.get("compressor");
    const isSeen = (name) => !name.includes(".") || name.startsWith(`${method}.`);
    const changed = [...query.keys()].filter((name) => folded.has(name) && isSeen(name));
    const fold = document.querySelector("#gv-more");
    fold?.style.setProperty("--gv-changed", changed.length ? `" · ${changed.length} changed"` : "none");
    fold?.setAttribute("data-changed", changed.join(" "));
  }

  // Without a text the name leaves the address.
  window.gvAddress = (name, text) => {
    text === "" ? query.delete(name) : query.set(name, text);
    mark();
    clearTimeout(timer);
    timer = setTimeout(write, 300);
  };

  // A link is shown as soon as the page has taken its settings; what was kept is on show already.
  // What a hand has put into the address meanwhile is no link.
  const opened = location.search;
  window.gvOpenLink = (kept, isStart = false) => {
    const names = [...new URLSearchParams(opened).keys()];
    const hasSettings = names.some((name) => !["tab", "view", "__theme"].includes(name));
    if ((hasSettings || isStart) && !kept) document.querySelector("#gv-refresh")?.click();
  };
  document.addEventListener("input", ({ target }) => {
    if (target.matches?.("input[name=gv-view]")) gvLink("view", target.value, "kept");
  });

  // The open tab, once it is marked as such: a step that Back takes back. Settings stay.
  const FIRST_TAB = "Tokens";
  const tabOf = (settings) => settings.get("tab") ?? FIRST_TAB;
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
