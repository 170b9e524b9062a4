"""The page that compares evaluators says of abstain what abstain does."""

from __future__ import annotations

import importlib.util

from tests.helpers import ROOT


def test_the_rows_of_abstain_are_what_it_gives() -> None:
    path = ROOT / "tools" / "peers_table.py"
    spec = importlib.util.spec_from_file_location("peers_table", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    page = (ROOT / "docs" / "peers.md").read_text()
    rows = [name for name in module.PEERS if "abstain" in name]
    assert len(rows) == 2
    for name in rows:
        _, work = module.PEERS[name]
        cells = [module.cell(work, *case) for case in module.CASES.values()]
        assert f"| {name} | {' | '.join(cells)} |" in page.splitlines()
