// Files that the page hands to its visitor, and tabs that are drawn only while they are seen.
((gleanvid) => {
  let fetched = "";

  // The file that was written last is downloaded by itself, once.
  gleanvid.fetchFile = () => new Promise((done) => {
    setTimeout(() => {
      const link = document.querySelector("#gv-file a[download]");
      if (link && link.href !== fetched) link.click();
      fetched = link?.href;
      done([]);
    }, 400);
  });

  gleanvid.saveFrames = (address) => async () => {
    const { saveFrames } = await import(gleanvid.fromRoot(address));
    return { text: await saveFrames(), kind: "problem" };
  };

  // Addresses of the server start below its root, which a proxy may have moved.
  gleanvid.fromRoot = (address) => `${window.gradio_config?.root ?? ""}/${address}`;

  // Press a hidden button if the tab that holds `part` is open.
  gleanvid.drawSeen = (part, button) => () => {
    const panel = document.getElementById(part)?.closest("[role=tabpanel]");
    if (panel?.checkVisibility()) document.getElementById(button).click();
  };
})(window.gleanvid ??= {});
