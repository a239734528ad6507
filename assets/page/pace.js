// Of moves in quick succession one is shown at a time: when it is there, the newest follows. The last
// one follows as soon as the pointer is released. The others fail, and Gradio ends their event there.
// What takes longer than a moment is said: the viewer hears that it is behind the settings.
(() => {
  const [PRESSED_MS, PATIENCE_MS] = [40, 1000]; // a press is often a click: its release says more
  const MOMENT_MS = 400;
  let [newest, sent, shown, isDown] = [0, 0, true, false];
  let go = () => {};
  addEventListener("pointerdown", () => { isDown = true; }, true);
  for (const end of ["pointerup", "pointercancel"])
    addEventListener(end, () => { isDown = false; go(); }, true);

  const isBehind = () => !shown || sent < newest;
  const tell = () => {
    document.dispatchEvent(new CustomEvent("gleanvid:behind", { detail: { isBehind: isBehind() } }));
  };

  window.gvPace = async () => {
    const mine = ++newest;
    setTimeout(() => { if (isBehind()) tell(); }, MOMENT_MS);
    const wait = !shown ? PATIENCE_MS : isDown ? PRESSED_MS : 0;
    if (wait > 0) await new Promise((done) => { go = done; setTimeout(done, wait); });
    if (mine !== newest) throw new Error("a newer one comes");
    sent = mine;
    shown = false;
  };
  window.gvShown = () => {
    shown = true;
    if (!isBehind()) tell();
    go();
  };
})();
