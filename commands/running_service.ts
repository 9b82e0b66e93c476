/**
 * The description of a running service in the lock file of its data directory, for commands that run
 * with another environment.
 *
 * @module
 */

import { join } from "node:path";
import type { Config } from "../services/config/config.ts";
import { givenMode } from "../services/access/sign_in/mode.ts";
import { openRegularFile } from "../services/secrets/private_file.ts";

/** Locked while the service runs. */
export const LOCK_FILE = "longshore.lock";

/** Secrets that affect commands. */
const GIVEN_SECRETS = { API_KEY: "apiKey", LICENSE_KEY: "licenseKey" } as const;

export type GivenSecret = keyof typeof GIVEN_SECRETS;

export interface RunningService {
  pid: number;
  /** `null` if its environment leaves the mode to the data. */
  authMode: Config["authMode"];
  /** E.g. `http://localhost:3000`. */
  address: string;
  /** Variables of its environment by name, which commands use unless they have others. */
  variables: Record<string, string>;
  /** Names of the secrets that are set in its environment. */
  given: GivenSecret[];
}

/** Settings of the service that commands use as well, by the name of the variable. */
const SHARED = {
  FLEET_ALLOW: "fleetAllow",
  FLEET_INSECURE: "fleetInsecure",
  FLEET_TERMINAL: "fleetTerminal",
  RELEASE_URL: "releaseUrl",
  SERVER_NAME: "serverName",
  SERVICE_BASE_URL: "serviceBaseUrl",
} as const satisfies Record<string, keyof Config>;

/** Maximum size; the text has a few hundred bytes, and addresses as long as their variables. */
const TEXT_BYTES_MAX = 64 * 1024;

/** Writes the description of this process to the lock file. */
export function describeService(lock: Deno.FsFile, config: Config, address: string): void {
  const names = Object.keys(GIVEN_SECRETS) as GivenSecret[];
  const service: RunningService = {
    pid: Deno.pid,
    authMode: givenMode(config) ?? null,
    address,
    variables: Object.fromEntries(
      Object.entries(SHARED).flatMap(([name, key]) => {
        const value = config[key];
        return value === null ? [] : [[name, value]];
      }),
    ),
    given: names.filter((name) => config[GIVEN_SECRETS[name]] !== null),
  };
  lock.truncateSync(0);
  lock.writeSync(new TextEncoder().encode(JSON.stringify(service) + "\n"));
}

/** Returns the service that uses a data directory; `undefined` if none runs or it is unreadable. */
export function findRunningService(dataDir: string): RunningService | undefined {
  try {
    using lock = openRegularFile(join(dataDir, LOCK_FILE));
    // Closing the file releases the lock.
    if (lock.tryLockSync(false)) return undefined;
    const bytes = new Uint8Array(TEXT_BYTES_MAX);
    const text = new TextDecoder().decode(bytes.subarray(0, lock.readSync(bytes) ?? 0));
    const { pid, authMode, address, variables = {}, given } = JSON.parse(text);
    const isWhole = Number.isSafeInteger(pid) && [null, "key", "users"].includes(authMode) &&
      typeof address === "string" && Array.isArray(given) && isTexts(variables);
    return isWhole ? { pid, authMode, address, variables, given } : undefined;
  } catch {
    return undefined;
  }
}

const isTexts = (value: unknown): value is Record<string, string> =>
  value !== null && typeof value === "object" && !Array.isArray(value) &&
  Object.values(value).every((each) => typeof each === "string");
