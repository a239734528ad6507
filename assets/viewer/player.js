// @ts-check
// Plays the frames one after the other, or the clip's own video with its sound in place of A's frame.

import { frameAt } from "./data.js";

const ICONS = { Play: "M4 2.5v11l9-5.5z", Pause: "M4 2.5h3v11H4zM9 2.5h3v11H9z" };
const SLOWEST_S = 0.6; // longest time between two frames, however far apart they were sampled
const FASTEST_S = 0.08;
const UNPLAYED = "This browser cannot play the clip, but the viewer still shows its frames.";

export class Player {
  #timer = 0;
  #refused = ""; // address of the clip that the browser could not play

  /** @param {import("./viewer.js").Viewer} viewer */
  constructor(viewer) {
    this.viewer = viewer;
    this.button = viewer.root.querySelector(".gv-play");
    this.toggleVideo = /** @type {HTMLElement} */ (viewer.root.querySelector("[data-act=video]"));
    this.video = viewer.panes.a.pane.querySelector("video");
    this.button.addEventListener("click", () => this.toggle());
    this.toggleVideo.addEventListener("click", () => this.showVideo(this.video.hidden));
    for (const kind of ["timeupdate", "seeked"]) this.video.addEventListener(kind, () => this.#follow());
    this.video.addEventListener("play", () => { this.#name("Pause"); this.#watch(); });
    this.video.addEventListener("pause", () => this.#name("Play"));
    this.video.addEventListener("error", () => this.#unplayable());
    // Without a decoder for its pictures, a browser plays the sound of a clip and reports no error.
    this.video.addEventListener("loadedmetadata", () => { if (!this.video.videoWidth) this.#unplayable(); });
    viewer.onHalt = () => this.stop();
    viewer.onDraw = () => this.#drawn();
  }

  stop() {
    clearTimeout(this.#timer);
    this.#timer = 0;
    this.video.pause();
    this.#name("Play");
  }

  toggle() {
    if (this.#timer || !this.video.paused) return this.stop();
    if (!this.video.hidden) return void this.video.play().catch(() => this.#unplayable());
    this.#name("Pause");
    this.#tick();
  }

  // Show the clip's video at the current time in place of A's frame.
  showVideo(on) {
    const { clip, panes, frame } = this.viewer;
    const address = clip?.value.video?.url;
    if (on && !address) return;
    this.stop();
    this.toggleVideo.setAttribute("aria-pressed", String(on));
    this.video.hidden = !on;
    panes.a.canvas.hidden = on;
    if (!on) return;
    if (this.video.dataset.of !== address) Object.assign(this.video, { src: address }).dataset.of = address;
    this.video.currentTime = clip.value.seconds[frame];
  }

  #name(name) {
    this.button.setAttribute("aria-label", name);
    this.button.querySelector("path").setAttribute("d", ICONS[name]);
  }

  #tick() {
    const { clip, element, frame } = this.viewer;
    if (!element.isConnected || !clip) return this.stop();
    const { tiles, seconds } = clip.value;
    const next = (frame + 1) % tiles.count;
    this.viewer.showFrame(next);
    const gap = next + 1 < tiles.count ? seconds[next + 1] - seconds[next] : SLOWEST_S;
    const pause = Math.max(FASTEST_S, Math.min(gap, SLOWEST_S));
    this.#timer = window.setTimeout(() => this.#tick(), 1000 * pause);
  }

  // --- the video and the cursor ------------------------------------------------------------------

  // While the video plays, the timeline's cursor follows every video frame that the browser displays.
  #watch() {
    if (this.video.paused) return;
    this.#follow();
    this.video.requestVideoFrameCallback(() => this.#watch());
  }

  #follow() {
    const { clip, frame } = this.viewer;
    if (!clip || this.video.hidden || this.video.seeking || this.video.paused) return;
    const next = frameAt(clip.value.seconds, this.video.currentTime);
    if (next !== frame) this.viewer.showFrame(next);
  }

  // A paused video follows the timeline's cursor.
  #drawn() {
    const { clip, frame } = this.viewer;
    const address = clip.value.video?.url;
    this.toggleVideo.hidden = !address;
    const words = address && address === this.#refused ? "Video cannot be played" : "Video";
    if (this.toggleVideo.textContent !== words) this.toggleVideo.textContent = words;
    if (this.video.hidden) return;
    if (!address || this.video.dataset.of !== address) return this.showVideo(false);
    const { seconds } = clip.value;
    if (this.video.paused && frameAt(seconds, this.video.currentTime) !== frame)
      this.video.currentTime = seconds[frame] + 1e-3;
  }

  #unplayable() {
    if (this.video.hidden) return;
    this.showVideo(false);
    this.viewer.telling.say(UNPLAYED);
    this.#refused = this.viewer.clip.value.video?.url;
    this.#drawn();
  }
}
