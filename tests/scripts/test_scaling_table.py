"""The tables of docs/scaling.md: costs follow their laws, and the page shows what is computed."""

from __future__ import annotations

import importlib.util
import json
import sys
from dataclasses import replace
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
RATES = json.loads((ROOT / "scripts" / "scaling_rates.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def script():
    spec = importlib.util.spec_from_file_location("table", ROOT / "scripts" / "scaling_table.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["table"] = module  # for its dataclass
    spec.loader.exec_module(module)
    return module


def test_the_page_shows_the_tables_of_the_rates(script):
    page = (ROOT / "docs" / "scaling.md").read_text(encoding="utf-8")
    made = [*script.rates(RATES), *script.tables(RATES["seconds"])]
    for line in "\n".join(made).splitlines():
        assert line in page


def test_workers_share_the_work_and_add_merging(script):
    model = script.Model(RATES["seconds"], 10**10, 10**6)
    core = model.core_seconds()
    assert model.elapsed(1)["count"] == pytest.approx(core["read"] + core["count"])
    assert model.elapsed(1)["merge"] == 0
    ten, hundred = model.elapsed(10), model.elapsed(100)
    assert ten["gbu"] == pytest.approx(10 * hundred["gbu"])
    assert 0 < ten["merge"] < hundred["merge"]


def test_pairs_grow_more_slowly_than_tokens_and_stop_with_the_words(script):
    few, more = (script.Model(RATES["seconds"], n, 10**7).pairs() for n in (10**9, 10**10))
    assert few < more < 10 * few
    small = replace(script.Model(RATES["seconds"], 10**12, 10**7), words=10**4)
    assert small.pairs() == 10**8 // 2
