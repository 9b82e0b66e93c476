/**
 * A webhook, a notification channel, a chat channel and a device, to see which of them get a message.
 *
 * @module
 */

import { equal } from "node:assert/strict";
import { collectHeld } from "./outbox_delivery.ts";
import { type TestApp, testApp, type TestAppOptions } from "./test_app.ts";

/** The Pro edition with a webhook, a notification channel, a chat and a device. */
export async function appWithReceivers(options: TestAppOptions = {}): Promise<TestApp> {
  const app = testApp({
    edition: "pro",
    now: "2026-01-01T12:00:00Z",
    ...options,
    config: {
      serverName: "host-1",
      pushUrl: "https://push.example.com",
      ...options.config,
    },
  });
  const create = async (path: string, body: object) => {
    const answer = await app.call("POST", path, body);
    equal(answer.status < 300, true, JSON.stringify(answer.body));
  };
  await create("/api/webhooks", { name: "w", url: "https://hooks.example.com", events: ["*"] });
  await create("/api/notifications/channels", {
    name: "n",
    kind: "gotify",
    config: { url: "https://gotify.example.com", token: "t" },
  });
  await create("/api/ext/service-pro/chatops/channels", {
    name: "c",
    platform: "team-chat",
    config: { webhook_url: "https://hooks.slack.com/services/T000/B000/XXXX" },
    events: ["*"],
  });
  await create("/api/push/register", { token: "ExponentPushToken[phone]" });
  return app;
}

/** Queued messages since the last call, e.g. `push container.down`, sorted. */
export function takeQueued(app: TestApp): string[] {
  collectHeld(app);
  const { db } = app.deps;
  const rows = db.all<{ message: string }>(
    "SELECT channel || ' ' || event_kind AS message FROM outbox_messages ORDER BY 1",
  );
  db.run("DELETE FROM outbox_messages");
  return rows.map(({ message }) => message);
}

/** Messages about a kind of event: to people, to all receivers, to programs. */
export const toPeople = (kind: string): string[] =>
  ["notification", "notification", "push"].map((channel) => `${channel} ${kind}`);
export const toAll = (kind: string): string[] => [...toPeople(kind), `webhook ${kind}`];
export const toPrograms = (kind: string): string[] => [`webhook ${kind}`];
