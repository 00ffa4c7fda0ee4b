// Checkpoints this browser has seen. Kept apart from the exchange, they show whether its record only grew.
import type { Shape } from "../api/client";

export type Checkpoint = Shape<"Checkpoint">;

const MOST = 50;
const at = (realm: string): string => `legation checkpoints ${realm}`;

export const isCheckpoint = (value: unknown): value is Checkpoint => {
  const one = value as Partial<Checkpoint> | null;
  return one?.kind === "legation-checkpoint-1" && [one.root, one.chain, one.signature, one.realm].every((part) => typeof part === "string") && Number.isSafeInteger(one.size) && Number.isSafeInteger(one.at);
};

/** The newest first. */
export function kept(realm: string): readonly Checkpoint[] {
  try {
    const read: unknown = JSON.parse(localStorage.getItem(at(realm)) ?? "[]");
    return Array.isArray(read) ? read.filter(isCheckpoint) : [];
  } catch {
    return [];
  }
}

/** Keeps it, and returns all. Of many every second goes, but never the first: it reaches back furthest. */
export function keep(checkpoint: Checkpoint): readonly Checkpoint[] {
  const before = kept(checkpoint.realm);
  if (before.some((one) => one.signature === checkpoint.signature)) return before;
  const all = [checkpoint, ...before].sort((a, b) => b.size - a.size || b.at - a.at);
  const left = all.length > MOST ? all.filter((_, n) => n < MOST / 5 || n % 2 === 0 || n === all.length - 1) : all;
  try {
    localStorage.setItem(at(checkpoint.realm), JSON.stringify(left));
  } catch {
    // A browser that keeps nothing still shows what it sees.
  }
  return left;
}
