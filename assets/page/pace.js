// Of moves in quick succession one is shown at a time: when it is there, the newest follows. The last
// one follows as soon as the pointer is released. The others fail, and Gradio ends their event there.
(() => {
  const [PRESSED_MS, PATIENCE_MS] = [40, 1000]; // a press is often a click: its release says more
  let [newest, shown, isDown] = [0, true, false];
  let go = () => {};
  addEventListener("pointerdown", () => { isDown = true; }, true);
  for (const end of ["pointerup", "pointercancel"])
    addEventListener(end, () => { isDown = false; go(); }, true);

  window.gvPace = async () => {
    const mine = ++newest;
    const wait = !shown ? PATIENCE_MS : isDown ? PRESSED_MS : 0;
    if (wait > 0) await new Promise((done) => { go = done; setTimeout(done, wait); });
    if (mine !== newest) throw new Error("a newer one comes");
    shown = false;
  };
  window.gvShown = () => { shown = true; go(); };
})();
