"""What a stage builds, finds up to date, or refuses; the old output outlives every refusal."""

from __future__ import annotations

import errno
import io
import os
import shutil
import sys
import time
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from corpora import assert_one_line, build, put
from running import merge_cooc

from wordgeom.core.errors import (
    FormatError,
    InputError,
    MissingInputError,
    OptionError,
    OutputExistsError,
    WriteError,
)
from wordgeom.corpus.inputs import readers
from wordgeom.corpus.vocabulary import read_words
from wordgeom.counts import cooccurrence
from wordgeom.matrices.cooccurrence import StoredMatrix
from wordgeom.runtime.run_options import RunOptions
from wordgeom.stages.shard import Shard
from wordgeom.storage import files
from wordgeom.storage.store import Store

TEXT = "the cat sat on the mat\nthe dog and the cat\n\na dog sat\n" * 5
OTHER = TEXT.replace("dog", "fox")


@pytest.fixture
def text(tmp_path: Path) -> Path:
    return put(tmp_path, TEXT)[0]


def shards(names: Path | list[Path], of: int, folder: Path, **options: Any) -> list[Path]:
    return [
        build(names, folder / f"shard{k}", shard=Shard(k, of), **options).store.path
        for k in range(1, of + 1)
    ]


def tree(path: Path) -> dict[str, bytes]:
    return {p.name: p.read_bytes() for p in path.iterdir()}


def test_the_same_request_is_up_to_date_and_writes_nothing(text: Path, tmp_path: Path):
    first = build(text, tmp_path / "cooc")
    before = tree(first.store.path)
    # Neither threads nor memory nor the place of the same text can change the content.
    copy = tmp_path / "copy.txt"
    copy.write_bytes(text.read_bytes())
    os.utime(text, ns=(0, 0))
    for name, options in ((text, {}), (text, {"threads": 1, "memory": 0.5}), (copy, {"seed": 8})):
        again = build(name, tmp_path / "cooc", **options)
        assert again.summary == f"{tmp_path / 'cooc'}: up to date"
        assert again.store.digest == first.store.digest
    assert tree(first.store.path) == before


@pytest.mark.parametrize(
    ("changed", "found"),
    [
        ({"window": 4}, "was made with --window 10, not 4"),
        ({"window_weight": "flat"}, "was made with --window-weight harmonic, not flat"),
        ({"context": "left"}, "was made with --context both, not left"),
        ({"tokeniser": "whitespace"}, "was made with --tokeniser words, not whitespace"),
        ({"document": "file"}, "was made with --document line, not file"),
        ({"min_count": 2}, "was made with --min-count 1, not 2"),
        ({"max_vocab": 3}, "was made with --max-vocab 0, not 3"),
        ({"oov": "drop"}, "was made with --oov keep, not drop"),
        ({"sample": 0.1}, "was made with --sample 0.0, not 0.1"),
        ({"bad_bytes": "skip"}, "was made with --bad-bytes error, not skip"),
        ({"shard": Shard(1, 2)}, "is another shard"),
    ],
)
def test_another_option_is_named_and_the_old_output_kept(
    text: Path, tmp_path: Path, changed: dict[str, Any], found: str
):
    build(text, tmp_path / "cooc")
    before = tree(tmp_path / "cooc")
    with pytest.raises(OutputExistsError) as caught:
        build(text, tmp_path / "cooc", **changed)
    do = "; pass --force to overwrite it, or choose another output"
    assert_one_line(caught, tmp_path / "cooc", f"exists and {found}", do)
    assert tree(tmp_path / "cooc") == before


def test_the_seed_counts_where_something_is_drawn(text: Path, tmp_path: Path):
    build(text, tmp_path / "cooc", sample=0.01)
    assert "up to date" in build(text, tmp_path / "cooc", sample=0.01).summary
    with pytest.raises(OutputExistsError) as caught:
        build(text, tmp_path / "cooc", sample=0.01, seed=2)
    assert_one_line(caught, "was made with --seed 1, not 2")


def test_other_text_is_refused_and_force_replaces(text: Path, tmp_path: Path):
    old = build(text, tmp_path / "cooc").store.digest
    time.sleep(0.01)
    text.write_text(OTHER, encoding="utf-8")  # the same name and size
    for names in (text, [text, text]):
        with pytest.raises(OutputExistsError) as caught:
            build(names, tmp_path / "cooc")
        assert_one_line(caught, tmp_path / "cooc", "was made from other text", "; pass --force")
    assert Store.open(tmp_path / "cooc").digest == old
    forced = build(text, tmp_path / "cooc", force=True).store
    assert forced.digest == build(text, tmp_path / "fresh").store.digest != old
    assert len(tree(forced.path)) == 1 + len(forced.parts())


def test_output_that_is_damaged_or_of_another_kind_needs_force(text: Path, tmp_path: Path):
    made = build(text, tmp_path / "cooc").store
    digest = made.digest
    (made.path / made.parts()["data"]["file"]).unlink()
    with pytest.raises(OutputExistsError) as caught:
        build(text, made.path)
    assert_one_line(caught, made.path, "cannot be read", "missing", "; pass --force")
    assert build(text, made.path, force=True).store.digest == digest


def test_threads_memory_and_chunks_leave_the_digest_alone(text: Path, tmp_path: Path):
    wanted = build(text, tmp_path / "wanted", threads=1).store.digest
    with patch.object(readers, "BLOCK", 11), patch.object(cooccurrence, "_SMALLEST_CHUNK", 13):
        for k, memory in enumerate((1e-9, 1e-7, 1.0)):
            made = build(text, tmp_path / str(k), memory=memory, threads=k + 1)
            assert made.store.digest == wanted


def test_a_saved_vocabulary_read_again_gives_the_same_matrix(text: Path, tmp_path: Path):
    words = tmp_path / "words.tsv"
    first = build(text, tmp_path / "one", min_count=2, max_vocab=5, save_vocab=str(words)).store
    assert read_words(words) == StoredMatrix.open(first.path).vocabulary.words
    assert len(read_words(words)) == 5
    second = build(text, tmp_path / "two", read_vocab=str(words), min_count=99).store
    assert second.digest == first.digest
    words.unlink()
    build(text, tmp_path / "one", min_count=2, max_vocab=5, save_vocab=str(words))  # up to date
    assert read_words(words) == StoredMatrix.open(first.path).vocabulary.words


def test_a_vocabulary_that_changed_is_another_request(text: Path, tmp_path: Path):
    words = tmp_path / "words"
    words.write_text("cat\ndog\n", encoding="utf-8")
    options = {"read_vocab": str(words), "document": "file"}
    build(text, tmp_path / "cooc", **options)
    assert "up to date" in build(text, tmp_path / "cooc", **options).summary
    words.write_text("dog\ncat\n", encoding="utf-8")
    with pytest.raises(OutputExistsError) as caught:
        build(text, tmp_path / "cooc", **options)
    assert_one_line(caught, "was made with --read-vocab")


@pytest.mark.parametrize(
    ("raw", "options", "error", "parts"),
    [
        (b"", {}, InputError, ["contains no words in 0 bytes; check the file"]),
        (TEXT.encode(), {"min_count": 99}, InputError, ["no word occurs 99 times", "--min-count"]),
        (b"a\nb\na\n", {}, InputError, ["no two words co-occur in 3 tokens of 3 doc"]),
        ("สมัชชาใหญ่แห่งสหประชาชาติ\n".encode() * 9, {}, InputError, ["put spaces between words"]),
        (b"a b \xff", {}, InputError, ["not UTF-8 at byte 4, found 0xff", "--bad-bytes skip"]),
        (b"\x1f\x8b\x08", {}, FormatError, ["broken gzip file: ", "; check it"]),
        (b"x" * 2**20, {}, InputError, ["the token at byte 0 has 1,048,576 bytes"]),
    ],
)
def test_text_that_cannot_be_used_leaves_the_output_alone(
    tmp_path: Path, raw: bytes, options: dict[str, Any], error: type[Exception], parts: list[str]
):
    good, bad = put(tmp_path, TEXT, raw)
    build(good, tmp_path / "cooc")
    before = tree(tmp_path / "cooc")
    vocab = str(tmp_path / "vocab")
    for out in ("cooc", "new"):
        with pytest.raises(error) as caught:
            build(bad, tmp_path / out, force=True, save_vocab=vocab, **options)
        assert_one_line(caught, bad, *parts)
    assert tree(tmp_path / "cooc") == before
    assert {p.name for p in tmp_path.iterdir()} == {"0.txt", "1.txt", "cooc"}


def test_a_missing_input_is_found_before_anything_is_read(text: Path, tmp_path: Path):
    empty = tmp_path / "empty"
    empty.mkdir()
    for bad, parts in (
        (tmp_path / "none.txt", ["no such file", "; check the path, or give - for standard input"]),
        (empty, ["contains no files", "; "]),
    ):
        with pytest.raises(MissingInputError) as caught:
            build([text, bad], tmp_path / "cooc")
        assert_one_line(caught, bad, *parts)
    for option, name in (("read_vocab", "none"), ("tmp_dir", "gone")):
        with pytest.raises(MissingInputError) as caught:
            build(text, tmp_path / "cooc", **{option: str(tmp_path / name)})
        assert_one_line(caught, tmp_path / name, "no such ")
    assert not (tmp_path / "cooc").exists()


def test_standard_input_is_counted_once_and_never_up_to_date(
    text: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    def feed() -> None:
        raw = io.BufferedReader(io.BytesIO(TEXT.encode()))
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(raw))

    feed()
    with pytest.raises(OptionError) as caught:
        build([Path("-"), Path("-")], tmp_path / "cooc")
    assert_one_line(caught, "- is given twice; standard input can be read only once")
    made = build([Path("-")], tmp_path / "cooc").store
    assert made.digest == build(text, tmp_path / "file").store.digest
    feed()
    with pytest.raises(OutputExistsError):
        build([Path("-")], tmp_path / "cooc")


def test_short_lines_and_repaired_bytes_are_warned_of(tmp_path: Path):
    (name,) = put(tmp_path, b"a b\nb \xff\xfe c\n")
    warnings = build(name, tmp_path / "cooc", bad_bytes="skip").notes
    assert len(warnings) == 2
    assert "2 documents are shorter than two windows (20 tokens)" in warnings[0]
    assert warnings[1] == "2 bytes that are not UTF-8 were replaced or skipped"
    (name,) = put(tmp_path, "a b c d e f g h i j k l m n o p q r s t\n")
    assert build(name, tmp_path / "long").notes == []


@pytest.mark.parametrize(
    ("document", "advice"),
    [
        ("line", ["pass --document block or --document file"]),
        ("block", ["pass --document file"]),
        ("file", []),
    ],
)
def test_short_documents_are_to_be_larger_than_they_are(
    tmp_path: Path, document: str, advice: list[str]
):
    (name,) = put(tmp_path, "a b c\n\nd e f\n\na b c\n")
    notes = build(name, tmp_path / "cooc", document=document, window=9).notes
    assert [note.split("; if lines are broken within a text, ")[1] for note in notes] == advice


@pytest.mark.parametrize(("text", "good"), [("1/1", True), ("3/8", True), ("8/8", True)])
def test_a_shard_is_i_of_n(text: str, good: bool):
    assert str(Shard.parse(text)).endswith(f"of={text[2]})") == good


@pytest.mark.parametrize(
    "text", ["", "1", "0/2", "3/2", "1/0", "a/b", "1/2/3", "-1/2", "²/3", "1/"]
)
def test_a_shard_that_is_none_is_refused(text: str):
    with pytest.raises(OptionError) as caught:
        Shard.parse(text)
    assert_one_line(caught, "--shard", f"found {text!r}")


def test_merged_shards_are_up_to_date_as_the_whole_count(text: Path, tmp_path: Path):
    parts = shards(text, 3, tmp_path)
    merged = merge_cooc(parts, tmp_path / "cooc", RunOptions()).store
    assert "up to date" in merge_cooc(parts[::-1], merged.path, RunOptions()).summary
    assert "up to date" in build(text, merged.path).summary


def check_refused_merge(
    out: Path, parts: list[Path], error: type[Exception], *said: object
) -> None:
    """Assert that a merge over an old output, and to a new place, fails and leaves all alone."""
    old = Path(shutil.copytree(out, out.with_name("old"), dirs_exist_ok=True))
    before = tree(old)
    for where, run in ((old, RunOptions(force=True)), (out.with_name("new"), RunOptions())):
        with pytest.raises(error) as caught:
            merge_cooc(parts, where, run)
        assert_one_line(caught, *said)
    assert tree(old) == before
    assert not out.with_name("new").exists()


def test_shards_that_are_not_all_there_once_are_refused(text: Path, tmp_path: Path):
    one, two, three = shards(text, 3, tmp_path)
    out = build(text, tmp_path / "cooc").store.path
    twice = build(text, tmp_path / "again", shard=Shard(2, 3)).store.path
    of_two = build(text, tmp_path / "of2", shard=Shard(2, 2)).store.path
    _, longer = put(tmp_path, TEXT, TEXT + TEXT)
    other = build(longer, tmp_path / "other", shard=Shard(3, 3)).store.path
    wide = build(text, tmp_path / "wide", shard=Shard(3, 3), window=7).store.path
    thin = build(text, tmp_path / "thin", shard=Shard(3, 3), document="file").store.path
    for parts, said in (
        (
            [one, three],
            ["merge: shard 2 of 3 is missing; name each shard once"],
        ),
        ([one, two, three, twice], [f"{twice}: has the same counts as {two}; name each matrix"]),
        ([one, two, two], [two, "is given twice"]),
        ([one, of_two], [of_two, "is shard 2 of 2, not a shard of the same count; name"]),
        ([one, two, out], [out, "is a whole count, not a shard of the same count; name"]),
        ([out, one], [out, "is a whole count, not a shard of the same count; name"]),
        (
            [one, two, other],
            [other, f"was counted from another text or with other options than {one}"],
        ),
        ([one, two, wide], [wide, f"differs from {one}", "made with --window 7, not 10"]),
        (
            [one, two, thin],
            [thin, f"differs from {one}: it was made with --document file, not line"],
        ),
    ):
        check_refused_merge(out, parts, InputError, *said)


def test_matrices_over_other_words_are_named_by_the_first_difference(tmp_path: Path):
    names = put(tmp_path, "a b c\n" * 9, "a b d\n" * 9, "a b c b\n" * 9)
    one, other, order = (build(n, tmp_path / n.stem, min_count=1).store.path for n in names)
    shard, of_other = (
        build(n, tmp_path / f"s{k}", min_count=1, shard=Shard(k, 2)).store.path
        for k, n in enumerate(names[:2], 1)
    )
    differs = f"its vocabulary differs from that of {one}:"
    for parts, said in (
        ([one, other], [other, f"{differs} 'd' as word 3, not 'c'; count each text with"]),
        ([one, order], [order, f"{differs} the same words in another order; count each"]),
        ([shard, of_other], [of_other, f"was counted from another text or with other options than"
                             f" {shard}; count every shard"]),
    ):  # fmt: skip
        check_refused_merge(one, parts, InputError, *said)


def test_matrices_that_do_not_add_up_are_refused(tmp_path: Path):
    first, second = put(tmp_path, TEXT, OTHER)
    out = build(first, tmp_path / "cooc").store.path
    other = build(second, tmp_path / "other").store.path
    wide = build(first, tmp_path / "wide", window=2).store.path
    copy = build(first, tmp_path / "copy").store.path
    for parts, error, said in (
        ([out], OptionError, ["merge needs at least two matrices; name"]),
        ([out, out], InputError, [out, "is given twice", "; name each matrix once"]),
        ([out, copy], InputError, [f"{copy}: has the same counts as {out}; name each matrix"]),
        (
            [out, other],
            InputError,
            [other, f"its vocabulary differs from that of {out}", "; count each text"],
        ),
        ([out, wide], InputError, [wide, f"differs from {out}", "; count both with the same"]),
        ([out, tmp_path / "no"], MissingInputError, [tmp_path / "no", "no such matrix directory"]),
    ):
        check_refused_merge(out, parts, error, *said)


def test_a_sum_of_other_matrices_is_refused_and_force_replaces(tmp_path: Path):
    words = tmp_path / "words"
    words.write_text("the\ncat\nsat\n", encoding="utf-8")
    names = put(tmp_path, TEXT, OTHER, TEXT + OTHER)
    a, b, c = (build(n, tmp_path / n.stem, read_vocab=str(words)).store.path for n in names)
    out = merge_cooc([a, b], tmp_path / "sum", RunOptions()).store
    before = tree(out.path)
    with pytest.raises(OutputExistsError) as caught:
        merge_cooc([a, c], out.path, RunOptions())
    assert_one_line(caught, out.path, "was made from other matrices", "; pass --force")
    assert tree(out.path) == before
    forced = merge_cooc([a, c], out.path, RunOptions(force=True)).store
    assert forced.digest != out.digest


def test_a_vocabulary_file_replaces_nothing_that_was_not_offered(text: Path, tmp_path: Path):
    other = tmp_path / "mine.txt"
    other.write_text("precious\n")
    before = text.read_bytes()
    for path, force, error, part in (
        (text, True, OptionError, "choose another output"),
        (other, False, OutputExistsError, "pass --force"),
        (tmp_path, True, OptionError, "is a directory"),
        (tmp_path / "new", True, OptionError, "and -o name the same file"),
        (tmp_path / "none" / "v.tsv", False, MissingInputError, "no such directory"),
    ):
        with pytest.raises(error) as caught:
            build(text, tmp_path / "new", force=force, save_vocab=str(path))
        assert_one_line(
            caught,
            path.name if part != "no such directory" else "none",
            part,
            "is an input" if path == text else "--save-vocab",
        )
        assert not (tmp_path / "new").exists()
    assert (text.read_bytes(), other.read_text()) == (before, "precious\n")
    build(text, tmp_path / "new", save_vocab=str(tmp_path / "v.tsv"))
    build(text, tmp_path / "new", save_vocab=str(tmp_path / "v.tsv"))  # up to date
    with pytest.raises(OutputExistsError):
        build(text, tmp_path / "new", save_vocab=str(other))
    build(text, tmp_path / "new", save_vocab=str(other), force=True)
    assert other.read_bytes() == (tmp_path / "v.tsv").read_bytes()
    (tmp_path / "v.tsv").unlink()
    build(text, tmp_path / "new", save_vocab=str(tmp_path / "v.tsv"))  # of counts that are there
    assert other.read_bytes() == (tmp_path / "v.tsv").read_bytes()


def test_a_vocabulary_file_replaces_a_link_to_no_file(text: Path, tmp_path: Path):
    link = tmp_path / "link.tsv"
    link.symlink_to("nowhere")
    build(text, tmp_path / "cooc", force=True, save_vocab=str(link))
    assert "cat" in read_words(link)
    assert not (tmp_path / "nowhere").exists()


def test_counts_and_vocabulary_are_written_both_or_neither(
    text: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    def full(step: str, path: Path) -> None:
        if (step, path.name) == ("write", ".v.tsv.part"):
            raise OSError(errno.ENOSPC, "no space left on device")

    monkeypatch.setattr(files, "boundary", full)
    with pytest.raises(WriteError):
        build(text, tmp_path / "new", save_vocab=str(tmp_path / "v.tsv"))
    assert {path.name for path in tmp_path.iterdir()} == {text.name}


def test_a_threshold_of_phrases_that_are_not_asked_for_changes_nothing(text: Path, tmp_path: Path):
    made = build(text, tmp_path / "one", min_count=1)
    again = build(text, tmp_path / "one", min_count=1, phrase_threshold=3.0)
    assert "up to date" in again.summary
    assert made.store.digest == again.store.digest
    with pytest.raises(OutputExistsError):
        build(text, tmp_path / "one", min_count=1, phrases=1)
