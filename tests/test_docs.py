"""The documentation names what the package has, and nothing else; to build it takes minutes."""

from __future__ import annotations

import ast
import importlib
import inspect
import io
import pkgutil
import re
import runpy
from contextlib import redirect_stdout
from pathlib import Path
from types import SimpleNamespace

import matplotlib
import pandas as pd
import pytest

import odrf
import odrf.sklearn
from benchmarks.accuracy.neighbours import METHODS, PLAIN_FOREST, beside, longest_beside
from odrf.api.forests import odrf as fit_forest
from odrf.api.trees import odt as fit_tree
from odrf.engine import compiling
from odrf.projections import FAMILIES
from odrf.reports.effects import Effects
from odrf.reports.paths import PruningPath
from odrf.results.boosted import ODBTResults
from odrf.results.forest import ODRFResults
from odrf.results.guided import GRAFResults
from odrf.results.tree import ODTResults
from test_layers import LAYERS

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = sorted(DOCS.glob("*.md")) + sorted((DOCS / "api").glob("*.md"))
API = "\n".join(path.read_text(encoding="utf-8") for path in (DOCS / "api").glob("*.md"))
CLASSES_OF_PAGES = re.findall(r"^```\{(?:class|members)\} ([\w.]+)$", API, flags=re.MULTILINE)
GALLERY = (DOCS / "gallery.md").read_text(encoding="utf-8")
FROM_R = (ROOT / "vignettes" / "from-r.md").read_text(encoding="utf-8")
LINKED = [
    *PAGES,
    *sorted((ROOT / "vignettes").glob("*.md")),
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md")),
    ROOT / "data" / "README.md",
]
FUNCTIONS = {"odt": fit_tree, "odrf": fit_forest, "odbt": odrf.odbt, "graf": odrf.graf}
OBJECTS = {
    "tree": ODTResults, "forest": ODRFResults, "boosted": ODBTResults, "path": PruningPath,
    "effects": Effects, "fit": ODRFResults,
}  # fmt: skip


def name_of(path):
    return path.relative_to(ROOT).as_posix()


def classes_of_the_package():
    for module in pkgutil.walk_packages(odrf.__path__, "odrf."):
        if ".__main__" not in module.name:
            yield from (
                found
                for _, found in inspect.getmembers(
                    importlib.import_module(module.name), inspect.isclass
                )
                if found.__module__ == module.name
            )


def shown(path):
    """The pages of the tables of contents of a page."""
    for block in re.findall(
        r"```\{toctree\}\n(.*?)```", path.read_text(encoding="utf-8"), flags=re.DOTALL
    ):
        for line in block.splitlines():
            target = re.sub(r".*<(.*)>", r"\1", line)
            if target and not target.startswith(":"):
                yield from path.parent.glob(target + ".md")


def test_the_settings_can_be_read():
    pytest.importorskip("sphinx")
    settings = runpy.run_path(str(DOCS / "conf.py"))
    assert settings["release"] == odrf.__version__
    assert settings["nitpicky"]


@pytest.mark.parametrize(
    "module", [odrf, odrf.sklearn, odrf.simulate], ids=lambda module: module.__name__
)
def test_every_public_name_is_described(module):
    described = [
        *re.findall(r"^\.\. \w+(?::\w+)?:: ([\w.]+)$", API, flags=re.MULTILINE),
        *CLASSES_OF_PAGES,
    ]
    missing = {f"{module.__name__}.{name}" for name in module.__all__} - set(described)
    # odrf.Patch is odrf.projections.Patch, and odrf.simulate has a page of its own
    assert missing - {"odrf.Patch", "odrf.simulate"} == set()


def test_every_family_and_result_class_is_described():
    described = {name.rpartition(".")[-1] for name in CLASSES_OF_PAGES}
    described |= set(re.findall(r"^\.\. autoclass:: [\w.]+\.(\w+)$", API, flags=re.MULTILINE))
    wanted = {family.__name__ for family in FAMILIES.values()}
    wanted |= {found.__name__ for found in (ODTResults, ODRFResults, ODBTResults, GRAFResults)}
    assert wanted - described == set()


def test_what_the_api_describes_exists():
    found = re.findall(
        r"^\.\. auto(?:class|function|exception):: ([\w.]+)$", API, flags=re.MULTILINE
    )
    for name in [*found, *CLASSES_OF_PAGES]:
        module, last = name.rsplit(".", 1)
        assert hasattr(importlib.import_module(module), last), name


MEMBERS = runpy.run_path(str(DOCS / "members.py"))
RESULTS = [name for name in CLASSES_OF_PAGES if name.startswith("odrf.results.")]


def test_the_page_of_a_class_has_all_its_methods_once():
    assert len(RESULTS) >= 10
    for name in CLASSES_OF_PAGES:
        kind = MEMBERS["named"](name)
        listed = [each for names in MEMBERS["members"](kind).values() for each in names]
        ours = {
            each
            for each in dir(kind)
            if not each.startswith("_")
            and any(each in vars(base) for base in kind.__mro__ if "odrf" in base.__module__)
            and each not in MEMBERS["hidden"](kind)
        }
        assert sorted(listed) == sorted(ours), name


@pytest.mark.parametrize("name", RESULTS)
def test_methods_of_results_stand_below_headings_in_the_order_of_the_pages(name):
    groups = MEMBERS["members"](MEMBERS["named"](name))
    assert "" not in groups  # a method above the first heading of its class
    assert list(groups) == [group for group in MEMBERS["GROUPS"] if group in groups]
    names = [each for group in groups.values() for each in group]
    if "ale" in names:
        assert names.index("predict") < names.index("importance") < names.index("ale")


def test_headings_in_bodies_of_result_classes_are_those_of_the_pages():
    for path in (ROOT / "odrf" / "results").rglob("*.py"):
        for line in re.findall(
            r"^    # ([A-Z].*)$", path.read_text(encoding="utf-8"), re.MULTILINE
        ):
            assert line in MEMBERS["GROUPS"], (path.name, line)


def test_a_table_of_methods_begins_with_what_predicts():
    text = MEMBERS["table"](
        "odrf.results.tree.ODTResults", MEMBERS["members"](ODTResults), linked=False
    )
    assert text.index("| **Predictions** |") < text.index("`predict <") < text.index("`ale <")
    assert "Return the importance of each predictor" in text


def test_the_gallery_shows_a_small_picture_of_each_plot():
    drawn = runpy.run_path(str(DOCS / "pictures.py"))
    before, after = GALLERY.split(drawn["END"])
    shown = re.findall(r"\[!\[(\S+)\]\((\S+)\)\]\((\S+)\)", before)
    plots = [name for _, name, _ in drawn["sections"](after) if "." in name]
    others = [path.name for path in (DOCS / "pictures").glob("*.*")]
    assert sorted(name for name, _, _ in shown) == sorted([*plots, *others])
    files = {path for _, path, _ in shown}
    assert files == {name_of(path)[5:] for path in (DOCS / "pictures" / "gallery").iterdir()}
    assert {name: target for name, _, target in shown if name in plots} == {
        name: f"#{slug(name)}" for name in plots
    }


def test_every_plot_is_in_the_gallery():
    plots = {
        f"{found.__name__}.{method}"
        for found in classes_of_the_package()
        for method in ("plot", "plot_image")
        if hasattr(found, method) and not inspect.isabstract(found)
    }
    headed = set(re.findall(r"^### `(\w+\.\w+)`$", GALLERY, flags=re.MULTILINE))
    assert headed == plots


def test_every_section_of_the_gallery_draws():
    for section in GALLERY.split("\n### ")[1:]:
        title, text = section.split("\n", 1)
        method = title.strip("`").split(".")[1]
        assert f".{method}(" in "".join(re.findall(r"\{code-cell\}.*?```", text, re.DOTALL)), title


def test_every_page_is_in_a_table_of_contents():
    listed = {path for page in PAGES for path in shown(page)}
    listed = {path.resolve() for path in listed}
    wanted = {*PAGES, *(ROOT / "vignettes").glob("*.md")} - {DOCS / "index.md"}
    assert {name_of(path) for path in wanted - listed} == set()


@pytest.mark.parametrize("path", LINKED, ids=name_of)
def test_a_block_is_closed_before_the_next_begins(path):
    fences = re.findall(r"^(`{3,})(.*)$", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
    assert len(fences) % 2 == 0
    for (opened, words), (closed, rest) in zip(fences[::2], fences[1::2], strict=True):
        assert opened == closed and not rest.strip(), (words, rest)


@pytest.mark.parametrize("path", LINKED, ids=name_of)
def test_links_lead_to_files(path):
    text = re.sub(r"```.*?```", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
    for target in re.findall(r"\]\(([^)\s]+)\)|<img src=\"([^\"]+)\"", text):
        target = "".join(target)
        if not re.match(r"\w+://|#|mailto:", target):
            assert (path.parent / target.split("#")[0]).exists(), target


def test_every_benchmark_has_its_command():
    page = (DOCS / "benchmarks.md").read_text(encoding="utf-8")
    for path in sorted((ROOT / "benchmarks").rglob("*.py")):
        runs = '__name__ == "__main__"' in path.read_text(encoding="utf-8")
        if runs and path.stem not in ("survival_worker", "worker"):  # other scripts start them
            command = f"python -m benchmarks.{path.parent.name}.{path.stem}"
            assert re.search(rf"^{re.escape(command)}( |$)", page, flags=re.MULTILINE), command


def our_side():
    """The expressions of the last column of the tables of vignettes/from-r.md."""
    for line in FROM_R.splitlines():
        if line.startswith("| ") and not line.startswith("|---"):
            yield from re.findall(r"`([^`]+)`", line.rstrip("|").split(" | ")[-1])


def test_calls_that_replace_those_of_r_exist():
    checked = 0
    for text in our_side():
        call = re.fullmatch(r"(?:(\w+)\.)?(\w+)(?:\((.*)\))?", text, flags=re.DOTALL)
        if call is None or (call[1] is None and call[3] is None):
            continue
        owner, name, arguments = call[1], call[2], call[3] or ""
        # Python 3.13 and later take the indentation away
        documented = inspect.cleandoc(OBJECTS[owner].__doc__ or "") if owner else ""
        if f"\n{name} : " in documented:
            assert "(" not in text  # an attribute that __init__ sets
            function = None
        elif owner is not None:
            assert hasattr(OBJECTS[owner], name), text
            assert ("(" in text) == callable(getattr(OBJECTS[owner], name)), text
            function = getattr(OBJECTS[owner], name)
        else:
            function = FUNCTIONS.get(name) or getattr(odrf, name)
        for argument in re.findall(r"(\w+)=", arguments):
            assert argument in inspect.signature(function).parameters, text
        checked += 1
    assert checked > 60


def test_words_that_replace_those_of_r_are_taken():
    families = set(re.findall(r'projection="(\w+)"', "\n".join(our_side())))
    assert families <= set(FAMILIES)


def slug(heading):
    """The anchor that the site gives a heading."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def test_links_into_pages_meet_a_heading():
    met = 0
    for path in LINKED:
        for target in re.findall(r"\]\(([^)\s:]*#[\w-]+)\)", path.read_text(encoding="utf-8")):
            name, anchor = target.split("#")
            page = (path.parent / name if name else path).read_text(encoding="utf-8")
            headings = re.findall(r"^#{1,3} (.*)$", page, flags=re.MULTILINE)
            assert anchor in map(slug, headings), f"{name_of(path)}: {target}"
            met += 1
    assert met > 5


def test_the_summary_of_accuracy_has_the_figures_of_its_tables():
    page = (ROOT / "vignettes" / "accuracy.md").read_text(encoding="utf-8")
    summary, rest = page[page.index("In short") :].split("\n## ", maxsplit=1)
    figures = set(re.findall(r"\d+\.\d+", summary))
    assert len(figures) > 15
    assert figures <= set(re.findall(r"\d+\.\d+", rest))


# ------------------------------------------------------------------------------------------------
# What the developers' page says: files that exist, all layers, all families, what tests cover.
# ------------------------------------------------------------------------------------------------


PAGE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")


FOLDERS = r"odrf|tests|benchmarks|docs|vignettes|\.ci"


@pytest.mark.parametrize("path", sorted(set(re.findall(rf"`((?:{FOLDERS})/[\w/.-]*)`", PAGE))))
def test_what_it_names_is_there(path):
    assert (ROOT / path).exists()


def test_every_package_has_its_layer():
    rows = re.findall(r"^\| (\d+) \| (.*?) \|", PAGE, flags=re.MULTILINE)
    listed = {
        Path(name).stem: int(floor) - 1
        for floor, names in rows
        for name in re.findall(r"`odrf/([\w.]+)/?`", names)
    }
    assert listed == {name: floor for floor, names in enumerate(LAYERS) for name in names}


def test_every_subject_of_the_benchmarks_has_its_row():
    listed = re.findall(r"^\| `benchmarks/(\w+)/` \|", PAGE, flags=re.MULTILINE)
    assert sorted(listed) == sorted(
        path.parent.name for path in ROOT.glob("benchmarks/*/__init__.py")
    )


def test_every_family_has_its_row():
    rows = re.findall(r'^\| `"(\w+)"` \| (.*?) \| (\w+) \| (\w+) \|$', PAGE, flags=re.MULTILINE)
    expected = [
        (
            name,
            "squared error" if "regression" in family.tasks else "–",
            family.criterion,
            str(family.n_thresholds),
        )
        for name, family in FAMILIES.items()
    ]
    assert rows == expected


def test_what_numba_compiles_is_left_out_of_the_coverage():
    settings = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    left_out = set(re.findall(r"'\^ \*@\((.*)\)", settings)[0].split("|"))
    compilers = {
        name
        for name in vars(compiling)
        if getattr(getattr(compiling, name), "__code__", None) is compiling.kernel.__code__
    }
    assert compilers >= {"kernel", "part"}
    assert left_out == compilers | {"begins", "cuda.jit", "draws", "intrinsic", "njit", "overload"}


# ------------------------------------------------------------------------------------------------
# Tests of readme.
# ------------------------------------------------------------------------------------------------


README = (ROOT / "README.md").read_text(encoding="utf-8")
TOUR = (ROOT / "docs" / "which-function.md").read_text(encoding="utf-8")


def test_ci_runs_the_test_command_of_the_readme():
    (command,) = re.findall(r"^python3 -m venv \.venv-test .*$", README, flags=re.MULTILINE)
    assert command in (ROOT / ".ci" / "run").read_text(encoding="utf-8")


def test_the_site_is_built_by_one_command():
    (command,) = re.findall(r"sphinx-build .*$", README, flags=re.MULTILINE)
    page = (ROOT / "docs" / "developers.md").read_text(encoding="utf-8")
    assert command in page
    assert " -W " in command


@pytest.mark.parametrize(
    ("code", "output"),
    re.findall(r"```python\n(.*?)```\n\n```text\n(.*?)```", README, flags=re.DOTALL),
)
def test_python_block_prints_what_is_shown(code, output):
    matplotlib.use("agg")
    assert README.count("```python") == README.count("```text") == 1
    assert len([line for line in code.splitlines() if line]) <= 10
    with redirect_stdout(io.StringIO()) as printed:
        exec(code, {})
    assert printed.getvalue() == output


@pytest.mark.parametrize("block", re.findall(r"```python\n(.*?)```", TOUR, flags=re.DOTALL))
def test_python_block_of_the_tour_runs(block, few_pilots):
    matplotlib.use("agg")
    exec(block, {})


def test_there_are_blocks():
    assert "```python" in README
    assert "```python" in TOUR


def test_figures_beside_other_forests_are_those_of_the_results():
    results = pd.read_csv(
        ROOT / "benchmarks" / "accuracy" / "results" / "neighbours.csv", low_memory=False
    )
    rows = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in README.splitlines()
        if line.startswith(("| error", "| training time"))
    ]
    for column, method in zip((-2, -1), METHODS, strict=True):
        assert tuple(row[column] for row in rows) == beside(results, method)
    words = " ".join((ROOT / "vignettes" / "accuracy.md").read_text(encoding="utf-8").split())
    errors, times = beside(results, PLAIN_FOREST)
    assert (
        f"Beside the random forest of scikit-learn, {errors}; its training takes {times} the"
        in words
    )
    assert f"factors of several levels ({longest_beside(results, PLAIN_FOREST)})" in words
    of_treeple, of_ydf = (longest_beside(results, method) for method in METHODS)
    assert f"longest on the same table ({of_treeple}), beside ydf on another" in words
    assert f"beside ydf on another one ({of_ydf})" in words


# ------------------------------------------------------------------------------------------------
# Words: those of the field, in all that users read.
# ------------------------------------------------------------------------------------------------


WORDS = {
    r"judg(?:e[sd]?|ing|ement)": "evaluate",
    r"empty\s+cells?": "missing value",
    r"times?\s+to\s+(?:an\s+)?events?": "survival time",
    r"(?:trees?|runs?)\s+(?:drew|draws?)\s+(?:\w+\s+)?rows?": "sample",
    r"did\s+not\s+draw": "did not sample",
    r"rows?\s+(?:is|are|were)\s+drawn": "are sampled",
    r"stand-ins?": "resampled value",
}
"""What pages, docstrings and messages must not say, with the word of the field."""
NOT_READ = ("odrf/engine/", "odrf/projections/")  # kernels, whose words users do not see


def texts_of_modules():
    """The docstrings and messages of each module, as one text."""
    for path in sorted((ROOT / "odrf").rglob("*.py")):
        if not name_of(path).startswith(NOT_READ):
            tree = ast.parse(path.read_text(encoding="utf-8"))
            strings = (each.value for each in ast.walk(tree) if isinstance(each, ast.Constant))
            yield name_of(path), "\n".join(each for each in strings if isinstance(each, str))


def test_users_read_the_words_of_the_field():
    pages = {name_of(path): path.read_text(encoding="utf-8") for path in LINKED}
    for page in ("CONTRIBUTING.md", "CHANGELOG.md"):  # for developers, and of older versions
        del pages[page]
    read = pages | dict(texts_of_modules())
    assert len(read) > 200
    wrong = [
        f"{name}: {found[0]!r}; use {word!r}"
        for name, text in read.items()
        for pattern, word in WORDS.items()
        for found in re.finditer(rf"\b{pattern}\b", text, re.IGNORECASE)
    ]
    assert wrong == []


@pytest.mark.parametrize(
    "text", ["It is judged", "An Empty cell", "a time to an event", "a tree drew this row"]
)
def test_other_words_are_found(text):
    assert any(re.search(rf"\b{pattern}\b", text, re.IGNORECASE) for pattern in WORDS)


# ------------------------------------------------------------------------------------------------
# Links of names, where Sphinx is installed.
# ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "about", "place"),
    [
        ("odrf(…)", None, "odrf.odrf"),
        ("odrf.odt", None, "odrf.odt"),
        ("predict", None, "odrf.results.forest.ODRFResults.predict"),
        ("prune(leaves=5)", "ODTResults", "odrf.results.tree.ODTResults.prune"),
        ("tree.prune(alpha=0.5).plot()", None, "odrf.results.tree.ODTResults.prune"),
        ("ODTResults.prune", None, "odrf.results.tree.ODTResults.prune"),
        ("alpha", None, None),
        ("years.prune()", None, None),
        ("Surv(time, event) ~ .", None, None),
    ],
)
def test_names_lead_to_their_entries(text, about, place):
    pytest.importorskip("sphinx")
    place_of = runpy.run_path(str(DOCS / "links.py"))["place_of"]
    names = [
        *("odrf.odrf", "odrf.odt", "odrf.results.forest.ODRFResults.predict"),
        *("odrf.results.tree.ODTResults.predict", "odrf.results.tree.ODTResults.prune"),
        "odrf.results.forest.ODRFResults.prune",
    ]
    objects = {name: SimpleNamespace(docname="page", node_id=name) for name in names}
    domains = SimpleNamespace(python_domain=SimpleNamespace(objects=objects))
    found = place_of(SimpleNamespace(domains=domains), text, about)
    assert found == (None if place is None else ("page", place))
