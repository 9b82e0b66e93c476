/**
 * Programs that the Compose file runs in a container after its start and before its stop.
 *
 * @module
 */

import { EngineError } from "../../../engine/errors.ts";
import { execCreate, execInspect, execStart } from "../../../engine/exec.ts";
import type { Deps } from "../../deps.ts";
import { exitCodeOf } from "../../containers/exec/exec.ts";
import { valuesOf, withoutValues } from "../../containers/secret_values.ts";
import { isUp, nameOf } from "../../updates/recreate/replace.ts";
import { ContainerError } from "../../updates/run/container_error.ts";
import { inspectIfThere } from "../../updates/run/members.ts";
import type { Service } from "../load/resolve.ts";
import type { Hook } from "../load/service_keys.ts";

/** Limit for one hook, so that one that hangs does not hold the stack for ever: an hour. */
const HOOK_MAX_MS = 3_600_000;

/**
 * Runs the hooks of a service in a container, unless it is not running. A deploy that is continued
 * after a crash may run them again.
 *
 * @throws {ContainerError} If a hook fails; the others are not run then.
 */
export async function runHooks(
  { engine }: Pick<Deps, "engine">,
  service: Pick<Service, "post_start" | "pre_stop"> | undefined,
  key: "post_start" | "pre_stop",
  id: string,
  signal: AbortSignal,
): Promise<void> {
  for (const [index, hook] of (service?.[key] ?? []).entries()) {
    const container = await inspectIfThere(engine, id);
    if (key === "pre_stop" && !(container && isUp(container))) return;
    const failure = (problem: string) =>
      new ContainerError(container ? nameOf(container) : id, `failed: ${key}[${index}] ${problem}`);
    const limit = AbortSignal.timeout(HOOK_MAX_MS);
    let exitCode: number | null;
    try {
      exitCode = await runHook(engine, id, hook, AbortSignal.any([signal, limit]));
    } catch (error) {
      signal.throwIfAborted();
      if (limit.aborted) throw failure("did not end within an hour");
      if (!(error instanceof EngineError)) throw error;
      const known = failure(`could not be run: ${error.message}`);
      throw withoutValues(known, valuesOf({ Config: { Env: variablesOf(hook) }, HostConfig: {} }));
    }
    if (exitCode !== 0) throw failure(`exited with code ${exitCode}`);
  }
}

/** Runs a program to its end; its output is dropped. @returns The exit code. */
async function runHook(
  engine: Deps["engine"],
  containerId: string,
  hook: Hook,
  signal: AbortSignal,
): Promise<number | null> {
  const { id } = await execCreate(engine, containerId, {
    cmd: hook.command,
    user: hook.user,
    privileged: hook.privileged,
    workingDir: hook.working_dir,
    env: variablesOf(hook),
    signal,
  });
  using connection = await execStart(engine, id, { long: true, signal });
  for await (const _ of connection.frames);
  signal.throwIfAborted();
  return await exitCodeOf(() => execInspect(engine, id));
}

const variablesOf = ({ environment = {} }: Hook): string[] =>
  Object.entries(environment).flatMap(([name, value]) =>
    value === null || value === undefined ? [] : [`${name}=${value}`]
  );
