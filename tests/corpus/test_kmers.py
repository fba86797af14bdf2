"""k-mers: the k frames of each sequence, wherever blocks end."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from unittest.mock import patch

import pytest
from corpora import assert_one_line, put, read
from hypothesis import given
from hypothesis import strategies as st

from wordgeom.core.errors import InputError
from wordgeom.corpus.inputs import readers
from wordgeom.corpus.inputs.readers import Source
from wordgeom.corpus.options import CorpusOptions
from wordgeom.corpus.records import formats, kmers


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("kmers")


def frames(path: Path, block: int = 1 << 21, **options: object) -> tuple[list[list[str]], Source]:
    """The documents of a file as tokens; every block ends between tokens."""
    asked = formats.resolve([str(path)], CorpusOptions(**options))  # type: ignore[arg-type]
    source = Source(str(path))
    with patch.object(readers, "BLOCK", block):
        made = list(formats.blocks(source, b" \n", asked))
    assert all(b.text.endswith((b" ", b"\n")) for b in made[:-1])
    assert [b.last for b in made] == [False] * (len(made) - 1) + [True]
    text = b"".join(b.text for b in made).decode()
    return [line.split() for line in text.split("\n") if line], source


def shifted(sequence: str, k: int) -> list[list[str]]:
    """The frames by the definition."""
    each = [
        [sequence[at : at + k] for at in range(shift, len(sequence) - k + 1, k)]
        for shift in range(k)
    ]
    return [one for one in each if one]


def test_the_papers_example(folder: Path):
    (path,) = put(folder, "ADTIVAVET\n")
    made, _ = frames(path, tokeniser="kmer")
    assert made == [["ADT", "IVA", "VET"], ["DTI", "VAV"], ["TIV", "AVE"]]


@given(
    st.lists(st.text("ACgt ", max_size=30), max_size=6),
    st.integers(1, 7),
    st.integers(1, 40),
    st.sampled_from(["\n", "\r\n"]),
)
def test_every_line_gives_its_k_frames(
    folder: Path, lines: list[str], k: int, block: int, end: str
):
    (path,) = put(folder, end.join(lines))
    made, source = frames(path, block, tokeniser="kmer", k=k)
    sequences = [line.replace(" ", "") for line in lines]
    assert made == [one for sequence in sequences for one in shifted(sequence, k)]
    assert source.counts.get(kmers.SHORT, 0) == sum(0 < len(s) < k for s in sequences)


@given(
    st.lists(st.tuples(st.text("ACgt-*", max_size=30), st.integers(1, 9)), min_size=1, max_size=5),
    st.integers(1, 40),
)
def test_fasta_records_are_upper_case_without_gaps(
    folder: Path, records: list[tuple[str, int]], block: int
):
    text = ""
    for number, (sequence, width) in enumerate(records):
        cut = [sequence[at : at + width] for at in range(0, len(sequence), width)]
        text += f">s{number} some words\n; a comment\n" + "".join(f"{line}\n" for line in cut)
    path = folder / "some.fasta"
    path.write_text(text, encoding="utf-8")
    made, source = frames(path, block, id_field="header")
    sequences = [sequence.replace("-", "").upper() for sequence, _ in records]
    assert made == [one for sequence in sequences for one in shifted(sequence, 3)]
    assert source.counts.get("gaps in sequences", 0) == sum(s.count("-") for s, _ in records)
    assert source.counts.get("records without a sequence", 0) == sequences.count("")
    assert [r.id for r in source.documents] == [f"s{k}" for k in range(len(records))]
    headers = [k for k, line in enumerate(text.split("\n"), 1) if line.startswith(">")]
    assert [r.line for r in source.documents] == headers


def test_k_mers_are_words_and_each_frame_a_document(folder: Path):
    path = folder / "one.fa"
    path.write_text(">a\nACGTACGTA\n>b\nAC\n", encoding="utf-8")
    made = read([path], formats.resolve([str(path)], CorpusOptions(min_count=1)))
    expected = [token for one in shifted("ACGTACGTA", 3) for token in one]
    assert made.vocabulary == Counter(expected)
    assert made.documents == 3


def test_letters_beyond_ascii_are_rejected_with_their_location(folder: Path):
    (path,) = put(folder, "ACG\nAÇG")
    with pytest.raises(InputError) as caught:
        frames(path, tokeniser="kmer")
    assert_one_line(caught, path, "not ASCII at byte 5, found 0xc3; --tokeniser kmer reads")
    record = folder / "s.tsv"
    record.write_text("a\tACG\nb\tAÇG\n", encoding="utf-8")
    with pytest.raises(InputError) as caught:
        frames(record, tokeniser="kmer", text_field="2")
    assert_one_line(caught, record, "not ASCII in line 2, found 0xc3")


def test_a_sequence_too_long_for_memory_is_rejected(folder: Path):
    (path,) = put(folder, "ACGT" * 99)
    with (
        patch.object(kmers, "_LONGEST", 100),
        pytest.raises(InputError) as caught,
    ):
        frames(path, 30, tokeniser="kmer")
    assert_one_line(caught, path, "the sequence has more than 100 letters; split it")
