// A file dropped anywhere on the page, or a webcam recording, is uploaded like a chosen file.
((gleanvid) => {
  const SECONDS = 10;
  const give = (file) => {
    const input = document.querySelector("#gv-upload").parentElement.querySelector("input[type=file]");
    const files = new DataTransfer();
    files.items.add(file);
    input.files = files.files;
    input.dispatchEvent(new Event("change", { bubbles: true }));
  };
  // File types that the file dialog of each button suggests. If Gradio knew these types, it would refuse other files
  // with its own message.
  const TYPES = { "gv-upload": "video/*,.gif", "gv-open": ".zip", "gv-question-file": ".txt,.json,.jsonl" };
  document.addEventListener("click", ({ target }) => {
    const button = target.closest?.("button");
    if (TYPES[button?.id]) button.parentElement.querySelector("input[type=file]").accept = TYPES[button.id];
  }, true);
  // A file above the limit of the server is refused before it is sent, and before Gradio sees it.
  const MIB = 2 ** 20;
  addEventListener("change", (event) => {
    const { target } = event;
    if (!target.matches?.(".gradio-container input[type=file]")) return;
    const limit = window.gradio_config?.max_file_size;
    const file = [...target.files].find(({ size }) => limit && size > limit);
    if (!file && target.files.length && target.closest(".gv-examples")) gleanvid.awaitClip?.(target.files[0]);
    if (!file) return;
    event.stopImmediatePropagation();
    target.value = "";
    const [size, most] = [Math.ceil(file.size / MIB), Math.floor(limit / MIB)];
    const text = `${file.name} has ${size} MB; no more than ${most} MB can be uploaded here. Choose a shorter or smaller one.`;
    const place = target.closest("[role=tabpanel]") ?? document.getElementById("gv-under");
    const detail = { text, kind: "problem" };
    place.querySelector(".gv-notice").dispatchEvent(new CustomEvent("gleanvid:say", { detail }));
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

  let recorder = null;
  const say = (text) => { document.querySelector("#gv-webcam").textContent = text; };

  const NO_CAMERA = {
    NotAllowedError: "The camera was refused: allow it in the browser's address bar, or upload a file.",
    SecurityError: "The browser gives the camera only to pages served by https or from this computer: upload a file.",
    NotFoundError: "No camera was found: connect one, or upload a file.",
    NotReadableError: "Another program uses the camera: close it, or upload a file.",
  };
  const camera = async () => {
    const devices = navigator.mediaDevices;
    if (!devices) throw new DOMException("", "SecurityError");
    try {
      return await devices.getUserMedia({ video: true, audio: true });
    } catch (error) {
      if (error.name !== "NotFoundError") throw error;
      return devices.getUserMedia({ video: true }); // there may be no microphone
    }
  };

  // Start or stop recording. Returns the reason if the webcam cannot be used.
  gleanvid.record = async () => {
    if (recorder) return recorder.stop();
    try {
      const stream = await camera();
      const parts = [];
      recorder = new MediaRecorder(stream);
      recorder.ondataavailable = ({ data }) => parts.push(data);
      recorder.onstop = () => {
        recorder = null;
        say("Webcam");
        stream.getTracks().forEach((track) => track.stop());
        give(new File(parts, "webcam.webm", { type: "video/webm" }));
      };
      recorder.start();
      setTimeout(() => { if (recorder?.state === "recording") recorder.stop(); }, 1000 * SECONDS);
      say("Stop and use");
    } catch ({ name }) {
      return { text: NO_CAMERA[name] ?? NO_CAMERA.NotFoundError, kind: "problem" };
    }
  };
})(window.gleanvid ??= {});
