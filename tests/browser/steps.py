"""Actions of a person on the page, and functions that wait for what the page shows."""

import time

REST = """() => document.querySelector("#gv-stop").disabled
  && [...document.querySelectorAll(".gv-pane .gv-answered")].every((answer) => !answer.hidden
    && !answer.hasAttribute("data-stale") && !answer.hasAttribute("data-running"))"""

STATE = """() => JSON.stringify({
  url: location.href,
  notices: [...document.querySelectorAll(".gv-notice")].map(({ textContent }) => textContent),
  canStop: !document.querySelector("#gv-stop").disabled,
  pending: document.querySelector(".gv-pending")?.textContent,
  answers: [...document.querySelectorAll(".gv-pane .gv-answered")]
    .map(({ hidden, dataset, textContent }) => ({ hidden, ...dataset, textContent })),
})"""


def caption(page) -> str:
    return page.locator(".gv-caption").inner_text()


def settle(page) -> None:
    page.evaluate(
        "() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"
    )


def notice(page, text: str) -> None:
    """Wait until the page's message line contains this text."""
    line = "document.querySelector('.gv-notice')?.textContent"
    try:
        page.wait_for_function(f"text => {line}.includes(text)", arg=text)
    except Exception as error:
        raise AssertionError(
            f"{text!r} never came: {page.evaluate(line)!r} stands there"
        ) from error


def says(page, text: str) -> None:
    """Wait until the caption under the current frame contains this text."""
    page.wait_for_function(
        "text => document.querySelector('.gv-caption').textContent.includes(text)", arg=text
    )


def until(page, happened, timeout_s: float = 60) -> None:
    """Wait until the Python function ``happened`` returns true."""
    end = time.monotonic() + timeout_s
    while not happened():
        assert time.monotonic() < end
        page.wait_for_timeout(20)


def ask(page, question: str) -> None:
    page.get_by_label("Question", exact=True).fill(question)
    page.click("#gv-ask")


def answered(page, timeout_s: float = 60) -> None:
    """Wait until both sides have answered the question in the box, and no job is running."""
    try:
        page.wait_for_function(REST, timeout=1000 * timeout_s)
    except Exception as error:
        raise AssertionError(f"no answers came: {page.evaluate(STATE)}") from error


def reply(page, side: str):
    return page.locator(f".gv-pane[data-side={side}] .gv-reply")


def name(page, side: str) -> str:
    return page.locator(f"[data-pick={side}] option:checked").text_content()


def named(page, side: str, text: str) -> None:
    """Wait until a side of the viewer has this title."""
    page.wait_for_function(
        """([side, text]) => document.querySelector(`[data-pick=${side}] select`)
          ?.selectedOptions[0]?.textContent === text""",
        arg=[side, text],
    )


def slider(page, name: str):
    return page.get_by_role("slider", name=name)


def upload(page, file) -> None:
    """Upload a clip, and wait until it has replaced the previous one."""
    page.locator(".gv-examples input[type=file]").set_input_files(file)
    page.wait_for_function("!document.querySelector('.gv-chip')")


def more(page) -> None:
    page.get_by_role("button", name="More settings").click()


def tab(page, name: str) -> None:
    """Open a tab of the page, from the tab bar or from the menu of tabs that do not fit."""
    page.get_by_role("tab").first.wait_for()
    shown = page.get_by_role("tab", name=name, exact=True)
    if shown.count():
        shown.click()
        return
    page.locator(".overflow-menu > button").click()
    page.locator(".overflow-dropdown button", has_text=name).click()
