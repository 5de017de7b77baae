"""Both eras of the protocol, message by message, against a server on a thread of this process."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from typing import Any

import pytest
from mcp_client import LONG, META, PREFIX, SHORT, InProcess, in_process, is_answer

from tokenzip.server.connection import Connection


@pytest.fixture
def fresh() -> Iterator[InProcess]:
    """Nothing said yet."""
    yield from in_process()


@pytest.fixture
def legacy(fresh: InProcess) -> InProcess:
    fresh.handshake()
    return fresh


@pytest.fixture
def modern() -> Iterator[InProcess]:
    yield from in_process(modern=True)


@pytest.fixture(params=["legacy", "modern"])
def client(request: pytest.FixtureRequest) -> InProcess:
    era: InProcess = request.getfixturevalue(request.param)
    return era


def connection_of(client: InProcess) -> Connection:
    assert client.server.connection is not None
    return client.server.connection


# -- the legacy era


@pytest.mark.parametrize(
    ("asked", "given"),
    [
        *((version, version) for version in ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")),
        ("2026-07-28", "2025-11-25"),
        ("2099-01-01", "2025-11-25"),
    ],
)
def test_a_handshake_agrees_on_a_version(fresh: InProcess, asked: str, given: str) -> None:
    result = fresh.handshake(asked)
    assert result["protocolVersion"] == given
    assert result["serverInfo"]["name"] == "tokenzip"
    assert "tools" in result["capabilities"]
    assert "resultType" not in result


def test_a_handshake_needs_a_version(fresh: InProcess) -> None:
    assert fresh.error("initialize", capabilities={})["code"] == -32602


def test_before_the_handshake_only_ping_is_answered(fresh: InProcess) -> None:
    assert fresh.result("ping") == {}
    assert fresh.error("tools/list")["code"] == -32602
    assert fresh.error("server/discover")["code"] == -32602  # a probe of the era: answered at once


def test_modern_methods_do_not_exist_after_a_handshake(legacy: InProcess) -> None:
    assert legacy.error("server/discover")["code"] == -32601
    assert legacy.error("subscriptions/listen", notifications={})["code"] == -32601


def test_log_messages_come_from_the_level_asked_for(legacy: InProcess) -> None:
    assert legacy.result("logging/setLevel", level="info") == {}
    legacy.call("index", items=20)
    note = legacy.wait_notification("notifications/message")
    assert note["params"]["level"] == "info"
    assert legacy.error("logging/setLevel", level="loud")["code"] == -32602


def test_roots_are_asked_for_and_used(fresh: InProcess) -> None:
    fresh.handshake(capabilities={"roots": {}})
    request = fresh.wait_notification("roots/list")
    fresh.send({"jsonrpc": "2.0", "id": request["id"], "result": {"roots": [{"uri": "file:///a%20b"}, 1, {"uri": 2}]}})
    fresh.result("ping")
    assert connection_of(fresh).roots == ("file:///a%20b",)


# -- the modern era


def test_discovery(modern: InProcess) -> None:
    result = modern.result("server/discover")
    assert result["supportedVersions"] == ["2026-07-28"]
    assert result["resultType"] == "complete"
    assert result["ttlMs"] >= 0
    assert result["cacheScope"] == "private"
    assert result["_meta"][f"{PREFIX}serverInfo"]["name"] == "tokenzip"


def test_an_unknown_version_is_told_the_known_ones(modern: InProcess) -> None:
    modern.begin("tools/list", number="x", meta={f"{PREFIX}protocolVersion": "2031-01-01"})
    error = modern.wait_answer("x")["error"]
    assert error["code"] == -32022
    assert error["data"] == {"supported": ["2026-07-28"], "requested": "2031-01-01"}


@pytest.mark.parametrize("meta", [{f"{PREFIX}protocolVersion": "2026-07-28"}, {**META, f"{PREFIX}protocolVersion": 7}])
def test_an_incomplete_meta_is_refused(fresh: InProcess, meta: dict[str, Any]) -> None:
    fresh.begin("tools/list", number="x", meta=meta)
    assert fresh.wait_answer("x")["error"]["code"] == -32602


@pytest.mark.parametrize("method", ["ping", "logging/setLevel", "resources/subscribe", "resources/unsubscribe"])
def test_removed_methods_are_unknown(modern: InProcess, method: str) -> None:
    assert modern.error(method)["code"] == -32601


def test_lists_say_how_long_they_hold(modern: InProcess) -> None:
    for method in ("tools/list", "prompts/list", "resources/list", "resources/templates/list"):
        result = modern.result(method)
        assert (result["resultType"], result["cacheScope"]) == ("complete", "private")
        assert result["ttlMs"] > 0
    assert modern.result("resources/read", uri="tokenzip://repo/structure")["ttlMs"] == 0
    assert "ttlMs" not in modern.result("tools/call", name="echo")


def test_a_subscription_is_acknowledged_and_ends_with_the_connection(modern: InProcess) -> None:
    modern.begin("subscriptions/listen", {"notifications": {"toolsListChanged": True}}, number="s")
    acknowledged = modern.wait_notification("notifications/subscriptions/acknowledged")
    assert acknowledged["params"]["_meta"] == {f"{PREFIX}subscriptionId": "s"}
    assert modern.wait_answer("s", SHORT) is None
    connection_of(modern).close()
    assert modern.wait_answer("s")["result"]["_meta"][f"{PREFIX}subscriptionId"] == "s"


def test_a_cancelled_subscription_never_gets_an_answer(modern: InProcess) -> None:
    modern.begin("subscriptions/listen", {"notifications": {}}, number="s")
    modern.wait_notification("notifications/subscriptions/acknowledged")
    modern.notify("notifications/cancelled", requestId="s")
    modern.result("tools/list")
    connection_of(modern).close()
    assert modern.wait_answer("s", SHORT) is None


def test_log_messages_only_for_requests_that_ask(modern: InProcess) -> None:
    modern.call("index", items=20)
    assert modern.wait_notification("notifications/message", SHORT) is None
    modern.begin("tools/call", {"name": "index", "arguments": {"items": 20}}, meta={f"{PREFIX}logLevel": "debug"})
    assert modern.wait_notification("notifications/message") is not None


def test_both_eras_live_on_one_connection(legacy: InProcess) -> None:
    legacy.begin("server/discover", number="m", meta=META)
    assert legacy.wait_answer("m")["result"]["supportedVersions"]
    assert legacy.result("ping") == {}


# -- either era


def test_unknown_methods_and_tools_are_protocol_errors(client: InProcess) -> None:
    assert client.error("no/such")["code"] == -32601
    assert client.error("tools/call", name="nope")["code"] == -32602
    assert client.error("tools/call", name=["echo"])["code"] == -32602
    assert client.error("prompts/get", name="nope")["code"] == -32602


@pytest.mark.parametrize("cursor", ["bogus", "", 3])
def test_a_cursor_that_was_never_given_out_is_refused(client: InProcess, cursor: object) -> None:
    assert client.error("tools/list", cursor=cursor)["code"] == -32602


def test_params_must_be_an_object(client: InProcess) -> None:
    client.send({"jsonrpc": "2.0", "id": 77, "method": "tools/list", "params": [1]})
    assert client.wait_answer(77)["error"]["code"] == -32602


@pytest.mark.parametrize("number", [None, True, 1.5, [], {}])
def test_an_id_is_a_string_or_an_integer(client: InProcess, number: object) -> None:
    client.send({"jsonrpc": "2.0", "id": number, "method": "tools/list", "params": {"_meta": META}})
    refused = client.wait(lambda message: "error" in message)
    assert refused["error"]["code"] == -32600
    assert "id" not in refused


@pytest.mark.parametrize("number", ["", "1", 0, -1, 2**70, "é\u2028"])
def test_odd_ids_come_back_as_they_were(client: InProcess, number: object) -> None:
    client.begin("tools/list", number=number)
    assert client.wait_answer(number)["result"]["tools"]


@pytest.mark.parametrize(
    "line",
    [b"{broken", b"\xff\xfe", b"[" * 100_000, b'{"jsonrpc":"2.0","id":1,"method":"tools/list","x":NaN}', b"\0" * 10],
    ids=["cut", "no UTF-8", "deep", "NaN", "zeros"],
)
def test_junk_is_a_parse_error_and_the_connection_lives(client: InProcess, line: bytes) -> None:
    client.write(line + b"\n")
    error = client.wait(lambda message: "error" in message)
    assert error["error"]["code"] == -32700
    assert "id" not in error
    assert client.result("tools/list")


@pytest.mark.parametrize("message", [1, "x", None, {}, {"jsonrpc": "1.0", "id": 1, "method": "ping"}, [], [{}]])
def test_what_is_no_request_is_refused(client: InProcess, message: object) -> None:
    client.send(message)
    assert client.wait(lambda answer: "error" in answer)["error"]["code"] == -32600


def test_a_method_must_be_a_string(client: InProcess) -> None:
    client.send({"jsonrpc": "2.0", "id": 5, "method": 5})
    assert client.wait_answer(5)["error"]["code"] == -32600


def test_blank_lines_and_carriage_returns_do_not_matter(client: InProcess) -> None:
    client.write(b"\r\n  \n\n")
    client.write(b'{"jsonrpc":"2.0","id":"crlf","method":"prompts/list","params":{"_meta":')
    client.write(json.dumps(META).encode() + b"}}\r\n")
    assert client.wait_answer("crlf")["result"]["prompts"] == []


def test_stray_notifications_and_responses_are_ignored(client: InProcess) -> None:
    client.notify("notifications/zzz")
    client.notify("notifications/cancelled", requestId="never")
    client.notify("notifications/cancelled", requestId=[1])
    client.send({"jsonrpc": "2.0", "method": "notifications/cancelled"})
    client.send({"jsonrpc": "2.0", "method": 7})
    client.send({"jsonrpc": "2.0", "id": "never", "result": {}})
    client.send({"jsonrpc": "2.0", "id": "tokenzip-roots", "result": {"roots": None}})
    assert client.result("tools/list")
    assert client.wait(lambda message: "error" in message, SHORT) is None


def test_many_calls_at_once_are_all_answered(client: InProcess) -> None:
    numbers = [client.begin("tools/call", {"name": "echo", "arguments": {"text": str(i)}}, f"p{i}") for i in range(50)]
    assert all(client.wait_answer(number) for number in numbers)


def test_calls_overlap_and_others_are_answered_meanwhile(client: InProcess) -> None:
    """Four calls of a second and a half: one after the other they would take six."""
    start = time.monotonic()
    numbers = [client.begin("tools/call", {"name": "sleep", "arguments": {"items": 1500}}) for _ in range(4)]
    client.result("prompts/list")
    assert time.monotonic() - start < 1.4
    assert all(client.wait_answer(number) for number in numbers)
    assert time.monotonic() - start < 4.5


def test_an_id_in_use_is_refused(client: InProcess) -> None:
    client.begin("tools/call", {"name": "sleep", "arguments": {"items": 200}}, "twice")
    client.begin("tools/list", {}, "twice")
    assert client.wait_answer("twice")["error"]["code"] == -32600
    assert "result" in client.wait_answer("twice")


def test_a_cancelled_call_gets_no_answer_and_stops(client: InProcess) -> None:
    client.begin("tools/call", {"name": "index", "arguments": {"items": 400}}, "c", {"progressToken": "t"})
    assert client.wait_notification("notifications/progress") is not None
    client.notify("notifications/cancelled", requestId="c", reason="x")
    finished = client.call("index", items=0)["finished"]
    assert client.wait_answer("c", 0.6) is None
    assert 400 not in finished
    assert 400 not in client.call("index", items=0)["finished"]


def test_cancelled_calls_do_not_hold_up_others(client: InProcess) -> None:
    for number in range(8):
        client.begin("tools/call", {"name": "sleep", "arguments": {"items": 8000}}, f"s{number}")
    for number in range(8):
        client.notify("notifications/cancelled", requestId=f"s{number}")
    start = time.monotonic()
    assert client.call("echo", text="x")
    assert time.monotonic() - start < 5


def test_calls_cancelled_in_line_leave_no_gap(client: InProcess) -> None:
    """More calls than places, the waiting ones cancelled before they begin, again and again."""
    for turn in range(3):
        for number in range(12):
            client.begin("tools/call", {"name": "sleep", "arguments": {"items": 100}}, f"{turn} {number}")
        for number in range(4, 12):
            client.notify("notifications/cancelled", requestId=f"{turn} {number}")
        assert all(client.wait_answer(f"{turn} {number}") for number in range(4))
    assert client.call("echo", text="x")


def test_progress_rises_and_stops_with_the_answer(client: InProcess) -> None:
    client.begin("tools/call", {"name": "index", "arguments": {"items": 60}}, "p", {"progressToken": 7})
    seen = []
    while (message := client.wait(lambda m: is_answer(m, "p") or "progress" in str(m.get("method")))) and "method" in message:
        assert message["params"]["progressToken"] == 7
        assert "extract" in message["params"]["message"]
        seen.append(message["params"]["progress"])
    assert len(seen) >= 3
    assert seen == sorted(set(seen))
    assert client.wait_notification("notifications/progress", SHORT) is None


def test_without_a_token_there_is_no_progress(client: InProcess) -> None:
    client.call("index", items=30)
    assert client.wait_notification("notifications/progress", SHORT) is None


# -- batches


def test_batches_exist_in_one_version_only(fresh: InProcess) -> None:
    fresh.handshake("2025-03-26")
    fresh.send(
        [
            {"jsonrpc": "2.0", "id": "a", "method": "ping"},
            {"jsonrpc": "2.0", "method": "notifications/zzz"},
            {"jsonrpc": "2.0", "id": "b", "method": "tools/call", "params": {"name": "sleep", "arguments": {"items": 50}}},
            {"jsonrpc": "2.0", "id": "c", "method": "no/such"},
            17,
        ]
    )
    answers = fresh.wait(lambda message: isinstance(message, list))
    assert {answer.get("id") for answer in answers} == {"a", "b", "c", None}
    assert sorted(answer["error"]["code"] for answer in answers if "error" in answer) == [-32601, -32600]


def test_a_batch_of_notifications_has_no_answer(fresh: InProcess) -> None:
    fresh.handshake("2025-03-26")
    fresh.send([{"jsonrpc": "2.0", "method": "notifications/zzz"}])
    assert fresh.wait(lambda message: isinstance(message, list), SHORT) is None
    fresh.send([])
    assert fresh.wait(lambda message: "error" in message, LONG)["error"]["code"] == -32600


def test_a_cancelled_call_is_left_out_of_its_batch(fresh: InProcess) -> None:
    fresh.handshake("2025-03-26")
    sleep = {"jsonrpc": "2.0", "id": "s", "method": "tools/call", "params": {"name": "sleep", "arguments": {"items": 300}}}
    fresh.send([sleep, {"jsonrpc": "2.0", "id": "p", "method": "ping"}])
    fresh.notify("notifications/cancelled", requestId="s")
    answers = fresh.wait(lambda message: isinstance(message, list))
    assert [answer["id"] for answer in answers] == ["p"]
