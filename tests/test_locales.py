"""Every text that a person reads is there in every language, and none lies about unused.

Uses are found in the source: keys written out, keys with holes (`f"cli.head.{name}"`), the codes of
errors where they are raised, and the strings of the page.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from teahouse.config import keys
from teahouse.core import i18n

ROOT = Path(__file__).resolve().parent.parent
PACKAGE, PAGE = ROOT / "src" / "teahouse", ROOT / "web" / "src"
FOLDER = PACKAGE / "locales"
HOLE = re.compile(r"\{\{?(\w+)\}?\}")
CHINESE: tuple[i18n.Language, ...] = ("zh-CN", "zh-HK")
PLURALS = ("_zero", "_one", "_two", "_few", "_many", "_other")
SIMPLIFIED = "们这个来时说对话设应开关语务号义书见问发现"  # none of these is written in Hong Kong
EVERY = [(language, area) for language in i18n.LANGUAGES for area in i18n.AREAS]


def words(language: str, area: str) -> dict[str, str]:
    return json.loads((FOLDER / language / f"{area}.json").read_text(encoding="utf-8"))


@cache
def trees() -> tuple[ast.Module, ...]:
    return tuple(ast.parse(path.read_text(encoding="utf-8")) for path in PACKAGE.rglob("*.py"))


def nodes() -> Iterator[ast.AST]:
    for tree in trees():
        yield from ast.walk(tree)


@cache
def constants() -> frozenset[str]:
    """Every string of the Python source that is no docstring's sentence."""
    return frozenset(
        node.value
        for node in nodes()
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    )


@cache
def patterns() -> tuple[re.Pattern[str], ...]:
    """Keys that are put together: `f"cli.head.{name}"` matches `cli.head.NAME`."""
    found: set[str] = set()
    for node in nodes():
        if isinstance(node, ast.JoinedStr) and isinstance(node.values[0], ast.Constant):
            begin = str(node.values[0].value)
            known = "." in begin and begin.partition(".")[0] in i18n.AREAS
            if known or re.fullmatch(r"(?:[a-z]+_)+", begin):  # the code of an error
                found.add(
                    "".join(
                        re.escape(str(part.value)) if isinstance(part, ast.Constant) else "(.+)"
                        for part in node.values
                    )
                )
    return tuple(re.compile(pattern) for pattern in found)


def is_used(key: str) -> bool:
    """A key with holes counts when what fills them is itself written somewhere."""
    if key in constants() or key in settings():
        return True
    for pattern in patterns():
        match = pattern.fullmatch(key)
        if match:
            pieces = [piece for group in match.groups() for piece in group.split(".")]
            if all(piece in constants() for piece in pieces):
                return True
    return False


@cache
def settings() -> frozenset[str]:
    """What each setting is for: the reference is made of these."""
    return frozenset(f"cli.setting.{keys.dotted(key)}" for key, _, _ in keys.reference())


@cache
def error_classes() -> frozenset[str]:
    found = {"TeahouseError"}
    classes = [node for node in nodes() if isinstance(node, ast.ClassDef)]
    for _ in range(6):  # deeper than any tree of errors
        found |= {
            one.name
            for one in classes
            if any(isinstance(base, ast.Name) and base.id in found for base in one.bases)
        }
    return frozenset(found)


@cache
def without_code() -> frozenset[str]:
    """Those whose first argument is no code: they have one as their `name`, or none."""
    named = {
        node.name
        for node in nodes()
        if isinstance(node, ast.ClassDef)
        if any(
            isinstance(target, ast.Name) and target.id == "name"
            for line in node.body
            if isinstance(line, ast.Assign)
            for target in line.targets
        )
    }
    return frozenset(named | {"ToolFailed"})


@cache
def codes() -> frozenset[str]:
    """The codes with which errors are raised."""
    found: set[str] = set()
    for node in nodes():
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name | ast.Attribute):
            name = node.func.id if isinstance(node.func, ast.Name) else node.func.attr
            if name in error_classes() - without_code() and node.args:
                first = node.args[0]
                choices = [first.body, first.orelse] if isinstance(first, ast.IfExp) else [first]
                found |= {
                    str(one.value)
                    for one in choices
                    if isinstance(one, ast.Constant) and re.fullmatch(r"[a-z_]+", str(one.value))
                }
        if isinstance(node, ast.ClassDef) and node.name in error_classes():
            found |= {
                str(line.value.value)
                for line in node.body
                if isinstance(line, ast.Assign) and isinstance(line.value, ast.Constant)
                if isinstance(line.value.value, str)
            }
    return frozenset(found)


@cache
def page_source() -> str:
    files = [path for path in PAGE.rglob("*.ts*") if ".test." not in path.name]
    return "\n".join(path.read_text(encoding="utf-8") for path in files)


@cache
def page_strings() -> frozenset[str]:
    return frozenset(re.findall(r"""["'`]([\w.-]+)["'`]""", page_source()))


def test_the_source_is_found() -> None:
    assert len(trees()) > 50
    assert len(codes()) > 50
    assert len(patterns()) > 3
    assert "shell.settings" in page_strings()
    assert is_used("cli.head.name")
    assert not is_used("cli.head.nobody")


@pytest.mark.parametrize(("language", "area"), EVERY)
def test_every_language_has_the_same_texts_with_the_same_holes(
    language: i18n.Language, area: str
) -> None:
    ours, english = words(language, area), words(i18n.DEFAULT, area)

    assert ours.keys() == english.keys()
    for key, text in ours.items():
        assert text.strip(), key
        assert set(HOLE.findall(text)) == set(HOLE.findall(english[key])), key


@pytest.mark.parametrize(("language", "area"), EVERY)
def test_a_file_is_sorted_so_that_changes_are_easy_to_read(
    language: i18n.Language, area: str
) -> None:
    text = (FOLDER / language / f"{area}.json").read_text(encoding="utf-8")

    assert text == json.dumps(json.loads(text), indent=2, ensure_ascii=False, sort_keys=True) + "\n"


@pytest.mark.parametrize("area", ["cli", "prompts"])
def test_no_text_is_unused(area: str) -> None:
    unused = [key for key in words(i18n.DEFAULT, area) if not is_used(f"{area}.{key}")]

    assert not unused


@pytest.mark.parametrize("area", ["cli", "prompts", "errors"])
def test_no_text_is_missing(area: str) -> None:
    known = {f"{area}.{key}" for key in words(i18n.DEFAULT, area)}
    written = {one for one in constants() if re.fullmatch(rf"{area}\.[a-z][\w.]*\w", one)}

    assert not written - known


def test_every_error_has_words() -> None:
    assert not codes() - words(i18n.DEFAULT, "errors").keys()


def test_no_words_of_an_error_are_unused() -> None:
    known = words(i18n.DEFAULT, "errors")
    unused = [
        key
        for key in known
        if not (is_used(key.removesuffix(".hint")) or key.removesuffix(".hint") in page_strings())
        or key.removesuffix(".hint") not in known
    ]

    assert not unused


def test_no_text_of_the_page_is_missing() -> None:
    known = set(words(i18n.DEFAULT, "page"))
    known |= {key.removesuffix(end) for key in known for end in PLURALS if key.endswith(end)}
    used = set(re.findall(r"""\bt\(\s*["']([\w.-]+)["']""", page_source()))

    assert used
    assert not used - known


def test_no_text_of_the_page_is_unused() -> None:
    unused = [
        key
        for key in words(i18n.DEFAULT, "page")
        if key not in page_strings()
        and not any(key.endswith(end) and key[: -len(end)] in page_strings() for end in PLURALS)
    ]

    assert not unused


@pytest.mark.parametrize(
    ("language", "area"), [(one, area) for one in CHINESE for area in i18n.AREAS]
)
def test_chinese_is_plain_and_well_set(language: i18n.Language, area: str) -> None:
    """你, no exclamation marks, full-width punctuation, a space between Chinese and Latin."""
    for key, text in words(language, area).items():
        plain = HOLE.sub("", text)
        assert "您" not in text, key
        assert "！" not in text, key
        assert not re.search(r"[一-鿿][,;!?](?:\s|$|[一-鿿])", plain), key
        if area in {"cli", "errors"}:
            assert not re.search(r"[一-鿿][A-Za-z]|[A-Za-z][一-鿿]", plain), key


def test_hong_kong_does_not_read_like_the_mainland() -> None:
    for area in i18n.AREAS:
        for key, text in words("zh-HK", area).items():
            assert not set(SIMPLIFIED) & set(text), key
