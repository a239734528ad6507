"""What hands do on the page, and what eyes wait for."""

from __future__ import annotations


def caption(page) -> str:
    return page.locator(".gv-caption").inner_text()


def settle(page) -> None:
    page.evaluate(
        "() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"
    )


def notice(page, text: str) -> None:
    page.wait_for_function(
        "text => document.querySelector('.gv-notice')?.textContent.includes(text)", arg=text
    )


def ask(page, question: str) -> None:
    page.get_by_label("Question", exact=True).fill(question)
    page.click("#gv-ask")


def tab(page, name: str) -> None:
    """Open a tab; on a narrow page those that do not fit stand in a menu."""
    page.get_by_role("tab").first.wait_for()
    shown = page.get_by_role("tab", name=name, exact=True)
    if shown.count():
        shown.click()
        return
    page.locator(".overflow-menu > button").click()
    page.locator(".overflow-dropdown button", has_text=name).click()
