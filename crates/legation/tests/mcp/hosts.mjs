// Two hosts with the official TypeScript clients have a conversation. URL ANN BOB
import assert from 'node:assert';
import * as modern from '@modelcontextprotocol/client';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';

const [url, ann, bob] = process.argv.slice(2);
const about = { name: 'test', version: '1' };
const options = token => ({ requestInit: { headers: { Authorization: `Bearer ${token}` } } });
const to = () => new URL(url + '/mcp');

const ways = {
  async sdk(token) {
    const client = new Client(about);
    await client.connect(new StreamableHTTPClientTransport(to(), options(token)));
    return client;
  },
  async legacy(token) {
    const client = new modern.Client(about);
    await client.connect(new modern.StreamableHTTPClientTransport(to(), options(token)));
    return client;
  },
  async newest(token) {
    const client = new modern.Client(about, { versionNegotiation: { mode: 'auto' } });
    await client.connect(new modern.StreamableHTTPClientTransport(to(), options(token)));
    return client;
  },
};

for (const [name, open] of Object.entries(ways)) {
  const [hers, his] = [await open(ann), await open(bob)];
  const told = async (client, tool, args) => {
    const result = await client.callTool({ name: tool, arguments: args });
    assert(!result.isError, JSON.stringify(result));
    return result.structuredContent;
  };
  assert((await hers.listTools()).tools.some(tool => tool.name === 'claim'));
  const sent = await told(hers, 'claim', { to: 'bob', content: 'The kettle boils.', confidence: 0.5 });
  const read = await told(his, 'read_inbox', { wait: 10 });
  assert.equal(read.messages[0].message.content, 'The kettle boils.');
  await told(his, 'acknowledge', { position: sent.position });
  assert.deepEqual((await told(his, 'read_inbox', {})).messages, []);
  assert((await hers.readResource({ uri: 'vcp://capabilities' })).contents.length);
  await hers.close();
  await his.close();
  console.log(name, 'fine');
}
