/** Theme and density, kept in this browser. @module */

import { effect, signal } from "@preact/signals";

export const THEMES = ["System", "Light", "Dark"] as const;
export const DENSITIES = ["Comfortable", "Compact"] as const;

export type Theme = (typeof THEMES)[number];
export type Density = (typeof DENSITIES)[number];

export const theme = signal(stored<Theme>("theme", THEMES));
export const density = signal(stored<Density>("density", DENSITIES));

/** Shown theme: the choice, or the preference of the system. */
export const shownTheme = signal<"light" | "dark">("light");

const TOKENS = ["--accent", "--accent-fill", "--on-accent"];

/** Marks the document, and follows the choice and the system. */
export function startAppearance(): void {
  const system = matchMedia("(prefers-color-scheme: dark)");
  const isDark = signal(system.matches);
  system.addEventListener("change", () => isDark.value = system.matches);
  const { dataset, style } = document.documentElement;
  if (dataset.colors) {
    // Those of the active brand.
    dataset.colors.split(" ").forEach((color, at) => style.setProperty(TOKENS[at]!, color));
  }
  effect(() => {
    const dark = theme.value === "System" ? isDark.value : theme.value === "Dark";
    dataset.theme = shownTheme.value = dark ? "dark" : "light";
    store("theme", theme.value);
  });
  effect(() => {
    dataset.density = density.value.toLowerCase();
    store("density", density.value);
  });
}

/** The value of a color in the shown theme. */
export function colorOf(element: Element, name: string): string {
  const style = getComputedStyle(element).getPropertyValue(name).trim();
  const [, light, dark] = /^light-dark\((.*),(.*)\)$/.exec(style) ?? [, style, style];
  return (shownTheme.peek() === "dark" ? dark! : light!).trim();
}

function stored<Value extends string>(name: string, values: readonly Value[]): Value {
  try {
    const value = localStorage.getItem(name) as Value;
    return values.includes(value) ? value : values[0]!;
  } catch {
    return values[0]!; // Storage is turned off in this browser.
  }
}

function store(name: string, value: string): void {
  try {
    localStorage.setItem(name, value);
  } catch { /* Storage is turned off in this browser. */ }
}
