"""Breaking, compatible or internal: the rules of `docs/diff.md`, in its order.

*breaking*: some code that used the old state stops working or means something else. *compatible*: what others can see
changed, and whatever used it still works. *internal*: nothing that others can see changed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from tokenzip.diff.aspects import Aspects, interface_of, modifiers_of
from tokenzip.diff.side import Node
from tokenzip.languages.shape import canonical_text
from tokenzip.model import Effect, Flag, Parameter, SymbolDetail

Finding = tuple[Effect, str]
"""An effect and what it rests on, in words."""
_WEIGHT: dict[Effect, int] = {"breaking": 0, "compatible": 1, "internal": 2}


@dataclass(frozen=True, slots=True)
class Conventions:
    """What of a signature callers can rely on in a language."""

    by_keyword: bool
    """Arguments can be passed by the parameter's name."""
    unannotated_is_any: bool
    """A parameter without a type accepts all and a type checker guards the build, so adding a type narrows it."""
    receivers: frozenset[str] = frozenset()
    """Names of first parameters that callers do not pass."""


_PYTHON = Conventions(by_keyword=True, unannotated_is_any=False, receivers=frozenset({"self", "cls"}))
_JAVASCRIPT = Conventions(by_keyword=False, unannotated_is_any=False)
_TYPESCRIPT = Conventions(by_keyword=False, unannotated_is_any=True, receivers=frozenset({"this"}))
_CONVENTIONS = {"python": _PYTHON, "javascript": _JAVASCRIPT, "typescript": _TYPESCRIPT, "tsx": _TYPESCRIPT}
_OTHER = Conventions(by_keyword=False, unannotated_is_any=False)


def verdict(findings: Sequence[Finding]) -> tuple[Effect, tuple[str, ...]]:
    """The weightiest effect, and the reasons from the weightiest down."""
    ordered = sorted(findings, key=lambda finding: _WEIGHT[finding[0]])
    return (ordered[0][0] if ordered else "internal"), tuple(dict.fromkeys(reason for _, reason in ordered if reason))


_ABOUT_TYPES = ("type of ", "return type ", "type was ")


def is_about_types(reason: str) -> bool:
    """Whether a reason is about declared types only."""
    return reason.startswith(_ABOUT_TYPES)


def is_visible(node: Node) -> bool:
    """Whether other files can name it: exported, not private, not local, not in a test."""
    if node.is_test:
        return False
    if node.symbol is None:
        return any(is_visible(child) for child in node.children)
    top = node
    while True:
        if top.flags & (Flag.LOCAL | Flag.PRIVATE):
            return False
        if top.parent is None or top.parent.symbol is None:
            return bool(top.flags & (Flag.EXPORTED | Flag.DEFAULT_EXPORT)) or top.kind not in _NEED_EXPORT
        top = top.parent


_NEED_EXPORT = frozenset(
    {"function", "class", "interface", "type_alias", "enum", "variable", "constant", "namespace", "struct", "trait", "macro",
     "property", "method", "constructor"}
)  # fmt: skip


def removed(node: Node) -> Finding:
    """A thing that is gone, under its old name and place."""
    return ("breaking", f"{node.kind} is gone") if is_visible(node) else ("internal", "")


def added(node: Node) -> Finding:
    """A new thing: it breaks others only if they must now have it too."""
    if not is_visible(node):
        return "internal", ""
    container = node.parent
    if container is not None and container.symbol is not None and is_visible(container) and _is_demanded(node, container):
        return "breaking", f"whatever implements `{container.name}` must now have `{node.name}`"
    return "compatible", ""


def _is_demanded(node: Node, container: Node) -> bool:
    """Whether a member must be there in whatever inherits from its class, implements it or is used as one of it."""
    if node.flags & Flag.OPTIONAL:
        return False
    if node.flags & Flag.ABSTRACT and container.kind in ("class", "interface", "trait"):
        return True
    is_member = node.kind in ("property", "method")
    return is_member and (container.kind == "interface" or _is_protocol(container))


def _is_protocol(container: Node) -> bool:
    """Whether a class of Python stands for whatever has its members. Details are only asked for where the word is at hand."""
    return b"Protocol" in container.head and any(map(_PROTOCOL.fullmatch, container.detail.bases))


_PROTOCOL = re.compile(r"(?:\w+\.)*Protocol(?:\[.*\])?", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Ends:
    """Both states of one symbol, with details in which types go by their names at the head."""

    base: Node
    head: Node
    before: SymbolDetail
    after: SymbolDetail
    language: str
    rules: Conventions

    @classmethod
    def of(cls, base: Node, head: Node, renamed_types: Mapping[str, str]) -> Ends:
        language = head.file.facts.language or ""
        before = _with_new_names(base.detail, renamed_types)
        return cls(base, head, before, head.detail, language, _CONVENTIONS.get(language, _OTHER))

    def type(self, written: str) -> str:
        return canonical_text(self.language, written, is_type=True)

    def text(self, written: str) -> str:
        return canonical_text(self.language, written)


def _with_new_names(detail: SymbolDetail, renamed_types: Mapping[str, str]) -> SymbolDetail:
    """The detail as it would be written after types were renamed."""
    if not renamed_types:
        return detail
    pattern = re.compile(r"(?<![\w$])(?:" + "|".join(map(re.escape, sorted(renamed_types))) + r")(?![\w$])")

    def new(text: str) -> str:
        return pattern.sub(lambda found: renamed_types[found[0]], text)

    return replace(
        detail,
        parameters=tuple(replace(parameter, annotation=new(parameter.annotation)) for parameter in detail.parameters),
        returns=new(detail.returns),
        generics=tuple(map(new, detail.generics)),
        bases=tuple(map(new, detail.bases)),
    )


def changed(base: Node, head: Node, aspects: Aspects, kept: str, renamed_types: Mapping[str, str]) -> list[Finding]:
    """All findings about a pair. `kept` says how the old name still works; empty if it does not.

    `renamed_types` (old name -> new name) are types that both states mean by different names.
    """
    if not is_visible(base):
        appears = is_visible(head) and (aspects.renamed or aspects.moved or aspects.modifiers)
        return [("compatible", "visible now") if appears else ("internal", "")]
    findings: list[Finding] = []
    if aspects.renamed or aspects.moved:
        findings.append(_gone_from_its_place(base, head, aspects, kept))
    if aspects.signature:
        findings += _signature(Ends.of(base, head, renamed_types))
    if aspects.modifiers:
        findings += _modifiers(base, head, aspects)
    if aspects.body:
        findings += _body(base, head)
    return findings


def _gone_from_its_place(base: Node, head: Node, aspects: Aspects, kept: str) -> Finding:
    done = "renamed" if aspects.renamed else "moved"
    if kept:
        return "compatible", f"{done}; {kept}"
    return "breaking", f"{done} from `{base.key.handle}`" if aspects.moved else f"renamed from `{base.name}`"


# ---- signatures


def _signature(ends: Ends) -> list[Finding]:
    base, head = ends.base, ends.head
    if base.group != head.group and base.is_attribute and head.is_attribute:
        return [_attribute_made_otherwise(head)]
    if base.group != head.group or (base.group == "type" and base.kind != head.kind):
        return [("breaking", f"was a {base.kind}, is a {head.kind}")]
    findings = [*_parameters(ends), *_returns(ends), *_generics(ends), *_bases(ends)]
    if base.kind == "type_alias" and base.body_tokens + base.signature_tokens != head.body_tokens + head.signature_tokens:
        findings.append(("breaking", "stands for another type"))
    if findings:
        return findings
    same = interface_of(ends.language, base.detail) == interface_of(ends.language, head.detail)
    return [("breaking", "signature differs") if same else ("internal", "the same in another spelling")]


def _attribute_made_otherwise(head: Node) -> Finding:
    if not head.flags & Flag.PROPERTY:
        return "compatible", "was a property, is an attribute"
    siblings = head.parent.children if head.parent is not None else ()
    can_be_set = any(other is not head and other.plain_name == head.plain_name for other in siblings)
    return ("compatible", "was an attribute, is a property") if can_be_set else ("breaking", CANNOT_BE_SET)


def _parameters(ends: Ends) -> Iterator[Finding]:
    before, after = _passed(ends.before.parameters, ends.rules), _passed(ends.after.parameters, ends.rules)
    renamed = _renamed_parameters(before, after)
    old = {renamed.get(parameter.name, parameter.name): parameter for parameter in before}
    new = {parameter.name: parameter for parameter in after}
    for name, parameter in old.items():
        if name not in new:
            yield _removed_parameter(parameter, after)
        else:
            yield from _changed_parameter(parameter, new[name], ends)
    for place, parameter in enumerate(after):
        if parameter.name not in old:
            yield _added_parameter(parameter, any(later.name in old and _is_positional(later) for later in after[place:]))
    kept_before = [name for name, parameter in old.items() if name in new and _is_positional(parameter)]
    kept_after = [parameter.name for parameter in after if parameter.name in old and _is_positional(parameter)]
    if sorted(kept_before) == sorted(kept_after) and kept_before != kept_after:
        yield "breaking", "parameters have another order"


def _passed(parameters: Sequence[Parameter], rules: Conventions) -> list[Parameter]:
    """The parameters that callers pass; a destructured one counts as what it takes out."""
    if parameters and parameters[0].name in rules.receivers:
        parameters = parameters[1:]
    return list(parameters)


def _renamed_parameters(before: Sequence[Parameter], after: Sequence[Parameter]) -> dict[str, str]:
    """Old name -> new name, for parameters that kept their place and nothing else has that name."""
    if len(before) != len(after):
        return {}
    olds, news = {parameter.name for parameter in before}, {parameter.name for parameter in after}
    return {
        old.name: new.name
        for old, new in zip(before, after, strict=True)
        if old.name not in news and new.name not in olds and old.variadic == new.variadic
    }


def _is_positional(parameter: Parameter) -> bool:
    return not parameter.keyword_only and not parameter.variadic


def _removed_parameter(parameter: Parameter, after: Sequence[Parameter]) -> Finding:
    takes_all = any(other.variadic and _takes_keywords(other) for other in after)
    if parameter.keyword_only and not parameter.variadic and takes_all:
        return "compatible", f"parameter `{parameter.name}` is taken by the variadic one"
    return "breaking", f"parameter `{parameter.name}` is gone"


def _takes_keywords(parameter: Parameter) -> bool:
    return parameter.keyword_only or parameter.name.startswith("**")


def _added_parameter(parameter: Parameter, before_others: bool) -> Finding:
    if parameter.variadic:
        return "compatible", f"parameter `{parameter.name}` is new and variadic"
    if not parameter.optional and not parameter.default:
        return "breaking", f"parameter `{parameter.name}` is new and required"
    if before_others and _is_positional(parameter):
        return "breaking", f"parameter `{parameter.name}` is new and shifts those after it"
    return "compatible", f"parameter `{parameter.name}` is new and optional"


def _changed_parameter(old: Parameter, new: Parameter, ends: Ends) -> Iterator[Finding]:
    name = new.name
    if old.name != name:
        seen = ends.rules.by_keyword and not old.positional_only and not old.variadic
        pattern = _pattern_keys(old.name), _pattern_keys(name)
        if pattern[0] is not None and pattern[1] is not None:
            yield from _changed_pattern(pattern[0], pattern[1])
        else:
            yield ("breaking" if seen else "compatible"), f"parameter `{old.name}` is now `{name}`"
    if old.variadic != new.variadic:
        yield (
            ("compatible" if new.variadic else "breaking"),
            f"parameter `{name}` is {'' if new.variadic else 'not '}variadic now",
        )
    if not old.keyword_only and new.keyword_only and not new.variadic:
        yield "breaking", f"parameter `{name}` is keyword-only now"
    if not old.positional_only and new.positional_only and ends.rules.by_keyword:
        yield "breaking", f"parameter `{name}` is positional-only now"
    if (old.keyword_only and not new.keyword_only) or (old.positional_only and not new.positional_only):
        yield "compatible", f"parameter `{name}` can be passed in more ways"
    if old.variadic == new.variadic:
        yield from _changed_default(old, new, ends)
    yield from _changed_annotation(old, new, ends)


def _changed_default(old: Parameter, new: Parameter, ends: Ends) -> Iterator[Finding]:
    was, now = bool(old.default) or old.optional, bool(new.default) or new.optional
    if was and not now:
        yield "breaking", f"parameter `{new.name}` is required now"
    elif now and not was:
        yield "compatible", f"parameter `{new.name}` is optional now"
    elif ends.text(old.default) != ends.text(new.default):
        yield (
            "compatible",
            f"default of `{new.name}` is now `{new.default}`" if new.default else f"default of `{new.name}` is gone",
        )


def _changed_annotation(old: Parameter, new: Parameter, ends: Ends) -> Iterator[Finding]:
    before, after = members_of_type(ends.language, old.annotation), members_of_type(ends.language, new.annotation)
    if before == after:
        return
    said = f"type of `{new.name}`"
    if not new.annotation:
        yield "compatible", f"{said} is not given any more"
    elif not old.annotation:
        yield ("breaking" if ends.rules.unannotated_is_any and not after & _ANY else "compatible"), f"{said} is given now"
    elif before < after or after & _ANY:
        yield "compatible", f"{said} is wider"
    else:
        yield "breaking", f"{said} was `{old.annotation}`, is `{new.annotation}`"


def _returns(ends: Ends) -> Iterator[Finding]:
    old, new = ends.before.returns, ends.after.returns
    before, after = members_of_type(ends.language, old), members_of_type(ends.language, new)
    if before == after:
        return
    said = "return type" if ends.base.group == "callable" else "type"
    written = ends.base.group == "value" and not ends.base.flags & ends.head.flags & Flag.READONLY
    if not old or not new:
        yield "compatible", f"{said} is {'given now' if new else 'not given any more'}"
    elif after & _ANY or (after < before and not written):
        yield "compatible", f"{said} is narrower" if after < before else f"{said} is not checked any more"
    else:
        yield "breaking", f"{said} was `{old}`, is `{new}`"


def _generics(ends: Ends) -> Iterator[Finding]:
    old, new = list(map(ends.type, ends.before.generics)), list(map(ends.type, ends.after.generics))
    if old == new:
        return
    if new[: len(old)] == old and all("=" in text for text in ends.after.generics[len(old) :]):
        yield "compatible", "type parameters with defaults are new"
    else:
        yield "breaking", "type parameters differ"


def _bases(ends: Ends) -> Iterator[Finding]:
    old, new = list(map(ends.text, ends.before.bases)), list(map(ends.text, ends.after.bases))
    if old == new:
        return
    for text, written in zip(old, ends.before.bases, strict=True):
        if text not in new:
            yield "breaking", f"does not inherit `{written}` any more"
    for text, written in zip(new, ends.after.bases, strict=True):
        if text not in old:
            yield "compatible", f"inherits `{written}` too"
    if sorted(old) == sorted(new):
        yield "compatible", "bases have another order"


_ANY = frozenset({"Any", "object", "any", "unknown", "typing . Any", "t . Any"})
_OPTIONAL_TYPE = re.compile(r"(?:\w+\.)?Optional\[(.*)\]", re.DOTALL)
_UNION_TYPE = re.compile(r"(?:\w+\.)?Union\[(.*)\]", re.DOTALL)


def members_of_type(language: str, written: str) -> frozenset[str]:
    """The members of a union type in canonical text: ``Optional[A]`` is ``A | None``. Empty if nothing is written."""
    members: set[str] = set()
    pending = [written.strip()]
    while pending:
        text = pending.pop().strip()
        if not text:
            continue
        if language == "python":
            quoted = re.fullmatch(r"(['\"])(.*)\1", text, re.DOTALL)
            optional, union = _OPTIONAL_TYPE.fullmatch(text), _UNION_TYPE.fullmatch(text)
            if quoted:
                pending.append(quoted[2])
                continue
            if optional or union:
                pending += [*_split(optional[1], ","), "None"] if optional else _split(union[1] if union else "", ",")
                continue
        parts = _split(text, "|")
        if len(parts) > 1:
            pending += parts
        else:
            members.add(canonical_text(language, text, is_type=True))
    return frozenset(members)


def _split(text: str, separator: str) -> list[str]:
    """Cut at a separator that stands outside of all brackets and quotes."""
    parts, depth, last, quote = [], 0, 0, ""
    for place, sign in enumerate(text):
        if quote:
            quote = "" if sign == quote else quote
        elif sign in "'\"`":
            quote = sign
        elif sign in "([{<":
            depth += 1
        elif sign in ")]}" or (sign == ">" and text[place - 1 : place] != "="):
            depth -= 1
        elif sign == separator and depth == 0:
            parts.append(text[last:place])
            last = place + 1
    return [*parts, text[last:]]


def _pattern_keys(name: str) -> dict[str, bool] | None:
    """The keys that a destructured parameter takes out, and whether each has a default; None for a plain name."""
    if not (name.startswith("{") and name.endswith("}")):
        return None
    keys = {}
    for part in _split(name[1:-1], ","):
        key = re.match(r"\s*(\.\.\.)?\s*([\w$]+)", part)
        if key:
            keys[key[2]] = "=" in part or bool(key[1])
    return keys


def _changed_pattern(old: dict[str, bool], new: dict[str, bool]) -> Iterator[Finding]:
    for key in old:
        if key not in new:
            yield "breaking", f"option `{key}` is gone"
    for key, optional in new.items():
        if key not in old:
            yield "compatible", f"option `{key}` is new{'' if optional else ' and has no default'}"


# ---- modifiers and bodies

CANNOT_BE_SET = "was an attribute, is a property that cannot be set"
"""A reason that who only reads it does not feel."""

# flag -> (what gaining it does, what losing it does)
_GAIN_AND_LOSS: dict[Flag, tuple[Finding, Finding]] = {
    Flag.ASYNC: (("breaking", "async now"), ("breaking", "not async any more")),
    Flag.GENERATOR: (("breaking", "a generator now"), ("breaking", "not a generator any more")),
    Flag.STATIC: (("breaking", "static now"), ("breaking", "not static any more")),
    Flag.CLASSMETHOD: (("breaking", "a class method now"), ("breaking", "not a class method any more")),
    Flag.PROPERTY: (("breaking", "read like an attribute now"), ("breaking", "called like a method now")),
    Flag.ABSTRACT: (("breaking", "abstract now"), ("compatible", "not abstract any more")),
    Flag.EXPORTED: (("compatible", "exported now"), ("breaking", "not exported any more")),
    Flag.DEFAULT_EXPORT: (("breaking", "the default export now"), ("breaking", "not the default export any more")),
    Flag.PRIVATE: (("breaking", "private now"), ("compatible", "not private any more")),
    Flag.PROTECTED: (("breaking", "protected now"), ("compatible", "not protected any more")),
    Flag.READONLY: (("breaking", "read-only now"), ("compatible", "can be written now")),
    Flag.OPTIONAL: (("breaking", "may be missing now"), ("breaking", "must be there now")),
}


def _modifiers(base: Node, head: Node, aspects: Aspects) -> Iterator[Finding]:
    gained, lost = head.flags & aspects.flags, base.flags & aspects.flags
    if base.is_attribute and head.is_attribute:
        gained, lost = gained & ~Flag.PROPERTY, lost & ~Flag.PROPERTY
    for flag, (gain, loss) in _GAIN_AND_LOSS.items():
        if gained & flag:
            yield _unless_property(gain, flag, gained | lost)
        elif lost & flag:
            yield _unless_property(loss, flag, gained | lost)
    if base.kind != head.kind:
        yield "compatible", f"was a {base.kind}, is a {head.kind}"
    language = head.file.facts.language or ""
    if modifiers_of(language, base.detail)[0] != modifiers_of(language, head.detail)[0]:
        before, after = base.detail.decorators, head.detail.decorators
        gone = [text for text in before if text not in after]
        new = [text for text in after if text not in before]
        said = [f"`{text}` is gone" for text in gone] + [f"`{text}` is new" for text in new]
        yield "compatible", "decorators: " + (", ".join(said) or "another order")


def _unless_property(finding: Finding, flag: Flag, differing: Flag) -> Finding:
    """Accessors say the same twice; being optional or read-only then follows from being one."""
    return ("compatible", finding[1]) if flag & Flag.READONLY and differing & Flag.PROPERTY else finding


def _body(base: Node, head: Node) -> Iterator[Finding]:
    if head.kind == "enum_member":
        yield "breaking", f"value was `{base.detail.value}`, is `{head.detail.value}`"
    elif head.group == "value":
        yield "compatible", "another value"
    else:
        yield "internal", ""
