"""What the developers' page says: files that exist, all layers, all families, what tests cover."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from odrf.engine import compiling
from odrf.projections import FAMILIES
from test_layers import LAYERS

ROOT = Path(__file__).parents[1]
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
        for name in compiling.__all__
        if getattr(getattr(compiling, name), "__code__", None) is compiling.kernel.__code__
    }
    assert compilers >= {"kernel", "part"}
    assert left_out == compilers | {"begins", "cuda.jit", "draws", "intrinsic", "njit", "overload"}
