// Downloads of exported files, and tabs that are drawn only while they are open.
((gleanvid) => {
  let fetched = "";
  let kind = ""; // of the file whose button was pressed last

  // All exports share one download link: while a file is being written, the export buttons do nothing.
  const setWriting = (isWriting) => {
    for (const button of document.querySelectorAll(".gv-export")) button.ariaDisabled = isWriting ? "true" : null;
  };
  document.addEventListener("click", (event) => {
    const button = event.target.closest?.(".gv-export");
    if (button?.ariaDisabled === "true") event.stopImmediatePropagation();
    else if (button) {
      kind = button.id.replace("gv-export-", "");
      setWriting(true);
    }
  }, true);

  // Download the newest exported file once, without another click.
  gleanvid.fetchFile = () => new Promise((done) => {
    setTimeout(() => {
      const link = document.querySelector("#gv-file a[download]");
      if (link && link.href !== fetched) link.click();
      fetched = link?.href;
      setWriting(false);
      done([]);
    }, 400);
  });

  gleanvid.saveFrames = (name) => async () => {
    const { saveFrames } = await gleanvid.part(name);
    return { text: await saveFrames(), kind: "problem" };
  };

  // Fill the fourth input of an export: the kind of file, and the runs that have curves in the viewer.
  gleanvid.pickRuns = (...inputs) => inputs.toSpliced(3, 1, [kind, ...gleanvid.drawnRuns ?? []].join(" "));

  // Prefix an address with the root path of the app, which a reverse proxy may have set.
  gleanvid.fromRoot = (address) => `${window.gradio_config?.root ?? ""}/${address}`;

  // Ask the server to fill `part` if its tab is open.
  gleanvid.signalSeen = (part, name) => () => {
    const panel = document.getElementById(part)?.closest("[role=tabpanel]");
    if (panel?.checkVisibility()) gleanvid.signal(name);
  };
})(window.gleanvid ??= {});
