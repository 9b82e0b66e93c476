/** Uptime monitors whose check must succeed before an update does. @module */

import { assertMayDo, type Caller } from "../../access/caller.ts";
import { isLimited } from "../../access/scope.ts";
import type { Deps } from "../../deps.ts";
import { AppError, LimitError } from "../../errors.ts";
import { editionName, includesEdition } from "../../edition.ts";
import { sleep } from "../../waiting.ts";
import { errorFields } from "../../log.ts";

/** Pause between two checks of a monitor, in milliseconds. */
const PAUSE_MS = 3_000;

/**
 * Checks that a request may name these monitors.
 *
 * @throws {LimitError} Without the edition that has monitors.
 * @throws {AppError} `forbidden` for a caller who may not read monitors; `invalid` for an unknown one.
 */
export async function assertMonitors(
  deps: Deps,
  caller: Caller,
  ids: readonly string[],
): Promise<void> {
  if (ids.length === 0) return;
  const { edition, load } = deps.monitorProbes;
  if (!includesEdition(deps.license.edition, edition)) {
    const message = `Uptime monitors need the ${editionName(edition)} (uptime monitors)`;
    throw new LimitError(message, ids.length, 0);
  }
  assertMayDo(caller, "viewer", "uptime:read");
  if (isLimited(caller.scope)) {
    throw new AppError(
      "forbidden",
      "A token that is limited to stacks or containers has no monitors",
    );
  }
  const { nameOf } = await load();
  const unknown = ids.find((id) => nameOf(deps, id) === undefined);
  if (unknown !== undefined) {
    throw new AppError("invalid", `body.monitors: monitor ${unknown} does not exist`);
  }
}

/** Checks of monitors in the background; disposing ends them. */
interface MonitorWatch extends AsyncDisposable {
  /** Unmet expectations, e.g. `fails the check of monitor shop`. */
  missing(): string[];
}

/** Checks each monitor again and again until it has succeeded once. */
export async function watchMonitors(deps: Deps, ids: readonly string[]): Promise<MonitorWatch> {
  const pending = new Map<string, string>();
  const end = new AbortController();
  let checks: Promise<void>[] = [];
  if (ids.length > 0) {
    const { nameOf, succeeds } = await deps.monitorProbes.load();
    const check = async (id: string) => {
      try {
        while (!end.signal.aborted) {
          if (await succeeds(deps, id, end.signal)) return void pending.delete(id);
          await sleep(PAUSE_MS, end.signal);
        }
      } catch (error) {
        if (!end.signal.aborted) deps.log.error("check failed", errorFields(error));
      }
    };
    for (const id of ids) pending.set(id, nameOf(deps, id) ?? id);
    checks = ids.map(check);
  }
  return {
    missing: () => [...pending.values()].map((name) => `fails the check of monitor ${name}`),
    async [Symbol.asyncDispose]() {
      end.abort();
      await Promise.all(checks);
    },
  };
}
