/**
 * A journal for tests of Docker's logging driver `journald`, without systemd as the first process.
 *
 * @module
 */

import { type OwnEngine, ownEngineTest } from "./real_engine.ts";
import { runInside, type Sandbox, startDaemon } from "./sandbox.ts";

const PROGRAM = "/lib/systemd/systemd-journald";

/** The journal is in memory, and no line is dropped for its rate. */
const CONFIGURATION = `[Journal]
Storage=volatile
RateLimitIntervalSec=0
ReadKMsg=no
Audit=no
ForwardToSyslog=no
ForwardToWall=no
`;

/** Registers a test with its own Docker engine beside a journal; skipped where it is not installed. */
export function journaldTest(name: string, run: (engine: OwnEngine) => Promise<void>): void {
  if (!isInstalled()) return Deno.test({ name, ignore: true, fn() {} });
  ownEngineTest(name, async (engine) => {
    await using _journal = await startJournald(engine.sandbox);
    await run(engine);
  });
}

async function startJournald(sandbox: Sandbox): Promise<AsyncDisposable> {
  const script = `mkdir -p /etc/systemd; printf '%s' "$1" > /etc/systemd/journald.conf`;
  await runInside(sandbox, ["sh", "-c", script, "sh", CONFIGURATION]);
  return await startDaemon(sandbox, "journald", [PROGRAM], async () => {
    await runInside(sandbox, ["test", "-S", "/run/systemd/journal/socket"]);
    return true;
  });
}

function isInstalled(): boolean {
  try {
    return Deno.statSync(PROGRAM).isFile;
  } catch {
    return false;
  }
}
