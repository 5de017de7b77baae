"""Queries: what each step finds, that nothing is read too early, and that a text says the same as the chain it came from."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from typing import Any

import pytest
from gitrepo import Repo, shared_repo
from hypothesis import given, settings
from hypothesis import strategies as st

from tokenzip.errors import AmbiguousSymbol, UnknownRevision, UnknownSymbol, UsageError
from tokenzip.model import EDGE_KINDS, SYMBOL_KINDS, Symbol
from tokenzip.operations import UNLISTED
from tokenzip.query import Query, RepositoryQuery, parse
from tokenzip.query.chain import Chain
from tokenzip.query.fields import LOOKUPS, Field
from tokenzip.repository import Repository
from tokenzip.repository import repo as open_repository

FILES = {
    "pyproject.toml": '[project]\nname = "shop"\nversion = "1.2"\ndependencies = ["requests>=2"]\n',
    "shop/__init__.py": "from shop.users import UserService\n",
    "shop/base.py": (
        "class Service:\n"
        '    """What all services share."""\n\n'
        "    async def start(self) -> None:\n        pass\n\n\n"
        "class Audited(Service):\n    pass\n"
    ),
    "shop/users.py": (
        "from shop.base import Service as Base\n\n\n"
        "class UserService(Base):\n"
        '    """Signs people in."""\n\n'
        "    def authenticate(self, name: str, password: str, again: bool = False) -> bool:\n"
        "        return digest(password) == name\n\n"
        "    @staticmethod\n"
        "    def _secret() -> str:\n"
        '        return digest("x")\n\n\n'
        "def digest(text: str) -> str:\n"
        '    """Turn it round."""\n'
        "    return text[::-1]\n"
    ),
    "shop/broken.py": "def half(:\n",
    "tests/test_users.py": (
        "from shop.users import UserService\n\n\ndef test_in() -> None:\n    assert UserService().authenticate('a', 'a')\n"
    ),
    "web/package.json": '{"name": "api-gateway", "version": "0.1.0"}\n',
    "web/tsconfig.json": '{"compilerOptions": {"jsx": "react"}}\n',
    "web/src/view.tsx": (
        "import React from 'react'\n"
        "import { load } from './load'\n\n"
        "export class View extends React.Component<Props> implements Shown {\n"
        "  render() {\n    return load('/')\n  }\n}\n\n"
        "class Hidden extends React.Component {}\n"
        "export interface Shown {}\n"
    ),
    "web/src/load.ts": "export function load(path: string): string {\n  return path\n}\n\nload('/first')\n",
    "a/one.py": "",
    "b/one.py": "",
    "schema.sql": "create table users (id int);\n",
    "prd.md": "# Product\n",
    "notes.txt": "nothing\n",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Repo]:
    """A shop of two modules and two commits; tests only read it."""
    with shared_repo(tmp_path_factory, "shop") as repo:
        repo.commit({**FILES, "shop/users.py": FILES["shop/users.py"].replace(", again: bool = False", "")}, "first")
        repo.commit(FILES, "again")
        yield repo


@pytest.fixture(scope="module")
def repo(folder: Repo) -> Repository:
    return open_repository(str(folder.path))


def handles(query: Query[Any]) -> list[str]:
    return [record.handle for record in query.to_list()]


def names(query: Query[Any]) -> list[str]:
    return [record.handle.rpartition("::")[2] for record in query.to_list()]


# The examples of the surface.


def test_modules_to_files_to_symbols(repo: Repository) -> None:
    found = (
        repo.modules()
        .filter(language="typescript")
        .files()
        .filter(ext=".tsx")
        .symbols()
        .filter(kind="class", is_exported=True, extends="React.Component")
    )
    assert [symbol.name for symbol in found.to_list()] == ["View"]
    assert str(found) == (
        'repo.modules().filter(language="typescript").files().filter(ext=".tsx").symbols()'
        '.filter(kind="class", is_exported=True, extends="React.Component")'
    )


def test_dependants_within_a_module(repo: Repository) -> None:
    users = repo.symbol("UserService.authenticate").dependants()
    assert names(users) == ["test_in"]
    assert names(users.within_module("shop").with_kind("function")) == ["test_in"]
    assert names(users.within_module("api-gateway").with_kind("function")) == []


def test_diff_and_impact(repo: Repository) -> None:
    changes = repo.diff("HEAD~1")
    assert [(change.handle, change.change, change.breaking) for change in changes] == [
        ("shop/users.py::UserService.authenticate", "signature", False)
    ]
    assert handles(changes.impact()) == ["tests/test_users.py::test_in"]
    text = changes.impact().to_markdown()
    assert text.startswith('## `repo.diff("HEAD~1").impact()`\n')
    assert "| `tests/test_users.py::test_in` | function |" in text
    assert handles(repo.diff("HEAD~1..HEAD")) == handles(repo.diff("HEAD~1", "HEAD")) == handles(repo.diff("HEAD~1...HEAD"))
    assert handles(repo.commit("HEAD").changes()) == handles(changes)
    assert names(changes.symbols().callers()) == ["test_in"]


def test_tables_and_documents_say_why_there_are_none(repo: Repository) -> None:
    assert repo.tables().to_list() == []
    why = repo.tables().complete()
    assert isinstance(why, dict)
    assert "no language reads .sql files yet" in why["why"]
    assert why["places"] == ["schema.sql"]
    for query in (
        repo.table("users").columns().referenced_by().files(),
        repo.doc("prd.md").section("Workflow: User Onboarding").steps().linked_symbols(),
        repo.workflow("onboarding"),
    ):
        with pytest.raises(UnknownSymbol) as caught:
            query.to_list()
        assert "no language reads" in caught.value.hint
        assert str(parse(str(query)).query) == str(query)
    assert handles(repo.docs()) == ["prd.md"]


# Scopes and relations.


def test_scopes(repo: Repository) -> None:
    assert handles(repo.modules()) == [".", "web"]
    assert handles(repo.module("api-gateway").files()) == [
        "web/package.json", "web/src/load.ts", "web/src/view.tsx", "web/tsconfig.json",
    ]  # fmt: skip
    assert handles(repo.files()) == sorted(FILES)
    assert names(repo.file("shop/base.py").symbols()) == ["Service", "Service.start", "Audited"]
    assert handles(repo.symbols()) == handles(repo.files().symbols()) == handles(repo.modules().symbols())
    assert names(repo.symbol("UserService").members()) == ["UserService.authenticate", "UserService._secret"]
    assert handles(repo.symbol("digest").file()) == ["shop/users.py"]
    assert handles(repo.symbol("load").module()) == ["web"]


def test_relations(repo: Repository) -> None:
    assert names(repo.symbol("digest").callers()) == ["UserService.authenticate", "UserService._secret"]
    assert names(repo.symbol("digest").callers(depth=2)) == ["UserService.authenticate", "UserService._secret", "test_in"]
    assert names(repo.symbol("UserService.authenticate").callees()) == ["digest"]
    assert handles(repo.file("shop/users.py").dependants()) == ["shop/__init__.py", "tests/test_users.py"]
    assert handles(repo.file("shop/users.py").dependencies()) == ["shop/base.py"]
    assert names(repo.symbol("Service").dependants(kinds=["inherits"])) == ["Audited", "UserService"]
    places = repo.symbol("load").references().filter(kind="calls").to_list()
    assert [(place.handle, place.line) for place in places] == [("web/src/load.ts", 5), ("web/src/view.tsx::View.render", 6)]


def test_module_level_code_is_a_symbol_of_kind_file(repo: Repository) -> None:
    callers = repo.symbol("load").callers()
    assert [(each.handle, each.kind) for each in callers.filter(kind="file")] == [("web/src/load.ts", "file")]
    assert handles(callers.files()) == ["web/src/load.ts", "web/src/view.tsx"]
    assert callers.filter(kind="file", parameters__exists=True).to_list() == []


def test_relations_are_those_of_the_other_doors(repo: Repository) -> None:
    from tokenzip.operations import OPERATIONS

    for handle in handles(repo.symbols()):
        for tool, query in (
            ("get_dependants", repo.symbol(handle).dependants(depth=2)),
            ("get_dependencies", repo.symbol(handle).dependencies(depth=2)),
        ):
            answer = OPERATIONS[tool].run(repo, {"handle": handle, "depth": 2, "max_tokens": 0})
            assert handles(query) == [item["handle"] for item in answer["items"]], handle
            count = 0 if answer["complete"] is True else answer["complete"]["unresolved"]
            said = query.complete()
            assert (0 if isinstance(said, bool) else said["unresolved"]) == count, handle


def test_a_revision_is_part_of_the_query(repo: Repository) -> None:
    before = repo.at("HEAD~1").symbols().filter(name="authenticate")
    assert str(before) == 'repo.at("HEAD~1").symbols().filter(name="authenticate")'
    assert before.to_list()[0].parameters == ("self", "name", "password")
    assert repo.symbols().filter(name="authenticate").to_list()[0].parameters == ("self", "name", "password", "again")
    assert repo.query(str(before)).to_list() == before.to_list()
    with pytest.raises(UnknownRevision):
        repo.query('at("nowhere").symbols()').to_list()


# Filters.


@pytest.mark.parametrize(
    ("lookups", "expected"),
    [
        ({"name": "digest"}, ["digest"]),
        ({"name__contains": "ervice"}, ["Service", "UserService"]),
        ({"name__icontains": "SERVICE"}, ["Service", "UserService"]),
        ({"name__startswith": "_"}, ["UserService._secret"]),
        ({"name__endswith": "te", "file__startswith": "shop/"}, ["UserService.authenticate"]),
        ({"name__matches": r"^[A-Z]\w+$", "language": "python"}, ["Service", "Audited", "UserService"]),
        ({"name__in": ["digest", "load"]}, ["digest", "load"]),
        ({"kind__in": ("interface", "function"), "module": "api-gateway"}, ["load", "Shown"]),
        ({"module": "web", "kind": "class"}, ["View", "Hidden"]),
        ({"line__gte": 14, "line__lt": 16, "path": "shop/users.py"}, ["digest"]),
        ({"doc__exists": True}, ["Service", "UserService", "digest"]),
        ({"doc__contains": "round"}, ["digest"]),
        ({"is_async": True}, ["Service.start"]),
        ({"is_static": True}, ["UserService._secret"]),
        ({"is_test": True}, ["test_in"]),
        ({"parameters": "password"}, ["UserService.authenticate"]),
        ({"parameter_count__gte": 3}, ["UserService.authenticate"]),
        ({"returns": "bool"}, ["UserService.authenticate"]),
        ({"return_type__exists": True, "language": "typescript"}, ["load"]),
        ({"decorators": "staticmethod"}, ["UserService._secret"]),
        ({"parent__exists": True, "module": "api-gateway"}, ["View.render"]),
        ({"parent": "shop/base.py::Service"}, ["Service.start"]),
        ({"extends": "Base"}, ["UserService"]),
        ({"extends": "Service"}, ["Audited", "UserService"]),
        ({"extends": "Component"}, ["View", "Hidden"]),
        ({"extends__exists": True, "language": "python"}, ["Audited", "UserService"]),
        ({"extends": "Shown"}, []),
        ({"implements": "Shown"}, ["View"]),
        ({"language": "tsx", "kind": "class"}, ["View", "Hidden"]),
        ({"language": "typescript", "kind": "class"}, ["View", "Hidden"]),
        ({"qualified_name": "View.render"}, ["View.render"]),
    ],
)
def test_lookups_of_symbols(repo: Repository, lookups: dict[str, Any], expected: list[str]) -> None:
    query = repo.symbols().filter(**lookups)
    assert names(query) == expected
    everything = handles(repo.symbols())
    found = set(handles(query))
    assert handles(repo.symbols().exclude(**lookups)) == [each for each in everything if each not in found]


def test_lookups_of_files_and_modules(repo: Repository) -> None:
    assert handles(repo.files().filter(status__in=["failed", "partial"])) == ["shop/broken.py"]
    assert handles(repo.files().filter(language=None)) == ["notes.txt", "prd.md", "schema.sql"]
    assert handles(repo.files().filter(is_test=True)) == ["tests/test_users.py"]
    assert handles(repo.files().filter(symbol_count__gt=2)) == ["shop/base.py", "shop/users.py", "web/src/view.tsx"]
    assert handles(repo.files().filter(size__gte=1, size__lt=10)) == ["notes.txt"]
    assert handles(repo.modules().filter(packages="requests")) == ["."]
    assert handles(repo.modules().filter(kind="package.json", is_root=False)) == ["web"]
    assert handles(repo.modules().filter(language="python")) == ["."]


def test_predicates(repo: Repository) -> None:
    def is_long(symbol: Any) -> bool:
        return symbol.lines > 5

    query = repo.symbols().filter(is_long, language="python")
    assert names(query) == ["UserService"]
    assert str(query).endswith('.filter(<predicate test_predicates.is_long>, language="python")')
    with pytest.raises(UsageError, match="predicate has no text form"):
        parse(str(query))
    assert names(repo.symbols().filter(lambda symbol: symbol.doc.count("in") == 1)) == ["UserService"]


def test_sorting_and_slices(repo: Repository) -> None:
    functions = repo.symbols().filter(kind__in=["function", "method"])
    assert names(functions.sort("name").limit(2)) == ["UserService._secret", "UserService.authenticate"]
    assert names(functions.sort("-name").limit(1)) == ["test_in"]
    methods, others = functions.filter(kind="method"), functions.filter(kind="function")
    assert names(functions.sort("kind")) == [*names(others), *names(methods)]
    assert names(functions.sort("-kind")) == [*names(methods), *names(others)]
    everything = names(functions)
    assert names(functions.offset(2).limit(2)) == everything[2:4]
    assert names(functions.limit(0)) == []
    assert names(functions.offset(10**30)) == []
    assert names(repo.modules().sort("-manifest", "name")) == ["web", "."]


# Terminals.


def test_terminals(repo: Repository) -> None:
    classes = repo.symbols().filter(kind="class")
    assert classes.count() == len(classes.to_list()) == 5
    assert classes.exists()
    assert not classes.filter(name="Nothing").exists()
    first = classes.first()
    assert isinstance(first, Symbol)
    assert (first.handle, first.doc, first.module, first.visibility) == (
        "shop/base.py::Service", '"""What all services share."""', "shop", "public",
    )  # fmt: skip
    assert classes.filter(name="Nothing").first() is None
    assert [symbol.name for symbol in classes] == [symbol.name for symbol in classes.to_list()]
    assert {first: 1}[classes.to_list()[0]] == 1


def test_json_is_the_answer_of_the_operation(repo: Repository) -> None:
    for query in (
        repo.symbol("digest").callers(),
        repo.symbols().filter(kind="class").select("bases", "doc"),
        repo.files(),
        repo.modules(),
        repo.symbol("load").references(),
        repo.diff("HEAD~1"),
        repo.diff("HEAD~1").impact(),
        repo.commit("HEAD"),
        repo.tables(),
    ):
        answer = json.loads(query.to_json())
        assert answer == UNLISTED["query"].run(repo, {"query": str(query), "max_tokens": 0}), query
        assert [item["handle"] for item in answer["items"]] == handles(query)


def test_graphs(repo: Repository) -> None:
    graph = repo.symbols().filter(kind="class", language="python").to_graph()
    assert {(edge.source.rpartition("::")[2], edge.kind, edge.target.rpartition("::")[2]) for edge in graph.edges} == {
        ("Audited", "inherits", "Service"),
        ("UserService", "inherits", "Service"),
    }
    callers = repo.symbol("digest").callers().to_graph()
    assert [node.handle.rpartition("::")[2] for node in callers.nodes] == [
        "UserService.authenticate",
        "UserService._secret",
        "digest",
    ]
    assert {edge.kind for edge in callers.edges} == {"calls"}
    files = repo.files().filter(is_source=True).to_graph()
    assert ("tests/test_users.py", "shop/users.py") in {(edge.source, edge.target) for edge in files.edges}
    assert len(repo.diff("HEAD~1").impact().to_graph().edges) == 1
    assert callers.to_mermaid() == repo.symbol("digest").callers().to_mermaid()
    assert callers.to_mermaid().startswith('flowchart LR\n  n0["shop/users.py::UserService.authenticate"]\n')
    assert callers.to_dict()["edges"][0]["kind"] == "calls"


def test_incomplete_lists_say_so(repo: Repository) -> None:
    said = repo.symbols().complete()
    assert isinstance(said, dict)
    assert said["places"] == ["shop/broken.py"]
    assert "May be incomplete" in repo.symbols().to_markdown()
    assert repo.file("shop/users.py").symbols().complete() is True


# Values and laziness.


class Unasked:
    """A source that must not be asked."""

    def snapshot(self, rev: str | None = None) -> Any:
        raise AssertionError("a query read too early")

    def snapshots(self, base: str | None, head: str | None) -> tuple[Any, Any]:
        raise AssertionError("a query read too early")

    def merge_base(self, a: str, b: str) -> str:
        raise AssertionError("a query read too early")


def test_nothing_is_read_before_a_terminal() -> None:
    query = RepositoryQuery(source=Unasked()).symbol("x").callers(depth=3).filter(name="y").sort("-line").files().impact()
    assert str(query) == 'repo.symbol("x").callers(depth=3).filter(name="y").sort("-line").files().impact()'
    with pytest.raises(AssertionError):
        query.count()


def test_queries_are_values(repo: Repository) -> None:
    start = repo.symbols()
    narrowed = start.filter(kind="class")
    assert start.chain == repo.symbols().chain
    assert narrowed == parse("symbols().filter(kind='class')").query
    assert len({narrowed, repo.symbols().filter(kind="class"), start}) == 2
    with pytest.raises(AttributeError):
        narrowed.chain = ()  # type: ignore[misc]
    listed = ["class"]
    kept = start.filter(kind__in=listed)
    listed.append("function")
    assert str(kept) == 'repo.symbols().filter(kind__in=["class"])'


def test_a_query_of_no_repository_says_so() -> None:
    with pytest.raises(UsageError, match="asks no repository"):
        parse("symbols()").query.count()


def test_only_what_is_needed_is_read(repo: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    from tokenzip.snapshot import Snapshot

    read: list[str] = []
    details = Snapshot.details
    monkeypatch.setattr(Snapshot, "details", lambda self, path: read.append(path) or details(self, path))
    repo.symbols().filter(kind="class", doc__exists=True).to_list()
    assert read == []
    repo.symbols().filter(bases__exists=True, file="shop/base.py").to_list()
    assert read == ["shop/base.py"]


# Mistakes.


@pytest.mark.parametrize(
    ("text", "message", "candidates"),
    [
        ("symbols().filter(nme='x')", "no field 'nme'", ("name",)),
        ("symbols().filter(name__contain='x')", "no look-up 'contain'", ("name__contains",)),
        ("symbols().filter(kind='clas')", "never 'clas'", ("class",)),
        ("files().filter(language='typscript')", "never 'typscript'", ("typescript",)),
        ("symbols().filter(line='3')", "line must be a number", ()),
        ("symbols().filter(is_async=1)", "is_async must be True or False", ()),
        ("symbols().filter(name__in='x')", "must be a list", ()),
        ("symbols().filter(name__matches='(')", "not a regular expression", ()),
        ("symbols().filter('x')", "takes look-ups by name", ()),
        ("symbols().filter()", "needs at least one look-up", ()),
        ("symbols().sort('nam')", "no field 'nam'", ("name",)),
        ("symbols().limit(-1)", "limit must be a number from 0", ()),
        ("symbols().callers(depth=0)", "depth must be a number from 1", ()),
        ("symbols().callers(2, 3)", "too many positional", ()),
        ("symbols().callers(far=3)", "unexpected keyword", ()),
        ("symbols().dependants(kinds=['call'])", "no kind of edge 'call'", ("calls",)),
        ("symbols().with_kind('func')", "no kind of symbol 'func'", ("function",)),
        ("symbols().caller()", "symbols have no 'caller'", ("callers",)),
        ("modules().callers()", "modules have no 'callers'", ()),
        ("symbols().to_markdown()", "cannot end in to_markdown()", ()),
        ("symbols().count(1)", "takes no arguments", ()),
        ("symbols().on(1)", "no 'on'", ()),
        ("symbols()._then(1)", "no '_then'", ()),
        ("repo", "names nothing to list", ()),
        ("repo.at('HEAD')", "names nothing to list", ()),
        ("", "is empty", ()),
        ("symbols(", "line 1, column 8", ()),
        ("symbols()\n.filter(name=f('x'))", "line 2, column 14", ()),
        ("symbols().filter(name='a' + 'b')", "is no text", ()),
        ("symbols().filter(**{'name': 'a'})", "written out", ()),
        ("symbols().sort(*['name'])", "is no text", ()),
        ("symbols().filter(line=1.5)", "is no text", ()),
        ("symbols().filter(name=b'a')", "is no text", ()),
        ("symbols().filter(name__in=[['a']])", "a list in a list", ()),
        ("symbols()[0]", "is no step", ()),
        ("symbols().chain", "is no step", ()),
        ("lambda: symbols()", "is no step", ()),
        ("__import__('os').system('true')", "no '__import__'", ()),
        ("tz.symbols()", "is no step", ()),
        ("(" * 5000, "cannot be read", ()),
        ("symbols()" + ".limit(1)" * 1200, "longer than", ()),
        ("symbols().filter(name='\0')", "cannot be read", ()),
        ("symbols().filter(name='\udc80')", "cannot be read", ()),
    ],
)  # fmt: skip
def test_mistakes_are_told(text: str, message: str, candidates: tuple[str, ...]) -> None:
    with pytest.raises(UsageError) as caught:
        parse(text)
    assert message in caught.value.message
    assert set(candidates) <= set(caught.value.candidates)
    assert caught.value.hint or candidates or not message.startswith("no ")


def test_names_that_are_not_there(repo: Repository) -> None:
    with pytest.raises(UnknownSymbol) as unknown:
        repo.symbol("UserServise").to_list()
    assert "shop/users.py::UserService" in unknown.value.candidates
    with pytest.raises(UnknownSymbol):
        repo.symbols().within_module("nowhere").to_list()
    with pytest.raises(UsageError, match="is a file"):
        repo.symbol("shop/users.py").to_list()
    with pytest.raises(UsageError, match="is a symbol"):
        repo.file("digest").to_list()
    with pytest.raises(AmbiguousSymbol) as ambiguous:
        repo.at("HEAD").file("one.py").to_list()
    assert set(ambiguous.value.candidates) == {"a/one.py", "b/one.py"}


def test_an_attribute_that_is_not_there_names_the_nearest(repo: Repository) -> None:
    with pytest.raises(AttributeError, match="symbols have no 'caller'"):
        repo.symbols().caller()  # type: ignore[attr-defined]


# The operation.


def test_the_operation_pins_pages_and_counts(repo: Repository) -> None:
    ask = UNLISTED["query"].run
    assert ask(repo, {"query": "symbols().count()"})["count"] == repo.symbols().count()
    assert ask(repo, {"query": "symbols().filter(name='digest').exists()"})["exists"] is True
    assert len(ask(repo, {"query": "symbols().first()"})["items"]) == 1
    graph = ask(repo, {"query": "symbol('digest').callers().to_graph()", "max_tokens": 0})
    assert [edge["kind"] for edge in graph["edges"]] == ["calls", "calls"]
    old = ask(repo, {"query": "symbol('authenticate').select('parameters')", "at": "HEAD~1"})
    assert old["items"][0]["parameters"] == ["self", "name", "password"]
    assert ask(repo, {"query": "at('HEAD~1').symbols()", "at": "HEAD"})["error"]["code"] == "usage"
    assert "error" not in ask(repo, {"query": "at('HEAD').symbols()", "at": "HEAD"})
    cut = ask(repo, {"query": "symbols()", "max_tokens": 300})
    assert cut["truncated"]["total"] == repo.symbols().count()
    rest = ask(repo, {"query": "symbols()", "max_tokens": 0, "cursor": cut["truncated"]["cursor"]})
    assert [item["handle"] for item in (*cut["items"], *rest["items"])] == handles(repo.symbols())


def test_agents_ask_it_by_an_argument(repo: Repository) -> None:
    from tokenzip.operations import OPERATIONS

    arguments = {"query": "symbols().filter(kind='class')", "max_tokens": 0}
    assert OPERATIONS["query_repo_structure"].run(repo, arguments) == UNLISTED["query"].run(repo, arguments)


# Texts: property tests.

TEXT = st.text(st.characters(codec=None, exclude_categories=()), max_size=12)
NUMBER = st.integers(-(10**6), 10**6)


@st.composite
def lookups(draw: st.DrawFn, fields: dict[str, Field]) -> dict[str, Any]:
    chosen = draw(st.lists(st.sampled_from(sorted(fields)), min_size=1, max_size=3, unique=True))
    found: dict[str, Any] = {}
    for name in chosen:
        field = fields[name]
        test = draw(st.sampled_from(LOOKUPS[field.type]))
        value: st.SearchStrategy[Any] = {"text": TEXT, "list": TEXT, "number": NUMBER, "truth": st.booleans()}[field.type]
        if field.values:
            value = st.sampled_from(list(field.values))
        if test == "exists":
            value = st.booleans()
        elif test == "matches":
            value = st.sampled_from(["^a", r"\w+\.", 'say "x"'])
        elif test == "in":
            value = st.lists(value, max_size=3)
        elif test == "exact" and field.type != "truth":
            value = value | st.none()
        found[name if test == "exact" else f"{name}__{test}"] = draw(value)
    return found


def strategies_of(chain: Chain, name: str) -> st.SearchStrategy[tuple[tuple[Any, ...], dict[str, Any]]]:
    """Arguments that a step of that name takes."""
    word = TEXT.filter(bool)
    depth = st.fixed_dictionaries({}, optional={"depth": st.integers(1, 9)})
    kinds = st.fixed_dictionaries({}, optional={"depth": st.integers(1, 9), "kinds": st.lists(st.sampled_from(EDGE_KINDS))})
    none: st.SearchStrategy[dict[str, Any]] = st.just({})
    if isinstance(chain, Query):
        fields = dict(chain.FIELDS)
        field = st.sampled_from(sorted(fields))
        if name in {"filter", "exclude"}:
            return st.tuples(st.just(()), lookups(fields))
        if name == "sort":
            signed = st.tuples(st.sampled_from(["", "-"]), field).map("".join)
            return st.tuples(st.lists(signed, min_size=1, max_size=3).map(tuple), none)
        if name == "select":
            return st.tuples(st.lists(field, min_size=1, max_size=3).map(tuple), none)
        if name in {"limit", "offset"}:
            return st.tuples(st.tuples(st.integers(0, 10**20)), none)
    if name in {"callers", "callees", "impact"}:
        return st.tuples(st.just(()), depth)
    if name in {"dependants", "dependencies"} and chain.SCOPE != "modules":
        return st.tuples(st.just(()), kinds)
    if name == "with_kind":
        return st.tuples(st.lists(st.sampled_from(SYMBOL_KINDS), min_size=1, max_size=3).map(tuple), none)
    if name == "diff":
        return st.tuples(st.one_of(st.tuples(word), st.tuples(word, word)), none)
    takes_a_word = {"at", "symbol", "table", "doc", "commit", "workflow", "section", "within_module"}
    if name in takes_a_word or (isinstance(chain, RepositoryQuery) and name in {"module", "file"}):
        return st.tuples(st.tuples(word), none)
    return st.tuples(st.just(()), none)


@st.composite
def queries(draw: st.DrawFn) -> Query[Any]:
    chain: Chain = RepositoryQuery()
    for _ in range(draw(st.integers(1, 7))):
        name = draw(st.sampled_from(chain.STEPS))
        positional, named = draw(strategies_of(chain, name))
        chain = getattr(chain, name)(*positional, **named)
    if not isinstance(chain, Query):
        chain = chain.symbols()  # type: ignore[attr-defined]
    assert isinstance(chain, Query)
    return chain


@settings(max_examples=300, deadline=None)
@given(queries())
def test_text_to_query_to_text_is_identity(query: Query[Any]) -> None:
    text = str(query)
    read, terminal = parse(text)
    assert (read, str(read), terminal) == (query, text, "to_list")
    assert type(read) is type(query)
    assert parse(text.removeprefix("repo.")).query == query
    assert parse(f"{text}.count()") == (query, "count")


@settings(max_examples=200, deadline=None)
@given(st.text(st.sampled_from("reposymblfit.()=\"',_[]{}*:0 \n\\"), max_size=40) | TEXT)
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        query = parse(text).query
    except UsageError:
        return
    assert parse(str(query)).query == query


def test_every_step_of_every_scope_does_something(repo: Repository) -> None:
    """No step is only a name: each is taken by some chain and evaluated, or refused with a reason."""
    taken: set[tuple[str, str]] = set()
    pending: list[Chain] = [repo.query()]
    while pending:
        chain = pending.pop()
        for name in chain.STEPS:
            if (chain.SCOPE, name) in taken:
                continue
            taken.add((chain.SCOPE, name))
            arguments = {
                "at": ("HEAD",), "module": (".",), "file": ("shop/users.py",), "symbol": ("digest",), "table": ("users",),
                "doc": ("prd.md",), "commit": ("HEAD",), "workflow": ("x",), "section": ("x",), "within_module": (".",),
                "with_kind": ("class",), "sort": ("handle",), "select": ("handle",), "limit": (2,), "offset": (0,),
            }.get(name, ())  # fmt: skip
            if name in {"module", "file"} and not isinstance(chain, RepositoryQuery):
                arguments = ()
            named = {"handle__exists": True} if name == "filter" else {"handle": "x"} if name == "exclude" else {}
            longer = getattr(chain, name)(*arguments, **named)
            if isinstance(longer, Query):
                with contextlib.suppress(UsageError):  # no documents, no tables
                    longer.to_markdown()
                    longer.to_graph()
            pending.append(longer)
    assert {scope for scope, _ in taken} >= {
        "modules",
        "files",
        "symbols",
        "tables",
        "sections",
        "documents",
        "changes",
        "commits",
    }


def test_what_is_not_parsed_would_not_have_been_found(repo: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    """Conditions on what is read from the source look at its letters first: that must never lose a record."""
    symbols = repo.symbols().to_list()
    asked: list[dict[str, Any]] = [{"parameter_count__gt": 1}, {"parameter_count__in": [1, 3]}, {"extends__endswith": "vice"}]
    for symbol in symbols:
        for name in ("parameters", "decorators", "bases", "extends", "implements", "generics"):
            asked += [{name: value} for value in getattr(symbol, name)]
        asked += [{name: getattr(symbol, name)} for name in ("returns", "value") if getattr(symbol, name)]
    cheap = [handles(repo.symbols().filter(**lookups)) for lookups in asked]
    monkeypatch.setattr("tokenzip.query.fields._precheck", lambda *_: None)
    assert cheap == [handles(repo.symbols().filter(**lookups)) for lookups in asked]
    assert all(cheap)
