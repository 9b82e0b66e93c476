/**
 * A program that emits numbered events and delivers them, to be killed at any time: emitting,
 * recording, outbox and delivery are the service's own, only the pauses are shorter.
 *
 * Arguments: state database, number of events, URLs of the webhooks.
 *
 * @module
 */

import { openStateDatabase } from "../../db/database.ts";
import { selectSetting, upsertSetting } from "../../db/settings.ts";
import { countWebhooks } from "../../db/webhooks.ts";
import { migrate } from "../../db/migrate.ts";
import { stateMigrations } from "../../db/migrations/state/mod.ts";
import { createWebhook } from "../../services/messages/webhooks/webhooks.ts";
import { emit } from "../../services/events/emit.ts";
import { createDeliverer } from "../../services/events/outbox.ts";
import { testApp } from "./test_app.ts";

/** Enough that no message is given up. */
const RETRY_MS = Array(100).fill(30);

const [path = "", count = "", ...urls] = Deno.args;
const db = openStateDatabase(path);
migrate(db, stateMigrations);
using app = testApp({ db, config: { outboundAllow: ["127.0.0.1"] } });
app.deps.now = () => new Date();

if (countWebhooks(db) === 0) {
  for (const url of urls) {
    await createWebhook(app.deps, { name: url, url, events: ["container.down"], headers: {} });
  }
}

const { signal } = new AbortController();
const deliverer = createDeliverer(app.deps, { signal, retryMs: RETRY_MS });
void emitAll();
while (true) {
  const nextMs = deliverer.start() ?? 5_000;
  await app.deps.outbox.wait(nextMs, signal);
}

/** The number of the last event is stored as its cause would be: with it, or not at all. */
async function emitAll(): Promise<void> {
  const emitted = () => Number(selectSetting(db, "emitted") ?? "0");
  while (emitted() < Number(count)) {
    const number = emitted() + 1;
    emit(app.deps, "container.down", {
      container: "web",
      id: String(number),
      reason: "exited",
      exitCode: 1,
    }, () => upsertSetting(db, "emitted", String(number)));
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
}
