/**
 * What takes too long for each run of the tests: `deno task git-drill` follows a long history, a server
 * behind nginx, and an engine whose service is killed. Names in the arguments choose parts.
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
