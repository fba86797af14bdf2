"""The command line: what it prints, what it refuses, and that a refusal changes nothing."""

from __future__ import annotations

import contextlib
import gzip
import hashlib
import io
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
import tomllib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import click
import numpy as np
import pytest
from asking import Answer, Ask

import wordgeom
from wordgeom import cli, methods
from wordgeom.cli import COMMANDS, group, main
from wordgeom.core.interruption import interrupted
from wordgeom.runtime import signals
from wordgeom.storage.store import Store
from wordgeom.vectors import run_card
from wordgeom.vectors.keyed import read_vectors, write_vectors

ROOT = Path(wordgeom.__file__).parent.parent
PROGRAM = [sys.executable, "-m", "wordgeom"]
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT)}
WORDS = 60
COUNT = ["build-cooc", "corpus.txt", "--min-count", "2", "-o", "cooc"]
TRAIN = ["train", "cooc", "--method", "gbu", "--dim", "8", "-o", "vectors.bin"]


def text(lines: int = 120, seed: int = 3) -> str:
    """Lines of 30 words, some more frequent than others."""
    draw = np.random.default_rng(seed)
    ids = draw.zipf(1.4, (lines, 30)) % WORDS
    return "".join(" ".join(f"word{k}" for k in line) + "\n" for line in ids)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with corpus.txt, cooc/, pmi/ and vectors.bin."""
    folder = tmp_path_factory.mktemp("made")
    (folder / "corpus.txt").write_text(text())
    with contextlib.chdir(folder):
        for args in (COUNT, ["build-pmi"], TRAIN):
            assert main([*args, "--quiet"]) == 0
    return folder


@pytest.fixture
def folder(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of `made`, in which commands run."""
    copy = tmp_path / "work"
    shutil.copytree(made, copy)
    monkeypatch.chdir(copy)
    return copy


@pytest.fixture
def check_refused(ask: Ask, folder: Path) -> Ask:
    """Run a command line that must fail: one line with all the parts, and nothing changed."""

    def run(*args: str, say: tuple[str, ...], status: int = 1) -> Answer:
        before = contents(folder)
        answer = ask(*args)
        assert_refused(answer, *say, status=status)
        assert contents(folder) == before
        return answer

    return run


def contents(folder: Path) -> dict[str, str]:
    """Every path below a folder, with the digest of a file's bytes."""
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        if path.is_file()
        else "folder"
        for path in folder.rglob("*")
    }


def assert_refused(answer: Answer, *parts: str, status: int = 1) -> None:
    assert answer.err.count("\n") == 1, answer.err
    assert answer.err.startswith("wordgeom: interrupted" if status == 75 else "wordgeom: error: ")
    assert "Traceback" not in answer.err
    for part in parts:
        assert part in answer.err
    assert (answer.status, answer.out) == (status, "")


def stdin_of(content: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BufferedReader(io.BytesIO(content))))


# ── Bad text ─────────────────────────────────────────────────────────────────────────────────


def test_a_corpus_that_holds_no_word_is_refused(check_refused, folder):
    Path("empty.txt").write_bytes(b"")
    say = ("empty.txt: contains no words in 0 bytes", "; check")
    check_refused("build-cooc", "empty.txt", "-o", "new", say=say)
    check_refused("build-cooc", "empty.txt", "-o", "cooc", "--force", say=say)


def test_a_count_that_no_word_reaches_is_refused(check_refused):
    say = ("corpus.txt: no word occurs 100000 times", "the most frequent", "; lower --min-count")
    check_refused("build-cooc", "corpus.txt", "--min-count", "100000", "-o", "new", say=say)


@pytest.mark.parametrize("command", ["build-cooc", "info", "similar", "build-pmi", "run"])
def test_a_missing_input_is_named(check_refused, command):
    more = ["word1"] if command == "similar" else []
    check_refused(command, "nowhere.x", *more, say=("nowhere.x: no such", ";"))


def test_a_matrix_is_no_text(check_refused):
    say = ("cooc: is a matrix, not text", "; name text files")
    check_refused("build-cooc", "cooc", "-o", "new", say=say)


def test_bytes_that_are_not_utf8_are_refused_with_file_and_offset(check_refused, ask, folder):
    raw = Path("corpus.txt").read_bytes()
    Path("bad.txt").write_bytes(raw + b"word1 \xff word2\n")
    say = ("bad.txt: not UTF-8", f"at byte {len(raw) + 6:,}", "found 0xff", "--bad-bytes replace")
    check_refused("build-cooc", "bad.txt", "-o", "new", say=say)
    for choice in ("replace", "skip"):
        answer = ask("build-cooc", "bad.txt", "-o", choice, "--bad-bytes", choice)
        assert answer.status == 0
        assert "1 byte" in answer.err


def test_a_truncated_gzip_file_is_refused(check_refused):
    packed = gzip.compress(text(2000).encode())
    Path("short.gz").write_bytes(packed[: len(packed) // 2])
    say = ("short.gz: broken gzip file: ", ";")
    check_refused("build-cooc", "short.gz", "-o", "new", say=say)
    check_refused("build-cooc", "short.gz", "-o", "cooc", "--force", say=say)


def test_a_token_of_a_megabyte_is_refused(check_refused):
    Path("long.txt").write_text("a b c\n" + "x" * 1_000_000 + "\n")
    say = ("long.txt", "the token at byte 6 has 1,000,000 bytes without", "; check")
    check_refused("build-cooc", "long.txt", "-o", "new", say=say)


def test_one_bad_file_among_good_ones_leaves_nothing(check_refused):
    check_refused(
        "build-cooc", "corpus.txt", "nowhere.txt", "-o", "new", say=("nowhere.txt: no such",)
    )


# ── Bad matrices ─────────────────────────────────────────────────────────────────────────────


def test_more_dimensions_than_words_are_refused(check_refused):
    say = ("--dim 100000 exceeds the number of words, 60", "; lower --dim")
    check_refused("train", "--method", "gbu", "--dim", "100000", "-o", "new.bin", say=say)
    check_refused("train", "--method", "gbu", "--dim", "100000", "--force", say=say)


def test_a_rank_below_the_dimension_is_told(ask, folder):
    Path("poor.txt").write_text("left right\n" * 50)
    assert ask("build-cooc", "poor.txt", "-o", "poor").status == 0
    answer = ask("train", "poor", "--method", "gbu", "--dim", "2", "-o", "poor.bin")
    assert answer.status == 0
    assert "span 1 of 2 dimensions" in answer.err
    assert "notes" in ask("info", "poor.bin").out


def newest(part: str) -> Path:
    (path,) = Path("cooc").glob(f"{part}.*.???")
    return path


def edit(path: Path, change: Callable[[bytearray], object]) -> None:
    content = bytearray(path.read_bytes())
    change(content)
    path.write_bytes(content)


def flip_last(content: bytearray) -> None:
    content[-1] ^= 1


@pytest.mark.parametrize("part", ["indptr", "indices", "data", "rowsums", "vocab"])
@pytest.mark.parametrize(
    ("how", "say"),
    [("missing", "missing"), ("short", "has the wrong size"), ("edited", "edited or damaged")],
)
def test_a_broken_part_of_a_matrix_is_refused(check_refused, part, how, say):
    path = newest(part)
    if how == "missing":
        path.unlink()
    else:
        edit(path, bytearray.pop if how == "short" else flip_last)
    line = (str(path), say, "; rebuild it with wordgeom build-cooc --force")
    for args in (["info", "cooc", "--check"], ["build-pmi", "-o", "new"]):
        check_refused(*args, say=line)
    if part != "indptr" or how != "edited":
        check_refused("train", "--method", "gbu", "--dim", "8", "--force", say=line)


def test_a_broken_matrix_is_not_an_up_to_date_one_and_can_be_made_again(check_refused, ask, folder):
    digest = ask("info", "cooc", "--digest").out
    newest("data").unlink()
    check_refused(*COUNT, say=("cooc: exists", "cannot be read", "missing", "--force"))
    assert ask(*COUNT, "--force").status == 0
    assert ask("info", "cooc", "--digest").out == digest


@pytest.mark.parametrize(
    ("meta", "say"),
    [
        (lambda m: m | {"version": 99}, ("format version 99, not 1", "upgrade wordgeom")),
        (
            lambda m: m | {"format": "other"},
            ("not written by wordgeom", "a directory that wordgeom"),
        ),
        (lambda m: m | {"attributes": {}}, ("edited or damaged", "--force")),
        (lambda m: [m], ("not written by wordgeom", ";")),
    ],
    ids=["newer", "foreign", "edited", "no table"],
)
def test_a_meta_file_of_another_kind_is_refused(check_refused, meta, say):
    path = Path("cooc/meta.json")
    path.write_text(json.dumps(meta(json.loads(path.read_bytes()))))
    for args in (["info", "cooc"], ["train", "--method", "gbu", "--dim", "8", "-o", "new.bin"]):
        check_refused(*args, say=("cooc/meta.json", *say))


def test_a_matrix_whose_parent_was_rebuilt_is_stale(check_refused, ask, folder):
    assert ask(*COUNT, "--window", "2", "--force").status == 0
    train = ["train", "pmi", "--method", "gbu", "--dim", "8"]
    check_refused(
        *train, "-o", "new.bin", say=("pmi: was made from cooc", "changed since", "build-pmi")
    )
    check_refused("build-pmi", say=("pmi: exists", "made from another matrix", "--force"))
    assert ask("build-pmi", "--force").status == 0
    assert ask(*train, "-o", "new.bin").status == 0


def test_a_run_card_that_was_edited_is_refused(check_refused):
    path = Path("pmi/meta.json")
    path.write_text(json.dumps(json.loads(path.read_bytes()) | {"run": {"parent": "../cooc"}}))
    say = ("pmi/meta.json: its run card was edited", "; rebuild it with --force")
    check_refused("train", "pmi", "--method", "gbu", "--dim", "8", "-o", "new.bin", say=say)


def test_a_shard_is_no_matrix_to_work_with(check_refused, ask, folder):
    assert ask("build-cooc", "corpus.txt", "--shard", "1/2").status == 0
    say = ("cooc.shard-1-of-2: is only shard 1 of 2", "wordgeom merge")
    check_refused("train", "cooc.shard-1-of-2", "--method", "gbu", "-o", "new.bin", say=say)
    check_refused(
        "build-cooc", "corpus.txt", "--shard", "3/2", say=("--shard i/N", "'3/2'"), status=2
    )


# ── Outputs ──────────────────────────────────────────────────────────────────────────────────


@contextlib.contextmanager
def another_writer(folder: Path, target: str) -> Iterator[int]:
    """A process that holds the lock of a store or a vectors file until the block ends."""
    code = (
        "import sys; from pathlib import Path; from wordgeom.storage.files import Lock\n"
        "with Lock(Path(sys.argv[1]), Path('x')): print('held', flush=True); sys.stdin.read()"
    )
    args = [sys.executable, "-c", code, target]
    with subprocess.Popen(
        args, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=ENVIRONMENT, cwd=folder
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"held\n"
        yield process.pid
        process.communicate()


def test_a_second_writer_is_refused(check_refused, ask, folder):
    with another_writer(folder, "cooc/.lock") as pid:
        say = (f"cooc: is being written by process {pid}", "; wait")
        check_refused(*COUNT, "--window", "3", "--force", say=say)
    with another_writer(folder, ".vectors.bin.lock") as pid:
        say = (f"vectors.bin: is being written by process {pid}", "; wait")
        check_refused(*TRAIN, "--sweeps", "1", "--force", say=say)
    assert ask(*COUNT, "--window", "3", "--force").status == 0


def test_a_lock_whose_writer_died_is_taken_over(ask, folder):
    code = "from pathlib import Path; from wordgeom.storage.files import Lock; import os\n"
    code += "Lock(Path('cooc/.lock'), Path('x')).__enter__(); os._exit(9)"
    subprocess.run([sys.executable, "-c", code], env=ENVIRONMENT, cwd=folder, check=False)
    assert Path("cooc/.lock").exists()
    assert ask(*COUNT, "--window", "3", "--force").status == 0
    assert not Path("cooc/.lock").exists()


@pytest.mark.parametrize(
    ("args", "say"),
    [
        ([*COUNT, "--window", "9"], ("cooc: exists", "--window 10, not 9")),
        ([*COUNT, "--bad-bytes", "skip"], ("cooc: exists", "--bad-bytes error, not skip")),
        (["build-cooc", "other.txt", "--min-count", "2"], ("cooc: exists", "made from other text")),
        (["build-pmi", "--neg", "5"], ("pmi: exists", "--neg 1.0, not 5.0")),
        (["build-pmi", "-o", "twin"], ("twin: exists", "a cooc store")),
        ([*TRAIN, "--dim", "9"], ("vectors.bin: exists", "--dim 8, not 9")),
        ([*TRAIN, "--seed", "2"], ("vectors.bin: exists", "--seed 1, not 2")),
        (["train", "pmi", *TRAIN[2:]], ("vectors.bin: exists", "made ")),
        ([*TRAIN, "-o", "mine.bin"], ("mine.bin: exists", "no run card")),
        (["merge", "cooc", "twin", "-o", "third"], ("third: exists", "other matrices")),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_output_that_holds_something_else_is_kept(check_refused, args, say):
    Path("other.txt").write_text(text(seed=4))
    Path("mine.bin").write_text("mine")
    if "twin" in args:
        Path("twin.txt").write_text(Path("corpus.txt").read_text() + "word1\n")
        main(["build-cooc", "twin.txt", "-o", "twin", "--min-count", "2", "--quiet"])
        shutil.copytree("cooc", "third")
    check_refused(*args, say=(*say, "; pass --force to overwrite it, or choose another output"))


@pytest.mark.parametrize("force", [[], ["--force"]])
def test_what_is_not_ours_is_never_replaced_by_a_folder_or_a_file(check_refused, force):
    Path("mine").mkdir()
    Path("mine/letter.txt").write_text("dear")
    check_refused(
        *COUNT[:-1], "mine", *force, say=("mine: a directory with other files", "letter.txt")
    )
    check_refused(
        *COUNT[:-1], "mine/letter.txt", *force, say=("letter.txt: is a file", "; pass a directory")
    )
    Path("mine.bin").mkdir()
    check_refused(
        *TRAIN[:-1], "mine.bin", *force, say=("mine.bin: is a directory", "; pass a file")
    )


def test_output_that_is_what_was_asked_for_is_not_made_again(ask, folder):
    before = contents(folder)
    for args, out in ((COUNT, "cooc"), (["build-pmi"], "pmi"), (TRAIN, "vectors.bin")):
        assert ask(*args) == Answer(0, f"{out}: up to date\n", "")
        assert ask(*args, "--threads", "1", "--memory", "1").out == f"{out}: up to date\n"
    assert contents(folder) == before


def test_force_makes_it_again_and_the_content_is_the_same(ask, folder):
    digests = [ask("info", out, "--digest").out for out in ("cooc", "pmi", "vectors.bin")]
    for args in (COUNT, ["build-pmi"], TRAIN):
        answer = ask(*args, "--force")
        assert (answer.status, answer.out.count("\n")) == (0, 1)
        assert "up to date" not in answer.out
    assert [ask("info", out, "--digest").out for out in ("cooc", "pmi", "vectors.bin")] == digests
    assert sorted(p.name.split(".")[0] for p in Path("cooc").iterdir()) == [
        "data", "indices", "indptr", "meta", "rowsums", "vocab",
    ]  # fmt: skip


def test_a_vectors_file_that_was_edited_is_not_up_to_date(check_refused, folder):
    edit(Path("vectors.bin"), flip_last)
    check_refused(*TRAIN, say=("vectors.bin: exists", "no run card that matches it", "--force"))


def test_output_goes_into_a_folder_that_is_there(check_refused):
    for args in (COUNT, ["build-pmi"], TRAIN):
        check_refused(
            *args, "-o", "nowhere/out.bin", say=("nowhere: no such directory", "; create it")
        )
    check_refused("convert", "vectors.bin", "nowhere/v.txt", say=("nowhere: no such directory",))
    check_refused(*COUNT, "-o", "corpus.txt/cooc", say=("corpus.txt/cooc: cannot be written",))
    check_refused(
        *COUNT, "-o", "new", "--tmp-dir", "nowhere", say=("nowhere: no such directory", "--tmp-dir")
    )


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write into any folder")
def test_a_folder_that_cannot_be_written_is_refused(check_refused, folder):
    Path("locked").mkdir(mode=0o555)
    for args in (COUNT, ["build-pmi"], TRAIN):
        check_refused(*args, "-o", "locked/out.bin", say=("locked/out.bin: cannot be written",))


def test_words_with_white_space_are_refused_before_the_method_runs(
    check_refused, ask, folder, monkeypatch
):
    # U+00A0 is no white space to the tokeniser of bytes, but to whoever reads a vectors file.
    Path("nbsp.txt").write_text("new\u00a0york big city\n" * 20)
    count = ["build-cooc", "nbsp.txt", "--tokeniser", "whitespace", "-o", "nbsp"]
    assert ask(*count).status == 0
    gbu = methods.load("gbu")
    train = ["train", "nbsp", "--method", "gbu", "--dim", "2", "-o", "nbsp.bin"]
    with monkeypatch.context() as patch:
        patch.setattr(gbu, "fit", lambda *_: pytest.fail("fitted before the words were looked at"))
        check_refused(*train, say=("nbsp.bin", repr("new\u00a0york"), "white space", "--space _"))
    assert ask(*train, "--space", "_").status == 0
    assert "new_york" in read_vectors("nbsp.bin").words
    assert ask(*train, "--space", "_").out == "nbsp.bin: up to date\n"
    check_refused(*train, "--space", "-", say=("nbsp.bin: exists", "--space _, not -"))


def test_quiet_says_nothing(ask, folder):
    Path("short.txt").write_text("one two\n" * 9)
    new = ["-o", "new"]
    for args in (
        [*COUNT, *new],
        ["build-cooc", "short.txt", "-o", "short"],  # this has a note to make
        ["build-pmi", "new", "-o", "new.pmi"],
        [*TRAIN, "-o", "new.bin"],
        COUNT,
    ):
        assert ask(*args, "--quiet") == Answer(0, "", "")
    assert "--document block" in ask("build-cooc", "short.txt", "-o", "short2").err
    check_refused = ask(*COUNT, "--window", "3", "--quiet")
    assert check_refused.err.count("\n") == 1


# ── Mistakes on the command line and in configuration files ──────────────────────────────────


ONE_OF_EACH = (
    "build-cooc x", "build-dtm x", "build-pmi x", "merge x", "merge x y", "eval x", "drift x",
    "compare x",
    "train --method gbu x", "extend x y", "embed x", "impute --domain x", "convert x y",
)  # fmt: skip


@pytest.mark.parametrize(
    ("args", "say"),
    [
        (["trian"], ("no such command 'trian'", "did you mean train?")),
        (["help"], ("no such command 'help'; see wordgeom --help",)),
        (["--widow"], ("wordgeom has no option --widow", "wordgeom --help")),
        (["build-cooc", "x", "--widow", "3"], ("build-cooc has no option --widow", "--window?")),
        (["build-cooc", "x", "--window", "0"], ("--window", "between 1 and 1000", "found 0")),
        (
            ["build-cooc", "x", "--window", "many"],
            ("--window must be an integer, found 'many'; see", "-cooc --help"),
        ),
        (
            ["build-cooc", "x", "--document", "page"],
            ("--document must be line, block or file, found 'page'; see",),
        ),
        (["build-cooc", "x", "--memory", "inf"], ("--memory", "found inf")),
        *(
            ([*line.split(), "--memory", "0.29"], ("--memory must be 0 or at least 0.3",))
            for line in ONE_OF_EACH
        ),
        (["merge"], ("merge needs at least two matrices",)),
        (["build-cooc", "x", "--shard", "1"], ("--shard must be i/N", "found '1'")),
        (["build-cooc", "x", "-o", ""], ("--out must not be empty; pass a name",)),
        (["build-cooc"], ("needs a CORPUS", "; name a text file")),
        (["build-cooc", "-", "-"], ("standard input", "given twice")),
        (["build-cooc", "x", "--sample", "a b"], ("--sample must be a number, found 'a b'; see",)),
        (["similar"], ("wordgeom similar needs VECTORS; see wordgeom similar --help",)),
        (["similar", "king"], ("wordgeom similar needs WORDS after VECTORS; see",)),
        (["analogy", "v", "a", "b"], ("analogy needs C after VECTORS, A and B; see",)),
        (["eval", "v", "--sets", "x"], ("no option --sets; SETS are arguments: leave out --sets",)),
        (["similar", "v", "king", "-top", "3"], ("has no option -top; did you mean --top?",)),
        (["similar", "", "king"], ("VECTORS must not be empty; pass a name",)),
        (["info", ""], ("PATH must not be empty; pass a name",)),
        (["eval", "v", "--set", "x"], ("no option --set; SETS are arguments: leave out --set",)),
        (["eval", "v", "--foo"], ("eval has no option --foo; see wordgeom eval --help",)),
        (["eval", "v", "--quiet=3"], ("error: --quiet takes no value; see wordgeom eval",)),
        (["impute", "v.bin"], ("impute takes options only, such as --domain FILE, found v.bin",)),
        (["info", "v", "w"], ("info takes no more arguments after PATH, found w; see",)),
        (["train"], ("train needs --method", "choose", "gbu")),
        (["train", "--dim", "5"], ("train needs --method", "choose", "gbu")),
        (["train", "--methd", "gbu"], ("train has no option --methd", "did you mean --method?")),
        (["train", "--method"], ("--method needs a value; see wordgeom train --help",)),
        (
            ["train", "--method", "gbu", "--subwords", "--unit", "morphs"],
            ("--subwords needs a value; see wordgeom train --method gbu --help",),
        ),
        (["build-cooc", "x.txt", "-o", "--window", "3"], ("-o needs a value; see",)),
        (["similar", "v", "--top", "--json", "king"], ("--top needs a value; see",)),
        (["plot", "map", "v", "-o", "--force"], ("-o needs a value; see wordgeom plot map",)),
        (["compare", "cooc", "--methods", "--dim", "9"], ("--methods needs a value; see",)),
        (["train", "--method", "gub"], ("unknown method 'gub'", "did you mean gbu?")),
        (
            ["train", "--method", "gbu", "--dimm", "5"],
            ("wordgeom train --method gbu has no option --dimm", "--dim?"),
        ),
        (["train", "--method", "gbu", "-o", "x.csv"], ("x.csv", ".bin, .txt or .vec")),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_a_mistake_is_answered_with_what_was_meant(check_refused, args, say):
    check_refused(*args, say=say, status=2)


def test_a_missing_input_is_reported_before_a_missing_method(check_refused):
    what = "none: no such matrix directory; create one with wordgeom build-cooc"
    check_refused("train", "none", say=(what,))


@pytest.mark.parametrize(
    ("table", "say"),
    [
        ('[bulid-cooc]\ncorpus = "x"', ("unknown table [bulid-cooc]", "did you mean build-cooc?")),
        ('[build-cooc]\ncorpsu = "x"', ("[build-cooc]", "'corpsu'", "did you mean corpus?")),
        ("[build-cooc]\nmin-cuont = 2", ("'min-cuont'", "did you mean min-count?")),
        ("[build-cooc]\nmin_cuont = 2", ("'min-cuont'", "did you mean min-count?")),
        ("[build-cooc]\nmin-count = 2\nmin_count = 3", ("'min-count' is given twice", "keep one")),
        ('[build-cooc]\nmin-count = "2"', ("--min-count must be an integer", "found '2'")),
        ("[build-cooc]\nmin-count = true", ("--min-count must be an integer", "True")),
        ("[build-cooc]\nmin-count = 0", ("--min-count must be at least 1", "found 0")),
        ("[build-cooc]\nforce = 1", ("--force must be true or false", "found 1")),
        ("[build-cooc]\ncorpus = 5", ("corpus must be text", "found 5")),
        ('[build-cooc]\ncorpus = ["a", 5]', ("corpus must be text", "found 5")),
        ('[build-cooc]\ncorpus = "a\\u0000b"', ("corpus must be text", "found 'a\\x00b'")),
        ('[build-cooc]\ncorpus = "corpus.txt"\nout = 5', ("out must be text", "found 5")),
        ('[build-cooc]\ncorpus = "corpus.txt"\nshard = 5', ("shard must be text", "found 5")),
        ("build-cooc = 5", ("[build-cooc]", "is not a table but 5")),
        ("", ("has no table",)),
        ("[train]\nmethod = 5", ("method must be text", "found 5")),
        ("[train]\ndim = 5", ("train needs --method", "gbu")),
        ('[train]\nmethod = "gbu"\ndimm = 5', ("[train]", "'dimm'", "did you mean dim?")),
        # Everything is looked at before the first stage runs.
        (
            '[build-cooc]\ncorpus = "corpus.txt"\nout = "new"\n[train]\nmethod = "gbu"\ndimm = 5',
            ("'dimm'",),
        ),
    ],
)
def test_a_mistake_in_a_configuration_file_is_named_before_anything_runs(check_refused, table, say):
    Path("x.toml").write_text(table)
    check_refused("run", "x.toml", say=say, status=2)


def test_a_file_that_is_not_toml_is_refused(check_refused):
    Path("x.toml").write_text("[build-cooc\n")
    check_refused("run", "x.toml", say=("x.toml: is not valid TOML", "line 1", "; correct it"))
    check_refused("build-cooc", "--config", "cooc", say=("cooc: is a directory", ";"))
    Path("x.toml").write_text("[build-pmi]\n")
    say = ("x.toml: has no table [build-cooc], only [build-pmi]",)
    check_refused("build-cooc", "--config", "x.toml", say=say, status=2)


OTHER_METHOD = '''"""A method that is only there to have an option."""
from dataclasses import dataclass
from wordgeom.core import options as declared

NEEDS = ("matrix",)
MAKES = ("vectors",)

@dataclass(frozen=True)
class Options(declared.Options):
    """Options."""

    dim: int = declared.option(100, "dimension", low=1)
    tol: float = declared.option(1e-3, "tolerance", low=0.0)

def fit(inputs, options, context):
    """Return nothing."""
'''


def test_an_option_of_another_method_is_answered_with_its_owner(
    check_refused, ask, tmp_path, monkeypatch
):
    (tmp_path / "other_eigs.py").write_text(OTHER_METHOD)
    monkeypatch.setattr(methods, "__path__", [*methods.__path__, str(tmp_path)])
    monkeypatch.setitem(sys.modules, "wordgeom.methods.other_eigs", None)
    del sys.modules["wordgeom.methods.other_eigs"]  # undone, with what is imported now, at the end
    say = ("--tol is an option of", "other-eigs", "pmi-eigs", "not of gbu;")
    check_refused("train", "--method", "gbu", "--tol", "3", say=say, status=2)
    check_refused("train", "--tol=3", "--method=gbu", say=say, status=2)
    Path("x.toml").write_text('[train]\nmethod = "gbu"\ntol = 3\n')
    check_refused("run", "x.toml", say=say, status=2)
    check_refused("train", "--config", "x.toml", say=say, status=2)
    check_refused(
        "train", "--tol", "3", say=("train needs --method", "gbu", "other-eigs"), status=2
    )
    assert ask("train", "--tol", "3", "--method", "other-eigs", "--help").status == 0


def test_a_flag_wins_over_the_file_and_the_file_over_the_default(ask, folder):
    Path("x.toml").write_text(
        '[build-cooc]\ncorpus = "corpus.txt"\nmin-count = 3\nwindow_weight = "flat"\n'
        'out = "new"\nquiet = true\n[train]\nmethod = "gbu"\ndim = 7\nmatrix = "new"\n'
    )
    assert ask("build-cooc", "--config", "x.toml", "--min-count", "4") == Answer(0, "", "")
    options = json.loads(ask("info", "new", "--json").out)["run"]["request"]["options"]
    assert options["min_count"] == 4  # the flag
    assert options["window_weight"] == "flat"  # the file
    assert options["window"] == 10  # the default
    assert ask("train", "--config", "x.toml", "-o", "new.txt").out.startswith("new.txt: ")
    assert read_vectors("new.txt").matrix.shape[1] == 7
    assert ask("train", "--config", "x.toml", "-o", "6.txt", "--dim", "6").status == 0
    assert read_vectors("6.txt").matrix.shape[1] == 6


def test_what_is_on_is_turned_off_by_a_flag_or_a_file(ask, folder):
    def weighted(name: str) -> object:
        return json.loads(ask("info", name, "--json").out)["run"]["request"]["options"]["weighted"]

    Path("x.toml").write_text("[train]\nweighted = false\n")
    train = [*TRAIN[:-1]]
    for name, given, wanted in (
        ("a.bin", [], True),
        ("b.bin", ["--no-weighted"], False),
        ("c.bin", ["--config", "x.toml"], False),
        ("d.bin", ["--config", "x.toml", "--weighted"], True),
    ):
        assert ask(*train, name, *given).status == 0
        assert weighted(name) is wanted
    assert Path("a.bin").read_bytes() == Path("d.bin").read_bytes()
    assert Path("b.bin").read_bytes() == Path("c.bin").read_bytes()
    assert Path("a.bin").read_bytes() != Path("b.bin").read_bytes()


def test_run_runs_the_stages_and_is_up_to_date_the_second_time(ask, folder):
    Path("x.toml").write_text(
        '[train]\nmethod = "gbu"\ndim = 8\nmatrix = "p"\nout = "v.vec"\n[build-pmi]\ncounts = "c"\n'
        'out = "p"\n[build-cooc]\ncorpus = ["corpus.txt"]\nmin-count = 2\nout = "c"\n'
    )
    first = ask("run", "x.toml")
    assert first.status == 0
    assert [line.partition(":")[0] for line in first.out.splitlines()] == ["c", "p", "v.vec"]
    second = ask("run", "x.toml")
    assert second.out == "c: up to date\np: up to date\nv.vec: up to date\n"
    third = ask("run", "x.toml", "--quiet")
    assert (third.status, third.out, third.err) == (0, "", "")


def test_run_replaces_what_it_did_not_make_only_when_forced(ask, check_refused, folder):
    config = '[build-cooc]\ncorpus = "corpus.txt"\nout = "own"\nwindow = {}\n'
    ask("build-cooc", "corpus.txt", "-o", "own", "--window", "2")
    Path("x.toml").write_text(config.format(3))
    check_refused("run", "x.toml", say=("own: exists", "--window 2, not 3", "--force"))
    forced = ask("run", "x.toml", "--force")
    assert forced.status == 0
    assert "up to date" not in forced.out
    assert ask("run", "x.toml", "--force").out == "own: up to date\n"


def test_the_configurations_of_the_project_do_not_write_over_each_other():
    tables = [tomllib.loads(path.read_text()) for path in (ROOT / "configs").glob("*.toml")]
    trained = [table["train"] for table in tables if "train" in table]
    each = [one if isinstance(one, list) else [one] for one in trained]
    outputs = [table["out"] for tables in each for table in tables]
    assert len(set(outputs)) == len(outputs) > 1


@pytest.mark.parametrize("config", sorted((ROOT / "configs").glob("*.toml")), ids=lambda p: p.stem)
def test_every_configuration_of_the_project_runs(ask, tmp_path, monkeypatch, config):
    monkeypatch.chdir(tmp_path)
    draw = np.random.default_rng(1)
    ids = draw.zipf(1.3, (3000, 20)) % 600
    Path("corpus.txt").write_text("\n".join(" ".join(f"w{k}" for k in line) for line in ids))
    dated = [{"text": " ".join(f"w{k}" for k in line), "year": 1950 + n % 70}
             for n, line in enumerate(ids)]  # fmt: skip
    Path("speeches.jsonl").write_text("".join(json.dumps(one) + "\n" for one in dated))
    rows = np.column_stack((np.arange(20), draw.random((20, 3))))
    Path("entities.csv").write_text("".join(f"w{k:g},{a},{b},{c}\n" for k, a, b, c in rows[::-1]))
    Path("pairs.tsv").write_text("".join(f"w{k}\tw{k + 1}\t{k % 7}\n" for k in range(40)))
    if "[plot]" in config.read_text():
        pytest.importorskip("matplotlib")
    if 'method = "sgd"' in config.read_text():
        pytest.importorskip("torch")
    answer = ask("run", str(config))
    assert answer.status == 0, answer.err
    made = [line.partition(": ")[0] for line in answer.out.splitlines() if ": " in line]
    again = ask("run", str(config)).out
    assert [f"{path}: up to date" in again for path in made if Path(path).exists()].count(
        False
    ) == 0


def test_the_installed_program_does_not_wait_for_threads_that_cannot_be_stopped():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    assert project["project"]["scripts"] == {"wordgeom": "wordgeom.__main__:run"}


@pytest.mark.parametrize("name", ["", "build-cooc", "similar"])
@pytest.mark.parametrize("module", ["wordgeom.cli", "click", "wordgeom.runtime.pool"])
def test_an_interruption_of_the_first_imports_is_one_line(tmp_path, module, name):
    (tmp_path / "program.py").write_text(f"""
import runpy, sys
class Interrupted:
    def find_spec(self, name, *_):
        if name == {module!r}:
            raise KeyboardInterrupt
sys.meta_path.insert(0, Interrupted())
runpy.run_module("wordgeom", run_name="__main__")
""")
    here = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, str(tmp_path / "program.py"), *filter(None, [name])],
        capture_output=True, check=False, text=True, env=here,
    )  # fmt: skip
    said, status = interrupted(name)
    assert (done.returncode, done.stderr) == (status, f"wordgeom: {said}\n")


def test_an_interruption_of_an_import_ends_with_the_status_of_interruptions(tmp_path):
    """As `python -m` starts it, and where an exec() was broken, such as a dataclass being made."""
    (tmp_path / "program.py").write_text("""
import sys
from wordgeom import cli
stop = "import os, signal; os.kill(os.getpid(), signal.SIGTERM); x = 1"
cli._answer = lambda *_: exec(stop)
cli.run()
""")
    here = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), str(ROOT)])}
    done = subprocess.run(
        [sys.executable, "-m", "program"], capture_output=True, check=False, text=True, env=here
    )
    assert (done.returncode, done.stderr) == (130, f"wordgeom: {interrupted('')[0]}\n")


def test_an_interruption_of_an_import_imports_nothing_again(monkeypatch, capsys):
    def importing(*_):
        os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr(cli, "_answer", importing)
    for name in ("wordgeom.cli.build_cooc", "wordgeom.cli.frame"):
        monkeypatch.setitem(sys.modules, name, None)  # an import of it would fail
    monkeypatch.delitem(sys.modules, "wordgeom.cli.build_cooc")
    assert main(["build-cooc", "corpus.txt"]) == 75
    assert capsys.readouterr().err == f"wordgeom: {interrupted('build-cooc')[0]}\n"


def test_what_fails_because_it_was_interrupted_is_an_interruption(monkeypatch, capsys):
    def compiled(*_):
        try:
            os.kill(os.getpid(), signal.SIGTERM)
        except KeyboardInterrupt:
            raise AttributeError("half a compiler") from None

    monkeypatch.setattr(cli, "_answer", compiled)
    assert main(["info"]) == 130
    assert capsys.readouterr().err == "wordgeom: interrupted\n"


def test_an_interruption_is_reported_as_the_parameters_of_the_command_say():
    """Which are not loaded when the imports are interrupted."""
    context = click.Context(group)
    for name in COMMANDS:
        command = group.get_command(context, name)
        assert command is not None
        params = {str(param.name) for param in command.params}
        if name in ("train", "plot", "run"):  # their output is declared elsewhere
            params |= {"out"}
        said, status = interrupted(name)
        assert status == (75 if "resume" in params or name == "train" else 130), name
        writes = bool(params & {"out", "target", "picture"})
        assert ("existing output is unchanged" in said) == writes, name


# ── What works ───────────────────────────────────────────────────────────────────────────────


def test_text_comes_from_files_packed_files_and_standard_input(ask, folder, monkeypatch):
    digest = ask("info", "cooc", "--digest").out
    raw = Path("corpus.txt").read_bytes()
    Path("packed.gz").write_bytes(gzip.compress(raw))
    assert ask("build-cooc", "packed.gz", *COUNT[2:-1], "packed").status == 0
    stdin_of(raw, monkeypatch)
    assert ask("build-cooc", "-", *COUNT[2:-1], "piped").status == 0
    half = raw.index(b"\n", len(raw) // 2) + 1
    Path("a.txt").write_bytes(raw[:half])
    Path("b.txt").write_bytes(raw[half:])
    assert ask("build-cooc", "a.txt", "b.txt", *COUNT[2:-1], "halves").status == 0
    for out in ("packed", "piped", "halves"):
        assert ask("info", out, "--digest").out == digest


def test_shards_add_up_to_the_whole(ask, folder):
    names = [f"cooc.shard-{k}-of-3" for k in (1, 2, 3)]
    for k, name in enumerate(names, 1):
        answer = ask(*COUNT[:-2], "--shard", f"{k}/3")
        assert answer.out.startswith(f"{name}: ")
    assert ask("merge", *names, "-o", "sum").out.startswith("sum: ")
    assert ask("info", "sum", "--digest").out == ask("info", "cooc", "--digest").out
    assert ask("merge", *names, "-o", "sum").out == "sum: up to date\n"
    for out in ("s", "s.shard-2-of-3"):  # the name says which part it is, once
        assert ask(*COUNT[:-1], out, "--shard", "2/3", "--force").out.startswith("s.shard-2-of-3: ")
    assert not Path("s").exists()
    assert_refused(ask("merge", *names[:2], "-o", "new"), "shard 3 of 3 is missing")
    assert_refused(
        ask("merge", names[0], "cooc", "-o", "new"), "cooc: is a whole count, not a shard"
    )


def test_texts_counted_with_one_vocabulary_add_up(ask, folder):
    Path("more.txt").write_text(text(seed=5))
    words = ["--read-vocab", "words.tsv"]
    assert ask(*COUNT[:-1], "one", "--save-vocab", "words.tsv").status == 0
    assert ask("build-cooc", "corpus.txt", *words, "-o", "first").status == 0
    assert ask("build-cooc", "more.txt", *words, "-o", "second").status == 0
    assert ask("build-cooc", "corpus.txt", "more.txt", *words, "-o", "both").status == 0
    assert ask("merge", "first", "second", "-o", "sum").status == 0
    assert ask("info", "sum", "--digest").out == ask("info", "both", "--digest").out


def test_info_tells_what_there_is(ask, folder):
    digest = ask("info", "cooc", "--digest").out.strip()
    assert len(digest) == 64
    facts = json.loads(ask("info", "cooc", "--json").out)
    assert facts["digest"] == digest
    assert facts["kind"] == "cooc"
    assert facts["words"] == len(facts["most frequent"]) + facts["words"] - 10
    assert facts["run"]["request"]["options"]["min_count"] == 2
    shown = ask("info", "cooc", "--check").out
    assert "all checksums match" in shown
    assert f"{facts['attributes']['stored']:,}" in shown
    vectors = json.loads(ask("info", "vectors.bin", "--json").out)
    assert (vectors["kind"], vectors["dimension"]) == ("vectors", 8)
    assert vectors["run"]["request"]["inputs"] == [{"digest": digest}]
    Path("vectors.bin.json").unlink()
    assert "no run card" in ask("info", "vectors.bin").out


def test_info_shortens_long_lists_of_numbers_and_leaves_out_what_was_not_given(ask, folder):
    card = json.loads(Path("vectors.bin.json").read_text())
    card["statistics"] |= {"long": [k / 2 for k in range(1234)], "short": [*range(8)], "not": None}
    Path("vectors.bin.json").write_text(json.dumps(card))
    lines = [line.split() for line in ask("info", "vectors.bin").out.splitlines()]
    assert ["long", "0.0,", "0.5,", "1.0", "…", "616.5", "(1,234", "numbers)"] in lines
    assert ["short", *(f"{k}," for k in range(7)), "7"] in lines
    assert not any("None" in line for line in lines)
    facts = json.loads(ask("info", "vectors.bin", "--json").out)["run"]["statistics"]
    assert len(facts["long"]) == 1234
    assert facts["not"] is None


def test_info_gives_each_note_and_each_input_a_line(ask, folder):
    card = json.loads(Path("vectors.bin.json").read_text())
    card["notes"] = ["the first, with a comma", "the second"]
    card["request"]["inputs"] = [{"digest": "12"}, {"digest": "34"}]
    Path("vectors.bin.json").write_text(json.dumps(card))
    lines = [line.strip() for line in ask("info", "vectors.bin").out.splitlines()]
    for name, *entries in (("notes", *card["notes"]), ("inputs", "digest 12", "digest 34")):
        at = lines.index(name)
        assert lines[at + 1 : at + 3] == entries
    card["notes"] = card["notes"][:1]
    Path("vectors.bin.json").write_text(json.dumps(card))
    assert re.search("notes +the first, with a comma\n", ask("info", "vectors.bin").out)


def test_vectors_are_converted_both_ways(ask, check_refused, folder):
    assert ask("convert", "vectors.bin", "v.txt").status == 0
    assert ask("convert", "v.txt", "again.bin").status == 0
    assert Path("again.bin").read_bytes() == Path("vectors.bin").read_bytes()
    assert ask("convert", "vectors.bin", "v.txt").out == "v.txt: up to date\n"
    fewer = ("convert", "vectors.bin", "v.txt", "--limit", "3")
    check_refused(*fewer, say=("v.txt: exists", "; pass --force"))
    assert ask(*fewer, "--force").status == 0
    assert read_vectors("v.txt").words == read_vectors("vectors.bin").words[:3]
    check_refused("convert", "vectors.bin", "v.csv", say=("v.csv", ".bin, .txt or .vec"), status=2)


def test_words_are_looked_up(ask, check_refused, folder):
    lines = ask("similar", "vectors.bin", "word1", "--top", "3").out.splitlines()
    assert len(lines) == 3
    rows = json.loads(ask("similar", "vectors.bin", "word1", "--top", "3", "--json").out)
    assert [line.split()[0] for line in lines] == [row["word"] for row in rows]
    cosines = [row["cosine"] for row in rows]
    assert cosines == sorted(cosines, reverse=True)
    answer = ask("analogy", "vectors.bin", "word1", "word2", "word3", "--top", "2")
    assert len(answer.out.splitlines()) == 2
    check_refused(
        "similar", "vectors.bin", "Word1", say=("unknown word 'Word1'", "did you mean word1?")
    )
    check_refused(
        "analogy", "vectors.bin", "word1", "word2", "xyzzy", say=("unknown word 'xyzzy'", ";")
    )


@pytest.mark.parametrize("name", ["v.txt", "v.npy", "v.npz", "projector"])
def test_words_are_looked_up_in_any_format(ask, folder, name):
    form = ("--to", "projector") if name == "projector" else ()
    assert ask("convert", "vectors.bin", name, *form).status == 0
    for query in (("similar", "word1"), ("analogy", "word1", "word2", "word3")):
        command, *words = query
        assert ask(command, name, *words).out == ask(command, "vectors.bin", *words).out


@pytest.mark.parametrize(
    ("numbers", "say"),
    [
        ("1\t2\n", "as many words"),
        ("1\tx\n2\t3\n", "rows of numbers: could not convert string 'x' to float32"),
        ("1\n2\t3\n", "the number of columns changed from 1 to 2 at row 2; convert"),
    ],
)
def test_a_broken_projector_directory_is_one_line(ask, folder, numbers, say):
    Path("p").mkdir()
    Path("p/vectors.tsv").write_text(numbers)
    Path("p/metadata.tsv").write_text("a\nb\n")
    answer = ask("similar", "p", "a")
    assert answer.status == 1
    assert len(answer.err.splitlines()) == 1
    assert say in answer.err


def test_negative_words_are_subtracted(ask, folder):
    found = ask("similar", "vectors.bin", "word2", "-word1", "word3", "--top", "4").out
    assert found == ask("analogy", "vectors.bin", "word1", "word2", "word3", "--top", "4").out
    assert ask("similar", "vectors.bin", "word2", "word3", "-word1", "--top", "4").out == found
    assert "unknown word '-word1'" in ask("similar", "vectors.bin", "--", "-word1").err
    assert "has no option --topp" in ask("similar", "vectors.bin", "word1", "--topp", "3").err
    assert "cancel each other" in ask("similar", "vectors.bin", "word1", "-word1").err
    for number in ("-1", "0"):
        answer = ask("similar", "vectors.bin", "word1", "--top", number)
        assert f"--top must be at least 1, found {number}" in answer.err


def test_lines_of_standard_input_are_queries(ask, folder, monkeypatch):
    lines = b"\xef\xbb\xbfword1\r\n\nword2 -word1 word3\nnone\n\xff\n"
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(lines)))
    answer = ask("similar", "vectors.bin", "-", "--top", "2")
    assert answer.status == 0
    rows = [line.split("\t") for line in answer.out.splitlines()]
    assert [row[0] for row in rows] == ["word1"] * 2 + ["word2 -word1 word3"] * 2
    alone = ask("similar", "vectors.bin", "word1", "--top", "2").out.split()
    assert [field for row in rows[:2] for field in row[1:]] == alone
    first, second = answer.err.splitlines()
    assert "line 4 skipped: unknown word 'none'" in first
    assert "line 5 skipped" in second
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"word1\nword2\n")))
    found = [
        json.loads(line) for line in ask("similar", "vectors.bin", "-", "--json").out.splitlines()
    ]
    assert [row["query"] for row in found] == ["word1", "word2"]
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"\n")))
    assert "standard input: contains no query; write" in ask("similar", "vectors.bin", "-").err
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"none\n")))
    failed = ask("similar", "vectors.bin", "-")
    assert failed.status == 1
    assert "none of " in failed.err


def test_every_word_can_be_printed(folder):
    """On a terminal that lacks a letter, too."""
    Path("korean.txt").write_text("한국어 텍스트를 읽는다\n" * 9, encoding="utf-8")
    main(["build-cooc", "korean.txt", "-o", "k", "--quiet"])
    main(["train", "k", "--method", "gbu", "--dim", "2", "-o", "k.bin", "--quiet"])
    environment = {**ENVIRONMENT, "PYTHONIOENCODING": "ascii"}
    done = subprocess.run(
        [*PROGRAM, "similar", "k.bin", "한국어"], capture_output=True, env=environment, check=False
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.count(b"\n") == 2


# ── Help ─────────────────────────────────────────────────────────────────────────────────────

WALK = """
import sys
from wordgeom.cli import COMMANDS, group, main
from wordgeom.core.interruption import interrupted
for args in [[], ["-h"], ["--version"], *([c, "--help"] for c in COMMANDS),
             ["train", "--method", "gbu", "--help"]]:
    assert main(args) == 0
heavy = {"numba", "scipy", "gensim", "torch", "sklearn", "pandas"} & set(sys.modules)
print("heavy:", " ".join(sorted(heavy)))
"""


def test_help_is_there_and_imports_nothing_heavy(ask):
    done = subprocess.run(
        [sys.executable, "-c", WALK], capture_output=True, text=True, env=ENVIRONMENT, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.endswith("heavy: \n")
    for name, summary in COMMANDS.items():
        assert name in done.stdout
        assert f"Usage: wordgeom {name}" in done.stdout
        assert len(summary) < 70


def test_a_group_alone_prints_its_help(ask):
    answer = ask("plot")
    assert (answer.status, answer.err) == (0, "")
    assert answer == ask("plot", "--help")
    assert answer.out.count("\n") > 5


@pytest.mark.parametrize(
    ("command", "order"),
    [("eval", "label TAB text"), ("eval", "word TAB class"), ("compare", "label TAB text")],
)
def test_the_help_tells_the_order_of_a_set_s_columns(ask, command, order):
    assert order in " ".join(ask(command, "--help").out.split())


def test_the_version_is_that_of_the_package(ask):
    assert ask("--version").out == f"wordgeom, version {wordgeom.__version__}\n"


# ── Signals and pipes ────────────────────────────────────────────────────────────────────────


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A text that takes seconds to count."""
    path = tmp_path_factory.mktemp("large") / "large.txt"
    with path.open("w") as out:
        block = " ".join(f"w{k}" for k in np.random.default_rng(2).zipf(1.2, 400_000) % 30_000)
        for _ in range(12):
            out.write(block + "\n")
    return path


def start(*args: str, stdin: int | None = None) -> subprocess.Popen[str]:
    # A signal that pytest was told to ignore, under nohup or in the background, is ignored by its
    # children too.
    return subprocess.Popen(
        [*PROGRAM, *args], stdin=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env=ENVIRONMENT, preexec_fn=heed_signals,
    )  # fmt: skip


def heed_signals() -> None:
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)


def wait_for(path: Path) -> None:
    end = time.monotonic() + 20
    while not path.exists() and time.monotonic() < end:
        time.sleep(0.01)
    assert path.exists()


@pytest.mark.parametrize(
    ("number", "out"),
    [(signal.SIGINT, "new"), (signal.SIGTERM, "cooc"), (signal.SIGHUP, "new")],
)
def test_a_signal_ends_a_count_and_nothing_changes(folder, large, number, out):
    before = contents(folder)
    args = ["build-cooc", str(large), "--window", "300", "--threads", "1", "-o", out, "--force"]
    with start(*args) as process:
        wait_for(folder / (".new.unfinished" if out == "new" else out) / ".lock")
        time.sleep(0.2)
        process.send_signal(number)
        process.send_signal(number)  # as `timeout` does, and a shell
        told, complaint = process.communicate(timeout=20)
    assert_refused(Answer(process.returncode, told, complaint), "interrupted", status=75)
    after = contents(folder)
    assert {path: after[path] for path in before} == before
    if out == "new":
        assert not (folder / out / "meta.json").exists()


def test_a_signal_ends_the_reading_of_a_silent_pipe_within_a_second(folder):
    before = contents(folder)
    for sent in ("", "a few words\n"):
        with start("build-cooc", "-", "-o", "new", stdin=subprocess.PIPE) as process:
            assert process.stdin is not None
            process.stdin.write(sent)
            process.stdin.flush()
            wait_for(folder / ".new.unfinished" / ".lock")
            time.sleep(0.3)
            process.send_signal(signal.SIGINT)
            began = time.monotonic()
            process.wait(timeout=20)
            seconds = time.monotonic() - began
            told, complaint = process.communicate()
        assert_refused(Answer(process.returncode, told, complaint), "interrupted", status=75)
        assert seconds < 1
        assert contents(folder) == before


def test_a_signal_that_the_shell_ignores_stays_ignored(folder):
    """Nohup and background jobs: `main` leaves what it finds."""
    found = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        assert main([*COUNT, "--quiet"]) == 0
        assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, found)


def test_a_reader_that_goes_away_is_no_error(folder):
    command = f"{sys.executable} -m wordgeom info cooc --json | true"
    script = f"{command}; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(
        ["bash", "-c", script], capture_output=True, text=True, env=ENVIRONMENT, check=False
    )
    assert (done.stdout, done.stderr) == ("", "")


# ── What a newcomer stumbled over ────────────────────────────────────────────────────────────


def test_a_named_pipe_is_read_as_the_file_is(ask, folder):
    os.mkfifo("pipe")
    text_of_corpus = Path("corpus.txt").read_bytes()
    feeder = threading.Thread(target=lambda: Path("pipe").write_bytes(text_of_corpus))
    feeder.start()
    assert ask("build-cooc", "pipe", "-o", "piped").status == 0
    feeder.join()
    assert ask("build-cooc", "corpus.txt", "-o", "filed").status == 0
    assert Store.open("piped").digest == Store.open("filed").digest


def test_text_in_two_byte_units_is_refused(check_refused):
    for encoding in ("utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-be"):
        name = encoding.upper().replace("-LE", "LE").replace("-BE", "BE")
        say = (f"wide.txt: looks like {name}, found", f"; convert it with iconv -f {name} -t UTF-8")
        Path("wide.txt").write_bytes("one two three\n".encode(encoding) * 20)
        for bad_bytes in ("error", "skip"):
            args = ("build-cooc", "wide.txt", "-o", "new", "--bad-bytes", bad_bytes)
            check_refused(*args, say=say)
    Path("wide.txt").unlink()


def test_an_output_that_is_a_dangling_link_is_explained(check_refused):
    os.symlink("absent", "link")
    say = ("link: is a symbolic link to absent, which does not exist", "; create that directory")
    check_refused("build-cooc", "corpus.txt", "-o", "link", say=say)
    assert os.readlink("link") == "absent"
    Path("link").unlink()


@pytest.mark.parametrize(
    ("given", "say"),
    [
        (["gbu", "--as-published", "--sweeps", "5"], "--as-published excludes --sweeps 5"),
        (["pmi-eigs", "--basis", "7"], "--basis must be at least --dim 8, found 7"),
        (["lsa", "--basis", "1"], "--basis must be at least --dim 8, found 1"),
    ],
)
def test_options_of_a_method_that_contradict_are_refused(check_refused, given, say):
    train = ("train", "cooc", "--dim", "8", "-o", "new.bin", "--method")
    check_refused(*train, *given, say=(say,), status=2)


def vectors_with_nan(bad: Sequence[str]) -> None:
    """Write odd.bin: vectors.bin with NaN or infinity for some words or more, and its run card."""
    held = read_vectors("vectors.bin")
    words = [*held.words, *(word for word in bad if word not in held.index)]
    matrix = np.ones((len(words), held.matrix.shape[1]), np.float32)
    matrix[: len(held.words)] = held.matrix
    matrix[[words.index(word) for word in bad], 3] = [np.nan, *[np.inf] * (len(bad) - 1)]
    write_vectors("odd.bin", words, matrix)
    card = json.loads(Path("vectors.bin.json").read_text())
    card["content"] = run_card.file_content(Path("odd.bin"))
    Path("odd.bin.json").write_text(json.dumps(card))


def test_every_command_names_vectors_with_nan_in_the_same_words(ask, folder):
    vectors_with_nan(["strange", "odd"])
    line = "2 vectors contain NaN or infinity (first: 'strange'); drop such vectors with wordgeom"
    used = read_vectors("vectors.bin").words[:6]
    a, b, c, d, *_ = used
    Path("pairs.tsv").write_text(f"{a}\t{b}\t1\n{a}\t{c}\t2\n{b}\t{c}\t3\n{c}\t{d}\t4\n")
    Path("more.txt").write_text(Path("corpus.txt").read_text() + f"{a} {b} novel {c} {d}\n" * 9)
    assert ask("build-cooc", "more.txt", "--min-count", "2", "-o", "more").status == 0
    table = [f"{w},{k},{k * k}" for k, w in enumerate([*used, "new1", "new2"])]
    Path("table.csv").write_text("word,p,q\n" + "\n".join(table) + "\n")
    for args in (
        ["similar", "odd.bin", a],
        ["analogy", "odd.bin", a, b, c],
        ["eval", "odd.bin", "pairs.tsv"],
        ["compare", "odd.bin", "vectors.bin", "--set", "pairs.tsv"],
        ["impute", "--domain", "table.csv", "--vectors", "odd.bin", "-o", "i.bin", "--delta", "2"],
        ["extend", "odd.bin", "more", "-o", "e.bin", "--min-pairs", "1"],
        ["convert", "odd.bin", "odd.txt"],
        ["info", "odd.bin"],
    ):
        answer = ask(*args)
        assert answer.status == 0, answer
        assert line in answer.out + answer.err, args
        assert (answer.out + answer.err).count("NaN") == 1, args


def test_a_query_for_a_word_with_nan_is_refused(check_refused):
    held = read_vectors("vectors.bin").words
    vectors_with_nan([held[2]])
    for args in (["similar", "odd.bin"], ["analogy", "odd.bin", held[0], held[1]]):
        say = f"the vector of {held[2]!r} contains NaN or infinity; choose other words"
        check_refused(*args, held[2], say=(say,))


def test_options_of_weighting_are_refused_for_a_weighted_matrix(check_refused):
    train = ("train", "pmi", "--method", "gbu", "--dim", "8", "-o", "new.bin")
    say = ("pmi: is weighted already, so --neg has no effect", "build-pmi")
    check_refused(*train, "--neg", "5", say=say, status=2)


def test_a_damaged_matrix_is_not_up_to_date(ask, check_refused, folder):
    count = ("build-cooc", "corpus.txt", "-o", "own")
    assert ask(*count).status == 0
    part = next(Path("own").glob("data.*"))
    part.write_bytes(part.read_bytes()[:-1] + b"\xff")
    check_refused(*count, say=("own: exists", "damaged", "pass --force"))
    assert ask(*count, "--force").status == 0
    assert ask(*count).out == "own: up to date\n"


def test_a_value_in_a_table_is_refused_where_it_stands(check_refused):
    Path("v.toml").write_text('[build-cooc]\ncorpus = "corpus.txt"\nwindow = "four"\n')
    check_refused("run", "v.toml", say=("v.toml [build-cooc]: --window", "'four'"), status=2)
    Path("v.toml").unlink()


def test_run_converts_what_an_earlier_stage_makes(ask, folder):
    Path("x.toml").write_text(
        '[build-cooc]\ncorpus = "corpus.txt"\nmin-count = 2\nout = "c"\n[train]\nmethod = "gbu"\n'
        'matrix = "c"\ndim = 4\nout = "v.bin"\n[convert]\nsource = "v.bin"\ntarget = "v.npy"\n'
    )
    assert ask("run", "x.toml").status == 0
    made = np.load("v.npy")
    assert made.shape[1] == 4
    again = ask("run", "x.toml")
    assert again.out == "c: up to date\nv.bin: up to date\nv.npy: up to date\n"


def test_a_broken_method_of_a_user_does_not_break_the_others(ask, tmp_path, monkeypatch):
    (tmp_path / "odd_needs.py").write_text(OTHER_METHOD.replace('("matrix",)', '("counts",)'))
    (tmp_path / "odd_makes.py").write_text(OTHER_METHOD.replace('MAKES = ("vectors",)', ""))
    (tmp_path / "odd_syntax.py").write_text("def fit(:\n")
    monkeypatch.setattr(methods, "__path__", [*methods.__path__, str(tmp_path)])
    assert "cannot be loaded" in ask("train", "--help").out
    assert ask("train", "--method", "gbu", "--help").status == 0
    assert "--tol is an option of" in ask("train", "--method", "gbu", "--tol", "3").err
    for name, wrong in (("odd-needs", "NEEDS must be"), ("odd-makes", "MAKES must be")):
        with pytest.raises(TypeError, match=wrong):
            methods.load(name)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="the system has no /dev/full")
def test_a_full_standard_output_is_an_error_of_one_line(folder):
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "wordgeom", "similar", "vectors.bin", "word1"],
            stdout=full, stderr=subprocess.PIPE, text=True, check=False,
        )  # fmt: skip
    assert done.returncode == 1
    (line,) = done.stderr.splitlines()
    assert line.startswith("wordgeom: error: standard output cannot be written: No space left")
    assert line.endswith("; free space, or redirect it elsewhere")


@pytest.mark.parametrize(
    ("line", "advice"),
    [
        (["train", "--method", "gbu", "--dim", "x"], "see wordgeom train --method gbu --help"),
        (["train", "--method", "gbu", "--xyzzy", "x"], "see wordgeom train --method gbu --help"),
        (["plot", "spectrum"], "see wordgeom plot spectrum --help"),
        (["plot", "spectrum", "v.bin", "--title"], "see wordgeom plot spectrum --help"),
        (["similar", "v.bin", "king", "--top"], "see wordgeom similar --help"),
    ],
)
def test_the_advice_names_the_help_that_lists_the_option(check_refused, line, advice):
    check_refused(*line, say=(advice,), status=2)


@pytest.mark.parametrize(("late", "status", "said"), [(True, 0, ""), (False, 130, "interrupted")])
def test_a_signal_while_handlers_change_is_no_traceback(
    monkeypatch, capsys, folder, late, status, said
):
    real = signals.handled_by

    @contextlib.contextmanager
    def hit(handler: Callable[..., object], before: dict[int, object]) -> Iterator[None]:
        with real(handler, before):
            if not late:
                handler(signal.SIGTERM, None)
            yield
            if late:
                handler(signal.SIGTERM, None)

    monkeypatch.setattr("wordgeom.cli.handled_by", hit)
    assert main(["info", "cooc"]) == status
    assert said in capsys.readouterr().err


def test_a_signal_after_the_output_is_complete_changes_nothing(ask, folder, monkeypatch):
    real = click.echo

    def late(*args: Any, **kw: Any) -> None:
        signal.raise_signal(signal.SIGTERM)
        real(*args, **kw)

    monkeypatch.setattr(click, "echo", late)
    assert ask("build-pmi", "cooc", "-o", "late").status == 0
    assert Path("late/meta.json").exists()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_while_python_ends_does_not_change_the_status(number):
    program = f"""
import atexit, signal
from wordgeom.cli import run
atexit.register(signal.raise_signal, {int(number)})
run()
"""
    done = subprocess.run(
        [sys.executable, "-c", program, "--version"], capture_output=True, check=False, text=True,
        env=ENVIRONMENT,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("wordgeom")


def test_help_shows_the_defaults_that_hold(ask):
    for method, neg, cds in (("gbu", "[1]", "[0.75]"), ("dc", "[0.2]", "[1]")):
        shown = " ".join(ask("train", "--method", method, "--help").out.split())
        assert f"every PMI {neg}" in shown
        assert f"word2vec: 0.75 {cds}" in shown
    shown = " ".join(ask("train", "--help").out.split())
    assert "every PMI [1; dc: 0.2]" in shown
    assert "word2vec: 0.75 [1; gbu: 0.75]" in shown
    assert "[log; dlsa: rows]" in shown
    assert "--dim K dimension of the vectors [100; tsm: 32]" in shown
    assert "--sweeps" not in shown
    assert "every PMI [1; dc: 0.2]" in " ".join(ask("compare", "--help").out.split())
    for method, out in (("gbu", "[vectors.bin]"), ("dlsa", "[model]")):
        shown = " ".join(ask("train", "--method", method, "--help").out.split())
        assert f"{out} --space" in shown
