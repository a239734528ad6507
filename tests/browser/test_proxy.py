"""The page below a path of nginx, set up as docs/guides/share.md says."""

import pytest

from tests.browser.conftest import listen, served
from tests.browser.steps import answered, ask, notice, tab
from tests.components.fake import FakeBackend, write_clip
from tests.deploy.nginx import nginx

pytestmark = pytest.mark.slow
PREFIX = "/gleanvid"
BELOW = {
    # browsers request the icon from the host's root, not under the page's path
    "location / ": f"location = /favicon.ico {{ return 204; }} location {PREFIX}/ ",
    "location = /gradio": f"location = {PREFIX}/gradio",
    "proxy_pass ": f"rewrite ^{PREFIX}(/.*) $1 break; proxy_pass ",
}


@pytest.fixture(scope="module")
def address(browser, tmp_path_factory, pytestconfig):
    from components.jobs.engine import Engine
    from components.jobs.examples import Example

    folder = tmp_path_factory.mktemp("proxied")
    write_clip(folder / "clip.mp4")
    examples = [Example(folder / "clip.mp4", "Square", "What moves?")]
    app = served(Engine(FakeBackend()), examples, root_path=PREFIX)
    with app as url, nginx(url, folder, pytestconfig, BELOW) as address:
        yield address + PREFIX


def test_page_works_behind_a_proxy_that_serves_it_under_a_path(window, address):
    page = listen(window)
    replies = []
    page.on("response", lambda reply: replies.append((reply.status, reply.url)))
    page.goto(address + "/")
    page.get_by_role("button", name="Square", exact=True).click()
    notice(page, "Used 32")
    page.wait_for_selector(".gv-viewer[data-state=ready]")
    ask(page, "What moves?")
    answered(page)
    page.click("[data-act=video]")
    page.wait_for_function("document.querySelector('.gv-video').readyState > 1")
    tab(page, "Export and API")
    page.get_by_role("button", name="Write code").click()
    page.wait_for_selector("text=ROOT=")
    assert f"ROOT={address}\n" in page.locator(".gv-code pre").last.inner_text()
    assert [reply for reply in replies if reply[0] >= 400] == []
    named = [url for _, url in replies if url.startswith("http")]
    assert len(named) > 20 and all(url.startswith(address + "/") for url in named)
    assert page.errors == []
    page.close()
