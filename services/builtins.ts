/**
 * Modules of the runtime that take long to load: together a third of the start. They are loaded
 * when they are first used, which most of them are not before the service listens. A static
 * import would load them at the start, wherever it stands; a test keeps them out.
 *
 * @module
 */

interface Builtins {
  "node:crypto": typeof import("node:crypto");
  "node:fs": typeof import("node:fs");
  "node:os": typeof import("node:os");
  "node:process": typeof import("node:process");
  "node:util": typeof import("node:util");
  "node:zlib": typeof import("node:zlib");
}

/** The global `process` is itself loaded when it is first looked at. */
function load<Name extends keyof Builtins>(name: Name): Builtins[Name] {
  const { process } = globalThis as unknown as {
    process: { getBuiltinModule(name: string): unknown };
  };
  return process.getBuiltinModule(name) as Builtins[Name];
}

/** Hashes and ciphers that answer at once. WebCrypto's promises do where one may wait. */
export const nodeCrypto = () => load("node:crypto");

/** For the room on a file system, which the runtime itself does not tell. */
export const nodeFs = () => load("node:fs");

/** For the processors' times and the kernel's release, likewise. */
export const nodeOs = () => load("node:os");

export const nodeProcess = () => load("node:process");

export const nodeUtil = () => load("node:util");

export const nodeZlib = () => load("node:zlib");

/** A secret text of `bytes` random bytes, as base64url. */
export function randomText(bytes: number): string {
  return crypto.getRandomValues(new Uint8Array(bytes))
    .toBase64({ alphabet: "base64url", omitPadding: true });
}
