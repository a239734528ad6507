"""Settings of the documentation site; ``make docs`` builds it into ``docs/_build/html``."""

import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "docs")]

project = "GleanVID"
author = "GleanVID contributors"
html_title = "GleanVID"
extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "site_extension"]
exclude_patterns = ["_build", "reference/generated/saved_run.md"]  # included
nitpicky = True
nitpick_ignore_regex = [
    ("py:.*", r"(?!gleanvid\.).*"),  # links to torch and numpy need a network
    (
        "py:.*",
        r"gleanvid\.(api\.arguments\.Picture|cost\.Answer|compressors\.(shared|gleanvid)\..*)",
    ),  # not public
]

html_theme = "furo"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_show_sphinx = False
html_show_copyright = False
html_copy_source = False

myst_enable_extensions = ["dollarmath", "colon_fence", "deflist"]
myst_heading_anchors = 3
nb_execution_mode = "cache"  # a notebook that did not change is not run again
nb_execution_raise_on_error = True
nb_execution_timeout = 300
nb_execution_show_tb = True
nb_merge_streams = True
nb_output_stderr = "remove"  # progress bars

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
autodoc_preserve_defaults = True
python_display_short_literal_types = True
