/** A breach is recorded and reported once, even if the process is killed several times. @module */

import { deepEqual, equal } from "node:assert/strict";
import { openMetricsDatabase, openStateDatabase } from "../../../../db/database.ts";
import { migrate } from "../../../../db/migrate.ts";
import { metricsMigrations } from "../../../../db/migrations/metrics/mod.ts";
import { stateMigrations } from "../../../../db/migrations/state/mod.ts";
import { insertMonitorLife } from "../../../../db/pro/uptime/monitor_times.ts";
import { insertOutage } from "../../../../db/pro/uptime/outages.ts";
import { upsertLatestCheck } from "../../../../db/pro/uptime/latest.ts";
import { insertMonitor } from "../../../../db/pro/uptime/monitors.ts";
import { createSla } from "../../../../services/pro/sla/definitions.ts";
import { fakeReceiver } from "../../../helpers/fake_receiver.ts";
import { long } from "../../../helpers/long.ts";
import { type LongshoreOptions, startLongshore } from "../../../helpers/longshore.ts";
import { storedMonitor } from "../../../helpers/stored_monitor.ts";
import { until } from "../../../helpers/until.ts";

const KILLS = 2;

/** Budget of a month, so small that an outage of a second exceeds it: 0.26 s. */
const TARGET = 99.99999;

long(Deno.test)("an outage during which the service is killed twice makes one breach", async () => {
  const dataDir = await Deno.makeTempDir({ prefix: "longshore-sla-" });
  await using receiver = fakeReceiver(() => new Response(null, { status: 204 }));
  const options: LongshoreOptions = {
    dataDir,
    env: {
      API_KEY: crypto.randomUUID() + crypto.randomUUID(),
      OUTBOUND_ALLOW: "127.0.0.1",
    },
  };
  try {
    let slaId: string;
    {
      // The webhook exists before the first outage.
      await using service = await startLongshore(options);
      await service.call("POST", "/api/edition/trial");
      const { status } = await service.call("POST", "/api/webhooks", {
        name: "breaches",
        url: receiver.url,
        events: ["sla.breached"],
      });
      equal(status, 201);
      await service.stop();
      slaId = goDown(dataDir);
    }
    for (let kills = 0; kills < KILLS; kills++) {
      await using service = await startLongshore(options);
      // Killed at a different point of the start each time.
      await new Promise((resolve) => setTimeout(resolve, 80 * kills));
      await service.kill9();
    }

    await using service = await startLongshore(options);
    const path = `/api/ext/service-pro/sla/definitions/${slaId}`;
    const breaches = await until("the breach is known", async () => {
      const { body } = await service.call("GET", `${path}/breaches`);
      return body.total > 0 && body.breaches;
    });
    await until("the receiver is called", () => receiver.received.length > 0);
    const recalculated = await service.call("POST", `${path}/recalculate`);

    deepEqual([recalculated.status, recalculated.body.is_breached], [200, true]);
    equal((await service.call("GET", `${path}/breaches`)).body.total, 1);
    // A message may be sent again after a crash, with the same ID.
    const messages = receiver.received.map(({ headers, body }) =>
      [headers["webhook-id"], JSON.parse(body).data.breachId].join(" ")
    );
    deepEqual([...new Set(messages)].map((each) => each.split(" ")[1]), [breaches[0].id]);
  } finally {
    await Deno.remove(dataDir, { recursive: true });
  }
});

/** A monitor that has been down for 44 minutes. @returns The ID of an SLA for it. */
function goDown(dataDir: string): string {
  const now = () => new Date();
  const startedAt = new Date(Date.now() - 44 * 60_000).toISOString();
  const db = openStateDatabase(`${dataDir}/state.sqlite`);
  const metrics = openMetricsDatabase(`${dataDir}/metrics.sqlite`);
  try {
    migrate(db, stateMigrations);
    migrate(metrics, metricsMigrations);
    insertMonitor(
      db,
      storedMonitor({
        id: "web",
        createdAt: startedAt,
        url: `127.0.0.1:${unusedPort()}`,
        status: "down",
      }),
    );
    insertMonitorLife(db, "web", startedAt);
    insertOutage(db, {
      id: "outage",
      monitorId: "web",
      monitorName: "web",
      cause: "Connection refused",
      startedAt,
      resolvedAt: null,
    });
    upsertLatestCheck(metrics, {
      monitorId: "web",
      checkedAt: Date.now(),
      knownUntil: Date.now() + 60_000,
      responseTimeMs: null,
      failures: 44,
      failingSince: Date.parse(startedAt),
    });
    return createSla({ db, now }, {
      name: "Shop",
      description: "",
      target_uptime: TARGET,
      period_type: "monthly",
      monitor_ids: ["web"],
    }).id;
  } finally {
    db.close();
    metrics.close();
  }
}

function unusedPort(): number {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  return listener.addr.port;
}
