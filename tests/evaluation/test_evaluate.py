"""`wordgeom eval`: the three formats agree, exclusions are reported, errors are one line."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import numpy as np
import pytest
from running import evaluate

from wordgeom.cli import main
from wordgeom.evaluation import sets
from wordgeom.evaluation.analogies import Analogies
from wordgeom.evaluation.options import EvalOptions
from wordgeom.evaluation.qvec import Oracle
from wordgeom.evaluation.similarity import Similarity
from wordgeom.runtime.run_options import RunOptions
from wordgeom.vectors.keyed import write_vectors

PAIRS = "".join(f"w{k}\tw{k + 1}\t{(k * 7) % 11}\n" for k in range(12)) + "w1\tnone\t3\n"
MORE = "".join(f"w{k} w{k + 1} w{k + 2} w{k + 3}\n" for k in range(1, 10))
QUESTIONS = f": one|two\nw0 w1 w2 w3\nw4 w5 w6 w7\nw1 w2 w3 none\n{MORE}: three\nw8 w9 w0 w1\n"
ORACLE = "".join(f'w{k}\t{{"noun": {k % 3}, "verb": {k % 2}}}\n' for k in range(15))


@pytest.fixture
def directory(tmp_path, monkeypatch):
    """A directory with vectors.bin, a set of each kind, and one of out-of-vocabulary words."""
    monkeypatch.chdir(tmp_path)
    matrix = np.random.default_rng(1).standard_normal((15, 4)).astype(np.float32)
    write_vectors("vectors.bin", [f"w{k}" for k in range(15)], matrix)
    Path("pairs.txt").write_text(PAIRS)
    Path("questions.txt").write_text(QUESTIONS)
    Path("oracle.tsv").write_text(ORACLE)
    Path("foreign.txt").write_text("ein zwei 3\nzwei drei 4\n")
    return tmp_path


@pytest.fixture
def run_eval(directory, capsys):
    def run(*args, status=0):
        capsys.readouterr()
        assert main(["eval", *args]) == status
        return capsys.readouterr()

    return run


def evaluated(run_eval, *args):
    return json.loads(run_eval(*args, "--json").out)


def test_the_three_formats_agree(run_eval):
    args = ("vectors.bin", "pairs.txt", "questions.txt")
    facts = evaluated(run_eval, *args)
    plain, marked = (run_eval(*args, "--sections", *form).out for form in ((), ("--markdown",)))
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in marked.splitlines()]
    parts = facts["sections"]["questions"]
    listed = [*facts["scores"], *parts["one|two"], *parts["three"]]
    for score in listed:
        assert f"{score['measure']}" in plain
        value = "–" if score["score"] is None else f"{score['score']:.4f}"
        assert any(value in line and score["measure"] in line for line in plain.splitlines())
        assert any(score["measure"] in row and value in row for row in rows)
    assert "12 of 13" in plain
    assert "12 of 13" in marked
    assert "one\\|two" in marked  # as text, not as the end of a cell
    for line in ("pairs: left out: 1 (pairs with a word that has no vector)", "15 words × 4"):
        assert line in plain
        assert line in marked


def test_json_is_one_object_with_all_scores(run_eval):
    facts = evaluated(run_eval, "vectors.bin", "pairs.txt", "questions.txt", "--seed", "5")
    assert (facts["vectors"], facts["words"], facts["dimension"]) == ("vectors.bin", 15, 4)
    assert facts["policy"]["seed"] == 5
    assert facts["policy"]["oov"] == "skip"
    kinds = [(score["task"], score["set"], score["measure"]) for score in facts["scores"]]
    assert kinds == [
        ("similarity", "pairs", "spearman"),
        ("similarity", "pairs", "pearson"),
        ("analogies", "questions", "3CosAdd"),
        ("analogies", "questions", "3CosMul"),
    ]
    for score in facts["scores"]:
        assert score["low"] <= score["score"] <= score["high"]
    for name in ("pairs", "questions"):
        used = {score["used"] for score in facts["scores"] if score["set"] == name}
        total = {score["total"] for score in facts["scores"] if score["set"] == name}
        assert used.pop() + sum(facts["excluded"][name].values()) == total.pop()
    assert facts["sections"]["questions"]["three"][0]["used"] == 1
    assert facts["sections"]["questions"]["three"][0]["low"] is None  # no interval of one item


def test_the_table_is_aligned(run_eval):
    lines = run_eval("vectors.bin", "pairs.txt", "questions.txt").out.split("\n\n")[0].splitlines()
    assert len(lines) == 5
    assert lines[0].split("  ")[0] == "set"
    assert len({len(line) for line in lines}) == 1


def test_the_policy_is_printed(run_eval):
    assert (
        "policy: items with out-of-vocabulary words left out; case-insensitive; pairs and analogies"
        " use the first 300,000 words; 3CosMul ε = 0.001;"
        " 1,000 resamples (analogies: of word pairs), seed 1"
    ) in run_eval("vectors.bin", "pairs.txt", "questions.txt").out
    changed = ("--oov", "zero", "--case", "exact", "--restrict-vocab", "0")
    output = run_eval("vectors.bin", "pairs.txt", "questions.txt", *changed).out
    assert "words score 0; case-sensitive; pairs and analogies use all words" in output
    assert "pairs: pairs with a word that has no vector, scored as cosine 0: 1" in output


@pytest.mark.parametrize(
    ("args", "policy"),
    [
        (["pairs.txt"], "left out; case-insensitive; pairs use the first 300,000 words; 1,000 res"),
        (["questions.txt"], "tive; analogies use the first 300,000 words; 3CosMul ε = 0.001; 1"),
        (["oracle.tsv"], "policy: case-insensitive; 1,000 resamples, seed 1\n"),
        (["oracle.tsv", "--oov", "zero"], "policy: case-insensitive; 1,000 resamples, seed 1\n"),
    ],
)
def test_the_policy_lists_the_options_that_apply(run_eval, args, policy):
    assert policy in run_eval("vectors.bin", *args).out


@pytest.mark.parametrize(
    "text", ["pos\tgood film here now\nneg\tbad film there then\n", "w0 noun\nw1 verb\n"]
)
def test_an_unrecognised_set_suggests_the_options_for_other_kinds(run_eval, text):
    Path("other.tsv").write_text(text)
    output = run_eval("vectors.bin", "other.tsv", status=1).err
    assert output.startswith("wordgeom: error: other.tsv line ")
    assert output.endswith("use --categories, --classify or --regress\n")
    assert output.count("\n") == 1


def test_an_undefined_interval_is_a_dash(run_eval):
    Path("wrong.txt").write_text(": none\n" + "w0 w1 w2 w4\nw5 w6 w7 w9\nw1 w2 w3 w8\n")
    scores = evaluated(run_eval, "vectors.bin", "wrong.txt")["scores"]
    assert {(score["score"], score["low"], score["high"]) for score in scores} == {(0, None, None)}
    rows = run_eval("vectors.bin", "wrong.txt").out.splitlines()[1:3]
    assert [row.split()[2:4] for row in rows] == [["0.0000", "–"]] * 2


def test_sets_of_one_name_are_numbered(run_eval, directory):
    for name in ("a/set.txt", "b/set.txt", "set (2).txt"):
        Path(name).parent.mkdir(exist_ok=True)
        Path(name).write_text(PAIRS)
    facts = evaluated(run_eval, "vectors.bin", "a/set.txt", "b/set.txt", "set (2).txt")
    names = ["set", "set (2)", "set (2) (2)"]
    assert [score["set"] for score in facts["scores"][::2]] == names
    assert list(facts["excluded"]) == names


def test_a_set_without_known_items_is_skipped_and_reported(run_eval):
    output = run_eval("vectors.bin", "foreign.txt", "pairs.txt")
    assert "foreign: skipped: foreign.txt: no item has vectors" in output.out
    facts = evaluated(run_eval, "vectors.bin", "foreign.txt", "pairs.txt")
    assert {score["set"] for score in facts["scores"]} == {"pairs"}
    assert list(facts["refused"]) == ["foreign"]


def test_an_error_if_no_set_has_known_items(run_eval):
    output = run_eval("vectors.bin", "foreign.txt", "foreign.txt", status=1)
    assert output.out == ""
    assert output.err.startswith("wordgeom: error: foreign.txt: no item has vectors")
    assert output.err.count("\n") == 1


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["vectors.bin", "none.txt"], "none.txt: no such file"),
        (["none.bin", "pairs.txt"], "none.bin: no such file"),
        (["vectors.bin", "."], "is a directory"),
        (["pairs.txt"], "pairs.txt: is not a vectors file; name the vectors first"),
        (["vectors.bin", "--categories", "none.tsv"], "none.tsv: no such file"),
        (["vectors.bin", "vectors.bin"], "vectors.bin: is a vectors file, not a test set"),
    ],
)
def test_bad_input_is_one_line(run_eval, args, message):
    output = run_eval(*args, status=1)
    assert message in output.err
    assert output.err.count("\n") == 1
    assert output.out == ""


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["--json", "--markdown"], "--json and --markdown are mutually exclusive"),
        (["--restrict-vocab", "-1"], "--restrict-vocab must be at least 0"),
        (["--epsilon", "0"], "--epsilon must be between"),
        (["--oov", "guess"], "--oov"),
    ],
)
def test_invalid_options_are_rejected(run_eval, args, message):
    output = run_eval("vectors.bin", "pairs.txt", *args, status=2)
    assert message in output.err
    assert output.err.count("\n") == 1


def test_scores_ignore_threads_and_seed_and_intervals_ignore_threads(run_eval):
    args = ("vectors.bin", "pairs.txt", "questions.txt")
    assert run_eval(*args, "--threads", "1").out == run_eval(*args, "--threads", "3").out
    one, other = (evaluated(run_eval, *args, "--seed", seed)["scores"] for seed in "12")
    assert [score["score"] for score in one] == [score["score"] for score in other]
    assert [score["low"] for score in one] != [score["low"] for score in other]
    none = evaluated(run_eval, *args, "--resamples", "0")["scores"]
    assert {score["low"] for score in none} == {None}


def test_evaluation_is_the_last_step_of_a_run(directory, capsys):
    Path("x.toml").write_text('[eval]\nsets = ["pairs.txt"]\nresamples = 7\njson = true\n')
    assert main(["run", "x.toml"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert (facts["vectors"], facts["policy"]["resamples"]) == ("vectors.bin", 7)


def test_a_configuration_file_names_sets_and_options(run_eval, directory):
    Path("x.toml").write_text('[eval]\nsets = ["pairs.txt"]\nresamples = 7\njson = true\n')
    facts = json.loads(run_eval("--config", "x.toml").out)
    assert facts["policy"]["resamples"] == 7
    assert {score["set"] for score in facts["scores"]} == {"pairs"}
    Path("x.toml").write_text("[eval]\nsetts = 1\n")
    assert "unknown key 'setts'; did you mean sets?" in " ".join(
        run_eval("--config", "x.toml", status=2).err.replace("x.toml [eval]: ", "").split()
    )


def test_repeated_words_are_reported(run_eval, directory):
    rows = [b"w%d %s" % (k % 15, np.array([k, 1, k % 3], np.float32).tobytes()) for k in range(17)]
    Path("twice.bin").write_bytes(b"17 3\n" + b"\n".join(rows))
    output = run_eval("twice.bin", "pairs.txt").out
    assert "twice.bin: 2 repeated words ignored" in output


# ── Recognising sets ────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (PAIRS, Similarity),
        (QUESTIONS, Analogies),
        ("w0 w1 w2 w3\n" + QUESTIONS, Analogies),
        (ORACLE, Oracle),
        (':\t{"sign": 1}\n' + ORACLE, Oracle),
    ],
)
def test_the_kind_of_a_set_is_recognised_by_its_content(directory, text, kind):
    Path("any.name.gz").write_bytes(gzip.compress(text.encode()))
    (task,) = sets.read_tasks(["any.name.gz"], [], [], [], EvalOptions())
    assert type(task) is kind
    assert task.name == "any"


def test_the_default_sets_are_those_of_gensim(directory):
    tasks = sets.read_tasks([], [], [], [], EvalOptions())
    assert [task.name for task in tasks] == ["wordsim353", "simlex999", "questions-words"]
    assert [len(task.pairs) for task in tasks if isinstance(task, Similarity)] == [353, 999]
    assert [len(task.questions) for task in tasks if isinstance(task, Analogies)] == [19544]


def test_the_stage_evaluates_every_task(directory):
    options = EvalOptions(resamples=0)
    tasks = sets.read_tasks(["pairs.txt", "oracle.tsv"], [], [], [], options)
    report = evaluate("vectors.bin", tasks, options, RunOptions(threads=1))
    assert {score.task for score in report.scores} == {"similarity", "qvec"}
    assert report.to_dict()["policy"] == {**options.result_options(), "seed": 1}


def test_a_set_with_few_known_items_has_no_score_and_says_why(run_eval):
    Path("few.txt").write_text("".join(f"w{k} w{k + 9} {k}\n" for k in range(9)))
    found = evaluated(run_eval, "vectors.bin", "few.txt", "pairs.txt")
    assert {score["set"] for score in found["scores"]} == {"pairs"}
    assert found["refused"] == {"few": "6 of 9 items can be answered; a score needs 10"}
    err = run_eval("vectors.bin", "few.txt", status=1).err
    assert err == "wordgeom: error: few: 6 of 9 items can be answered; a score needs 10\n"


def test_vectors_of_another_language_need_sets_of_their_own(run_eval):
    matrix = np.random.default_rng(1).standard_normal((4, 3)).astype(np.float32)
    for words in (["Haus", "Straße", "König", "Mädchen"], ["house", "tiger", "cat", "sex"]):
        write_vectors("german.bin", words, matrix)
        err = run_eval("german.bin", status=1).err
        assert err == (
            "wordgeom: error: german.bin: the default sets are English, and none can be scored; "
            "name your own sets\n"
        )
