/** The program is killed in the middle of a retention of the compliance log. @module */

import { deepEqual, equal, ok } from "node:assert/strict";
import { openStateDatabase } from "../../../../db/database.ts";
import { selectAnchor } from "../../../../db/enterprise/chain_anchors.ts";
import { storeTrialStart } from "../../../../services/access/license/licenses.ts";
import { runCommand, temporaryDirectory } from "../../../helpers/command.ts";
import { fillLog, makeStateFile } from "../../../helpers/compliance.ts";
import { long } from "../../../helpers/long.ts";
import { startLongshore } from "../../../helpers/longshore.ts";
import { until } from "../../../helpers/until.ts";

const OLD = 30_000;
const NEW = 500;
const BASE = "/api/ext/service-enterprise/compliance";
const DAY_MS = 24 * 60 * 60 * 1_000;

long(Deno.test)(
  "a log whose retention is killed verifies, and is swept in the end",
  async () => {
    using directory = temporaryDirectory();
    const dataDir = `${directory.path}/data`;
    Deno.mkdirSync(dataDir);
    const path = `${dataDir}/state.sqlite`;
    const db = makeStateFile(path);
    const now = Date.now();
    fillLog(db, OLD, { from: new Date(now - 800 * DAY_MS).toISOString(), stepMs: 10 });
    fillLog(db, NEW, { from: new Date(now - 2 * DAY_MS).toISOString(), stepMs: 10 });
    // The sweeper begins with the program: whatever is old goes, slice by slice.
    storeTrialStart(db, new Date());
    const deleted = () => selectAnchor(db)?.sequence ?? 0;
    const verify = async () => {
      const { code, stdout } = await runCommand(["compliance", "verify", path]);
      equal(code, 0, stdout);
      return stdout;
    };

    {
      await using program = await startLongshore({ dataDir });
      await until("a slice of it is gone", () => deleted() > 0);
      await program.kill9();
      const left = OLD - deleted();
      ok(left > 0, "old entries are left");
      const { n } = db.get<{ n: number }>("SELECT count(*) AS n FROM compliance_logs")!;
      ok(n >= left + NEW);
      await verify();
    }

    await using program = await startLongshore({ dataDir });
    await until("the rest is gone", () => deleted() === OLD);
    const { status, body } = await program.call("POST", `${BASE}/verify-chain`, {});
    deepEqual([status, body.verified, body.reason], [200, true, null]);
    ok(body.entries_checked >= NEW);
    const swept = await program.call("DELETE", `${BASE}/retention`);
    deepEqual(swept.body, { deleted: 0, retention_days: 365, chain_anchor_recorded: false });
    const stats = await program.call("GET", `${BASE}/stats`);
    const beside = openStateDatabase(path);
    equal(
      stats.body.total_entries,
      beside.get<{ n: number }>("SELECT count(*) AS n FROM compliance_logs")!.n,
    );
    beside.close();
    db.close();
    equal(await program.stop(), 0);
    await verify();
  },
);
