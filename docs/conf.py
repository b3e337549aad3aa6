"""How the pages are built: ``./run docs``."""

from __future__ import annotations

import logging
import os
import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE / "building"), str(HERE.parent / "src")]

import executed  # noqa: E402

import svyaz  # noqa: E402

project = "svyaz"
author = "svyaz authors"
copyright = "svyaz authors, MIT licence"
version = release = svyaz.__version__

extensions = ["myst_nb", "sphinx.ext.autodoc", "pages"]
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
python_use_unqualified_type_names = True
python_maximum_signature_line_length = 100
nitpick_ignore_regex = [("py:.*", r".*")]  # types of arguments that are no entries themselves
myst_enable_extensions = ["attrs_inline", "colon_fence", "deflist", "dollarmath", "fieldlist"]
myst_heading_anchors = 4
# Notebooks, as text; what their cells give is kept until the package changes.
# Kernels start as in a fresh account, and say nothing but mistakes.
home = executed.KEPT.parent / "ipython"
(home / "profile_default").mkdir(parents=True, exist_ok=True)
(home / "profile_default" / "ipython_kernel_config.py").write_text("get_config().IPKernelApp.log_level = 40\n")
os.environ["IPYTHONDIR"] = str(home)
logging.getLogger("traitlets").setLevel(logging.ERROR)
nb_execution_mode = "cache"
nb_execution_cache_path = str(executed.shelf() / "notebooks")
nb_execution_raise_on_error = True
nb_execution_timeout = 300
nb_execution_in_temp = True
nb_merge_streams = True
nb_ipywidgets_js = {}
nb_mime_priority_overrides = [("html", "application/vnd.jupyter.widget-view+json", None)]

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
