// @ts-check
// Saves the comparison table as files, made in the browser.

import { fileName, save } from "../viewer/dom.js";

const CSV = "text/csv;charset=utf-8";

export function saveJson(value) {
  const content = { ...value.asked, rows: plain(value) };
  save(new Blob([`${JSON.stringify(content, null, 2)}\n`], { type: "application/json" }), fileName(value.asked.clip, "", "comparison.json"));
}

export const saveCsv = (value) => save(new Blob([csv(value)], { type: CSV }), fileName(value.asked.clip, "", "comparison.csv"));

export function csv(value) {
  const { question, clip, settings } = value.asked;
  const rows = plain(value).map((answer) => ({ question, ...answer, clip: answer.clip ?? clip, ...settings }));
  const lines = [Object.keys(rows[0]), ...rows.map((row) => Object.values(row))];
  return lines.map((line) => `${line.map(cell).join(",")}\r\n`).join("");
}

// The table's rows as objects, with keys such as "Memory (MiB)". A row with answers to several questions becomes
// one object per answer.
function plain({ columns, rows }) {
  return rows.flatMap(({ label, answer, right, error, cells, each }) => {
    const asked = each?.length ? each.map(({ id, ...one }) => one) : [{ answer, right }];
    const figures = Object.fromEntries(columns.map(([title, unit]) => [`${title} (${unit})`, cells[title][1]]));
    return asked.map((one) => ({ method: label, ...one, error: error || null, ...figures }));
  });
}

// Prefix text that looks like a formula with an apostrophe: spreadsheets would execute it.
function cell(value) {
  const text = value === null ? "" : String(value);
  const safe = typeof value === "string" && /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
