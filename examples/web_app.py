"""A small web application with the standard library alone: a page that asks a folder.

    python examples/web_app.py FOLDER 8010

It shows how to embed an `AsyncLibrary`: many visitors wait at once, and none holds up the others. For the
real thing, with tokens, limits and a finished page, there is `spanwise serve`.
"""

from __future__ import annotations

import asyncio
import html
import sys
from urllib.parse import parse_qs, urlsplit

import spanwise
from spanwise.errors import SpanwiseError
from spanwise.types import Answer

FORM = '<!doctype html><meta charset="utf-8"><title>Ask</title><form><input name="q" size="60"></form>'
MOST_BYTES = 8_192
SECONDS = 30.0


def shown(answer: Answer, text: str) -> str:
    """The answer with what stands around it; every word from outside is escaped."""
    if answer.span is None:
        return "<p>Not in these documents.</p>"
    span = answer.span
    before, after = text[max(0, span.start - 80) : span.start], text[span.end : span.end + 80]
    quote = f"{html.escape(before)}<mark>{html.escape(span.text)}</mark>{html.escape(after)}"
    return f"<p>{quote}</p><p>{html.escape(span.document_id)}, {span.start} to {span.end}</p>"


async def page(library: spanwise.AsyncLibrary, target: str) -> str:
    """The page for a path such as "/?q=who+founded+the+mill"."""
    question = parse_qs(urlsplit(target).query).get("q", [""])[0].strip()
    if not question:
        return FORM
    answer = await library.ask(question[:1_000])
    text = "" if answer.span is None else (await library.document(answer.span.document_id)).text
    return FORM + shown(answer, text)


async def visit(
    library: spanwise.AsyncLibrary, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
) -> None:
    """Answer one request, and close."""
    status, body = "200 OK", ""
    try:
        async with asyncio.timeout(SECONDS):
            request = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split(" ")
            if request[0] != "GET":
                status = "405 Method Not Allowed"
            else:
                body = await page(library, request[1])
    except (SpanwiseError, ValueError) as error:
        status, body = "500 Internal Server Error", html.escape(str(error))
    except (TimeoutError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
        status = "408 Request Timeout"
    data = body.encode("utf-8", "replace")
    head = f"HTTP/1.1 {status}\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: {len(data)}\r\n"
    writer.write(f"{head}Connection: close\r\n\r\n".encode() + data)
    await writer.drain()
    writer.close()


async def main(folder: str, port: str) -> None:
    """Serve this machine until it is interrupted."""
    async with spanwise.open_async(folder) as library:
        await library.sync()

        async def visited(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await visit(library, reader, writer)

        server = await asyncio.start_server(visited, "127.0.0.1", int(port), limit=MOST_BYTES)
        print(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/", flush=True)
        async with server:
            await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
