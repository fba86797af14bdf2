"""Analogy answers against the formulas, accuracy against gensim, and the file format."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wordgeom.core.errors import InputError
from wordgeom.evaluation.analogies import read_analogies
from wordgeom.evaluation.analogy_search import NONE, predict
from wordgeom.evaluation.answers import group_scores, scores
from wordgeom.evaluation.options import EvalOptions
from wordgeom.evaluation.word_lookup import Lookup
from wordgeom.linalg.device import open_context
from wordgeom.runtime.run_options import RunOptions
from wordgeom.vectors.keyed import Vectors, to_keyed_vectors


@pytest.fixture
def write(tmp_path):
    def written(text):
        path = tmp_path / "set.txt"
        path.write_text(text, encoding="utf-8")
        return path

    return written


def random_vectors(rows, dim=7, seed=1):
    matrix = np.random.default_rng(seed).standard_normal((rows, dim)).astype(np.float32)
    return Vectors([f"w{row}" for row in range(rows)], matrix)


def planted(families=12, dim=40, noise=0.8, seed=2):
    """Families of words that share four offsets, with noise; some words in two cases."""
    draw = np.random.default_rng(seed)
    bases, offsets = draw.standard_normal((families, 1, dim)), draw.standard_normal((4, dim))
    matrix = bases + offsets + noise * draw.standard_normal((families, 4, dim))
    words = [f"f{family}-{form}" for family in range(families) for form in "abcd"]
    words = [word.upper() if k % 3 == 0 else word for k, word in enumerate(words)]
    doubles = [word.swapcase() for word in words[5::7]]
    more = draw.standard_normal((len(doubles) + 200, dim)) + matrix.reshape(-1, dim)[5]
    names = [*words, *doubles, *(f"x{k}" for k in range(200))]
    return Vectors(names, np.concatenate([matrix.reshape(-1, dim), more]).astype(np.float32))


def questions(families=14):
    """Two sections of questions on planted families and on two families without vectors."""
    lines = []
    for section, a, b in (("first two", "a", "b"), ("others: b, d", "b", "d")):
        lines.append(f": {section}")
        for one, other in permutations(range(families), 2):
            lines.append(f"f{one}-{a} F{one}-{b.upper()} f{other}-{a} f{other}-{b}")
    return "\n".join(lines) + "\n"


def objectives(vectors, a, b, c, epsilon):
    """3CosAdd and 3CosMul (V each) in float64, straight from the formulas."""
    wide = vectors.matrix.astype(np.float64)
    norms = np.linalg.norm(wide, axis=1, keepdims=True)
    unit = np.divide(wide, norms, where=norms > 0, out=np.zeros_like(wide))
    to_a, to_b, to_c = (unit @ unit[row] for row in (a, b, c))
    shifted = ((1 + cosine) / 2 for cosine in (to_a, to_b, to_c))
    sa, sb, sc = shifted
    return to_b - to_a + to_c, sb * sc / (sa + epsilon)


# ── The search ───────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("epsilon", [1e-3, 1e-6, 1.0])
@pytest.mark.parametrize("rows", [5, 256, 1023, 1024, 1025, 2500])
def test_answers_maximise_the_objective_over_allowed_words(rows, epsilon, using):
    vectors = random_vectors(rows)
    vectors.matrix[[1, rows - 1]] = 0
    asked = np.random.default_rng(rows).integers(0, rows - 1, (1100, 3))
    asked[asked == 1] = 0
    answers = predict(Lookup(vectors, EvalOptions()), asked, epsilon, using)
    for (a, b, c), found in list(zip(asked, answers, strict=True))[:: 1 if rows < 9 else 30]:
        allowed = np.setdiff1d(np.arange(rows), [a, b, c, 1, rows - 1])
        for objective, answer in zip(objectives(vectors, a, b, c, epsilon), found, strict=True):
            if not len(allowed):
                assert answer == NONE
                continue
            assert answer in allowed
            assert objective[answer] == pytest.approx(objective[allowed].max(), rel=1e-5, abs=1e-6)


def test_ties_go_to_the_first_word(using):
    matrix = np.concatenate([np.eye(4)[:3], np.tile(np.eye(4)[3], (3000, 1))]).astype(np.float32)
    vectors = Vectors([f"w{row}" for row in range(len(matrix))], matrix)
    answers = predict(Lookup(vectors, EvalOptions()), np.array([[0, 1, 2]]), 1e-3, using)
    assert answers.tolist() == [[3, 3]]


def test_no_case_variant_of_a_query_word_answers(using):
    matrix = np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1], [0, 1, 0.1], [0, 1, 1], [1, 1, 0]])
    vectors = Vectors(["a", "b", "c", "B", "C", "d"], matrix.astype(np.float32))
    for case, answer in (("fold", 5), ("exact", 4)):
        lookup = Lookup(vectors, EvalOptions(case=case))
        assert predict(lookup, np.array([[0, 1, 2]]), 1e-3, using)[0, 0] == answer


def test_answers_do_not_depend_on_the_number_of_threads():
    vectors = random_vectors(9000, dim=20)
    asked = np.random.default_rng(1).integers(0, 9000, (3000, 3))
    found = []
    for threads in (1, 3):
        with open_context(RunOptions(threads=threads)) as using:
            found.append(predict(Lookup(vectors, EvalOptions()), asked, 1e-3, using))
    assert found[0].tobytes() == found[1].tobytes()


@pytest.mark.parametrize("scale", [1e-30, 1e30])
def test_answers_do_not_depend_on_the_scale_of_vectors(scale, using):
    vectors = random_vectors(300)
    asked = np.random.default_rng(1).integers(0, 300, (50, 3))
    scaled = replace(vectors, matrix=vectors.matrix * np.float32(scale))
    one, other = (predict(Lookup(v, EvalOptions()), asked, 1e-3, using) for v in (vectors, scaled))
    assert np.array_equal(one, other)


# ── Accuracy ─────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(("case", "limit"), [("fold", 0), ("exact", 0), ("fold", 40)])
@pytest.mark.parametrize("oov", ["skip", "zero"])
def test_accuracy_equals_that_of_gensim_in_every_section(case, limit, oov, write, using):
    vectors, path = planted(), write(questions())
    options = EvalOptions(oov=oov, case=case, restrict_vocab=limit)
    answers = read_analogies(path, options).answer(vectors, using)
    total, sections = to_keyed_vectors(vectors).evaluate_word_analogies(
        str(path), restrict_vocab=limit or 10**6, case_insensitive=case == "fold",
        dummy4unknown=oov == "zero",
    )  # fmt: skip
    assert scores(answers, 0, 1)[0].value == total
    assert 0 < total < 1
    found = group_scores(answers, 0, 1)
    assert list(found) == [each["section"] for each in sections[:-1]]
    for section in sections[:-1]:
        right, wrong = len(section["correct"]), len(section["incorrect"])
        assert found[section["section"]][0].value == pytest.approx(right / (right + wrong))
        assert found[section["section"]][0].used == right + wrong


@pytest.mark.filterwarnings("ignore:Call to deprecated `init_sims`:DeprecationWarning")  # gensim's
def test_3cosmul_gives_the_answers_of_gensim(write, using):
    vectors = planted()
    keyed = to_keyed_vectors(vectors)
    path = write(questions(8))
    task = read_analogies(path, EvalOptions(epsilon=1e-6, case="exact"))
    answers = task.answer(vectors, using)
    assert len(answers.items) > 5
    for item, given_rows in zip(answers.items, answers.given, strict=True):
        a, b, c, _ = task.questions[item]
        ((word, _),) = keyed.most_similar_cosmul(positive=[b, c], negative=[a], topn=1)
        assert vectors.words[given_rows[1]] == word


def test_exact_parallelograms_are_answered_and_shuffled_vectors_are_not(write, using):
    vectors = planted(noise=0)
    answers = read_analogies(write(questions(12)), EvalOptions()).answer(vectors, using)
    added, multiplied = (score.value for score in scores(answers, 0, 1))
    assert added == 1
    assert multiplied > 0.95  # not exactly 1: only 3CosAdd is exact on parallelograms
    shuffled = replace(vectors, matrix=np.random.default_rng(1).permutation(vectors.matrix))
    answers = read_analogies(write(questions(12)), EvalOptions()).answer(shuffled, using)
    assert max(score.value for score in scores(answers, 0, 1)) < 0.1


# ── What is left out ─────────────────────────────────────────────────────────────────────────


def test_questions_with_a_missing_or_zero_word_are_counted(write, using):
    vectors = random_vectors(8)
    vectors.matrix[3] = 0
    path = write(": s\nw0 w1 w2 w4\nw0 w1 w2 w3\nw0 w1 w2 none\nnone w1 w2 w4\nw3 w1 w2 w4\n")
    answers = read_analogies(path, EvalOptions()).answer(vectors, using)
    assert answers.items.tolist() == [0]
    assert answers.groups["s"].tolist() == [0]
    why = ("that has no vector", "whose vector is zero or not finite")
    reasons = [f"questions with a word {each}" for each in why]
    assert answers.excluded == dict.fromkeys(reasons, 2)
    zero = read_analogies(path, EvalOptions(oov="zero")).answer(vectors, using)
    assert zero.items.tolist() == [0, 1, 2, 3, 4]
    assert (zero.given[1:] != zero.gold[1:, None]).all()
    assert zero.notes == tuple(f"{reason}, counted as wrong: 2" for reason in reasons)


def test_no_question_in_the_vocabulary_is_an_error(write, using):
    path = write(": s\na b c d\nw0 w1 w2 d\n")
    for oov in ("skip", "zero"):
        with pytest.raises(InputError) as error:
            read_analogies(path, EvalOptions(oov=oov)).answer(random_vectors(5), using)
        assert str(error.value).startswith(f"{path}: no item has vectors")


def test_questions_without_a_finite_vector_are_not_blamed_on_the_spelling(write, using):
    vectors = random_vectors(5)
    vectors.matrix[:] = np.nan
    with pytest.raises(InputError, match=r"2 questions read, 1 with a vector .*; train again$"):
        read_analogies(write(": s\nw0 w1 w2 w3\nw0 w1 w2 d\n"), EvalOptions()).answer(
            vectors, using
        )


def test_restrict_vocab_uses_only_the_first_words(write, using):
    path = write(": s\nw0 w1 w2 w3\nw0 w1 w2 w6\n")
    answers = read_analogies(path, EvalOptions(restrict_vocab=5)).answer(random_vectors(9), using)
    assert answers.items.tolist() == [0]
    assert set(answers.given.ravel()) <= {3, 4}


# ── Files ────────────────────────────────────────────────────────────────────────────────────

_word = st.text("abéЖ'-", min_size=1, max_size=4)
_sections = st.dictionaries(_word, st.lists(st.tuples(_word, _word, _word, _word), max_size=3))


@given(_sections.filter(lambda parts: any(parts.values())), st.sampled_from(["\n", "\r\n"]))
def test_questions_round_trip_with_their_sections(tmp_path_factory, parts, end):
    lines = [
        line
        for name, asked in parts.items()
        for line in (f": {name}", *("\t ".join(words) for words in asked))
    ]
    path = tmp_path_factory.mktemp("analogies") / "set.txt"
    path.write_bytes(end.join([*lines, ""]).encode())
    task = read_analogies(path, EvalOptions())
    expected = [(name, words) for name, asked in parts.items() for words in asked]
    assert list(zip(task.sections, task.questions, strict=True)) == expected


def test_questions_above_the_first_section_are_named_after_the_file(write):
    task = read_analogies(write("a b c d\n: later\na b c d\n:\na b c d\n"), EvalOptions())
    assert task.sections == ("set", "later", "set")


@pytest.mark.parametrize("line", ["a b c", "a b c d e", "a"])
def test_a_line_that_is_not_four_words_is_named(write, line):
    path = write(f": s\r\na b c d\r\n\r\n{line}\r\na b c d\r\n")
    with pytest.raises(InputError) as error:
        read_analogies(path, EvalOptions())
    assert str(error.value).startswith(f"{path} line 4: expected four words, found {line!r};")


def test_a_file_without_questions_is_rejected(write):
    with pytest.raises(InputError) as error:
        read_analogies(write(": s\n: t\n"), EvalOptions())
    assert "no analogy questions in the file; write four words on each line" in str(error.value)
