// @ts-check
// What the viewer says of one token: the card at the pointer and the panel of a pinned one.

import { fateOf, firstFrame, homeOf, membersOf, placeOf, rankInUnit, scoreAt, stageAt } from "./data.js";
import { make, plural, short } from "./words.js";

const FATES = { kept: "● Kept", merged: "◐ Merged", dropped: "○ Dropped" };

function placeWords(clip, token) {
  const { unit, row, column } = placeOf(clip, token);
  return `unit ${unit + 1}, row ${row + 1}, column ${column + 1}`;
}

// [text, class] of every line about one token.
export function tokenLines(shown, token) {
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
export function describePin(panel, shown, token, alike, visit, unpin) {
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
  panel.replaceChildren(head, make("div", "gv-pin-parts", "",
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
