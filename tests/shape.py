"""Counts what is counted of this code's shape: how many places, ways and hops there are. `make lint` prints it.

    python -m tests.shape [--list ROW]

`--list ROW` names what the rows whose text contains ROW count. Two more count what runs: `pytest -s tests/traces.py`.
The figures are looked at, and no limit is set: a change that improves one and reads worse is undone.
"""

import argparse
import ast
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from functools import cache

import grimp

from tests import ROOT

PACKAGES = ("contacts_project", "accounts", "people", "relationships", "carddav", "dav", "notifications")
VERBS = (
    *("save", "update", "update_quietly", "mark_changed", "bulk_create", "bulk_update", "update_where", "update_row"),
    *("update_columns", "insert_rows", "delete_rows", "CompiledUpdate", "FeedUpdate", "delete"),
)
#: Who spells three of them says again what the fields of an important date are.
DATE_FIELDS = (
    *("year_unknown", "reminder_enabled", "reminder_type", "reminder_interval", "reminder_interval_unit"),
    *("reminder_lead_days", "extra_lead_days"),
)
SHORT_BODY = 4


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--list", metavar="ROW", default="", help="name what these rows count")
    options = parser.parse_args(arguments)
    for name, found, of in rows():
        share = f" of {of} ({len(found) / of:.1%})" if of else ""
        print(f"{len(found):6} {name}{share}")
        if options.list and options.list in name:
            print("".join(f"         {line}\n" for line in sorted(found)), end="")
    return 0


def rows() -> Iterator[tuple[str, list[str], int]]:
    """The rows of the table: a name, what is counted, and how many there are of its kind, or 0."""
    yield "files that spell an important date's fields", files_that_spell_dates(), 0
    yield "verbs that write a row", verbs(), 0
    yield "imports of kernel.api from outside any api/", imports_of_the_api(), 0
    hops, functions = short_private_functions()
    yield f"private functions used once, with at most {SHORT_BODY} lines", hops, functions
    yield "modules read by one module of the same package only", modules_of_one_reader(), len(trees())
    yield "files that hold models", files_with_models(), 0
    yield "migrations", migrations(), 0
    loose, signatures = signatures_with_any()
    yield "signatures with Any", loose, signatures
    yield "signatures whose Any is in a name such as JsonObject", signatures_with_names_of_any(), signatures
    yield "tracked files", tracked_files(), 0
    yield "tracked files of Python, without tests", [name for name in trees() if name], 0


@cache
def trees() -> dict[str, ast.Module]:
    """The syntax trees of the project's own files by path, without migrations and tests."""
    paths = [path for path in tracked_files() if path.endswith(".py") and path.split("/")[0] in PACKAGES]
    return {path: ast.parse((ROOT / path).read_text()) for path in paths if "/migrations/" not in path}


@cache
def tracked_files() -> list[str]:
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    return [path for path in listed.splitlines() if (ROOT / path).exists()]


@cache
def nodes_of(tree: ast.Module) -> list[ast.AST]:
    """All nodes of the tree. Walking all trees takes a second, and most rows need it."""
    return list(ast.walk(tree))


@cache
def words_of(tree: ast.Module) -> Counter[str]:
    """How often each name, attribute, keyword and short string occurs."""
    found: Counter[str] = Counter()
    for node in nodes_of(tree):
        match node:
            case ast.Name(id=word) | ast.Attribute(attr=word) | ast.keyword(arg=str(word)):
                found[word] += 1
            case ast.Constant(value=str(word)) if word.isidentifier():
                found[word] += 1
            case ast.alias(name=word):
                found[word] += 1
            case _:
                pass
    return found


def files_that_spell_dates() -> list[str]:
    found = []
    for path, tree in trees().items():
        words = {re.sub(r"(?<=[a-z])([A-Z])", r"_\1", word).lower() for word in words_of(tree)}
        if len(words.intersection(DATE_FIELDS)) >= 3:
            found.append(path)
    return found


def verbs() -> list[str]:
    """Those of VERBS that the project itself defines or calls on a row, a queryset or a manager."""
    used = {verb: sum(words_of(tree)[verb] for tree in trees().values()) for verb in VERBS}
    return [f"{verb}: {used[verb]}" for verb in VERBS if used[verb]]


def imports_of_the_api() -> list[str]:
    found = []
    for path, tree in trees().items():
        if "/api/" in path:
            continue
        for node in nodes_of(tree):
            names = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            names += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            found += [f"{path}: {name}" for name in names if name.startswith("contacts_project.kernel.api")]
    return found


def short_private_functions() -> tuple[list[str], int]:
    """Private functions and methods that their file uses once; and the number of all functions."""
    found, total = [], 0
    for path, tree in trees().items():
        words = words_of(tree)
        for function in functions_of(tree):
            total += 1
            name = function.name
            is_private = name.startswith("_") and not name.startswith("__") and not function.decorator_list
            if is_private and words[name] == 1 and lines_of_body(function) <= SHORT_BODY:
                found.append(f"{path}:{function.lineno} {name}")
    return found, total


def functions_of(tree: ast.Module) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in nodes_of(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def lines_of_body(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """The lines of the body without the docstring."""
    body = function.body
    is_docstring = isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant)
    statements = body[1:] if is_docstring else body
    return (statements[-1].end_lineno or 0) - statements[0].lineno + 1 if statements else 0


def modules_of_one_reader() -> list[str]:
    graph = grimp.build_graph(*PACKAGES, cache_dir=None)
    found = []
    for module in graph.modules:
        readers = graph.find_modules_that_directly_import(module)
        if graph.find_children(module) or ".migrations" in module or len(readers) != 1:
            continue
        (reader,) = readers
        if reader.rpartition(".")[0] == module.rpartition(".")[0]:
            found.append(f"{module} (by {reader.rpartition('.')[2]})")
    return found


def files_with_models() -> list[str]:
    """Files with a class that derives from Django's Model, directly or through classes of the project."""
    classes = [
        (path, node.name, {ast.unparse(base).partition("[")[0] for base in node.bases})
        for path, tree in trees().items()
        for node in nodes_of(tree)
        if isinstance(node, ast.ClassDef)
    ]
    models = {"models.Model", "Model", "AbstractBaseUser"}
    while more := {name for _, name, bases in classes if bases & models} - models:
        models |= more
    return sorted({path for path, _, bases in classes if bases & models})


def migrations() -> list[str]:
    return [path for path in tracked_files() if re.fullmatch(r"\w+/migrations/[^_]\w*\.py", path)]


def signatures_with_any() -> tuple[list[str], int]:
    found, total = [], 0
    for path, tree in trees().items():
        for function in functions_of(tree):
            total += 1
            if "Any" in words_of_signature(function):
                found.append(f"{path}:{function.lineno} {function.name}")
    return found, total


def signatures_with_names_of_any() -> list[str]:
    """Signatures without Any that use a name of a type with Any, such as `JsonObject = dict[str, Any]`."""
    names = {path.removesuffix(".py").replace("/", "."): names_of_any(tree) for path, tree in trees().items()}
    found = []
    for path, tree in trees().items():
        known = set(names[path.removesuffix(".py").replace("/", ".")])
        for node in tree.body:
            if isinstance(node, ast.ImportFrom):
                known |= {
                    alias.asname or alias.name for alias in node.names if alias.name in names.get(node.module or "", ())
                }
        for function in functions_of(tree):
            words = words_of_signature(function)
            if "Any" not in words and words & known:
                found.append(f"{path}:{function.lineno} {function.name}")
    return found


def names_of_any(tree: ast.Module) -> set[str]:
    """The names that the module gives to types with Any."""
    found = set()
    for node in tree.body:
        match node:
            case (
                ast.Assign(targets=[ast.Name(id=name)], value=value)
                | ast.AnnAssign(
                    target=ast.Name(id=name), annotation=ast.Name(id="TypeAlias"), value=ast.expr() as value
                )
            ):
                is_type = isinstance(value, ast.Subscript | ast.BinOp | ast.Constant)
                if is_type and name[0].isupper() and re.search(r"\bAny\b", ast.unparse(value)):
                    found.add(name)
            case _:
                pass
    return found


def words_of_signature(function: ast.FunctionDef | ast.AsyncFunctionDef) -> set[str]:
    arguments = function.args
    every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg]
    notes = [function.returns, *(argument.annotation for argument in every if argument)]
    return {word for note in notes if note for word in re.findall(r"\w+", ast.unparse(note))}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
