"""What a newcomer sees first: small modules with names of their own, each saying what it is."""

from __future__ import annotations

import ast
import json

from tests.architecture.source import MODULES, PACKAGE, PROGRAMS

LONGEST_MODULE = 450
LONGER_FOR_A_REASON: dict[str, str] = {}  # module: why it is one idea all the same
FACADES = {"testing/contract/store.py", "llm/__init__.py"}  # for third parties
NAMELESS = {"utils", "util", "helpers", "helper", "common", "manager", "base", "misc"}
SNEAKY = {"exec", "eval", "pickle.loads", "pickle.load", "marshal.loads", "__import__"}


def test_no_module_is_longer_than_one_idea_needs() -> None:
    long = {
        module.name: len(module.source.splitlines())
        for module in MODULES
        if len(module.source.splitlines()) > LONGEST_MODULE
    }

    assert set(long) == set(LONGER_FOR_A_REASON), long


def test_every_module_says_in_its_first_line_what_it_is() -> None:
    silent = [module.name for module in MODULES if not ast.get_docstring(module.tree)]

    assert not silent


def test_nothing_is_called_utils() -> None:
    found = [
        path.relative_to(PACKAGE).as_posix()
        for path in PACKAGE.rglob("*")
        if path.stem in NAMELESS and "static" not in path.parts
    ]

    assert not found


def test_nothing_keeps_a_list_of_what_it_exports() -> None:
    found = [
        module.at(node)
        for module in MODULES
        for node in ast.walk(module.tree)
        if module.name not in FACADES
        and isinstance(node, ast.Assign)
        and any(isinstance(target, ast.Name) and target.id == "__all__" for target in node.targets)
    ]

    assert not found


def test_no_code_comes_from_data() -> None:
    found = [
        module.at(call)
        for module in MODULES
        if module.name not in PROGRAMS
        for name, call in module.calls()
        if name in SNEAKY
    ]

    assert not found


def test_every_todo_has_an_issue() -> None:
    marks = ("TODO", "FIXME", "XXX")
    found = [
        f"{module.name}: {line.strip()}"
        for module in MODULES
        for line in module.source.splitlines()
        if any(f"# {mark}" in line for mark in marks) and "#" not in line.partition("# ")[2]
    ]

    assert not found


def test_locale_files_are_sorted_so_that_two_people_can_add_to_them() -> None:
    wrong = []
    for path in sorted((PACKAGE / "locales").rglob("*.json")):
        text = path.read_text("utf-8")
        read = json.loads(text)
        tidy = json.dumps(dict(sorted(read.items())), indent=2, ensure_ascii=False)
        if text.rstrip("\n") != tidy:
            wrong.append(path.relative_to(PACKAGE).as_posix())

    assert not wrong
