"""`merge`: parts come to the whole, differences to the rest, and no order of the parts matters."""

from __future__ import annotations

import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from corpora import assert_one_line, build, build_documents, put
from hypothesis import given, settings
from hypothesis import strategies as st
from running import merge_cooc

from wordgeom.core.errors import InputError, OptionError
from wordgeom.corpus.united_vocabulary import unite
from wordgeom.corpus.vocabulary import Vocabulary
from wordgeom.counts import merge
from wordgeom.formats import row_grouping
from wordgeom.matrices.cooccurrence import StoredMatrix
from wordgeom.matrices.document_term import StoredDocuments
from wordgeom.runtime.run_options import RunOptions
from wordgeom.storage.store import Store

RUN = RunOptions(threads=2)
_LINES = st.lists(st.lists(st.sampled_from("abcdefgh"), min_size=1, max_size=9), max_size=5)
# Texts that differ, each with a pair.
TEXTS = st.lists(_LINES, min_size=2, max_size=4, unique_by=str).map(
    lambda texts: ["a b\n" + "".join(" ".join(line) + "\n" for line in text) for text in texts]
)
WINDOWS = st.fixed_dictionaries(
    {"window": st.integers(1, 4), "context": st.sampled_from(["both", "left", "right"])}
)
few = settings(max_examples=10)


def small_blocks(entries: int = 4) -> ExitStack:
    """Cut rows and spilled entries into many blocks."""
    stack = ExitStack()
    stack.enter_context(patch.object(merge, "ENTRIES", entries))
    stack.enter_context(patch.object(row_grouping, "CHUNK", 2 * entries))
    return stack


def parts_of(store: Store) -> dict[str, bytes]:
    """Return the content of each part."""
    return {name: store.array(name).read().tobytes() for name in store.parts()}


def words_file(folder: Path, store: Store) -> str:
    """Write the words of a store, in their order."""
    path = folder / "words"
    lines = (line.split("\t")[0] for line in store.text("vocab").decode().splitlines())
    path.write_text("".join(f"{word}\n" for word in lines), encoding="utf-8")
    return str(path)


@few
@given(TEXTS, WINDOWS)
def test_the_union_of_parts_is_the_count_of_the_whole(texts: list[str], window: dict[str, Any]):
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        names = put(folder, *texts)
        each = [build(path, folder / path.stem, **window).store.path for path in names]
        with small_blocks():
            united = merge_cooc(each, folder / "united", RUN, union=True).store
        words = words_file(folder, united)
        whole = build(names, folder / "whole", read_vocab=words, **window).store
        assert united.digest == whole.digest
        assert parts_of(united) == parts_of(whole)


@few
@given(TEXTS, st.data())
def test_the_order_and_grouping_of_a_union_do_not_matter(texts: list[str], data: st.DataObject):
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        each = [build(path, folder / path.stem).store.path for path in put(folder, *texts)]
        one = merge_cooc(each, folder / "one", RunOptions(threads=1), union=True).store
        shuffled = data.draw(st.permutations(each))
        with small_blocks():
            run = RunOptions(threads=3)
            other = merge_cooc(shuffled, folder / "other", run, union=True).store
            grouped = shuffled[0]
            for k, path in enumerate(shuffled[1:]):
                out = folder / f"grouped{k}"
                grouped = merge_cooc([path, grouped], out, RUN, union=True).store.path
        assert one.digest == other.digest == Store.open(grouped).digest


@few
@given(TEXTS, WINDOWS)
def test_a_difference_is_what_was_added_before(texts: list[str], window: dict[str, Any]):
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        names = put(folder, *texts)
        (folder / "words").write_text("h\na\nb\nc\nz\nd\ne\n", encoding="utf-8")
        counting = {**window, "read_vocab": str(folder / "words")}
        each = [build(path, folder / path.stem, **counting).store for path in names]
        paths = [store.path for store in each]
        whole = merge_cooc(paths, folder / "whole", RUN).store.path
        with small_blocks():
            left = merge_cooc([whole, *paths[1:]], folder / "left", RUN, subtract=True).store
        assert left.digest == each[0].digest
        assert parts_of(left) == parts_of(each[0])


def dense(path: Path) -> np.ndarray:
    """Return stored counts in units."""
    matrix = StoredMatrix.open(path)
    return np.rint(matrix.to_scipy().toarray() * matrix.denominator).astype(int)


@few
@given(TEXTS)
def test_a_negative_count_names_its_pair_and_leaves_the_output(texts: list[str]):
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "words").write_text("\n".join("abcdefgh"), encoding="utf-8")
        options = {"read_vocab": str(folder / "words"), "document": "file", "window": 2}
        paths = [build(p, folder / p.stem, **options).store.path for p in put(folder, *texts[:2])]
        first, second = (Store.open(path) for path in paths)
        difference = dense(paths[0]) - dense(paths[1])
        tokens = first.attributes["tokens"] - second.attributes["tokens"]
        rarer = StoredMatrix.open(paths[0]).vocabulary.counts
        rarer = rarer - StoredMatrix.open(paths[1]).vocabulary.counts
        with small_blocks():
            if (difference >= 0).all() and (rarer >= 0).all() and tokens >= 0:
                merge_cooc(paths, folder / "out", RUN, subtract=True)
                np.testing.assert_array_equal(dense(folder / "out"), difference)
                return
            with pytest.raises(InputError) as caught:
                merge_cooc(paths, folder / "out", RUN, subtract=True)
        assert_one_line(caught, paths[0], "does not contain the counts of", paths[1])
        if (rarer < 0).any():
            assert repr("abcdefgh"[int(np.argmax(rarer < 0))]) in str(caught.value)
        elif tokens >= 0:
            row, column = np.argwhere(np.triu(difference) < 0)[0]
            pair = f"{'abcdefgh'[row]!r}, {'abcdefgh'[column]!r}"
            assert_one_line(caught, f"the pair {pair} would have the count -")
        assert not (folder / "out").exists()


def test_the_first_negative_pair_is_named_at_any_number_of_threads(tmp_path: Path):
    near, far = "a b c d e\n" * 3, "a c e b d\n" * 3
    (tmp_path / "words").write_text("a\nb\nc\nd\ne\n")
    options: dict[str, Any] = {"read_vocab": str(tmp_path / "words"), "window": 1}
    paths = [build(p, tmp_path / p.stem, **options).store.path for p in put(tmp_path, near, far)]
    said = set()
    for threads in (1, 2, 5):
        run = RunOptions(threads=threads)
        with small_blocks(1), pytest.raises(InputError) as caught:
            merge_cooc(paths, tmp_path / "out", run, subtract=True)
        said.add(str(caught.value))
    (line,) = said
    assert "the pair 'a', 'c' would have the count -3" in line


@few
@given(TEXTS, st.booleans())
def test_appended_documents_are_those_of_all_texts(texts: list[str], union: bool):
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        names = put(folder, *texts)
        options: dict[str, Any] = {}
        if not union:
            (folder / "some").write_text("b\nh\na\n")
            options["read_vocab"] = str(folder / "some")
        each = [build_documents(p, folder / p.stem, **options).store.path for p in names]
        made = merge_cooc(each, folder / "all", RUN, union=union).store
        words = words_file(folder, made)
        whole = build_documents(names, folder / "whole", read_vocab=words).store
        assert made.digest == whole.digest
        assert parts_of(made) == parts_of(whole)
        stored = StoredDocuments.open(made.path)
        assert stored.documents() == StoredDocuments.open(whole.path).documents()
        assert stored.names() == [str(name) for name in names]


def test_appended_documents_can_be_appended_to(tmp_path: Path):
    names = put(tmp_path, "a b\nc\n", "c c a\n", "d\n")
    each = [build_documents(p, tmp_path / p.stem).store.path for p in names]
    two = merge_cooc(each[:2], tmp_path / "two", RUN, union=True).store.path
    three = merge_cooc([two, each[2]], tmp_path / "three", RUN, union=True).store
    whole = merge_cooc(each, tmp_path / "whole", RUN, union=True).store
    assert (three.digest, parts_of(three)) == (whole.digest, parts_of(whole))
    assert "up to date" in merge_cooc(each, tmp_path / "whole", RUN, union=True).summary


@given(st.lists(st.dictionaries(st.sampled_from("abcdefg"), st.integers(0, 3)), min_size=1))
def test_a_united_vocabulary_has_all_words_by_their_sums(tables: list[dict[str, int]]):
    parts = [Vocabulary(list(t), np.array(list(t.values()), np.int64)) for t in tables]
    united, places = unite(parts)
    sums = {w: sum(t.get(w, 0) for t in tables) for w in {w for t in tables for w in t}}
    assert dict(zip(united.words, united.counts.tolist(), strict=True)) == sums
    for part, place in zip(parts, places, strict=True):
        assert [united.words[k] for k in place] == part.words
    if any(part.words != united.words for part in parts):
        assert united.words == sorted(sums, key=lambda word: (-sums[word], word))


@pytest.fixture
def stores(tmp_path: Path) -> dict[str, Path]:
    """Matrices that do not go together."""
    one, two = put(tmp_path, "a b c\n" * 3, "c d\n" * 3)
    made = {
        "one": build(one, tmp_path / "one"), "two": build(two, tmp_path / "two"),
        "case": build(two, tmp_path / "case", case="keep"),
        "wide": build(two, tmp_path / "wide", window=2),
        "dtm": build_documents(one, tmp_path / "dtm"),
        "passages": build_documents(two, tmp_path / "passages", passages=2),
    }  # fmt: skip
    return {name: done.store.path for name, done in made.items()}


@pytest.mark.parametrize(
    ("names", "options", "error", "said"),
    [
        ("one two", {}, InputError, "its vocabulary differs"),
        ("one two", {"subtract": True}, InputError, "its vocabulary differs"),
        ("one two", {"subtract": True, "union": True}, OptionError, "exclude each other"),
        ("one case", {"union": True}, InputError, "with --case keep, not lower"),
        ("one wide", {"union": True}, InputError, "with --window 2, not 10"),
        ("one dtm", {"union": True}, InputError, "merge matrices of one kind"),
        ("one one", {"union": True}, InputError, "is given twice"),
        ("dtm dtm", {"union": True}, InputError, "is given twice"),
        ("dtm passages", {"union": True}, InputError, "with --passages 2"),
        ("dtm passages", {"subtract": True}, OptionError, "applies to co-occurrence counts"),
        ("dtm passages", {}, InputError, "its vocabulary differs"),
    ],
)
def test_what_cannot_be_combined_is_one_line(stores, tmp_path, names, options, error, said):
    with pytest.raises(error) as caught:
        merge_cooc([stores[name] for name in names.split()], tmp_path / "out", RUN, **options)
    assert_one_line(caught, said)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("option", ["--union", "--subtract"])
def test_shards_are_only_added_up(tmp_path, monkeypatch, ask, option):
    monkeypatch.chdir(tmp_path)
    Path("a.txt").write_text("a b c\n" * 9)
    for k in (1, 2):
        assert ask("build-cooc", "a.txt", "--min-count", "1", "--shard", f"{k}/2").status == 0
    answer = ask("merge", "cooc.shard-1-of-2", "cooc.shard-2-of-2", option)
    assert answer.status == 1
    assert f"shard 1 of 2, to which {option} does not apply; merge all shards first" in answer.err


def test_documents_need_the_name_of_an_output(tmp_path, monkeypatch, ask):
    monkeypatch.chdir(tmp_path)
    for name in ("a", "b"):
        Path(f"{name}.txt").write_text(f"{name} c\n")
        ask("build-dtm", f"{name}.txt", "--min-count", "1", "-o", name)
    answer = ask("merge", "a", "b", "--union")
    assert (answer.status, answer.err.count("\n")) == (2, 1)
    assert ask("merge", "a", "b", "--union", "-o", "all").status == 0
    assert "2 documents × 3 words" in ask("merge", "a", "b", "--union", "-o", "all2").out
