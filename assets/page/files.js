// Downloads of exported files, and tabs that are drawn only while they are open.
((gleanvid) => {
  let fetched = "";

  // Download the newest exported file once, without another click.
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

  // Prefix an address with the root path of the app, which a reverse proxy may have set.
  gleanvid.fromRoot = (address) => `${window.gradio_config?.root ?? ""}/${address}`;

  // Press a hidden button if the tab that holds `part` is open.
  gleanvid.drawSeen = (part, button) => () => {
    const panel = document.getElementById(part)?.closest("[role=tabpanel]");
    if (panel?.checkVisibility()) document.getElementById(button).click();
  };
})(window.gleanvid ??= {});
