"""Two hosts with the official client, generation up to 2025-11-25, have a conversation. URL ANN BOB PROGRAM"""
import asyncio
import os
import sys

import httpx
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client

url, ann, bob, program = sys.argv[1:]


async def told(session, tool, arguments):
    result = await session.call_tool(tool, arguments)
    assert not result.isError, result
    return result.structuredContent


async def talk(hers, his):
    opened = await hers.initialize()
    await his.initialize()
    assert opened.protocolVersion == "2025-11-25", opened
    names = {tool.name for tool in (await hers.list_tools()).tools}
    assert {"vcp_status", "claim", "read_inbox"} <= names, names
    sent = await told(hers, "claim", {"to": "bob", "content": "The kettle boils.", "confidence": 0.5})
    read = await told(his, "read_inbox", {"wait": 10})
    assert read["messages"][0]["message"]["content"] == "The kettle boils.", read
    await told(his, "acknowledge", {"position": sent["position"]})
    assert (await told(his, "read_inbox", {}))["messages"] == []
    refused = await hers.call_tool("claim", {"to": "nobody", "content": "x", "confidence": 0.5})
    assert refused.isError and "find_agents" in refused.content[0].text, refused
    assert (await hers.read_resource("vcp://capabilities")).contents
    assert (await hers.list_resource_templates()).resourceTemplates
    assert (await hers.get_prompt("delegate_this", {"work": "boil it"})).messages


def over_http(token):
    client = httpx.AsyncClient(headers={"Authorization": f"Bearer {token}"}, timeout=30, trust_env=False)
    return streamable_http_client(url + "/mcp", http_client=client)


def over_stdio(token):
    env = {**os.environ, "LEGATION_URL": url, "LEGATION_TOKEN": token}
    return stdio_client(StdioServerParameters(command=program, args=["mcp"], env=env))


async def main():
    for way in [over_http, over_stdio]:
        async with way(ann) as (read, write, *_), way(bob) as (read_too, write_too, *_):
            async with ClientSession(read, write) as hers, ClientSession(read_too, write_too) as his:
                await talk(hers, his)
                print(way.__name__, "fine")


asyncio.run(main())
