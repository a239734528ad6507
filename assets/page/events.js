// Gradio searches the targets of all events for every widget as the page opens, and Svelte watches
// each plain array that is read for changes, which takes most of that time. These never change; an
// array of another class is read as it is.
(() => {
  class Fixed extends Array {}
  const fix = (list) => list && Object.setPrototypeOf(list, Fixed.prototype);
  for (const { targets, inputs, outputs } of window.gradio_config?.dependencies ?? []) {
    targets.forEach(fix);
    [targets, inputs, outputs].forEach(fix);
  }
})();
