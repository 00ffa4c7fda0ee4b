// What the form says, as the command that does the same.

export interface Wanted {
  readonly id: string;
  readonly dialects: readonly string[];
  readonly keys: readonly string[];
  readonly parent: string;
  readonly alias: string;
  readonly instance_of: string;
  readonly model: string;
  readonly purposes: readonly string[];
  readonly environment: string;
  readonly ontologies: readonly string[];
  readonly languages: readonly string[];
  readonly push: string;
  readonly manifest: string;
}

/** A word as a shell reads it back. */
export const quoted = (word: string): string => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`);

/** `legation agent add …`, in lines that can be pasted. */
export function command(wanted: Wanted, url: string): string {
  const options: string[] = [];
  // A value that begins with a dash would be read as an option.
  const add = (name: string, value: string): void => void (value !== "" && options.push(`--${name}${value.startsWith("-") ? "=" : " "}${quoted(value)}`));
  for (const key of wanted.keys) add("key", key);
  for (const dialect of wanted.dialects) add("dialect", dialect);
  add("parent", wanted.parent);
  if (wanted.alias !== "") add("alias", `vlp=${wanted.alias}`);
  add("instance-of", wanted.instance_of);
  for (const name of wanted.ontologies) add("ontology", name);
  for (const name of wanted.languages) add("language", name);
  add("model", wanted.model);
  for (const name of wanted.purposes) add("purpose", name);
  add("environment", wanted.environment);
  add("push", wanted.push);
  if (wanted.manifest !== "") add("manifest", "manifest.json");
  if (url !== "http://127.0.0.1:7400") add("url", url);
  const id = wanted.id === "" ? "ID" : quoted(wanted.id);
  const words = wanted.id.startsWith("-") ? [...options, `-- ${id}`] : [id, ...options];
  return `legation agent add ${words.join(" \\\n  ")}`;
}

/** What is sent. What is left empty is left out. */
export function registration(wanted: Wanted): Record<string, unknown> {
  const { id: _, alias, push, manifest, ...rest } = wanted;
  const there = Object.entries(rest).filter(([, value]) => value.length > 0);
  return {
    ...Object.fromEntries(there),
    ...(alias ? { aliases: { vlp: alias } } : {}),
    ...(push ? { push: { url: push } } : {}),
    ...(manifest ? { manifest: JSON.parse(manifest) as unknown } : {}),
  };
}
