/**
 * Readable text in and on custom colors (WCAG 2.2, 1.4.3), and visible areas of them (1.4.11).
 *
 * @module
 */

/** Minimum contrast of small text. */
const TEXT_MIN = 4.5;

/** Minimum contrast of buttons, switches and meters. */
const AREA_MIN = 3;

/** Step towards black or white, as a share of the whole way. */
const STEP = 0.05;

type Channels = [red: number, green: number, blue: number];

/** Whether the text is `#rgb` or `#rrggbb`, the only forms allowed in a style sheet. */
export const isColor = (text: string | null | undefined): text is string =>
  typeof text === "string" && /^#([0-9a-f]{3}|[0-9a-f]{6})$/i.test(text);

/** Black or white, whichever has the higher contrast: at least 4.58 to 1 on any color. */
export function readableOn(color: string): "#000" | "#fff" {
  // At 0.179 both have the same contrast.
  return luminance(channelsOf(color)) > 0.179 ? "#000" : "#fff";
}

/** The color itself, or the nearest one that is readable as text on the background. */
export const readableAs = (color: string, background: string): string =>
  nearest(color, background, TEXT_MIN);

/** The color itself, or the nearest one in which an area is visible on the background. */
export const visibleAs = (color: string, background: string): string =>
  nearest(color, background, AREA_MIN);

function nearest(color: string, background: string, contrastMin: number): string {
  const behind = luminance(channelsOf(background));
  const goal = readableOn(background) === "#000" ? 0 : 255;
  const own = channelsOf(color);
  for (let share = 0; share < 1; share += STEP) {
    const mixed = own.map((value) => Math.round(value + (goal - value) * share)) as Channels;
    if (contrast(luminance(mixed), behind) >= contrastMin) return textOf(mixed);
  }
  return readableOn(background);
}

function channelsOf(color: string): Channels {
  const digits = color.length === 4 ? color.slice(1).replace(/./g, "$&$&") : color.slice(1);
  return [0, 2, 4].map((at) => parseInt(digits.slice(at, at + 2), 16)) as Channels;
}

const textOf = (channels: Channels): string =>
  `#${channels.map((value) => value.toString(16).padStart(2, "0")).join("")}`;

/** Relative luminance, 0 to 1. */
function luminance(channels: Channels): number {
  const [red, green, blue] = channels.map((value) => {
    const share = value / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  }) as Channels;
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

const contrast = (a: number, b: number): number =>
  (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
