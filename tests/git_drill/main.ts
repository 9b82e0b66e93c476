/**
 * Tests of Git that take long: `deno task git-drill` follows a long history, a server behind nginx, and
 * deploys of a service that is killed. Names in the arguments choose parts.
 *
 * @module
 */

import { followHistory } from "./history.ts";
import { followThroughKills } from "./kills.ts";
import { followServer } from "./server.ts";

const PARTS = { history: followHistory, server: followServer, kills: followThroughKills };

for (const [name, run] of Object.entries(PARTS)) {
  if (Deno.args.length === 0 || Deno.args.includes(name)) await run();
}
