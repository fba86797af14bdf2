"""What a run card records of the machine."""

from __future__ import annotations

import threadpoolctl

from wordgeom.runtime import provenance


def test_all_blas_libraries_are_recorded_in_any_order_of_loading(monkeypatch):
    blas = [
        {"user_api": "blas", "internal_api": "openblas", "version": v, "architecture": "Haswell"}
        for v in ("0.3.31", "0.3.30", "0.3.30")
    ]
    loaded = [*blas, {"user_api": "openmp", "internal_api": "openmp", "version": None}]
    recorded = set()
    for order in (loaded, loaded[::-1]):
        monkeypatch.setattr(threadpoolctl, "threadpool_info", lambda order=order: order)
        recorded.add(provenance.machine()["blas"])
    assert recorded == {"openblas 0.3.30 Haswell, openblas 0.3.31 Haswell"}
