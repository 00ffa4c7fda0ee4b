// Characters that cannot be seen, or that change how the rest is seen. The page one signs in at has the same list:
// html.rs of the server.

/** From, to. Controls but for tab and newline, marks of direction, what is without width, fillers, tags. */
export const UNSEEN: readonly (readonly [number, number])[] = [
  [0x00, 0x08],
  [0x0b, 0x1f],
  [0x7f, 0x9f],
  [0xad, 0xad],
  [0x34f, 0x34f],
  [0x61c, 0x61c],
  [0x115f, 0x1160],
  [0x17b4, 0x17b5],
  [0x180b, 0x180f],
  [0x200b, 0x200f],
  [0x2028, 0x202e],
  [0x2060, 0x206f],
  [0x2800, 0x2800],
  [0x3164, 0x3164],
  [0xfe00, 0xfe0f],
  [0xfeff, 0xfeff],
  [0xffa0, 0xffa0],
  [0xfff0, 0xfffb],
  [0x1bca0, 0x1bca3],
  [0x1d173, 0x1d17a],
  [0xe0000, 0xe0fff],
];

const hex = (code: number): string => code.toString(16).toUpperCase().padStart(4, "0");
const CLASS = UNSEEN.map(([from, to]) => `\\u{${hex(from)}}-\\u{${hex(to)}}`).join("");

// Where they belong: the three flags made of tags; what joins emoji, marks and Arabic letters; which form of an emoji,
// a symbol or an ideograph is meant. Only one of them each time, so that nothing is spelled by many.
const FLAGS = "\\u{1F3F4}\\u{E0067}\\u{E0062}(?:\\u{E0065}\\u{E006E}\\u{E0067}|\\u{E0073}\\u{E0063}\\u{E0074}|\\u{E0077}\\u{E006C}\\u{E0073})\\u{E007F}";
const JOINED = "(?<=[\\p{Extended_Pictographic}\\p{Emoji_Modifier}\\p{Mn}\\p{Mc}\\p{Script=Arabic}])[\\u200c\\u200d]";
const JOINED_AFTER_FORM = "(?<=\\p{Extended_Pictographic}\\ufe0f)\\u200d";
const FORM = "(?<=[\\p{Emoji}\\p{S}])[\\ufe0e\\ufe0f]|(?<=\\p{Script=Han})[\\ufe00-\\ufe02\\u{E0100}-\\u{E01EF}]|(?<=\\p{Script=Mongolian})[\\u180b-\\u180d]";
// Tags stand for the characters of ASCII, and so spell what only programs read.
const TAGS = "[\\u{E0020}-\\u{E007E}]+";
const FOUND = new RegExp(`(?<good>${FLAGS}|${JOINED}|${JOINED_AFTER_FORM}|${FORM})|(?<tags>${TAGS})|[${CLASS}]`, "gu");

/** A text in pieces: what can be seen as it is, what cannot by its name. */
export function pieces(text: string): readonly (string | { readonly name: string })[] {
  const found: (string | { readonly name: string })[] = [];
  let from = 0;
  for (const { 0: what, index, groups } of text.matchAll(FOUND)) {
    if (groups?.["good"]) continue;
    if (index > from) found.push(text.slice(from, index));
    const name = `U+${hex(what.codePointAt(0) ?? 0)}`;
    found.push({ name: groups?.["tags"] ? `${name}… “${spelled(what)}”` : name });
    from = index + what.length;
  }
  if (from < text.length) found.push(text.slice(from));
  return found;
}

const spelled = (tags: string): string => Array.from(tags, (tag) => String.fromCodePoint((tag.codePointAt(0) ?? 0) - 0xe0000)).join("");

/** The same where there can be nothing but text. */
export const plainly = (text: string): string => pieces(text).map((piece) => (typeof piece === "string" ? piece : piece.name)).join("");
