// A file dropped anywhere on the page is uploaded like a chosen file.
((gleanvid) => {
  const give = (file) => {
    const input = document.querySelector("#gv-upload").parentElement.querySelector("input[type=file]");
    const files = new DataTransfer();
    files.items.add(file);
    input.files = files.files;
    input.dispatchEvent(new Event("change", { bubbles: true }));
  };
  // File types that the file dialog of each button suggests. If Gradio knew these types, it would refuse other files
  // with its own message.
  const TYPES = { "gv-upload": "video/*,image/*", "gv-open": ".zip", "gv-list-file": ".csv,.json,.jsonl" };
  document.addEventListener("click", ({ target }) => {
    const button = target.closest?.("button");
    if (TYPES[button?.id]) button.parentElement.querySelector("input[type=file]").accept = TYPES[button.id];
  }, true);
  const brings = ({ dataTransfer }) => [...(dataTransfer?.types ?? [])].includes("Files");
  const mark = (on) => document.body.classList.toggle("gv-dropping", on);
  addEventListener("dragover", (event) => {
    if (!brings(event)) return;
    event.preventDefault();
    mark(true);
  });
  addEventListener("dragleave", ({ relatedTarget }) => { if (!relatedTarget) mark(false); });
  addEventListener("drop", (event) => {
    if (!brings(event)) return;
    event.preventDefault();
    mark(false);
    if (event.dataTransfer.files.length) give(event.dataTransfer.files[0]);
  });

})(window.gleanvid ??= {});
