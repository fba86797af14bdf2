"""scripts/reproduce/planted_change: rates of planted change, dates, scores and tables."""

from __future__ import annotations

import gzip
import sys
from pathlib import Path

import numpy as np
import pytest

import wordgeom
from wordgeom.core.errors import FormatError, InputError, MissingInputError, OptionError
from wordgeom.core.types import offsets

sys.path.insert(0, str(Path(wordgeom.__file__).parent.parent / "scripts" / "reproduce"))

import planted_change
import planted_tables
import planted_text
import planted_words
from planted_measures import Scored
from planted_text import Speeches
from planted_words import Pseudo

V, TOPICS = 70, 5


@pytest.fixture(scope="module")
def speeches() -> Speeches:
    """790 speeches in 79 years, longer at first, of words that belong to a topic each."""
    rng = np.random.default_rng(1)
    years = np.repeat(np.arange(1946, 2025), 10)
    lengths = rng.integers(60, 120, len(years)) * np.where(years < 1985, 4, 2)
    topics = rng.dirichlet(np.full(TOPICS, 0.3), len(years))
    tokens = [
        rng.integers(0, V // TOPICS, n) * TOPICS + rng.choice(TOPICS, n, p=p)
        for n, p in zip(lengths, topics, strict=True)
    ]
    words = [f"word{chr(97 + k // 26)}{chr(97 + k % 26)}" for k in range(V)]
    return Speeches(years, np.concatenate(tokens).astype(np.int32), offsets(lengths), words)


def planted(speeches: Speeches, *words: Pseudo) -> tuple[Speeches, np.ndarray, np.ndarray]:
    """Return the changed speeches, and what each token was and is."""
    changed = planted_words.plant(speeches, list(words), np.random.default_rng(3))
    return changed, speeches.tokens, changed.tokens


CASES = [
    ("step", 0.5), ("step", 1.0), ("linear", 0.1), ("linear", 1.0), ("growing", 0.5),
    ("dying", 0.25), ("constant", 0.25),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "size"), CASES)
def test_shares_are_those_of_the_kind_at_every_time(speeches, kind, size):
    word = Pseudo("new", kind, size, recipient=3, donor=9, start=0.4)
    _, was, is_ = planted(speeches, word)
    times = speeches.times[speeches.of]
    new = is_ == V
    for low in (0.0, 0.2, 0.4, 0.6, 0.8):
        there = new & (times >= low) & (times < low + 0.2)
        expected = word.share(times[there]).mean()
        bound = 4 * np.sqrt(0.25 / there.sum())
        assert abs((was[there] == 9).mean() - expected) < bound
    ends = word.share(np.array([0.0, 1.0]))
    finals = {"dying": [size, 0.0], "constant": [size, size]}
    assert ends == pytest.approx(finals.get(kind, [0.0, size]))


def test_shares_hold_where_the_frequencies_of_the_two_words_differ_over_time(speeches):
    """A real donor becomes more frequent, but the share of a control stays constant."""
    rng = np.random.default_rng(2)
    times = speeches.times[speeches.of]
    tokens = speeches.tokens.copy()
    tokens[(tokens == 9) & (rng.random(len(tokens)) > times)] = 60
    changing = Speeches(speeches.years, tokens, speeches.starts, speeches.words)
    _, was, is_ = planted(changing, Pseudo("new", "constant", 0.5, recipient=3, donor=9))
    for part in (times < 0.3, times > 0.7):
        there = (is_ == V) & part
        assert abs((was[there] == 9).mean() - 0.5) < 4 * np.sqrt(0.25 / there.sum())


def test_growing_and_dying_senses_leave_the_uses_of_the_other(speeches):
    growing = Pseudo("g", "growing", 0.5, recipient=3, donor=9)
    dying = Pseudo("d", "dying", 0.5, recipient=13, donor=19)
    t = np.linspace(0, 1, 11)
    assert growing.uses(t) * (1 - growing.share(t)) == pytest.approx(np.full(11, 0.5))
    assert dying.uses(t) == pytest.approx(growing.uses(t)[::-1])
    assert dying.share(t) == pytest.approx(growing.share(t)[::-1])


@pytest.mark.parametrize("factor", [2.0, 4.0, 8.0])
@pytest.mark.parametrize("falls", [False, True])
def test_frequencies_change_by_the_factor_and_contexts_stay(speeches, factor, falls):
    word = Pseudo("new", "frequency", factor, recipient=3, falls=falls)
    t = np.array([0.0, 1.0])
    assert np.ptp(np.log(word.uses(t))) == pytest.approx(np.log(factor))
    assert (np.diff(word.uses(t)) < 0) == falls
    _, was, is_ = planted(speeches, word)
    own, new = was == 3, is_ == V
    times, of = speeches.times[speeches.of], speeches.of
    topic = np.array([
        np.mean(speeches.tokens[a:b] % TOPICS == 3)
        for a, b in zip(speeches.starts, speeches.starts[1:], strict=False)
    ])  # fmt: skip
    for part in (times < 0.3, times > 0.7):
        rate = new[own & part].mean()
        error = np.sqrt(rate * (1 - rate) / (own & part).sum())
        assert abs(rate - word.uses(times[own & part]).mean()) < 4 * error
        # Speeches where the word is renamed have the topics of all speeches with the word.
        spread = topic[of[own & part]].std() / np.sqrt((new & part).sum())
        gap = topic[of[new & part]].mean() - topic[of[own & part]].mean()
        assert abs(gap) < 4 * spread


def test_nothing_else_is_changed(speeches, tmp_path):
    words = planted_words.draw(speeches, 1, np.random.default_rng(0))
    changed, was, is_ = planted(speeches, *words)
    assert changed.words == [*speeches.words, *(word.name for word in words)]
    assert changed.years is speeches.years
    assert changed.starts is speeches.starts
    renamed = is_ != was
    for k, word in enumerate(words):
        assert set(was[is_ == V + k]) <= {word.recipient, word.donor}
    assert np.array_equal(np.flatnonzero(is_ >= V), np.flatnonzero(renamed))
    changed.write(tmp_path / "text.tsv")
    lines = (tmp_path / "text.tsv").read_text().splitlines()
    assert len(lines) == 790
    year, number, text = lines[7].split("\t")
    assert (year, number) == ("1946", "7")
    part = slice(changed.starts[7], changed.starts[8])
    assert text.split() == [changed.words[k] for k in is_[part]]


def test_words_are_drawn_once_by_the_seed_from_words_in_use_at_all_times(speeches):
    first, again, other = (
        planted_words.draw(speeches, 1, np.random.default_rng(seed)) for seed in (0, 0, 1)
    )
    assert first == again != other
    used = [k for word in first for k in (word.recipient, word.donor) if k >= 0]
    assert len(used) == len(set(used)) == 46
    assert {word.kind for word in first} == {*planted_words.PLANTED, "constant", "frequency"}
    late = speeches.tokens.copy()
    late[(late == 5) & (speeches.times[speeches.of] < 0.5)] = 6
    text = Speeches(speeches.years, late, speeches.starts, speeches.words)
    assert 5 not in planted_words.candidates(text)
    assert 5 in planted_words.candidates(speeches)
    with pytest.raises(InputError, match=r"138 words in 200 to 2,000 speeches are needed"):
        planted_words.draw(speeches, 3, np.random.default_rng(0))


def test_shuffled_speeches_keep_the_trend_of_length_and_nothing_else(speeches):
    found = planted_text.shuffled(speeches, np.random.default_rng(4))
    assert np.array_equal(np.sort(found.years), speeches.years)
    by_year = [s.lengths[s.years > 1984].mean() / s.lengths[s.years < 1985].mean()
               for s in (speeches, found)]  # fmt: skip
    assert by_year[1] == pytest.approx(by_year[0], abs=0.08)
    # The natural length of a speech does not depend on its new year.
    assert abs(np.corrcoef(speeches.lengths, found.years)[0, 1]) < 0.1
    # Passages are whole: each kept passage of a speech is one of its passages.
    row = int(np.argmax(found.lengths))
    a, b = (s.tokens[s.starts[row] : s.starts[row + 1]] for s in (speeches, found))
    parts = [tuple(a[k : k + 100]) for k in range(0, len(a), 100)]
    assert tuple(b[:100]) in parts


def test_strata_keep_the_correlation_of_length_and_year(speeches):
    found = planted_text.within_strata(speeches, np.random.default_rng(4))
    assert np.array_equal(np.sort(found.years), speeches.years)
    assert found.tokens is speeches.tokens
    assert not np.array_equal(found.years, speeches.years)
    before, after = (np.corrcoef(s.lengths, s.years)[0, 1] for s in (speeches, found))
    assert after == pytest.approx(before, abs=0.05)


def test_speeches_are_read_as_downloaded(tmp_path):
    text = "\ufeff1946\t01\tARG\tPeace, and  café!\r\n1950\t05\tFRA\tLa paix 2.\r\n"
    (tmp_path / "un.tsv.gz").write_bytes(gzip.compress(text.encode()))
    found = planted_text.read_speeches(tmp_path / "un.tsv.gz")
    assert found.words == ["peace", "and", "café", "la", "paix"]
    assert found.years.tolist() == [1946, 1950]
    assert found.starts.tolist() == [0, 3, 5]
    (tmp_path / "cut.tsv.gz").write_bytes(gzip.compress(text.encode())[:30])
    with pytest.raises(FormatError, match="unreadable"):
        planted_text.read_speeches(tmp_path / "cut.tsv.gz")
    with pytest.raises(MissingInputError, match="no such file"):
        planted_text.read_speeches(tmp_path / "absent.tsv")
    for bad in ("1946,01,ARG,Peace\n", "year\tsession\tcountry\ttext\n", ""):
        (tmp_path / "bad.tsv").write_text(bad)
        with pytest.raises(FormatError, match=r"bad\.tsv"):
            planted_text.read_speeches(tmp_path / "bad.tsv")


def test_average_precision_agrees_with_scikit_learn():
    metrics = pytest.importorskip("sklearn.metrics", reason="needs scikit-learn")
    rng = np.random.default_rng(0)
    positive, score = rng.random(50) < 0.3, rng.integers(0, 8, 50).astype(float)
    weights = rng.integers(0, 3, (4, 50)).astype(float)
    found = planted_tables.average_precision(positive, score, weights)
    for row, value in zip(weights, found, strict=True):
        expected = metrics.average_precision_score(positive, score, sample_weight=row)
        assert value == pytest.approx(expected)
    score[:5] = np.nan  # words without a score come last
    last = np.where(np.isnan(score), -1.0, score)
    found = planted_tables.average_precision(positive, score, np.ones((1, 50)))
    assert found[0] == pytest.approx(metrics.average_precision_score(positive, last))


def test_controls_have_the_frequencies_of_the_words():
    frequencies = np.array([10, 500, 9, 11, 480, 520, 10, 90])
    allowed = np.array([False, False, True, True, True, True, True, True])
    found = planted_words.matched(np.array([0, 1]), frequencies, allowed, 2)
    assert sorted(frequencies[found].tolist())[-2:] == [480, 520]
    assert len(found) == 4
    assert 7 not in found


def run_of(words: list[str]) -> planted_tables.Run:
    kinds = np.array(["step", "linear", "frequency", "constant", "untouched", "remainder"], object)
    return planted_tables.Run(
        1, words, kinds, np.array([0.5, 0.5, 4, 0.25, np.nan, np.nan]),
        np.array([300, 100, 250, 250, 280, 300]), np.array([0, 0, 0, 0, 1, 0], bool),
    )  # fmt: skip


def test_scores_are_read_as_they_were_written(tmp_path):
    run, none = run_of(list("abcdef")), np.full(6, np.nan)
    p = np.array([0.01, 0.2, 0.01, 0.3, 0.01, np.nan])
    planted_tables.write_scores(
        tmp_path / "a.tsv",
        "made",
        run,
        [Scored("flips F, r = 2", np.array([5, 1, 3, 1, 2, 9.0]), p, p)],
    )
    planted_tables.write_scores(tmp_path / "b.tsv", "made", run, [Scored("gbu", none, none, none)])
    read = planted_tables.read_run([tmp_path / "a.tsv", tmp_path / "b.tsv"], "made", 1)
    assert [scored.measure for scored in read.scores] == ["flips F, r = 2", "gbu"]
    np.testing.assert_array_equal(read.scores[0].p, p)
    assert read.ranked.tolist() == [0, 1, 2, 3, 4]
    # Only the word in 200 speeches or more counts for power; a false discovery is no planted word.
    assert planted_tables.half([read], 0) == 1.0
    table = "\n".join(planted_tables.tables([read]))
    assert "| 0.667 (2 of 3) | 1.000 | 1.000 | 1.000 |" in table
    other = run_of(list("abcdeg"))
    planted_tables.write_scores(tmp_path / "b.tsv", "made", other, [])
    with pytest.raises(FormatError, match="scores made with other options"):
        planted_tables.read_run([tmp_path / "a.tsv", tmp_path / "b.tsv"], "made", 1)


def test_tables_of_a_small_text(speeches, tmp_path, monkeypatch, capsys):
    """The whole program runs, resumes, and reports bad options in a line."""
    lines = []
    for row, year in enumerate(speeches.years.tolist()):
        part = speeches.tokens[speeches.starts[row] : speeches.starts[row + 1]]
        lines.append(f"{year}\t1\tARG\t" + " ".join(speeches.words[k] for k in part))
    (tmp_path / "un.tsv").write_text("\n".join(lines) + "\n")
    command = ["planted_change", str(tmp_path / "un.tsv"), "--words", "1", "--dims", "4",
               "--permutations", "19", "--min-count", "20", "--measures", "flips,dlsa,pmi,gbu",
               "--out", str(tmp_path / "out"), "--threads", "1"]  # fmt: skip
    monkeypatch.setattr(sys, "argv", command)
    planted_change.main()
    first = capsys.readouterr().out
    for part in ("## shuffled", "## strata", "## real", "neighbours, gbu 4, thirds",
                 "shuffled, flips F, r = 4, passages: power"):  # fmt: skip
        assert part in first
    assert len(list((tmp_path / "out").iterdir())) == 12
    planted_change.main()
    again = capsys.readouterr().out
    assert (
        again[again.index("## shuffled") :].splitlines()[:20]
        == (first[first.index("## shuffled") :].splitlines()[:20])
    )
    command[command.index("--dims") + 1] = "3"
    with pytest.raises(SystemExit, match="scores made with other options"):
        planted_change.main()
    for given, part in (("glove", "--measures glove"), ("flips,", "--measures")):
        command[command.index("--measures") + 1] = given
        with pytest.raises(SystemExit, match=part):
            planted_change.main()
    with pytest.raises(OptionError, match="--dims must be numbers"):
        planted_change.numbers("50,x")
