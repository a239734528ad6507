// As the page opens, Gradio searches all events for every widget. Svelte wraps each plain array and object
// that is read, which takes most of the time. Events never change, so they get a class of their own, which
// Svelte does not wrap.
(() => {
  class Fixed extends Array {}
  class PageEvent {}
  for (const event of window.gradio_config?.dependencies ?? []) {
    const { targets, inputs, outputs } = event;
    for (const list of [...targets, targets, inputs, outputs])
      Object.setPrototypeOf(list, Fixed.prototype);
    Object.setPrototypeOf(event, PageEvent.prototype);
  }
})();
