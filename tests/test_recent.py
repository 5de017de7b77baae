from tokenzip.recent import Recent


def test_what_was_asked_for_longest_ago_is_forgotten():
    recent: Recent[str, int] = Recent(2)
    recent.put("a", 1)
    recent.put("b", 2)
    assert recent.get("a") == 1
    recent.put("c", 3)
    assert (recent.get("a"), recent.get("b"), recent.get("c")) == (1, None, 3)


def test_weights_together_are_bounded():
    recent: Recent[str, str] = Recent(10, 5, len)
    recent.put("a", "xx")
    recent.put("b", "xxx")
    assert "a" in recent
    recent.put("c", "x")
    assert "a" not in recent
    assert "b" in recent


def test_an_entry_put_again_counts_with_its_new_weight():
    recent: Recent[str, list[int]] = Recent(10, 5, len)
    grown: list[int] = []
    recent.put("grown", grown)
    recent.put("other", [1, 2])
    grown.extend([1, 2, 3, 4])
    recent.put("grown", grown)
    assert recent.get("grown") == grown
    assert recent.get("other") is None


def test_the_last_entry_stays_however_heavy():
    recent: Recent[str, str] = Recent(10, 5, len)
    assert recent.put("a", "x" * 100) == recent.get("a")


def test_what_is_made_once_is_not_made_again():
    recent: Recent[str, int] = Recent(10)
    made = iter([1, 2])
    assert recent.get_or_make("a", lambda: next(made)) == 1
    assert recent.get_or_make("a", lambda: next(made)) == 1
    assert next(made) == 2
