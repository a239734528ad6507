// @ts-check
// The answer of a side: its text, with words that differ from A's answer marked; a verdict; a line of cost.

import { clock, key, secondsText } from "./clock.js";
import { button, make, missing, verdict } from "./dom.js";

/**
 * An answer as Python sends it; see `answer` in `components/tokens/answers.py`.
 * @typedef {{ run: string | null, side: string | null, text: string, running: boolean,
 *   right: boolean | null, expected: string | null, stale: boolean, caveat: string,
 *   question: string, ttft_s: number | null, parts?: [string, number][],
 *   flops_saved: number | null, tokens_per_s: number | null, model?: string }} Answer
 */

const WORD = /[\p{L}\p{N}_]+(?:[.,]\p{N}+)*/gu;
const LONGEST = 400; // most words that are compared: the LCS table below grows with their square

// Return the answer of a side: its run's answer, or else the last answer shown on this side, marked stale.
// `question`: the text in the question box, if known; an answer to another question is marked stale.
export function answerOf(answers, key, run, question = null) {
  const own = answers.find((answer) => answer.run === run && (answer.side ?? key) === key)
    ?? answers.find((answer) => answer.run !== null && answer.run === run);
  const last = answers.findLast((answer) => answer.side === key);
  if (last?.running) return { answer: last, stale: false };
  const answer = own ?? last ?? null;
  const other = question !== null && answer?.question && answer.question !== question;
  return { answer, stale: Boolean(answer && (answer.stale || !own || other)) };
}

/**
 * @param {HTMLElement} place
 * @param {{ answer: Answer | null, stale: boolean, longest: number, isTimed: boolean }} found
 * @param {Answer | null} reference  the answer of A, for B
 * @param {() => void} again  ask for this answer again
 */
export function showAnswer(place, { answer, stale, longest, isTimed }, reference, again) {
  place.hidden = !answer;
  place.toggleAttribute("data-stale", stale);
  place.toggleAttribute("data-running", Boolean(answer?.running));
  if (!answer) return place.replaceChildren();
  const compared = reference && !answer.running && !reference.running && answer.right === null;
  const found = compared ? difference(answer.text, reference.text) : null;
  const said = make("p", "gv-reply");
  said.append(...(found ? found.pieces : [answer.text || (answer.running ? "" : "(The model gave no answer.)")]));
  const line = make("div", "gv-line", "", said, ...(answer.running ? [] : verdictOf(answer, found)));
  // The answer and the line of cost always take up space, so nothing below them moves.
  place.replaceChildren(line, make("div", "gv-below", "", costLine(answer, isTimed ? longest : null, !reference), staleLine(answer, again)));
  requestAnimationFrame(() => { // at once, this would compute the layout of the page once more
    if (said.scrollHeight > said.clientHeight + 1) said.tabIndex = 0; // so that keys can scroll the answer
    if (answer.running) said.scrollTop = said.scrollHeight;
  });
}

function verdictOf({ right, expected, caveat }, found) {
  if (caveat) return [Object.assign(make("span", "gv-verdict gv-caveat", "means nothing on this clip"), { title: caveat }), ...another()];
  if (right === true) return [make("span", "gv-verdict gv-right", verdict(true))];
  if (right === false)
    return [make("span", "gv-verdict gv-wrong", verdict(false) + (expected ? `, expected: ${expected}` : ""))];
  if (!found) return [];
  const text = found.agreement === 1 ? "same as A" : `${Math.round(100 * found.agreement)} % words shared with A`;
  return [make("span", "gv-verdict gv-agrees", text)];
}

// Button that opens the list of models, on servers where a visitor may load one.
function another() {
  const opener = document.querySelector("#gv-load-open");
  if (!(opener instanceof HTMLElement)) return [];
  return [button("Load a model", () => { opener.click(); scrollTo({ top: 0 }); }, "gv-again")];
}

// The line of times and savings under an answer; no times if `longest` is null. `isFirst`: whether it is the answer of A or of the only side; only
// this line has the legend of the time bar's colours.
function costLine(answer, longest, isFirst) {
  const { ttft_s: first, flops_saved: saved, tokens_per_s: speed } = answer;
  const parts = [];
  const reading = answer.parts?.find(([name]) => name === "read")?.[1];
  const before = reading ? `, plus ${secondsText(reading)} for reading the file` : "";
  if (longest !== null && !missing(first)) parts.push(["b", `${first.toFixed(2)} s`, `to first token${before}`]);
  if (longest !== null && speed) parts.push(["b", speed.toFixed(1), "tokens/s"]);
  if (saved) parts.push(["span", `−${Math.round(100 * saved)} %`, "prefill FLOPs"]); // FLOPs are computed, not measured
  const line = make("p", "gv-spent");
  if (saved) line.title = "Prefill: the model reads video and question, before its first word. FLOPs: its arithmetic, by formula, against all tokens.";
  parts.forEach(([tag, figure, label], index) => line.append(index ? " · " : "", make(tag, "", figure), ` ${label}`));
  if (longest !== null && answer.parts?.length) line.append(clock(answer.parts, longest), ...(isFirst ? [key(answer.parts)] : []));
  return line;
}

/** @param {Answer} answer */
function staleLine({ model }, again) {
  const text = model ? `Answered by ${model}, not by the model chosen above.` : "This answer is for other settings or another question.";
  return make("p", "gv-stale", "", Object.assign(make("span", "", text), { title: text }), button("Ask again", again, "gv-again"));
}

// Compare an answer with A's answer. Returns its pieces, with added words marked and missing words struck out,
// and the fraction of words in common, in order (ROUGE-L F1).
export function difference(text, reference) {
  const tokens = [...text.matchAll(WORD)].slice(0, LONGEST);
  const words = tokens.map((match) => match[0].toLowerCase());
  const theirs = (reference.match(WORD) ?? []).slice(0, LONGEST);
  const common = inCommon(words, theirs.map((word) => word.toLowerCase()));
  const pieces = [];
  let [end, next] = [0, 0];
  const missing = (until) => {
    if (until > next) pieces.push(make("del", "", theirs.slice(next, until).join(" ")), " ");
    next = until + 1;
  };
  tokens.forEach((match, n) => {
    pieces.push(text.slice(end, match.index));
    if (common[n] >= 0) missing(common[n]);
    pieces.push(common[n] < 0 ? make("mark", "", match[0]) : match[0]);
    end = match.index + match[0].length;
  });
  pieces.push(text.slice(end));
  if (next < theirs.length) { pieces.push(" "); missing(theirs.length); }
  const shared = common.filter((place) => place >= 0).length;
  const agreement = words.length + theirs.length ? (2 * shared) / (words.length + theirs.length) : 1;
  return { pieces, agreement };
}

// For each word of `ours` the index of its match in `theirs`, or -1 (longest common subsequence).
function inCommon(ours, theirs) {
  const wide = theirs.length + 1;
  const longest = new Uint16Array((ours.length + 1) * wide);
  for (let i = ours.length - 1; i >= 0; i--) {
    for (let j = theirs.length - 1; j >= 0; j--) {
      longest[i * wide + j] = ours[i] === theirs[j]
        ? longest[(i + 1) * wide + j + 1] + 1
        : Math.max(longest[(i + 1) * wide + j], longest[i * wide + j + 1]);
    }
  }
  const places = new Array(ours.length).fill(-1);
  for (let i = 0, j = 0; i < ours.length && j < theirs.length;) {
    if (ours[i] === theirs[j]) places[i++] = j++;
    else if (longest[(i + 1) * wide + j] >= longest[i * wide + j + 1]) i++;
    else j++;
  }
  return places;
}
