"""`merge --part`: every tree of merges has the bytes of one merge, and shards are there once."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
from corpora import assert_one_line, build, build_documents, put
from hypothesis import given, settings
from hypothesis import strategies as st
from running import merge_cooc

from wordgeom.core.errors import InputError, OptionError, OutputExistsError, WordgeomError
from wordgeom.corpus.options import CorpusOptions
from wordgeom.corpus.shard_range import ShardRange
from wordgeom.matrices.opening import open_any
from wordgeom.runtime.run_options import RunOptions
from wordgeom.stages.build_vocabulary import BuildVocabulary
from wordgeom.stages.shard import Shard
from wordgeom.stages.stage import run_stage
from wordgeom.storage.store import Store

RUN = RunOptions(threads=2)
_TEXTS = st.lists(st.text("abcde \n", max_size=40), min_size=1, max_size=3)
Count = Callable[[list[Path], Path, Shard], Path]
trees = settings(max_examples=4, deadline=None)


def merged_in_a_tree(
    leaves: list[Path], data: st.DataObject, *, shards: bool, union: bool = False
) -> Store:
    """Merge random runs of neighbours, shards in any order, until one store is left."""
    nodes, folder = list(leaves), leaves[0].parent
    while len(nodes) > 1:
        first = data.draw(st.integers(0, len(nodes) - 2))
        stop = data.draw(st.integers(first + 2, len(nodes)))
        part = shards and stop - first < len(nodes)
        run = data.draw(st.permutations(nodes[first:stop])) if shards else nodes[first:stop]
        out = folder / f"node{len(nodes)}"
        nodes[first:stop] = [merge_cooc(run, out, RUN, part=part, union=union).store.path]
    return Store.open(nodes[0])


def assert_same_store(made: Store, expected: Store) -> None:
    """Compare content and attributes, byte for byte."""
    assert made.attributes == expected.attributes
    assert {n: made.text(n) for n in made.parts()} == {
        n: expected.text(n) for n in expected.parts()
    }
    assert made.digest == expected.digest


def part_counts(names: list[Path], out: Path, shard: Shard) -> Path:
    """Count a shard that reads its bytes alone."""
    words = out.parent / "words.txt"
    words.write_text("c\na\nb\n")
    return build(names, out, shard=shard, read_vocab=str(words), window=2).store.path


def whole_counts(names: list[Path], out: Path, shard: Shard) -> Path:
    """Count a shard that reads all of the text."""
    return build(names, out, shard=shard, window=2, document="line").store.path


def shard_words(names: list[Path], out: Path, shard: Shard) -> Path:
    """Count the words of a shard."""
    options = CorpusOptions(min_count=2, max_vocab=4)
    files = tuple(map(str, names))
    made: Store = run_stage(BuildVocabulary(files, out, options, RUN, part=shard)).value
    return made.path


@pytest.mark.parametrize("count", [part_counts, whole_counts, shard_words])
@trees
@given(texts=_TEXTS, of=st.integers(2, 8), data=st.data())
def test_a_tree_of_shards_has_the_bytes_of_one_merge(
    count: Count, texts: list[str], of: int, data: st.DataObject
):
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        names = put(folder, "a b a c\n" + texts[0], *texts[1:])
        leaves = [count(names, folder / f"s{k}", Shard(k, of)) for k in range(1, of + 1)]
        flat = merge_cooc(leaves, folder / "flat", RUN).store
        tree = merged_in_a_tree(leaves, data, shards=True)
        assert_same_store(tree, flat)
        assert tree.request == flat.request
        assert "up to date" in merge_cooc(leaves, tree.path, RUN).summary


@pytest.mark.parametrize("union", [False, True])
@trees
@given(texts=st.lists(st.text("abcde \n", max_size=40), min_size=2, max_size=8), data=st.data())
def test_a_tree_of_documents_has_the_bytes_of_one_merge(
    union: bool, texts: list[str], data: st.DataObject
):
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "words").write_text("c\na\nb\n")
        options = {} if union else {"read_vocab": str(folder / "words")}
        names = put(folder, *(f"a b {'c ' * k}\n{text}" for k, text in enumerate(texts)))
        leaves = [build_documents(p, folder / p.stem, **options).store.path for p in names]
        flat = merge_cooc(leaves, folder / "flat", RUN, union=union).store
        tree = merged_in_a_tree(leaves, data, shards=False, union=union)
        assert_same_store(tree, flat)
        assert tree.request["inputs"] == flat.request["inputs"]


@pytest.fixture
def leaves(tmp_path: Path) -> list[Path]:
    """Four shards of a text, each with other counts."""
    names = put(tmp_path, "a b c a a c\nb b c\n" * 9 + "a c\n" * 20)
    return [part_counts(names, tmp_path / f"s{k}", Shard(k, 4)) for k in (1, 2, 3, 4)]


def test_a_part_is_a_larger_shard(tmp_path: Path, leaves: list[Path]):
    done = merge_cooc(leaves[1:3], tmp_path / "middle", RUN, part=True)
    assert "from 2 matrices (shards 2 to 3 of 4)" in done.summary
    assert done.store.attributes["shard"] == [2, 3, 4]
    ends = [Store.open(path).attributes["part"] for path in leaves[1:3]]
    assert done.store.attributes["part"] == {**ends[0], "end": ends[1]["end"]}
    with pytest.raises(InputError) as caught:
        open_any(done.store.path)
    assert_one_line(caught, "middle: is only shards 2 to 3 of 4; combine the shards with wordgeom")
    every = merge_cooc(leaves, tmp_path / "every", RUN, part=True).store
    assert "shard" not in every.attributes


@given(st.integers(1, 9), st.integers(0, 9), st.integers(0, 9))
def test_a_range_of_shards_is_read_as_it_is_written(first: int, more: int, after: int):
    held = ShardRange(first, first + more, first + more + after)
    assert ShardRange.read({"shard": held.attribute}) == held
    assert len(held.attribute) == (3 if more else 2)


def test_parts_that_do_not_fit_are_refused(tmp_path: Path, leaves: list[Path]):
    one, two, three, four = leaves
    head, middle = (tmp_path / name for name in ("head", "middle"))
    merge_cooc([one, two], head, RUN, part=True)
    merge_cooc([two, three], middle, RUN, part=True)
    whole = merge_cooc(leaves, tmp_path / "whole", RUN).store.path
    for paths, part, said in (
        ([one, two], False, "merge: shard 3, 4 of 4 are missing; name each shard once, or pass"),
        ([head, four], False, "merge: shard 3 of 4 is missing; name each shard once, or pass"),
        ([four, head], True, "merge: shard 3 of 4 is missing; name adjacent shards"),
        ([middle, head, four], False, f"{middle}: is shards 2 to 3 of 4 and overlaps {head}, "
                                      "shards 1 to 2 of 4; name each shard once"),
        ([head, one], True, f"{head}: is shards 1 to 2 of 4 and overlaps {one}, shard 1 of 4"),
        ([head, whole], True, f"{whole}: is a whole count, not a shard of the same count"),
        ([whole, head], True, f"{whole}: is a whole count, not a shard of the same count"),
    ):  # fmt: skip
        with pytest.raises(InputError) as caught:
            merge_cooc(paths, tmp_path / "out", RUN, part=part)
        assert_one_line(caught, said)
    with pytest.raises(InputError, match="is shards 1 to 2 of 4, to which --union does not apply"):
        merge_cooc([head, three], tmp_path / "out", RUN, union=True)
    assert not (tmp_path / "out").exists()


def test_another_part_is_not_up_to_date(tmp_path: Path):
    names = put(tmp_path, "a b c\n" * 9)
    one, two, three = (whole_counts(names, tmp_path / f"s{k}", Shard(k, 3)) for k in (1, 2, 3))
    out = tmp_path / "out"
    merge_cooc([one, two], out, RUN, part=True)
    assert "up to date" in merge_cooc([two, one], out, RUN, part=True).summary
    for paths, part in (([two, three], True), ([one, two, three], False)):
        with pytest.raises(OutputExistsError, match="holds other shards"):
            merge_cooc(paths, out, RUN, part=part)


@pytest.mark.parametrize("other", ["union", "subtract"])
def test_a_part_is_a_sum(leaves: list[Path], tmp_path: Path, other: str):
    with pytest.raises(OptionError) as caught:
        merge_cooc(
            leaves, tmp_path / "out", RUN, part=True,
            union=other == "union", subtract=other == "subtract",
        )  # fmt: skip
    assert_one_line(caught, f"--{other} and --part exclude each other")


def test_documents_have_no_parts(tmp_path: Path):
    paths = [
        build_documents(path, tmp_path / path.stem).store.path
        for path in put(tmp_path, "a b\n", "b a\n")
    ]
    with pytest.raises(WordgeomError) as caught:
        merge_cooc(paths, tmp_path / "out", RUN, part=True)
    assert_one_line(caught, "--part applies to shards of a count, not to document-term matrices")


def test_a_part_needs_the_name_of_an_output(tmp_path, monkeypatch, ask):
    monkeypatch.chdir(tmp_path)
    Path("a.txt").write_text("a b c\n" * 9)
    for k in (1, 2, 3):
        assert ask("build-cooc", "a.txt", "--min-count", "1", "--shard", f"{k}/3").status == 0
    names = ("cooc.shard-2-of-3", "cooc.shard-3-of-3")
    answer = ask("merge", *names, "--part")
    assert (answer.status, answer.err.count("\n")) == (2, 1)
    assert "shards merged with --part need the name of an output" in answer.err
    assert ask("merge", *names, "--part", "-o", "tail").status == 0
    assert ask("rerun", "tail").out == "tail: identical\n"
    assert ask("merge", "cooc.shard-1-of-3", "tail").status == 0
    assert ask("build-cooc", "a.txt", "--min-count", "1").out == "cooc: up to date\n"
