// @ts-check
// Wrong answers of the evaluation: a list by method and ratio, fetched when the list is unfolded. A press on an
// answer opens its clip, question, method and ratio, and asks the question. Text is only ever set as textContent.

import { button, make, plural } from "../viewer/dom.js";

/**
 * The content of `assets/failures.json`. `questions`: text and right answer by item; `wrong`: wrong answer by method,
 * retention ratio and item; `asked`: by method and ratio, the number of questions that all tokens answer right.
 * @typedef {{ questions: Record<string, [string, string]>,
 *   wrong: Record<string, Record<string, Record<string, string>>>,
 *   asked: Record<string, Record<string, number>> }} Known
 */

const NOTE = "Questions of the evaluation on Glimpse that the built-in model answers right with all tokens and wrong with "
  + "the kept tokens. In the evaluation it chose among four answers; on this page it answers freely and may be right.";

/**
 * @param {{ element: HTMLElement, props: any, watch: (name: string, act: () => void) => void,
 *   trigger: (name: string, detail: object) => void, titles: Record<string, string> }} scope
 */
export function mount({ element, props, watch, trigger, titles }) {
  const place = element.querySelector(".gv-failures");
  const body = make("div", "gv-failed");
  const fold = make("details", "gv-more", "", make("summary", "", "Where methods fail: answers of the evaluation"), body);
  fold.addEventListener("toggle", () => { if (fold.open && !props.value) trigger("open", {}); });
  place.replaceChildren(fold);
  const show = () => { if (props.value) body.replaceChildren(...listed(props.value, titles, trigger)); };
  watch("value", show);
  show();
}

/** @param {Known} known */
function listed({ questions, wrong, asked }, titles, trigger) {
  const rows = Object.assign(make("ol", ""), { tabIndex: 0, ariaLabel: "Wrong answers" });
  const count = Object.assign(make("output", ""), { ariaLive: "polite" });
  const methods = menu("Method", Object.keys(wrong).map((name) => [name, titles[name] ?? name]));
  const ratios = menu("Retention ratio", []);
  const fill = () => {
    const [method, ratio] = [methods.value, ratios.value];
    const found = Object.entries(wrong[method][ratio]);
    count.textContent = `${plural(found.length, "wrong answer")} to ${asked[method][ratio]} questions that all tokens answer right`;
    rows.replaceChildren(...found.map(([item, said]) => row(questions[item], said, () => {
      window["gleanvid"]?.beginStep?.();
      trigger("pick", { method, ratio, item });
    })));
  };
  const choose = () => {
    const before = ratios.value;
    const known = Object.keys(wrong[methods.value]).sort((one, other) => Number(one) - Number(other));
    ratios.replaceChildren(...known.map((ratio) => option(ratio, `${Number((100 * Number(ratio)).toPrecision(3))}\u00a0%`)));
    ratios.value = known.includes(before) ? before : known.includes("0.1") ? "0.1" : known[0];
    fill();
  };
  methods.value = "gleanvid" in wrong ? "gleanvid" : methods.value;
  methods.addEventListener("change", choose);
  ratios.addEventListener("change", fill);
  choose();
  return [make("p", "", NOTE), make("div", "gv-tools-row", "", methods, ratios, count), rows];
}

const row = ([question, right], said, act) => {
  const open = Object.assign(button(question, act, "gv-plain"), { title: "Open this clip with this method and ask" });
  return make("li", "", "", open, make("span", "gv-wrong", `✗ ${said}`), make("span", "", `right: ${right}`));
};

const option = (value, text) => Object.assign(make("option", "", text), { value });
const menu = (ariaLabel, options) =>
  Object.assign(make("select", "", "", ...options.map(([value, text]) => option(value, text))), { ariaLabel });
