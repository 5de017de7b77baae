"""Records survive their bytes, and equal records make equal bytes."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokenzip.model import (
    EDGE_KINDS,
    REASONS,
    SYMBOL_KINDS,
    TIERS,
    EdgeRow,
    FileIR,
    Interface,
    LinkedFile,
    ParseProblem,
    SymbolRow,
    UnresolvedRow,
    qualified_names,
    qualified_names_of,
)
from tokenzip.store import columns, files, links, packs

names = st.text(min_size=1, max_size=12)
sizes = st.integers(0, 10_000)
hashes = st.integers(0, 2**32 - 1)


@st.composite
def symbol_rows(draw: st.DrawFn) -> tuple[SymbolRow, ...]:
    rows = []
    for index in range(draw(st.integers(0, 6))):
        start, line = draw(sizes), draw(st.integers(1, 5000))
        doc = draw(sizes)
        has_doc = draw(st.booleans())
        rows.append(
            SymbolRow(
                draw(names),
                draw(st.sampled_from(SYMBOL_KINDS)),
                draw(st.integers(-1, max(-1, index - 1))),
                draw(st.integers(0, 2**17 - 1)),
                line,
                line + draw(st.integers(0, 3)),
                line + draw(st.integers(3, 90)),
                start,
                start + draw(sizes),
                start + draw(sizes),
                doc if has_doc else 0,
                doc + 1 + draw(sizes) if has_doc else 0,
                draw(hashes),
                draw(hashes),
            )
        )
    return tuple(rows)


values = st.recursive(
    st.none() | st.integers(-(2**31), 2**31) | names, lambda inner: st.lists(inner, max_size=3).map(tuple), max_leaves=8
)
interfaces = st.builds(
    Interface,
    names=st.dictionaries(names, values, max_size=3),
    definitions=st.dictionaries(names, values, max_size=3),
    members=st.dictionaries(names, st.dictionaries(names, values, max_size=2), max_size=2),
    stars=st.lists(values, max_size=2).map(tuple),
    announces=st.lists(names, max_size=2).map(tuple),
)


@given(symbol_rows(), interfaces, st.sampled_from(["parsed", "partial", "failed", "skipped"]), st.booleans())
def test_a_file_record_survives(rows, interface, status, generated):
    ir = FileIR(status, 7, interface, rows, None, (ParseProblem(3, "no"),), "why", generated)
    data = files.encode_ir(ir)
    assert files.decode_ir(data) == replace(ir, interface=Interface())
    assert all(isinstance(row, SymbolRow) for row in files.decode_ir(data).symbols)


@given(interfaces, st.lists(names, max_size=3))
def test_an_interface_survives_with_and_without_plain_entries(interface, plain):
    interface = replace(
        interface,
        names={**interface.names, **{name: (("def", name),) for name in plain}},
        members={**interface.members, "C": {name: (("def", f"C.{name}"),) for name in plain}},
    )
    assert files.decode_interface(files.encode_interface(interface)) == interface
    assert files.decode_consulted(files.encode_consulted(interface)) == interface


edges = st.builds(
    EdgeRow,
    source=st.integers(-1, 20),
    kind=st.sampled_from(EDGE_KINDS),
    tier=st.sampled_from(TIERS),
    line=st.integers(1, 999),
    path=st.sampled_from(["a.py", "b/c.py", "own.py", "odd\udcff.py"]),
    qualified=st.sampled_from(["", "f", "C.m", "f#2"]),
    detail=st.sampled_from(["", "type", "alias=x"]),
)
open_rows = st.builds(
    UnresolvedRow,
    source=st.integers(-1, 20),
    kind=st.sampled_from(EDGE_KINDS),
    line=st.integers(1, 999),
    name=names,
    reason=st.sampled_from(REASONS),
    detail=st.sampled_from(["", "os.path"]),
)


@given(st.lists(edges, max_size=8), st.lists(open_rows, max_size=8))
def test_a_link_record_survives(rows, unresolved):
    record = links.link_record(LinkedFile(tuple(rows), tuple(unresolved)))
    assert links.decode_link(links.encode_link(record, "own.py"), "own.py") == record
    assert sum(row.times for row in record.open) == len(unresolved)


@given(st.lists(edges, max_size=40), st.sets(st.tuples(edges.map(lambda row: row.path), edges.map(lambda row: row.qualified))))
def test_edges_to_some_targets_are_those_of_the_whole_record(rows, wanted):
    record = links.encode_link(links.link_record(LinkedFile(tuple(rows))), "own.py")
    whole = links.decode_link(record, "own.py").edges
    assert links.decode_edges_to(record, "own.py", wanted) == [row for row in whole if (row.path, row.qualified) in wanted]


def new_ones_in_order(chosen: list[int]) -> list[int]:
    """Numbers as a table of first uses gives them."""
    table: dict[int, int] = {}
    return [table.setdefault(number, len(table)) for number in chosen]


@given(st.lists(st.integers(0, 150), max_size=400).map(new_ones_in_order))
def test_numbers_named_by_recency_survive(numbers):
    assert columns.from_recency(columns.by_recency(numbers)) == numbers


def test_a_new_target_leaves_the_names_of_others_alone():
    numbers = [0, 1, 0, 2, 1, 2, 2, 0]
    codes = columns.by_recency(numbers)
    assert columns.by_recency([0, *(1 + number for number in numbers)])[1 : 1 + len(codes)] == codes


def test_a_target_in_the_own_file_holds_no_path():
    record = links.link_record(LinkedFile((EdgeRow(0, "calls", "exact", 1, "here.py", "f"),)))
    assert b"here.py" not in links.encode_link(record, "here.py")
    assert links.encode_link(record, "here.py") == links.encode_link(
        links.link_record(LinkedFile((EdgeRow(0, "calls", "exact", 1, "there.py", "f"),))), "there.py"
    )


def test_packs_keep_order_and_are_bounded():
    items = [bytes([number % 251]) * (1 + number * 37 % 5000) for number in range(200)]
    groups = packs.packs_of(items)
    assert [item for group in groups for item in group] == items
    assert all(sum(map(len, group[:-1])) <= packs.PACK_BYTES for group in groups)
    bases = {1: packs.Address(7, 3)}
    assert packs.decode_pack(packs.encode_pack(groups[0], bases)) == (tuple(groups[0]), bases)


@given(st.binary(min_size=8, max_size=300), st.binary(max_size=300))
def test_a_difference_can_be_undone(base, record):
    assert packs.undo_difference(packs.difference(record, base), base) == record


@pytest.mark.parametrize("junk", [b"", b"junk", packs.encode_pack([b"x" * 100])[:-3]])
def test_damaged_pack_is_told(junk):
    with pytest.raises(ValueError, match="not a pack"):
        packs.decode_pack(junk)


@given(st.lists(edges, max_size=8), st.lists(open_rows, max_size=8))
def test_parts_of_a_link_record_are_those_of_the_whole(rows, opened):
    record = links.link_record(LinkedFile(tuple(sorted(set(rows))), tuple(opened), frozenset()))
    data = links.encode_link(record, "own.py")
    uses = links.decode_uses(data, "own.py")
    assert [*map(list, uses)] == [*map(list, links.uses_of(record))]
    columns = zip(uses.sources, uses.kinds, uses.targets, strict=True)
    assert [(source, kind, *uses.table[target]) for source, kind, target in columns] == [
        (edge.source, edge.kind, edge.path, edge.qualified) for edge in record.edges
    ]


@given(symbol_rows())
def test_parts_of_the_columns_are_those_of_all_symbols(rows):
    told = files.decode_columns(files.encode_ir(FileIR("parsed", 7, symbols=rows)))
    assert told.top_names() == {row.name for row in rows if row.parent < 0 or not rows[row.parent].name}
    assert list(told.names) == [row.name for row in rows]
    assert [told.row(index) for index in range(len(rows))] == list(rows)


@given(symbol_rows(), st.data())
def test_qualified_names_of_one_name_are_those_among_all(rows, data):
    """Also where names hold dots: the second ``f`` of a class ``a`` and a name ``a.f`` are told apart by ordinals."""
    rows = tuple([row._replace(name=data.draw(st.sampled_from(["f", "a", "a.f", ".", ""]))) for row in rows])
    qualified = qualified_names(rows)
    for name in {row.name for row in rows}:
        expected = [(index, qualified[index]) for index, row in enumerate(rows) if row.name == name]
        assert qualified_names_of(name, [row.name for row in rows], [row.parent for row in rows]) == expected
