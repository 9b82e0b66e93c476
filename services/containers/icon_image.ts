/**
 * Images that are shown as icons. SVG, which can contain scripts, is not accepted.
 *
 * @module
 */

/** Longest `data:` URL, in characters. */
const URL_MAX = 16_384;

/** Largest width and height, in pixels: a small file can decode to a huge image. */
const PIXELS_MAX = 512;

/** Whether a text is a PNG or WebP image in Base64, of at most {@linkcode PIXELS_MAX} each way. */
export function isImage(text: string): boolean {
  if (text.length > URL_MAX) return false;
  const [, kind, base64] =
    /^data:image\/(png|webp);base64,((?:[A-Za-z0-9+/]{4})+(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?)$/
      .exec(text) ?? [];
  if (base64 === undefined) return false;
  const bytes = Uint8Array.fromBase64(base64);
  const view = new DataView(bytes.buffer);
  const [width, height] = (kind === "png" ? pngSize(view) : webpSize(view)) ?? [0, 0];
  return width > 0 && height > 0 && width <= PIXELS_MAX && height <= PIXELS_MAX;
}

type Size = readonly [width: number, height: number] | undefined;

/** By the signature and the first chunk (https://www.w3.org/TR/png-3/#11IHDR). */
function pngSize(view: DataView): Size {
  if (view.byteLength < 33 || view.getBigUint64(0) !== 0x89504e47_0d0a1a0an) return undefined;
  return wordAt(view, 12) === "IHDR" ? [view.getUint32(16), view.getUint32(20)] : undefined;
}

/** By the first chunk: extended, lossless or lossy (RFC 9649). */
function webpSize(view: DataView): Size {
  if (view.byteLength < 30 || wordAt(view, 0) !== "RIFF" || wordAt(view, 8) !== "WEBP") {
    return undefined;
  }
  const short = (at: number) => view.getUint16(at, true);
  switch (wordAt(view, 12)) {
    case "VP8X":
      return [1 + (view.getUint32(24, true) & 0xffffff), 1 + (view.getUint32(26, true) >>> 8)];
    case "VP8L":
      return [1 + (short(21) & 0x3fff), 1 + (view.getUint32(21, true) >>> 14 & 0x3fff)];
    case "VP8 ":
      return [short(26) & 0x3fff, short(28) & 0x3fff];
  }
  return undefined;
}

const wordAt = (view: DataView, at: number): string =>
  String.fromCharCode(...new Uint8Array(view.buffer, at, 4));
