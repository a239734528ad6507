// @ts-check
// The two files of a result: one picture with all frames, one file with all masks and scores.

import { unpackClip } from "./data.js";

async function fetched(file) {
  const reply = await fetch(file.url);
  if (!reply.ok) throw new Error(`${reply.status}`);
  return reply;
}

const picture = async (file) => createImageBitmap(await (await fetched(file)).blob());
const bytes = async (file) => (await fetched(file)).arrayBuffer();

/**
 * @param {any} value
 * @param {import("./data.js").Clip | null} before  its frames are taken over where they are the same
 */
export async function fetchClip(value, before) {
  const same = before?.value.sheet.url === value.sheet.url;
  const [sheet, data] = await Promise.all([same ? before.sheet : picture(value.sheet), bytes(value.data)]);
  return { ...unpackClip(value, data), sheet };
}
