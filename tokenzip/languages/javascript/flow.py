"""Blocks, branches and loops: what names hold as control flows through them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tokenzip.languages.javascript.narrowing import Narrowing
from tokenzip.languages.javascript.scopes import ABSENT, MAX_DEPTH, Definition, Frame
from tokenzip.languages.syntax import Node

_FUNCTION_DECLARATIONS = frozenset({"function_declaration", "generator_function_declaration"})


class Flow(Narrowing):
    """Walks statements; each reader says whether control never goes on behind it."""

    declared_here: list[tuple[Frame, str, int | None]]
    """Names of the block being walked, with what they held outside."""
    _pattern_kind: tuple[Node, str, Node | None] | None = None
    """(whole declaration, its keyword, its value) while the names of a pattern are declared."""

    def function_block(self, body: Node) -> None:
        saved, self.pending = self.pending, []
        saved_declared, self.declared_here = self.declared_here, []
        saved_block, self.in_block = self.in_block, False
        self.statements(body.named_children)
        self.run_pending()
        self.pending, self.declared_here, self.in_block = saved, saved_declared, saved_block

    def statements(self, nodes: Sequence[Node]) -> bool:
        ended = False
        for node in nodes:
            if node.type in _FUNCTION_DECLARATIONS:
                self.hoist(node, node)
        for node in nodes:
            ended = self.statement(node) or ended
        return ended

    def hoist(self, whole: Node, node: Node) -> Definition | None:
        name = node.child_by_field_name("name")
        if name is None:
            return None
        definition = self.function_definition(whole, node, self.text(name), name, "function")
        self.declare(definition.name, self.make("d", definition.order), definition)
        return definition

    def statement(self, node: Node) -> bool:
        reader = STATEMENTS.get(node.type)
        if reader is None:
            self.expression(node)
            return False
        return reader(self, node)

    def block(self, node: Node) -> bool:
        """A nested block: its own names end with it."""
        self.depth += 1
        if self.depth > MAX_DEPTH:
            self.too_deep = self.too_deep or node.start_point[0] + 1
            self.depth -= 1
            return False
        saved, self.pending = self.pending, []
        saved_declared, self.declared_here = self.declared_here, []
        saved_block, self.in_block = self.in_block, True
        saved_types = dict(self.frame.types)
        ended = self.statements(node.named_children) if node.type == "statement_block" else self.statement(node)
        self.run_pending()
        for frame, name, before in reversed(self.declared_here):
            frame.locals.discard(name)
            if before is None:
                frame.env.pop(name, None)
            else:
                frame.env[name] = before
        self.frame.types = saved_types
        self.pending, self.declared_here, self.in_block = saved, saved_declared, saved_block
        self.depth -= 1
        return ended

    def declare(self, name: str, value: int, definition: Definition | None, lexical: bool = True, typed: bool = False) -> None:
        """A name begins to exist in the current block."""
        frame = self.frame
        if self.in_block and lexical:
            self.declared_here.append((frame, name, frame.env.get(name)))
            if frame.is_module:
                frame.locals.add(name)
            frame.assigned[name] = []
        elif frame.is_module:
            is_value = definition is None or definition.kind in ("variable", "constant", "object")
            order = None if definition is None or definition.hidden else definition.order
            self.add_name(name, ("v", value, order) if is_value or definition is None else ("d", definition.order))
        elif lexical and not typed:
            frame.assigned[name] = []
        self.set_in(frame, name, value)
        frame.types.pop("\0" + name, None)

    # Flow

    def return_statement(self, node: Node) -> bool:
        value = self.make("l", "undefined")
        for child in node.named_children:
            if child.type != "comment":
                value = self.expect(child, self.frame.context)
        frame: Frame | None = self.frame
        if frame is not None:
            frame.returns.append(value)
        return True

    def ending(self, node: Node) -> bool:
        for child in node.named_children:
            if child.type not in ("statement_identifier", "comment"):
                self.expression(child)
        return True

    def if_statement(self, node: Node) -> bool:
        """Else-if chains are a loop: they grow long."""
        frame = self.frame
        ends: list[dict[str, int]] = []
        all_end = True
        entry = frame.env
        one: Node | None = node
        while one is not None:
            condition, yes = one.child_by_field_name("condition"), one.child_by_field_name("consequence")
            no = one.child_by_field_name("alternative")
            if condition is None or yes is None:
                all_end = False
                break
            self.expression(condition)
            entry = frame.env
            frame.env = dict(entry)
            self.narrow(condition, False)
            if not self.block(yes):
                ends.append(frame.env)
            frame.env = dict(entry)
            self.narrow(condition, True)
            one = None
            if no is not None:
                body = next((child for child in no.named_children if child.type != "comment"), None)
                if body is not None and body.type == "if_statement":
                    one = body
                elif body is not None and self.block(body):
                    break
                else:
                    ends.append(frame.env)
                    all_end = False
            else:
                ends.append(frame.env)
                all_end = False
        if not ends:
            return all_end
        self.merge(ends)
        return False

    def merge(self, environments: list[dict[str, int]]) -> None:
        """After branches that meet again a name holds what it held in any of them."""
        frame = self.frame
        first = environments[0]
        if len(environments) == 1:
            frame.env = first
            return
        merged: dict[str, int] = {}
        names = dict.fromkeys(name for one in environments for name in one)
        for name in names:
            values = [one.get(name) for one in environments]
            value = values[0]
            if all(other == value for other in values):
                if value is not None:
                    merged[name] = value
            elif "." not in name or None not in values:
                merged[name] = self.union([one for one in values if one is not None])
        frame.env = merged

    def for_in(self, node: Node) -> bool:
        left, right, body = (node.child_by_field_name(field) for field in ("left", "right", "body"))
        if left is None or right is None:
            return False
        source = self.expression(right)
        operator = node.child_by_field_name("operator")
        if operator is not None and operator.type == "in":
            value = self.make("l", "string")
        elif source < 0:
            value = ABSENT
        else:
            value = self.make("I" if any(child.type == "await" for child in node.children) else "i", source)
        kind = node.child_by_field_name("kind")

        def begin() -> None:
            if kind is None:
                self.bind(left, value, declare=False)
            else:
                saved, self._pattern_kind = self._pattern_kind, (left, "let" if kind.type != "var" else "var", right)
                self.bind(left, value, declare=True)
                self._pattern_kind = saved

        self._loop(begin, body)
        return False

    def for_statement(self, node: Node) -> bool:
        def begin() -> None:
            for field in ("initializer", "condition"):
                part = node.child_by_field_name(field)
                if part is not None and part.is_named:
                    self.statement(part)

        increment = node.child_by_field_name("increment")
        self._loop(begin, node.child_by_field_name("body"), increment)
        return False

    def while_statement(self, node: Node) -> bool:
        condition = node.child_by_field_name("condition")

        def begin() -> None:
            if condition is not None:
                self.expression(condition)
                self.narrow(condition, False)

        self._loop(begin, node.child_by_field_name("body"))
        return False

    def _loop(self, begin: Callable[[], None], body: Node | None, after: Node | None = None) -> None:
        frame = self.frame
        saved, self.pending = self.pending, []
        saved_declared, self.declared_here = self.declared_here, []
        saved_block, self.in_block = self.in_block, True
        entry = frame.env
        frame.env = dict(entry)
        begin()
        if body is not None:
            self.block(body)
        if after is not None:
            self.expression(after)
        self.run_pending()
        for _, name, before in reversed(self.declared_here):
            frame.locals.discard(name)
            if before is None:
                frame.env.pop(name, None)
            else:
                frame.env[name] = before
        self.pending, self.declared_here, self.in_block = saved, saved_declared, saved_block
        self.merge([entry, frame.env])

    def switch_statement(self, node: Node) -> bool:
        value, body = node.child_by_field_name("value"), node.child_by_field_name("body")
        if value is None or body is None:
            return False
        self.expression(value)
        saved, self.pending = self.pending, []
        saved_declared, self.declared_here = self.declared_here, []
        saved_block, self.in_block = self.in_block, True
        frame = self.frame
        entry = frame.env
        ends: list[dict[str, int]] = []
        has_default = False
        falls: dict[str, int] | None = None
        for case in body.named_children:
            if case.type == "comment":
                continue
            frame.env = dict(entry)
            test = case.child_by_field_name("value")
            if case.type == "switch_default":
                has_default = True
            elif test is not None:
                self.expression(test)
                self.narrow_equal(value, test, False)
            if falls is not None:
                self.merge([falls, frame.env])
            statements = [child for child in case.named_children if test is None or child.id != test.id]
            ended = self.statements(statements)
            breaks = any(child.type == "break_statement" for child in statements)
            falls = None if ended else frame.env
            if not ended or breaks or _has_break(statements):
                ends.append(frame.env)
        if not has_default:
            ends.append(entry)
        self.run_pending()
        self.pending, self.declared_here, self.in_block = saved, saved_declared, saved_block
        if not ends:
            frame.env = entry
            return True
        self.merge(ends)
        return False

    def try_statement(self, node: Node) -> bool:
        frame = self.frame
        body, handler, final = (node.child_by_field_name(field) for field in ("body", "handler", "finalizer"))
        entry = dict(frame.env)
        ended = self.block(body) if body is not None else False
        after = frame.env
        ends = [] if ended else [after]
        if handler is not None:
            frame.env = dict(entry)
            self.merge([frame.env, dict(after)])
            caught = self._catch(handler)
            if not caught:
                ends.append(frame.env)
            ended = ended and caught
        if ends:
            self.merge(ends)
        else:
            frame.env = after
        if final is not None:
            inner = next((child for child in final.named_children if child.type == "statement_block"), None)
            if inner is not None:
                ended = self.block(inner) or ended
        return ended

    def _catch(self, node: Node) -> bool:
        parameter, body = node.child_by_field_name("parameter"), node.child_by_field_name("body")
        saved_declared, self.declared_here = self.declared_here, []
        saved_block, self.in_block = self.in_block, True
        if parameter is not None:
            self.bind(parameter, self.declared(node.child_by_field_name("type")), declare=True)
        ended = self.block(body) if body is not None else False
        for frame, name, before in reversed(self.declared_here):
            frame.locals.discard(name)
            if before is None:
                frame.env.pop(name, None)
            else:
                frame.env[name] = before
        self.declared_here, self.in_block = saved_declared, saved_block
        return ended

    def expression_statement(self, node: Node) -> bool:
        for child in node.named_children:
            if child.type == "internal_module":
                self.statement(child)
            else:
                self.expression(child)
        return False

    def labeled(self, node: Node) -> bool:
        body = node.child_by_field_name("body")
        if body is not None:
            self.block(body)
        return False

    def damaged(self, node: Node) -> bool:
        """What the grammar could not place: whatever whole statements lie in it."""
        self.depth += 1
        if self.depth <= MAX_DEPTH:
            self.statements(node.named_children)
        self.depth -= 1
        return False

    def nothing(self, _node: Node) -> bool:
        return False


def _has_break(nodes: Sequence[Node]) -> bool:
    for node in nodes:
        if node.type in ("if_statement", "statement_block"):
            pending = [node]
            while pending:
                one = pending.pop()
                if one.type == "break_statement":
                    return True
                if one.type in ("if_statement", "statement_block", "else_clause"):
                    pending.extend(one.named_children)
    return False


Reader = Callable[[Flow, Node], bool]
STATEMENTS: dict[str, Reader] = {}
"""Kind of node -> what reads it; the modules that build on this one add theirs."""
_F: Any = Flow
STATEMENTS.update({
    "expression_statement": _F.expression_statement, "function_declaration": _F.nothing,
    "generator_function_declaration": _F.nothing,
    "return_statement": _F.return_statement, "throw_statement": _F.ending, "break_statement": _F.ending,
    "continue_statement": _F.ending, "if_statement": _F.if_statement, "for_in_statement": _F.for_in,
    "for_statement": _F.for_statement, "while_statement": _F.while_statement, "do_statement": _F.while_statement,
    "switch_statement": _F.switch_statement, "try_statement": _F.try_statement, "statement_block": _F.block,
    "labeled_statement": _F.labeled, "comment": _F.nothing, "empty_statement": _F.nothing,
    "ERROR": _F.damaged, "hash_bang_line": _F.nothing,
})  # fmt: skip
