"""Two hosts with the official client of both generations have a conversation. URL ANN BOB PROGRAM"""
import asyncio
import os
import sys

import httpx2
from mcp import Client
from mcp.client.stdio import StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

url, ann, bob, program = sys.argv[1:]


async def told(client, tool, arguments):
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, result
    return result.structured_content


async def talk(hers, his):
    assert (await told(hers, "vcp_status", {}))["you"] == "agent ann"
    sent = await told(hers, "claim", {"to": "bob", "content": "The kettle boils.", "confidence": 0.5})
    read = await told(his, "read_inbox", {"wait": 10})
    assert read["messages"][0]["message"]["content"] == "The kettle boils.", read
    await told(his, "acknowledge", {"position": sent["position"]})
    assert (await told(his, "read_inbox", {}))["messages"] == []
    refused = await hers.call_tool("claim", {"to": "nobody", "content": "x", "confidence": 0.5})
    assert refused.is_error and "find_agents" in refused.content[0].text, refused
    assert (await hers.read_resource("vcp://capabilities")).contents
    assert (await hers.get_prompt("delegate_this", {"work": "boil it"})).messages
    heard = []
    async def hear(progress, total, message):
        heard.append(progress)
    await his.call_tool("read_inbox", {"wait": 6}, progress_callback=hear)
    assert heard == [5.0], heard


def over_http(token):
    client = httpx2.AsyncClient(headers={"Authorization": f"Bearer {token}"}, timeout=30, trust_env=False)
    return streamable_http_client(url + "/mcp", http_client=client)


def over_stdio(token):
    env = {**os.environ, "LEGATION_URL": url, "LEGATION_TOKEN": token}
    return StdioServerParameters(command=program, args=["mcp"], env=env)


async def main():
    for way in [over_http, over_stdio]:
        for mode in ["legacy", "auto", "2026-07-28"]:
            async with Client(way(ann), mode=mode) as hers, Client(way(bob), mode=mode) as his:
                await talk(hers, his)
                print(way.__name__, mode, "fine")


asyncio.run(main())
