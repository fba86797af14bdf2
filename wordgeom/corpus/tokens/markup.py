"""Tags, entities and emphasis: how they are recognised, and text without them.

A tag is `<name>`, `</name>` or `<name attribute=value …>`, without < or > inside, a comment, or the
line `<doc id=…>` of WikiExtractor. What has another form, as `a < b`, is text. Tags that a browser
shows within a word, such as `<b>`, are removed; others become a space. Then entities such as
`&amp;` become the characters that they stand for. Text whose entities stand for tags or entities is
treated again. Emphasis is `_` at the start or the end of a word.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from unicodedata import category

from wordgeom.corpus.inputs.readers import Block

NONE, TAGS, EMPHASIS, ALL = "none", "tags", "emphasis", "all"
_LONGEST = 1 << 16  # bytes from which a tag can be made
_DOC = b"<doc id="
_MOST = 1000  # characters of a tag, and of a value in it
_ROUNDS = 3  # of entities within entities, as &amp;amp;lt;
_WITHIN_WORDS = frozenset(
    re.findall(
        r"\w+",
        "a abbr acronym b bdi bdo big cite code del dfn em font i ins kbd mark q s samp small span"
        " strike strong sub sup tt u var wbr",
    )
)
_ATTRIBUTE = (
    r"\s{1,9}+[\w:.@-]{1,60}+\s{0,9}+=\s{0,9}+"
    r"""(?:"[^"<>]{0,900}+"|'[^'<>]{0,900}+'|[^\s"'<>=]{1,900}+)"""
)
_SWITCH = (  # attributes without a value
    r"\s{1,9}+(?:async|checked|compact|controls|defer|disabled|hidden|loop|multiple|muted"
    r"|noshade|nowrap|open|readonly|required|reversed|selected)\b(?!=)"
)
_TAG = re.compile(
    r"""<doc id="[^"<>\n]{0,40}+"(?: \w+="[^"<>\n]{0,400}+"){0,5} title="(?:(?!">)[^\n]){0,500}">"""
    r"|<!--[^<>]{0,900}-->|<!DOCTYPE[^<>]{0,200}>|<\?xml[^<>]{0,200}\?>"
    rf"|</?(?P<name>[A-Za-z][\w:.-]{{0,60}}+)(?:{_ATTRIBUTE}|{_SWITCH}){{0,30}}+\s{{0,9}}+/?>"
)
_ENTITY = re.compile(r"&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")
_JOINING = ("Mn", "Mc", "Me", "Pc", "Cf")  # categories within words, beside letters and digits
_BLANK_LINE = re.compile(r"\n\s*\n")
_UNDERSCORES = re.compile("_+")
_OPENS = re.compile(rb"<(?![\s\d=<>-])|&(?:amp;)*(?:lt|LT|#0*60|#[xX]0*3[cC]);")
_CLOSES = re.compile(rb">|&(?:amp;)*(?:gt|GT|#0*62|#[xX]0*3[eE]);")


def stripper(what: str, *, lines: bool) -> Callable[[str], str] | None:
    """Return what removes tags, emphasis or all from a text, None for none.

    lines: lines are documents, which no tag crosses. The number of line feeds stays the same.
    """
    if what == NONE:
        return None

    def strip(text: str) -> str:
        if what in (TAGS, ALL):
            text = _without_tags(text, lines)
        return _without_emphasis(text) if what in (EMPHASIS, ALL) else text

    return strip


def _without_tags(text: str, lines: bool) -> str:
    for _ in range(_ROUNDS):
        if "<" in text:
            text = _TAG.sub(lambda tag: _in_place_of(tag, lines), text)
        if "&" not in text:
            return text
        text, entities = _ENTITY.subn(_character, text)
        if not entities:
            return text
    return text


def _in_place_of(tag: re.Match[str], lines: bool) -> str:
    feeds = tag[0].count("\n")
    if len(tag[0]) > _MOST or (feeds and (lines or _BLANK_LINE.search(tag[0]))):
        return tag[0]
    between = "" if (tag["name"] or "").lower() in _WITHIN_WORDS else " "
    return "\n" * feeds or between


def _character(entity: re.Match[str]) -> str:
    char = html.unescape(entity[0])
    return " " if char.isspace() else char


def _without_emphasis(text: str) -> str:
    def inside(run: re.Match[str]) -> str:
        begin, end = run.span()
        before, after = text[max(begin - 1, 0) : begin], text[end : end + 1]
        return run[0] if _is_word(before) and _is_word(after) else ""

    return _UNDERSCORES.sub(inside, text)


def _is_word(char: str) -> bool:
    return char.isalnum() or (char != "" and ord(char) >= 128 and category(char) in _JOINING)


def whole_tags(blocks: Iterator[Block], separators: bytes) -> Iterator[Block]:
    """Yield blocks that end at a separator with the ends moved so that none is within a tag."""
    rest = b""
    for block in blocks:
        text = rest + block.text
        end = len(text) if block.last else _end_of_tags(text, separators)
        offset = block.offset - len(rest)
        rest = text[end:]
        if end or block.last:
            part = text[:end]
            yield replace(block, text=part, offset=offset, ascii=part.isascii())


def _end_of_tags(text: bytes, separators: bytes) -> int:
    """Return the last place behind a separator that no tag can cross, 0 if there is none."""
    end = len(text)
    opens = [found.start() for found in _OPENS.finditer(text, max(0, end - _LONGEST))]
    for at in reversed(opens):
        closed = _CLOSES.search(text, at + 1, end) is not None
        if closed and text.startswith(_DOC, at):  # its title may contain < and >
            closed = text.find(b'">', at, end) >= 0 or text.find(b"\n", at, end) >= 0
        if at < end and not closed:
            end = max(text.rfind(byte, 0, at) for byte in separators) + 1
    return end
