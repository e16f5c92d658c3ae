"""Drives `subagent mcp` with the official Python SDK, one connection for each check: every protocol version that the SDK
speaks, calls in the foreground and in the background, outcomes of both providers, progress, cancellation, two calls at a
time, and the end in the middle of a run. After each of them no process may be left.

Needs Python with the package `mcp`, the path of the command in SUBAGENT and that of the fake agent in FAKE_AGENT; `cargo
xtask interop` sets both. Fails with a traceback.
"""

import asyncio
import importlib.metadata
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import anyio
import mcp.client.session as sdk
import mcp.types as types
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

SUBAGENT = os.environ["SUBAGENT"]
FAKE_AGENT = os.environ["FAKE_AGENT"]
MARK = "SUBAGENT_INTEROP_MARK"

# The scenarios of the fake agent, by the kind of the provider. Each is a tool.
OUTCOMES = {
    "acp": [
        "ok",
        "thoughts-only",
        "stop-max_tokens",
        "stop-refusal",
        "stop-unknown",
        "exit-7-at-mid-prompt",
        "sigkill-at-prompt",
        "error-at-initialize",
        "version-2",
        "auth-required",
    ],
    "dsh-sdk": [
        "ok",
        "end-completed-without-text",
        "end-max-tokens",
        "end-blocked",
        "end-error",
        "exit-7-at-mid-prompt",
        "error-at-initialize",
        "server-info-other-name",
    ],
}
# Never ends by itself, and only SIGKILL ends it.
STUBBORN = "refuses-everything-mid-prompt"


def tool_of(protocol, scenario):
    return f"{protocol}_{scenario}".replace(".", "_")


def config(directory):
    """A provider and a tool for each scenario."""
    entries = []
    for protocol, scenarios in OUTCOMES.items():
        for scenario in [*scenarios, "echo", STUBBORN]:
            name = tool_of(protocol, scenario)
            args = ["--protocol", protocol, "--scenario", scenario]
            entries += [
                {
                    "id": name,
                    "name": f"subagent-{protocol}",
                    "config": {
                        "providerName": name,
                        "command": FAKE_AGENT,
                        "args": args,
                        "disposeEofGraceMs": 250,
                        "disposeGraceMs": 250,
                    },
                },
                {"id": f"t-{name}", "name": "tool-subagent", "config": {"provider": name, "toolName": name}},
            ]
    path = pathlib.Path(directory, "subagents.yml")
    path.write_text(json.dumps(entries))
    return str(path)


def living(mark):
    """The processes that were started for this test and still live."""
    found = []
    for process in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if f"{MARK}={mark}".encode() in (process / "environ").read_bytes().split(b"\0"):
                found.append(int(process.name))
        except OSError:
            pass
    return found


async def until(what, condition):
    """Waits until a condition holds, and fails loudly when it does not come to hold."""
    for _ in range(2000):
        if condition():
            return
        await asyncio.sleep(0.01)
    raise AssertionError(f"{what}: still not so")


def arguments(prompt="hello", **more):
    return {"description": "interop test", "prompt": prompt, **more}


def field(result, *names):
    """A member of a result, whichever way this version of the SDK spells it."""
    for name in names:
        if hasattr(result, name):
            return getattr(result, name)
    raise AssertionError(f"none of {names} in {result!r}")


def error_of(result):
    return field(result, "isError", "is_error")


def data_of(result):
    return field(result, "structuredContent", "structured_content")


def text_of(result):
    check(len(result.content) == 1, result)
    return result.content[0].text


def check(condition, what):
    if not condition:
        raise AssertionError(what)


def versions():
    """How this SDK can begin: the handshake with each version that it knows, and what came after the handshake."""
    if hasattr(sdk, "HANDSHAKE_PROTOCOL_VERSIONS"):
        modern = getattr(sdk, "MODERN_PROTOCOL_VERSIONS", ())
        return [("initialize", one) for one in sdk.HANDSHAKE_PROTOCOL_VERSIONS] + [("discover", one) for one in modern]
    return [("initialize", one) for one in sdk.SUPPORTED_PROTOCOL_VERSIONS if isinstance(one, str)]


async def begin(session, way, version):
    """Begins a session in this way; the SDK has a constant for the version that it asks for."""
    if way == "discover":
        await session.discover()
        spoken = session.protocol_version
    else:
        if hasattr(sdk, "LATEST_HANDSHAKE_VERSION"):
            sdk.LATEST_HANDSHAKE_VERSION = version
        else:
            types.LATEST_PROTOCOL_VERSION = version
        spoken = field(await session.initialize(), "protocolVersion", "protocol_version")
    check(spoken == version, f"{spoken} is spoken instead of {version}")


def only_broken(error):
    inner = getattr(error, "exceptions", None)
    return all(map(only_broken, inner)) if inner else isinstance(error, anyio.BrokenResourceError)


class Place:
    """One directory with a configuration, and connections to servers that are started there."""

    def __init__(self, directory, way):
        self.directory = directory
        self.config = config(directory)
        self.way = way

    async def connected(self, talk, way=None):
        """Starts a server, talks to it, and closes its input, whatever still runs there. Nothing may be left."""
        server = StdioServerParameters(
            command=SUBAGENT,
            args=["mcp", "--config", self.config],
            cwd=self.directory,
            env={**os.environ, MARK: self.directory},
        )
        logs = pathlib.Path(self.directory, "stderr")
        done = False
        with logs.open("w") as errlog:
            try:
                async with stdio_client(server, errlog=errlog) as (reader, writer):
                    async with ClientSession(reader, writer) as session:
                        await begin(session, *(way or self.way))
                        await talk(session)
                        done = True
            except BaseException as error:
                # Some versions of the SDK trip over what the server writes while they close the connection.
                if not (done and only_broken(error)):
                    raise
        await until("nothing is left", lambda: not living(self.directory))
        check(logs.read_text() == "", logs.read_text())

    def expected(self, tool):
        """What the command itself answers: the text that a model reads, and whether it counts as failed."""
        command = [SUBAGENT, "run", "--config", self.config, "--tool", tool, "--format", "json", "hello"]
        ran = subprocess.run(command, cwd=self.directory, capture_output=True, check=False)
        told = json.loads(ran.stdout)
        return told["text"], told["isError"]


async def lists_and_calls(session):
    listed = (await session.list_tools()).tools
    names = [tool.name for tool in listed]
    check(names[-3:] == ["job_output", "job_list", "job_kill"] and "acp_ok" in names, names)
    check(all(field(tool, "inputSchema", "input_schema")["type"] == "object" for tool in listed), listed)

    told = await session.call_tool("acp_ok", arguments())
    check(not error_of(told) and data_of(told)["output"] == text_of(told), told)
    started = await session.call_tool("acp_ok", arguments(run_in_background=True))
    check(text_of(started) == "started background subagent job subagent-1", started)
    check(data_of(started) == {"kind": "background", "jobId": "subagent-1"}, started)
    read = await session.call_tool("job_output", {"job_id": "subagent-1", "wait": True})
    check(text_of(read) == f"{text_of(told)}\n[status: completed]", read)
    listed = await session.call_tool("job_list", {})
    check(data_of(listed)["jobs"][0]["status"] == "completed", listed)
    killed = await session.call_tool("job_kill", {"job_id": "subagent-1"})
    check(text_of(killed) == "job subagent-1 had already finished [status: completed]", killed)


def outcomes(place):
    async def talk(session):
        for protocol, scenarios in OUTCOMES.items():
            for scenario in scenarios:
                tool = tool_of(protocol, scenario)
                told = await session.call_tool(tool, arguments())
                seen, wanted = (text_of(told), error_of(told)), place.expected(tool)
                check(seen == wanted, f"{tool}: {seen} instead of {wanted}")
                check((data_of(told) is None) == error_of(told), told)

    return talk


async def refusals(session):
    for tool, given, text in [
        ("acp_ok", {"description": "d"}, "Error: argument prompt is missing, expected a string"),
        ("acp_ok", arguments(cwd="/"), "Error: argument cwd lies outside of the session's working directory, "
         "expected a directory inside it"),
        ("job_kill", {"job_id": "subagent-9"}, "unknown job subagent-9"),
        ("nothing", {}, "Error: unknown tool nothing"),
    ]:
        refused = await session.call_tool(tool, given)
        check(error_of(refused) and text_of(refused) == text, refused)


async def two_at_once(session):
    calls = [session.call_tool(f"{kind}_echo", arguments(f"from {kind}")) for kind in OUTCOMES]
    answers = await asyncio.gather(*calls)
    for kind, answer in zip(OUTCOMES, answers):
        check(not error_of(answer) and f"from {kind}" in text_of(answer), answer)


def stubborn(place, running):
    """Progress of a call that is then cancelled, while another one and a job go on; `running` are those at the end."""

    async def talk(session):
        for kind in OUTCOMES:
            tool = tool_of(kind, STUBBORN)
            await session.call_tool(tool, arguments(run_in_background=True))
            running.append(asyncio.create_task(session.call_tool(tool, arguments())))
        await until("all agents run", lambda: len(living(place.directory)) >= 5)
        before = len(living(place.directory))
        progress = []

        async def note(seconds, total, message=None):
            progress.append((seconds, message))

        try:
            calling = session.call_tool(tool_of("acp", STUBBORN), arguments(), progress_callback=note)
        except TypeError:
            print("  progress: not in this SDK")
            return
        call = asyncio.create_task(calling)
        await until("progress is told twice", lambda: len(progress) >= 2)
        check(progress[0][0] < 2 and 1.9 < progress[1][0] - progress[0][0] < 2.5, progress)
        check(progress[0][1] is None or progress[0][1].endswith(" bytes received"), progress)
        call.cancel()
        await asyncio.gather(call, return_exceptions=True)
        try:
            await until("the cancelled run is gone", lambda: len(living(place.directory)) <= before)
            print("  cancellation: told to the server, the run is gone and the others are not")
        except AssertionError:
            # Then the run ends with the connection.
            print("  cancellation: this SDK does not tell the server")
        check(len(living(place.directory)) >= before, "the other runs go on")
        await two_at_once(session)

    return talk


async def main():
    print(f"mcp {importlib.metadata.version('mcp')}")
    ways = versions()
    with tempfile.TemporaryDirectory() as directory:
        place = Place(directory, ways[-1])
        for way in ways:
            print(f"{way[0]}, {way[1]}: list, foreground, background, jobs")
            await place.connected(lists_and_calls, way)
        for what, talk in [
            ("outcomes of both providers, as the command tells them", outcomes(place)),
            ("calls that are refused", refusals),
            ("two calls at once", two_at_once),
        ]:
            print(what)
            await place.connected(talk)
        print("progress, cancellation, the end in the middle of runs and jobs")
        running = []
        await place.connected(stubborn(place, running))
        # Not every version of the SDK lets a call end with its connection.
        for call in running:
            call.cancel()
        await asyncio.gather(*running, return_exceptions=True)
    print("everything as expected")


if sys.platform != "linux":
    sys.exit("this test looks at /proc and needs Linux")
asyncio.run(asyncio.wait_for(main(), 170))
