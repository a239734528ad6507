// The token viewer. Runs once per mount with `element`, `props` and `watch` in scope; paints with
// viewer_paint.js. One variable says which frame is on the glass, and all parts read that one.
// Text from outside is only ever set as textContent.

const find = (selector) => element.querySelector(selector);
const root = find(".gv-viewer");
const [frameCanvas, stage, card] = [find(".gv-frame"), find(".gv-stage"), find(".gv-card")];
const [scrub, play, caption] = [find(".gv-scrub"), find(".gv-play"), find(".gv-caption")];
const LEGENDS = {
  kept: "bright: tokens the model was given, dark: tokens dropped before it",
  heat: "of every token, from dark (low) to yellow (high)",
  outline: "blue border: around the tokens that were kept",
  original: "the frame as it was sampled",
};
const ICONS = { play: "M4 2.5v11l9-5.5z", pause: "M4 2.5h3v11H4zM9 2.5h3v11H9z" };

let clip = null; // what is on show: the value, its sheet and the masks and scores of every method
let frame = 0;
let hovered = -1; // token under the pointer
let timer = null;
let loads = 0;
let queued = false;
let colours = {};

function readColours() {
  const style = getComputedStyle(root);
  for (const name of ["kept", "novelty", "cursor", "track", "axis", "even"]) {
    colours[name] = style.getPropertyValue(`--gv-${name}`).trim();
  }
}

async function fetchBlob(file) {
  const reply = await fetch(file.url);
  if (!reply.ok) throw new Error(`${reply.status}`);
  return reply.blob();
}

function unpack(value, bytes) {
  const total = value.grid[0] * value.grid[1] * value.grid[2];
  return value.methods.map((method) => {
    let offset = method.offset;
    const bits = bytes.subarray(offset, (offset += Math.ceil(total / 8)));
    const scores = method.channels.map((channel) => ({
      ...channel,
      steps: bytes.subarray(offset, (offset += total)),
    }));
    return { ...method, scores, kept: (n) => (bits[n >> 3] >> (7 - (n & 7))) & 1 };
  });
}

async function load(value) {
  const turn = ++loads;
  if (!value || !value.sheet) {
    clip = null;
    stopPlaying();
    root.dataset.state = "empty";
    find(".gv-blank").textContent = "The tokens of your clip appear here.";
    return;
  }
  try {
    const same = clip && clip.value.sheet.url === value.sheet.url;
    const [sheet, data] = await Promise.all([
      same ? clip.sheet : fetchBlob(value.sheet).then((blob) => createImageBitmap(blob)),
      fetchBlob(value.data).then((blob) => blob.arrayBuffer()),
    ]);
    if (turn !== loads) return;
    clip = { value, sheet, methods: unpack(value, new Uint8Array(data)) };
    if (!same) stopPlaying();
    frame = same ? Math.min(frame, value.tiles.count - 1) : Math.floor(value.tiles.count / 2);
    const heat = find("input[value=heat]");
    heat.disabled = !method().scores.length;
    if (heat.disabled && heat.checked) find("input[value=kept]").checked = true;
    scrub.max = value.tiles.count - 1;
    root.dataset.state = "ready";
    showFrame(frame);
  } catch (error) {
    if (turn !== loads) return;
    clip = null;
    root.dataset.state = "empty";
    find(".gv-blank").textContent = "This result is no longer on the server. Run it again.";
  }
}

const method = () => clip.methods[0];
const unit = () => clip.value.units[frame];
const perUnit = () => clip.value.grid[1] * clip.value.grid[2];
const mode = () => find("input[name=gv-view]:checked").value;

function showFrame(next) {
  if (!clip) return;
  frame = Math.max(0, Math.min(next, clip.value.tiles.count - 1));
  scrub.value = frame;
  redraw();
}

function redraw() {
  if (queued || !clip) return;
  queued = true;
  requestAnimationFrame(() => {
    queued = false;
    if (clip && element.isConnected && stage.clientWidth) draw();
  });
}

function tokenBox(width, height) {
  const [left, top, right, bottom] = clip.value.area;
  return {
    left: left * width,
    top: top * height,
    width: (right - left) * width,
    height: (bottom - top) * height,
  };
}

function frameSize() {
  const { width, height } = clip.value.tiles;
  const tallest = Math.max(220, Math.min(440, window.innerHeight * 0.42));
  const scale = Math.min(stage.clientWidth / width, tallest / height);
  return [Math.round(width * scale), Math.round(height * scale)];
}

function draw() {
  const [width, height] = frameSize();
  Object.assign(frameCanvas.style, { width: `${width}px`, height: `${height}px` });
  const context = fitCanvas(frameCanvas, width, height);
  paintFrame(context, clip.sheet, clip.value.tiles, frame, width, height);
  drawTokens(context, tokenBox(width, height));
  drawStrips();
  describe();
}

function drawTokens(context, box) {
  const [, rows, columns] = clip.value.grid;
  const first = unit() * perUnit();
  const kept = (n) => method().kept(first + n);
  const strength = find(".gv-strength input").value / 100;
  const heat = method().scores[0];
  if (mode() === "kept") {
    paintCells(context, rows, columns, box, (n) => [...DROPPED, kept(n) ? 0 : strength]);
    context.globalAlpha = strength;
    paintOutline(context, rows, columns, box, kept, [["rgb(255 255 255 / 55%)", 1]]);
  } else if (mode() === "heat" && heat) {
    paintCells(context, rows, columns, box, (n) => [...MAGMA[heat.steps[first + n]], strength]);
  } else if (mode() === "outline") {
    context.globalAlpha = strength;
    paintOutline(context, rows, columns, box, kept, [["#fff", 3.5], [colours.kept, 2]]);
  }
  context.globalAlpha = 1;
  if (hovered >= 0) paintToken(context, rows, columns, box, hovered);
}

const strips = {
  budget: (m) => ({ values: m.budgets, bar: colours.kept, even: m.uniform, digits: 0 }),
  novelty: (m) => ({ values: m.novelty, bar: colours.novelty, even: null, digits: null }),
};

function drawStrips() {
  for (const figure of element.querySelectorAll(".gv-strip")) {
    const { values, bar, even, digits } = strips[figure.dataset.strip](method());
    figure.hidden = !values;
    if (!values) continue;
    const canvas = figure.querySelector("canvas");
    const context = fitCanvas(canvas, canvas.clientWidth, canvas.clientHeight);
    const { cursor, track, axis, even: line } = colours;
    const style = { bar, cursor, track, axis, even: line };
    paintBars(context, canvas.clientWidth, canvas.clientHeight, values, unit(), style, even);
    figure.querySelector("output").textContent = digits === null
      ? Number(values[unit()].toPrecision(3)).toLocaleString("en")
      : values[unit()].toFixed(digits);
    const label = figure.querySelector(".gv-line");
    if (label) label.textContent = `┄ uniform B/T = ${even.toFixed(1)}`;
  }
}

function describe() {
  const { tiles, seconds, grid } = clip.value;
  const kept = `${method().budgets[unit()]} of ${perUnit()} tokens kept`;
  const step = grid[0] === tiles.count ? "" : ` · unit ${unit() + 1} of ${grid[0]}`;
  const text = `Frame ${frame + 1} of ${tiles.count} · ${seconds[frame].toFixed(2)} s${step} · ${kept}`;
  scrub.setAttribute("aria-valuetext", text);
  caption.textContent = text;
  const score = mode() === "heat" ? `${method().scores[0].label} ` : "";
  find(".gv-legend").textContent = `${method().label} · ${score}${LEGENDS[mode()]}`;
}

// The card beside the pointer: what happened to one token, and why.
function describeToken(event) {
  if (!clip) return;
  const canvas = frameCanvas.getBoundingClientRect();
  const box = tokenBox(canvas.width, canvas.height);
  const [, rows, columns] = clip.value.grid;
  const column = Math.floor(((event.clientX - canvas.left - box.left) / box.width) * columns);
  const row = Math.floor(((event.clientY - canvas.top - box.top) / box.height) * rows);
  if (column < 0 || row < 0 || column >= columns || row >= rows) return leaveToken();
  hovered = row * columns + column;
  card.replaceChildren(...tokenLines(row, column).map(([text, kind]) => {
    const line = document.createElement("div");
    Object.assign(line, { textContent: text, className: kind });
    return line;
  }));
  card.hidden = false;
  const frameOnPage = stage.getBoundingClientRect();
  const [x, y] = [event.clientX - frameOnPage.left, event.clientY - frameOnPage.top];
  const flip = x + 24 + card.offsetWidth > frameOnPage.width;
  card.style.left = `${Math.max(4, flip ? x - card.offsetWidth - 16 : x + 16)}px`;
  card.style.top = `${Math.max(4, Math.min(y + 12, frameOnPage.height - card.offsetHeight - 4))}px`;
  redraw();
}

function tokenLines(row, column) {
  const first = unit() * perUnit();
  const token = first + hovered;
  const kept = method().kept(token);
  const lines = [
    [kept ? "● Kept" : "○ Dropped", kept ? "gv-kept" : "gv-dropped"],
    [`row ${row + 1}, column ${column + 1} · ${clip.value.seconds[frame].toFixed(2)} s`, "gv-faint"],
  ];
  for (const { label, steps, low, high } of method().scores) {
    const value = low + (steps[token] / 255) * (high - low);
    lines.push([`${label} ${Number(value.toPrecision(3))}`, ""]);
  }
  const [best] = method().scores;
  if (best) {
    const better = best.steps.subarray(first, first + perUnit()).filter((s) => s > best.steps[token]);
    lines.push([`rank ${better.length + 1} of ${perUnit()} in this unit`, ""]);
  }
  return lines;
}

function leaveToken() {
  hovered = -1;
  card.hidden = true;
  redraw();
}

function stopPlaying() {
  clearTimeout(timer);
  timer = null;
  play.setAttribute("aria-label", "Play");
  play.querySelector("path").setAttribute("d", ICONS.play);
}

function tick() {
  if (!element.isConnected || !clip) return stopPlaying();
  const { tiles, seconds } = clip.value;
  const next = (frame + 1) % tiles.count;
  showFrame(next);
  const gap = next + 1 < tiles.count ? seconds[next + 1] - seconds[next] : 0.6;
  timer = setTimeout(tick, 1000 * Math.max(0.08, Math.min(gap, 0.6)));
}

function togglePlaying() {
  if (timer) return stopPlaying();
  play.setAttribute("aria-label", "Pause");
  play.querySelector("path").setAttribute("d", ICONS.pause);
  tick();
}

function seekFromStrip(event) {
  if (!clip || (event.type === "pointermove" && !event.buttons)) return;
  const box = event.currentTarget.getBoundingClientRect();
  const share = Math.max(0, Math.min((event.clientX - box.left) / box.width, 0.9999));
  stopPlaying();
  showFrame(clip.value.units.indexOf(Math.floor(share * clip.value.grid[0])));
}

scrub.addEventListener("input", () => { stopPlaying(); showFrame(Number(scrub.value)); });
play.addEventListener("click", togglePlaying);
for (const input of element.querySelectorAll(".gv-tools input")) input.addEventListener("input", redraw);
for (const canvas of element.querySelectorAll(".gv-strip canvas")) {
  canvas.addEventListener("pointerdown", seekFromStrip);
  canvas.addEventListener("pointermove", seekFromStrip);
}
frameCanvas.addEventListener("pointermove", describeToken);
frameCanvas.addEventListener("pointerdown", (event) => { describeToken(event); scrub.focus(); });
frameCanvas.addEventListener("pointerleave", leaveToken);
new ResizeObserver(redraw).observe(stage);
new MutationObserver(() => { readColours(); redraw(); })
  .observe(document.body, { attributes: true, attributeFilter: ["class"] });

readColours();
watch("value", () => load(props.value));
load(props.value);
