"""How the pages are built: ``./run docs``."""

from __future__ import annotations

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE / "building"), str(HERE.parent / "src")]

import svyaz  # noqa: E402

project = "svyaz"
author = "svyaz authors"
copyright = "svyaz authors, MIT licence"
version = release = svyaz.__version__

extensions = ["myst_parser", "pages"]
myst_enable_extensions = ["attrs_inline", "colon_fence", "deflist", "dollarmath", "fieldlist"]
myst_heading_anchors = 4
exclude_patterns = ["building"]
nitpicky = True

html_theme = "furo"
html_title = "svyaz"
html_static_path = ["_static"]
html_css_files = ["katex.css", "site.css"]
html_math_renderer_name = "katex"
html_copy_source = False
html_show_sphinx = False
html_theme_options = {"navigation_with_keys": True, "top_of_page_buttons": []}
