// Painting for the token viewer: plain functions of a canvas context and data, no state and no page.

// Magma, sampled at nine points and interpolated into 256 steps.
const MAGMA = (() => {
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

const DROPPED = [11, 16, 28];

// Size a canvas to its box on the page, sharp on every screen. Returns its context in page pixels.
function fitCanvas(canvas, width, height) {
  const ratio = window.devicePixelRatio || 1;
  const [w, h] = [Math.round(width * ratio), Math.round(height * ratio)];
  if (canvas.width !== w || canvas.height !== h) Object.assign(canvas, { width: w, height: h });
  const context = canvas.getContext("2d");
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  return context;
}

function paintFrame(context, sheet, tiles, frame, width, height) {
  const left = (frame % tiles.columns) * tiles.width;
  const top = Math.floor(frame / tiles.columns) * tiles.height;
  context.drawImage(sheet, left, top, tiles.width, tiles.height, 0, 0, width, height);
}

// One colour a token, drawn as a grid of flat cells. `colour(n)` gives [r, g, b, alpha 0..1].
function paintCells(context, rows, columns, box, colour) {
  const cells = new OffscreenCanvas(columns, rows);
  const pixels = new ImageData(columns, rows);
  for (let n = 0; n < rows * columns; n++) {
    const [r, g, b, alpha] = colour(n);
    pixels.data.set([r, g, b, Math.round(alpha * 255)], n * 4);
  }
  cells.getContext("2d").putImageData(pixels, 0, 0);
  context.imageSmoothingEnabled = false;
  context.drawImage(cells, box.left, box.top, box.width, box.height);
  context.imageSmoothingEnabled = true;
}

// The border of the kept region, once for every [colour, thickness] in `strokes`.
function paintOutline(context, rows, columns, box, inside, strokes) {
  const path = new Path2D();
  const [w, h] = [box.width / columns, box.height / rows];
  const at = (row, column) =>
    row >= 0 && column >= 0 && row < rows && column < columns
    && Boolean(inside(row * columns + column));
  for (let row = 0; row <= rows; row++) {
    for (let column = 0; column <= columns; column++) {
      const [x, y] = [box.left + column * w, box.top + row * h];
      if (at(row, column) !== at(row - 1, column)) { path.moveTo(x, y); path.lineTo(x + w, y); }
      if (at(row, column) !== at(row, column - 1)) { path.moveTo(x, y); path.lineTo(x, y + h); }
    }
  }
  context.lineCap = "round";
  for (const [strokeStyle, lineWidth] of strokes) {
    Object.assign(context, { strokeStyle, lineWidth });
    context.stroke(path);
  }
}

function paintToken(context, rows, columns, box, token) {
  const [w, h] = [box.width / columns, box.height / rows];
  const [x, y] = [box.left + (token % columns) * w, box.top + Math.floor(token / columns) * h];
  for (const [style, thick] of [["rgba(0, 0, 0, 0.75)", 4], ["#fff", 2]]) {
    Object.assign(context, { strokeStyle: style, lineWidth: thick });
    context.strokeRect(x, y, w, h);
  }
}

// A strip under the frame: bars over the steps, a dashed line for the even share, the step on show marked.
function paintBars(context, width, height, values, current, style, even = null) {
  context.clearRect(0, 0, width, height);
  const top = Math.max(...values, even ?? 0) * 1.08 || 1;
  const slot = width / values.length;
  const gap = slot > 6 ? 2 : slot > 3 ? 1 : 0;
  context.fillStyle = style.track;
  context.fillRect(current * slot, 0, slot, height);
  values.forEach((value, index) => {
    const tall = Math.max(1, (value / top) * (height - 1));
    context.fillStyle = index === current ? style.cursor : style.bar;
    context.fillRect(index * slot + gap / 2, height - tall, slot - gap, tall);
  });
  context.fillStyle = style.axis;
  context.fillRect(0, height - 1, width, 1);
  if (even === null) return;
  const y = Math.round(height - (even / top) * (height - 1)) + 0.5;
  context.save();
  context.setLineDash([5, 4]);
  Object.assign(context, { strokeStyle: style.even, lineWidth: 1.25 });
  context.beginPath();
  context.moveTo(0, y);
  context.lineTo(width, y);
  context.stroke();
  context.restore();
}
