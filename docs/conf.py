"""Settings of the documentation site.

The source folder is the root of the repository, so that the pages in vignettes/ and CONTRIBUTING.md
are read where they are.  README.md has the command that builds the site.
"""

from __future__ import annotations

import os
import sys
from functools import partial
from pathlib import Path

from jupyter_cache.executors import utils
from sphinx.application import Sphinx

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "docs")]
# Pages are run by other processes: they import this copy of the package, too.
os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
os.environ["ODRF_QUIET"] = "1"

import links  # noqa: E402
import members  # noqa: E402

from odrf import __version__  # noqa: E402

project = "odrf"
author = "The odrf developers"
copyright = author
release = version = __version__

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "numpydoc",
    "sphinx.ext.viewcode",
    "sphinx_copybutton",
    "sphinx_codeautolink",
]
root_doc = "docs/index"
include_patterns = [
    "docs/**.md",
    "vignettes/*.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    "SECURITY.md",
    "data/README.md",
]
exclude_patterns = ["docs/_build", "**/.*", ".*", "tests", "odrf"]

html_theme = "furo"
html_title = f"odrf {release}"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_extra_path = ["start"]  # the page at the root of the site, which leads to docs/index.html
html_copy_source = False
pygments_style = "friendly"

myst_enable_extensions = ["colon_fence", "dollarmath", "deflist"]
myst_heading_anchors = 3
suppress_warnings = [
    "myst.xref_missing",  # tests/test_docs.py checks links to files of the repository
    "myst.header",
    "codeautolink.parse_block",  # cells of the shell
    "codeautolink.match_block",  # examples whose remarks to doctest are not shown
    "ref.citation",  # docstrings list sources that their text need not name again
]
nb_execution_mode = "cache"
nb_execution_cache_path = str(ROOT / "docs" / "_build" / "executed")
nb_execution_timeout = 600
nb_execution_raise_on_error = True
# What a cell prints in pieces is one text; nb_merge_streams would put each piece on its own line.
utils.executenb = partial(utils.executenb, coalesce_streams=True)

# A single word in backticks is a parameter or an attribute of the object described; names with a
# dot must be found.
nitpicky = True
default_role = "py:obj"
nitpick_ignore_regex = [("py:obj", r"[A-Za-z_]\w*")]
autodoc_typehints = "none"
autodoc_member_order = "bysource"
add_module_names = False
numpydoc_show_class_members = False
toc_object_entries_show_parents = "hide"
codeautolink_concat_default = True  # cells of a page use the names of those before them
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True


def setup(app: Sphinx) -> None:
    """Connect what makes the pages of the API, and links to them."""
    app.connect("source-read", members.read)
    links.setup(app)
