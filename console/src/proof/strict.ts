// JSON of which there are no two readings: a name that comes twice in an object means one thing here and another there.

const TOKENS = /"[^"\\]*(?:\\.[^"\\]*)*"(\s*:)?|[{}]/gs;

export function parse(text: string): unknown {
  // What this refuses is no JSON; of what it takes, only strings and braces matter below.
  const value: unknown = JSON.parse(text);
  const objects: Set<string>[] = [];
  for (const [token, colon] of text.matchAll(TOKENS)) {
    if (token === "{") objects.push(new Set());
    else if (token === "}") objects.pop();
    else if (colon !== undefined) {
      const name = JSON.parse(token.slice(0, -colon.length)) as string;
      const names = objects.at(-1);
      if (names?.has(name)) throw new SyntaxError(`the name ${JSON.stringify(name)} comes twice in one object`);
      names?.add(name);
    }
  }
  return value;
}
