"""`wordgeom run`: tables by the same name, what one takes from another, and what is rebuilt."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import numpy as np
import pytest
from in_process import train_here
from interruptions import interrupted_after

from wordgeom.cli import frame
from wordgeom.cli.pipeline import read_steps
from wordgeom.methods import load
from wordgeom.storage.store import Store
from wordgeom.vectors import run_card
from wordgeom.vectors.keyed import read_vectors

CONFIGS = Path(__file__).parents[2] / "configs"

COUNT = '[build-cooc]\ncorpus = ["corpus.txt"]\nmin-count = 2\nout = "c"\nwindow = {}\n'
TRAIN = '[[train]]\nmethod = "{}"\ndim = {}\nout = "{}"\n'


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A directory with a text in two files, dated records and word pairs."""
    train_here(monkeypatch)
    monkeypatch.chdir(tmp_path)
    draw = np.random.default_rng(1)
    ids = draw.zipf(1.3, (300, 20)) % 60
    lines = [" ".join(f"w{k}" for k in line) for line in ids]
    Path("corpus.txt").write_text("\n".join(lines))
    Path("more.txt").write_text("\n".join(lines[:100]))
    dated = [{"text": line, "year": 1950 + n % 40} for n, line in enumerate(lines)]
    Path("speeches.jsonl").write_text("".join(json.dumps(one) + "\n" for one in dated))
    Path("pairs.tsv").write_text("".join(f"w{k}\tw{k + 1}\t{k % 7}\n" for k in range(1, 30)))
    Path("firms.csv").write_text("name,a,b\n" + "".join(f"w{k},{k},{k * k}\n" for k in range(9)))
    return tmp_path


@pytest.fixture
def run(ask):
    """Write x.toml, and run it."""

    def write_and_run(*tables, name="x.toml", args=()):
        Path(name).write_text("\n".join(tables))
        return ask("run", name, *args)

    return write_and_run


def made(answer):
    """Return which outputs were made, and which were up to date."""
    assert answer.status == 0, answer.err
    lines = [line.split(": ", 1) for line in answer.out.splitlines() if ": " in line]
    return {path: what == "up to date" for path, what in lines}


def inputs_of(path):
    card = run_card.read_card(Path(path))
    assert card is not None
    return card["request"]["inputs"]


def rebuilt(answer):
    return [line for line in answer.err.splitlines() if line.endswith("; rebuilding it")]


def test_several_tables_of_one_command_run_in_their_order_on_one_count(run, folder):
    tables = TRAIN.format("pmi-eigs", 4, "b.bin"), COUNT.format(3), TRAIN.format("gbu", 5, "a.bin")
    assert list(made(run(*tables))) == ["c", "b.bin", "a.bin"]
    assert read_vectors("a.bin").matrix.shape[1] == 5
    digest = Store.open("c").digest  # both are trained on c, not on the default cooc
    for path in ("a.bin", "b.bin"):
        assert inputs_of(path) == [{"digest": digest}]
    assert set(made(run(*tables)).values()) == {True}


def test_a_changed_value_rebuilds_what_depends_on_it_and_nothing_else(run, folder):
    later = (
        '[build-pmi]\nout = "p"\n', TRAIN.format("pmi-eigs", 4, "v.bin"),
        '[[train]]\nmethod = "pmi-eigs"\nmatrix = "p"\ndim = 3\nout = "w.bin"\n',
        '[convert]\nsource = "v.bin"\ntarget = "v.npy"\n',
        '[build-dtm]\ncorpus = "corpus.txt"\nout = "d"\n',
        '[impute]\ndomain = "firms.csv"\nvectors = "v.bin"\ndelta = 3\nout = "i.bin"\n',
    )  # fmt: skip
    outputs = ["c", "d", "p", "v.bin", "w.bin", "i.bin", "v.npy"]
    assert list(made(run(COUNT.format(3), *later))) == outputs
    again = run(COUNT.format(4), *later)
    assert {path for path, same in made(again).items() if same} == {"d"}
    assert rebuilt(again)[0] == "wordgeom: note: c was made with --window 3, not 4; rebuilding it"
    assert "v.bin was made from another matrix; rebuilding it" in again.err
    assert len(rebuilt(again)) == len(outputs) - 1
    assert Store.open("p").request["inputs"] == [{"digest": Store.open("c").digest}]
    assert np.array_equal(np.load("v.npy"), read_vectors("v.bin").matrix)
    assert set(made(run(COUNT.format(4), *later)).values()) == {True}


def test_a_changed_method_or_text_makes_its_outputs_stale(run, folder):
    made(run(COUNT.format(3), TRAIN.format("gbu", 4, "v.bin")))
    switched = run(COUNT.format(3), TRAIN.format("pmi-eigs", 4, "v.bin"))
    assert made(switched) == {"c": True, "v.bin": False}
    Path("corpus.txt").write_text(Path("corpus.txt").read_text() + "\nw1 w2 w3 w1 w2\n")
    changed = run(COUNT.format(3), TRAIN.format("pmi-eigs", 4, "v.bin"))
    assert made(changed) == {"c": False, "v.bin": False}
    assert "c was made from other text; rebuilding it" in changed.err


@pytest.mark.parametrize("how", ["by hand", "another file", "edited"])
def test_output_that_the_configuration_did_not_make_is_never_overwritten(run, ask, folder, how):
    tables = COUNT.format(3), TRAIN.format("gbu", 4, "v.bin")
    made(run(*tables, name="x.toml" if how != "another file" else "y.toml"))
    if how == "by hand":
        ask("train", "c", "--method", "gbu", "--dim", "4", "-o", "v.bin", "--force")
    if how == "edited":
        Path("v.bin").write_bytes(Path("v.bin").read_bytes() + b"\n")
    before = Path("v.bin").read_bytes()
    changed = COUNT.format(3), TRAIN.format("gbu", 5, "v.bin")
    answer = run(*changed)
    assert answer.status == 1
    assert answer.err.startswith("wordgeom: error: x.toml [train]: v.bin: exists and ")
    assert "pass --force to overwrite it" in answer.err
    if how != "edited":
        assert "--dim 4, not 5; x.toml did not make it" in answer.err
    assert Path("v.bin").read_bytes() == before
    assert made(run(*changed, args=["--force"]))["v.bin"] is False
    assert made(run(COUNT.format(3), TRAIN.format("gbu", 6, "v.bin")))["v.bin"] is False


@pytest.mark.parametrize(
    ("place", "is_folder", "said"),
    [
        ("v.bin", False, "[train]: v.bin: exists and has no run card that matches it; pass"),
        ("v.bin", True, "[train]: v.bin: is a directory; pass a file with -o"),
        ("p", False, "[build-pmi]: p: is a file; pass a directory with -o"),
        ("p", True, "[build-pmi]: p: a directory with other files, such as mine; choose another"),
        ("m", False, "[[train]] 2: m: is a file; pass a directory with -o"),
        ("v.subwords", False, "[train]: v.subwords: is a file; pass a directory with -o"),
        ("q.png", False, "[plot]: q.png: exists and has no run card that matches it; pass"),
        ("kept", True, "[compare]: kept: exists and has files that this configuration did not"),
    ],
)
def test_what_no_table_may_replace_is_refused_before_the_first_one_runs(
    run, folder, place, is_folder, said
):
    if place == "q.png":
        pytest.importorskip("matplotlib")
    if is_folder:
        Path(place).mkdir()
    mine = Path(place, "mine") if is_folder else Path(place)
    mine.write_text("mine\n")
    dated = '[build-dtm]\ncorpus = "speeches.jsonl"\ninput-format = "jsonl"\ntime-field = "year"\n'
    model = '[[train]]\nmethod = "dlsa"\ndim = 2\nout = "m"\n'
    pmi, one = '[build-pmi]\nout = "p"\n', TRAIN.format("gbu", 4, "v.bin")
    tables = (COUNT.format(3), pmi, one) if place != "m" else (COUNT.format(3), dated, one, model)
    if place != "m":
        ngrams = 'subwords = "1-2"\nmin-words = 1\n' if place == "v.subwords" else ""
        tables = *tables[:-1], one.replace("[[train]]", "[train]") + ngrams
    more = {"q.png": '[plot]\nkind = "spectrum"\nout = "q.png"\n', "kept": COMPARE.format(4)}
    tables = *tables, more.get(place, "")
    answer = run(*tables)
    assert (answer.status, answer.out, mine.read_text()) == (1, "", "mine\n")
    assert f"x.toml {said}" in answer.err
    assert not Path("c").exists()


@pytest.mark.parametrize("how", ["train", "subwords"])
def test_vectors_with_ngrams_are_rebuilt_unless_others_made_the_ngrams(run, ask, folder, how):
    ngrams = 'subwords = "1-2"\nmin-words = 1\n'
    one = TRAIN.format("gbu", "{}", "v.bin")
    tables = {"train": (one + ngrams,), "subwords": (one, f'[subwords]\nout = "s.bin"\n{ngrams}')}
    out = "v" if how == "train" else "s"
    for dim in (4, 5):
        made(run(COUNT.format(3), *(table.format(dim) for table in tables[how])))
        assert read_vectors(f"{out}.bin").matrix.shape[1] == dim
        assert Store.open(f"{out}.subwords").card["configuration"] == str(folder / "x.toml")
    if how == "subwords":
        assert ask("subwords", "v.bin", "-o", "s.bin", "--subwords", "1-2", "--force").status == 0
        before = Path("s.bin").read_bytes()
        answer = run(COUNT.format(3), *(table.format(6) for table in tables[how]))
        assert (answer.status, Path("s.bin").read_bytes()) == (1, before)
        assert "x.toml did not make it" in answer.err


def test_a_note_names_the_vectors_that_a_table_could_take_instead(run, folder):
    tables = COUNT.format(3), TRAIN.format("gbu", 4, "v.bin")
    later = '[transform]\ncenter = true\nout = "t.bin"\n[convert]\n{}target = "v.npy"\n'
    answer = run(*tables, later.format(""))
    note = (
        "wordgeom: note: x.toml [convert] reads v.bin; to read the output of x.toml [transform], "
        'name source = "t.bin"\n'
    )
    assert answer.err.count(note) == 1
    assert np.array_equal(np.load("v.npy"), read_vectors("v.bin").matrix)
    assert note not in run(*tables, later.format(""), args=["--quiet"]).err
    named = run(*tables, later.format('source = "t.bin"\n'))
    assert "reads" not in named.err
    assert np.array_equal(np.load("v.npy"), read_vectors("t.bin").matrix)


def test_two_configurations_that_share_an_output_do_not_replace_each_others(run, folder):
    made(run(COUNT.format(3), name="x.toml"))
    assert made(run(COUNT.format(3), name="y.toml")) == {"c": True}
    answer = run(COUNT.format(4), name="y.toml")
    assert "c: exists and was made with --window 3, not 4; y.toml did not make it" in answer.err
    assert made(run(COUNT.format(5), name="x.toml")) == {"c": False}


def test_files_beside_an_output_are_replaced_only_if_the_configuration_wrote_them(run, folder):
    count = COUNT + 'save-vocab = "words.tsv"\n'
    made(run(count.format(3)))
    made(run(count.replace("min-count = 2", "min-count = 9").format(4)))
    assert Path("words.tsv").read_bytes() == Store.open("c").text("vocab")
    Path("words.tsv").write_text("mine\n")
    answer = run(count.format(5))
    assert (answer.status, Path("words.tsv").read_text()) == (1, "mine\n")
    impute = '[impute]\ndomain = "firms.csv"\nvectors = "v.bin"\ndelta = {}\n'
    tables = COUNT.format(3).replace('"c"', '"d"'), TRAIN.format("gbu", 4, "v.bin")
    made(run(*tables, impute.format(3)))
    Path("vectors.imputed.tsv").write_text("mine\n")
    assert run(*tables, impute.format(4)).status == 1
    assert Path("vectors.imputed.tsv").read_text() == "mine\n"


def test_a_checkpoint_is_not_discarded_where_the_output_is_stale(run, folder):
    made(run(COUNT.format(3)))
    Path(".c.state").mkdir()
    Path(".c.state/request.json").write_text("{}")
    answer = run(COUNT.format(4))
    assert "c: exists and was made with --window 3, not 4; a checkpoint" in answer.err
    assert "resume that with --resume, or start over with --force" in answer.err
    assert Path(".c.state/request.json").exists()
    assert made(run(COUNT.format(4), args=["--force"])) == {"c": False}


def test_an_interrupted_stage_in_the_middle_is_resumed_and_the_others_are_up_to_date(run, folder):
    sweeps = '[[train]]\nmethod = "gbu"\ndim = 4\nout = "v.bin"\ncheckpoint = 0\nsweeps = {}\n'
    rest = '[convert]\ntarget = "v.npy"\n'
    tables = COUNT.format(3), sweeps.format(6), rest
    made(run(*tables, name="x.toml"))
    wanted = Path("v.bin").read_bytes()
    made(run(COUNT.format(3), sweeps.format(2), rest))
    with interrupted_after(2):  # while v.bin, which is stale, is rebuilt
        stopped = run(*tables)
    assert (stopped.status, "--resume" in stopped.err) == (75, True)
    assert run(*tables).status == 1  # the checkpoint is not thrown away
    again = run(*tables, args=["--resume"])
    assert made(again) == {"c": True, "v.bin": False, "v.npy": False}
    assert "resuming from the checkpoint" in again.err
    assert "nothing to resume" not in again.err
    assert Path("v.bin").read_bytes() == wanted


def test_vectors_without_a_run_card_are_converted_once(run, ask, folder):
    Path("glove.txt").write_text("a 1 2\nb 3 4\n")
    table = '[convert]\nsource = "glove.txt"\ntarget = "g.bin"\nlimit = {}\n'
    assert made(run(table.format(2))) == {"g.bin": False}
    assert made(run(table.format(2))) == {"g.bin": True}
    assert made(run(table.format(1))) == {"g.bin": False}
    assert read_vectors("g.bin").words == ["a"]


def test_shards_are_merged_and_the_sum_is_trained_on(run, folder):
    shards = (
        f'[[build-cooc]]\ncorpus = "corpus.txt"\nshard = "{k}/2"\nout = "s"\n' for k in (1, 2)
    )
    tables = (*shards, '[merge]\nout = "all"\n', TRAIN.format("gbu", 4, "v.bin"))
    assert list(made(run(*tables))) == ["s.shard-1-of-2", "s.shard-2-of-2", "all", "v.bin"]
    inputs = inputs_of("v.bin")
    assert inputs == [{"digest": Store.open("all").digest}]


def test_eval_compare_and_plot_take_all_vectors_of_the_file(run, folder):
    pytest.importorskip("matplotlib")
    tables = (
        COUNT.format(3), TRAIN.format("pmi-eigs", 4, "a.bin"), TRAIN.format("pmi-eigs", 6, "b.bin"),
        '[eval]\nsets = "pairs.tsv"\n',
        '[compare]\nsets = ["pairs.tsv"]\nresamples = 50\npicture = "q.png"\n',
        '[[plot]]\nkind = "spectrum"\nout = "s.png"\n',
        '[[plot]]\nkind = "spectrum"\nvectors = "b.bin"\nout = "b.svg"\n',
    )  # fmt: skip
    first = run(*tables)
    assert first.status == 0, first.err
    assert "s.png: a.bin (4), b.bin (6)" in first.out
    assert "b.svg: b.bin (6)" in first.out
    assert first.out.count("set    measure") == 2  # eval reports each of both
    compared = first.out[first.out.rindex("measure") :]
    assert "a.bin" in compared
    assert "b.bin" in compared
    picture = Path("s.png").read_bytes()
    again = run(*tables)
    assert again.status == 0, again.err
    assert "s.png: up to date" in again.out
    changed = run(*(table.replace("dim = 4", "dim = 5") for table in tables))
    assert "s.png: a.bin (5), b.bin (6)" in changed.out
    assert "b.svg: up to date" in changed.out
    assert Path("s.png").read_bytes() != picture
    Path("b.svg").write_text("mine")
    answer = run(*(table.replace('"b.svg"', '"b.svg"\nforce = false') for table in tables))
    assert "[[plot]] 2: b.svg: exists" in answer.err


def test_a_plot_is_stale_where_an_option_is_added_changed_or_removed(run, folder):
    pytest.importorskip("matplotlib")
    tables = (COUNT.format(3), TRAIN.format("pmi-eigs", 4, "a.bin"))
    plot = '[plot]\nkind = "spectrum"\nout = "s.svg"\n'
    steps = {
        "": "",
        'title = "First"\n': "without --title, not with --title First",
        'title = "Second"\n': "with --title First, not Second",
        " ": "with --title Second, not without",
    }
    for option, reason in steps.items():
        answer = run(*tables, plot + option)
        assert answer.status == 0, answer.err
        assert reason in answer.err
        assert "s.svg: a.bin (4)" in answer.out
        title = option.partition('"')[2].strip('"\n')
        drawn = [text for text in ("First", "Second") if text in Path("s.svg").read_text("utf-8")]
        assert drawn == ([title] if title else [])
        assert "s.svg: up to date" in run(*tables, plot + option).out


COMPARE = (
    '[compare]\nmatrix = "c"\nmethods = ["pmi-eigs"]\ndim = {}\nsets = "pairs.tsv"\n'
    'resamples = 0\nkeep = "kept"\n'
)


def test_compare_writes_again_into_the_directory_that_it_made_itself(run, folder):
    pytest.importorskip("matplotlib")
    first = run(COUNT.format(3), COMPARE.format(4))
    assert first.status == 0, first.err
    again = run(COUNT.format(3), COMPARE.format(5))
    assert again.status == 0, again.err
    assert read_vectors("kept/pmi-eigs.bin").matrix.shape[1] == 5
    for dim in (5, 4, 3):  # the second time, the picture is stale
        drawn = run(COUNT.format(3), COMPARE.format(dim) + 'picture = "q.png"\n')
        assert drawn.status == 0, drawn.err
    moved = COMPARE.format(2).replace('"kept"', '"other"') + 'picture = "q.png"\n'
    for _ in range(2):
        assert run(COUNT.format(3), moved).status == 0


@pytest.mark.parametrize("picture", ["", 'picture = "q.png"\n'])
def test_compare_leaves_files_alone_that_the_configuration_did_not_make(run, folder, picture):
    pytest.importorskip("matplotlib")
    table = COMPARE + picture
    assert run(COUNT.format(3), table.format(4)).status == 0
    Path("mine").mkdir()
    Path("mine/pmi-eigs.bin").write_bytes(b"mine")
    elsewhere = table.format(5).replace('"kept"', '"mine"')  # the picture, too, is stale now
    answer = run(COUNT.format(3), elsewhere)
    assert answer.status == 1
    assert "x.toml [compare]: mine: exists and has files that this config" in answer.err
    assert Path("mine/pmi-eigs.bin").read_bytes() == b"mine"
    assert run(COUNT.format(3), elsewhere, args=["--force"]).status == 0
    assert read_vectors("mine/pmi-eigs.bin").matrix.shape[1] == 5


_NEEDED = {"extend": 'counts = "c"', "transform": "center = true"}


def _reading(setting):
    """Return the commands of configuration files that take vectors as their first argument."""
    firsts = {name: frame.command_named(name).params[:1] for name in frame.STAGES}
    return [name for name, first in firsts.items() if first and first[0].name == setting]


@pytest.mark.parametrize("name", _reading("vectors"))
def test_vectors_of_an_earlier_table_need_not_be_named(run, ask, folder, name):
    """Nor need they exist, for `jobs`."""
    Path("x.toml").write_text(
        COUNT.format(2)
        + TRAIN.format("pmi-eigs", 4, "v.bin")
        + f"[{name}]\n{_NEEDED.get(name, '')}"
    )
    printed = ask("jobs", "x.toml", "--memory", "1")
    assert (printed.status, printed.err) == (0, "")
    step = read_steps("x.toml")[-1]
    assert (step.name, step.table["vectors"]) == (name, "v.bin")


def test_a_table_may_not_read_what_a_later_one_writes(run, folder):
    table = '[transform]\nvectors = "small.npz"\ncenter = true\n[compress]\nout = "small.npz"\n'
    said = run(COUNT.format(2), TRAIN.format("pmi-eigs", 4, "v.bin"), table).err
    assert "[transform]: reads small.npz, which x.toml [compress] writes after it" in said


def test_embed_reads_the_vectors_of_an_earlier_table(run, folder):
    tables = (
        COUNT.format(3), TRAIN.format("pmi-eigs", 4, "v.bin"),
        '[embed]\ntexts = "more.txt"\nout = "t.npy"\n',
    )  # fmt: skip
    assert made(run(*tables)) == {"c": False, "v.bin": False, "t.npy": False}
    assert np.load("t.npy").shape == (100, 4)
    assert set(made(run(*tables)).values()) == {True}
    changed = COUNT.format(3), TRAIN.format("pmi-eigs", 5, "v.bin"), tables[2]
    assert made(run(*changed)) == {"c": True, "v.bin": False, "t.npy": False}


def test_a_projector_directory_is_up_to_date_until_its_vectors_change(run, folder):
    convert = '[convert]\ntarget = "p"\nto = "projector"\n'
    tables = COUNT.format(3), TRAIN.format("pmi-eigs", 4, "v.bin"), convert
    assert made(run(*tables))["p"] is False
    assert set(made(run(*tables)).values()) == {True}
    changed = COUNT.format(3), TRAIN.format("pmi-eigs", 5, "v.bin"), convert
    assert made(run(*changed)) == {"c": True, "v.bin": False, "p": False}
    assert len(Path("p/vectors.tsv").read_text().splitlines()[0].split("\t")) == 5
    Path("p/metadata.tsv").write_text("edited\n")
    answer = run(*changed)
    assert "p/metadata.tsv, which was written with it, is missing or has changed" in answer.err
    assert Path("p/metadata.tsv").read_text() == "edited\n"


def test_arrays_stand_for_lists_between_commas(run, folder):
    tables = [
        '[build-dtm]\ncorpus = ["speeches.jsonl"]\nout = "d"\ntext-field = "text"\n'
        'time-field = "year"\n',
        '[train]\nmethod = "dlsa"\ndim = 3\nout = "m"\nat = {}\n',
    ]
    made(run(tables[0], tables[1].format("[1950, 1980]")))
    assert sorted(p.name for p in Path().glob("m-*.bin")) == ["m-1950.bin", "m-1980.bin"]
    assert made(run(tables[0], tables[1].format('"1950,1980"')))["m"] is True
    answer = run(tables[0], tables[1].format('["1950,1980", 1960]'))
    assert "x.toml [train]: --at has a value with a comma: '1950,1980'" in answer.err
    assert "--at must be text or an array" in run(tables[0], tables[1].format("[true]")).err
    Path("m-1970.bin").write_bytes(b"mine")
    answer = run(tables[0], tables[1].format("[1970]").replace("dim = 3", "dim = 2"))
    assert (answer.status, Path("m-1970.bin").read_bytes()) == (1, b"mine")


@pytest.mark.parametrize(
    ("tables", "say"),
    [
        (
            [TRAIN.format("gbu", 4, "v.bin")] * 2,
            "x.toml [[train]] 2: writes v.bin, as x.toml [[train]] 1 does; give each",
        ),
        (
            [TRAIN.format("gbu", 4, "v.bin"), TRAIN.format("gbu", 5, "./v.bin")],
            "x.toml [[train]] 2: writes v.bin, as x.toml [[train]] 1 does",
        ),
        (
            [COUNT.format(3) + 'save-vocab = "c"\n'],
            "x.toml [build-cooc]: writes c twice",
        ),
        (
            [TRAIN.format("gbu", 4, "a.bin"), TRAIN.format("gbu", 4, "b.bin") + "dimm = 3\n"],
            "x.toml [[train]] 2: unknown key 'dimm'; did you mean dim?",
        ),
        (
            [TRAIN.format("gbu", 4, "a.bin"), TRAIN.format("gub", 4, "b.bin")],
            "x.toml [[train]] 2: unknown method 'gub'; did you mean gbu?",
        ),
        (
            [TRAIN.format("gbu", 4, "a.bin"), TRAIN.format("gbu", 0, "b.bin")],
            "x.toml [[train]] 2: --dim must be at least 1",
        ),
        (
            [COUNT.format(3), TRAIN.format("gbu", 4, "a.bin") + 'matrix = "cc"\n'],
            "x.toml [train]: cc: no such file or directory",
        ),
        (
            [COUNT.format(3), TRAIN.format("gbu", 4, "a.bin"),
             '[compare]\nsets = ["none.txt"]\n'],
            "x.toml [compare]: none.txt: no such file",
        ),
        (
            [COUNT.format(3), TRAIN.format("gbu", 4, "a.bin"), '[convert]\ntarget = "a.foo"\n'],
            "x.toml [convert]: a.foo: vectors and matrices are written as",
        ),
        (
            [COUNT.format(3) + "stop-words = 4\n"],
            "--stop-words must be text, found 4; write it in quotes: \"4\"",
        ),
        ([COUNT.format(3) + 'text-field = ""\n'], "--text-field must not be empty"),
        (
            [COUNT.format(3).replace("corpus.txt", "none.txt")],
            "x.toml [build-cooc]: none.txt: no such file",
        ),
        (
            [TRAIN.format("gbu", 4, "a.bin"), TRAIN.format("gbu", 4, "b.bin"),
             '[impute]\ndomain = "firms.csv"\n'],
            "x.toml [impute]: could take vectors from several tables (a.bin, b.bin); "
            'name one of them: vectors = "a.bin"',
        ),
        (
            ['[build-pmi]\ncounts = "p"\nout = "p2"\n', '[convert]\nsource = "x.npz"\n'
             'target = "p"\n'],
            "x.toml [build-pmi]: reads p, which x.toml [convert] writes after it",
        ),
        (
            ['[[convert]]\nsource = "a.bin"\ntarget = "b.bin"\n',
             '[[convert]]\nsource = "b.bin"\ntarget = "a.bin"\n'],
            "x.toml [[convert]] 1: reads a.bin, which x.toml [[convert]] 2 writes after it",
        ),
        (['[plot]\nkind = "spectra"\n'], "kind 'spectra' is unknown; did you mean spectrum?"),
        (["[plot]\n"], "needs a kind; choose one of angles, drift, imputation, loss, map"),
        (
            ['[plot]\nkind = "spectrum"\nout = "s.bmp"\nvectors = "pairs.tsv"\n'],
            "x.toml [plot]: s.bmp: plots are",
        ),
        (['[plot]\nkind = "spectrum"\n'], "[plot]: needs the key vectors; add it"),
        (['[plot]\nkind = "drift"\n'], "needs the key source; add it; --help calls it MODEL|JSON"),
        ([COUNT.format(3), "[drift]\n"], "x.toml [drift]: model: no such model; train one with"),
        (
            [COUNT.format(3), '[plot]\nkind = "imputation"\n'],
            "x.toml [plot]: vectors.imputed.bin: no such file or directory; make it in an earlier",
        ),
        (
            [COUNT.format(3), '[train]\nmetod = "gbu"\n'],
            "x.toml [train]: unknown key 'metod'; did you mean method?",
        ),
        (
            ['[plot]\nkind = "drift"\nsource = "m"\nwrods = "a"\n'],
            "x.toml [plot]: unknown key 'wrods'; did you mean words?",
        ),
        (['[compare]\ndim = "many"\n'], "[compare]: --dim must be a number, not 'many'"),
        (['[compare]\nmarkdown = 1\n'], "[compare]: --markdown must be true or false, not 1"),
        (['[compare]\nagianst = 1\n'], "[compare]: unknown key 'agianst'; did you mean against?"),
        (["[[train]]\n[train]\n"], "double brackets: [[train]]"),
        (["[train]\ndim = 1\n[train]\ndim = 2\n"], "double brackets: [[train]]"),
        (["train = []\n"], "x.toml: has no table"),
        (["train = [1, {}]\n"], "x.toml [[train]] 1: is not a table but 1"),
        (['[trian]\nmethod = "gbu"\n'], "x.toml: unknown table [trian]; did you mean train?"),
    ],
)  # fmt: skip
def test_a_mistake_is_named_with_its_table_before_anything_runs(run, folder, tables, say):
    before = sorted(folder.rglob("*"))
    answer = run(*tables)
    assert answer.status in (1, 2)
    assert answer.out == ""
    assert say in answer.err
    assert answer.err.count("\n") == 1, answer.err
    assert sorted(folder.rglob("*")) == sorted([*before, folder / "x.toml"])


def test_a_file_in_another_encoding_is_refused(ask, folder):
    Path("x.toml").write_bytes('[train]\nmethod = "gbu"  # métier\n'.encode("latin-1"))
    err = ask("run", "x.toml").err
    assert err == "wordgeom: error: x.toml: is not UTF-8 (byte 0xe9 at 27); save it as UTF-8\n"


def test_a_single_command_takes_a_single_table(ask, run, folder):
    made(run(COUNT.format(3), TRAIN.format("gbu", 4, "a.bin"), TRAIN.format("gbu", 5, "b.bin")))
    assert ask("build-cooc", "--config", "x.toml").out == "c: up to date\n"
    answer = ask("train", "--config", "x.toml")
    assert "x.toml: has 2 tables [[train]]; --config takes one; use wordgeom run" in answer.err


def test_paths_are_relative_to_the_current_directory(ask, folder):
    Path("configs").mkdir()
    Path("configs/x.toml").write_text(COUNT.format(3))
    assert made(ask("run", "configs/x.toml")) == {"c": False}
    Path("configs/x.toml").write_text(COUNT.format(4))
    assert made(ask("run", "configs/../configs/x.toml")) == {"c": False}  # the same file


@pytest.mark.parametrize("counts", ["", COUNT.format(3)])
def test_compare_takes_document_counts_too(run, folder, counts):
    documents = '[build-dtm]\ncorpus = ["corpus.txt"]\nmin-count = 2\nout = "d"\n'
    methods = "gbu,lsa" if counts else "lsa"
    table = f'[compare]\nmethods = "{methods}"\ndim = 4\nsets = "pairs.tsv"\nresamples = 0\n'
    answer = run(counts, documents, table)
    assert answer.status == 0, answer.err
    rows = [line.split()[0] for line in answer.out.splitlines() if line[:3] in ("gbu", "lsa")]
    assert set(methods.split(",")) <= set(rows)
    if counts:
        named = run(counts, documents, f'{table}matrix = ["c", "d"]\n')
        assert named.status == 0, named.err


def test_compare_takes_counts_that_exist_beside_document_counts(run, folder):
    count = COUNT.format(3).replace('"c"', '"cooc"')
    assert run(count).status == 0
    documents = '[build-dtm]\ncorpus = ["corpus.txt"]\nmin-count = 2\nout = "d"\n'
    answer = run(documents, '[compare]\nmethods = "gbu"\ndim = 4\nsets = "pairs.tsv"\n')
    assert answer.status == 0, answer.err


@pytest.mark.parametrize("name", ["gbu", "dc"])
def test_a_configuration_of_the_defaults_makes_the_same_request_as_the_defaults(name):
    table = tomllib.loads((CONFIGS / f"{name}.toml").read_text())["train"]
    assert "these are the defaults" in (CONFIGS / f"{name}.toml").read_text()
    options = load(name).Options
    values = {key.replace("-", "_"): value for key, value in table.items()}
    assert options.take(values).result_options() == options().result_options()
