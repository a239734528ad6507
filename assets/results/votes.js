// @ts-check
// Votes on unnamed answers, stored only in this browser.

const KEY = "gleanvid-votes";
const MOST = 1000;

/**
 * A vote between two answers. `first` and `second` are the labels of the methods that gave them; `vote` is "first",
 * "second", "both" or "neither".
 * @typedef {{ at: string, clip: string, question: string, first: string, second: string,
 *   vote: string }} Vote
 */

export class Votes {
  constructor() {
    this.all = read();
  }

  /** @param {Vote} vote */
  add(vote) {
    this.all = [...this.all, vote].slice(-MOST);
    try { localStorage.setItem(KEY, JSON.stringify(this.all)); } catch { /* no storage: votes are lost with the page */ }
  }

  /** The votes on one of these questions, each with its clip. */
  on(asked) {
    return this.all.filter((vote) => asked.some(({ clip, question }) => vote.clip === clip && vote.question === question));
  }

  /** Wins, ties and losses of each method, by label, in the votes on these questions. */
  tally(asked) {
    /** @type {Map<string, { won: number, even: number, lost: number }>} */
    const found = new Map();
    for (const { first, second, vote } of this.on(asked)) {
      for (const [label, place] of [[first, "first"], [second, "second"]]) {
        const own = found.get(label) ?? { won: 0, even: 0, lost: 0 };
        own[vote === place ? "won" : vote === "both" || vote === "neither" ? "even" : "lost"] += 1;
        found.set(label, own);
      }
    }
    return found;
  }
}

/** The questions of a comparison, each with its clip. */
export function questionsOf({ asked: { clip, question }, rows }) {
  const { each } = rows.reduce((most, row) => (row.each.length > most.each.length ? row : most));
  return each.length ? each.map((one) => ({ clip: one.clip ?? clip, question: one.question })) : [{ clip, question }];
}

/** @returns {Vote[]} */
function read() {
  const texts = ["at", "clip", "question", "first", "second", "vote"];
  const whole = (vote) => texts.every((name) => typeof vote?.[name] === "string");
  try {
    const kept = JSON.parse(localStorage.getItem(KEY) ?? "[]");
    return Array.isArray(kept) ? kept.filter(whole).slice(-MOST) : [];
  } catch {
    return [];
  }
}
