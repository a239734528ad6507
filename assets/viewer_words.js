// What the viewer says: the line above the frame, legend, caption, the card at the pointer and the
// panel of a pinned token. Text from outside is only ever set as textContent.

function make(tag, className = "", text = "", ...children) {
  const node = Object.assign(document.createElement(tag), { className, textContent: text });
  node.append(...children);
  return node;
}

const short = (value) => Number(value.toPrecision(3)).toLocaleString("en");
const plural = (count, word) => `${count.toLocaleString("en")} ${word}${count === 1 ? "" : "s"}`;
const atLayer = (layer) => (layer ? `layer ${layer} of the language model` : "the language model");

// One or two sentences: what am I looking at?
const WHAT = {
  kept: ({ methodA, a, layer }) =>
    `The frame as ${methodA.label} leaves it to ${atLayer(layer)}: bright tokens are `
    + (a.merges ? "kept, dotted ones are merged into a kept one, dark ones are dropped." : "kept, dark ones are dropped."),
  heat: ({ methodA, score }) =>
    `How ${methodA.label} rates every token by its ${score.label}. White lines surround the tokens it keeps.`,
  outline: ({ methodA, layer }) =>
    `The frame with a line around the tokens that ${methodA.label} keeps for ${atLayer(layer)}.`,
  ab: ({ methodA, methodB }) =>
    `Where A, ${methodA.label}, and B, ${methodB.label}, keep the same tokens and where they differ.`,
  groups: ({ methodA }) =>
    `Where the tokens go under ${methodA.label}: one colour is one row that the model receives, its dot `
    + "the token it stands at. Point at a group to see all of it.",
  original: () => "The frame as it was sampled, without any marks.",
};

const LEGENDS = {
  kept: ({ a }) => [
    ["bright", "kept"],
    ...(a.merges ? [["dots", "merged into a kept token"]] : []),
    ["dark", "dropped"],
  ],
  heat: ({ score }) => [
    ["", short(score.low)], ["ramp", ""], ["", `${short(score.high)}  ${score.label}`],
    ["line", "around kept tokens"],
    ...(score.levels.includes(ABSENT) ? [["dark", "no score: gone before this layer"]] : []),
  ],
  outline: () => [["blue", "around kept tokens"]],
  ab: () => [["bright", "both keep it"], ["a", "only A"], ["b", "only B"], ["dark", "neither"]],
  groups: ({ a }) => [
    ["groups", "one colour and border: one row"], ["dot", "the token it stands at"],
    ...(a.merges ? [["dots", "its row stands in another unit"]] : []), ["dark", "dropped"],
  ],
  original: () => [],
};

function describeView(shown) {
  find(".gv-what").textContent = WHAT[shown.kind](shown);
  const items = LEGENDS[shown.kind](shown).map(([swatch, text]) => {
    const item = make("li", "", text);
    if (swatch) item.prepend(make("i", `gv-swatch gv-swatch-${swatch}`));
    return item;
  });
  find(".gv-legend").replaceChildren(...items);
  const { bytes, left_out: left } = shown.clip.value;
  const size = (count) => `${(count / 1e6).toFixed(count < 1e6 ? 2 : 1)} MB`;
  const missing = left.length ? ` Too large to send: ${left.join(", ")}.` : "";
  find(".gv-size").textContent = `In this browser: ${size(bytes.frames)} of frames, ${size(bytes.tokens)} `
    + `of masks and scores for ${plural(shown.clip.methods.length, "compressor")}. Nothing more is fetched.${missing}`;
}

function frameWords(shown) {
  const { clip, frame, unit, a, b } = shown;
  const { tiles, seconds } = clip.value;
  const step = clip.units === tiles.count ? "" : ` · unit ${unit + 1} of ${clip.units}`;
  const fates = fatesIn(clip, a, unit);
  const merged = fates.merged ? `, ${fates.merged} merged, ${fates.dropped} dropped` : "";
  const parts = [
    `Frame ${frame + 1} of ${tiles.count} · ${seconds[frame].toFixed(2)} s${step}`,
    `${b ? "A: " : ""}${a.budgets[unit]} of ${clip.perUnit} tokens kept${merged}`,
  ];
  if (b) {
    const { both, onlyA, onlyB, iou } = overlap(clip, a, b, unit);
    parts.push(`B: ${b.budgets[unit]}`);
    parts.push(`both ${both}, only A ${onlyA}, only B ${onlyB}, IoU ${iou.toFixed(2)}`);
  }
  return parts.join(" · ");
}

const FATES = { kept: "● Kept", merged: "◐ Merged", dropped: "○ Dropped" };

function placeWords(clip, token) {
  const { unit, row, column } = placeOf(clip, token);
  return `unit ${unit + 1}, row ${row + 1}, column ${column + 1}`;
}

// [text, class] of every line about one token.
function tokenLines(shown, token) {
  const { clip, a, b, methodB, frame } = shown;
  const { row, column } = placeOf(clip, token);
  const fate = fateOf(a, token);
  const lines = [[`${b ? "A " : ""}${FATES[fate]}`, `gv-${fate}`]];
  if (b) lines.push([`B ${FATES[fateOf(b, token)]}`, `gv-${fateOf(b, token)}`]);
  lines.push([`row ${row + 1}, column ${column + 1} · ${clip.value.seconds[frame].toFixed(2)} s`, "gv-faint"]);
  for (const score of a.scores) {
    const value = scoreAt(score, token);
    if (value !== null) lines.push([`${score.label} ${short(value)}`, ""]);
  }
  const ranked = shown.score ?? a.scores[0];
  if (ranked && scoreAt(ranked, token) !== null) {
    const { place, of } = rankInUnit(clip, ranked, token);
    const by = a.scores.length > 1 ? ` by ${ranked.label}` : "";
    lines.push([`rank ${place} of ${of} in this unit${by}`, ""]);
  }
  if (a.merges && fate !== "dropped") lines.push(...groupLines(clip, a, token, fate));
  return lines;
}

function groupLines(clip, stage, token, fate) {
  const members = membersOf(stage, stage.home[token]);
  const units = new Set(members.map((member) => placeOf(clip, member).unit)).size;
  const size = `its row holds ${plural(members.length, "token")} of ${plural(units, "unit")}`;
  const share = `weight in it ${short(stage.weight[token] / 65535)}`;
  const home = fate === "merged" ? [[`row at ${placeWords(clip, stage.home[token])}`, ""]] : [];
  const mixed = stage.mixed ? [["the row it weighs most in", "gv-faint"]] : [];
  return [...home, [size, ""], [share, ""], ...mixed];
}

// The panel of a pinned token: its facts, who keeps it, and which kept tokens stand for it.
function describePin(shown, token, alike, visit, unpin) {
  const { clip } = shown;
  const head = make("div", "gv-pin-head", "", make("b", "", `Pinned: ${placeWords(clip, token)}`));
  const close = make("button", "gv-unpin", "Unpin");
  close.type = "button";
  close.addEventListener("click", unpin);
  head.append(close);
  const pinnedFrame = { ...shown, frame: firstFrame(clip, placeOf(clip, token).unit) };
  const facts = tokenLines(pinnedFrame, token).map(([text, kind]) => make("li", kind, text));
  const home = homeOf(shown.a, token);
  if (home >= 0 && home !== token) facts.push(make("li", "", "", wayTo(home, "Go to its row", visit)));
  find(".gv-pin").replaceChildren(head, make("div", "gv-pin-parts", "",
    part("This token", ...facts),
    part(...keepersPart(shown, token)),
    part(...alikePart(shown, token, alike, visit))));
}

function wayTo(token, text, visit) {
  const button = Object.assign(make("button", "", text), { type: "button" });
  button.addEventListener("click", () => visit(token));
  return button;
}

const part = (title, ...items) =>
  make("section", "", "", make("h2", "", title), make("ul", "", "", ...items));

function keepersPart({ clip, layer }, token) {
  const fates = clip.methods.map((method) => fateOf(stageAt(method, layer), token));
  const kept = fates.filter((fate) => fate === "kept").length;
  const items = clip.methods.map((method, index) =>
    make("li", `gv-${fates[index]}`, `${FATES[fates[index]]} · ${method.label}`));
  return [`Kept by ${kept} of ${plural(clip.methods.length, "compressor")}`, ...items];
}

function alikePart({ clip, a, methodA }, token, alike, visit) {
  const title = `Kept tokens of ${methodA.label} most like it`;
  if (!clip.sketch) return [title, make("li", "gv-faint", "Not measured for this result.")];
  if (!alike.length) return [title, make("li", "gv-faint", "None other is kept.")];
  const items = alike.map(({ token: other, cosine }, index) => {
    const button = wayTo(other, `${index + 1}  ${placeWords(clip, other)}`, visit);
    const likeness = make("span", "gv-faint", ` cosine ≈ ${cosine.toFixed(2)}`);
    return make("li", "", "", button, likeness);
  });
  return [title, ...items];
}
