// Who speaks with whom: agents as nodes on a ring, conversations as edges in the colour of their dialect.
import type { VNode } from "preact";
import { useMemo } from "preact/hooks";
import type { Happening } from "../api/feed";

const [WIDE, HIGH] = [680, 460];
const MOST = 20;
const EDGES = 80;

interface Edge {
  readonly from: string;
  readonly to: string;
  readonly dialect: string;
  count: number;
  last: number;
  held: boolean;
}

interface Drawn {
  readonly nodes: readonly string[];
  readonly edges: readonly Edge[];
  readonly refused: ReadonlyMap<string, number>;
  readonly left: number;
}

function draw(messages: readonly Happening[]): Drawn {
  const seen = new Map<string, number>();
  const edges = new Map<string, Edge>();
  const refused = new Map<string, number>();
  messages.forEach((message, n) => {
    const from = message.sender ?? "?";
    seen.set(from, n);
    if (message.verdict === "refused") refused.set(from, (refused.get(from) ?? 0) + 1);
    for (const to of message.to ?? []) {
      seen.set(to, n);
      const key = JSON.stringify([from, to, message.dialect]);
      const edge = edges.get(key) ?? { from, to, dialect: message.dialect ?? "", count: 0, last: n, held: false };
      Object.assign(edge, { count: edge.count + 1, last: n, held: message.verdict === "held" });
      edges.set(key, edge);
    }
  });
  const newest = [...seen].sort(([, a], [, b]) => b - a).slice(0, MOST).map(([name]) => name);
  // In one order, so that a node stays where it is for as long as it can.
  const nodes = newest.sort();
  const there = new Set(nodes);
  const drawn = [...edges.values()].filter((edge) => there.has(edge.from) && there.has(edge.to) && edge.from !== edge.to);
  drawn.sort((a, b) => b.last - a.last).splice(EDGES);
  return { nodes, edges: drawn, refused, left: seen.size - nodes.length };
}

const clipped = (name: string): string => {
  const letters = [...name];
  return letters.length > 19 ? `${letters.slice(0, 18).join("")}…` : name;
};

export function Flow({ messages }: { messages: readonly Happening[] }): VNode {
  const { nodes, edges, refused, left } = useMemo(() => draw(messages), [messages]);
  const place = (name: string): readonly [number, number, number] => {
    const turn = (nodes.indexOf(name) / nodes.length) * 2 * Math.PI - Math.PI / 2;
    return [WIDE / 2 + Math.cos(turn) * 178, HIGH / 2 + Math.sin(turn) * 185, turn];
  };
  const newest = Math.max(1, messages.length);
  return (
    <svg class="flow" viewBox={`0 0 ${WIDE} ${HIGH}`} role="img" aria-label={`${nodes.length + left} agents in ${edges.length} conversations; the list tells the same`}>
      {edges.map((edge) => {
        const [[x1, y1], [x2, y2]] = [place(edge.from), place(edge.to)];
        // Bent to one side, so that what goes the other way does not lie on it.
        const [mx, my] = [(x1 + x2) / 2 + (WIDE / 2 - (x1 + x2) / 2) * 0.35 + (y2 - y1) * 0.12, (y1 + y2) / 2 + (HIGH / 2 - (y1 + y2) / 2) * 0.35 - (x2 - x1) * 0.12];
        return (
          <path key={`${edge.from}|${edge.to}|${edge.dialect}`} class={`flow-edge flow-${edge.dialect}${edge.held ? " flow-held" : ""}`} d={`M${x1.toFixed(1)} ${y1.toFixed(1)} Q${mx.toFixed(1)} ${my.toFixed(1)} ${x2.toFixed(1)} ${y2.toFixed(1)}`} stroke-width={1.2 + Math.min(4, Math.log2(edge.count + 1))} opacity={0.3 + 0.7 * (Math.round((edge.last / newest) * 3) / 3)}>
            <title>{`${edge.from} → ${edge.to}: ${edge.count} in ${edge.dialect}${edge.held ? ", held" : ""}`}</title>
          </path>
        );
      })}
      {nodes.map((name) => {
        const [x, y, turn] = place(name);
        const side = Math.cos(turn);
        const bad = refused.get(name);
        return (
          <g key={name}>
            <circle class={bad ? "flow-node flow-node-bad" : "flow-node flow-node-hot"} cx={x} cy={y} r={bad ? 7 : 6}><title>{bad ? `${name}: ${bad} refused` : name}</title></circle>
            <text x={x + side * 13} y={y + Math.sin(turn) * (Math.abs(side) < 0.12 ? 22 : 12) + 4} text-anchor={Math.abs(side) < 0.12 ? "middle" : side > 0 ? "start" : "end"} direction="ltr">{`\u2068${clipped(name)}\u2069`}{bad ? ` ✕${bad}` : ""}<title>{name}</title></text>
          </g>
        );
      })}
      {left > 0 && <text x={WIDE - 8} y={HIGH - 8} text-anchor="end">{`and ${left} more`}</text>}
    </svg>
  );
}
