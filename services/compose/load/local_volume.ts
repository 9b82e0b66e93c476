/** Volumes of the engine's local driver, which mounts whatever its options say. @module */

import { normalize } from "node:path";
import { isInside } from "../../text/paths.ts";

/** Types of file systems that have nothing of the host. */
const ELSEWHERE = ["tmpfs", "nfs", "nfs4", "cifs"];

/** Options that say what is mounted. Podman ignores their case. */
const MOUNT_OPTIONS = ["type", "o", "device"];

/**
 * Whether a driver is the local one.
 *
 * @param driver Default of the engine if it is missing.
 */
export const isLocalDriver = (driver: string | undefined) => !driver || driver === "local";

/**
 * Returns why `BIND_ALLOW` does not allow a volume of the local driver, as the name of an option and
 * what is wrong with it; `undefined` if it allows it. Only file systems are allowed that are known to
 * have nothing of the host.
 *
 * @param allowed Directories of the host, normalised.
 */
export function findForbiddenOption(
  options: Readonly<Record<string, string>>,
  allowed: readonly string[],
): { option: string; problem: string } | undefined {
  const known = Object.keys(options).filter((name) => MOUNT_OPTIONS.includes(name.toLowerCase()));
  if (known.length === 0 || allowed.includes("/")) return undefined;
  const upper = known.find((name) => !MOUNT_OPTIONS.includes(name));
  if (upper !== undefined) {
    return { option: upper, problem: "must be in lowercase, because of BIND_ALLOW" };
  }
  const { type = "", o = "", device = "" } = options;
  // Also in another case or in quotes: programs differ in how they read options.
  const isBind = /bind/i.test(o);
  if (!isBind && ELSEWHERE.includes(type)) return undefined;
  if (!isBind || !["", "none", "bind"].includes(type)) {
    return {
      option: "type",
      problem: "must be tmpfs, nfs or cifs, or none with o: bind, because of BIND_ALLOW",
    };
  }
  const isAllowed = device.startsWith("/") &&
    allowed.some((directory) => isInside(normalize(device), directory));
  if (isAllowed) return undefined;
  return {
    option: "device",
    problem: "must be in a directory that BIND_ALLOW allows",
  };
}
