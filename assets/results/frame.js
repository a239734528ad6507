// @ts-check
// Saves the viewer's frames as one image, each frame under the name of its side.

import { fileName, save } from "../viewer/dom.js";

const [STRIP, GAP, LEAST] = [30, 12, 480]; // pixels: height of the caption, gap, smallest width of a frame

/** Save the frames of A and B side by side as an image. Returns "", or why there is no image. */
export async function saveFrames() {
  const sides = [...document.querySelectorAll(".gv-viewer .gv-pane")].map(side).filter(Boolean);
  if (!sides.length) return "Open the Tokens tab first: the frames shown there are saved.";
  const tall = Math.max(...sides.map(({ height }) => height));
  const sheet = document.createElement("canvas");
  sheet.width = sides.reduce((sum, { width }) => sum + width + GAP, -GAP);
  sheet.height = tall + STRIP;
  const pen = sheet.getContext("2d");
  pen.fillStyle = "#111418";
  pen.fillRect(0, 0, sheet.width, sheet.height);
  pen.font = "15px system-ui, sans-serif";
  pen.textBaseline = "middle";
  let left = 0;
  for (const { picture, name, count, width, height } of sides) {
    pen.drawImage(picture, left, STRIP, width, height);
    pen.fillStyle = "#f0f0f0";
    pen.textAlign = "left";
    pen.fillText(name, left + 6, STRIP / 2, width * 0.65);
    pen.fillStyle = "#a0a8b2";
    pen.textAlign = "right";
    pen.fillText(count, left + width - 6, STRIP / 2, width * 0.3);
    left += width + GAP;
  }
  const blob = await new Promise((done) => sheet.toBlob(done));
  const viewer = /** @type {HTMLElement} */ (document.querySelector(".gv-viewer"));
  save(blob, fileName(viewer.dataset.clip, viewer.querySelector("[data-pick=b] .gv-title").textContent, "frames.png"));
  return "";
}

// The canvas or video element that a side displays, null if it displays none.
function side(pane) {
  const video = pane.querySelector("video");
  const canvas = pane.querySelector(".gv-frame");
  const plays = !video.hidden && video.videoWidth;
  const [width, height] = plays ? [video.videoWidth, video.videoHeight] : [canvas.width, canvas.height];
  const isDrawn = plays || parseFloat(canvas.style.width) > 0;
  if (!isDrawn || !width || !height || (pane.dataset.side === "b" && pane.closest("[data-shown=one]"))) return null;
  const chosen = pane.querySelector("select").selectedOptions[0]?.textContent ?? "";
  const count = pane.querySelector(".gv-count").textContent;
  const scale = Math.max(1, LEAST / width);
  return {
    picture: plays ? video : canvas, name: `${pane.dataset.side.toUpperCase()}  ${chosen}`, count,
    width: Math.round(scale * width), height: Math.round(scale * height),
  };
}
