"""docs/coverage.md says which names there are: a name that disappears, or a page that is old, fails here."""

from __future__ import annotations

import importlib.util
import re

import numpy
import pytest

from support import ROOT

_spec = importlib.util.spec_from_file_location("coverage_page", ROOT / "scripts" / "coverage.py")
coverage = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(coverage)


def _has(page: str) -> dict[str, set[str]]:
    """The names that a page lists for each of NumPy's modules and classes."""
    found = {}
    for section in re.split(r"(?m)^## ", page)[1:]:
        title = section.splitlines()[0]
        if line := re.search(r"(?m)^Has: (.*)$", section):
            found[title] = set(re.findall(r"`(\w+)`", line.group(1)))
    return found


def test_no_name_disappears():
    listed, now = _has(coverage.PAGE.read_text()), _has(coverage.page())
    assert listed.keys() == now.keys() and len(listed) >= 8
    gone = {title: names - now[title] for title, names in listed.items() if names - now[title]}
    # A later NumPy has dropped some of its own.
    gone = {title: left for title, names in gone.items() if (left := {n for n in names if title != "numpy" or hasattr(numpy, n)})}
    assert gone == {}


def test_the_page_is_what_the_script_writes():
    if not numpy.__version__.startswith("2.4."):
        pytest.skip("the page is written with NumPy 2.4")
    assert coverage.PAGE.read_text() == coverage.page(), "run python scripts/coverage.py"


def test_a_lost_keyword_is_seen():
    def ours(a, axis=None): ...

    def theirs(a, axis=None, out=None): ...

    assert coverage.missing_keywords(theirs, ours) == ["out"]
    assert coverage.missing_keywords(theirs, theirs) == []


@pytest.mark.parametrize("name", sorted(coverage.CUPY_REASONS))
def test_names_with_a_reason_are_not_there(name):
    import broadcloth

    assert not hasattr(broadcloth, name) and not hasattr(numpy, name)
