import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest

from components.jobs.engine import Engine
from components.page.page import build_app
from components.server import serving
from tests.components.fake import FakeBackend, write_clip

mcp = pytest.importorskip("mcp", reason="needs the mcp extra, which is part of the dev extra")


@pytest.fixture(scope="module")
def address():
    page = build_app(Engine(FakeBackend()))
    options = serving.options("127.0.0.1", None, False, mcp=True)
    _, url, _ = page.queue().launch(**options, prevent_thread_lock=True, quiet=True)
    yield url.rstrip("/")
    page.close()


@pytest.fixture(scope="module")
def upload(address, tmp_path_factory) -> str:
    """Upload a clip; return its URL on the server."""
    path = tmp_path_factory.mktemp("mcp") / "clip.mp4"
    write_clip(path)
    sent = httpx.post(
        f"{address}/gradio_api/upload", files={"files": ("clip.mp4", path.read_bytes())}
    )
    return f"{address}/gradio_api/file={sent.json()[0]}"


def call_mcp(address: str, tool: str = "", **arguments: Any) -> Any:
    """Call an MCP tool and return the reply; without a name, return the list of tools."""
    from mcp.client.streamable_http import streamablehttp_client

    async def talk() -> Any:
        async with (
            streamablehttp_client(f"{address}/gradio_api/mcp/") as (read, write, _),
            mcp.ClientSession(read, write) as session,
        ):
            await session.initialize()
            return await (session.call_tool(tool, arguments) if tool else session.list_tools())

    with ThreadPoolExecutor(1) as thread:  # Playwright's event loop runs in the main thread
        return thread.submit(asyncio.run, talk()).result()


def test_mcp_lists_the_three_endpoints_as_tools_with_descriptions(address):
    tools = {tool.name: tool for tool in call_mcp(address).tools}
    assert set(tools) == {"ask", "compress", "compare"}
    for tool in tools.values():
        assert "Use it to" in tool.description and "Returns:" in tool.description
        fields = tool.inputSchema["properties"]
        assert all(field.get("description") for field in fields.values())
        assert "Args:" not in tool.description
    assert tools["ask"].inputSchema["properties"]["retention_ratio"]["default"] == 0.25


def test_mcp_tool_answers_about_an_uploaded_clip(address, upload):
    reply = call_mcp(address, "ask", video=upload, question="What moves?", frames=8)
    assert not reply.isError
    assert "'answer': 'word0 word1" in reply.content[0].text
    assert "visual_tokens_kept" in reply.content[0].text


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"video": "http://127.0.0.1:1/clip.mp4"}, "fetches no web addresses"),
        ({"video": "http://a.example/gradio_api/file=/etc/passwd"}, ""),
        ({"compressor": "gzip"}, "must be one of"),
        ({"question": " "}, "Type a question first"),
    ],
)
def test_mcp_tool_refuses_invalid_arguments_with_a_message(address, upload, change, sentence):
    given = {"video": upload, "question": "What moves?", "frames": 8} | change
    reply = call_mcp(address, "ask", **given)
    assert reply.isError and sentence in reply.content[0].text
    assert "root:" not in reply.content[0].text
