// Light or dark: as the system says, unless the person says otherwise here.
import { signal } from "@preact/signals";

export type Theme = "auto" | "light" | "dark";
const KEY = "legation-theme";

function kept(): Theme {
  const found = localStorage.getItem(KEY);
  return found === "light" || found === "dark" ? found : "auto";
}

export const theme = signal<Theme>(kept());

export function wear(wanted: Theme): void {
  theme.value = wanted;
  if (wanted === "auto") localStorage.removeItem(KEY);
  else localStorage.setItem(KEY, wanted);
  document.documentElement.dataset["theme"] = wanted;
}

wear(theme.value);
