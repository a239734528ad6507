// A setting that is not at its default stands in the address, once the hand is off it.
(() => {
  const query = new URLSearchParams(location.search); // as the page is now
  let timer = null;

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

  let packed = []; // [name, default] of each widget whose values come together; null: not in links
  let held = []; // what these widgets hold, as far as the page has heard
  let turn = 0; // how often that was asked for
  const numbered = () => [[...held, ++turn]];

  window.gvDefaults = (pairs, examples) => {
    packed = pairs;
    held = pairs.map(([, value]) => value);
    for (const [name, value] of pairs) defaults.set(name, value);
    window.gvExamples(examples);
  };

  function note(value, place) {
    const [name, standard] = packed[place];
    if (name !== null && held[place] !== value) gvLink(name, value, standard);
    held[place] = value;
  }

  window.gvGather = (values) => {
    values.forEach(note);
    return numbered();
  };
  // Some have been moved; see `Packed.noted`.
  window.gvNote = (places, values) => {
    places.forEach((place, n) => note(values[n], place));
    document.querySelector("#gv-moved").click();
  };
  window.gvNoted = async () => {
    await window.gvPace();
    return numbered();
  };

  window.gvLink = (name, value, standard) => {
    defaults.set(name, standard);
    window.gvSetting(name, value);
    const text = String(value ?? "");
    window.gvAddress(name, text === String(standard) ? "" : text);
  };

  // Without a text the name leaves the address.
  window.gvAddress = (name, text) => {
    text === "" ? query.delete(name) : query.set(name, text);
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
