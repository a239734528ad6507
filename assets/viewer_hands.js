// Hands on the viewer: pointer, touch and keyboard, playing, and the rest of the page. Last of the
// viewer's files; it ends by loading what is there.

// Spoken by screen readers once things have settled, never on every frame of a drag.
let speech = null;
function say(text) {
  clearTimeout(speech);
  speech = setTimeout(() => { find(".gv-live").textContent = text; }, 250);
}
const sayFrame = () => say(frameWords(shownNow()));

// --- one token: the card beside it, and the pin -------------------------------------------------

function tokenUnder(event) {
  const canvas = frameCanvas.getBoundingClientRect();
  const grid = gridBox();
  const column = Math.floor(((event.clientX - canvas.left - grid.left) / grid.width) * grid.columns);
  const row = Math.floor(((event.clientY - canvas.top - grid.top) / grid.height) * grid.rows);
  const inside = column >= 0 && row >= 0 && column < grid.columns && row < grid.rows;
  return inside ? row * grid.columns + column : -1;
}

function hover(place, x, y) {
  view.hovered = place;
  if (place < 0) return leave();
  const shown = shownNow();
  card.replaceChildren(...tokenLines(shown, shown.first + place).map(([text, kind]) => make("div", kind, text)));
  card.hidden = false;
  const flip = x + 24 + card.offsetWidth > stage.clientWidth;
  const left = flip ? x - card.offsetWidth - 16 : x + 16;
  const top = Math.min(y + 12, stage.clientHeight - card.offsetHeight - 4);
  Object.assign(card.style, { left: `${Math.max(4, left)}px`, top: `${Math.max(4, top)}px` });
  redraw();
}

function hoverAt(event) {
  if (!view.clip || event.pointerType === "touch") return;
  const box = stage.getBoundingClientRect();
  hover(tokenUnder(event), event.clientX - box.left, event.clientY - box.top);
}

function leave() {
  view.hovered = -1;
  card.hidden = true;
  redraw();
}

function pin(token) {
  view.pinned = token === view.pinned ? -1 : token;
  showPin(shownNow());
  redraw();
  say(view.pinned < 0 ? "Unpinned." : find(".gv-pin").innerText);
}

function showPin(shown) {
  const { clip, a } = shown;
  const pinned = view.pinned;
  view.alike = pinned >= 0 && clip.sketch ? mostAlike(clip, a, pinned) : [];
  find(".gv-pin").hidden = pinned < 0;
  if (pinned < 0) return;
  describePin(shown, pinned, view.alike, visit, () => { pin(pinned); frameCanvas.focus(); });
}

function visit(token) {
  stopPlaying();
  showFrame(firstFrame(view.clip, placeOf(view.clip, token).unit));
  sayFrame();
}

// --- time -----------------------------------------------------------------------------------------

function stopPlaying() {
  clearTimeout(timer);
  timer = null;
  setPlayButton("Play");
}

function setPlayButton(name) {
  play.setAttribute("aria-label", name);
  play.querySelector("path").setAttribute("d", ICONS[name.toLowerCase()]);
}

function tick() {
  if (!element.isConnected || !view.clip) return stopPlaying();
  const { tiles, seconds } = view.clip.value;
  const next = (view.frame + 1) % tiles.count;
  showFrame(next);
  const gap = next + 1 < tiles.count ? seconds[next + 1] - seconds[next] : 0.6;
  timer = setTimeout(tick, 1000 * Math.max(0.08, Math.min(gap, 0.6)));
}

function togglePlaying() {
  if (timer) return stopPlaying();
  setPlayButton("Pause");
  tick();
}

function step(next) {
  stopPlaying();
  showFrame(next);
  sayFrame();
}

function seekFromStrip(event) {
  if (!view.clip || (event.type === "pointermove" && !event.buttons)) return;
  const box = event.currentTarget.getBoundingClientRect();
  const share = Math.max(0, Math.min((event.clientX - box.left) / box.width, 0.9999));
  stopPlaying();
  showFrame(firstFrame(view.clip, Math.floor(share * view.clip.units)));
}

// --- keys -----------------------------------------------------------------------------------------

const next = (list, value, by = 1) => list[(list.indexOf(value) + by + list.length) % list.length];

const KEYS = {
  ArrowLeft: () => step(view.frame - 1),
  ArrowRight: () => step(view.frame + 1),
  ArrowDown: () => step(view.frame - 1),
  ArrowUp: () => step(view.frame + 1),
  PageDown: () => step(view.frame - 10),
  PageUp: () => step(view.frame + 10),
  Home: () => step(0),
  End: () => step(view.clip.value.tiles.count - 1),
  " ": togglePlaying,
  Enter: () => {
    const { first } = shownNow();
    if (view.hovered >= 0) pin(first + view.hovered);
    else if (view.pinned >= 0) pin(view.pinned);
  },
  Escape: () => { if (view.pinned >= 0) pin(view.pinned); leave(); },
  "+": () => fade(5),
  "=": () => fade(5),
  "-": () => fade(-5),
  a: (by) => cycle("a", by),
  b: (by) => cycle("b", by),
  s: (by) => cycle("score", by),
  l: (by) => cycle("layer", by),
};

function fade(by) {
  strength.value = Number(strength.value) + by;
  redraw();
  say(`Overlay ${strength.value} %`);
}

// The next choice of a list, as a hand on it would make it.
function cycle(name, by) {
  const select = pick(name);
  const values = [...select.options].map((option) => option.value);
  if (values.length < 2) return say(name === "b" ? missing("ab") : "There is no other choice.");
  select.value = next(values, select.value, by);
  if (name === "score") view.kind = "heat";
  choose(name, select.value);
  say(`${select.previousElementSibling.textContent}: ${pick(name).selectedOptions[0].textContent}`);
}

function choose(name, value) {
  if (name === "score") view.score = value;
  if (name === "layer") view.layer = Number(value);
  if (name === "score" || name === "layer") return refresh();
  const index = value === "" ? null : Number(value);
  // A choice that the other side has makes them swap.
  if (name === "b") choosePair(index === view.a && view.b !== null ? view.b : view.a, index);
  else choosePair(index, index === view.b ? view.a : view.b);
}

// Shift with an arrow walks over the tokens of the frame.
function walk(key) {
  const { rows, columns, perUnit } = view.clip;
  const middle = Math.floor(rows / 2) * columns + Math.floor(columns / 2);
  const from = view.hovered >= 0 ? view.hovered : view.pinned >= 0 ? view.pinned % perUnit : middle;
  const [right, down] = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[key];
  const column = Math.max(0, Math.min(columns - 1, (from % columns) + right));
  const row = Math.max(0, Math.min(rows - 1, Math.floor(from / columns) + down));
  const [x, y, w, h] = boxOf(gridBox(), row * columns + column);
  hover(row * columns + column, frameCanvas.offsetLeft + x + w, frameCanvas.offsetTop + y + h);
  say([...card.children].map((line) => line.textContent).join(", "));
}

function onKey(event) {
  if (!view.clip || event.ctrlKey || event.metaKey || event.altKey) return;
  const { key, target, shiftKey } = event;
  const native = target.matches("select, input[type=radio], .gv-strength input");
  if (native && /^(Arrow|Page|Home|End| $|Enter)/.test(key)) return;
  if (target.matches("select") && key !== "Escape") return; // letters choose in a list
  if (target.matches("button") && (key === " " || key === "Enter")) return;
  if (shiftKey && key.startsWith("Arrow")) walk(key);
  else if (/^[1-6]$/.test(key)) { chooseView(KINDS[key - 1]); sayView(Number(key)); }
  else if (KEYS[key.length === 1 ? key.toLowerCase() : key]) KEYS[key.length === 1 ? key.toLowerCase() : key](shiftKey ? -1 : 1);
  else return;
  event.preventDefault();
}

function sayView(number) {
  if (view.kind === KINDS[number - 1]) say(find(".gv-what").textContent);
}

// --- wiring -----------------------------------------------------------------------------------------

root.addEventListener("keydown", onKey);
scrub.addEventListener("input", () => { stopPlaying(); showFrame(Number(scrub.value)); });
play.addEventListener("click", togglePlaying);
strength.addEventListener("input", redraw);
for (const input of element.querySelectorAll(".gv-views input")) input.addEventListener("input", () => chooseView(input.value));
for (const name of ["a", "b", "layer", "score"]) pick(name).addEventListener("change", () => choose(name, pick(name).value));
for (const { canvas } of strips) {
  canvas.addEventListener("pointerdown", (event) => { seekFromStrip(event); scrub.focus({ preventScroll: true }); });
  canvas.addEventListener("pointermove", seekFromStrip);
}
frameCanvas.addEventListener("pointermove", hoverAt);
frameCanvas.addEventListener("pointerleave", leave);
frameCanvas.addEventListener("click", (event) => {
  if (!view.clip) return;
  const place = tokenUnder(event);
  if (place >= 0) pin(shownNow().first + place);
});
new ResizeObserver(measure).observe(stage);
new MutationObserver(measure).observe(document.body, { attributes: true, attributeFilter: ["class"] });

// "gleanvid:unit" {unit or seconds, source} moves the viewer, "gleanvid:pair" {a, b, source} chooses
// its compressors by place or label. The viewer sends both itself, with the source "viewer".
const mounted = new AbortController();
function hear(name, act) {
  document.addEventListener(name, ({ detail }) => {
    if (!element.isConnected) return mounted.abort();
    if (view.clip && detail && detail.source !== "viewer") act(detail);
  }, { signal: mounted.signal });
}
hear("gleanvid:unit", (detail) => {
  const { unit = unitAt(view.clip, detail.seconds) } = detail;
  if (!Number.isInteger(unit) || unit < 0 || unit >= view.clip.units) return;
  if (unit === view.clip.value.units[view.frame]) return;
  stopPlaying();
  showFrame(firstFrame(view.clip, unit));
});
hear("gleanvid:pair", (detail) => {
  for (const side of ["a", "b"]) {
    if (detail[side] === undefined) continue;
    const { methods } = view.clip;
    const place = methods.findIndex(({ label }, index) => label === detail[side] || index === detail[side]);
    if (place >= 0) choose(side, place);
    else if (side === "b" && detail.b === null) choosePair(view.a, null);
  }
});

measure();
watch("value", () => load(props.value));
load(props.value);
