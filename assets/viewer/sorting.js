// @ts-check
// How tables on the page are sorted.

export const missing = (value) => value === null || value === undefined;

// What is not known comes last, whichever way.
export function order(one, other, falling) {
  if (missing(one) || missing(other)) return Number(missing(one)) - Number(missing(other));
  const sign = typeof one === "string" ? one.localeCompare(other, "en", { numeric: true }) : Number(one) - Number(other);
  return falling ? -sign : sign;
}
