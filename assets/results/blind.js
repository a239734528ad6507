// @ts-check
// A blind vote: two answers without names; after the vote, the methods that gave them are named. Text from
// outside is only ever set as textContent.

import { button, header, make, table, verdict } from "../viewer/dom.js";
import { swatch } from "./swatch.js";
import { questionsOf, Votes } from "./votes.js";

const CHOICES = [["first", "1 is better"], ["both", "Both answers are good"], ["neither", "Both answers are bad"], ["second", "2 is better"]];
const SAME = "All answers have the same words, so there are no two answers to compare.";

export class Blind {
  votes = new Votes();
  /** @type {any[] | null} */
  pair = null;
  #questions = []; // every question of the table, with its clip
  #answers = []; // every answer of the table, with its method and question

  constructor() {
    this.place = make("section", "gv-blind");
    this.place.setAttribute("aria-label", "Two answers whose methods are hidden");
  }

  // A table that only gained rows keeps the pair of answers that the person is looking at.
  load(value) {
    this.#questions = questionsOf(value);
    this.#answers = value.rows.filter(({ state }) => state === "done").flatMap((row) => answersOf(row, value.asked));
    const known = ["clip", "question", "label", "answer"];
    if (!this.pair?.every((one) => this.#answers.some((other) => known.every((name) => one[name] === other[name])))) this.#next();
  }

  #next() {
    this.pair = draw(this.#answers, this.votes.tally(this.#questions));
    if (!this.pair) return this.place.replaceChildren(make("p", "", SAME));
    const cards = this.pair.map(({ answer }, place) => {
      const words = make("p", "gv-said", answer || "(no words)");
      return make("article", "", "", make("h2", "", `Answer ${place + 1}`), words);
    });
    const buttons = CHOICES.map(([vote, title]) => button(title, () => this.#vote(vote), "gv-choice"));
    this.place.replaceChildren(...this.#asked(), make("div", "gv-two", "", ...cards), make("div", "gv-tools-row", "", ...buttons));
  }

  // The question of the pair. A single question is above the table's tools already.
  #asked() {
    if (this.#questions.length < 2) return [];
    const [{ clip, question }] = this.pair;
    const isOneClip = this.#questions.every((one) => one.clip === clip);
    return [make("p", "gv-of-two", "", make("b", "", `“${question}”`), ...(isOneClip ? [] : [make("span", "", ` ${clip}`)]))];
  }

  #vote(vote) {
    const { clip, question } = this.pair[0];
    const [first, second] = this.pair.map(({ label }) => label);
    this.votes.add({ at: new Date().toISOString(), clip, question, first, second, vote });
    this.place.querySelectorAll("article").forEach((card, place) => {
      const { right, label, ...look } = this.pair[place];
      card.querySelector("h2").replaceChildren(/** @type {any} */ (swatch(look)), ` ${label}`);
      if (right !== null) card.append(make("p", right ? "gv-right" : "gv-wrong", verdict(right)));
    });
    const next = button("Next two answers", () => this.#next(), "gv-choice");
    this.place.querySelector(".gv-tools-row").replaceChildren(next);
    this.place.append(this.#tally());
    next.focus();
  }

  // Votes per method, most wins first.
  #tally() {
    const tally = [...this.votes.tally(this.#questions)].sort(([, one], [, other]) => other.won - one.won);
    const heads = ["Method", "won", "even", "lost"].map((text) => header(text));
    const rows = tally.map(([label, { won, even, lost }]) => make("tr", "", "", header(label, "row"),
      ...[won, even, lost].map((count) => make("td", "", `${count}`))));
    const of = this.#questions.length > 1 ? `these ${this.#questions.length} questions` : "this clip and question";
    return table("gv-table", `Votes for each method on ${of}`, heads, rows);
  }
}

// The answers of a row, one for each question.
function answersOf(row, { clip, question }) {
  const each = row.each.length ? row.each : [row];
  return each.map(({ answer, right, clip: own = clip, question: text = question }) =>
    ({ ...row, answer, right, clip: own, question: text }));
}

// Two different answers to the same question, of the methods with the fewest votes so far; null if all answers are equal.
export function draw(answers, tally, random = Math.random) {
  const seen = ({ label }) => Object.values(tally.get(label) ?? {}).reduce((sum, count) => sum + count, 0);
  const differ = (one, other) => one.clip === other.clip && one.question === other.question && said(one.answer) !== said(other.answer);
  const pairs = answers.flatMap((one, place) => answers.slice(place + 1).filter((other) => differ(one, other)).map((other) => [one, other]));
  if (!pairs.length) return null;
  const ranked = pairs.map((pair) => ({ pair, rank: seen(pair[0]) + seen(pair[1]) + random() }));
  const { pair } = ranked.reduce((least, one) => (one.rank < least.rank ? one : least));
  return random() < 0.5 ? pair : pair.reverse();
}

const said = (text) => text.toLowerCase().match(/[\p{L}\p{N}]+/gu)?.join(" ") ?? "";
