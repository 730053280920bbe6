"""What a release needs says the same everywhere: versions, Pythons, commands of the workflows."""

from __future__ import annotations

import re
import runpy
import tarfile
import zipfile
from pathlib import Path

import pytest
import yaml
from packaging.specifiers import SpecifierSet

import odrf

ROOT = Path(__file__).parents[1]
PROJECT = (ROOT / "pyproject.toml").read_text()
MINORS = re.findall(r"Python :: (3\.\d+)", PROJECT)


def workflow(name: str) -> dict:
    return yaml.safe_load((ROOT / ".github/workflows" / f"{name}.yml").read_text())


def test_the_classifiers_name_the_pythons_that_are_allowed():
    allowed = SpecifierSet(re.findall(r'requires-python = "(.*)"', PROJECT)[0])
    assert [f"3.{k}" for k in range(30) if f"3.{k}" in allowed] == MINORS


def test_the_workflow_tries_each_python_and_the_oldest_dependencies():
    jobs = workflow("tests")["jobs"]
    assert jobs["newest"]["strategy"]["matrix"]["python"] == MINORS
    oldest = jobs["oldest"]["steps"]
    assert oldest[1]["with"]["python-version"] == MINORS[0]
    assert any("--resolution lowest-direct" in step.get("run", "") for step in oldest)


@pytest.mark.parametrize("command", (ROOT / ".ci/run").read_text().split("\n")[-4:-1])
def test_the_workflow_has_the_checks_of_lint_and_types(command):
    steps = workflow("tests")["jobs"]["style"]["steps"]
    assert command.removeprefix(".venv-test/bin/") in [step.get("run") for step in steps]


def test_the_workflow_builds_the_pages_as_the_readme_does():
    readme = (ROOT / "README.md").read_text()
    commands = [step.get("run", "") for step in workflow("tests")["jobs"]["pages"]["steps"]]
    assert f".venv-docs/bin/{commands[-2]}" in readme


def test_the_release_is_attested_and_has_a_bill_of_materials():
    publish = workflow("release")["jobs"]["publish"]
    assert set(publish["needs"]) == {"try", "bill_of_materials"}
    assert publish["permissions"]["id-token"] == "write"
    assert [step["with"]["attestations"] for step in publish["steps"] if "attestations" in
            step.get("with", {})] == [True]  # fmt: skip


def test_dependencies_are_looked_up_in_lists_of_vulnerabilities():
    commands = [step.get("run", "") for step in workflow("tests")["jobs"]["advisories"]["steps"]]
    assert commands[-3:] == [
        "python -m venv installed && installed/bin/pip install .",
        "installed/bin/pip freeze --exclude odrf > installed.txt",
        "pip-audit --strict --disable-pip --no-deps --requirement installed.txt",
    ]


def test_the_release_is_looked_into():
    commands = [step.get("run") for step in workflow("release")["jobs"]["build"]["steps"]]
    assert commands.index("python -m build") < commands.index("python .ci/contents.py dist/*")


def sound(archive: str) -> list[str]:
    """Return names that an archive should hold."""
    modules = [path.relative_to(ROOT).as_posix() for path in ROOT.glob("odrf/**/*.py")]
    tables = "odrf/_data" if archive.endswith("whl") else "data"
    return [
        *modules,
        "odrf/py.typed",
        *(f"{tables}/{path.name}" for path in ROOT.glob("data/*.csv")),
    ]


@pytest.mark.parametrize("archive", ["odrf-1-py3-none-any.whl", "odrf-1.tar.gz"])
@pytest.mark.parametrize("wrong", [None, "tests/test_layers.py", "shared/notes.md"])
def test_archives_hold_the_package_and_its_tables(tmp_path, archive, wrong):
    names, path = [*sound(archive), *([wrong] if wrong else [])], tmp_path / archive
    if archive.endswith("whl"):
        with zipfile.ZipFile(path, "w") as file:
            for name in names:
                file.writestr(name, "")
    else:
        with tarfile.open(path, "w:gz") as file:
            for name in names:
                file.addfile(tarfile.TarInfo(f"odrf-1/{name}"))
    faults = runpy.run_path(str(ROOT / ".ci/contents.py"))["faults"]
    assert faults(path) == ([f"{archive} holds {wrong}"] if wrong else [])


def test_archives_that_lack_something_are_found(tmp_path):
    path = tmp_path / "odrf-1-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as file:
        for name in set(sound(path.name)) - {"odrf/_data/wine.csv", "odrf/errors.py"}:
            file.writestr(name, "")
    faults = runpy.run_path(str(ROOT / ".ci/contents.py"))["faults"]
    assert faults(path) == [f"{path.name} lacks {name}" for name in
                            ("odrf/_data/wine.csv", "odrf/errors.py")]  # fmt: skip


def test_the_citation_and_the_changelog_have_the_version():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert citation["version"] == odrf.__version__
    changelog = (ROOT / "CHANGELOG.md").read_text()
    assert f"## [{odrf.__version__}] - {citation['date-released']}" in changelog
    names = [author["name"] for author in citation["authors"]]
    assert re.findall(r'authors = \[\{ name = "(.*)" \}\]', PROJECT) == names
