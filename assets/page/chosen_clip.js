// The chosen clip: written to the address unless it is an upload, and marked in the row of clips.
((gleanvid) => {
  const nameOf = (path) => path.split("/").pop();
  const shortened = (path) => path.split("/").slice(-2).join("/");
  let examples = []; // folder and name of each example; the first one is not written to the address
  let clip = ""; // folder and name of the chosen clip
  let returning = ""; // the clip to which Back leads
  let own = ""; // name of an uploaded clip; "" for an example, null for no clip at all

  // Mark the first clip at once: the viewer, which reports its clip later, may be in a closed tab and report none.
  gleanvid.nameExamples = (paths) => {
    examples = paths;
    const names = paths.map(nameOf);
    const linked = new URLSearchParams(location.search).get("clip");
    clip = paths[Math.max(0, names.indexOf(linked))] ?? "";
    if (names.length) mark(nameOf(clip));
  };
  gleanvid.hasOwnClip = () => own !== "";
  // Whether a link can name this clip: true for an example, false for an upload.
  gleanvid.isNamed = (path) => examples.includes(shortened(path));

  gleanvid.chooseClip = (path = "") => {
    const [before, isStep] = [clip, ![clip, returning].includes(shortened(path))];
    clip = shortened(path);
    returning = "";
    const hasName = gleanvid.isNamed(clip);
    own = hasName ? "" : nameOf(clip) || null;
    gleanvid.tellSetting("clip", clip);
    if (isStep) step(before);
    gleanvid.writeAddress("clip", hasName && clip !== examples[0] ? nameOf(clip) : "");
    mark(nameOf(clip));
    gleanvid.keepClip(own ? clip : "");
  };

  // Another clip is a step in the browser's history: Back returns to the clip before, and keeps the settings.
  function step(before) {
    const jump = undefined; // Back to a clip keeps the tab (links.js)
    history.replaceState({ ...history.state, clip: before, jump }, "");
    gleanvid.flushAddress(true);
    history.replaceState({ ...history.state, clip }, "");
  }
  addEventListener("popstate", ({ state }) => {
    gleanvid.flushAddress();
    if (!state?.clip || state.clip === clip) return;
    returning = state.clip;
    (document.getElementById(`gv-example-${nameOf(returning)}`)
      ?? [...document.querySelectorAll(".gv-shelf [data-clip]")].find(({ dataset }) => dataset.clip === returning))?.click();
  });

  // The example that was pressed last: marked at once, before Gradio handles the press.
  document.addEventListener("click", ({ target }) => {
    const name = target.closest?.("[id^=gv-example-]")?.id.replace("gv-example-", "");
    if (name) gleanvid.chooseClip(examples.find((path) => nameOf(path) === name));
  }, true);
  gleanvid.chooseExample = () => clip;
  gleanvid.holdClip = (file) => gleanvid.chooseClip(file?.path);
  // Name of the chosen clip, or else of the clip in the viewer. If this clip has no thumbnail, the upload button
  // shows its name.
  let marked = "";
  gleanvid.markClip = () => { if (marked) mark(marked); };
  function mark(name) {
    marked = name;
    const isMeant = ({ dataset: { clip } }) => nameOf(clip) === name;
    const example = own === "" ? document.getElementById(`gv-example-${name}`)
      : [...document.querySelectorAll(".gv-shelf [data-clip]")].find(isMeant) ?? null;
    const upload = document.getElementById("gv-upload");
    if (!upload) return; // this page has the viewer but no uploads
    const chosen = example ?? (own === null ? null : upload);
    upload.title = chosen === upload ? own || name : "";
    upload.textContent = upload.title || "Upload a clip";
    for (const button of document.querySelectorAll(".gv-examples button")) {
      for (const icon of button.querySelectorAll("img")) icon.alt = ""; // Gradio repeats the button's text there
      if (button === chosen) button.setAttribute("aria-current", "true");
      else button.removeAttribute("aria-current");
    }
  }
  document.addEventListener("gleanvid:unit", ({ detail }) => { if (detail.name) mark(detail.name); });

})(window.gleanvid ??= {});
