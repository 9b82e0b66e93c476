/** Values of secrets and configs in requests. @module */

import { AppError } from "../errors.ts";

/** @throws {AppError} `invalid` for text that is not Base64. */
export function decodeValue(
  { value, encoding }: { value: string; encoding: "utf8" | "base64" },
): Uint8Array {
  if (encoding === "utf8") return new TextEncoder().encode(value);
  try {
    return Uint8Array.fromBase64(value);
  } catch (cause) {
    throw new AppError("invalid", "body.value: must be Base64", { cause });
  }
}
