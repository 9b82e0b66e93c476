/**
 * Allowed signers, in the form of the file that `ssh-keygen` and Git use:
 * `ada@example.org [options] ssh-ed25519 AAAA... [comment]`.
 *
 * @see https://man.openbsd.org/ssh-keygen.1#ALLOWED_SIGNERS
 * @module
 */

import { AppError } from "../errors.ts";

/** Limit of the text, in characters, and of its keys. */
export const SIGNERS_MAX = 32 * 1024;
const KEYS_MAX = 200;

export interface Signer {
  principal: string;
  /** As in a `.pub` file. */
  key: string;
  /** Unix milliseconds. */
  validAfter: number;
  validBefore: number;
}

const KEY_TYPE = /^(?:ssh|ecdsa|sk)-/;
const OPTION = /^([a-z-]+)(?:="([^"]*)")?(?:,|$)/i;
const TIME = /^(\d{4})(\d{2})(\d{2})(?:(\d{2})(\d{2})(\d{2})?)?(Z?)$/;

/**
 * @param field Names the text in messages.
 * @throws {AppError} `invalid` with the line.
 */
export function parseSigners(text: string, field: string): Signer[] {
  const signers = text.split("\n").flatMap((line, at) => {
    const trimmed = line.trim();
    if (trimmed === "" || trimmed.startsWith("#")) return [];
    const signer = parseLine(trimmed);
    if (typeof signer !== "string") return [signer];
    throw new AppError("invalid", `${field}: line ${at + 1} ${signer}`);
  });
  if (signers.length > KEYS_MAX) {
    throw new AppError("invalid", `${field}: must have at most ${KEYS_MAX} keys`);
  }
  return signers;
}

/** @returns The signer, or what is wrong. */
function parseLine(line: string): Signer | string {
  const words = line.split(/\s+/);
  const at = words.findIndex((word) => KEY_TYPE.test(word));
  const [algorithm, key] = at < 0 ? [] : words.slice(at);
  if (algorithm === undefined || key === undefined) {
    return "must have a name and a public key, e.g. ada@example.org ssh-ed25519 AAAA...";
  }
  if (algorithm !== "ssh-ed25519") return "must have an Ed25519 key (ssh-ed25519 AAAA...)";
  const [principal, ...options] = words.slice(0, at);
  if (principal === undefined) return "must begin with a name, e.g. ada@example.org";
  const signer: Signer = {
    principal,
    key: `${algorithm} ${key}`,
    validAfter: -Infinity,
    validBefore: Infinity,
  };
  let rest = options.join(" ");
  while (rest !== "") {
    const option = OPTION.exec(rest);
    if (!option) return "has options that cannot be read";
    const [all, name = "", value = ""] = option;
    rest = rest.slice(all.length);
    const problem = applyOption(signer, name.toLowerCase(), value);
    if (problem !== undefined) return problem;
  }
  return signer;
}

function applyOption(signer: Signer, name: string, value: string): string | undefined {
  if (name === "namespaces") {
    return value.split(",").includes("git") ? undefined : "is not for the namespace git";
  }
  if (name !== "valid-after" && name !== "valid-before") return `has the unknown option ${name}`;
  const time = parseTime(value);
  if (time === undefined) return `has an unreadable time in ${name}; use YYYYMMDD or YYYYMMDDHHMMZ`;
  if (name === "valid-after") signer.validAfter = time;
  else signer.validBefore = time;
  return undefined;
}

/** Without `Z` the time is that of the host. */
function parseTime(text: string): number | undefined {
  const [, year, month, day, hour = "00", minute = "00", second = "00", zone] = TIME.exec(text) ??
    [];
  if (year === undefined) return undefined;
  const time = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}${zone}`);
  return Number.isNaN(time) ? undefined : time;
}
