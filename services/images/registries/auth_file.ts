/**
 * REGISTRY_AUTH_FILE: credentials in the format of Docker's `config.json`, as `docker login` and
 * `podman login` write it.
 *
 * @module
 */

import { canonicalRegistry, isRepository } from "../../../engine/image_reference.ts";
import { readRegularFile } from "../../secrets/private_file.ts";
import type { Deps } from "../../deps.ts";
import { systemReason } from "../../text/system_reason.ts";
import { trimEnd } from "../../text/trim_end.ts";

/** One entry of `auths`. */
export interface FileEntry {
  host: string;
  /** Empty for the whole host. */
  pathPrefix: string;
  username: string | null;
  password: string | null;
  /** Instead of a password. */
  identityToken: string | null;
}

interface AuthFile {
  entries: FileEntry[];
  /** Entries that cannot be used, with the reason and without secrets. */
  problems: string[];
}

/** Largest file, in bytes. */
const FILE_MAX = 1024 * 1024;

/** Limit of entries; those beyond it are ignored and reported. */
const ENTRIES_MAX = 1_000;

/** Limit of reported problems. */
const PROBLEMS_MAX = 50;

/** User name that `docker login` stores next to an identity token. */
const TOKEN_USER = "<token>";

/** Reads the file again with each call, because programs that log in replace it. */
export function readAuthFile({ config }: Pick<Deps, "config">): AuthFile | undefined {
  const path = config.registryAuthFile;
  if (path === null) return undefined;
  try {
    // Deployments mount secrets as links.
    return parseAuthFile(readRegularFile(Deno.realPathSync(path), FILE_MAX));
  } catch (error) {
    const problem = `REGISTRY_AUTH_FILE cannot be read: ${systemReason(error)}`;
    return { entries: [], problems: [problem] };
  }
}

/** @param text The content of a `config.json`. */
export function parseAuthFile(text: string): AuthFile {
  const content = parseObject(text);
  // The parser's message would quote the file.
  if (!content) {
    return { entries: [], problems: ["REGISTRY_AUTH_FILE is not a JSON object"] };
  }
  const problems: string[] = [];
  const entries: FileEntry[] = [];
  if (content.credsStore) {
    problems.push("credsStore is not supported, because it would run a program");
  }
  for (const host of Object.keys(Object(content.credHelpers))) {
    problems.push(`credHelpers of ${host} is not supported, because it would run a program`);
  }
  for (const [address, value] of Object.entries(Object(content.auths))) {
    const place = placeOf(address);
    const credentials = credentialsOf(Object(value));
    if (!place) problems.push(`auths: ${address} is not the address of a registry`);
    else if (entries.length === ENTRIES_MAX) {
      problems.push(`auths has more than ${ENTRIES_MAX} entries; the others are ignored`);
      break;
    } else if (typeof credentials === "string") problems.push(`auths of ${address} ${credentials}`);
    // With a credential store, `docker login` leaves an empty entry.
    else if (credentials) entries.push({ ...place, ...credentials });
  }
  return {
    entries,
    problems: problems.slice(0, PROBLEMS_MAX).map((problem) => problem.slice(0, 300)),
  };
}

/** `undefined` for anything but a JSON object. */
export function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const content = JSON.parse(text);
    return typeof content === "object" && content !== null ? content : undefined;
  } catch {
    return undefined;
  }
}

/** Addresses are hosts, URLs with the version of an API, or hosts with a path (Podman). */
function placeOf(address: string): Pick<FileEntry, "host" | "pathPrefix"> | undefined {
  const [name = "", ...rest] = address.replace(/^https?:\/\//, "").split("/");
  const host = canonicalRegistry(name);
  const pathPrefix = rest.join("/").replace(/^v[12](\/|$)/, "").replace(/\/$/, "");
  if (host === undefined || (pathPrefix !== "" && !isRepository(pathPrefix))) return undefined;
  return { host, pathPrefix };
}

/** @returns `undefined` for an entry without credentials; a text if they cannot be used. */
function credentialsOf(
  { auth, username, password, identitytoken, registrytoken }: Record<string, unknown>,
): Omit<FileEntry, "host" | "pathPrefix"> | string | undefined {
  if (textOf(identitytoken)) {
    return { username: null, password: null, identityToken: textOf(identitytoken)! };
  }
  if (textOf(registrytoken)) return "has a registrytoken, which is not supported";
  const pair = textOf(auth) === undefined
    ? `${textOf(username) ?? ""}:${textOf(password) ?? ""}`
    : decodeBase64(textOf(auth)!);
  if (pair === undefined) return "is not base64";
  const colon = pair.indexOf(":");
  const [user, secret] = [pair.slice(0, Math.max(colon, 0)), pair.slice(colon + 1)];
  if (colon < 0) return "has no user name and password";
  if (user === "" && secret === "") return undefined;
  if (user === "" || secret === "" || user === TOKEN_USER) return "is incomplete";
  return { username: user, password: secret, identityToken: null };
}

const textOf = (value: unknown) => typeof value === "string" && value !== "" ? value : undefined;

function decodeBase64(text: string): string | undefined {
  try {
    // Docker pads the content with NUL characters.
    return trimEnd(new TextDecoder().decode(Uint8Array.fromBase64(text)), "\0");
  } catch {
    return undefined;
  }
}
