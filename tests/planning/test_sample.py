"""Samples of a corpus: whole records from all of it, nested, whatever its compression."""

from __future__ import annotations

import gzip
import json
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from corpora import assert_one_line

from wordgeom.core.errors import InputError
from wordgeom.planning import sample
from wordgeom.planning.sample import SIZES, take_samples


@pytest.fixture
def records() -> list[bytes]:
    """Lines of JSON of very different lengths, numbered."""
    lengths = np.random.default_rng(1).geometric(0.002, 4000)
    return [json.dumps({"n": k, "text": "word " * int(n)}).encode() + b"\n"
            for k, n in enumerate(lengths // 5)]  # fmt: skip


def numbers(path: str) -> list[int]:
    return [json.loads(line)["n"] for line in Path(path).read_bytes().splitlines()]


def test_samples_are_whole_records_of_all_parts_and_nested(tmp_path, records):
    corpus = tmp_path / "c.jsonl"
    corpus.write_bytes(b"".join(records))
    samples = take_samples([str(corpus)], "jsonl", of_files=False, folder=tmp_path)
    assert len(samples) == len(SIZES)
    found = [numbers(one.names[0]) for one in samples]
    for small, large in pairwise(found):
        assert set(small) <= set(large)
    largest = found[-1]
    assert sorted(set(largest)) == largest  # no record is cut, or read twice
    thirds = np.histogram(largest, 3, (0, len(records)))[0]
    assert thirds.min() > 0.2 * len(largest)
    for one, part in zip(samples, found, strict=True):
        size = sum(len(records[k]) for k in part)
        assert one.share == pytest.approx(size / corpus.stat().st_size, rel=1e-3)
    assert 0.4 < samples[-1].share < 0.6


def test_a_compressed_corpus_gives_the_same_samples(tmp_path, records):
    for folder in ("plain", "packed"):
        (tmp_path / folder).mkdir()
    plain, packed = tmp_path / "c.jsonl", tmp_path / "c.jsonl.gz"
    plain.write_bytes(b"".join(records))
    packed.write_bytes(gzip.compress(plain.read_bytes()))
    one = take_samples([str(plain)], "jsonl", of_files=False, folder=tmp_path / "plain")
    other = take_samples([str(packed)], "jsonl", of_files=False, folder=tmp_path / "packed")
    for left, right in zip(one, other, strict=True):
        assert Path(left.names[0]).read_bytes() == Path(right.names[0]).read_bytes()
        assert left.share == right.share


def test_only_the_head_of_a_large_compressed_corpus_is_read(tmp_path, records, monkeypatch):
    packed = tmp_path / "c.jsonl.gz"
    raw = b"".join(records * 8)
    packed.write_bytes(gzip.compress(raw))
    monkeypatch.setattr(sample, "_READ_WHOLE", 1000)
    monkeypatch.setattr(sample, "LARGEST", len(raw) // 6)
    samples = take_samples([str(packed)], "jsonl", of_files=False, folder=tmp_path)
    size = Path(samples[-1].names[0]).stat().st_size
    assert samples[-1].share == pytest.approx(size / len(raw), rel=0.3)


def test_files_that_are_documents_are_chosen_whole(tmp_path):
    names = []
    for k in range(100):
        names.append(str(tmp_path / f"{k}.txt"))
        Path(names[-1]).write_text("a b c " * (k + 1))
    samples = take_samples(names, "text", of_files=True, folder=tmp_path)
    sizes = {name: Path(name).stat().st_size for name in names}
    for one in samples:
        assert set(one.names) <= set(names)
        share = sum(sizes[name] for name in one.names) / sum(sizes.values())
        assert one.share == pytest.approx(share)


@pytest.mark.parametrize(("form", "names"), [("parquet", ["c.parquet"]), ("text", ["-"])])
def test_what_cannot_be_sampled_is_one_line(tmp_path, form, names):
    with pytest.raises(InputError) as caught:
        take_samples(names, form, of_files=False, folder=tmp_path)
    assert_one_line(caught, names[0], "cannot be sampled")
