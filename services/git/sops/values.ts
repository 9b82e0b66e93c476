/** Values of files that SOPS has encrypted, and the code that authenticates all of them. @module */

import { Buffer } from "node:buffer";
import { nodeCrypto } from "../../builtins.ts";

/** A file cannot be opened. The message continues a sentence that begins with its path. */
export class SopsError extends Error {
  override readonly name = "SopsError";
}

export type SopsValue = string | number | bigint | boolean;

const ENCRYPTED =
  /^ENC\[AES256_GCM,data:([\w+/=]*),iv:([\w+/=]+),tag:([\w+/=]+),type:(str|bytes|int|float|bool)\]$/;

const KEY_BYTES = 32;
const TAG_BYTES = 16;

/** A code over encrypted values only begins with the hash of this text. */
const ONLY_ENCRYPTED = "sops";

/** Decimal numbers without an exponent, as the code is made of. */
const DECIMAL = new Intl.NumberFormat("en-US", { useGrouping: false, maximumFractionDigits: 100 });

export type SopsOpener = ReturnType<typeof createOpener>;

/**
 * Creates an opener for the values of one file, in their order.
 *
 * @param isOnlyEncrypted Whether values that are not encrypted are left out of the code.
 */
export function createOpener(key: Uint8Array, isOnlyEncrypted: boolean) {
  if (key.length !== KEY_BYTES) throw new SopsError("has a data key of another length");
  const { createHash } = nodeCrypto();
  const hash = createHash("sha512");
  if (isOnlyEncrypted) hash.update(createHash("sha256").update(ONLY_ENCRYPTED).digest());
  return {
    /** @param keys Of the maps around the value, from the outermost. */
    open(value: SopsValue, keys: readonly string[]): SopsValue {
      const opened = decrypt(key, value, `${keys.join(":")}:`);
      if (opened !== undefined || !isOnlyEncrypted) hash.update(textOf(opened ?? value));
      return opened ?? value;
    },
    /**
     * After the last value.
     *
     * @throws {SopsError} If values were changed, added or removed.
     */
    verify(mac: string, lastModified: string): void {
      const expected = decrypt(key, mac, lastModified);
      if (expected !== hash.digest("hex").toUpperCase()) {
        throw new SopsError("was changed after SOPS has encrypted it (MAC mismatch)");
      }
    },
  };
}

/** @returns `undefined` for a value that is not encrypted. */
function decrypt(key: Uint8Array, value: SopsValue, context: string): SopsValue | undefined {
  const [, data, iv, tag, type] = (typeof value === "string" && ENCRYPTED.exec(value)) || [];
  if (data === undefined) return undefined;
  const bytes = (text: string) => Buffer.from(text, "base64");
  const authentication = bytes(tag!);
  if (authentication.length !== TAG_BYTES) throw new SopsError("has a value with a short tag");
  try {
    const cipher = nodeCrypto().createDecipheriv("aes-256-gcm", key, bytes(iv!))
      .setAAD(Buffer.from(context)).setAuthTag(authentication);
    return typed(Buffer.concat([cipher.update(bytes(data)), cipher.final()]).toString(), type!);
  } catch {
    throw new SopsError("has a value that was changed after SOPS has encrypted it");
  }
}

function typed(text: string, type: string): SopsValue {
  if (type === "int") return Number.isSafeInteger(Number(text)) ? Number(text) : BigInt(text);
  if (type === "float") return Number(text);
  return type === "bool" ? text.toLowerCase() === "true" : text;
}

const textOf = (value: SopsValue): string =>
  typeof value === "boolean"
    ? value ? "True" : "False"
    : typeof value === "number"
    ? DECIMAL.format(value)
    : `${value}`;
