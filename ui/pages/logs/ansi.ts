/** Colors of terminals in log lines (ECMA-48, SGR). @module */

/** A piece of a line with the classes that style it. */
export interface Piece {
  text: string;
  classes: string;
}

// deno-lint-ignore no-control-regex
const SGR = /\x1b\[([\d;:]*)m/g;

interface Style {
  /** 0 to 7, as in SGR 30 to 37. */
  color?: number | undefined;
  background?: number | undefined;
  bold?: boolean;
  faint?: boolean;
  italic?: boolean;
  underline?: boolean;
  strike?: boolean;
  inverse?: boolean;
}

/** The text without its color sequences; other control sequences stay. */
export const withoutColors = (raw: string): string =>
  raw.includes("\x1b[") ? raw.replace(SGR, "") : raw;

/** The pieces of a line; together they are its text {@linkcode withoutColors}. */
export function piecesOf(raw: string): Piece[] {
  const pieces: Piece[] = [];
  let style: Style = {};
  let from = 0;
  const push = (text: string) => {
    if (text !== "") pieces.push({ text, classes: classesOf(style) });
  };
  for (const match of raw.matchAll(SGR)) {
    push(raw.slice(from, match.index));
    style = apply(style, match[1]!);
    from = match.index + match[0].length;
  }
  push(raw.slice(from));
  return pieces;
}

function apply(before: Style, parameters: string): Style {
  const codes = parameters.split(/[;:]/).map(Number);
  let style = { ...before };
  for (let at = 0; at < codes.length; at++) {
    const code = codes[at]!;
    if (code === 0) style = {};
    else if (code === 1) style.bold = true;
    else if (code === 2) style.faint = true;
    else if (code === 3) style.italic = true;
    else if (code === 4) style.underline = true;
    else if (code === 7) style.inverse = true;
    else if (code === 9) style.strike = true;
    else if (code === 22) style.bold = style.faint = false;
    else if (code === 23) style.italic = false;
    else if (code === 24) style.underline = false;
    else if (code === 27) style.inverse = false;
    else if (code === 29) style.strike = false;
    else if (code >= 30 && code <= 37) style.color = code - 30;
    else if (code >= 90 && code <= 97) style.color = code - 90;
    else if (code === 39) style.color = undefined;
    else if (code >= 40 && code <= 47) style.background = code - 40;
    else if (code >= 100 && code <= 107) style.background = code - 100;
    else if (code === 49) style.background = undefined;
    else if (code === 38 || code === 48) {
      const isIndexed = codes[at + 1] === 5;
      const color = isIndexed
        ? ofPalette(codes[at + 2] ?? 0)
        : nearest(codes.slice(at + 2, at + 5) as Rgb);
      if (code === 38) style.color = color;
      else style.background = color;
      at += isIndexed ? 2 : 4;
    }
  }
  return style;
}

type Rgb = [red: number, green: number, blue: number];

/** A color of the palette of 256 (xterm): 16 named ones, a cube of 6 × 6 × 6, and 24 grays. */
function ofPalette(index: number): number {
  if (index < 16) return index % 8;
  if (index >= 232) return index < 244 ? 0 : 7;
  const at = index - 16;
  const level = (step: number) => step === 0 ? 0 : 55 + step * 40;
  return nearest([level(Math.floor(at / 36)), level(Math.floor(at / 6) % 6), level(at % 6)]);
}

/** The named color whose primary colors a color mostly has, so that it is legible in both themes. */
function nearest([red, green, blue]: Rgb): number {
  const highest = Math.max(red, green, blue);
  if (highest - Math.min(red, green, blue) < 40) return highest < 128 ? 0 : 7;
  const isStrong = (part: number) => part > highest * 0.6;
  return (isStrong(red) ? 1 : 0) + (isStrong(green) ? 2 : 0) + (isStrong(blue) ? 4 : 0);
}

function classesOf({ color, background, inverse, ...font }: Style): string {
  const classes = Object.entries(font).filter(([, isOn]) => isOn).map(([name]) => `ansi-${name}`);
  const fill = inverse ? color ?? 7 : background;
  if (fill !== undefined) classes.push(`ansi-fill-${fill}`);
  else if (color !== undefined) classes.push(`ansi-${color}`);
  return classes.join(" ");
}
