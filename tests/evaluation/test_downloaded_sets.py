"""Sets as downloaded: scores equal gensim's, and notes report what was chosen."""

from __future__ import annotations

import csv
import io
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from running import evaluate

from wordgeom.core.errors import InputError
from wordgeom.evaluation.analogies import Analogies
from wordgeom.evaluation.answers import group_scores, scores
from wordgeom.evaluation.options import EvalOptions
from wordgeom.evaluation.pairs import Pair, read_pairs
from wordgeom.evaluation.questions import QuestionList
from wordgeom.evaluation.sets import gensim_sets, read_set
from wordgeom.evaluation.similarity import Similarity
from wordgeom.runtime.run_options import UseOptions
from wordgeom.vectors.keyed import Vectors, to_keyed_vectors

# With ties, capitals, hyphens, a word twice, and a word without a vector (Arafat).
PAIRS = [
    ("love", "sex", 6.77), ("tiger", "tiger", 10.0), ("Jerusalem", "Israel", 8.46),
    ("FBI", "fingerprint", 6.94), ("media", "radio", 7.42), ("Arafat", "peace", 6.73),
    ("drug", "abuse", 6.85), ("book", "paper", 7.46), ("five-year", "plan", 6.77),
    ("plane", "car", 5.77), ("king", "cabbage", 0.23), ("professor", "cucumber", 0.31),
]  # fmt: skip
COUNTRIES = [("Athens", "Greece"), ("Baghdad", "Iraq"), ("Bern", "Switzerland"), ("Oslo", "Norway")]
GRADES = [("good", "better"), ("rough", "rougher"), ("slow", "slower")]
SECTIONS = {"capital-world": COUNTRIES, "JJ_JJR": GRADES}
QUESTIONS = [
    (name, *one, *other)
    for name, couples in SECTIONS.items()
    for one, other in permutations(couples, 2)
]
RATINGS = np.random.default_rng(7).integers(0, 11, (len(PAIRS), 13))
MEANS = [round(float(row.mean()), 2) for row in RATINGS]
RATED = [(left, right, mean) for (left, right, _), mean in zip(PAIRS, MEANS, strict=True)]


def text_of(rows, delimiter="\t", end="\n", **options):
    out = io.StringIO()
    csv.writer(out, delimiter=delimiter, lineterminator=end, **options).writerows(rows)
    return out.getvalue()


def rated(head, annotators=13, delimiter="\t", middle=()):
    """The rows of a set with the ratings of each annotator."""
    rows = [
        [left, right, *middle, mean, *ratings[:annotators].tolist()]
        for (left, right, mean), ratings in zip(RATED, RATINGS, strict=True)
    ]
    return text_of([head, *rows] if head else rows, delimiter)


def indexed(rows, head, start=0):
    return text_of([head, *([k, *row] for k, row in enumerate(rows, start))], ",")


SIMLEX = "word1 word2 POS SimLex999 conc(w1) conc(w2) concQ Assoc(USF) SimAssoc333 SD(SimLex)"
WORDSIM = ["Word 1", "Word 2", "Human (mean)"]
TAIL = ["2.72", "2.81", "2", "7.25", "1", "0.41"]
# Name of the file, its content, its pairs, and the end of the note on the column of scores.
FORMS = {
    "SimLex-999.txt": (
        text_of([SIMLEX.split(), *([a, b, "N", s, *TAIL] for a, b, s in PAIRS)], end="\r\n"),
        PAIRS, "column 'SimLex999'; 6 other columns of numbers ignored",
    ),
    "combined.csv": (text_of([WORDSIM, *PAIRS], ",", "\r\n"), PAIRS, ""),
    "combined.tab": (text_of([WORDSIM, *PAIRS]), PAIRS, ""),
    "set1.csv": (
        rated([*WORDSIM, *range(1, 14)], delimiter=","), RATED,
        "column 'Human (mean)'; 13 other columns of numbers ignored",
    ),
    "mean-last.tsv": (
        text_of([["Word1", "Word2", *(f"Annotator {k}" for k in range(1, 14)), "Average"],
                 *([a, b, *r, m] for (a, b, m), r in zip(RATED, RATINGS.tolist(), strict=True))]),
        RATED, "column 'Average'; 13 other columns of numbers ignored",
    ),
    "mean-score.csv": (
        rated(["w1", "w2", "Mean score", *(f"rater_{k}" for k in range(13))], delimiter=","),
        RATED, "column 'Mean score'; 13 other columns of numbers ignored",
    ),
    "rw.txt": (
        rated(None), RATED, "column 3; the mean of the 13 columns of numbers after it",
    ),
    "MEN_dataset_natural_form_full": (
        "".join(f"{a} {b} {s:.6f}\n" for a, b, s in PAIRS), PAIRS, "",
    ),
    "SimVerb-3500.txt": (
        text_of([[a, b, "V", s, "SYNONYMS"] for a, b, s in PAIRS]), PAIRS, "",
    ),
    "MTurk-771.csv": (text_of(PAIRS, ","), PAIRS, ""),
    "EN-VERB-143.txt": ("".join(f"{a}\t{b}\t{s:.4f}\r\n" for a, b, s in PAIRS), PAIRS, ""),
    "TR9856.csv": (
        indexed([("Israel", *row) for row in PAIRS], ["id", "topic", "term1", "term2", "score"]),
        PAIRS, "",
    ),
    "pandas.csv": (indexed(PAIRS, ["", "word1", "word2", "similarity"]), PAIRS, ""),
    "unnamed.csv": (indexed(PAIRS, ["", "0", "1", "2"]), PAIRS, ""),
    "counted.csv": (indexed(PAIRS, ["pair", "left", "right", "how alike"], 1), PAIRS, ""),
    "simverb-3500.csv": (
        indexed([(s, a, b, "synonyms") for a, b, s in PAIRS],
                ["", "similarity", "word1", "word2", "relation"]), PAIRS, "",
    ),
    "r.txt": (
        '"word1" "word2" "score"\n'
        + "".join(f'"{k}" "{a}" "{b}" {s}\n' for k, (a, b, s) in enumerate(PAIRS, 1)),
        PAIRS, "",
    ),
    "quoted.csv": (text_of([WORDSIM, *PAIRS], ",", quoting=csv.QUOTE_ALL), PAIRS, ""),
    "bom.csv": ("\ufeff" + text_of([WORDSIM, *PAIRS], ";", "\r\n"), PAIRS, ""),
    "trailing.csv": (
        "".join(f"{a},{b},{s},\n" for a, b, s in [WORDSIM, *PAIRS]) + ",,,\n,,,\n", PAIRS, "",
    ),
    "comments.txt": (
        "# WordSim-353\n# Word 1\tWord 2\tHuman (mean)\n" + text_of(PAIRS), PAIRS, "",
    ),
}  # fmt: skip


def vectors_of(words, dim=8):
    """Vectors of most words, two thirds in upper case, some in two cases."""
    words = [word for word in dict.fromkeys(words) if word not in ("Arafat", "Oslo")]
    spelt = [word.upper() if k % 3 else word.lower() for k, word in enumerate(words)]
    exact = [word for k, word in enumerate(words) if k % 5]
    spelt = list(dict.fromkeys([*spelt, *(word.title() for word in words[::4]), *exact]))
    matrix = np.random.default_rng(3).standard_normal((len(spelt), dim))
    return Vectors(spelt, matrix.astype(np.float32))


PAIR_VECTORS = vectors_of(word for left, right, _ in PAIRS for word in (left, right))


def read(path, options) -> Any:
    """The set of a file, of whatever kind."""
    return read_set(path, options)


@pytest.fixture
def write(tmp_path):
    def written(name, content):
        path = tmp_path / name
        path.write_bytes(content.encode())
        return path

    return written


def by_gensim(path, rows, vectors, **options):
    """gensim's Spearman and Pearson correlations of rows written in its own form."""
    path.write_text("".join(f"{a}\t{b}\t{s}\n" for a, b, s in rows))
    pearson, spearman, _ = to_keyed_vectors(vectors).evaluate_word_pairs(str(path), **options)
    return [spearman[0], pearson[0]]


def ours(answers):
    return [score.value for score in scores(answers, 0, 1)]


# ── Word pairs ───────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("name", FORMS)
@pytest.mark.parametrize("case", ["fold", "exact"])
@pytest.mark.parametrize("oov", ["skip", "zero"])
def test_each_form_of_word_pairs_scores_as_in_gensim(name, case, oov, write, tmp_path, using):
    content, rows, note = FORMS[name]
    task = read(write(name, content), EvalOptions(case=case, oov=oov))
    assert isinstance(task, Similarity)
    assert task.pairs == tuple(Pair(*row) for row in rows)
    notes = ["words are those of column 1 and column 2"] if name == "SimVerb-3500.txt" else []
    assert list(task.notes) == notes + ([f"scores are those of {note}"] if note else [])
    answers = task.answer(PAIR_VECTORS, using)
    theirs = by_gensim(
        tmp_path / "plain", rows, PAIR_VECTORS,
        case_insensitive=case == "fold", dummy4unknown=oov == "zero",
    )  # fmt: skip
    assert ours(answers) == pytest.approx(theirs, abs=1e-6)


@pytest.mark.parametrize(
    "content",
    [
        rated(["Word 1", "Word 2", *(f"Annotator {k}" for k in range(14))]),  # a mean, not named
        rated(["w1", "w2", "consensus", *range(1, 14)], delimiter=","),
    ],
)
def test_an_unnamed_mean_is_recognised_by_its_value(write, content):
    task = read(write("set.txt", content), EvalOptions())
    assert task.pairs == tuple(Pair(*row) for row in RATED)
    assert task.notes[0].endswith("the mean of the 13 columns of numbers after it")


def test_a_mean_without_outliers_is_recognised(write):
    trimmed = [float(np.sort(row)[1:-1].mean().round(2)) for row in RATINGS]
    rows = [[a, b, m, *r] for (a, b, _), m, r in zip(PAIRS, trimmed, RATINGS.tolist(), strict=True)]
    assert [p.score for p in read_pairs(write("rw.txt", text_of(rows)))] == trimmed


@pytest.mark.parametrize(
    "head",
    [(), ("Word 1", "Word 2", *(f"Annotator {k}" for k in range(1, 14))),
     ("word1", "word2", *["score"] * 13)],
)  # fmt: skip
@pytest.mark.parametrize("annotators", [2, 3, 13])
def test_the_ratings_of_one_annotator_are_never_the_score(write, head, annotators):
    head = head[: 2 + annotators]
    rows = [[a, b, *r[:annotators]] for (a, b, _), r in zip(PAIRS, RATINGS.tolist(), strict=True)]
    path = write("set.txt", text_of([head, *rows] if head else rows))
    with pytest.raises(InputError) as error:
        read(path, EvalOptions())
    message = f"{path}: several columns of numbers (column "
    assert str(error.value).startswith(message)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("cat;dog;8,5\nsea;sand;4,25\n", "line 1: the score is not a number, found '8,5'; use a"),
        ('cat,dog,"8,5"\nsea,sand,"4,25"\n', "line 1: the score is not a number, found '8,5'; use"),
        ("cat dog 8,5\nsea sand 4,25\n", "line 1: the score is not a number, found '8,5'; use a"),
        ("cat,dog,8,5\nsea,sand,4,25\n", ": several columns of numbers"),
        ("word1,word2,score\ncat,dog,8,5\nsea,sand,4,25\n", "line 2: 4 fields instead of 3"),
        ("cat,dog,8\nsea,sand,4\nking,queen,8,5\n", "line 3: 4 fields instead of 3"),
        ("cat dog 8\nsea sand 4\nice cream tea 5\n", "line 3: 4 fields instead of 3"),
    ],
)
def test_decimal_commas_and_stray_delimiters_are_errors_with_advice(write, content, message):
    path = write("set.csv", content)
    with pytest.raises(InputError) as error:
        read(path, EvalOptions())
    assert message in str(error.value)
    assert "decimal point" in str(error.value)


SPEECH = 'The honourable member, who spoke "before" me; said that; as ever; the tax must fall now'


def speeches(delimiter, end, inside=" "):
    rows = [(k, "1951-02-03", "ABC"[k % 3], f"{SPEECH}{inside}{k}; and sat down") for k in range(9)]
    return text_of([("id", "date", "party", "text"), *rows], delimiter, end)


@pytest.mark.parametrize("start", ["", "\ufeff"])
@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
@pytest.mark.parametrize(("end", "inside"), [("\n", " "), ("\r\n", " "), ("\n", "\nOrder!\n")])
def test_a_table_of_texts_is_said_to_be_no_set(write, start, delimiter, end, inside):
    content = speeches(delimiter, end, inside)
    path = write("speeches.csv", start + content)
    with pytest.raises(InputError, match="contains texts, so it is no set") as error:
        read(path, EvalOptions())
    assert "--classify" in str(error.value)


def test_delimiters_inside_quotes_do_not_count(write):
    rows = [("sea; the; salt", "sand", 4), ("king; a; b", "queen", 8), ("cat; c; d", "dog", 9)]
    path = write("set.csv", text_of([("word1", "word2", "score"), *rows], ","))
    assert read_pairs(path)[0] == Pair("sea; the; salt", "sand", 4.0)


@pytest.mark.parametrize(
    ("head", "last"),
    [
        ("cat\tdog\t9\n", "sea\tsan"), ("cat\tdog\t9\n", "sea\tsand\t"), ("cat dog 9\n", "sea"),
        (",word1,word2,similarity\n0,cat,dog,9\n", "1,sea"),
        (",word1,word2,similarity\n0,cat,dog,9\n", "203,,,\n"),
        ('word1,word2,score\ncat,dog,9\n', '"sea, the'),
        ("cat,dog,9\r\n\r\n", "sea,,,\r\n"),
    ],
)  # fmt: skip
def test_an_incomplete_last_line_is_counted_and_left_out(write, using, head, last):
    task = read(write("set.csv", head + last), EvalOptions())
    assert task.pairs == (Pair("cat", "dog", 9.0),)
    answers = task.answer(vectors_of(["cat", "dog"]), using)
    assert answers.excluded == {"incomplete last line": 1}
    assert answers.total == 2


def test_an_incomplete_line_elsewhere_is_an_error(write):
    path = write("set.txt", "cat dog 9\nsea\nking queen 8\n")
    with pytest.raises(InputError, match="line 2: expected two words and a score"):
        read(path, EvalOptions())


def test_a_first_pair_without_a_word_is_not_taken_for_a_header(write):
    path = write("set.csv", ",dog,9\nsea,sand,4\nking,queen,8\n")
    with pytest.raises(InputError, match="line 1: expected two words and a score"):
        read(path, EvalOptions())


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("9 cat dog\n4 sea sand\n8 king queen\n", ": column 1 has numbers instead of words"),
        ("one 1 two 2\nthree 3 four 4\n", ": column 2 has numbers instead of words"),
        ("book,king,A,8\n1984,dune,A,1\n1984,king,N,7\n", ": column 1 has numbers instead of"),
        ("0,cat,dog\n1,sea,sand\n", ": column 1 has numbers instead of words"),
        (",category,word\n0,fruit,fig\n1,tool,saw\n", ": column 1 has numbers instead of words"),
        ("cat,dog,NA\nsea,sand,4\nking,queen,8\n", "line 1: the score is not a number, found 'NA"),
        ("cat,dog,9,a\nsea,sand,,b\nking,queen,8,c\n", "line 2: the score is not a number"),
        ("word1,word2,score\nword1,word2,score\ncat,dog,9\n", "line 2: the score is not a number"),
        ("word1,word2,sd,judged\ncat,dog,.3,9\nsea,sand,.1,8\n", ": several columns of numbers"),
    ],
)
def test_a_table_without_a_certain_score_is_an_error(write, content, message):
    path = write("set.csv", content)
    with pytest.raises(InputError) as error:
        read(path, EvalOptions())
    assert str(error.value).startswith(f"{path}{'' if message[0] == ':' else ' '}{message}")


@pytest.mark.parametrize(
    ("content", "pair"),
    [
        ("score,w1,w2,ms\n9,cat,dog,300\n", Pair("cat", "dog", 9)),
        ("word1,word2,sd,score\ncat,dog,.3,9\n", Pair("cat", "dog", 9)),
        ("word1,word2,score,mean\ncat,dog,3,9\n", Pair("cat", "dog", 9)),
        ("3,cat,dog,9\n1,sea,sand,4\n2,king,queen,8\n", Pair("cat", "dog", 9)),
        ("cat,dog,N,9\nsea,sand,V,4\n", Pair("cat", "dog", 9)),
        ("love\tbook\t3\n1984\tking\t7\nsex\tson\t6\n1984\tsea\t5\n", Pair("love", "book", 3)),
        ("word1;word2;mean\n1984;sun;9\n1984;sea;4\n", Pair("1984", "sun", 9)),
    ],
)
def test_columns_are_found_in_any_order(write, content, pair):
    assert read_pairs(write("set.csv", content))[0] == pair


def test_the_columns_of_words_are_told_where_they_may_be_others(write):
    rows = [("topic", "phrase a", "phrase b", "score"), ("Israel", "army", "war", 9)]
    task = read(write("set.csv", text_of(rows, ",")), EvalOptions())
    assert task.notes == ("words are those of column 'topic' and column 'phrase a'",)


# ── Parts of speech ──────────────────────────────────────────────────────────────────────────

MEN = [(f"{a}-n", f"{b}-{'jv'[k % 2]}", f"{s:.6f}") for k, (a, b, s) in enumerate(PAIRS)]
MEN_FORMS = {
    "MEN_dataset_lemma_form_full": "".join(f"{a} {b} {s}\n" for a, b, s in MEN),
    "men.csv": indexed(MEN, ["", "word1", "word2", "similarity"]),
}


@pytest.mark.parametrize("name", MEN_FORMS)
@pytest.mark.parametrize("case", ["fold", "exact"])
def test_parts_of_speech_are_dropped_and_told(write, tmp_path, using, name, case):
    task = read(write(name, MEN_FORMS[name]), EvalOptions(case=case))
    answers = task.answer(PAIR_VECTORS, using)
    theirs = by_gensim(tmp_path / "plain", PAIRS, PAIR_VECTORS, case_insensitive=case == "fold")
    assert ours(answers) == pytest.approx(theirs, abs=1e-6)
    assert answers.notes == ("parts of speech are dropped from words (love-n is read as love)",)


def test_vectors_of_words_with_parts_of_speech_are_found(write, tmp_path, using):
    vectors = vectors_of([word for a, b, _ in MEN for word in (a, b)] + ["love", "sex"])
    task = read(write("men.csv", MEN_FORMS["men.csv"]), EvalOptions())
    answers = task.answer(vectors, using)
    assert ours(answers) == pytest.approx(by_gensim(tmp_path / "plain", MEN, vectors), abs=1e-6)
    assert "words are looked up with their part of speech, such as love-n" in answers.notes


def test_hyphens_are_kept_where_a_word_has_no_part_of_speech(write, using):
    path = write("set.txt", "vitamin-a sun 3\nplan-b sun-n 4\n")
    answers = read(path, EvalOptions()).answer(vectors_of(["vitamin-a", "sun"]), using)
    assert answers.items.tolist() == [0]


# ── Analogies ────────────────────────────────────────────────────────────────────────────────

_HEAD = ["", "type", "word1", "word2", "word3", "target"]
_MSR = [question for question in QUESTIONS if question[0] == "JJ_JJR"]
# Name of the file, its content, its questions, and whether it has their sections.
QUESTION_FORMS = {
    "questions-words.txt": (
        "".join(
            f": {name}\n" + "".join(f"{' '.join(q[1:])}\n" for q in QUESTIONS if q[0] == name)
            for name in SECTIONS
        ), QUESTIONS, True,
    ),
    "questions-words.csv": (
        "".join(
            f":{name},,,\r\n" + "".join(f"{','.join(q[1:])}\r\n" for q in QUESTIONS if q[0] == name)
            for name in SECTIONS
        ), QUESTIONS, True,
    ),
    "google-analogies.csv": (indexed(QUESTIONS, _HEAD), QUESTIONS, True),
    "msr.csv": (indexed(_MSR, _HEAD), _MSR, True),
    "padded.csv": (
        indexed([[k, *(f" {w}   " for w in q[1:])] for k, q in enumerate(QUESTIONS)], _HEAD),
        [(str(k), *q[1:]) for k, q in enumerate(QUESTIONS)], True,
    ),
    "renamed.csv": (
        indexed(QUESTIONS, ["row", "category", "a", "b", "c", "d"], 1), QUESTIONS, True,
    ),
    "category-last.tsv": (
        text_of([["w1", "w2", "w3", "w4", "category"], *((*q[1:], q[0]) for q in QUESTIONS)]),
        QUESTIONS, True,
    ),
    "unnamed.csv": (
        indexed([q[1:] for q in QUESTIONS], ["", "0", "1", "2", "3"]), QUESTIONS, False,
    ),
    "plain.csv": (text_of([q[1:] for q in QUESTIONS], ",", "\r\n"), QUESTIONS, False),
    "plain.txt": ("".join(f"{' '.join(q[1:])}\n" for q in QUESTIONS), QUESTIONS, False),
    "bom.txt": ("\ufeff# four words\n" + text_of([q[1:] for q in QUESTIONS]), QUESTIONS, False),
    "EN-MSR.txt": ("".join(f"{a} {b} {c} {n} {d}\n" for n, a, b, c, d in _MSR), _MSR, True),
    "msr.txt": ("".join(f"{a} {b} {c} {n} {n} {d}\n" for n, a, b, c, d in _MSR), _MSR, True),
}  # fmt: skip
QUESTION_VECTORS = vectors_of([word for _, *words in QUESTIONS for word in words], 5)
_ROWS = {word: row for row, word in reversed(list(enumerate(QUESTION_VECTORS.words)))}
for _couples in SECTIONS.values():  # most answers are right
    for _one, _other in _couples:
        for _a, _b in ((_one, _other), (_one.upper(), _other.upper())):
            if _a in _ROWS and _b in _ROWS:
                QUESTION_VECTORS.matrix[_ROWS[_b]] = QUESTION_VECTORS.matrix[_ROWS[_a]] + 1


@pytest.mark.parametrize("name", QUESTION_FORMS)
@pytest.mark.parametrize("case", ["fold", "exact"])
@pytest.mark.parametrize("oov", ["skip", "zero"])
def test_each_form_of_analogies_scores_as_in_gensim(name, case, oov, write, tmp_path, using):
    content, rows, sections = QUESTION_FORMS[name]
    task = read(write(name, content), EvalOptions(case=case, oov=oov))
    assert isinstance(task, Analogies)
    own = Path(name).stem
    expected = [(section if sections else own, *words) for section, *words in rows]
    assert [(s, *q) for s, q in zip(task.sections, task.questions, strict=True)] == expected
    plain = tmp_path / "plain"
    plain.write_text("".join(f": {s}\n{' '.join(words)}\n" for s, *words in expected))
    total, _ = to_keyed_vectors(QUESTION_VECTORS).evaluate_word_analogies(
        str(plain), case_insensitive=case == "fold", dummy4unknown=oov == "zero"
    )
    answers = task.answer(QUESTION_VECTORS, using)
    assert ours(answers)[0] == total
    assert total > 0
    assert len(group_scores(answers, 0, 1)) == len({section for section, *_ in expected})


def _cased(words):
    matrix = np.random.default_rng(4).standard_normal((len(words), 4))
    return Vectors(list(words), matrix.astype(np.float32))


@pytest.mark.parametrize(
    ("head", "last"),
    [
        ("a1 b1 c1 d1\n", "a1 b1 c"), (": s\na1 b1 c1 d1\n", "a1 b1"),
        (",type,word1,word2,word3,target\n0,s,a1,b1,c1,d1\n", "1,s,a1,b1"),
    ],
)  # fmt: skip
def test_an_incomplete_last_question_is_counted_and_left_out(write, using, head, last):
    task = read(write("set.csv", head + last), EvalOptions())
    assert task.questions == (("a1", "b1", "c1", "d1"),)
    answers = task.answer(_cased(["a1", "b1", "c1", "d1"]), using)
    assert answers.excluded == {"incomplete last line": 1}


def test_comments_among_questions_are_dropped_but_not_words_with_a_hash(write):
    task = read(write("set.txt", ": s\n# a b c d\n,,,\n#note\n#a b c d\n"), EvalOptions())
    assert task.questions == (("#a", "b", "c", "d"),)


def test_five_words_without_a_header_ask_for_one(write):
    path = write("set.csv", text_of(QUESTIONS, ","))
    with pytest.raises(InputError, match=r"line 1: not four words.*such as section, a, b"):
        read(path, EvalOptions())


# ── Sets of other kinds ──────────────────────────────────────────────────────────────────────

_SIX = [("lull", "trust"), ("balk", "fortitude"), ("betray", "loyalty"), ("cajole", "compliance"),
        ("hinder", "destination"), ("soothe", "passion")]  # fmt: skip
_SAT = [(k, *_SIX[i], *_SIX[j]) for k in range(2) for i in range(6) for j in range(i + 1, 6)]
_EXAMPLES = [("water", "drop"), ("mile", "yard"), ("time", "moment")]
_SEMEVAL = [
    (section, *one, *pair)
    for section in ("2c", "10a")
    for pair in (("hour", "seconds"), ("feet", "inches"))
    for one in _EXAMPLES
]
_SAT_TEXT = "190 FROM REAL SATs\n" + "v:n\n".join(f"{a} {b} " for a, b in _SIX) + "v:n\na\n\n"
OTHERS = {
    "sat.csv": (indexed(_SAT, _HEAD), "SAT analogies"),
    "sat-cut.csv": (indexed(_SAT[:20], _HEAD), "SAT analogies"),
    "SAT-package-V3.txt": ("# comment\n" + _SAT_TEXT * 2, "SAT analogies"),
    "semeval.csv": (indexed(_SEMEVAL, _HEAD), "SemEval-2012 task 2"),
    "GoldRatings-1a.txt": ('# rating\n50.0 "flower:tulip"\n-4.5 "car:sedan"\n', "SemEval-2012"),
    "train-1.txt": ("flower:tulip,car:sedan\nflower:rose 42.0\nbird:robin -3.1\n", "SemEval-2012"),
    "E07 [animal - young].txt": ("bear\tcub\ncat\tkitten/kitty\n", "BATS: word pairs"),
    "I01 [noun - plural_reg].txt": ("album\talbums\narea\tareas\n", "BATS: word pairs"),
    "word_relationship.questions": (
        "".join(f"{a} {b} {c} {n}\n" for n, a, b, c, _ in _MSR),
        "MSR analogies without their answers; join the two files: paste -d \" \" "
        "word_relationship.questions word_relationship.answers > msr.txt",
    ),
    "word_relationship.answers": (
        "".join(f"{n} {d}\n" for n, *_, d in _MSR), "answers of the MSR analogies only",
    ),
    "en.test.gold.txt": ("3.04\n1.29\n1.63\n", "scores without words"),
    "en.test.data.txt": ("Joule\tspacecraft\nPromised Land\tBaku\n", "expected a score"),
}  # fmt: skip


@pytest.mark.parametrize("name", OTHERS)
def test_sets_that_cannot_be_scored_are_refused_by_name(write, name):
    content, message = OTHERS[name]
    path = write(name, content)
    with pytest.raises(InputError) as error:
        read(path, EvalOptions())
    assert message in str(error.value)
    assert str(error.value).startswith(str(path))
    assert "\n" not in str(error.value)


def test_the_directory_of_bats_is_refused_by_name(tmp_path):
    part = tmp_path / "BATS_3.0" / "1_Inflectional_morphology"
    part.mkdir(parents=True)
    (part / "I01 [noun - plural_reg].txt").write_text("album\talbums\n")
    for path in (part, part.parent):
        with pytest.raises(InputError, match="BATS: word pairs"):
            read(path, EvalOptions())


def test_sections_with_the_names_of_relations_are_not_taken_for_semeval(write):
    pairs = [(f"a{k}", f"b{k}") for k in range(6)]
    rows = [("1a", *one, *other) for one, other in permutations(pairs, 2)]
    task = read(write("own.csv", indexed(rows, _HEAD)), EvalOptions())
    assert len(task.questions) == 30
    assert task.left_out == {}


def test_the_default_sets_are_read_without_notes():
    wordsim, simlex, google = (read(path, EvalOptions()) for path in gensim_sets())
    assert [len(wordsim.pairs), len(simlex.pairs), len(google.questions)] == [353, 999, 19544]
    assert [each.left_out for each in (wordsim, simlex, google)] == [{}, {}, {}]
    assert (wordsim.notes, simlex.notes) == ((), ())
    assert isinstance(google.questions, type(QuestionList((), ()).questions))
    assert wordsim.pairs[0] == Pair("love", "sex", 6.77)


def test_the_report_tells_the_column_and_the_line_left_out(write):
    content = FORMS["set1.csv"][0]
    path = write("set1.csv", content + "life,dea")
    task = read(path, EvalOptions())
    report = evaluate(PAIR_VECTORS, [task], EvalOptions(), UseOptions())
    assert report.excluded["set1"]["incomplete last line"] == 1
    note = "set1: scores are those of column 'Human (mean)'; 13 other columns of numbers ignored"
    assert note in report.notes


LABELS = ("i", "S", "m", "h", "t")
MANY = [(f"left{n}", f"right{n}", n / 7) for n in range(60)]


@pytest.mark.parametrize(
    "rows",
    [
        # wordsim353_agreed.txt: the kind of relation comes first.
        [(LABELS[n % 5], *row) for n, row in enumerate(MANY)],
        [("nvar"[n % 4], *row) for n, row in enumerate(MANY)],
        [(left, "n", right, "n", score) for left, right, score in MANY[:4]],
        # SCWS: ID, words with their parts of speech, contexts, mean and ratings
        [
            (n, left, "nv"[n % 2], right, "n", f"a <b> {left} </b> {n}", f"{n} {right}", 2, 1, 3)
            for n, (left, right, _) in enumerate(MANY)
        ],
    ],
)
def test_columns_of_labels_are_not_words(tmp_path, rows):
    path = tmp_path / "set.txt"
    path.write_text(text_of(rows))
    assert [(pair.left, pair.right) for pair in read_pairs(path)] == [
        row[:2] for row in MANY[: len(rows)]
    ]


def test_a_title_of_the_fourth_word_alone_does_not_make_word_pairs(tmp_path):
    head = ["", "question_1", "question_2", "question_3", "answer", "category"]
    rows = [(n, *words, name) for n, (name, *words) in enumerate(QUESTIONS)]
    path = tmp_path / "set.csv"
    path.write_text(text_of([head, *rows], ","))
    task = read_set(path, EvalOptions())
    assert isinstance(task, Analogies)
    assert list(task.questions) == [tuple(words) for _, *words in QUESTIONS]


def test_hyperlex_has_its_mean_in_avg_score(tmp_path):
    head = ["WORD1", "WORD2", "POS", "TYPE", "AVG_SCORE", "AVG_SCORE_0_10", "STD", "S_1", "S_2"]
    rows = [(left, right, "N", "hyp-1", s, s / 6, 0.5, 6, 0) for left, right, s in PAIRS]
    path = tmp_path / "hyperlex.txt"
    path.write_text(text_of([head, *rows], " "))
    assert [pair.score for pair in read_pairs(path)] == [score for *_, score in PAIRS]


@pytest.mark.parametrize(
    ("content", "say"),
    [
        ('[{"word1": "love", "word2": "sex", "score": 6.77},\n', "is JSON, not a table"),
        ('{"word1": "love", "word2": "sex", "score": 6.77}\n', "is JSON, not a table"),
        ("<!DOCTYPE html>\n<html>\n", "is a web page, not a table"),
        ('# Rater 1\n"flower:tulip"\n"emotion:rage"\n', "SemEval-2012 task 2"),
    ],
)
def test_what_is_no_table_is_named(tmp_path, content, say):
    path = tmp_path / "set.txt"
    path.write_text(content)
    with pytest.raises(InputError, match=say):
        read_set(path, EvalOptions())


def test_carriage_returns_alone_end_lines(tmp_path):
    path = tmp_path / "set.txt"
    path.write_bytes(text_of(PAIRS, end="\r").encode())
    assert [(pair.left, pair.right, pair.score) for pair in read_pairs(path)] == PAIRS
