// The settings of the page. They are gathered for the server in one value and previewed no faster than the
// server answers. Settings that differ from their defaults are written to the address.
((gleanvid) => {
  const PRESSED_MS = 40; // a press of the pointer is often a click: wait for its release
  const PATIENCE_MS = 1000; // longest wait for the previous preview
  const MOMENT_MS = 400; // a preview that takes longer is announced in the viewer
  const WRITE_MS = 300; // shortest time between two writes of the address: browsers limit their rate

  const EDITED = "by_hand.keep"; // tokens of B chosen by hand, until another setting of B changes
  const OF_B = /^(retention_ratio|compressor|frames|pixels|from|to|model)$|\./;

  const query = new URLSearchParams(location.search); // parameters that will be written to the address
  const defaults = new Map(); // default of each setting, by its key in a link
  const current = new Map(); // the last value of each setting
  let packed = []; // link key of each gathered widget; "": the widget holds several settings; null: not in links
  let gathered = new Map(); // settings by key at the last gathering; those of methods only if not at their default
  let version = 0; // how often the settings were gathered
  let [timer, written] = [null, -Infinity]; // timer of the next write of the address, time of the last write

  // Called once, before the settings in the address are applied. `silent`: models that answer no questions;
  // style.css hides the question box for them. Returns the state that `kept.js` stored for the page.
  gleanvid.openSettings = (keys, standards, examples, silent) => () => {
    packed = keys;
    for (const [key, value] of Object.entries(standards)) defaults.set(key, value);
    gleanvid.nameExamples(examples);
    const follow = (model) => document.body.toggleAttribute("data-silent", silent.includes(model));
    follow(defaults.get("model"));
    document.addEventListener("gleanvid:setting", ({ detail }) => { if (detail.name === "model") follow(detail.value); });
    return gleanvid.readKept();
  };

  const byKey = (values) => values.flatMap((value, place) => {
    if (packed[place] == null) return []; // not in links, or the page has not loaded its link yet
    return packed[place] ? [[packed[place], value]] : Object.entries(value);
  });

  function gather(values, isLive) {
    const standing = new Map(byKey(values));
    const valueIn = (all, key) => (all.has(key) ? all.get(key) : defaults.get(key));
    const changed = [...new Set([...gathered.keys(), ...standing.keys()])]
      .filter((key) => valueIn(standing, key) !== valueIn(gathered, key));
    if (version && standing.has(EDITED) && !changed.includes(EDITED) && changed.some((key) => OF_B.test(key))) {
      document.dispatchEvent(new CustomEvent("gleanvid:edit", { detail: { keep: "" } }));
      return gather(values.map((value, place) => (packed[place] === "" ? { ...value, [EDITED]: "" } : value)), isLive);
    }
    for (const key of changed) gleanvid.writeSetting(key)(valueIn(standing, key));
    gathered = standing;
    return [{ values, version: ++version, live: isLive }];
  }
  gleanvid.gather = (...values) => gather(values, false);

  // --- previews: one at a time; the next one has the newest settings -----------------------------

  let [wanted, started, inFlight, isDown, nextIsLive] = [0, 0, 0, false, true];
  let release = () => {};
  addEventListener("pointerdown", () => { isDown = true; }, true);
  for (const end of ["pointerup", "pointercancel"])
    addEventListener(end, () => { isDown = false; release(); }, true);

  const isBehind = () => inFlight > 0 || started < wanted;
  const tell = () => document.dispatchEvent(
    new CustomEvent("gleanvid:behind", { detail: { isBehind: isBehind() } }));

  function begin() {
    started = wanted;
    inFlight += 1;
    gleanvid.signal("preview");
  }

  // Preview the settings now. `live`: whether a new answer to the question may follow.
  gleanvid.preview = (live) => () => {
    wanted += 1;
    nextIsLive = live;
    begin();
  };

  // Preview a moving slider: once the previous preview is shown, preview its newest value.
  gleanvid.previewMoves = async () => {
    const mine = ++wanted;
    nextIsLive = true;
    setTimeout(() => { if (isBehind()) tell(); }, MOMENT_MS);
    const wait = inFlight > 0 ? PATIENCE_MS : isDown ? PRESSED_MS : 0;
    if (wait > 0) await new Promise((done) => { release = done; setTimeout(done, wait); });
    if (mine === wanted) begin();
  };

  gleanvid.gatherPreview = (...values) => gather(values, nextIsLive);

  gleanvid.previewShown = () => {
    inFlight = Math.max(0, inFlight - 1);
    if (!isBehind()) tell();
    release();
  };

  // Each part of the page drops updates that are older than the newest one it has shown.
  gleanvid.newestOnly = () => {
    let newest = 0;
    return function isStale(version) {
      if (version && version < newest) return true;
      newest = version || newest;
      return false;
    };
  };

  // --- the address -------------------------------------------------------------------------------

  gleanvid.setting = (key) => current.get(key);
  gleanvid.tellSetting = (key, value) => {
    current.set(key, value);
    document.dispatchEvent(new CustomEvent("gleanvid:setting", { detail: { name: key, value } }));
  };

  // A setting of a method may be None, written "none" in a link; other settings have no such value.
  gleanvid.writeSetting = (key, standard) => (value) => {
    if (standard !== undefined) defaults.set(key, standard);
    const isMethods = key.includes(".");
    const text = (value) => String(value ?? (isMethods ? "none" : ""));
    gleanvid.tellSetting(key, isMethods ? value ?? "none" : value);
    gleanvid.writeAddress(key, text(value) === text(defaults.get(key)) ? "" : text(value));
  };

  // An empty text removes the key from the address.
  gleanvid.writeAddress = (key, text) => {
    text === "" ? query.delete(key) : query.set(key, text);
    clearTimeout(timer);
    timer = setTimeout(gleanvid.flushAddress, Math.max(0, written + WRITE_MS - performance.now()));
  };
  gleanvid.flushAddress = (isStep = false) => {
    written = performance.now();
    const text = query.toString();
    const address = text ? `?${text}` : location.pathname;
    history[isStep === true ? "pushState" : "replaceState"](history.state, "", address);
  };
  gleanvid.addressed = (key) => query.get(key);
  addEventListener("pagehide", () => gleanvid.leave(isBehind()));

  document.addEventListener("input", ({ target }) => {
    if (target.matches?.("input[name=gv-view]")) gleanvid.writeSetting("view", "kept")(target.value);
  });
})(window.gleanvid ??= {});
