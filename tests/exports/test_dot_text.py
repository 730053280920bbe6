from __future__ import annotations

import re

import numpy as np
import pytest

import odrf
from exported import CASES, case, wide_table
from odrf import InputError

TEXT = r'"(?:\\.|[^"\\])*"'
NAME = r"(?:[A-Za-z_]\w*|-?\d+(?:\.\d+)?|" + TEXT + ")"
SETTINGS = rf"\[{NAME}={NAME}(?:, {NAME}={NAME})*\]"
STATEMENT = re.compile(
    rf"\s*(?:(?P<tail>{NAME}) -> (?P<head>{NAME})|(?P<node>{NAME}))(?: (?P<settings>{SETTINGS}))?;"
    rf"|\s*{NAME}={NAME};"
)


def unescaped(match):
    return "\n" if match[1] == "n" else match[1]


def read(text):
    """Return the labels of the nodes and of the edges of a graph, by a strict reading."""
    begin = re.match(r"digraph \w+ \{", text)
    at, nodes, edges = begin.end(), {}, {}
    while not re.match(r"\s*\}\s*\Z", text[at:]):
        statement = STATEMENT.match(text, at)
        assert statement, text[at : at + 80]
        at = statement.end()
        settings = dict(re.findall(rf"({NAME})=({NAME})", statement["settings"] or ""))
        label = re.sub(r"\\(.)", unescaped, settings.get("label", "").strip('"'))
        if statement["tail"]:
            edges[int(statement["tail"]), int(statement["head"])] = label
        elif statement["node"] and statement["node"].isdigit():
            nodes[int(statement["node"])] = label
    return nodes, edges


@pytest.mark.parametrize("name", CASES)
def test_the_graph_has_the_nodes_and_their_children(name):
    fit, _ = case(name)
    nodes, edges = read(fit.to_dot())
    table = fit.nodes
    assert list(nodes) == table.index.tolist()
    splits = table[~table["leaf"]]
    yes = {(node, int(left)): "yes" for node, left in splits["left"].items()}
    no = {(node, int(right)): "no" for node, right in splits["right"].items()}
    assert edges == yes | no
    for node in table.index[table["leaf"]]:
        assert nodes[node].endswith(f"n = {table['count'][node]}")


def test_words_are_those_of_the_drawing():
    fit = odrf.odt("y ~ a + b + f", wide_table(), max_leaves=3, seed=1)
    drawn = {text.get_text() for text in fit.plot().texts}
    nodes, _ = read(fit.to_dot())
    for label in nodes.values():
        assert set(label.split("\n")) <= drawn


def test_odd_characters_are_escaped():
    odd = 'a "b" \\ c\nd'
    data = wide_table()[["y", "a"]].rename(columns={"a": odd})
    nodes, _ = read(odrf.odt("y ~ .", data, max_leaves=2, seed=1).to_dot())
    assert nodes[0].startswith('a "b" \\ c')


def test_names_and_classes_that_are_not_the_same_are_not_drawn_the_same():
    odd = ["a b", "a\nb", "a\rb", "a\0b", "a&amp;b", "a&b"]
    data = wide_table()[["a", "b"]].rename(columns={"b": "b\n&lt;"})
    data["c"] = np.array(odd)[np.digitize(data["a"], [-1, -0.5, 0, 0.5, 1])]
    fit = odrf.odt("c ~ .", data, alpha=None, min_leaf=1, seed=1)
    text = fit.to_dot()
    drawn = {label.split("\n")[0] for label in read(text)[0].values()}
    shown = {"a b", r"a\nb", r"a\rb", r"a\x00b", "a&amp;amp;b", "a&b"}
    assert shown <= drawn
    assert "\0" not in text and "\r" not in text


def test_digits_and_terms_are_chosen_and_checked():
    fit, _ = case("numbers")
    assert len(fit.to_dot(max_terms=None)) > len(fit.to_dot(max_terms=1))
    assert len(fit.to_dot(digits=6)) > len(fit.to_dot(digits=2))
    for options in ({"digits": 0}, {"max_terms": 0}):
        with pytest.raises(InputError, match="use a whole number"):
            fit.to_dot(**options)
