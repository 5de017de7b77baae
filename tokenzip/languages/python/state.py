"""The state of one extraction: expressions, scopes, symbols and references found so far."""

from __future__ import annotations

from typing import Any

from tokenzip.languages import syntax
from tokenzip.languages.python.ir import MAX_HEIGHT, MAX_UNION, OVERLOAD, PROPERTY, UNKNOWN, Expression
from tokenzip.languages.syntax import Node
from tokenzip.model import ParseProblem

KINDS = syntax.kinds("python")
MAX_DEPTH = 90
"""Nested expressions and nested blocks that are followed, each; what lies deeper is left out and reported."""

_NO_NAMES: frozenset[str] = frozenset()
Env = dict[str, int]
"""Name or dotted path (``self.x``) -> expression that it stands for at this point of the flow."""


class Scope:
    """A module, class or function body while its flow is followed."""

    __slots__ = (
        "breaks", "cls", "env", "ever", "globals", "immediate", "is_classmethod", "is_function", "nonlocals", "outer", "paths",
        "returns", "symbol", "yields",
    )  # fmt: skip

    def __init__(self, outer: Scope | None, *, is_function: bool, symbol: int = UNKNOWN, cls: int = UNKNOWN) -> None:
        self.outer = outer
        self.is_function = is_function
        self.symbol = symbol
        self.cls = cls
        """The class whose body this is, or whose method."""
        self.env: Env = {}
        self.globals: frozenset[str] = _NO_NAMES
        self.nonlocals: frozenset[str] = _NO_NAMES
        self.ever: Env = {}
        """All values of each name of a function, on whatever branch: a closure may see any of them."""
        self.paths = False
        """Whether `env` holds dotted paths."""
        self.returns: list[int] = []
        self.yields: list[int] = []
        self.breaks: list[list[Env]] = []
        """For each loop around: what was known at its `break`s."""
        self.is_classmethod = False
        self.immediate: bool = not is_function and (outer is None or outer.immediate)
        """Runs when the module does, so the module's flow applies."""


class Definition:
    """A symbol in the making."""

    __slots__ = (
        "bases", "decorators", "doc", "end", "end_line", "flags", "is_definition", "kind", "line", "metaclass", "name",
        "name_end", "name_line", "name_start", "parameters", "parent", "returns", "signature_end", "start",
        "type_parameters",
    )  # fmt: skip

    def __init__(self, name: str, kind: str, parent: int, flags: int, outer: Node, named: Node, signature_end: int) -> None:
        self.name = name
        self.kind = kind
        self.parent = parent
        self.flags = flags
        self.start, self.end = outer.start_byte, outer.end_byte
        self.line, self.end_line = outer.start_point[0] + 1, outer.end_point[0] + 1
        self.name_start, self.name_end = named.start_byte, named.end_byte
        self.name_line = named.start_point[0] + 1
        self.signature_end = signature_end
        self.doc = (0, 0)
        self.is_definition = False
        """A function or class, with what follows here filled in."""
        self.parameters: tuple[tuple[str, int, str], ...] = ()
        self.returns = UNKNOWN
        self.decorators: tuple[int, ...] = ()
        self.bases: tuple[int, ...] = ()
        self.type_parameters: tuple[str, ...] = ()
        self.metaclass = UNKNOWN


class State:
    """All that one run over a file fills."""

    def __init__(self, source: bytes) -> None:
        self.source = source
        self.line_offset = 0
        """Added to lines while an annotation inside a string is read."""
        self.expressions: list[Expression] = []
        self._ids: dict[Expression, int] = {}
        self._heights: list[int] = []
        self.globals: dict[str, int] = {}
        """Module-level names -> their expressions."""
        self._literals: dict[str, int] = {}
        self.naming: list[int] = []
        """Expressions whose first part is a symbol of this run, named in the end by its qualified name."""
        self.mentioned: set[int] = set()
        """Expressions of local definitions and imports: a read of such a name is a use, that of another local is none."""
        self.symbols: list[Definition] = []
        self.references: list[tuple[int, str, int, int, str]] = []
        self._used: set[tuple[int, str, int]] = set()
        self.names: dict[str, list[tuple[Any, ...]]] = {}
        self.members: dict[int, dict[str, list[tuple[Any, ...]]]] = {}
        self.variables: dict[tuple[int, str], int] = {}
        """(parent, name) -> symbol of a variable or attribute."""
        self.stars: list[tuple[str, int]] = []
        self.imports: list[tuple[int, str, int, str | None, int, str]] = []
        self.exported: list[str] | None = None
        self.exported_complete = True
        self.plugins: list[str] = []
        """Modules that ``pytest_plugins`` names."""
        self.passed: list[tuple[int, tuple[int, ...], tuple[tuple[str, int], ...]]] = []
        self.deferred: list[tuple[Node, Scope, int, bool]] = []
        self.starts: list[int] = []
        """Where statements begin, for `syntax.token_hashes` (strings alone, mostly docs, are none), and where blocks end."""
        self.ends: list[int] = []
        self.module = Scope(None, is_function=False)
        self.scope = self.module
        self.owner = UNKNOWN
        """The symbol that is being walked."""
        self.bound: dict[int, frozenset[str]] = {}
        """Function symbol -> all names that its body binds."""
        self.narrowed: dict[tuple[str, int], int | None] = {}
        """(name or path, narrowed value) -> value before: where branches meet again, the narrower one says nothing more."""
        self.depth = 0
        self.block_depth = 0
        self.conditional = 0
        """Branches around the current statement of a module or class body."""
        self.type_checking = 0
        self.problems: list[ParseProblem] = []
        self.tolerant = False
        """The tree holds syntax errors, so its nodes may lack what the grammar promises."""

    # ---- expressions

    def make(self, *expression: Any) -> int:
        """The number of an expression; equal ones have one number. UNKNOWN if it would grow too high."""
        known = self._ids.get(expression)
        if known is not None:
            return known
        number = len(self.expressions)
        kind = expression[0]
        height = 1
        if kind in LEAVES:
            if kind in NAMING:
                self.naming.append(number)
            if kind in _MENTIONED:
                self.mentioned.add(number)
        elif kind == "attr":
            if expression[1] >= 0:
                height = self._heights[expression[1]] + 1
        else:
            height = self._height_of(expression)
        if height > MAX_HEIGHT:
            return UNKNOWN
        self._ids[expression] = number
        self.expressions.append(expression)
        self._heights.append(height)
        return number

    def _height_of(self, expression: Expression) -> int:
        heights = self._heights
        height = 0
        for part in expression[1:]:
            if type(part) is tuple:
                for child in part:
                    if type(child) is int and 0 <= child < len(heights) and heights[child] > height:
                        height = heights[child]
            elif type(part) is int and 0 <= part < len(heights) and heights[part] > height:
                height = heights[part]
        return height + 1

    def over(self, kind: str, operand: int, *rest: Any) -> int:
        """An expression over one operand: unknown if the operand is."""
        return UNKNOWN if operand < 0 else self.make(kind, operand, *rest)

    def union(self, numbers: list[int] | tuple[int, ...]) -> int:
        """Any of the known ones among `numbers`."""
        parts: list[int] = []
        for number in numbers:
            if number < 0 or number in parts:
                continue
            expression = self.expressions[number]
            if expression[0] == "union":
                parts.extend(part for part in expression[1] if part not in parts)
            else:
                parts.append(number)
        if not parts or len(parts) > MAX_UNION:
            return UNKNOWN
        return parts[0] if len(parts) == 1 else self.make("union", tuple(parts))

    def kind_of(self, number: int) -> str:
        return self.expressions[number][0] if number >= 0 else ""

    def literal(self, name: str) -> int:
        """The expression of a literal of a builtin type."""
        known = self._literals.get(name)
        if known is None:
            known = self._literals[name] = self.make("literal", name)
        return known

    def global_name(self, name: str) -> int:
        """The expression of a module-level name or builtin."""
        known = self.globals.get(name)
        if known is None:
            known = self.globals[name] = self.make("global", name)
        return known

    # ---- text and lines

    def text(self, node: Node) -> str:
        return self.source[node.start_byte : node.end_byte].decode()

    def line(self, node: Node) -> int:
        return node.start_point[0] + 1 + self.line_offset

    def leave_out(self, node: Node) -> None:
        """Note that what lies at `node` is nested too deeply to be followed."""
        self.report(node, "nested too deeply: left out")

    def report(self, node: Node, message: str) -> None:
        """Add a problem, one for each line."""
        line = self.line(node)
        if len(self.problems) < syntax.MAX_PROBLEMS and not any(problem.line == line for problem in self.problems):
            self.problems.append(ParseProblem(line, message))

    # ---- names

    def set_local(self, scope: Scope, name: str, value: int) -> None:
        """Bind a name of a function or class body."""
        scope.env[name] = value
        if scope.is_function:
            before = scope.ever.get(name)
            scope.ever[name] = value if before is None or before == value else self.union((before, value))

    def lookup(self, name: str) -> tuple[int, bool]:
        """What a name stands for here, and whether a function or class body around binds it."""
        scope: Scope | None = self.scope
        first = True
        while scope is not None and scope.outer is not None:
            if first or scope.is_function:
                if name in scope.globals:
                    break
                value = scope.env.get(name) if first else scope.ever.get(name)
                if value is not None:
                    return value, True
            first = False
            scope = scope.outer
        if self.scope.immediate:
            value = self.module.env.get(name)
            if value is not None:
                return value, False
        return self.global_name(name), False

    def load(self, name: str, node: Node) -> int:
        """The value of a name that is read here; notes the use of what other places can see."""
        value, is_local = self.lookup(name)
        if not is_local:
            self.use(self.global_name(name), node, name)
        elif value in self.mentioned:
            self.use(value, node, name)
        return value

    # ---- references

    def refer(self, kind: str, expression: int, node: Node, name: str) -> None:
        self.references.append((self.owner, kind, expression, node.start_point[0] + 1 + self.line_offset, name))

    def use(self, expression: int, node: Node, name: str, kind: str = "use") -> None:
        """Note a read (or with `kind` another mention) once for each symbol that does it: the first line speaks for all."""
        key = (self.owner, kind, expression)
        if key not in self._used or expression < 0:
            self._used.add(key)
            self.references.append((self.owner, kind, expression, node.start_point[0] + 1 + self.line_offset, name))

    # ---- symbols

    def add_symbol(self, symbol: Definition) -> int:
        self.symbols.append(symbol)
        return len(self.symbols) - 1

    def add_variable(
        self, name: str, named: Node, statement: Node, signature_end: int, *, parent: int, kind: str, flags: int = 0
    ) -> int:
        """The symbol of a variable or attribute: its first binding makes it, later ones are that same symbol."""
        known = self.variables.get((parent, name))
        if known is None:
            symbol = Definition(name, kind, parent, flags, statement, named, signature_end)
            known = self.variables[parent, name] = self.add_symbol(symbol)
        return known

    # ---- bindings

    def entry(self, name: str, entry: tuple[Any, ...]) -> None:
        """Bind a module-level name for other files and for functions of this one."""
        entries = self.names.setdefault(name, [])
        if entry[0] in ("def", "import") and not self.conditional and not self._keeps(entry):
            entries[:] = [old for old in entries if old[0] not in ("def", "import")]
        if entry not in entries:
            entries.append(entry)

    def _keeps(self, entry: tuple[Any, ...]) -> bool:
        """Whether a definition joins those of the same name before it instead of taking their place."""
        if entry[0] != "def":
            return False
        if self.symbols[entry[1]].flags & (OVERLOAD | PROPERTY):
            return True
        olds = self.names.get(self.symbols[entry[1]].name, ())
        return any(old[0] == "def" and self.symbols[old[1]].flags & OVERLOAD for old in olds)

    def member(self, cls: int, name: str, entry: tuple[Any, ...]) -> None:
        """Add an entry to a member of a class."""
        entries = self.members[cls].setdefault(name, [])
        if entry not in entries:
            entries.append(entry)

    def enclosing_class(self) -> tuple[int, bool]:
        """The class whose method is being walked, if any, and whether it is a class method."""
        scope: Scope | None = self.scope
        while scope is not None and (scope.cls < 0 or not scope.is_function):
            scope = scope.outer
        return (UNKNOWN, False) if scope is None else (scope.cls, scope.is_classmethod)

    def in_function(self) -> bool:
        scope: Scope | None = self.scope
        while scope is not None:
            if scope.is_function:
                return True
            scope = scope.outer
        return False


_MENTIONED = frozenset({"def", "import"})
NAMING = frozenset({"def", "raw", "self", "class", "super", "param"})
LEAVES = frozenset({"global", "def", "raw", "import", "self", "class", "super", "literal", "param"})
