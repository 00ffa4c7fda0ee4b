// Which entries may change how agents stand.
import type { Happening } from "../api/feed";

const CHANGES = ["registered", "removed", "keyed", "changed", "restored"];

export const touches = (entry: Happening): boolean => entry.alarm === true || entry.dialect === "vcp" || CHANGES.includes(entry.entry);
