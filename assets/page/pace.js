// Of many calls in quick succession the first passes at once, then the newest of a while, and the
// last one as soon as the pointer is released. The others fail, and Gradio lets their event end there.
(() => {
  const [DRAGGED, FREE] = [60, 30]; // milliseconds from one to the next
  let [newest, passed, isDown] = [0, -Infinity, false];
  let hasten = () => {};
  addEventListener("pointerdown", () => { isDown = true; }, true);
  for (const end of ["pointerup", "pointercancel"])
    addEventListener(end, () => { isDown = false; hasten(); }, true);

  window.gvPace = async () => {
    const mine = ++newest;
    const wait = passed + (isDown ? DRAGGED : FREE) - performance.now();
    if (wait > 0) await new Promise((done) => { hasten = done; setTimeout(done, wait); });
    if (mine !== newest) throw new Error("a newer one comes");
    passed = performance.now();
  };
})();
