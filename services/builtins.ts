/**
 * Modules of the runtime that take long to load (10 to 20 ms, a quarter of the start). They are
 * loaded when they are first used, which most of them are not before the service listens.
 *
 * @module
 */

import process from "node:process";

let cryptoModule: typeof import("node:crypto") | undefined;
let fsModule: typeof import("node:fs") | undefined;
let zlibModule: typeof import("node:zlib") | undefined;

/** Hashes and ciphers that answer at once. WebCrypto's promises do where one may wait. */
export const nodeCrypto = () => cryptoModule ??= process.getBuiltinModule("node:crypto");

/** For the room on a file system, which the runtime itself does not tell. */
export const nodeFs = () => fsModule ??= process.getBuiltinModule("node:fs");

export const nodeZlib = () => zlibModule ??= process.getBuiltinModule("node:zlib");

/** A secret text of `bytes` random bytes, as base64url. */
export function randomText(bytes: number): string {
  return crypto.getRandomValues(new Uint8Array(bytes))
    .toBase64({ alphabet: "base64url", omitPadding: true });
}
