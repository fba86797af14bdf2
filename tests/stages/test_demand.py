"""The disk space that stages ask for, against the files that they write."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from wordgeom.core.errors import WriteError
from wordgeom.corpus.expected_tokens import expected_tokens
from wordgeom.corpus.options import CorpusOptions
from wordgeom.stages import stage as frame
from wordgeom.stages.counting_space import combined_pairs, temporary_bytes
from wordgeom.storage.disk_space import Demand, check_space
from wordgeom.storage.store import Store

MB = 10**6


def text(rows: int, seed: int) -> str:
    """Lines of words by Zipf's law."""
    draw = np.random.default_rng(seed).zipf(1.5, (rows, 10)) % 3_000
    return "".join(" ".join(f"w{k}é" for k in row) + "\n" for row in draw)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Two texts, and one with a year for each line."""
    where = tmp_path_factory.mktemp("demand")
    for name, seed in (("one", 1), ("two", 2)):
        (where / f"{name}.txt").write_text(text(4_000, seed), encoding="utf-8")
    lines = text(600, 3).splitlines()
    dated = "".join(f"{1900 + k % 60}\t{line}\n" for k, line in enumerate(lines))
    (where / "dated.tsv").write_text("time\ttext\n" + dated, encoding="utf-8")
    return where


@pytest.fixture
def demands(folder, monkeypatch, ask):
    """Runs a command in the folder; returns the demand of its stage."""
    found: list[Demand] = []

    def record(demand: Demand, *where: object) -> None:
        found.append(demand)

    monkeypatch.chdir(folder)
    monkeypatch.setattr(frame, "check_space", record)

    def run(*command: str) -> Demand:
        answer = ask(*command, "--force", "--threads", "1")
        assert answer.status == 0, answer
        return found[-1]

    return run


def parts(path: str) -> int:
    """The bytes of the parts of a store."""
    made = Store.open(path)
    return sum((Path(path) / one["file"]).stat().st_size for one in made.parts().values())


def counts(demands) -> None:
    demands("build-cooc", "one.txt", "-o", "a", "--save-vocab", "words")
    demands("build-cooc", "two.txt", "-o", "b", "--read-vocab", "words")


def test_weighted_counts_need_no_more_than_the_counts(demands):
    counts(demands)
    space = demands("build-pmi", "a", "-o", "pmi").output
    assert space.least <= parts("pmi") <= space.expected <= 2 * parts("pmi")


@pytest.mark.parametrize("options", [(), ("--union",)])
def test_a_sum_needs_the_larger_part_at_least(demands, options):
    counts(demands)
    space = demands("merge", "a", "b", "-o", "sum", *options).output
    assert space.least <= parts("sum")
    assert space.expected / 1.5 <= parts("sum") <= 1.5 * space.expected


def test_appended_documents_are_exact(demands):
    demands("build-dtm", "one.txt", "-o", "d", "--save-vocab", "w")
    demands("build-dtm", "two.txt", "-o", "e", "--read-vocab", "w")
    space = demands("merge", "d", "e", "-o", "de").output
    assert space.least == space.expected == parts("de")


@pytest.mark.parametrize("name", ["v.bin", "v.txt", "v.txt.gz"])
def test_vectors_are_exact_in_binary_and_bounded_in_text(demands, name):
    counts(demands)
    space = demands("train", "a", "--method", "pmi-eigs", "--dim", "7", "-o", name).output
    size = Path(name).stat().st_size
    assert space.least <= size <= space.expected
    assert name != "v.bin" or space.least == space.expected == size


def test_vectors_of_documents_are_counted_too(demands):
    demands("build-dtm", "one.txt", "-o", "d")
    space = demands("train", "d", "--method", "lsa", "--dim", "5", "-o", "v.bin",
                    "--documents", "n.bin").output  # fmt: skip
    size = sum(Path(name).stat().st_size for name in ("v.bin", "n.bin"))
    assert space.least == space.expected == size


def test_a_model_of_all_documents_is_exact_but_for_its_words(demands):
    demands("build-dtm", "dated.tsv", "-o", "t", "--time-field", "time",
            "--text-field", "text", "--min-count", "1")  # fmt: skip
    space = demands("train", "t", "--method", "dlsa", "--dim", "4", "--degree", "2", "-o", "m",
                    "--at", "1950").output  # fmt: skip
    made = Store.open("m")
    words = made.array("vocab").length
    exported = Path("m-1950.bin").stat().st_size
    assert space.expected == parts("m") - words + exported
    assert space.least == exported


def test_pairs_that_exceed_the_memory_need_temporary_files(demands):
    from wordgeom.methods.gbu.cost import pairs_on_disk

    assert pairs_on_disk(1000, 10**6, 10, 10**9, targets=True) == 0
    assert pairs_on_disk(1000, 10**6, 10, 10**7, targets=True) >= 12 * 10**6  # columns, G, counts
    assert pairs_on_disk(1000, 10**6, 10, 10**7, targets=False) >= 8 * 10**6
    counts(demands)
    assert demands("train", "a", "--method", "gbu", "--dim", "5", "-o", "g.bin").scratch == (
        Demand().scratch
    )


def test_transformed_vectors_are_counted_twice(demands):
    counts(demands)
    demands("train", "a", "--method", "pmi-eigs", "--dim", "7", "-o", "v.bin")
    demand = demands("transform", "v.bin", "--center", "-o", "u.bin")
    size, rows = Path("u.bin").stat().st_size, Store.open("a").attributes["shape"][0]
    assert 0.8 * size <= demand.output.least <= size
    assert demand.scratch.least == 4 * 7 * rows
    packed = demands("compress", "v.bin", "-o", "c.npz", "--dim", "7").output
    assert packed.least == 0
    assert 0 < packed.expected < size


def test_a_model_of_fasttext_needs_all_its_buckets(demands):
    counts(demands)
    demands("train", "a", "--method", "pmi-eigs", "--dim", "7", "-o", "v.bin")
    demands("subwords", "v.bin", "-o", "h.bin", "--buckets", "30000", "--min-words", "2")
    for source in ("h.bin", "ft.bin"):
        space = demands("convert", source, f"to-{source}", "--to", "fasttext").output
        assert space.least == 30_000 * 7 * 4
        size = Path(f"to-{source}").stat().st_size
        assert 0.9 * size <= space.expected <= size
        Path(f"to-{source}").rename("ft.bin")


@pytest.mark.parametrize("name", ["c.txt", "c.npy"])
def test_converted_vectors_are_not_larger_than_expected_by_much(demands, name):
    counts(demands)
    demands("train", "a", "--method", "pmi-eigs", "--dim", "40", "-o", "v.bin")
    space = demands("convert", "v.bin", name).output
    assert space.least == 0
    assert 0.5 * space.expected <= Path(name).stat().st_size <= 1.5 * space.expected


def test_extended_vectors_lie_between_the_known_and_all_words(demands):
    counts(demands)
    demands("train", "a", "--method", "gbu", "--dim", "5", "-o", "g.bin")
    demands("build-cooc", "one.txt", "-o", "more", "--min-count", "2")
    space = demands("extend", "g.bin", "more", "-o", "x.bin").output
    assert space.least <= Path("x.bin").stat().st_size <= space.expected


def test_the_tokens_of_a_text_are_estimated_from_its_head(tmp_path):
    words = tmp_path / "words.txt"
    words.write_text("alpha beta gamma\n" * 100_000)
    assert expected_tokens([str(words)], CorpusOptions()) == pytest.approx(300_000, rel=0.01)
    acids = CorpusOptions(tokeniser="kmer")
    assert expected_tokens([str(words)], acids) == words.stat().st_size
    empty = tmp_path / "empty.txt"
    empty.touch()
    assert expected_tokens([str(empty)], CorpusOptions()) == 0
    assert expected_tokens([str(tmp_path / "absent")], CorpusOptions()) == 0


def test_temporary_files_hold_the_ids_twice_and_then_beside_the_output():
    tokens, memory = 10**9, 10**11
    assert temporary_bytes(10**6, 8 * 10**6, memory) == 0  # in memory
    assert temporary_bytes(tokens, 0, memory) == 8 * tokens
    assert temporary_bytes(tokens, 10**12, memory) == 4 * tokens
    little = temporary_bytes(tokens, 10**10, 10**9)
    assert 4 * tokens + 10**10 < little < 4 * tokens + 10**11  # with partial counts
    assert combined_pairs([100]) == 100
    assert 100 < combined_pairs([100, 100]) < 200


def test_a_full_disk_is_refused_before_anything_is_written(folder, monkeypatch, ask):
    monkeypatch.chdir(folder)
    assert ask("build-cooc", "one.txt", "-o", "a", "--force").status == 0
    before = sorted(folder.rglob("*"))
    usage = type("Usage", (), {"free": 1000})
    monkeypatch.setattr("shutil.disk_usage", lambda path: usage)
    monkeypatch.setattr(frame, "check_space", check_space)
    answer = ask("train", "a", "--method", "gbu", "--dim", "50", "-o", "none.bin")
    assert answer.status == 1
    assert "needs at least" in answer.err
    assert "1 KB free; free space, lower --dim or name another directory with -o" in answer.err
    assert answer.err.count("\n") == 1
    assert [path for path in sorted(folder.rglob("*")) if not path.name.endswith(".lock")] == (
        [path for path in before if not path.name.endswith(".lock")]
    )
    assert issubclass(WriteError, OSError)
