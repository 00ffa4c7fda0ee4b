// Canonical JSON (RFC 8785). A browser writes numbers and strings as that asks; only the order of members is left.

export function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (value !== null && typeof value === "object") {
    // Sorted by UTF-16 units, as RFC 8785 has it.
    const names = Object.keys(value).sort();
    return `{${names.map((name) => `${JSON.stringify(name)}:${canonical((value as Record<string, unknown>)[name])}`).join(",")}}`;
  }
  return JSON.stringify(value);
}

/** What a signature or a digest covers. */
export function unsigned(value: unknown): unknown {
  if (value === null || typeof value !== "object" || Array.isArray(value)) return value;
  const { signature: _, ...rest } = value as Record<string, unknown>;
  return rest;
}
