/**
 * What the service says at its start: how to get in, where it listens, which engine it found, and
 * what to try next.
 *
 * @module
 */

import { systemVersion } from "../engine/system.ts";
import { ensureApiKey } from "../services/ce/api_key.ts";
import { ensureFirstAdmin } from "../services/ce/users.ts";
import type { Deps } from "../services/deps.ts";
import { VERSION } from "../services/version.ts";
import type { Program } from "./program.ts";

/** A greeting does not wait longer for the engine, in milliseconds. */
const ENGINE_WAIT_MS = 1_500;

/** What was made at this start and is shown once; empty at later starts. */
export interface Credentials {
  apiKey?: string;
  email?: string;
  password?: string;
}

/** Makes the API key, or the first admin, where there is none yet. */
export async function ensureCredentials(deps: Deps): Promise<Credentials> {
  if (deps.config.authMode === "key") {
    const { made } = await ensureApiKey(deps);
    return made === undefined ? {} : { apiKey: made };
  }
  const { email, password } = await ensureFirstAdmin(deps) ?? {};
  return email === undefined || password === undefined ? {} : { email, password };
}

/** Prints the greeting and logs the start. */
export async function greet(
  deps: Deps,
  { print }: Program,
  address: string,
  { apiKey, email, password }: Credentials,
): Promise<void> {
  const { config, license, log } = deps;
  const engine = await engineFound(deps);
  log.info("listening", { address, version: VERSION, edition: license.edition });

  print(`Longshore ${VERSION} listens on ${address}`);
  print(`Engine: ${engine}`);
  if (apiKey !== undefined) {
    print(`API key: ${apiKey}`);
    print("         Keep it: it is shown this once, and whoever has it is root on this host.");
  }
  if (password !== undefined) {
    print(`Admin: ${email}, password ${password}`);
    print("       Keep it: it is shown this once, and whoever has it is root on this host.");
  }
  const [path, body] = config.authMode === "key"
    ? ["token", JSON.stringify({ apiKey: apiKey ?? "YOUR_API_KEY" })]
    : ["login", JSON.stringify({ email: email ?? "YOU", password: password ?? "YOUR_PASSWORD" })];
  print(`Try: curl -s -H 'Content-Type: application/json' -d '${body}' ${address}/auth/${path}`);
  print(`Then look at ${address}/docs`);
}

async function engineFound({ engine }: Deps): Promise<string> {
  try {
    const { Version, ApiVersion } = await systemVersion(engine, {
      signal: AbortSignal.timeout(ENGINE_WAIT_MS),
    });
    const kind = engine.kind === "podman" ? "Podman" : "Docker";
    return `${kind} ${Version} (API ${ApiVersion}) at ${engine.socketPath}`;
  } catch (error) {
    const why = error instanceof DOMException ? "it does not answer yet" : (error as Error).message;
    return `none yet at ${engine.socketPath} (${why}); it is looked for all the while`;
  }
}
