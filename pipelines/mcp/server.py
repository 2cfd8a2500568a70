"""A library as a server of the Model Context Protocol: its tools, listed and called.

The official SDK speaks the protocol (https://modelcontextprotocol.io/specification); this says what there is.
A call computes in a thread, one at a time, so that other messages are answered meanwhile; where there is a
limit, what takes longer is a tool error.
"""

from __future__ import annotations

import sys
import traceback
from collections.abc import Mapping
from functools import partial
from importlib.metadata import version
from typing import Any

from mcp.server import Server
from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp_types import (
    INVALID_PARAMS,
    CallToolRequestParams,
    CallToolResult,
    ListToolsResult,
    PaginatedRequestParams,
    TextContent,
    ToolAnnotations,
)
from mcp_types import Tool as ListedTool
from pydantic import ValidationError

from spanwise.errors import SpanwiseError

from ..library import Library
from .arguments import mistakes
from .calls import Calls
from .quoted import DATA
from .settings import Settings
from .tools import TOOLS, Result, Tool

INSTRUCTIONS = (
    "Answers questions from the user's own documents. `ask` gives the exact words and their place, or "
    "says that the answer is not there: then do not answer from elsewhere as if it were. `search` finds "
    f"passages, `read_passage` shows what stands around them. Cite file and page or line. {DATA}"
)
TOO_LATE = (
    "not done within {:g} seconds, and given up: ask for less (a smaller k, no rerank), try again when other "
    "calls are done, or start the server with a longer --timeout"
)


def make_server(library: Library, settings: Settings) -> Server[Any]:
    """The server of a library that is open; it ends with its transport, and leaves the library open."""
    tools = {tool.name: tool for tool in TOOLS}
    calls, hidden = Calls(settings.call_s), hidden_paths(library)

    async def list_tools(_: ServerRequestContext[Any], __: PaginatedRequestParams | None) -> ListToolsResult:
        return ListToolsResult(tools=[listed(tool, settings) for tool in TOOLS])

    async def call_tool(_: ServerRequestContext[Any], params: CallToolRequestParams) -> CallToolResult:
        if params.name not in tools:
            raise MCPError(INVALID_PARAMS, f"no tool is called {params.name!r}: {', '.join(tools)}")
        work = partial(called, library, settings, tools[params.name], params.arguments or {}, hidden)
        try:
            return await calls.result(work)
        except TimeoutError:
            return _failed(f"{params.name}: {TOO_LATE.format(settings.call_s)}")

    return Server(
        "spanwise",
        version=version("spanwise"),
        title="spanwise",
        instructions=INSTRUCTIONS,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )


def listed(tool: Tool, settings: Settings) -> ListedTool:
    """The tool as a client sees it. All only read; what a generator at an address writes is of elsewhere."""
    return ListedTool(
        name=tool.name,
        title=tool.title,
        description=tool.description,
        input_schema=tool.arguments.model_json_schema(),
        output_schema=tool.output,
        annotations=ToolAnnotations(
            read_only_hint=True,
            destructive_hint=False,
            idempotent_hint=True,
            open_world_hint=tool.name == "summarize" and settings.generator != "extractive",
        ),
    )


def called(
    library: Library,
    settings: Settings,
    tool: Tool,
    given: Mapping[str, Any],
    hidden: Mapping[str, str],
) -> CallToolResult:
    """What comes of a call; what went wrong is one line, without a trace and without what is `hidden`."""
    try:
        result: Result = tool.call(library, settings, tool.arguments.model_validate(given))
    except ValidationError as error:
        return _failed(f"{tool.name}: {mistakes(error)}")
    except (SpanwiseError, ValueError) as error:
        return _failed(f"{tool.name}: {without_paths(str(error), hidden)}")
    except Exception as error:  # whatever it is, this call fails alone
        place = traceback.extract_tb(error.__traceback__)[-1]
        said = f"{type(error).__name__}: {error} ({place.filename}:{place.lineno})"
        print(f"spanwise mcp: {tool.name}: {' '.join(said.split())}", file=sys.stderr, flush=True)
        return _failed(f"{tool.name} failed within: {type(error).__name__}; the server's log has more")
    content = [TextContent(type="text", text=result.text)]
    return CallToolResult(content=list(content), structured_content=result.record)


def hidden_paths(library: Library) -> dict[str, str]:
    """The paths that no error tells, and what stands in their place; asked before anything can break."""
    return {
        str(library.store.path): "the index",
        **{str(root.folder): "the folder" for root in library.roots},
    }


def without_paths(message: str, hidden: Mapping[str, str]) -> str:
    """A message in one line, with words for paths.

    >>> without_paths("/a/.spanwise holds\\nnothing", {"/a/.spanwise": "the index", "/a": "the folder"})
    'the index holds nothing'
    """
    for path in sorted(hidden, key=len, reverse=True):
        message = message.replace(path, hidden[path])
    return " ".join(message.split())


def _failed(message: str) -> CallToolResult:
    return CallToolResult(content=[TextContent(type="text", text=message)], is_error=True)
