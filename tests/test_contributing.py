"""The developers' page names files that exist, all layers, and all families."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from odrf.projections import FAMILIES
from test_layers import LAYERS

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("path", sorted(set(re.findall(r"`((?:odrf|tests)/[\w/.]*)`", PAGE))))
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
