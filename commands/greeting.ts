/**
 * The output of a start: where the service listens, which engine it found, and what to try next.
 *
 * @module
 */

import { RefusedCallError } from "../engine/errors.ts";
import { systemVersion } from "../engine/system.ts";
import { SETUP_CODE_MINUTES } from "../services/access/setup/code.ts";
import { isSetupRequired, type Mode } from "../services/access/sign_in/mode.ts";
import type { Config } from "../services/config/config.ts";
import type { Deps } from "../services/deps.ts";
import { VERSION } from "../services/version.ts";
import type { Program } from "./program.ts";

/** Longest wait of the greeting for the engine, in milliseconds. */
const ENGINE_WAIT_MS = 1_500;

/**
 * Prints the greeting and logs the start.
 *
 * @param credentialsFile The file with the credentials that this start created, if there is one.
 */
export async function greet(
  deps: Deps,
  { print }: Program,
  address: string,
  credentialsFile: string | undefined,
): Promise<void> {
  const { accounts, config, license, log, setupCode } = deps;
  const engine = await engineFound(deps);
  log.info("listening", { address, version: VERSION, edition: license.edition });

  // Browsers keep a session for the address that they use: elsewhere it would be lost.
  const base = config.serviceBaseUrl ?? address;
  print(`Longshore ${VERSION} listens on ${address}`);
  print(`Engine: ${engine}`);
  if (isSetupRequired(deps.db, config)) {
    print(
      `Setup code: ${setupCode.text}, once within ${SETUP_CODE_MINUTES} minutes, ` +
        `also in ${credentialsFile}`,
    );
    print(
      config.ui === "on"
        ? `Set up: open ${base}/setup#${setupCode.text}`
        : "Set up: run longshore setup --help",
    );
    return;
  }
  if (credentialsFile !== undefined) {
    print(`Credentials: in ${credentialsFile} (mode 0600). Save them, then delete the file.`);
  }
  if (config.ui === "on") print(`Dashboard: ${base}/`);
  const trial = describeTrial(accounts.mode, config.passwordLogin);
  if (trial) print(`Try: curl -s -H 'Content-Type: application/json' ${trial(base)}`);
  print(`API documentation: ${base}/docs`);
}

/** Arguments of a sign-in with curl; `undefined` where programs cannot sign in with a password. */
function describeTrial(mode: Mode, passwordLogin: Config["passwordLogin"]) {
  if (mode === "users" && passwordLogin === "off") return undefined;
  const [path, body] = mode === "key"
    ? ["token", { apiKey: "YOUR_API_KEY" }]
    : ["login", { email: "YOUR_EMAIL", password: "YOUR_PASSWORD" }];
  return (base: string) => `-d '${JSON.stringify(body)}' ${base}/auth/${path}`;
}

async function engineFound({ engine }: Deps): Promise<string> {
  const { address } = engine.endpoint;
  const kind = () => engine.kind === "podman" ? "Podman" : "Docker";
  try {
    const { Version, ApiVersion } = await systemVersion(engine, {
      signal: AbortSignal.timeout(ENGINE_WAIT_MS),
    });
    return `${kind()} ${Version} (API ${ApiVersion}) at ${address}`;
  } catch (error) {
    if (error instanceof RefusedCallError) {
      return `${kind()} (API ${engine.apiVersion}) at ${address}`;
    }
    const why = error instanceof DOMException ? "no answer yet" : (error as Error).message;
    return `not reachable at ${address} (${why}); retrying in the background`;
  }
}
