"""The settings of the site, which `make docs` builds."""

import atexit
import logging
import os
import shutil
import sys
import tempfile
from hashlib import sha256
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "_ext"))

import array_names  # noqa: E402, F401  (before any module of the package: gives its array types their names)

import subsetprivacy  # noqa: E402

project = "subsetprivacy"
author = "The subsetprivacy developers"
copyright = author
version = release = subsetprivacy.__version__
language = "en"

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
    "sphinx.ext.viewcode",
    "mathml",
    "public_names",
    "help_texts",
    "design_kinds",
    "as_notebook",
    "alt_text",
    "outputs",
    "shell_cells",
    "people",
    "reproduction",
    "adversaries",
    "unsearched",
    "navigation",
    "offline",
]
exclude_patterns = ["_build", "pictures", "reproduction"]

# Text -------------------------------------------------------------------------------------------

myst_enable_extensions = ["dollarmath", "deflist", "attrs_inline", "attrs_block", "colon_fence", "substitution"]
myst_substitutions = {"version": version}
myst_heading_anchors = 3
html_math_renderer = "mathml"  # native MathML, no script
default_role = "name"  # `privatize` in a docstring links to it, `gen_mom` stays a label

# Cells ------------------------------------------------------------------------------------------

nb_execution_mode = "force"  # whenever a page is read: jupyter-cache does not support pages that run at the same time
nb_execution_in_temp = True
nb_execution_raise_on_error = False  # a failing cell is a warning, which shows its traceback and fails the build
nb_execution_timeout = 120
nb_execution_show_tb = True
nb_output_stderr = "warn"  # a page that wants to show a warning says so in its cell
nb_merge_streams = True
nb_number_source_lines = False

# What the cells inherit: this environment's commands, one thread, no personal settings, sharp pictures.
logging.getLogger("traitlets").setLevel(logging.WARNING)
_home = tempfile.mkdtemp(prefix="subsetprivacy-docs-")
atexit.register(shutil.rmtree, _home, ignore_errors=True)
(Path(_home) / "profile_default").mkdir()
(Path(_home) / "profile_default" / "ipython_kernel_config.py").write_text(
    'c.InlineBackend.figure_formats = {"svg"}\nc.HistoryManager.enabled = False\nc.IPKernelApp.log_level = "ERROR"\n',
    encoding="utf-8",
)
# The style sheet of the package, so that plots of a page look like its own pictures.
_style = Path(subsetprivacy.__file__).parent / "draw" / "style.mplstyle"
(Path(_home) / "matplotlibrc").write_text(
    _style.read_text(encoding="utf-8") + (HERE / "_ext" / "matplotlibrc").read_text(encoding="utf-8"), encoding="utf-8"
)
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # a hundred processes would each compile the package
os.environ.update(
    PATH=os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")]),
    IPYTHONDIR=_home,
    MATPLOTLIBRC=str(Path(_home) / "matplotlibrc"),
    OPENBLAS_NUM_THREADS="1",
    OMP_NUM_THREADS="1",  # threads that wait for each other cost more than they save
    DOCS=str(HERE),  # for files that a reader downloads from the page
    PYDEVD_DISABLE_FILE_VALIDATION="1",
)

# The reference ----------------------------------------------------------------------------------

autosummary_generate = False
autodoc_member_order = "bysource"
autodoc_typehints = "description"
autodoc_typehints_description_target = "documented_params"
autodoc_typehints_format = "short"
python_use_unqualified_type_names = True
python_maximum_signature_line_length = 90
napoleon_google_docstring = False
napoleon_use_ivar = True
napoleon_use_rtype = False
napoleon_preprocess_types = False
toc_object_entries_show_parents = "hide"

nitpicky = True
nitpick_ignore_regex = [
    # What results keep inside: types in modules, which are documented only where a reader meets them.
    (r"py:class", r"subsetprivacy\.[a-z_.]+\.[A-Z]\w*"),
    (r"py:class", r"subsetprivacy\.Annotated|'table'|Frame"),  # arrays of two dimensions, and frames of any library
    (r"py:class", r"D\[k\] if k in D.*|an? (set-like )?object providing .*"),  # docstrings that mappings inherit
    (
        r"py:.*",
        r"(collections\.abc|typing|os|pathlib|numpy|fractions|matplotlib|pandas|polars|draw)\..*",
    ),  # of other packages, which have their own sites
]


def setup(app):
    """Read every page again, and so run its cells, when the package has changed."""
    sources = sorted(path for path in Path(subsetprivacy.__file__).parent.rglob("*") if path.suffix in (".py", ".json"))
    state = sha256(b"".join(path.read_bytes() for path in sources)).hexdigest()
    app.add_config_value("package_state", state, "env")


# Looks ------------------------------------------------------------------------------------------

html_theme = "furo"
pygments_dark_style = "github-dark"
html_title = "subsetprivacy"
html_static_path = ["_static"]
html_extra_path = [str(path) for path in [HERE / "reproduction"] if path.is_dir()]  # stored results, shown by its page
html_css_files = ["site.css"]
html_js_files = [("site.js", {"defer": "defer"})]
templates_path = ["_templates"]
html_sidebars = {
    "**": [
        "sidebar/brand.html",
        "version.html",
        "sidebar/search.html",
        "sidebar/scroll-start.html",
        "sidebar/navigation.html",
        "sidebar/scroll-end.html",
    ]
}
html_favicon = "_static/mark.svg"
html_logo = "_static/mark.svg"
html_copy_source = False
html_show_sourcelink = False
html_show_sphinx = False
html_theme_options = {
    "footer_icons": [],
    "light_css_variables": {"color-brand-primary": "#1f5f99", "color-brand-content": "#1f5f99"},
    "dark_css_variables": {"color-brand-primary": "#7db8ea", "color-brand-content": "#7db8ea"},
}
