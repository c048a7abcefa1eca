"""Only the methods of Mapping change its state, so that its columns agree with each other."""

import ast
from pathlib import Path

import pytest

from tests import ROOT

STATE = {"base_local", "base_remote", "body_hash", "failures", "held_since", "local_rev", "next_try_at", "status"}
FILES = sorted(
    path for path in (ROOT / "carddav").rglob("*.py") if path.parent.name not in {"client", "models", "migrations"}
)


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_other_module_assigns_it(path: Path) -> None:
    tree = ast.parse(path.read_text())
    targets = [
        target
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign | ast.AugAssign | ast.AnnAssign)
        for top in (node.targets if isinstance(node, ast.Assign) else [node.target])
        for target in (top.elts if isinstance(top, ast.Tuple) else [top])
    ]
    assigned = [node.attr for node in targets if isinstance(node, ast.Attribute)]
    passed = [
        keyword.arg
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Mapping"
        for keyword in node.keywords
    ]
    assert STATE.isdisjoint({*assigned, *passed})


def test_no_module_of_the_sync_asks_whether_the_run_is_dry() -> None:
    """A dry run is carddav.sync.dry_run alone: everything else takes the same way."""
    paths = list((ROOT / "carddav" / "sync").rglob("*.py"))
    assert len(paths) > 20
    for path in paths:
        names = {node.attr for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Attribute)}
        assert "dry_run" not in names, path
