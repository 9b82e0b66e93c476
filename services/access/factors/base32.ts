/** Base32 without padding (RFC 4648, section 6), as authenticator apps read secrets. @module */

const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

export function encodeBase32(bytes: Uint8Array): string {
  let text = "";
  let bits = 0;
  let buffered = 0;
  for (const byte of bytes) {
    buffered = (buffered << 8 | byte) & 0xfff;
    for (bits += 8; bits >= 5; bits -= 5) text += ALPHABET[buffered >> bits - 5 & 31];
  }
  return bits > 0 ? text + ALPHABET[buffered << 5 - bits & 31] : text;
}
