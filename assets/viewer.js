// The token viewer. Runs once per mount with `element`, `props` and `watch` in scope, after the
// other viewer_*.js. `view` is all its state: whatever is on the page is drawn from it.

const find = (selector) => element.querySelector(selector);
const root = find(".gv-viewer");
const [frameCanvas, stage, card] = [find(".gv-frame"), find(".gv-stage"), find(".gv-card")];
const [scrub, play, caption] = [find(".gv-scrub"), find(".gv-play"), find(".gv-caption")];
const strength = find(".gv-strength input");
const pick = (name) => find(`[data-pick=${name}] select`);
const KINDS = ["kept", "heat", "outline", "ab", "groups", "original"];
const ICONS = { play: "M4 2.5v11l9-5.5z", pause: "M4 2.5h3v11H4zM9 2.5h3v11H9z" };
const EMPTY = "The tokens of your clip appear here.";
const GONE = "This result is no longer on the server. Run it again.";

const view = {
  clip: null, // what unpackClip made, with its sheet
  frame: 0,
  kind: "kept",
  a: 0,
  b: null,
  layer: 0,
  score: null, // name of the score on show
  hovered: -1, // place in the unit of the token under the pointer or the keyboard
  pinned: -1, // token in the whole grid
  alike: [],
};
let timer = null;
let loads = 0;
let queued = false;
let told = -1; // the unit that the rest of the page was told of last
let colours = {};
let size = [0, 0];

async function fetched(file) {
  const reply = await fetch(file.url);
  if (!reply.ok) throw new Error(`${reply.status}`);
  return reply;
}

async function load(value) {
  window.gvKeep?.("shown", value?.runs ?? []);
  const turn = ++loads;
  if (!value || !value.sheet) return clear(EMPTY);
  const held = view.clip;
  const same = held?.value.sheet.url === value.sheet.url;
  if (same && held.value.data.url === value.data.url) {
    const asked = held.value.a !== value.a || held.value.b !== value.b;
    held.value = value;
    return asked ? choosePair(value.a, value.b) : undefined;
  }
  try {
    const [sheet, data] = await Promise.all([
      same ? held.sheet : fetched(value.sheet).then((r) => r.blob()).then((b) => createImageBitmap(b)),
      fetched(value.data).then((reply) => reply.arrayBuffer()),
    ]);
    if (turn !== loads) return;
    begin({ ...unpackClip(value, data), sheet }, same && `${held.value.grid}` === `${value.grid}`);
  } catch (error) {
    if (turn === loads) clear(GONE);
  }
}

function clear(text) {
  view.clip = null;
  stopPlaying();
  root.dataset.state = "empty";
  find(".gv-blank").textContent = text;
}

// Show a clip: what was looked at stays in place where it is the same clip under other settings.
function begin(clip, same) {
  view.clip = clip;
  const { tiles, a, b } = clip.value;
  if (!same) {
    stopPlaying();
    Object.assign(view, { frame: Math.floor(tiles.count / 2), hovered: -1, pinned: -1 });
  }
  scrub.max = tiles.count - 1;
  told = -1;
  root.dataset.state = "ready";
  choosePair(a, b);
  measure();
}

// Choose the compressors on show, by place in the list; `b` may be null.
function choosePair(a, b) {
  const { methods } = view.clip;
  const valid = (index) => Number.isInteger(index) && index >= 0 && index < methods.length;
  view.a = valid(a) ? a : 0;
  view.b = valid(b) && b !== view.a ? b : null;
  const chosen = [view.a, view.b].filter((index) => index !== null);
  view.layer = Math.max(...chosen.map((index) => methods[index].first));
  refresh();
}

// What everything on the page is drawn from: the state with the stages it points at.
function shownNow() {
  const { clip, frame } = view;
  const [methodA, methodB] = [clip.methods[view.a], clip.methods[view.b] ?? null];
  const a = stageAt(methodA, view.layer);
  const unit = clip.value.units[frame];
  const first = unit * clip.perUnit;
  return {
    clip, frame, unit, first, methodA, methodB, a,
    kind: view.kind,
    layer: view.layer,
    b: methodB && stageAt(methodB, view.layer),
    score: a.scores.find((score) => score.name === view.score) ?? a.scores[0] ?? null,
    strength: strength.value / 100,
    focus: view.hovered >= 0 ? first + view.hovered : view.pinned,
  };
}

// Why a view has nothing to show, or "".
function missing(kind) {
  const { a } = shownNow();
  if (kind === "heat" && !a.scores.length) return "This compressor gives its tokens no score.";
  if (kind === "ab" && view.clip.methods.length < 2) return "A/B needs a second compressor: run Compare.";
  if (kind === "groups" && !a.merges) return "This compressor merges nothing: it keeps tokens or drops them.";
  return "";
}

function chooseView(kind) {
  if (!view.clip) return;
  const problem = missing(kind);
  if (problem) return say(problem);
  view.kind = kind;
  if (kind === "ab" && view.b === null) return choosePair(view.a, view.a ? 0 : 1);
  refresh();
}

// After a change of clip, compressor, layer, score or view: controls, words, picture.
function refresh() {
  if (missing(view.kind) || (view.kind === "ab" && view.b === null)) view.kind = "kept";
  for (const kind of KINDS) {
    const radio = find(`input[value=${kind}]`);
    Object.assign(radio, { checked: kind === view.kind, disabled: Boolean(missing(kind)) });
    radio.parentElement.title = missing(kind);
  }
  const shown = shownNow();
  root.dataset.shown = shown.b ? "pair" : "one";
  fillPicks(shown);
  describeView(shown);
  describeStrips(shown);
  showPin(shown);
  redraw();
  const pair = { a: shown.methodA.label, b: shown.methodB?.label ?? null, source: "viewer" };
  document.dispatchEvent(new CustomEvent("gleanvid:pair", { detail: pair }));
}

function fillPicks({ clip, methodA, methodB, a, score }) {
  const methods = clip.methods.map((method, index) => [index, method.label]);
  fill("a", methods, view.a, true);
  fill("b", [["", "none"], ...methods.filter(([index]) => index !== view.a)], view.b ?? "", methods.length > 1);
  const layers = layersOf([methodA, methodB].filter(Boolean)).map((layer) => [layer, layer ? `before layer ${layer}` : "entering the model"]);
  fill("layer", layers, layers.findLast(([layer]) => layer <= view.layer)[0], layers.length > 1);
  fill("score", a.scores.map(({ name, label }) => [name, label]), score?.name, view.kind === "heat" && a.scores.length > 1);
}

function fill(name, options, chosen, useful) {
  const select = pick(name);
  select.replaceChildren(...options.map(([value, text]) => new Option(text, value)));
  select.value = chosen;
  select.parentElement.hidden = !useful;
}

function showFrame(next) {
  if (!view.clip) return;
  view.frame = Math.max(0, Math.min(next, view.clip.value.tiles.count - 1));
  redraw();
}

function redraw() {
  if (queued || !view.clip) return;
  queued = true;
  requestAnimationFrame(() => {
    queued = false;
    if (view.clip && element.isConnected && size[0]) draw();
  });
}

// Sizes and colours are read when they change, not while drawing.
function measure() {
  const style = getComputedStyle(root);
  for (const name of ["kept", "b", "novelty", "rank", "cursor", "track", "axis", "even", "ground"])
    colours[name] = style.getPropertyValue(`--gv-${name}`).trim();
  root.dataset.width = stage.clientWidth < 520 ? "narrow" : "wide";
  if (!view.clip) return;
  const { width, height } = view.clip.value.tiles;
  const tallest = Math.max(220, Math.min(440, window.innerHeight * 0.42));
  const scale = Math.min(stage.clientWidth / width, tallest / height);
  size = [Math.round(width * scale), Math.round(height * scale)];
  Object.assign(frameCanvas.style, { width: `${size[0]}px`, height: `${size[1]}px` });
  for (const strip of strips) strip.size = [strip.canvas.clientWidth, strip.canvas.clientHeight];
  redraw();
}

// Where the tokens lie on the frame, in page pixels.
function gridBox() {
  const [left, top, right, bottom] = view.clip.value.area;
  const { rows, columns } = view.clip;
  return {
    rows, columns, left: left * size[0], top: top * size[1],
    width: (right - left) * size[0], height: (bottom - top) * size[1],
  };
}

function draw() {
  const shown = shownNow();
  const context = fitCanvas(frameCanvas, ...size);
  paintFrame(context, view.clip.sheet, view.clip.value.tiles, view.frame, ...size);
  const grid = gridBox();
  LOOKS[view.kind](context, grid, shown, colours);
  context.globalAlpha = 1;
  paintMarks(context, grid, shown);
  drawStrips(shown);
  caption.textContent = frameWords(shown);
  scrub.value = view.frame;
  scrub.setAttribute("aria-valuetext", caption.textContent);
  tell(shown);
}

function paintMarks(context, grid, { clip, unit, first }) {
  view.alike.forEach(({ token }, index) => {
    if (placeOf(clip, token).unit === unit) paintDisc(context, grid, token - first, `${index + 1}`);
  });
  if (view.pinned >= 0) {
    const here = placeOf(clip, view.pinned).unit === unit;
    paintRing(context, grid, view.pinned % clip.perUnit, "#ff7a33", here ? [] : [4, 3]);
  }
  if (view.hovered >= 0) paintRing(context, grid, view.hovered);
}

// Other parts of the page follow the unit on show, and may move it (see viewer_hands.js).
function tell({ clip, unit, frame }) {
  if (unit === told) return;
  const moved = told >= 0;
  told = unit;
  const { name, seconds, units } = clip.value;
  const until = seconds[units.lastIndexOf(unit) + 1] ?? Infinity;
  const detail = { unit, seconds: seconds[frame], until, name, moved, source: "viewer" };
  document.dispatchEvent(new CustomEvent("gleanvid:unit", { detail }));
}
