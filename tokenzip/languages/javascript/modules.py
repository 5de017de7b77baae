"""Imports, exports, namespaces: how the names of a file meet those of others."""

from __future__ import annotations

from typing import Any

from tokenzip.languages.javascript import flags as bits
from tokenzip.languages.javascript.commonjs import CommonJS
from tokenzip.languages.javascript.expressions import FUNCTIONS
from tokenzip.languages.javascript.flow import STATEMENTS
from tokenzip.languages.javascript.scopes import ABSENT, MAX_DEPTH, Definition, Frame
from tokenzip.languages.syntax import Node

TYPE_ONLY, REEXPORT, DYNAMIC, REQUIRE = 1, 2, 4, 8
_NAMESPACES = frozenset({"namespace", "module_decl"})
_DECLARATIONS = frozenset({
    "lexical_declaration", "variable_declaration", "class_declaration", "abstract_class_declaration", "function_declaration",
    "generator_function_declaration", "interface_declaration", "type_alias_declaration", "enum_declaration",
    "function_signature",
    "internal_module", "module", "ambient_declaration", "import_alias",
})  # fmt: skip


class Modules(CommonJS):
    """The walk over a whole file."""

    is_module = False
    default_definition: Definition | None = None

    def __init__(self, source: bytes) -> None:
        super().__init__(source)
        self.declared_here = []
        self.module_values = []
        self.global_names: set[str] = set()
        self.module_names: set[str] = set()
        self.flows: list[tuple[int, list[int]]] = []
        self.module_frame.this = ABSENT

    def note_flow(self, callee: int, values: list[int]) -> None:
        if self.exprs[callee][0] in ("d", "g", "a", "p"):
            self.flows.append((callee, values))

    def program(self, root: Node) -> None:
        nodes = root.named_children
        for node in nodes:
            if node.type in ("import_statement", "export_statement"):
                self.is_module = True
        for node in nodes:
            declaration = node
            if node.type == "export_statement":
                inner = node.child_by_field_name("declaration")
                if inner is not None and inner.type in ("function_declaration", "generator_function_declaration"):
                    declaration = inner
            if declaration.type in ("function_declaration", "generator_function_declaration"):
                self.hoist(node, declaration)
        for node in nodes:
            self.statement(node)
        self.run_pending()
        self.pending = []  # what waited knows this walk: without the cycle its memory is free as soon as the file is read
        self.settle_types()
        self.offer_assigned()
        for definition in self.definitions:
            if definition.alias is not None:
                self._copy_signature(definition, definition.alias)

    def _copy_signature(self, definition: Definition, other: Definition) -> None:
        definition.params, definition.tparams = other.params, other.tparams
        definition.ret, definition.returns, definition.this = other.ret, other.returns, other.this
        definition.flags |= other.flags & (bits.ASYNC | bits.GENERATOR)

    # Imports

    def import_statement(self, node: Node) -> bool:
        source = node.child_by_field_name("source")
        flags = TYPE_ONLY if any(child.type == "type" for child in node.children) else 0
        clause = next(
            (child for child in node.named_children if child.type in ("import_clause", "import_require_clause")), None
        )
        if clause is not None and clause.type == "import_require_clause":
            self._import_equals(node, clause)
            return False
        if source is None:
            return False
        specifier = self.text(source)[1:-1]
        names: list[tuple[str, str, int]] = []
        for child in clause.named_children if clause is not None else ():
            if child.type == "identifier":
                self._import_name(self.text(child), specifier, "default")
                names.append(("default", self.text(child), flags))
            elif child.type == "namespace_import" and child.named_children:
                self._import_name(self.text(child.named_children[-1]), specifier, "*")
                names.append(("*", self.text(child.named_children[-1]), flags))
            elif child.type == "named_imports":
                names.extend(self._named_imports(child, specifier, flags))
        if names and all(name[2] & TYPE_ONLY for name in names):
            flags |= TYPE_ONLY
        self._note_import(specifier, tuple(names), flags, node)
        return False

    def _named_imports(self, node: Node, specifier: str, flags: int) -> list[tuple[str, str, int]]:
        names = []
        for child in node.named_children:
            name, alias = child.child_by_field_name("name"), child.child_by_field_name("alias")
            if child.type != "import_specifier" or name is None:
                continue
            imported = self.key_text(name)
            local = self.text(alias) if alias is not None else imported
            self._import_name(local, specifier, imported)
            only_type = flags | (TYPE_ONLY if child.children[0].type == "type" else 0)
            names.append((imported, local, only_type))
        return names

    def _import_name(self, local: str, specifier: str, imported: str) -> None:
        self.add_name(local, ("i", specifier, imported))

    def _import_equals(self, node: Node, clause: Node) -> None:
        source, name = clause.child_by_field_name("source"), clause.named_children[0] if clause.named_children else None
        if source is None or name is None:
            return
        specifier = self.text(source)[1:-1]
        self.add_name(self.text(name), ("v", self.make("R", specifier), None))
        self._note_import(specifier, (), REQUIRE, node)

    def _note_import(self, specifier: str, names: tuple[tuple[str, str, int], ...], flags: int, node: Node) -> None:
        symbol = self.frame.symbol
        while symbol is not None and (symbol.hidden or symbol.kind in ("variable", "constant", "property")):
            symbol = symbol.parent
        self.imports.append((-1 if symbol is None else symbol.order, specifier, names, flags, node.start_point[0] + 1))

    def import_call(self, node: Node, type_only: bool = False, require: bool = False) -> str | None:
        arguments = node.child_by_field_name("arguments")
        if arguments is None:
            return None
        nodes = [child for child in arguments.named_children if child.type != "comment"]
        if not nodes:
            return None
        if nodes[0].type not in ("string", "template_string") or nodes[0].named_child_count > 1:
            if not require:
                self.expression(nodes[0])
            return None
        specifier = self.text(nodes[0])[1:-1]
        if "${" in specifier:
            return None
        self._note_import(specifier, (), TYPE_ONLY if type_only else REQUIRE if require else DYNAMIC, node)
        return specifier

    def import_alias(self, node: Node) -> bool:
        parts = node.named_children
        if len(parts) == 2:
            self.add_name(self.text(parts[0]), ("v", self._namespace(parts[1]), None))
        return False

    # Exports

    def export_statement(self, node: Node) -> bool:
        source = node.child_by_field_name("source")
        declaration, value = node.child_by_field_name("declaration"), node.child_by_field_name("value")
        words = {child.type for child in node.children}
        only_types = "type" in words or b"type" in self.source[node.start_byte : node.start_byte + 16].split(b"*")[0].split()
        flags = REEXPORT | (TYPE_ONLY if only_types else 0)
        if source is not None:
            self._reexport(node, self.text(source)[1:-1], flags, words)
        elif declaration is not None:
            self._export_declaration(node, declaration, "default" in words)
        elif value is not None:
            self._export_default(node, value)
        elif "=" in words:
            self._export_equals(node)
        else:
            self._export_names(node)
        return False

    def _reexport(self, node: Node, specifier: str, flags: int, words: set[str]) -> None:
        names: list[tuple[str, str, int]] = []
        for child in node.named_children:
            if child.type == "namespace_export" and child.named_children:
                name = self.key_text(child.named_children[-1])
                self.add_export(name, ("i", specifier, "*"))
                names.append(("*", name, flags))
            elif child.type == "export_clause":
                for one in child.named_children:
                    name_node, alias = one.child_by_field_name("name"), one.child_by_field_name("alias")
                    if name_node is None:
                        continue
                    imported = self.key_text(name_node)
                    exported = self.key_text(alias) if alias is not None else imported
                    self.add_export(exported, ("i", specifier, imported))
                    names.append((imported, exported, flags))
        if "*" in words and not names:
            self.stars.append(("*", specifier))
            names.append(("*", "", flags))
        self._note_import(specifier, tuple(names), flags, node)

    def add_export(self, name: str, entry: tuple[Any, ...]) -> None:
        if self.frame.symbol is not None and self.frame.symbol.kind in _NAMESPACES:
            return
        entries = self.exports.setdefault(name, [])
        if entry not in entries:
            entries.append(entry)

    def _export_declaration(self, whole: Node, node: Node, default: bool) -> None:
        before = len(self.definitions)
        if node.type in ("function_declaration", "generator_function_declaration"):
            self._export_function(whole, node, default)
            return
        if node.type in ("class_declaration", "abstract_class_declaration"):
            if node.child_by_field_name("name") is None:
                definition = self.class_definition(whole, node, "default", None)
            else:
                named = self.declared_class(whole, node)
                if named is None:
                    return
                definition = named
            self._exported(definition, default)
            return
        self.statement(node)
        for definition in self.definitions[before:]:
            if definition.parent is self.frame.symbol and not definition.hidden:
                if definition.flags & bits.LOCAL or not self._declares(node, definition):
                    continue
                if not (node.type in ("lexical_declaration", "variable_declaration") and node.named_child_count > 1):
                    definition.start = min(definition.start, whole.start_byte)
                self._exported(definition, default)
        for name in self._declared_names(node):
            self.add_export(name, ("l", name))
            self._export_member(name)

    def _declares(self, node: Node, definition: Definition) -> bool:
        return definition.name in self._declared_names(node)

    def _declared_names(self, node: Node) -> list[str]:
        """The names that a declaration makes."""
        if node.type == "ambient_declaration":
            return [
                name for child in node.named_children if child.type in _DECLARATIONS for name in self._declared_names(child)
            ]
        if node.type not in ("lexical_declaration", "variable_declaration"):
            name = node.child_by_field_name("name")
            if name is None and node.type == "import_alias" and node.named_children:
                name = node.named_children[0]
            return [self.text(name).split(".")[0]] if name is not None else []
        names: list[str] = []
        pending = [child.child_by_field_name("name") for child in node.named_children if child.type == "variable_declarator"]
        while pending:
            one = pending.pop()
            if one is None:
                continue
            if one.type in ("identifier", "shorthand_property_identifier_pattern"):
                names.append(self.text(one))
            elif one.type == "pair_pattern":
                pending.append(one.child_by_field_name("value"))
            elif one.type in ("assignment_pattern", "object_assignment_pattern"):
                pending.append(one.child_by_field_name("left"))
            else:
                pending.extend(one.named_children)
        return names

    def _export_function(self, whole: Node, node: Node, default: bool) -> None:
        name = node.child_by_field_name("name")
        if name is None:
            definition = self.function_definition(whole, node, "default", None, "function")
        else:
            found = next(
                (one for one in self.definitions if one.name_start == name.start_byte and one.kind == "function"), None
            )
            definition = found or self.hoist(whole, node)  # type: ignore[assignment]
        self._exported(definition, default)

    def _exported(self, definition: Definition, default: bool) -> None:
        definition.flags |= bits.EXPORTED
        if default:
            definition.flags |= bits.DEFAULT_EXPORT
            self.add_export("default", ("d", definition.order))
            symbol = self.frame.symbol
            if symbol is not None and symbol.kind in _NAMESPACES:
                symbol.members.setdefault("default", []).append(("d", definition.order))
        else:
            self.add_export(definition.name, ("l", definition.name))
            self._export_member(definition.name)

    def _export_member(self, name: str) -> None:
        """Inside a namespace, what is exported is a member of it."""
        symbol = self.frame.symbol
        if symbol is None or symbol.kind not in _NAMESPACES:
            return
        self._namespace_member(symbol, name)

    def _namespace_member(self, symbol: Definition, name: str) -> None:
        entries = symbol.members.setdefault(name, [])
        for value in (self.frame.env.get(name, ABSENT), self.frame.types.get(name, ABSENT)):
            if value < 0:
                continue
            parts = self.exprs[value]
            entry = ("d", parts[1]) if parts[0] == "d" else ("v", value, None)
            if entry not in entries:
                entries.append(entry)

    def _export_default(self, whole: Node, node: Node) -> None:
        if node.type in FUNCTIONS:
            name = node.child_by_field_name("name")
            definition = self.function_definition(
                whole, node, self.text(name) if name is not None else "default", name, "function"
            )
            self._exported(definition, True)
            return
        if node.type == "class":
            name = node.child_by_field_name("name")
            self._exported(self.class_definition(whole, node, self.text(name) if name is not None else "default", name), True)
            return
        if node.type == "object":
            definition = self.define("default", "constant", whole)
            definition.flags |= bits.EXPORTED | bits.DEFAULT_EXPORT
            value = self.object_value(node, definition, ABSENT)
            self.add_export("default", ("v", value, definition.order))
            return
        if node.type == "identifier":
            self._identifier(node)
            self.add_export("default", ("l", self.text(node)))
            return
        self.add_export("default", ("v", self.expression(node), None))

    def _export_equals(self, node: Node) -> None:
        for child in node.named_children:
            if child.type == "identifier":
                self._identifier(child)
                self.module_values.append(self.make("g", self.text(child)))
            elif child.type != "comment":
                self.module_values.append(self.expression(child))

    def _export_names(self, node: Node) -> None:
        for child in node.named_children:
            if child.type != "export_clause":
                if child.type == "identifier":
                    self.add_export("=", ("l", self.text(child)))
                continue
            for one in child.named_children:
                name, alias = one.child_by_field_name("name"), one.child_by_field_name("alias")
                if name is None:
                    continue
                local = self.text(name)
                exported = self.key_text(alias) if alias is not None else local
                self.add_export(exported, ("l", local))
                self._export_member(local)

    # Namespaces and ambient declarations

    def namespace_statement(self, node: Node) -> bool:
        name, body = node.child_by_field_name("name"), node.child_by_field_name("body")
        if name is None:
            return False
        text = self.text(name)
        ambient_module = name.type == "string"
        levels = 0 if ambient_module else text.count(".")  # each part of ``A.B.C`` is a namespace inside the one before
        if self.depth + levels > MAX_DEPTH:
            self.too_deep = self.too_deep or node.start_point[0] + 1
            return False
        self.depth += 3
        if ambient_module:
            text = text[1:-1]
        definition = self._namespace_definition(text, node, name, body, ambient_module)
        if ambient_module:
            self.module_names.add(text)
            self.names.setdefault(f'"{text}"', []).append(("d", definition.order))
        self.depth -= 3
        return False

    def _namespace_definition(self, text: str, node: Node, name: Node, body: Node | None, ambient: bool) -> Definition:
        parts = [text] if ambient else text.split(".")
        outer, saved_ambient, saved_block = self.frame, self.ambient, self.in_block
        first: Definition | None = None
        inner: Definition | None = None
        for part in parts:
            inner = self.define(part.strip(), "module_decl" if ambient else "namespace", node, name)
            if body is not None:
                inner.head_end = body.start_byte
            value = self.make("d", inner.order)
            if first is None:
                first = inner
                if not ambient:
                    self.declare(inner.name, value, inner)
                    if not self.frame.is_module:
                        self.frame.types.setdefault(inner.name, value)
            elif self.frame.symbol is not None:
                self.frame.symbol.members.setdefault(inner.name, []).append(("d", inner.order))
            frame = Frame(self.frame, inner)
            frame.exposes, frame.this = True, ABSENT
            self.frame = frame
        self.in_block = False
        self.ambient = self.ambient or ambient
        if body is not None and inner is not None:
            self.statements(body.named_children)
            self.run_pending_here()
            if self.ambient:
                for member in (*self.frame.env, *self.frame.types):
                    if not member.startswith("\0"):
                        self._namespace_member(inner, member)
        self.frame, self.ambient, self.in_block = outer, saved_ambient, saved_block
        assert first is not None
        return first

    def run_pending_here(self) -> None:
        pending, self.pending = self.pending, []
        frame = self.frame
        for one in pending:
            one()
            self.run_pending()
            self.pending = []
        self.frame = frame

    def ambient_statement(self, node: Node) -> bool:
        saved, self.ambient = self.ambient, True
        is_global = any(child.type == "global" for child in node.children)
        for child in node.named_children:
            if child.type == "statement_block":
                for statement in child.named_children:
                    self.statement(statement)
                    self.global_names.update(self._declared_names(statement))
                    if (
                        statement.type == "export_statement"
                        and (inner := statement.child_by_field_name("declaration")) is not None
                    ):
                        self.global_names.update(self._declared_names(inner))
            elif child.type != "comment":
                self.statement(child)
                if not is_global and not self.is_module and self.frame.is_module and child.type != "module":
                    self.global_names.update(self._declared_names(child))
        self.ambient = saved
        return False

    def interface_statement(self, node: Node) -> bool:
        super().interface_statement(node)
        self._script_global(node)
        return False

    def alias_statement(self, node: Node) -> bool:
        super().alias_statement(node)
        self._script_global(node)
        return False

    def _script_global(self, node: Node) -> None:
        if not self.is_module and self.frame.is_module:
            self.global_names.update(self._declared_names(node))


_M: Any = Modules
STATEMENTS.update({
    "import_statement": _M.import_statement, "export_statement": _M.export_statement, "import_alias": _M.import_alias,
    "internal_module": _M.namespace_statement, "module": _M.namespace_statement, "ambient_declaration": _M.ambient_statement,
    "interface_declaration": _M.interface_statement,
    "type_alias_declaration": _M.alias_statement,
})  # fmt: skip
