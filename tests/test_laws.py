"""The eight laws of the design, as tests (docs/architecture.md lists them). Law 2 in memory is here; with a store and git
below it, see test_laws_repository.py.

``TOKENZIP_FUZZ=N`` makes every random test N times as long (1 by default: minutes; 100: a night).
"""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from random import Random

import pytest
from fuzz_projects import GRAMMARS, REAL_EDITS, Project
from history import needed_history
from overlay import Ablation, Files, Negatives, Overlay, difference, extract_all, scratch, stale

from tokenzip.languages import registry
from tokenzip.model import Fact

DEPTH = int(os.environ.get("TOKENZIP_FUZZ", "1"))
SEEDS = range(4 * DEPTH)
STEPS = 100
"""Steps that one seed is followed for."""
FACT_KINDS = ("sym", "def", "mem", "star", "path", "stem", "announced")
LEFT_OUT: Mapping[str, Callable[[Fact, Negatives], bool]] = {
    **{kind: lambda fact, _negatives, kind=kind: fact[0] != kind for kind in FACT_KINDS},  # type: ignore[misc]
    "negative look-ups": lambda fact, negatives: fact not in negatives,
    "absent sym and mem": lambda fact, negatives: fact[0] not in ("sym", "mem") or fact not in negatives,
}
"""What an ablated overlay keeps of the facts, by what it leaves out."""
UNUSED = {"python": {"announced"}, "typescript": {"stem"}}
"""Kinds of fact that a language family has no use for; the other family must."""


def random_states(language: str, seed: int, steps: int = STEPS) -> Iterator[Files]:
    """The states of a random project, one after each step."""
    project = Project(GRAMMARS[language], Random(seed))
    yield extract_all(project.sources())
    for _ in range(steps):
        project.step()
        yield extract_all(project.sources())


@pytest.mark.parametrize("language", GRAMMARS)
@pytest.mark.parametrize("seed", SEEDS)
def test_overlay_equals_scratch_on_random_projects(language: str, seed: int) -> None:
    assert_overlay_equals_scratch(random_states(language, seed), Random(seed))


@pytest.mark.parametrize("language", REAL_EDITS)
@pytest.mark.parametrize("seed", range(2 * DEPTH))
def test_overlay_equals_scratch_on_edited_real_sources(language: str, seed: int) -> None:
    assert_overlay_equals_scratch(real_states(language, seed, steps=40), Random(seed))


@pytest.mark.parametrize("language", GRAMMARS)
@pytest.mark.parametrize("seed", SEEDS)
def test_the_order_of_linking_does_not_matter(language: str, seed: int) -> None:
    random = Random(seed)
    for files in random_states(language, seed + 1000, steps=STEPS // 4):
        order = sorted(files)
        expected = scratch(files, order)
        random.shuffle(order)
        assert not stale(scratch(files, order), expected), order


@pytest.mark.parametrize("language", GRAMMARS)
def test_each_kind_of_fact_is_needed(language: str) -> None:
    """The test of the test: an overlay that forgets a kind of fact goes wrong, and the random projects notice."""
    missed = noticed_without(language, most_steps=8000 * DEPTH)
    assert not missed - UNUSED[language]


def test_every_kind_of_fact_is_of_use_to_some_language() -> None:
    assert not set.intersection(*UNUSED.values())


def noticed_without(language: str, most_steps: int) -> set[str]:
    """What may be left out of the facts without any wrong step; stops as soon as nothing may."""
    open_ablations = {name: Ablation(keep) for name, keep in LEFT_OUT.items()}
    for seed in range(5000, 5000 + most_steps // STEPS):
        states = random_states(language, seed)
        files = next(states)
        links = scratch(files)
        for ablation in open_ablations.values():
            ablation.begin(files, links)
        for new in states:
            step, files = difference(files, new), new
            links, negatives = scratch(files), Negatives(files)
            for ablation in open_ablations.values():
                ablation.advance(step, links, negatives)
            open_ablations = {name: ablation for name, ablation in open_ablations.items() if not ablation.wrong_steps}
            if open_ablations.keys() <= UNUSED[language]:
                return set(open_ablations)
    return set(open_ablations)


def assert_overlay_equals_scratch(states: Iterator[Files], random: Random) -> None:
    overlay = Overlay(next(states))
    for number, files in enumerate(states):
        before = overlay.files
        step = overlay.advance(files, random)
        expected = scratch(files)
        wrong = stale(overlay.links, expected)
        if wrong:
            path = wrong[0]
            cause = "linked again, with another result" if path in step.relinked else "not linked again"
            changed = sorted(step.changed)
            missing = sorted(expected[path].facts - overlay.links[path].facts)
            pytest.fail(
                f"step {number}: {path} was {cause}; changed: {changed}\noverlay {overlay.links[path]}\n"
                f"scratch {expected[path]}\nfacts that only scratch consulted: {missing}\n"
                + "\n".join(f"{it}: {before.get(it)} -> {files.get(it)}" for it in changed)
            )


def real_states(language: str, seed: int, steps: int) -> Iterator[Files]:
    """Real sources under random edits; every now and then all of them are undone."""
    random = Random(seed)
    original = real_sources(language)
    sources = dict(original)
    yield extract_all(sources)
    for _ in range(steps):
        REAL_EDITS[language].step(random, sources)
        if random.random() < 0.04:
            sources = dict(original)
        yield extract_all(sources)


def real_sources(language: str) -> dict[str, str]:
    """Python: a library that is installed with tokenzip. TypeScript: the newest release of a package from the registry."""
    if language == "python":
        specification = importlib.util.find_spec("click")
        assert specification is not None
        assert specification.origin is not None
        root = Path(specification.origin).parent.parent
        paths = list((root / "click").rglob("*.py"))
    else:
        root = needed_history("redux")
        paths = [*(root / "src").rglob("*.ts"), root / "package.json"]
    return {path.relative_to(root).as_posix(): path.read_text(encoding="utf-8") for path in sorted(paths)}


# Law 1: extract depends on nothing but bytes, language and version; interfaces hold no positions.


@pytest.mark.parametrize("language", REAL_EDITS)
def test_an_interface_holds_no_positions(language: str) -> None:
    comment = {"python": "# a comment\n\n\n", "typescript": "// a comment\n\n\n"}[language]
    sources = {path: text for path, text in real_sources(language).items() if not path.endswith(".json")}
    plain = extract_all(sources)
    shifted = extract_all({path: comment + text for path, text in sources.items()})
    for path in sources:
        assert plain[path].interface == shifted[path].interface, path


@pytest.mark.parametrize("language", GRAMMARS)
def test_extract_answers_the_same_again(language: str) -> None:
    project = Project(GRAMMARS[language], Random(1))
    for path, text in project.sources().items():
        reader = registry.for_path(path)
        assert reader is not None
        assert reader.extract(text.encode()) == reader.extract(text.encode())
