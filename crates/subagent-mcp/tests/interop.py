"""Drives `subagent mcp` with the official Python SDK: list, calls, progress, cancellation, and the end.

Needs Python with the package `mcp`, and the path of the command in SUBAGENT. Fails with a traceback; what is left over is a failure.
"""

import asyncio
import os
import pathlib
import sys
import tempfile

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

SUBAGENT = os.environ["SUBAGENT"]
MARK = "SUBAGENT_INTEROP_MARK"


def config(directory):
    """Two agents: the demo, and one that never says anything."""
    path = pathlib.Path(directory, "subagents.yml")
    path.write_text(
        f"""
- id: demo
  name: subagent-acp
  config: {{ providerName: demo, command: '{SUBAGENT}', args: [demo-agent] }}
- id: silent
  name: subagent-acp
  config: {{ providerName: silent, command: sleep, args: ['600'], disposeEofGraceMs: 300, disposeGraceMs: 300 }}
- {{ id: tool-demo, name: tool-subagent, config: {{ provider: demo, toolName: demo }} }}
- {{ id: tool-silent, name: tool-subagent, config: {{ provider: silent, toolName: silent }} }}
"""
    )
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


def arguments(**more):
    return {"description": "interop test", "prompt": "hello", **more}


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


def check(condition, what):
    if not condition:
        raise AssertionError(what)


async def talk(session, mark):
    await session.initialize()
    tools = [tool.name for tool in (await session.list_tools()).tools]
    check(tools == ["demo", "silent", "job_output", "job_list", "job_kill"], tools)

    told = await session.call_tool("demo", arguments())
    check(not error_of(told) and "hello" in told.content[0].text, told)
    check(data_of(told)["output"] == told.content[0].text, told)

    started = await session.call_tool("demo", arguments(run_in_background=True))
    check(started.content[0].text == "started background subagent job subagent-1", started)
    read = await session.call_tool("job_output", {"job_id": "subagent-1", "wait": True})
    check(read.content[0].text.endswith("[status: completed]"), read)
    listed = await session.call_tool("job_list", {})
    check(data_of(listed)["jobs"][0]["status"] == "completed", listed)

    for tool, given, text in [
        ("demo", {"description": "d"}, "Error: argument prompt is missing, expected a string"),
        ("job_kill", {"job_id": "subagent-9"}, "unknown job subagent-9"),
    ]:
        refused = await session.call_tool(tool, given)
        check(error_of(refused) and refused.content[0].text == text, refused)

    both = await asyncio.gather(*(session.call_tool("demo", arguments()) for _ in range(2)))
    check(not any(error_of(one) for one in both), both)

    progress = []

    async def note(seconds, total, message):
        progress.append((seconds, message))

    idle = len(living(mark))
    call = asyncio.create_task(session.call_tool("silent", arguments(), progress_callback=note))
    await until("progress is told twice", lambda: len(progress) >= 2)
    check(progress[0][0] < 2 and "bytes received" in progress[0][1], progress)
    call.cancel()
    try:
        await call
    except asyncio.CancelledError:
        pass
    # Not every version of the SDK tells the server of it; a run that goes on must end with the connection.
    try:
        await until("the cancelled run is gone", lambda: len(living(mark)) <= idle)
        print("cancellation: told to the server, the run is gone")
    except AssertionError:
        print("cancellation: this SDK does not tell the server")
    await session.call_tool("silent", arguments(run_in_background=True))
    await until("a job runs", lambda: len(living(mark)) > idle)


async def main():
    with tempfile.TemporaryDirectory() as directory:
        mark = directory
        server = StdioServerParameters(
            command=SUBAGENT,
            args=["mcp", "--config", config(directory)],
            cwd=directory,
            env={**os.environ, MARK: mark},
        )
        async with stdio_client(server) as (reader, writer):
            async with ClientSession(reader, writer) as session:
                await talk(session, mark)
        await until("nothing is left", lambda: not living(mark))
    print("everything as expected")


if sys.platform != "linux":
    sys.exit("this test looks at /proc and needs Linux")
asyncio.run(asyncio.wait_for(main(), 120))
