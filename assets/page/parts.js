// Small parts of the page for which Gradio has no widget. The script of a `gr.HTML` mounts each part,
// which shows the value of the `gr.HTML`, always as text.
((gleanvid) => {
  const make = (tag, fields, ...children) => {
    const node = Object.assign(document.createElement(tag), fields);
    node.append(...children);
    return node;
  };

  const QUEUE_MS = 3000; // time between two questions about the queue

  const PARTS = {
    // No content: scripts trigger the events of this part (`signals` of components/widgets/events.py).
    signals({ trigger }) {
      gleanvid.signal = (name) => trigger(name, {});
      return () => {};
    },

    // One line of plain text. Gradio's own template would interpret it as HTML.
    text({ element, props }) {
      return () => { element.querySelector("p").textContent = props.value || ""; };
    },

    // A message on progress or about a problem; the user can dismiss a problem.
    notice({ element, props }) {
      const line = element.querySelector(".gv-notice");
      const close = make("button", { type: "button", textContent: "Dismiss" });
      const isStale = gleanvid.newestOnly();
      const show = () => {
        const { text = "", kind = "quiet", version = 0 } = props.value || {};
        if (isStale(version)) return;
        line.textContent = text;
        line.dataset.kind = text ? kind : "quiet";
        if (line.dataset.kind === "problem") line.append(close);
      };
      close.addEventListener("click", () => { props.value = {}; show(); });
      return show;
    },

    // The status line: pairs of name and text. While others use the model, it asks for the state of the queue.
    status({ element, props }) {
      const list = element.querySelector(".gv-status");
      let timer = 0;
      return () => {
        const pairs = props.value || [];
        list.replaceChildren(...pairs.map(([name, text]) =>
          make("div", {}, make("dt", { textContent: name }), make("dd", { textContent: text }))));
        clearInterval(timer);
        if (pairs.some(([name, text]) => name === "Queue" && text !== "idle"))
          timer = setInterval(() => { if (!document.hidden) gleanvid.signal("queue"); }, QUEUE_MS);
      };
    },

    // Suggested questions: a click asks one.
    questions({ element, props, trigger }) {
      const list = element.querySelector(".gv-chips");
      return () => list.replaceChildren(...(props.value || []).map((text) => {
        const chip = make("button", { type: "button", className: "gv-chip", textContent: text });
        chip.addEventListener("click", () => trigger("pick", { text }));
        return chip;
      }));
    },

    // Uploaded clips.
    shelf({ element, props, trigger }) {
      const row = element.querySelector(".gv-shelf");
      return () => {
        row.replaceChildren(...(props.value ?? []).map(({ clip, picture }, place) => {
          const name = clip.split("/").pop();
          const button = make("button", { type: "button", title: name, ariaLabel: name },
            make("img", { src: picture, alt: "" }));
          button.dataset.clip = clip;
          button.addEventListener("click", () => {
            gleanvid.chooseClip(clip);
            trigger("pick", { place });
          });
          return button;
        }));
        gleanvid.markClip?.();
        gleanvid.keepOwn?.(props.value ?? []);
      };
    },

    // Progress of downloading and loading a model.
    loading({ element, props }) {
      const box = element.querySelector(".gv-loading"), [bar, line] = box.children;
      return () => {
        const { text = "", done = 0, total = 0, over = true, failed = false } = props.value || {};
        box.hidden = !text;
        bar.hidden = over;
        if (total) bar.value = done / total; else bar.removeAttribute("value");
        line.textContent = text;
        line.dataset.kind = failed ? "problem" : "quiet";
      };
    },

    // Parameters of a link that the page does not know; this part removes them from the address.
    unread({ element, props }) {
      const line = element.querySelector(".gv-unread"), [words, close] = line.children;
      close.addEventListener("click", () => { line.hidden = true; });
      return () => {
        const { text = "", names = [] } = props.value || {};
        words.textContent = text;
        line.hidden = !text;
        for (const name of names) gleanvid.writeAddress(name, "");
      };
    },
  };

  // The exports of a module of the app.
  gleanvid.part = async (name) => (await import(gleanvid.fromRoot(gleanvid.script))).parts[name];

  // Mount a module of the app with Gradio's scope and constant properties.
  gleanvid.load = async (name, scope, fixed) => {
    try {
      const { mount } = await gleanvid.part(name);
      mount({ ...scope, ...fixed });
    } catch (error) {
      console.error(error);
      const blank = scope.element.querySelector(".gv-blank"); // placeholder shown until the viewer is mounted
      if (blank) blank.textContent = "The viewer did not load. Load the page again.";
    }
  };

  // `scope`: the element, properties and functions that Gradio passes to the script of a `gr.HTML`.
  gleanvid.mount = (part, scope) => {
    const show = PARTS[part](scope);
    scope.watch("value", show);
    show();
  };
})(window.gleanvid ??= {});
