// @ts-check
// Functions that paint tokens on a canvas; they have no state and use no element of the page.
// No meaning depends on colour alone: a hatch, a dot or a border shows it as well.

// Magma, sampled at nine points and interpolated into 256 steps.
export const MAGMA = (() => {
  const stops = [
    [0, 0, 4], [28, 16, 68], [79, 18, 123], [129, 37, 129], [181, 54, 122],
    [229, 80, 100], [251, 135, 97], [254, 194, 135], [252, 253, 191],
  ];
  return Array.from({ length: 256 }, (_, step) => {
    const place = (step / 255) * (stops.length - 1);
    const left = Math.min(Math.floor(place), stops.length - 2);
    return stops[left].map((c, i) => Math.round(c + (stops[left + 1][i] - c) * (place - left)));
  });
})();

export const DARK = [11, 16, 28]; // colour over dropped tokens
export const A_COLOUR = [126, 138, 153];
export const B_COLOUR = [0, 114, 178];
const [CAME, WENT] = ["#7fdc9a", "#ffb07c"];
// Colours of groups: Okabe and Ito's eight colours, then eight darker and eight lighter ones.
export const GROUP_COLOURS = (() => {
  const pure = [
    [230, 159, 0], [86, 180, 233], [0, 158, 115], [240, 228, 66],
    [0, 114, 178], [213, 94, 0], [204, 121, 167], [235, 235, 235],
  ];
  const mixed = (other, share) => pure.map((rgb) => rgb.map((c) => c + (other - c) * share));
  return [...pure, ...mixed(0, 0.4), ...mixed(255, 0.45)];
})();

// Size a canvas in page pixels so that it is sharp on every screen. Returns its context, also in page pixels.
export function fitCanvas(canvas, width, height) {
  const ratio = window.devicePixelRatio || 1;
  const [w, h] = [Math.round(width * ratio), Math.round(height * ratio)];
  if (canvas.width !== w || canvas.height !== h) Object.assign(canvas, { width: w, height: h });
  const context = canvas.getContext("2d");
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  return context;
}

// The box of all tokens of a grid on a frame of this width and height.
export function areaOf({ rows, columns, area: [left, top, right, bottom] }, wide, tall) {
  const [width, height] = [(right - left) * wide, (bottom - top) * tall];
  return { rows, columns, left: left * wide, top: top * tall, width, height };
}

export function paintFrame(context, sheet, tiles, frame, width, height) {
  const left = (frame % tiles.columns) * tiles.width;
  const top = Math.floor(frame / tiles.columns) * tiles.height;
  context.drawImage(sheet, left, top, tiles.width, tiles.height, 0, 0, width, height);
}

// A small canvas with one pixel per token, reused for every frame.
let cells = null;
function cellsOf(rows, columns) {
  if (!cells || cells.canvas.width !== columns || cells.canvas.height !== rows) {
    const canvas = new OffscreenCanvas(columns, rows);
    cells = { canvas, context: canvas.getContext("2d"), image: new ImageData(columns, rows) };
  }
  return cells;
}

// Fill every token with a colour: `colour(n)` returns [r, g, b], or [r, g, b, a factor for `alpha`], or null for
// none; `alpha` is 0..1.
export function paintCells(context, grid, colour, alpha) {
  const { canvas, context: small, image } = cellsOf(grid.rows, grid.columns);
  for (let n = 0; n < grid.rows * grid.columns; n++) {
    const rgb = colour(n);
    for (let c = 0; rgb && c < 3; c++) image.data[n * 4 + c] = rgb[c];
    image.data[n * 4 + 3] = rgb ? 255 * alpha * (rgb[3] ?? 1) : 0;
  }
  small.putImageData(image, 0, 0);
  context.imageSmoothingEnabled = false;
  context.drawImage(canvas, grid.left, grid.top, grid.width, grid.height);
  context.imageSmoothingEnabled = true;
}

// Hatches, 6 pixels wide: "/" for A, "\" for B, "." for tokens merged into another row.
const hatches = {};
function hatch(context, kind) {
  if (!hatches[kind]) {
    const tile = new OffscreenCanvas(6, 6);
    const pen = tile.getContext("2d");
    if (kind === ".") {
      pen.fillStyle = "rgb(0 0 0 / 70%)";
      pen.fillRect(1, 1, 2, 2);
    } else {
      const [from, to] = kind === "/" ? [6, 0] : [0, 6];
      for (const [style, wide] of [["rgb(0 0 0 / 55%)", 3], ["rgb(255 255 255 / 90%)", 1.3]]) {
        Object.assign(pen, { strokeStyle: style, lineWidth: wide });
        pen.beginPath();
        for (const shift of [-6, 0, 6]) { pen.moveTo(shift, from); pen.lineTo(shift + 6, to); }
        pen.stroke();
      }
    }
    hatches[kind] = tile;
  }
  return context.createPattern(hatches[kind], "repeat");
}

export function paintHatch(context, grid, inside, kind) {
  const [w, h] = [grid.width / grid.columns, grid.height / grid.rows];
  context.beginPath();
  for (let n = 0; n < grid.rows * grid.columns; n++) {
    if (!inside(n)) continue;
    const [column, row] = [n % grid.columns, Math.floor(n / grid.columns)];
    context.rect(grid.left + column * w, grid.top + row * h, w, h);
  }
  context.fillStyle = hatch(context, kind);
  context.fill();
}

// Draw the borders between tokens with different `kind(n)`, once for every [colour, thickness] of `strokes`.
// With `rim` the edge of the grid is a border too, for kinds other than 0.
export function paintBorders(context, grid, kind, strokes, rim = true) {
  const path = new Path2D();
  const [w, h] = [grid.width / grid.columns, grid.height / grid.rows];
  const at = (row, column) =>
    row >= 0 && column >= 0 && row < grid.rows && column < grid.columns
      ? kind(row * grid.columns + column)
      : rim ? 0 : null;
  const differ = (one, other) => one !== null && other !== null && one !== other;
  for (let row = 0; row <= grid.rows; row++) {
    for (let column = 0; column <= grid.columns; column++) {
      const [x, y] = [grid.left + column * w, grid.top + row * h];
      const here = at(row, column);
      if (column < grid.columns && differ(here, at(row - 1, column))) { path.moveTo(x, y); path.lineTo(x + w, y); }
      if (row < grid.rows && differ(here, at(row, column - 1))) { path.moveTo(x, y); path.lineTo(x, y + h); }
    }
  }
  context.lineCap = "round";
  for (const [strokeStyle, lineWidth] of strokes) {
    Object.assign(context, { strokeStyle, lineWidth });
    context.stroke(path);
  }
}

// Draw a cross, visible on any frame, on every token for which `inside` is true.
export function paintCrosses(context, grid, inside) {
  const path = new Path2D();
  for (let n = 0; n < grid.rows * grid.columns; n++) {
    if (!inside(n)) continue;
    const [x, y, w, h] = boxOf(grid, n);
    const arm = 0.26 * Math.min(w, h);
    for (const way of [-1, 1]) {
      path.moveTo(x + w / 2 - arm, y + h / 2 - way * arm);
      path.lineTo(x + w / 2 + arm, y + h / 2 + way * arm);
    }
  }
  context.lineCap = "round";
  for (const [strokeStyle, lineWidth] of [["#000", 5], ["#fff", 2.25]]) {
    Object.assign(context, { strokeStyle, lineWidth });
    context.stroke(path);
  }
}

export function boxOf(grid, n) {
  const [w, h] = [grid.width / grid.columns, grid.height / grid.rows];
  return [grid.left + (n % grid.columns) * w, grid.top + Math.floor(n / grid.columns) * h, w, h];
}

export function paintRing(context, grid, n, colour = "#fff", dashes = []) {
  context.setLineDash(dashes);
  for (const [style, thick] of [["rgb(0 0 0 / 80%)", 4.5], [colour, 2.25]]) {
    Object.assign(context, { strokeStyle: style, lineWidth: thick });
    context.strokeRect(...boxOf(grid, n));
  }
  context.setLineDash([]);
}

// Mark tokens that came (1) and went (-1) at their corner, each with its own sign and colour.
export function paintChanges(context, grid, marks) {
  const [w, h] = [grid.width / grid.columns, grid.height / grid.rows];
  const size = Math.max(8, Math.min(14, 0.45 * Math.min(w, h)));
  const font = `700 ${Math.round(size * 1.1)}px system-ui, sans-serif`;
  marks.forEach((mark, n) => {
    if (!mark) return;
    const [x, y] = boxOf(grid, n);
    context.fillStyle = mark > 0 ? CAME : WENT;
    context.fillRect(x + 1, y + 1, size, size);
    Object.assign(context, { fillStyle: "#000", font, textAlign: "center", textBaseline: "middle" });
    context.fillText(mark > 0 ? "+" : "−", x + 1 + size / 2, y + 1.5 + size / 2);
  });
}

// Draw a disc in the middle of a token.
export function paintDisc(context, grid, n) {
  const [x, y, w, h] = boxOf(grid, n);
  context.beginPath();
  context.arc(x + w / 2, y + h / 2, Math.max(2, Math.min(w, h) * 0.2), 0, 2 * Math.PI);
  Object.assign(context, { fillStyle: "#fff", strokeStyle: "#000", lineWidth: 1.5 });
  context.fill();
  context.stroke();
}
