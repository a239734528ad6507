// As the page opens, Gradio searches all events for every widget, and Svelte watches each plain array
// and object that is read, which takes most of that time. Events never change; what has another class
// is read as it is.
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
