// Bytes, hashes and signatures, by what the browser brings along.

export type Bytes = Uint8Array<ArrayBuffer>;

export const utf8 = (text: string): Bytes => new TextEncoder().encode(text);

export function join(...parts: readonly Bytes[]): Bytes {
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

/** Eight bytes, the lowest first. */
export function u64(value: number): Bytes {
  const bytes = new Uint8Array(8);
  new DataView(bytes.buffer).setBigUint64(0, BigInt(value), true);
  return bytes;
}

export const hash = async (...parts: readonly Bytes[]): Promise<Bytes> => new Uint8Array(await crypto.subtle.digest("SHA-256", join(...parts)));

export function unhex(text: string): Bytes {
  const pairs = text.replace(/^sha256:/, "").match(/../g) ?? [];
  return Uint8Array.from(pairs, (pair) => Number.parseInt(pair, 16));
}

export const hex = (bytes: Bytes): string => Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
export const named = (bytes: Bytes): string => `sha256:${hex(bytes)}`;
export const unbase64 = (text: string): Bytes => Uint8Array.from(atob(text), (character) => character.charCodeAt(0));

/** Whether this browser can check anything here: it does so only on secure pages. */
export const canCheck = (): boolean => globalThis.crypto?.subtle !== undefined;

/** `key` is `ed25519:…`, `signature` is `base64:…`. */
export async function isSigned(key: string, signature: string, over: Bytes): Promise<boolean> {
  const raw = unbase64(key.replace(/^ed25519:/, ""));
  const imported = await crypto.subtle.importKey("raw", raw, { name: "Ed25519" }, false, ["verify"]);
  return crypto.subtle.verify({ name: "Ed25519" }, imported, unbase64(signature.replace(/^base64:/, "")), over);
}
