"""Text without spaces between words gets one note; segmented text gets none."""

from __future__ import annotations

import pytest

from wordgeom.cli import main

CHINESE = "我喜欢北京的秋天和冬天。你们是不是也喜欢北京的秋天和冬天呢。"
SEGMENTED = "我 喜欢 北京 的 秋天 和 冬天 。 你们 是不是 也 喜欢 北京 的 秋天 。"
THAI = "ฉันรักภาษาไทยและประเทศไทยมากที่สุดในโลก"
THAI_WORDS = "ฉัน รัก ภาษาไทย และ ประเทศไทย มาก ที่สุด ใน โลก"
JAPANESE = "吾輩は猫である。名前はまだ無い。どこで生れたかとんと見当がつかぬ。"
ENGLISH = "The old man of 北京 and the sea went to the 図書館 again and again and again"


def notes(tmp_path, capsys, content, *options):
    (tmp_path / "text.txt").write_bytes(content)
    line = ["build-dtm", str(tmp_path / "text.txt"), "-o", str(tmp_path / "out")]
    assert main([*line, "--min-count", "1", "--force", *options]) == 0
    return capsys.readouterr().err


@pytest.mark.parametrize("text", [CHINESE, THAI, JAPANESE])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_text_without_spaces_gets_a_note(tmp_path, capsys, text, end):
    err = notes(tmp_path, capsys, b"\xef\xbb\xbf" + f"{text}{end}".encode() * 30)
    assert "looks like text without spaces between words; segment it first (docs/guide" in err
    assert err.count("note:") == 1


@pytest.mark.parametrize("text", [SEGMENTED, THAI_WORDS, ENGLISH])
def test_text_with_spaces_gets_none(tmp_path, capsys, text):
    assert "without spaces" not in notes(tmp_path, capsys, f"{text}\n".encode() * 30)


def test_a_pattern_that_cuts_characters_needs_no_segments(tmp_path, capsys):
    err = notes(tmp_path, capsys, f"{CHINESE}\n".encode() * 30, "--token-pattern", r"\w")
    assert "without spaces" not in err


def test_the_note_replaces_that_on_short_windows(tmp_path, capsys):
    (tmp_path / "text.txt").write_text(f"{CHINESE}\n" * 30)
    line = ["build-cooc", str(tmp_path / "text.txt"), "-o", str(tmp_path / "out")]
    assert main([*line, "--min-count", "1"]) == 0
    err = capsys.readouterr().err
    assert "without spaces" in err
    assert "shorter than two windows" not in err
