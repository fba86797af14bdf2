"""Texts and lists of tokens in memory are counted as the same text in a file is."""

from __future__ import annotations

import asyncio
import itertools
import json
import random
import tempfile
import threading
import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from corpora import assert_one_line

import wordgeom as wg
from wordgeom.core.errors import (
    InputError,
    MissingInputError,
    OptionError,
    OutputExistsError,
    StaleError,
)

TOKENS = [
    ["The", "cat", "sat", "on", "the", "mat", "."],
    ["a", "dog", "ran", ",", "the", "cat", "sat"],
    [],
    ["日本", "の", "猫", "cafe\u0301", "New\u00a0York", "don't", "#tag"],
    ["the", "mat", "the", "dog"],
]
TEXTS = [
    "The cat sat on the mat.",
    "",
    "A dog ran;\n\nthe cat sat.",
    "Café Cafe\u0301 猫",
    "the dog",
]


@pytest.fixture
def scratch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "scratch").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "scratch"))
    monkeypatch.chdir(tmp_path)
    return tmp_path / "scratch"


def same(one: wg.Counts | wg.DocumentCounts, other: wg.Counts | wg.DocumentCounts) -> bool:
    assert one.words == other.words
    assert np.array_equal(one.frequencies, other.frequencies)
    return not np.any(one.to_scipy().toarray() != other.to_scipy().toarray())


def in_file(tmp_path: Path, tokens: list[list[str]]) -> str:
    path = tmp_path / "same.txt"
    path.write_text("\n".join(" ".join(line) for line in tokens), encoding="utf-8")
    return str(path)


@pytest.mark.parametrize(
    "form",
    [list, tuple, iter, lambda x: (t for t in x), lambda x: [tuple(t) for t in x],
     lambda x: [np.array(t, dtype=str) for t in x]],
)  # fmt: skip
def test_lists_of_tokens_are_counted_as_in_a_file(form, tmp_path, scratch):
    path = in_file(tmp_path, TOKENS)
    with wg.count(path, min_count=1, tokeniser="whitespace") as expected:
        assert same(wg.count(form(TOKENS), min_count=1), expected)
        assert same(wg.count(texts=form(TOKENS), min_count=1), expected)
    assert list(scratch.iterdir()) == []


def test_many_tokens_are_counted_as_in_a_file_at_any_number_of_threads(tmp_path, scratch):
    draw = random.Random(3)
    words = [f"w{k}" for k in range(900)] + ["日本", "naïve", "x" * 500]
    lines = [draw.choices(words, k=draw.randrange(60)) for _ in range(20_000)]
    expected = wg.count(in_file(tmp_path, lines), tokeniser="whitespace", threads=1)
    for threads in (1, 3):
        assert same(wg.count(iter(lines), threads=threads), expected)


def test_texts_go_through_the_tokeniser_and_each_is_a_document(tmp_path, scratch):
    path = tmp_path / "t.jsonl"
    path.write_text("".join(json.dumps({"text": text}) + "\n" for text in TEXTS), encoding="utf-8")
    expected, rows = wg.count(path, min_count=1), wg.count_documents(path, min_count=1)
    assert expected.words[0] == "the"
    assert same(wg.count((text for text in TEXTS), min_count=1), expected)
    assert same(wg.count(texts=TEXTS, min_count=1), expected)
    assert same(wg.count(np.array(TEXTS), min_count=1), expected)
    for made in (wg.count_documents(iter(TEXTS), min_count=1),
                 wg.count_documents(texts=TEXTS, min_count=1)):  # fmt: skip
        assert same(made, rows)
        assert made.to_scipy().shape[0] == len(TEXTS)
        assert [document.line for document in made.documents()] == [1, 2, 3, 4, 5]


def test_a_series_and_records_of_pandas(scratch):
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(
        {"text": ["war and peace", "peace now", "war war"], "year": [1950, 1960, 1970],
         "day": pd.to_datetime(["1950-01-02", "1960-03-04", None]), "n": [1.5, None, 2.0]},
        index=["a", "b", "c"],
    )  # fmt: skip
    expected = wg.count_documents(texts=list(frame["text"]), min_count=1)
    assert same(wg.count_documents(frame["text"], min_count=1), expected)
    assert same(wg.count_documents(frame["text"].str.split(), min_count=1), expected)
    records = wg.count_documents(frame.to_dict("records"), min_count=1, time_field="year")
    assert [document.time for document in records.documents()] == ["1950", "1960", "1970"]
    days = wg.count_documents(
        frame[:2].to_dict("records"), min_count=1, time_field="day", id_field="year"
    )
    assert [(d.time, d.id) for d in days.documents()] == [
        ("1950-01-02", "1950"),
        ("1960-03-04", "1960"),
    ]
    with pytest.raises(OptionError, match="a table is not text, found DataFrame; choose its"):
        wg.count(frame)
    frame.loc["b", "text"] = None
    with pytest.raises(InputError) as caught:
        wg.count(frame["text"])
    assert_one_line(caught, "document 2: is not a text", "drop it, or fill it")


@pytest.mark.parametrize("given", [
    [None, "a b", float("nan"), "a"], [None, ["a", "b"], None, ["a"]],
    [{"text": None}, {"text": "a b"}, {"text": float("nan")}, {"text": "a"}],
])  # fmt: skip
def test_missing_texts_are_skipped_where_that_is_asked_for(given, scratch):
    counts = wg.count_documents(iter(given), bad_records="skip", min_count=1)
    assert len(counts.documents()) == 2
    (note,) = (note for note in counts.notes if "skipped" in note)
    assert note.startswith("skipped 2 malformed records; the first: document 1: ")
    with pytest.raises(wg.WordgeomError, match="found None"):
        wg.count_documents(texts=given, min_count=1)


def test_notes_and_errors_call_texts_in_memory_by_their_number(scratch, tmp_path):
    records: list[dict[str, Any]] = [
        {"text": "a b", "year": 1950}, {"text": "<b>a</b>", "year": None},
    ]  # fmt: skip
    counts = wg.count_documents(records, time_field="year", min_count=1)
    assert counts.notes
    assert "<texts>" not in " ".join(counts.notes)
    undated = wg.count_documents(texts=["a b", "b a"], min_count=1)
    with pytest.raises(wg.WordgeomError, match="the texts: no document has a time"):
        wg.train_model(undated, tmp_path / "model", dim=1)


def test_rows_of_a_table_are_refused_with_advice(scratch):
    pd = pytest.importorskip("pandas", reason="pandas is not installed")
    rows = pd.DataFrame({"text": ["a b"], "year": [1950]}).itertuples()
    with pytest.raises(wg.WordgeomError, match=r'pass df\.to_dict\("records"\)'):
        wg.count(rows)


def test_a_missing_file_is_not_sought_on_standard_input(scratch):
    with pytest.raises(wg.WordgeomError, match=r"king: no such file; .* or pass text as texts="):
        wg.count(["king", "queen"])


def test_a_generator_is_read_once_and_not_held(scratch):
    class Document(list[str]):
        pass

    alive: weakref.WeakSet[Document] = weakref.WeakSet()
    most = 0

    def documents() -> Iterator[Document]:
        nonlocal most
        for _ in range(3000):
            document = Document(["word"] * 100)
            alive.add(document)
            yield document
            most = max(most, len(alive))

    Document.__hash__ = object.__hash__  # type: ignore[assignment]
    assert wg.count(documents()).frequencies[0] == 300_000
    assert most <= 3


@pytest.mark.parametrize(
    ("given", "options", "said"),
    [
        ([["a", "b"], ["c", 4]], {}, "document 2, token 2: is not text, found int"),
        ([["a", "b"], ["c", ""]], {}, "document 2, token 2: is empty, found ''; leave it out"),
        ([["a"], ["New York"]], {}, "document 2, token 1: contains white space, found 'New York'"),
        ([["a", "\n"]], {}, "document 1, token 2: contains white space, found '\\n'; leave it out"),
        ([["a", "b"], None], {}, "document 2: is not a list of tokens, found None; drop it"),
        ([["a", "b"], 3], {}, "document 2: is not a list of tokens, found int"),
        ([["a", "b"], "a b"], {}, "document 2: is not a list of tokens, found str"),
        ([["a", "b"], {"text": "a"}], {}, "document 2: is not a list of tokens, found dict"),
        (iter(["a b", ["a"]]), {"tokeniser": "whitespace"}, "document 2: is not a text, found"),
        ([{"body": "a", "n": 1}], {}, "document 1: has no field 'text', found body, n; name the"),
        ([{"text": ["a"]}], {}, "document 1, 'text': is not text, found list"),
        ([[b"a", b"b"]], {}, "document 1, token 1: is not text, found bytes"),
        ([3, 4], {}, "document 1: is not a text or a list of tokens, found int"),
        ([float("nan")], {}, "document 1: is not a text or a list of tokens, found nan; drop it"),
        (["a.txt", 3], {}, "document 2: is not the name of a file, found int"),
        ([], {}, "count needs a text file or a text, found none"),
        (iter([]), {}, "count needs a text file or a text, found none"),
        (None, {}, "count needs text: the names of files, or texts=, found none"),
        (3, {}, "count cannot read this, found int; pass the names of files, texts or lists"),
        (b"the cat", {}, "count cannot read this, found bytes"),
        ({"a": "b"}, {}, "count cannot read this, found dict"),
        ([["a"]], {"tokeniser": "words"}, 'are not split again, found tokeniser="words"'),
        ([["a"]], {"input_format": "text"}, "texts in memory have no format; leave input_format="),
        ([["a"]], {"k": 3}, 'k= needs tokeniser="kmer", not whitespace; leave k= out'),
        ([["a"]], {"time_field": "year"}, "'year' is in none of the records (1 read)"),
        ([["a", "b"]], {}, "the texts: no word occurs 5 times"),
    ],
)  # fmt: skip
def test_what_is_no_text_is_refused_by_its_place(given, options, said, scratch):
    with pytest.raises(wg.WordgeomError) as caught:
        wg.count(given, **options)
    assert_one_line(caught, said)
    assert "--" not in str(caught.value)
    assert list(scratch.iterdir()) == []


def test_a_text_is_not_taken_for_the_name_of_a_file_nor_a_name_for_a_text(tmp_path, scratch):
    with pytest.raises(MissingInputError) as caught:
        wg.count("the cat sat on the mat " * 99)
    assert_one_line(caught, "no such file", "a text is passed as texts=[text]")
    with pytest.raises(MissingInputError, match=r"texts=\[text\]"):
        wg.count(["the cat sat", "on the mat"])
    with pytest.raises(OptionError, match="texts= is one text"):
        wg.count(texts="the cat sat on the mat")
    with pytest.raises(OptionError, match="found both"):
        wg.count("a.txt", texts=["a"])
    (tmp_path / "my corpus.txt").write_text("a b\n" * 9)
    assert wg.count("my corpus.txt").words == wg.count("my *.txt").words == ["a", "b"]
    assert wg.count(p for p in [Path("my corpus.txt")]).words == ["a", "b"]
    for names in (["my corpus.txt"], ["missing.txt"]):
        with pytest.raises(OptionError, match="looks like the name of a file"):
            wg.count(name for name in names)


def test_the_same_texts_are_up_to_date_and_others_are_refused(scratch):
    def documents() -> Iterator[list[str]]:
        yield from (["a", "b", "c"] for _ in range(9))

    first = wg.count(documents(), out="cooc")
    stamp = (first.path / "meta.json").stat().st_mtime_ns
    again = wg.count(documents(), out="cooc")
    assert "up to date" in again.summary
    assert (first.path / "meta.json").stat().st_mtime_ns == stamp
    with pytest.raises(OutputExistsError, match="was made from other text; pass force=True"):
        wg.count(itertools.chain(documents(), [["d"]]), out="cooc")
    assert wg.count([["d", "e"]] * 9, out="cooc", force=True).words == ["d", "e"]
    with pytest.raises(OutputExistsError):
        wg.count(documents(), out="cooc")


def test_an_error_of_the_generator_is_raised_as_it_is(scratch):
    class NoRowError(OSError):
        pass

    for error in (NoRowError("no row"), ValueError("no row"), KeyError("no row")):

        def failing(error: Exception = error) -> Iterator[list[str]]:
            yield ["a", "b"]
            raise error

        with pytest.raises(type(error), match="no row") as caught:
            wg.count(failing())
        assert caught.value is error
    assert list(scratch.iterdir()) == []


def test_an_interrupted_generator_leaves_nothing(scratch):
    def interrupted() -> Iterator[list[str]]:
        yield ["a", "b"]
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        wg.count(interrupted(), out="cooc")
    assert not Path("cooc").exists()
    assert wg.count([["a", "b"]] * 9, out="cooc", force=True).words == ["a", "b"]


def test_an_interrupted_count_resumes_from_the_same_texts_alone(scratch, monkeypatch):
    monkeypatch.setattr("wordgeom.checkpoint.corpus_writer.WORTH", 1)  # ids that are saved

    def documents(stop: int = -1, word: str = "w") -> Iterator[list[str]]:
        for number in range(40_000):
            if number == stop:
                raise KeyboardInterrupt
            yield ["c", f"{word}{number % 5000}", "d" * 300, f"{word}{number % 77}"]

    with pytest.raises(KeyboardInterrupt, match="continue with resume=True"):
        wg.count(documents(stop=30_000), out="cooc", checkpoint=0.0)
    with pytest.raises(StaleError, match="a different text; start over with force=True"):
        wg.count(documents(word="v"), out="cooc", resume=True)
    assert wg.count(documents(), out="cooc", resume=True).digest == wg.count(documents()).digest
    with pytest.raises(KeyboardInterrupt, match=r"only a run with out= can be resumed"):
        wg.count(documents(stop=30_000), checkpoint=0.0)


def test_threads_and_an_event_loop_count_their_own_texts(scratch):
    found: dict[int, list[str]] = {}

    def work(number: int) -> None:
        found[number] = sorted(wg.count([[f"a{number}", f"b{number}"]] * 9).words)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {number: [f"a{number}", f"b{number}"] for number in range(4)}

    async def both() -> list[wg.Counts]:
        inside = wg.count([["c", "d"]] * 9)
        return [inside, await asyncio.to_thread(wg.count, [["e", "f"]] * 9)]

    assert [counts.words for counts in asyncio.run(both())] == [["c", "d"], ["e", "f"]]


def test_a_count_inside_a_generator_reads_its_own_texts(scratch):
    def nested() -> Iterator[list[str]]:
        for _ in range(6):
            yield wg.count([["x", "y"]] * 9).words

    assert wg.count(nested()).words == ["x", "y"]


def test_tokens_of_spacy_objects_are_refused_with_advice(scratch):
    class Token:  # as spaCy's, whose import takes seconds; the guide's examples run with it
        def __init__(self, text):
            self.text = self.lemma_ = text

    document: Any = [Token(text) for text in ("The", "cat", "sat", ".")]
    with pytest.raises(InputError, match=r"token 1: is not text, found Token; pass \[token\.text"):
        wg.count([document])
    assert wg.count([[t.text for t in document]] * 9).words[:2] == ["The", "cat"]
