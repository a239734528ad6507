// @ts-check
// Texts about one token: the card at the pointer, and the panel of a pinned token.

import {
  fateOf, firstFrame, homeOf, keepsAll, membersOf, placeOf, sameGrid, scoreAt, stageAt,
} from "./data.js";
import { button, make, plural, short, timeText } from "./dom.js";
import { percent } from "./relevance.js";
import { whyWords } from "./why.js";

const SIGNS = { kept: "●", merged: "◐", dropped: "○" };
const FATES = { kept: "● Kept", merged: "◐ Merged", dropped: "○ Dropped" };

function placeWords(grid, token) {
  const { unit, row, column } = placeOf(grid, token);
  return `unit ${unit + 1}, row ${row + 1}, column ${column + 1}`;
}

// [text, class] of every line about a token: why each side with the same grid kept or dropped the token, and
// its scores on the side under the pointer.
export function tokenLines({ clip, sides, own, frame }, token) {
  const { grid, stage } = own;
  const { row, column } = placeOf(grid, token);
  const lines = sides
    .filter((side) => side === own || sameGrid(side.grid, grid))
    .map((side) => [fateOf(side.stage, token), side.name, whyWords(side, token)])
    .map(([fate, name, why]) => [`${name ? `${name} ` : ""}${SIGNS[fate]} ${why}`, `gv-${fate}`]);
  lines.push([`row ${row + 1}, column ${column + 1} · ${timeText(clip.value.seconds[frame])}`, "gv-faint"]);
  for (const score of stage.scores) {
    const value = scoreAt(score, token);
    if (value !== null) lines.push([`${score.label} ${short(value)}`, ""]);
  }
  if (own.map) lines.push([`mattered ${percent(own.map.shares[token])}, ${short(own.map.shares[token] * grid.total)} × an even share`, ""]);
  if (stage.merges && fateOf(stage, token) !== "dropped") lines.push(...groupLines(grid, stage, token));
  return lines;
}

function groupLines(grid, stage, token) {
  const members = membersOf(stage, stage.home[token]);
  const units = new Set(members.map((member) => placeOf(grid, member).unit)).size;
  const size = `merged from ${plural(members.length, "token")} of ${plural(units, "unit")}`;
  const share = `weight in the merged token ${short(stage.weight[token] / 65535)}`;
  const mixed = stage.mixed ? [["the merged token in which it has most weight", "gv-faint"]] : [];
  return [[size, ""], [share, ""], ...mixed];
}

// Fill the panel of a pinned token: its data, and the sides that keep it.
function describePin(panel, shown, token, visit, unpin) {
  const { grid, stage } = shown.own;
  const title = make("b", "", `Pinned: ${placeWords(grid, token)}`);
  const head = make("div", "gv-pin-head", "", title, button("Unpin", unpin));
  const pinnedFrame = { ...shown, frame: firstFrame(grid, placeOf(grid, token).unit) };
  const facts = tokenLines(pinnedFrame, token).map(([text, kind]) => make("li", kind, text));
  const home = homeOf(stage, token);
  if (home >= 0 && home !== token) facts.push(make("li", "", "", button("Go to the token it was merged into", () => visit(home))));
  panel.replaceChildren(head, make("div", "gv-pin-parts", "",
    part("This token", ...facts),
    part(...keepersPart(shown, token))));
}

const part = (title, ...items) =>
  make("section", "", "", make("h2", "", title), make("ul", "", "", ...items));

function keepersPart({ clip, layer, own }, token) {
  const methods = clip.methods.filter(({ grid }) => sameGrid(grid, own.grid));
  const fates = methods.map((method) => fateOf(stageAt(method, layer), token));
  const kept = fates.filter((fate) => fate === "kept").length;
  const items = methods.map((method, index) =>
    make("li", `gv-${fates[index]}`, `${FATES[fates[index]]} · ${method.label}`));
  return [`Kept by ${kept} of ${plural(methods.length, "compressor")}`, ...items];
}

// The pinned token: marked on every frame, described in a panel, and explained in a line that stays visible.
export class Pin {
  token = -1; // index of the pinned token in the whole grid; -1: none

  /** @param {import("./viewer.js").Viewer} viewer */
  constructor(viewer) {
    this.viewer = viewer;
    this.panel = viewer.part(".gv-pin");
    this.line = viewer.part(".gv-now");
  }

  toggle(token) {
    const { viewer } = this;
    this.token = token === this.token ? -1 : token;
    const shown = viewer.shown();
    viewer.controls.describe(shown);
    this.show(shown);
    viewer.redraw();
    viewer.telling.say(this.token < 0 ? "Unpinned." : this.panel.innerText);
  }

  show(shown) {
    const { viewer, panel, token } = this;
    const { own } = shown;
    panel.hidden = token < 0;
    this.line.hidden = token < 0;
    viewer.root.toggleAttribute("data-noted", token >= 0);
    if (token < 0) return;
    const told = keepsAll(own) && shown.comparable ? shown.main : own; // a side with all tokens has no reason to explain
    const { name, grid } = told;
    const details = button("Details", () => panel.scrollIntoView({ block: "end", behavior: "smooth" }), "gv-to");
    const subject = `${name ? `${name}, ` : ""}${placeWords(grid, token)}.`;
    this.line.replaceChildren(make("b", "", subject), ` ${whyWords(told, token)} `, details);
    const unpin = () => { this.toggle(token); viewer.panes[own.key].canvas.focus(); };
    describePin(panel, shown, token, (other) => viewer.visit(other), unpin);
  }
}
