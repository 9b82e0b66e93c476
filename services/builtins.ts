/**
 * Modules of the runtime that are slow to load: together a third of the start-up time. Each is
 * loaded on first use; most are not needed before the service listens. A static import would load
 * them at start-up, and `tests/structure/imports_test.ts` refuses it.
 *
 * @module
 */

interface Builtins {
  "node:crypto": typeof import("node:crypto");
  "node:dns": typeof import("node:dns");
  "node:fs": typeof import("node:fs");
  "node:http": typeof import("node:http");
  "node:https": typeof import("node:https");
  "node:net": typeof import("node:net");
  "node:os": typeof import("node:os");
  "node:process": typeof import("node:process");
  "node:tls": typeof import("node:tls");
  "node:util": typeof import("node:util");
  "node:zlib": typeof import("node:zlib");
}

/** The runtime loads the global `process` on first access, too. */
function load<Name extends keyof Builtins>(name: Name): Builtins[Name] {
  const { process } = globalThis as unknown as {
    process: { getBuiltinModule(name: string): unknown };
  };
  return process.getBuiltinModule(name) as Builtins[Name];
}

/** For synchronous hashes and ciphers. Use WebCrypto where a promise is fine. */
export const nodeCrypto = () => load("node:crypto");
export const nodeDns = () => load("node:dns");
export const nodeFs = () => load("node:fs");
export const nodeHttp = () => load("node:http");
export const nodeHttps = () => load("node:https");
export const nodeNet = () => load("node:net");
export const nodeOs = () => load("node:os");
export const nodeProcess = () => load("node:process");
export const nodeTls = () => load("node:tls");
export const nodeUtil = () => load("node:util");
export const nodeZlib = () => load("node:zlib");

/** Returns a secret of `bytes` random bytes as base64url. */
export function randomText(bytes: number): string {
  return crypto.getRandomValues(new Uint8Array(bytes))
    .toBase64({ alphabet: "base64url", omitPadding: true });
}

/** SHA-256 as base64url. Unsalted: for random texts, which cannot be guessed. */
export const sha256 = (text: string): string =>
  nodeCrypto().createHash("sha256").update(text).digest("base64url");
