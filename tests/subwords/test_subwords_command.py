"""`wordgeom subwords` and its readers: similar, analogy, eval; models that do not belong."""

from __future__ import annotations

import json
import shutil
import unicodedata
from pathlib import Path

import numpy as np
import pytest
from inflections import ENDINGS, STEMS

from wordgeom.core.errors import FormatError, InputError, OptionError, StaleError
from wordgeom.evaluation.options import EvalOptions
from wordgeom.runtime.run_options import UseOptions
from wordgeom.stages.evaluate import Evaluate
from wordgeom.stages.trained_options import trained_options
from wordgeom.storage.store import Store
from wordgeom.subwords.model import FitSettings
from wordgeom.subwords.stored import find_model, model_path, read_model
from wordgeom.vectors.keyed import read_vectors, write_vectors

UNITS = (["--unit", "grapheme"], ["--unit", "jamo"], ["--buckets", "500"])


def test_unseen_words_have_vectors_in_every_reader(improved, ask):
    assert "turning" not in improved.words
    found = ask("similar", "v.bin", "turning", "--top", "12", "--json")
    assert "'turning'" not in found.out
    assert {"turn", "walking"} & {each["word"] for each in json.loads(found.out)}
    assert found.err.count("1 word has no vector, its n-grams give one: turning") == 1
    found = ask("analogy", "v.bin", "walking", "walk", "turning", "--json")
    assert "turning" in found.err
    assert json.loads(found.out)[0]["word"] == "turn"
    assert ask("analogy", "v.bin", "walking", "walk", "turning", "--top", "0").err.count("\n") == 1
    assert "unknown word 'turning'" in ask("similar", "vectors.bin", "turning").err
    assert "unknown word 'Walk'; did you mean walk?" in ask("similar", "v.bin", "Walk").err
    for asked in (["similar", "v.bin", "zq"], ["analogy", "v.bin", "walk", "zq", "turn"]):
        unknown = ask(*asked)
        assert unknown.status == 1
        assert "unknown word 'zq', and none of its n-grams is known; no word has" in unknown.err


def test_eval_reports_seen_and_unseen_words_apart(improved, ask):
    report = json.loads(ask("eval", "v.bin", "pairs.tsv", "questions.txt", "--json").out)
    used = {(each["set"], each["measure"]): each["used"] for each in report["scores"]}
    assert used["pairs", "spearman"] == 49 * 48 / 2
    assert used["pairs, unseen words", "spearman"] == 49
    assert used["pairs, all", "spearman"] == 50 * 49 / 2
    assert used["questions", "3CosAdd"] == 9 * 8
    assert used["questions, unseen words", "3CosAdd"] == 2 * 9
    assert any("its n-grams give one: turning" in note for note in report["notes"])
    scores = {(each["set"], each["measure"]): each["score"] for each in report["scores"]}
    assert scores["pairs, unseen words", "spearman"] > 0.5
    write_vectors("alone.bin", improved.words, improved.matrix)
    plain = json.loads(ask("eval", "alone.bin", "pairs.tsv", "questions.txt", "--json").out)
    assert [each for each in report["scores"] if ", " not in each["set"]] == plain["scores"]


def test_a_report_says_once_what_holds_for_a_whole_set(improved, ask):
    lines = Path("pairs.tsv").read_text().splitlines()
    Path("pairs.tsv").write_text("\n".join([*lines, lines[0] + "9", "walk\tabsent@@\t1", ""]))
    report = json.loads(ask("eval", "v.bin", "pairs.tsv", "--json").out)
    (note,) = [note for note in report["notes"] if "several scores" in note]
    assert note.startswith("pairs: ")
    for score in report["scores"]:
        left_out = sum(report["excluded"].get(score["set"], {}).values())
        assert score["used"] + left_out == score["total"], score


@pytest.mark.parametrize("others", [0, 4])
def test_eval_reports_sets_that_ngrams_alone_can_answer(improved, ask, others):
    """The set has 40 pairs with an unseen word, and none or too few without one."""
    lines = Path("pairs.tsv").read_text().splitlines()
    with_unseen = [line for line in lines if "turning" in line][:40]
    seen = [line for line in lines if "turning" not in line][:others]
    Path("few.tsv").write_text("\n".join([*with_unseen, *seen]) + "\n")
    report = json.loads(ask("eval", "v.bin", "few.tsv", "--json").out)
    used = {each["set"]: each["used"] for each in report["scores"]}
    assert used == {"few, unseen words": 40, "few, all": 40 + others}
    assert list(report["refused"]) == ["few, seen words"]
    Path("foreign.tsv").write_text("qx\tzq\t1\nzq\tqq\t2\nqx\tqq\t3\n")
    both = json.loads(ask("eval", "v.bin", "few.tsv", "foreign.tsv", "--json").out)
    assert both["scores"] == report["scores"]
    assert list(both["refused"]) == ["few, seen words", "foreign"]
    alone = ask("eval", "v.bin", "foreign.tsv")
    assert alone.status == 1
    assert "foreign.tsv: no item has vectors for all its words" in alone.err
    write_vectors("alone.bin", improved.words, improved.matrix)
    assert ask("eval", "alone.bin", "few.tsv").status == 1


def test_eval_counts_what_ngrams_answer_and_says_where_they_are_unused_or_missing(improved, ask):
    lines = Path("pairs.tsv").read_text().splitlines()
    some = [line for line in lines if "turning" in line][:2]
    some += [line for line in lines if "turning" not in line][:3]
    Path("few.tsv").write_text("\n".join([*some, "walk\tzq\t1", ""]))
    say = "few: 5 of 6 items can be answered; a score needs 10"
    assert ask("eval", "v.bin", "few.tsv").err == f"wordgeom: error: {say}\n"
    report = json.loads(ask("eval", "v.bin", "few.tsv", "--oov", "zero", "--json").out)
    assert {each["used"] for each in report["scores"]} == {6}
    assert "few: --oov zero: 1 word has n-grams, which are not used" in report["notes"]
    shutil.rmtree("v.subwords")
    err = ask("eval", "v.bin", "few.tsv").err
    assert "few: 3 of 6 items can be answered; a score needs 10; v.subwords: these vectors" in err
    assert err.count("\n") == 1


def test_extend_uses_the_loss_of_the_vectors_that_subwords_were_added_to(counts, ask):
    train = ["train", "cooc", "--method", "gbu", "--dim", "5", "--temper", "0.6"]
    assert ask(*train, "-o", "plain.bin").status == 0
    assert ask("subwords", "plain.bin", "-o", "with.bin", "--min-words", "2").status == 0
    assert ask("convert", "with.bin", "with.npy").status == 0
    wanted = trained_options(Path("plain.bin"))
    assert wanted.sweeps.temper == 0.6
    assert [trained_options(Path(f"with.{end}")) for end in ("bin", "npy")] == [wanted, wanted]


def test_the_model_of_another_output_is_not_replaced(improved, ask):
    """`v.bin` and `v.txt` would share `v.subwords`."""
    before = Store.open("v.subwords").digest
    for command, status in (
        (["subwords", "vectors.bin", "--subwords", "3-4", "-o", "v.txt"], 2),
        (["subwords", "vectors.bin", "--subwords", "3-4", "--buckets", "50", "-o", "w.bin"], 0),
        (["convert", "w.bin", "v.model", "--to", "fasttext"], 0),
        (["convert", "v.model", "v.txt"], 1),  # v.subwords exists
        (["convert", "v.model", "v.txt", "--force"], 2),
    ):
        asked = ask(*command)
        assert asked.status == status, asked
        if status == 2:
            assert "v.bin: would be read with the n-grams of v.txt" in asked.err
    assert not Path("v.txt").exists()
    assert Store.open("v.subwords").digest == before
    Path("v.bin").unlink()
    assert ask("convert", "v.model", "v.txt", "--force").status == 0
    assert ask("similar", "v.txt", "turning", "--top", "2").status == 0


def test_the_state_of_eval_belongs_to_one_model(improved):
    def asked():
        return Evaluate(Path("v.bin"), "v.bin", [], EvalOptions(), UseOptions()).request

    before = asked()
    shutil.rmtree("v.subwords")
    assert asked() != before


@pytest.mark.parametrize("how", UNITS)
def test_a_model_is_read_as_it_was_written(words, ask, how):
    assert ask("subwords", "vectors.bin", "-o", "v.bin", "--clip", "0", *how).status == 0
    before, after = read_vectors("vectors.bin"), read_vectors("v.bin")
    model = find_model(Path("v.bin"), after)
    assert model is not None
    assert model.fit == FitSettings(0.01, 0.2)
    np.testing.assert_allclose(
        model.vectors_of(after.words), after.matrix - before.matrix, atol=1e-5
    )
    assert ask("info", "v.subwords", "--check").status == 0


def test_morphs(words, ask):
    lines = [f"{stem}{end}\t{stem} {end}\n" for stem in STEMS for end in ENDINGS if end]
    Path("m.tsv").write_text("".join(lines))
    made = ask("subwords", "-o", "v.bin", "--unit", "morphs", "--morphs", "m.tsv", "--min-words",
               "2", "--ngram-ridge", "1e-3")  # fmt: skip
    assert made.status == 0, made.err
    assert "10 words are not in m.tsv: one morph each" in made.err
    model = find_model(Path("v.bin"), read_vectors("v.bin"))
    assert model is not None
    found, true = model.vectors_of(["turning"])[0], words.matrix[words.words.index("turning")]
    assert found @ true > 0.9 * np.linalg.norm(found) * np.linalg.norm(true)
    unknown = ask("similar", "v.bin", "unturned")
    assert "unknown word 'unturned', and no line of --morphs cuts it; add a line" in unknown.err
    Path("m.tsv").write_text("zq\tz q\n")
    other = ask("subwords", "-o", "w.bin", "--unit", "morphs", "--morphs", "m.tsv")
    assert other.status == 1
    assert "vectors.bin: none of 49 words has a line in m.tsv" in other.err
    Path("m.tsv").write_text("walking\twalk in\n")
    wrong = ask("subwords", "-o", "w.bin", "--unit", "morphs", "--morphs", "m.tsv")
    assert wrong.status == 1
    assert "m.tsv line 1: the morphs 'walk in' do not spell 'walking'" in wrong.err
    assert not Path("w.bin").exists()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--subwords", "6-3"], "--subwords must be lengths from 1 to 50, the shorter one first"),
        (["--unit", "morphs"], "--unit morphs and --morphs FILE belong together"),
        (["--unit", "jamo", "--buckets", "9"], "--buckets hashes code points"),
        (["-o", "v.npz"], "unknown suffix '.npz'"),
        (["--ngram-weight", "0"], "--ngram-weight must be between 1e-06 and"),
    ],
)
def test_wrong_options_are_named(words, ask, options, said):
    made = ask("subwords", "vectors.bin", *options)
    assert made.status == 2
    assert said in made.err
    assert sorted(path.name for path in Path().iterdir()) == [
        "pairs.tsv", "questions.txt", "vectors.bin",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("asked", "by"),
    [
        (
            {"command": "subwords", "options": {"subwords": "2-5"}},
            "rebuild it with wordgeom subwords --force",
        ),
        (
            {"command": "train", "options": {"subwords": "2-5"}},
            "rebuild it with wordgeom train --force --subwords",
        ),
        ({"command": "two words"}, "rebuild it with --force"),
        ([], "rebuild it with --force"),
    ],
)
def test_a_damaged_model_names_the_command_that_makes_it(improved, ask, asked, by):
    meta = json.loads(Path("v.subwords/meta.json").read_bytes())
    meta["run"]["request"] = asked  # which the digest of a store does not cover
    Path("v.subwords/meta.json").write_text(json.dumps(meta))
    part = Path("v.subwords") / meta["files"]["ngrams"]["file"]
    whole = part.read_bytes()
    for broken in (whole[:-1], whole[:-2] + b"??", None):
        part.unlink(missing_ok=True)
        if broken is not None:
            part.write_bytes(broken)
        found = ask("similar", "v.bin", "turning")
        assert (found.status, found.err.count("\n")) == (1, 1)
        assert found.err.endswith(f"; {by}\n")


def test_a_model_of_other_vectors_is_refused(improved, ask):
    write_vectors("v.bin", improved.words, 2 * improved.matrix)
    for command in (["similar", "v.bin", "walk"], ["eval", "v.bin", "pairs.tsv"]):
        found = ask(*command)
        assert found.status == 1
        assert "v.subwords: belongs to other vectors" in found.err
    with pytest.raises(StaleError):
        find_model(Path("v.bin"), read_vectors("v.bin"))


def edited(attribute, value):
    """Edit an attribute of v.subwords, with a digest that vouches for it."""
    from wordgeom.storage.meta import META, content_digest

    path = Path("v.subwords") / META
    meta = json.loads(path.read_text())
    meta["attributes"][attribute] = value
    path.write_text(json.dumps(meta | {"digest": content_digest(meta)}))


@pytest.mark.parametrize(
    ("attribute", "value"),
    [
        ("shape", [10**12, 30]), ("shape", [3, 10]), ("shape", None), ("lengths", [5, 2]),
        ("lengths", [2, 10**6]), ("unit", "bytes"), ("buckets", 7), ("buckets", -1),
        ("vectors", 5), ("unit", "morphs"), ("fit", 5), ("fit", {"ridge": 0.01}),
        ("fit", {"ridge": 0.0, "half_rank": 0.4}), ("fit", {"ridge": "1", "half_rank": 0.4}),
    ],
)  # fmt: skip
def test_a_header_that_lies_is_an_error(improved, attribute, value):
    edited(attribute, value)
    with pytest.raises(FormatError, match=r"v\.subwords"):
        read_model(Path("v.subwords"), improved)


def test_info_describes_and_checks_the_ngrams_of_vectors(improved, ask):
    facts = json.loads(ask("info", "v.bin", "--check", "--json").out)
    model = find_model(Path("v.bin"), improved)
    assert model is not None
    number = len(model.vectors)
    assert facts["n-grams"] == {
        "store": "v.subwords", "number": number, "unit": "codepoint", "lengths": "2-5",
    }  # fmt: skip
    part = next(Path("v.subwords").glob("vectors.*.npy"))
    raw = bytearray(part.read_bytes())
    raw[-3] ^= 1
    part.write_bytes(raw)
    made = ask("info", "v.bin", "--check")
    assert made.status == 1
    assert "v.subwords" in made.err
    shutil.rmtree("v.subwords")
    facts = json.loads(ask("info", "v.bin", "--json").out)
    assert "n-grams" not in facts
    assert any("made with n-grams, which are missing" in note for note in facts["notes"])


def test_another_store_is_no_model(improved, tmp_path):
    shutil.copytree("v.subwords", "w.subwords")
    meta = json.loads(Path("w.subwords/meta.json").read_text())
    from wordgeom.storage.meta import content_digest

    meta["kind"] = "cooc"
    Path("w.subwords/meta.json").write_text(json.dumps(meta | {"digest": content_digest(meta)}))
    with pytest.raises(OptionError, match="not a subword model"):
        read_model(Path("w.subwords"), improved)


def test_an_output_is_made_once_and_completed(words, ask, improved):
    before = Path("v.bin").read_bytes(), Store.open("v.subwords").digest
    asked = ["subwords", "vectors.bin", "-o", "v.bin", "--subwords"]
    assert "up to date" in ask(*asked, "2-5").out
    assert "v.bin: exists and was made with --subwords 2-5, not 3-4" in ask(*asked, "3-4").err
    shutil.rmtree("v.subwords")
    assert ask(*asked, "2-5").status == 0
    assert (Path("v.bin").read_bytes(), Store.open("v.subwords").digest) == before


def test_notes_on_ngrams_that_are_added_twice_and_on_a_unit_without_effect(improved, ask):
    import wordgeom as wg

    again = "n-grams are added a second time; apply subwords to the vectors without them"
    made = ask("subwords", "v.bin", "-o", "w.bin", "--unit", "jamo")
    assert f"note: v.bin: {again}" in made.err
    assert "no word has a Hangul syllable: --unit jamo cuts words into code points" in made.err
    once = ask("subwords", "vectors.bin", "-o", "x.bin")
    assert again not in once.err
    assert "Hangul" not in once.err
    model = wg.add_subwords("vectors.bin", subwords="2-5")
    assert not any(again in note for note in model.notes)
    assert any(again in note for note in wg.add_subwords(model).notes)
    words = [f"{a}{b}" for a in ("먹", "가", "보") for b in ("다", "는", "고", "지")]
    draw = np.random.default_rng(1).standard_normal((12, 5)).astype(np.float32)
    for form in ("NFC", "NFD"):
        spelt = [unicodedata.normalize(form, word) for word in words]
        write_vectors("korean.bin", spelt, draw)
        jamo = ask("subwords", "korean.bin", "-o", f"{form}.bin", "--unit", "jamo")
        assert "Hangul" not in jamo.err


@pytest.mark.parametrize(("least", "said"), [
    ("2", "with vectors of 5 need 1 TB, more than the memory limit"),
    ("99", "no n-gram of 2-6 units occurs in 99 of"),
])  # fmt: skip
def test_ngrams_that_cannot_be_fitted_are_an_error_before_training(
    counts, ask, monkeypatch, least, said
):
    from wordgeom.methods.gbu import method
    from wordgeom.subwords import improvement

    monkeypatch.setattr(improvement, "working_bytes", lambda *_: 10**12)

    monkeypatch.setattr(method, "fit", lambda *_: pytest.fail("it trained"))
    train = ["train", "cooc", "--method", "gbu", "--dim", "5", "--subwords", "2-6", "-o", "v.bin"]
    made = ask(*train, "--min-words", least)
    assert made.status == 1
    assert said in made.err
    assert not Path("v.bin").exists()


@pytest.mark.parametrize("damage", ["part", "meta", "gone"])
def test_ngrams_are_not_added_again_in_silence_where_the_store_is_damaged(improved, ask, damage):
    if damage == "part":
        with open("v.subwords/vectors.1.npy", "r+b") as part:
            part.truncate(100)
    elif damage == "meta":
        Path("v.subwords/meta.json").write_text("{")
    else:
        shutil.rmtree("v.subwords")
    again = "note: v.bin: n-grams are added a second time"
    assert again in ask("subwords", "v.bin", "-o", "w.bin").err
    Path("v.bin.json").unlink()
    without_a_card = ask("subwords", "v.bin", "-o", "w.bin", "--force").err
    assert (again in without_a_card) == (damage != "gone")


def test_words_without_an_ngram_are_named(words, ask):
    made = ask("subwords", "vectors.bin", "-o", "w.bin", "--subwords", "12")
    assert "no n-gram of 12 units occurs in 2 of 49 words" in made.err
    made = ask("subwords", "vectors.bin", "-o", "w.bin", "--subwords", "7")
    assert "words have no n-grams with a vector and keep their own vectors: walk, " in made.err


def test_the_number_of_buckets_is_printed(words, ask):
    assert " of 500 buckets; " in ask("subwords", "vectors.bin", "-o", "w.bin", "--buckets",
                                      "500").out  # fmt: skip


def test_clip_is_0_or_leaves_more_than_the_largest_singular_value(words, ask):
    made = ask("subwords", "vectors.bin", "-o", "w.bin", "--clip", "0.1")
    assert "--clip must be 0 or at least 0.5, found 0.1" in made.err
    assert ask("subwords", "vectors.bin", "-o", "w.bin", "--clip", "0").status == 0


def test_few_pairs_with_unseen_words_have_no_score_of_their_own(improved, ask):
    lines = Path("pairs.tsv").read_text().splitlines()
    unseen = [line for line in lines if "turning" in line][:3]
    seen = [line for line in lines if "turning" not in line]
    Path("few.tsv").write_text("\n".join([*unseen, *seen]) + "\n")
    report = json.loads(ask("eval", "v.bin", "few.tsv", "--json").out)
    assert {each["set"] for each in report["scores"]} == {"few", "few, all"}
    assert "few: 3 items have unseen words: a score needs 10" in report["notes"]


def test_the_options_of_ngrams_stay_in_the_run_cards_of_later_commands(counts, ask):
    train = ["train", "cooc", "--method", "gbu", "--dim", "5"]
    assert ask(*train, "-o", "plain.bin").status == 0
    assert ask("subwords", "plain.bin", "-o", "v.bin", "--buckets", "300").status == 0
    assert ask("convert", "v.bin", "w.bin").status == 0
    options = [json.loads(Path(f"{name}.bin.json").read_text())["source"]["options"]
               for name in ("v", "w")]  # fmt: skip
    assert options[0] == options[1]
    assert (options[0]["buckets"], options[0]["subwords"], options[0]["dim"]) == (300, "2-6", 5)


def test_the_model_lies_beside_its_vectors():
    assert model_path(Path("a/v.bin")) == Path("a/v.subwords")
    assert model_path(Path("v.txt.gz")) == Path("v.subwords")


def test_train_adds_what_the_command_adds(counts, ask):
    train = ["train", "cooc", "--method", "gbu", "--dim", "8"]
    assert ask(*train, "-o", "plain.bin").status == 0
    made = ask(*train, "-o", "v.bin", "--subwords", "2-4", "--min-words", "3")
    assert made.status == 0
    ngrams = Store.open("v.subwords").attributes["shape"][0]
    assert f" by gbu, {ngrams} n-grams; " in made.out
    assert ask("subwords", "plain.bin", "-o", "w.bin", "--subwords", "2-4", "--min-words",
               "3").status == 0  # fmt: skip
    assert Path("v.bin").read_bytes() == Path("w.bin").read_bytes()
    cards = [json.loads(Path(f"{name}.bin.json").read_text()) for name in ("plain", "w")]
    assert cards[0]["corpus"] == cards[1]["corpus"]  # of which embed reads how text is split
    assert Store.open("v.subwords").digest == Store.open("w.subwords").digest
    assert "v.bin: up to date" in ask(*train, "-o", "v.bin", "--subwords", "2-4", "--min-words",
                                      "3").out  # fmt: skip
    assert "jumper" in ask("similar", "v.bin", "jumpers").out
    wrong = ask(*train, "-o", "x.bin", "--min-words", "3")
    assert wrong.status == 2
    assert "--min-words has no effect without --subwords" in wrong.err


def test_convert_only_and_python_give_unseen_words_their_vector(improved, ask):
    import wordgeom as wg

    Path("list.txt").write_text("turning\nwalk\nzq\n")
    made = ask("convert", "v.bin", "some.txt", "--only", "list.txt")
    assert "1 word has no vector, its n-grams give one: turning" in made.err
    assert "1 of 3 words of list.txt have no vector: zq" in made.err
    some = read_vectors("some.txt")
    assert some.words == ["walk", "turning"]
    model = wg.add_subwords("vectors.bin", subwords="2-5")
    np.testing.assert_array_equal(model["turning"], some.matrix[1])
    np.testing.assert_array_equal(model.vectors, improved.matrix)
    assert "turning" not in model
    assert len(model.most_similar("turning", topn=3)) == 3
    with pytest.raises(InputError, match="unknown word 'zq'"):
        model["zq"]
    ngrams = Store.open("v.subwords").attributes["shape"][0]
    assert repr(model.subwords) == f"<SubwordModel of {ngrams} × {model.vectors.shape[1]}>"
    model.save("saved.bin")
    again = wg.add_subwords("vectors.bin", subwords="2-5", out="v.bin")  # up to date
    np.testing.assert_array_equal(again["turning"], model["turning"])
    kept = find_model(Path("saved.bin"), read_vectors("saved.bin"))
    assert kept is not None
    np.testing.assert_array_equal(kept.vectors_of(["turning"])[0], model["turning"])


def test_vectors_that_float32_cannot_hold_are_not_written(words, ask):
    write_vectors("huge.bin", words.words, words.matrix * np.float32(1e38 / words.matrix.max()))
    made = ask("subwords", "huge.bin", "-o", "v.bin", "--clip", "0", "--ngram-weight", "1000")
    assert made.status == 1
    assert "exceed the range of float32; lower --ngram-weight, or scale" in made.err
    assert not list(Path().glob("v.*"))


def test_convert_only_finds_words_as_other_commands_do(words, ask):
    write_vectors("e.bin", ["\u00e9t\u00e9", "walk"], words.matrix[:2])
    Path("list.txt").write_text("e\u0301te\u0301\n\u00e9t\u00e9\nzq\n")
    made = ask("convert", "e.bin", "some.txt", "--only", "list.txt")
    assert "1 of 3 words of list.txt have no vector: zq" in made.err
    assert read_vectors("some.txt").words == ["\u00e9t\u00e9"]
