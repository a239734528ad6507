from tests.browser.viewer.case import fresh_page, made_case, shared_tab  # noqa: F401
