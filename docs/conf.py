"""How the site is made: ``make docs`` runs everything, ``make docs-quick`` leaves the gallery's pictures out."""

from __future__ import annotations

import logging
import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
HERE = Path(__file__).parent
sys.path[:0] = [str(HERE / "_ext"), str(HERE.parent / "src")]

import outside  # noqa: E402
import reference  # noqa: E402

import fishernet as fn  # noqa: E402

project = "fishernet"
copyright = "2026, the fishernet developers"
version = release = fn.__version__
language = "en"

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "myst_parser",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
    "mathml",
]
exclude_patterns = ["_ext/**", "gallery/**", "auto_gallery/**/*.md5", "auto_gallery/**/*.py", "sg_execution_times.rst"]
suppress_warnings = ["config.cache", "myst.strikethrough"]
html_show_sphinx = False
root_doc = "index"
default_role = "autolink"
highlight_language = "text"

myst_enable_extensions = ["dollarmath", "colon_fence", "attrs_inline", "attrs_block"]
myst_heading_anchors = 4

autosummary_generate = False  # the pages are made by _ext/reference.py, one per name
autodoc_typehints = "none"
autodoc_member_order = "groupwise"
numpydoc_show_class_members = False
numpydoc_xref_param_type = False
numpydoc_validation_checks: set[str] = set()
add_module_names = False
toc_object_entries_show_parents = "hide"
python_use_unqualified_type_names = True

nitpicky = True
nitpick_ignore_regex = reference.NOT_OURS

sphinx_gallery_conf = {
    "examples_dirs": "gallery",
    "gallery_dirs": "auto_gallery",
    "filename_pattern": r"plot_",
    "within_subsection_order": "FileNameSortKey",
    "download_all_examples": False,
    "show_memory": False,
    "min_reported_time": 1,
    "doc_module": ("fishernet",),
    "backreferences_dir": None,
    "reference_url": {"fishernet": None},
    "remove_config_comments": True,
    "capture_repr": (),
    "image_scrapers": ("matplotlib",),
    "abort_on_example_error": False,
    "default_thumb_file": str(HERE / "_static" / "logo.svg"),
}

html_theme = "pydata_sphinx_theme"
html_title = "fishernet"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sourcelink = False
html_theme_options = {
    "show_prev_next": False,
    "navigation_with_keys": False,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "header_links_before_dropdown": 6,
    "show_toc_level": 2,
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
    "logo": {"text": "fishernet"},
}
html_sidebars = {"index": [], "start": [], "how-it-works": [], "auto_gallery/index": []}
html_context = {"default_mode": "auto"}

reference.write(HERE / "reference")


# sphinx-gallery warns of spaces anywhere in the path of an example, that of the clone too; the files' names have none.
logging.getLogger("sphinx.sphinx-gallery").addFilter(lambda record: "with spaces found" not in record.getMessage())


def setup(app: object) -> None:
    """Let pages link to files of the repository that are not part of the site."""
    outside.setup(app)
