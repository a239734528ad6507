"""Opens the viewer on a page without a server or Gradio, to test its scripts alone."""

import json
from typing import Any

from components.places import ASSETS
from components.server.theme import STYLES
from components.viewer import modules
from components.viewer.component import TEMPLATE, script
from components.viewer.payload import Packed

HOST = "http://viewer.test"
THEME = """
body { margin: 0; padding: 16px; font-family: system-ui, sans-serif; line-height: 1.5;
       background: #f6f8fa; --block-background-fill: #fff; }
body.dark { background: #0d131c; --block-background-fill: #141c27; }
body * { box-sizing: border-box; }
"""
# PAGE replaces gr.HTML: it defines what the script uses: `element`, `props`, `trigger`, `watch`.
SCRIPTS = ("files", "parts", "settings")  # files of assets/page whose functions the viewer calls
PAGE = """<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Viewer</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<style>{style}</style><script>{scripts}</script>{early}</head>
<body class="{mode}"><main><h1 hidden>Viewer</h1>
<div id="mount">{template}</div></main><script>
const element = document.getElementById("mount");
const watchers = {{}};
const props = {{ value: {value}, answers: [], choices: [] }};
const change = (name, value) => {{ props[name] = value; watchers[name].forEach((act) => act()); }};
const show = (value) => change("value", value);
window.triggered = [];
const trigger = (name, detail) => triggered.push([name, detail]);
const mount = () => {{
{script}
}};
window.heard = [];
for (const name of ["gleanvid:unit", "gleanvid:pair"])
  document.addEventListener(name, (event) => heard.push([name, event.detail]));
const watch = (name, act) => (watchers[name] ??= []).push(act);
mount();
</script></body></html>"""


def value_of(packed: Packed, name: str = "a") -> dict[str, Any]:
    """Return the viewer's value for packed runs, with the URLs of their sheet and data files."""
    files = {key: {"url": f"{HOST}/{name}.{key}"} for key in ("sheet", "data")}
    return packed.value | files


def open_alone(page: Any, packed: Packed, *others: Packed, dark: bool = False) -> Any:
    """Open the viewer with ``packed``; the page's ``show(value)`` can switch to ``others``."""
    style = THEME + "".join(path.read_text(encoding="utf-8") for path in STYLES)
    files = {}
    for name, item in zip("abcdef", (packed, *others), strict=False):
        files |= {f"/{name}.sheet": item.sheet, f"/{name}.data": item.data}
    body = PAGE.format(
        style=style,
        mode="dark" if dark else "",
        template=TEMPLATE,
        value=json.dumps(value_of(packed)).replace("<", "\\u003c"),
        scripts="".join((ASSETS / f"page/{name}.js").read_text("utf-8") for name in SCRIPTS),
        script=script(),
        early=modules.early(),
    )

    def answer(route: Any) -> None:
        path = route.request.url.removeprefix(HOST)
        if path == "/":
            route.fulfill(body=body, content_type="text/html")
        elif path.startswith("/modules/"):
            route.fulfill(body=modules.SCRIPT, content_type="text/javascript")
        elif path in files:
            route.fulfill(body=files[path], content_type="application/octet-stream")
        else:
            route.fulfill(status=404)

    page.requested, page.errors = [], []
    page.on("request", lambda request: page.requested.append(request.url))
    page.on("pageerror", lambda error: page.errors.append(str(error)))
    page.on("console", lambda line: page.errors.append(line.text) if line.type == "error" else None)
    page.unroute_all()
    page.route("**/*", answer)
    page.goto(f"{HOST}/")
    page.wait_for_selector(".gv-viewer[data-state=ready]", timeout=20_000)
    return page
