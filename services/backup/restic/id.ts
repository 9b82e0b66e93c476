/**
 * Storage IDs: the SHA-256 hash of a file's or a blob's content as 64 hexadecimal digits
 * (design document, "Terminology").
 *
 * @module
 */

import { nodeCrypto } from "../../builtins.ts";

/** 64 lower-case hexadecimal digits. */
export type Id = string;

const ID = /^[0-9a-f]{64}$/;

export const isId = (value: unknown): value is Id => typeof value === "string" && ID.test(value);

/** Storage ID of the bytes. */
export const idOf = (bytes: Uint8Array): Id => nodeCrypto().hash("sha256", bytes, "hex");

/** The first eight digits, as restic prints IDs. */
export const short = (id: Id) => id.slice(0, 8);

/** 32 random bytes as an ID, e.g. of a new repository. */
export const randomId = (): Id => crypto.getRandomValues(new Uint8Array(32)).toHex();
