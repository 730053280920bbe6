"""Names of functions, classes and methods in the text of pages and docstrings link to the API.

Names of docstrings, in single backticks, are references of Python already (``default_role``); names
of pages, which Markdown gives as code, are looked up when all pages have been read.  Code in blocks
is linked by sphinx-codeautolink.
"""

from __future__ import annotations

import importlib.util
import re
from typing import Any

from docutils import nodes
from sphinx.addnodes import pending_xref
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util import logging

import odrf
from odrf.results.absent import NEED

BASES = {"FittedResults": "ODRFResults", "TreeResults": "ODRFResults", "AnyResults": "ODRFResults"}
"""Classes without an entry of their own: what they have is described with each result."""
VARIABLES = {
    "tree": "ODTResults", "forest": "ODRFResults", "fit": "ODRFResults", "boosted": "ODBTResults",
    "guided": "GRAFResults", "path": "PruningPath", "effects": "Effects", "simulate": "simulate",
}  # fmt: skip
"""What names of variables mean in the text, as in ``tree.prune(leaves=5)``."""
CLASSES = ("ODRFResults", "ODTResults", "SurvivalForestResults", "GRAFResults", "AutoResults")
"""Where a method is looked for that is named alone, in this order, after the class of the page."""
OF_PAGES = {
    "pruning": "ODTResults", "choosing-trees": "ODTResults", "reading-trees": "ODTResults",
    "boosting": "ODBTResults", "odbt_results": "ODBTResults", "graf": "GRAFResults",
    "graf_results": "GRAFResults", "survival": "SurvivalForestResults",
    "odt_results": "ODTResults", "auto_results": "AutoResults", "sklearn": "ODRFClassifier",
}  # fmt: skip
"""The class that a page is about."""
CALL = re.compile(r"((?:\w+\.)*)(\w+)(\(.*\))?", re.DOTALL)
LOG = logging.getLogger(__name__)

Place = tuple[str, str]


def ending(env: BuildEnvironment, *names: str) -> Place | None:
    """Return page and anchor of the object whose full name ends so, if there is exactly one."""
    last = "".join(f".{name}" for name in names)
    places = {
        (entry.docname, entry.node_id)
        for full, entry in env.domains.python_domain.objects.items()
        if full.endswith(last)
    }
    return places.pop() if len(places) == 1 else None


def place_of(env: BuildEnvironment, text: str, about: str | None) -> Place | None:
    """Return page and anchor of what a text such as ``prune(leaves=5)`` names, if it is known.

    `about`: the class that the text around it is about, if it is about one.
    """
    parts = CALL.fullmatch(text)
    if parts is None:
        return None
    *owners, owner = ["", *parts[1].split(".")[:-1]]
    name = parts[2]
    if not owner or (owner == "odrf" and not any(owners)):
        function = env.domains.python_domain.objects.get(f"odrf.{name}")
        if function is not None:
            return function.docname, function.node_id
    if owner and owner != "odrf":
        own = about if owner in ("fit", "forest") and about is not None else owner
        kind = VARIABLES.get(owner, BASES.get(owner, owner))
        return ending(env, own, name) or ending(env, kind, name)
    if name[:1].isupper():
        return ending(env, name)
    return method_of(env, name, about) if parts[3] or can_stand_alone(name) else None


def method_of(env: BuildEnvironment, name: str, about: str | None) -> Place | None:
    """Return the place of a method that is named without its class."""
    places = (ending(env, kind, name) for kind in filter(None, (about, *CLASSES)))
    return next(filter(None, places), None)


def class_of(page: str, code: nodes.Node | None = None) -> str | None:
    """Return the class that a section is about, by its title, or else its page."""
    while code is not None and not isinstance(code, nodes.section):
        code = code.parent
    title = code.next_node(nodes.title) if code is not None else None
    named = re.fullmatch(r"(\w+)\.plot\w*", title.astext()) if title is not None else None
    return named[1] if named else OF_PAGES.get(page.rpartition("/")[-1])


def can_stand_alone(name: str) -> bool:
    """Return whether a word is a method, or an attribute that is not an everyday word."""
    member = getattr(odrf.results.ODRFResults, name, None) if name not in NEED else None
    return name in NEED or callable(member) or ("_" in name and member is not None)


class LinkedNames(SphinxPostTransform):
    """Make links of the names in the code of a text."""

    default_priority = 5
    formats = ("html",)

    def run(self, **options: Any) -> None:
        """Link every name that is known."""
        page = self.env.docname
        counts = self.env.linked_names = getattr(self.env, "linked_names", {})
        counts[page] = 0
        for code in list(self.document.findall(nodes.literal)):
            if code.children and not inside(code, nodes.reference, pending_xref, nodes.title):
                place = place_of(self.env, code.astext(), class_of(page, code))
                if place is not None:
                    code.replace_self(link(self.app, page, place, code.deepcopy()))
                    counts[page] += 1


def inside(node: nodes.Node, *kinds: type[nodes.Node]) -> bool:
    """Return whether a node is within one of these kinds."""
    while node.parent is not None:
        node = node.parent
        if isinstance(node, kinds):
            return True
    return False


def link(app: Sphinx, page: str, place: Place, content: nodes.Node) -> nodes.reference:
    """Return a link from a page to a place."""
    uri = f"{app.builder.get_relative_uri(page, place[0])}#{place[1]}"
    return nodes.reference("", "", content, internal=True, refuri=uri)


def link_by_last_names(
    app: Sphinx, env: BuildEnvironment, node: pending_xref, contnode: nodes.TextElement
) -> nodes.Node | None:
    """Link names that docstrings give without their module, such as `ODTResults.prune`."""
    if node.get("refdomain") != "py":
        return None
    target = node["reftarget"]
    *owner, name = target.split("(")[0].split(".")[-2:]
    place = place_of(env, target, class_of(node["refdoc"])) or ending(env, *owner, name)
    if place is None and owner:  # an attribute, which the entry of its class describes
        place = ending(env, BASES.get(owner[0], owner[0]))
    if place is not None:
        return link(app, node["refdoc"], place, contnode)
    return contnode if is_module(target) else None


def is_module(name: str) -> bool:
    """Return whether a name is that of a module of the package, which has no page."""
    try:
        return name.startswith("odrf.") and importlib.util.find_spec(name) is not None
    except ModuleNotFoundError:
        return False


def say_counts(app: Sphinx, error: Exception | None) -> None:
    """Say how many names have been linked."""
    counts = getattr(app.env, "linked_names", {})
    LOG.info("%d names in the text of %d pages link to the API", sum(counts.values()), len(counts))


def setup(app: Sphinx) -> None:
    """Connect both."""
    app.add_post_transform(LinkedNames)
    app.connect("missing-reference", link_by_last_names)
    app.connect("build-finished", say_counts)
