// The chosen clip: written to the address if it is an example, and marked in the row of clips.
((gleanvid) => {
  const nameOf = (path) => path.split("/").pop();
  const shortened = (path) => path.split("/").slice(-2).join("/");
  let examples = []; // folder and name of each; the first one needs no word in the address
  let own = ""; // name of an uploaded clip; "" for an example, null for no clip at all

  // Mark the opening clip at once: the viewer that would report it may be in a tab that is not open.
  gleanvid.nameExamples = (paths) => {
    examples = paths;
    const names = paths.map(nameOf);
    const linked = new URLSearchParams(location.search).get("clip");
    if (names.length) mark(names.includes(linked) ? linked : names[0]);
  };
  gleanvid.hasOwnClip = () => own !== "";

  gleanvid.chooseClip = (path = "") => {
    const clip = shortened(path);
    const isExample = examples.includes(clip);
    own = isExample ? "" : nameOf(clip) || null;
    gleanvid.tellSetting("clip", clip);
    gleanvid.writeAddress("clip", isExample && clip !== examples[0] ? nameOf(clip) : "");
    mark(nameOf(clip));
  };

  gleanvid.chooseExample = (path) => () => gleanvid.chooseClip(path);
  gleanvid.holdClip = (file) => gleanvid.chooseClip(file?.path);
  gleanvid.askAbout = (file) => {
    gleanvid.holdClip(file);
    document.getElementById("gv-ask").click();
  };

  // The clip that was chosen, else the one in the viewer. If it has no thumbnail, the upload button
  // shows its name.
  let marked = "";
  gleanvid.markClip = () => { if (marked) mark(marked); };
  function mark(name) {
    marked = name;
    const picture = own === "" ? document.getElementById(`gv-example-${name}`)
      : [...document.querySelectorAll(".gv-shelf [data-clip]")].find(({ dataset }) => nameOf(dataset.clip) === name);
    const example = picture ?? null;
    const upload = document.getElementById("gv-upload");
    if (!upload) return; // a viewer on another page
    const chosen = example ?? (own === null ? null : upload);
    const before = document.querySelector(".gv-examples [aria-current]");
    upload.title = chosen === upload ? own || name : "";
    upload.textContent = upload.title || "Upload your own";
    for (const button of document.querySelectorAll(".gv-examples button")) {
      if (button === chosen) button.setAttribute("aria-current", "true");
      else button.removeAttribute("aria-current");
    }
    if (chosen && chosen !== before) show(chosen);
  }
  document.addEventListener("gleanvid:unit", ({ detail }) => { if (detail.name) mark(detail.name); });

  // The row scrolls where it is wider than the page; the page itself stays where it is.
  function show(button) {
    const row = button.closest(".gv-examples");
    const [inner, outer] = [button.getBoundingClientRect(), row.getBoundingClientRect()];
    const FADE = 40; // pixels at both ends of the row that fade; see style.css
    if (inner.left < outer.left) row.scrollLeft += inner.left - outer.left - FADE;
    else if (inner.right > outer.right) row.scrollLeft += Math.min(inner.right - outer.right + FADE, inner.left - outer.left);
  }
})(window.gleanvid ??= {});
