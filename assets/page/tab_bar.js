// On wide screens the tabs are shown in the header. Move their elements there too, so that the Tab key
// visits them in visual order.
(() => {
  const hasRoom = matchMedia("(min-width: 1001px)"); // the same breakpoint as in style.css
  const place = () => {
    const [tabs, header] = ["gv-tabs", "gv-header"].map((id) => document.getElementById(id));
    const bar = document.querySelector(":is(#gv-tabs, #gv-top) > .tab-wrapper");
    if (!tabs || !header || !bar) return false;
    if (hasRoom.matches) header.after(bar);
    else tabs.prepend(bar);
    return true;
  };
  hasRoom.addEventListener("change", place);
  const mounted = new MutationObserver(() => { if (place()) mounted.disconnect(); });
  mounted.observe(document.documentElement, { childList: true, subtree: true });
})();
