/**
 * Programs that the Compose file runs in a container after its start and before its stop.
 *
 * @module
 */

import { EngineError } from "../../../../engine/errors.ts";
import { execCreate, execInspect, execStart } from "../../../../engine/exec.ts";
import type { Deps } from "../../../deps.ts";
import { AppError } from "../../../errors.ts";
import { exitCodeOf } from "../../exec/exec.ts";
import { isUp, nameOf } from "../../rebuild/replace.ts";
import { inspectIfThere } from "../../updates/run/members.ts";
import { withoutValues } from "../../updates/run/refusal.ts";
import type { Service } from "../load/resolve.ts";
import type { Hook } from "../load/service_keys.ts";

/** Limit for one hook, so that one that hangs does not hold the stack for ever: an hour. */
const HOOK_MAX_MS = 3_600_000;

/**
 * Runs `post_start` in a container that was started. A deploy that is continued after a crash may run
 * it again.
 *
 * @throws {AppError} `conflict` if a hook fails; the others are not run then.
 */
export async function runPostStart(
  { engine }: Pick<Deps, "engine">,
  service: Pick<Service, "post_start"> | undefined,
  id: string,
  signal: AbortSignal,
): Promise<void> {
  await runHooks(engine, "post_start", service?.post_start, id, signal);
}

/**
 * Runs `pre_stop` in a container, unless it is not running.
 *
 * @throws {AppError} As `runPostStart()`.
 */
export async function runPreStop(
  { engine }: Pick<Deps, "engine">,
  service: Pick<Service, "pre_stop"> | undefined,
  id: string,
  signal: AbortSignal,
): Promise<void> {
  if (!service?.pre_stop) return;
  const container = await inspectIfThere(engine, id);
  if (container && isUp(container)) {
    await runHooks(engine, "pre_stop", service.pre_stop, id, signal);
  }
}

async function runHooks(
  engine: Deps["engine"],
  key: "post_start" | "pre_stop",
  hooks: readonly Hook[] = [],
  id: string,
  signal: AbortSignal,
): Promise<void> {
  for (const [index, hook] of hooks.entries()) {
    const container = await inspectIfThere(engine, id);
    const what = `${container ? nameOf(container) : id}: ${key}[${index}]`;
    const limit = AbortSignal.timeout(HOOK_MAX_MS);
    let exitCode: number | null;
    try {
      exitCode = await runHook(engine, id, hook, AbortSignal.any([signal, limit]));
    } catch (error) {
      signal.throwIfAborted();
      if (limit.aborted) throw new AppError("conflict", `${what} did not end within an hour`);
      if (!(error instanceof EngineError)) throw error;
      const known = new AppError("conflict", `${what} could not be run: ${error.message}`);
      throw withoutValues(known, { Config: { Env: variablesOf(hook) }, HostConfig: {} });
    }
    if (exitCode !== 0) throw new AppError("conflict", `${what} exited with code ${exitCode}`);
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
