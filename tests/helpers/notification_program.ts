/**
 * A program that emits numbered events to notification channels and delivers them, to be killed at
 * any time: everything is the service's own, only the clock stands still while it runs.
 *
 * Arguments: state database, time of the clock, number of the last event, channels as JSON, and
 * milliseconds after which the clock goes on by a second once all events are emitted.
 *
 * @module
 */

import { equal } from "node:assert/strict";
import { selectNotificationChannels } from "../../db/notification_channels.ts";
import { selectSetting, upsertSetting } from "../../db/settings.ts";
import { openStateDatabase } from "../../db/database.ts";
import { migrate } from "../../db/migrate.ts";
import { stateMigrations } from "../../db/migrations/state/mod.ts";
import { outboxDeliverer } from "../../services/events/outbox_deliverer.ts";
import { emit } from "../../services/events/emit.ts";
import { incidentEvent } from "./numbered_incidents.ts";
import { testApp } from "./test_app.ts";

const [path = "", now = "", last = "", channels = "", speed = ""] = Deno.args;
const db = openStateDatabase(path);
migrate(db, stateMigrations);
using app = testApp({ db, now, config: { serverName: "host-1", outboundAllow: ["127.0.0.1"] } });

if (selectNotificationChannels(db).length === 0) {
  for (const { kind, config } of JSON.parse(channels)) {
    const { status } = await app.call("POST", "/api/notifications/channels", {
      name: kind,
      kind,
      config,
    });
    equal(status, 201);
  }
}

void emitAll();
await outboxDeliverer.run(app.deps, new AbortController().signal, () => {});

/** The number of the last event is stored as its cause would be: with it, or not at all. */
async function emitAll(): Promise<void> {
  const emitted = () => Number(selectSetting(db, "emitted") ?? "0");
  while (emitted() < Number(last)) {
    const number = emitted() + 1;
    const { kind, data } = incidentEvent(number);
    emit(app.deps, kind, data, () => upsertSetting(db, "emitted", String(number)));
    await new Promise((resolve) => setTimeout(resolve));
  }
  console.log("emitted");
  if (speed !== "") setInterval(() => app.clock.advance({ seconds: 1 }), Number(speed));
}
