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
    values = pairs.map(([, usual]) => usual);
    for (const [name, usual] of pairs) {
      usuals.set(name, usual);
      newest.set(name, usual);
    }
  };

  // What all these widgets hold, as far as the page has heard, and how often that was asked for.
  let values = [];
  let turn = 0;
  const numbered = () => [[...values, ++turn]];

  function noteChanges() {
    packed.forEach(([name, usual], place) => {
      if (name !== null && newest.get(name) !== values[place]) gvLink(name, values[place], usual);
    });
  }

  window.gvGather = (all) => {
    values = all;
    noteChanges();
    return numbered();
  };
  // A hand moves some of them; see `Packed.noted`.
  window.gvNote = (places, some) => {
    places.forEach((place, n) => { values[place] = some[n]; });
    noteChanges();
    document.querySelector("#gv-moved").click();
  };
  window.gvNoted = async () => {
    await window.gvPace();
    return numbered();
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
