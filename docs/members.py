"""Pages of the API: of each class a table of its methods, and then the methods, grouped.

Order and groups come from the bodies of the classes, where comments such as ``# Predictions`` are
headings, so that the pages follow the classes.  A page says

* ```` ```{class} full.name ````: the class, its table and its members;
* ```` ```{members} full.name ````: the same with a section for each group, for long classes;
* in either, the line ``own``: without what it has of other classes;
* ```` ```{overview} ````: a table of what the page describes, under its headings.
"""

from __future__ import annotations

import ast
import functools
import importlib
import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

GROUPS = (
    "Fit",
    "Predictions",
    "The tree",
    "The trees",
    "The models",
    "Out of bag",
    "Scores",
    "Errors of training rows",
    "Importance",
    "Effects",
    "Single predictions",
    "Checks",
    "Rows",
    "Pruning",
    "More trees",
    "More rows",
    "Export",
    "Plots and summary",
)
"""Headings in bodies of classes, in the order of the pages."""
BLOCK = re.compile(r"^```\{(class|members)\} ([\w.]+)\n(.*?)```$", re.MULTILINE | re.DOTALL)
DESCRIBED = re.compile(
    r"^##+ (?P<heading>.+)$|^\.\. auto(?:function|exception|class):: (?P<name>[\w.]+)$"
    r"|^```\{(?:class|members)\} (?P<block>[\w.]+)$",
    re.MULTILINE,
)
OVERVIEW = "```{overview}\n```"


@functools.cache
def headed(kind: type) -> dict[str, str]:
    """Return the names in the body of a class with the heading above each, in their order."""
    path = Path(inspect.getsourcefile(kind) or "")
    text = path.read_text(encoding="utf-8")
    lines = text.split("\n")
    (body,) = (
        node.body
        for node in ast.parse(text).body
        if isinstance(node, ast.ClassDef) and node.name == kind.__name__
    )
    heading, read, found = "", body[0].lineno, {}
    for statement in body:
        for line in lines[read - 1 : statement.lineno]:
            words = re.fullmatch(r"    # (.+)", line)
            heading = words[1] if words and words[1] in GROUPS else heading
        read = (statement.end_lineno or statement.lineno) + 1
        for name in names_of(statement):
            found.setdefault(name, heading)
    return found


def names_of(statement: ast.stmt) -> list[str]:
    """Return the names that a statement of the body of a class defines."""
    if isinstance(statement, ast.FunctionDef):
        return [statement.name]
    if isinstance(statement, ast.Assign):
        return [target.id for target in statement.targets if isinstance(target, ast.Name)]
    return []


def members(kind: type, own: bool = False) -> dict[str, list[str]]:
    """Return the public members of a class by their headings, in the order of the pages.

    What a base class lists comes before what is added to it; with `own`, only the latter counts.
    """
    groups: dict[str, list[str]] = {group: [] for group in ("", *GROUPS)}
    left_out = set(hidden(kind))
    lines = [each for each in kind.__mro__ if each.__module__.startswith("odrf.")]
    for name in dict.fromkeys(name for each in reversed(lines) for name in headed(each)):
        if name.startswith("_") or name in left_out or name not in dir(kind):
            continue
        if own and name not in vars(kind):
            continue
        above = (headed(each).get(name) for each in lines)
        groups[next(filter(None, above), "")].append(name)
    return {group: names for group, names in groups.items() if names}


def hidden(kind: type) -> Iterator[str]:
    """Names that pages leave out: those without a description."""
    for name in dir(kind):
        member = inspect.getattr_static(kind, name)
        if not callable(member) and not is_property(member):
            yield name


def is_property(member: Any) -> bool:
    """Return whether a member of a class is read as an attribute."""
    return isinstance(member, property | functools.cached_property)


def first_sentence(member: Any) -> str:
    """Return the first paragraph of a docstring on one line, as Markdown."""
    text = inspect.cleandoc(getattr(member, "__doc__", None) or "").split("\n\n")[0]
    text = re.split(r"(?<=[.)])\s\s|\n\n", re.sub(r"\n", " ", text))[0]
    text = re.sub(r":math:`([^`]*)`", r"$\1$", text)
    return text.replace("``", "`").replace("|", "\\|")


def named(name: str) -> Any:
    """Return the object of a full name."""
    module, _, last = name.rpartition(".")
    return getattr(importlib.import_module(module), last)


def table(full: str, groups: dict[str, list[str]], linked: bool) -> str:
    """Return the table of the members of a class."""
    kind = named(full)
    rows = ["| | |", "|---|---|"]
    for group, names in groups.items():
        if group:
            words = f"[{group}](#{slug(kind, group)})" if linked else group
            rows.append(f"| **{words}** | |")
        for name in names:
            words = first_sentence(inspect.getattr_static(kind, name))
            rows.append(f"| {{py:obj}}`{name} <{full}.{name}>` | {words} |")
    return "\n".join(rows)


def slug(kind: type, group: str) -> str:
    """Return the anchor of a group."""
    return f"{kind.__name__}-{group}".lower().replace(" ", "-")


def each_member(full: str, names: list[str]) -> str:
    """Return the block that describes members of a class, in this order."""
    kind = named(full)
    lines = []
    for name in names:
        property_ = is_property(inspect.getattr_static(kind, name))
        lines.append(f".. auto{'property' if property_ else 'method'}:: {full}.{name}\n")
    return "```{eval-rst}\n" + "\n".join(lines) + "```"


def expanded(match: re.Match[str], depth: int) -> str:
    """Return the text of a page in place of a block that names a class."""
    how, full = match[1], match[2]
    kind = named(full)
    groups = members(kind, "own" in match[3])
    parts = ["```{eval-rst}\n.. autoclass:: " + full + "\n```"]
    if sum(map(len, groups.values())) > 1:
        at = 0 if how == "members" else 1
        parts.insert(at, table(full, groups, how == "members"))
    for group, names in groups.items():
        if how == "members" and group:
            parts += [f"({slug(kind, group)})=\n{'#' * (depth + 1)} {group}"]
        parts.append(each_member(full, names))
    return "\n\n".join(parts)


def overview(page: str) -> str:
    """Return the table of what a page describes, under its headings."""
    found = list(DESCRIBED.finditer(page))
    names = {(match["name"] or match["block"] or "").rpartition(".")[-1] for match in found}
    rows, heading = ["| | |", "|---|---|"], ""
    for match in found:
        if match["heading"]:
            heading = match["heading"] if match["heading"] not in names else heading
            continue
        full = match["name"] or match["block"]
        rows += [f"| **{heading}** | |"] if heading else []
        heading = ""
        name = full.rpartition(".")[-1]
        rows.append(f"| {{py:obj}}`{name} <{full}>` | {first_sentence(named(full))} |")
    return "\n".join(rows)


def read(app: Any, page: str, source: list[str]) -> None:
    """Put tables and members into the text of a page (Sphinx: ``source-read``)."""
    text = source[0]
    if not page.startswith("docs/api/"):
        return
    text = text.replace(OVERVIEW, overview(text))

    def filled(match: re.Match[str]) -> str:
        above = re.findall(r"^(#+) ", text[: match.start()], re.MULTILINE)
        return expanded(match, len(above[-1]))

    source[0] = BLOCK.sub(filled, text)
