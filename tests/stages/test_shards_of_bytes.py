"""Shards that read only their bytes: their sum is the single run, for any text and any cuts."""

from __future__ import annotations

import gzip
import json
import os
import tempfile
from contextlib import ExitStack
from itertools import accumulate
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from corpora import assert_one_line, build, corpus_texts, put, small
from hypothesis import given, settings
from hypothesis import strategies as st
from running import merge_cooc

from wordgeom.core.errors import InputError, OptionError, OutputExistsError
from wordgeom.corpus.encoding import part
from wordgeom.corpus.inputs.part_digests import parts_of
from wordgeom.corpus.inputs.readers import has_digest
from wordgeom.corpus.inputs.text_parts import Text
from wordgeom.counts.windows import WINDOWS
from wordgeom.runtime.run_options import RunOptions
from wordgeom.stages.shard import Shard
from wordgeom.storage.store import Store

RUN = RunOptions(threads=2)
_RARE = st.lists(st.sampled_from(["x ", "y ", "é", "\u0301 ", "Σ ", "<", "_a_ ", "\u200b", "\r\n"]))
_MIXED = st.tuples(corpus_texts, _RARE.map("".join), corpus_texts).map("".join)
_WAYS = st.fixed_dictionaries(
    {
        "tokeniser": st.sampled_from(["words", "whitespace", "auto"]),
        "document": st.sampled_from(["line", "block", "file"]),
        "oov": st.sampled_from(["keep", "drop"]),
        "window": st.integers(1, 6),
        "context": st.sampled_from(["both", "left", "right"]),
    }
)
_SLIDING = {"count": WINDOWS, "window": 4, "context": "both"}


def shards_of(names: list[Path], of: int, folder: Path, **options: Any) -> list[Path]:
    """Count each shard of a text; return their paths."""
    made = [folder / f"shard{k}" for k in range(1, of + 1)]
    for k, path in enumerate(made, 1):
        build(names, path, shard=Shard(k, of), **options)
    return made


def words_in(folder: Path, names: list[Path], **options: Any) -> str:
    """Write every second word of a text, which leaves others without a row."""
    counted = build(names, folder / "words", **{**options, "window": 1, "count": "pairs"})
    words = [line.split("\t")[0] for line in counted.store.text("vocab").decode().splitlines()]
    path = folder / "words.txt"
    path.write_text("".join(f"{word}\n" for word in words[:1] + words[1::2]), encoding="utf-8")
    return str(path)


def assert_shards_are_the_whole(names: list[Path], of: int, folder: Path, **options: Any) -> None:
    """Compare the sum of the shards with the single run, byte for byte."""
    vocabulary = words_in(folder, names, **options)
    whole = build(names, folder / "whole", read_vocab=vocabulary, **options).store
    parts = shards_of(names, of, folder, read_vocab=vocabulary, **options)
    merged = merge_cooc(parts[::-1], folder / "merged", RUN).store
    assert all(Store.open(path).attributes["part"] for path in parts)
    assert merged.attributes == whole.attributes
    assert {n: merged.text(n) for n in merged.parts()} == {n: whole.text(n) for n in whole.parts()}
    assert merged.digest == whole.digest


@settings(max_examples=8, deadline=None)
@given(
    texts=st.lists(_MIXED, min_size=1, max_size=3),
    of=st.integers(2, 9),
    ways=_WAYS,
    sliding=st.booleans(),
    first=st.sampled_from([1, 8, 1 << 14]),
    bom=st.booleans(),
)
def test_shards_of_any_text_come_to_the_single_run(
    texts: list[str], of: int, ways: dict[str, Any], sliding: bool, first: int, bom: bool
):
    texts[0] = "\ufeff" * bom + "a b a\n" + texts[0]
    with tempfile.TemporaryDirectory() as name, ExitStack() as patches:
        folder = Path(name)
        patches.enter_context(patch.object(part, "_FIRST", first))
        patches.enter_context(small(block=16))
        names = put(folder, *texts)
        assert_shards_are_the_whole(names, of, folder, **(ways | (_SLIDING if sliding else {})))


_RECORDS = "".join(
    json.dumps({"text": text}, ensure_ascii=False) + "\n"
    for text in ("a b c a", "naïve b", "", "a\nb", "c a b " * 5)
)


@pytest.mark.parametrize(
    ("suffix", "text", "options"),
    [
        ("txt", "a b c d " * 50, {"document": "file"}),  # one line without an end
        ("txt", "\r\n".join(["a b", "c", "", "a d b"] * 9), {"document": "block"}),
        ("txt", "_a_ b c_d _e _a b " * 20, {"strip": "emphasis"}),
        ("txt", "a-b c, d a\nb-a c\n" * 9, {"token_pattern": r"\w+(?:-\w+)*"}),
        ("txt", b"a b\xff c\xe2\x82 d a b\n" * 9, {"bad_bytes": "skip"}),
        ("txt", "A\u0301 e\u0301 \u1e9b\u0323 ﬁ a é Σας ΑΣ\n" * 9, {"normalise": "NFKC"}),
        ("jsonl", _RECORDS * 3, {}),
        ("txt", "a b", {}),  # more shards than words
        ("txt", "a x " + "y " * 300 + "a a " + "z " * 300, {"oov": "drop"}),
    ],
)
def test_shards_of_any_kind_of_text_come_to_the_single_run(
    tmp_path: Path, suffix: str, text: str | bytes, options: dict[str, Any]
):
    name = tmp_path / f"text.{suffix}"
    name.write_bytes(text if isinstance(text, bytes) else text.encode())
    with patch.object(part, "_FIRST", 8):
        assert_shards_are_the_whole([name], 5, tmp_path, window=3, **options)


@pytest.mark.parametrize(
    ("suffix", "text", "options"),
    [
        ("txt.gz", gzip.compress(b"a b c d\n" * 9, mtime=0), {}),
        ("txt", b"a b c d a b c\n" * 9, {"sample": 0.1}),
        ("txt", b"abcdabc\n" * 9, {"tokeniser": "kmer", "k": 2}),
        ("txt", b"a <b> c &lt; d\n" * 9, {"strip": "tags"}),
        ("tsv", b"1\ta b c\n2\tb c d\n" * 9, {"text_field": "2", "header": "no"}),
        ("jsonl", b'{"text": "a b c d", "n": 1}\n' * 9, {"id_field": "n"}),
    ],
)
def test_what_cannot_be_cut_is_read_whole_and_comes_to_the_single_run(
    tmp_path: Path, suffix: str, text: bytes, options: dict[str, Any]
):
    name = tmp_path / f"text.{suffix}"
    name.write_bytes(text)
    vocabulary = words_in(tmp_path, [name], **options)
    whole = build(name, tmp_path / "whole", read_vocab=vocabulary, **options).store
    parts = shards_of([name], 3, tmp_path, read_vocab=vocabulary, **options)
    merged = merge_cooc(parts, tmp_path / "merged", RUN).store
    assert not any("part" in Store.open(path).attributes for path in parts)
    assert merged.digest == whole.digest


@pytest.fixture
def long(tmp_path: Path) -> Path:
    """Return a text of a quarter of a megabyte in one line, and write its vocabulary."""
    (tmp_path / "words.txt").write_text("a\nb\nc\n", encoding="utf-8")
    return put(tmp_path, "a b c naïve c d\n" * 4 + "b a ж c " * 30_000)[0]


def test_a_shard_reads_its_share_of_the_bytes_and_a_little_more(tmp_path: Path, long: Path):
    size, of = long.stat().st_size, 8
    for path in shards_of([long], of, tmp_path, read_vocab=str(tmp_path / "words.txt")):
        parts = parts_of(Store.open(path).request["inputs"][0]["digest"])
        assert parts is not None
        assert sum(stop - start for start, stop, _ in parts) <= size / of + 3 * part._FIRST


def test_merged_shards_stand_for_the_text_until_it_changes(tmp_path: Path, long: Path):
    options = {"read_vocab": str(tmp_path / "words.txt")}
    parts = shards_of([long], 3, tmp_path, **options)
    merged = merge_cooc(parts, tmp_path / "cooc", RUN).store
    card = merged.request["inputs"][0]
    assert card["bytes"] == long.stat().st_size
    assert "up to date" in build(long, merged.path, **options).summary
    os.utime(long, ns=(1, 1))
    assert "up to date" in build(long, merged.path, **options).summary  # by its content
    long.write_bytes(long.read_bytes()[:-2] + b"a\n")
    assert not has_digest(str(long), card["digest"])
    with pytest.raises(OutputExistsError, match="was made from other text"):
        build(long, merged.path, **options)


def test_shards_of_bytes_that_do_not_belong_together_are_refused(tmp_path: Path, long: Path):
    options: dict[str, Any] = {"read_vocab": str(tmp_path / "words.txt")}
    one, two, three = shards_of([long], 3, tmp_path, **options)
    (tmp_path / "other.txt").write_text("a\nb\nd\n", encoding="utf-8")
    changed = tmp_path / "edited.txt"
    changed.write_bytes(long.read_bytes().replace(b"b a", b"a b"))

    def count(name: Path, to: str, k: int, **more: Any) -> Path:
        return build(name, tmp_path / to, shard=Shard(k, 3), **{**options, **more}).store.path

    again = count(long, "again", 2, memory=1.0, force=True)
    whole = count(long, "unread", 3, sample=0.1)
    for paths, said in (
        ([one, three], ["merge: shard 2 of 3 is missing"]),
        ([three], ["merge needs at least two matrices"]),
        ([one, two, three, again], [again, "has the same counts as"]),
        ([one, two, count(changed, "edited", 3)], ["counted from another text"]),
        ([one, two, whole], [whole, "was made with --sample 0.1, not 0.0"]),
        (
            [one, two, count(long, "words", 3, read_vocab=str(tmp_path / "other.txt"))],
            ["'d' as word 3, not 'c'; count every shard with the same --read-vocab"],
        ),
    ):
        with pytest.raises((InputError, OptionError)) as caught:
            merge_cooc(paths, tmp_path / "merged", RUN)
        assert_one_line(caught, *said)
    os.utime(long, ns=(1, 1))
    late = count(long, "late", 3)
    with pytest.raises(InputError) as caught:
        merge_cooc([one, two, late], tmp_path / "merged", RUN)
    assert_one_line(caught, late, "was counted from", "after a change, unlike", one)
    assert not (tmp_path / "merged").exists()


def test_shards_without_any_word_of_the_vocabulary_have_no_sum(tmp_path: Path, long: Path):
    (tmp_path / "words.txt").write_text("zebra\n", encoding="utf-8")
    parts = shards_of([long], 2, tmp_path, read_vocab=str(tmp_path / "words.txt"))
    with pytest.raises(InputError) as caught:
        merge_cooc(parts, tmp_path / "merged", RUN)
    assert_one_line(caught, "the shards contain none of the words; check --read-vocab")


@given(
    texts=st.lists(st.text("ab \n", max_size=20), min_size=1, max_size=4),
    position=st.integers(0, 60),
)
def test_a_cut_is_the_next_place_after_a_separator(texts: list[str], position: int):
    with tempfile.TemporaryDirectory() as name:
        names = [str(path) for path in put(Path(name), *texts)]
        cut = Text.of(names, b" \n").cut(position)
    whole, starts = "".join(texts), [0, *accumulate(map(len, texts))]
    allowed = {*starts, *(k + 1 for k, c in enumerate(whole) if c in " \n")}
    at = min((k for k in allowed if k >= position), default=len(whole))
    assert starts[cut.file] + cut.offset == at
    assert cut.offset == 0 or cut.offset < len(texts[cut.file])


def test_a_bad_record_is_found_from_where_its_shard_begins(tmp_path: Path):
    name, words = tmp_path / "text.jsonl", tmp_path / "words.txt"
    good = '{"text": "a b c"}\n'
    name.write_text(good * 6 + "not JSON\n" + good, encoding="utf-8")
    words.write_text("a\nb\n", encoding="utf-8")
    build(name, tmp_path / "one", shard=Shard(1, 2), read_vocab=str(words))
    with pytest.raises(InputError) as caught:
        build(name, tmp_path / "two", shard=Shard(2, 2), read_vocab=str(words))
    begins = len(good) * 4  # the first line that begins in the second half
    assert_one_line(caught, f"{name} after byte {begins} line 3: is not JSON")
