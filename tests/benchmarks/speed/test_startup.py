"""Another version of the package is imported from its folder, wherever the script runs."""

from __future__ import annotations

from pathlib import Path

from benchmarks.speed.startup import seconds_of


def test_the_package_of_the_folder_is_imported(tmp_path: Path) -> None:
    (tmp_path / "odrf.py").write_text("THERE = True")
    found = seconds_of("import odrf", "assert odrf.THERE", str(tmp_path), tmp_path)
    assert found["import"] > 0
