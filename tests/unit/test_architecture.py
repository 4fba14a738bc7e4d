"""The code follows docs/architecture.md.

Packages import each other in one direction only, a single module starts programs, and modules stay small.
"""

import ast
import re
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

from poolproof.errors import EXTRAS
from poolproof.layers.layer_catalogue import all_layers
from poolproof.rules.rule_catalogue import RETIRED, all_rules

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "poolproof"
MODULES = {path: ast.parse(path.read_text(encoding="utf-8")) for path in sorted(PACKAGE.rglob("*.py"))}
LONGEST_LINES = 400
DRAWERS = {"utils", "util", "helpers", "helper", "common", "misc", "supporting"}
MAY_PRINT = {"cli", "presentation"}
STARTERS = re.compile(r"system|popen|fork|forkpty|exec[lv]p?e?|spawn[lv]p?e?|posix_spawnp?|startfile")
STARTING_MODULES = {"subprocess", "multiprocessing", "pty", "asyncio"}
OF_AN_EXTRA = {"poolproof.presentation.live.server", "poolproof.presentation.live.access"}
OTHER_WORDS = {
    ("foreign", "smr"),  # a kind of disk
    ("stopping", "few-samples"),  # a reason why a trial is imprecise
    ("cli", "zfs"),  # a public key of `lab list --json`
    ("layers", "degraded"),  # an attribute of an md array in sysfs
    ("devices", "lvm"),  # a type of device, as lsblk prints it
}
BESIDE_THE_PACKAGE = {"nbdkit"}  # what nbdkit itself gives to its plugin


def _module_name(path: Path) -> str:
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


NAMES = {_module_name(path): path for path in MODULES}


def _imported(path: Path) -> Iterator[str]:
    """Yield every module that the file imports, including imports inside functions and imports for type annotations."""
    for node in ast.walk(MODULES[path]):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            assert node.level == 0, f"{path}: a relative import"
            inner = [f"{node.module}.{alias.name}" for alias in node.names]
            yield from (name if name in NAMES else node.module for name in inner)


def _room(module: str) -> str:
    return module.split(".")[1] if "." in module else ""


def _allowed() -> dict[str, set[str]]:
    """Return the table of packages in docs/architecture.md, as the packages that each package may import."""
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(\w+)` \| [^|]+ \|([^|]*)\|$", text, re.MULTILINE)
    return {room: {name.strip() for name in names.split(",") if name.strip()} for room, names in rows}


def _own_imports() -> Iterator[tuple[str, str]]:
    for name, path in NAMES.items():
        yield from ((name, imported) for imported in _imported(path) if imported.split(".")[0] == "poolproof")


def test_every_room_has_its_row_and_every_row_its_room() -> None:
    code = [path for path in PACKAGE.iterdir() if path.is_dir() or path.suffix == ".py"]
    rooms = {path.name.removesuffix(".py") for path in code if not path.name.startswith("_")}
    assert set(_allowed()) == rooms


def test_a_row_names_only_rows_above_it() -> None:
    seen: set[str] = set()
    for room, names in _allowed().items():
        assert names <= seen, f"{room} may import {names - seen}, which stand below it"
        seen.add(room)


def test_rooms_import_one_way() -> None:
    allowed = _allowed()
    wrong = [
        f"{module} imports {imported}"
        for module, imported in _own_imports()
        if _room(module) and _room(imported) not in {_room(module), *allowed[_room(module)]}
    ]
    assert not wrong


def test_folders_of_audit_and_lint_import_one_way() -> None:
    folders = [path for path in (PACKAGE / "foreign").glob("*/*/") if (path / "__init__.py").exists()]
    places = {_module_name(folder / "__init__.py") for folder in folders}
    ties = {(_folder(module, places), _folder(imported, places)) for module, imported in _own_imports()}
    between = {(upper, lower) for upper, lower in ties if upper and lower and upper != lower}
    assert ("poolproof.foreign.audit.formats", "poolproof.foreign.audit.tables") in between
    assert not {(upper, lower) for upper, lower in between if (lower, upper) in between}


def _folder(module: str, places: set[str]) -> str | None:
    return next((place for place in places if module == place or module.startswith(f"{place}.")), None)


def test_no_circle_of_imports_between_modules() -> None:
    open_: list[str] = []
    done: set[str] = set()
    graph: dict[str, set[str]] = {name: set() for name in NAMES}
    for module, imported in _own_imports():
        graph[module].add(imported)

    def visit(module: str) -> None:
        assert module not in open_, " -> ".join([*open_[open_.index(module) :], module])
        if module in done:
            return
        open_.append(module)
        for imported in sorted(graph[module] & set(NAMES)):
            visit(imported)
        done.add(open_.pop())

    for name in NAMES:
        visit(name)


def test_only_the_gate_starts_programs() -> None:
    wrong = []
    for path, tree in MODULES.items():
        if path == PACKAGE / "process.py":
            continue
        wrong += [f"{path}: {name}" for name in _imported(path) if name.split(".")[0] in STARTING_MODULES]
        wrong += [
            f"{path}:{node.lineno}: os.{node.attr}"
            for node in ast.walk(tree)
            if isinstance(node, ast.Attribute)
            and isinstance(node.value, ast.Name)
            and node.value.id == "os"
            and STARTERS.fullmatch(node.attr)
        ]
        wrong += [
            f"{path}:{node.lineno}: from os import {alias.name}"
            for node in ast.walk(tree)
            if isinstance(node, ast.ImportFrom) and node.module == "os"
            for alias in node.names
            if STARTERS.fullmatch(alias.name)
        ]
    assert not wrong


def test_no_module_is_a_drawer_for_everything() -> None:
    assert not [path for path in MODULES if {path.stem, *path.relative_to(PACKAGE).parts} & DRAWERS]


def test_a_class_name_has_one_meaning() -> None:
    """This is true even if one of the classes is private, because a search for `Run` also finds `_Run`."""
    places: dict[str, list[str]] = {}
    for path, tree in MODULES.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                places.setdefault(node.name.lstrip("_"), []).append(f"{path}:{node.lineno}")
    assert not {name: found for name, found in places.items() if len(found) > 1}


def test_a_module_name_has_one_meaning() -> None:
    stems = Counter(path.stem for path in MODULES if path.stem != "__init__")
    assert {stem for stem, count in stems.items() if count > 1} <= SAME_IN_EACH_PACKAGE


SAME_IN_EACH_PACKAGE = {
    "model", "base", "plan", "check", "sources",  # the values, the interface, the plan, the check or the texts of each
    "zfs", "file", "directory", "option_values", "other_work", "generator", "logs",  # one technology or program
    "limit", "shares", "sections", "presets", "report",  # a value and how it is shown, a command and what it prints
}  # fmt: skip
"""Names that several packages use for the same thing."""


def test_no_module_is_too_long() -> None:
    lengths = {str(path): len(path.read_text(encoding="utf-8").splitlines()) for path in MODULES}
    assert not {path: lines for path, lines in lengths.items() if lines > LONGEST_LINES}


@pytest.mark.parametrize("name", NAMES)
def test_a_module_says_what_it_holds(name: str) -> None:
    assert ast.get_docstring(MODULES[NAMES[name]]), f"{NAMES[name]} has no docstring"


def test_printing_is_for_the_rooms_that_talk_to_people() -> None:
    wrong = [
        f"{path}:{node.lineno}"
        for path, tree in MODULES.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and (
            node.func.id in {"breakpoint", "pprint"}
            or (node.func.id == "print" and path.relative_to(PACKAGE).parts[0] not in MAY_PRINT)
        )
    ]
    assert not wrong


def test_digits_are_tested_with_isdecimal() -> None:
    """`"²".isdigit()` is true, although int() can't parse the character."""
    wrong = [
        f"{path}:{node.lineno}"
        for path, tree in MODULES.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and node.attr == "isdigit"
    ]
    assert not wrong


def test_rules_are_named_only_in_their_files() -> None:
    ids = {each.id for each in all_rules()} | set(RETIRED)
    wrong = [
        f"{path}:{node.lineno}: {node.value}"
        for path, tree in MODULES.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value in ids
        if (_room(_module_name(path)), node.value) not in {("rules", node.value), *OTHER_WORDS}
    ]
    assert not wrong


def test_technologies_are_named_only_where_they_are_known() -> None:
    """They may be named in their layers, in rules about them, and in `foreign`, which parses other people's texts."""
    words = {name for layer in all_layers().values() for name in (layer.word, layer.file_system)} - {"file", "dir"}
    wrong = [
        f"{path}:{node.lineno}: {node.value}"
        for path, tree in MODULES.items()
        for node in ast.walk(tree)
        if _room(_module_name(path)) not in {"layers", "rules", "foreign"}
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value in words
        if (_room(_module_name(path)), node.value) not in OTHER_WORDS
    ]
    assert not wrong


def _declared(lines: list[str]) -> set[str]:
    return {re.split(r"[<>=!~\[ ]", line)[0] for line in lines}


def test_the_declared_dependencies_are_those_that_the_code_imports() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    assert set(EXTRAS) == set(extras) - {"dev"}
    imported = {name.split(".")[0] for path in MODULES for name in _imported(path)}
    others = imported - set(sys.stdlib_module_names) - {"poolproof"} - BESIDE_THE_PACKAGE
    for extra, modules in EXTRAS.items():
        assert {_distribution(name) for name in modules} == _declared(extras[extra])
        assert set(modules) <= others
        others -= set(modules)
    assert {_distribution(name) for name in others} == _declared(project["dependencies"])


def _imported_at_top(path: Path) -> Iterator[str]:
    """Yield the modules that are imported when the file is imported, except those only for type checking."""
    for node in MODULES[path].body:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            inner = [f"{node.module}.{alias.name}" for alias in node.names]
            yield from (name if name in NAMES else node.module for name in inner)


def test_an_extra_is_imported_only_inside_functions() -> None:
    """The exception is the web server's own modules, which all other code imports only inside functions."""
    modules = {module for names in EXTRAS.values() for module in names}
    for name, path in NAMES.items():
        top = set(_imported_at_top(path))
        if name not in OF_AN_EXTRA:
            assert not {imported for imported in top if imported.split(".")[0] in modules}, name
            assert not top & OF_AN_EXTRA, name


def _distribution(module: str) -> str:
    """Return the name of the distribution that contains a module. For example, `vl_convert` is in vl-convert-python."""
    return packages_distributions()[module][0].lower()
