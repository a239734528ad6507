// @ts-check
// Objects of the right answer, on clips for which they are known: finds and counts the tokens that show them.

const SHARE = 0.25; // smallest fraction of a token's area that the object must cover

const known = new WeakMap(); // cache: truth -> grid -> result of tokensOf

export function evidenceOf(truth, grid) {
  if (!known.has(truth)) known.set(truth, new Map());
  const found = known.get(truth);
  if (!found.has(grid)) found.set(grid, tokensOf(truth, grid));
  return found.get(grid);
}

// 1 for each token of a grid that shows an object of the right answer in a frame of its unit, else 0. `boxes` has
// for every frame [left, top, right, bottom] of the objects, in fractions of the frame.
function tokensOf(truth, grid) {
  const found = new Uint8Array(grid.total);
  const [left, top, right, bottom] = grid.area;
  const [wide, tall] = [(right - left) / grid.columns, (bottom - top) / grid.rows];
  truth.boxes.forEach((boxes, frame) => {
    const first = grid.unitOf[frame] * grid.perUnit;
    for (const box of boxes) {
      for (let n = 0; n < grid.perUnit; n++) {
        const x = left + (n % grid.columns) * wide;
        const y = top + Math.floor(n / grid.columns) * tall;
        const across = Math.min(box[2], x + wide) - Math.max(box[0], x);
        const down = Math.min(box[3], y + tall) - Math.max(box[1], y);
        if (across > 0 && down > 0 && across * down >= SHARE * wide * tall) found[first + n] = 1;
      }
    }
  });
  return found;
}

// Number of object tokens kept, and of all object tokens.
export function evidenceKept(evidence, stage) {
  let [kept, all] = [0, 0];
  evidence.forEach((shows, token) => {
    all += shows;
    kept += shows & stage.kept[token];
  });
  return [kept, all];
}

export function paintTruth(context, boxes, width, height) {
  context.setLineDash([5, 3]);
  for (const [left, top, right, bottom] of boxes) {
    for (const [strokeStyle, lineWidth] of [["rgb(0 0 0 / 70%)", 3.5], ["#ffd24a", 1.75]]) {
      Object.assign(context, { strokeStyle, lineWidth });
      context.strokeRect(left * width, top * height, (right - left) * width, (bottom - top) * height);
    }
  }
  context.setLineDash([]);
}
