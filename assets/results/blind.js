// @ts-check
// A blind vote: two answers without names; after the vote, the methods that gave them are named. Text from
// outside is only ever set as textContent.

import { button, header, make, table, verdict } from "../viewer/dom.js";
import { swatch } from "./swatch.js";
import { Votes } from "./votes.js";

const CHOICES = [["first", "1 is better"], ["both", "Both answers are good"], ["neither", "Both answers are bad"], ["second", "2 is better"]];
const SAME = "All answers have the same words, so there are no two answers to compare.";

export class Blind {
  votes = new Votes();
  /** @type {any[] | null} */
  pair = null;
  #asked = null;
  #rows = [];

  constructor() {
    this.place = make("section", "gv-blind");
    this.place.setAttribute("aria-label", "Two answers whose methods are hidden");
  }

  // A table that only gained rows keeps the pair of answers that the person is looking at.
  load({ asked, rows }) {
    const same = this.#asked?.clip === asked.clip && this.#asked?.question === asked.question;
    this.#asked = asked;
    this.#rows = rows.filter(({ state }) => state === "done");
    const stays = same && this.pair?.every((one) => this.#rows.some((row) => row.label === one.label && row.answer === one.answer));
    if (!stays) this.#next();
  }

  #next() {
    this.pair = draw(this.#rows, this.votes.tally(this.#asked));
    if (!this.pair) return this.place.replaceChildren(make("p", "", SAME));
    const cards = this.pair.map(({ answer }, place) => {
      const words = make("p", "gv-said", answer || "(no words)");
      return make("article", "", "", make("h2", "", `Answer ${place + 1}`), words);
    });
    const buttons = CHOICES.map(([vote, title]) => button(title, () => this.#vote(vote), "gv-choice"));
    this.place.replaceChildren(make("div", "gv-two", "", ...cards), make("div", "gv-tools-row", "", ...buttons));
  }

  #vote(vote) {
    const { clip, question } = this.#asked;
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
    const tally = [...this.votes.tally(this.#asked)].sort(([, one], [, other]) => other.won - one.won);
    const heads = ["Method", "won", "even", "lost"].map((text) => header(text));
    const rows = tally.map(([label, { won, even, lost }]) => make("tr", "", "", header(label, "row"),
      ...[won, even, lost].map((count) => make("td", "", `${count}`))));
    return table("gv-table", "Votes for each method on this clip and question", heads, rows);
  }
}

// Two different answers, of the methods with the fewest votes so far; null if all answers are equal.
export function draw(rows, tally, random = Math.random) {
  const seen = ({ label }) => Object.values(tally.get(label) ?? {}).reduce((sum, count) => sum + count, 0);
  const pairs = rows.flatMap((one, place) => rows.slice(place + 1)
    .filter(({ answer }) => said(answer) !== said(one.answer)).map((other) => [one, other]));
  if (!pairs.length) return null;
  const ranked = pairs.map((pair) => ({ pair, rank: seen(pair[0]) + seen(pair[1]) + random() }));
  const { pair } = ranked.reduce((least, one) => (one.rank < least.rank ? one : least));
  return random() < 0.5 ? pair : pair.reverse();
}

const said = (text) => text.toLowerCase().match(/[\p{L}\p{N}]+/gu)?.join(" ") ?? "";
