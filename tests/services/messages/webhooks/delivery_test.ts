import { deepEqual, equal, match } from "node:assert/strict";
import { createHmac } from "node:crypto";
import { selectOutboxMessages } from "../../../../db/outbox_messages.ts";
import { sendToWebhook, webhookChannel } from "../../../../services/messages/webhooks/delivery.ts";
import { signDelivery } from "../../../../services/messages/webhooks/post.ts";
import { testWebhook } from "../../../../services/messages/webhooks/messages.ts";
import { createWebhook } from "../../../../services/messages/webhooks/webhooks.ts";
import { deliverDue } from "../../../helpers/outbox_delivery.ts";
import { attemptOnce } from "../../../../services/events/outbox.ts";
import type { ChannelDeps, OutboxMessage } from "../../../../services/events/outbox_channel.ts";
import { VERSION } from "../../../../services/version.ts";
import { fakeReceiver } from "../../../helpers/fake_receiver.ts";
import { type TestApp, testApp } from "../../../helpers/test_app.ts";
import { until } from "../../../helpers/until.ts";
import { isInTime } from "../../../helpers/in_time.ts";

const { signal } = new AbortController();

const loopbackApp = () =>
  testApp({ now: "2026-01-01T12:00:00Z", config: { outboundAllow: ["127.0.0.1"] } });

const create = ({ deps }: TestApp, url: string) =>
  createWebhook(deps, { name: "n", url, events: ["*"], headers: { "X-Own": "own" } });

const lastMessage = ({ deps }: TestApp, targetId: string): OutboxMessage =>
  selectOutboxMessages(
    deps.db,
    { channel: webhookChannel.name, targetId },
    { limit: 1, offset: 0 },
  )[0]!;

Deno.test("a signature matches the published example of Standard Webhooks", async () => {
  // The example from the libraries of the specification.
  equal(
    await signDelivery(
      "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
      "msg_p5jXN8AQM9LWM0D4loKWxJek",
      1614265330,
      '{"test": 2432232314}',
    ),
    "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
  );
});

Deno.test("a signature covers the bytes that are sent", async () => {
  await using receiver = fakeReceiver();
  using app = loopbackApp();
  const { id, secret } = await create(app, receiver.url);
  const messageId = testWebhook(app.deps, id);
  await deliverDue(app.deps, { signal });

  const [{ method, headers, body }] = receiver.received as [typeof receiver.received[0] & object];
  equal(method, "POST");
  equal(headers["content-type"], "application/json");
  equal(headers["user-agent"], `Longshore/${VERSION}`);
  equal(headers["x-own"], "own");
  equal(headers["webhook-id"], messageId);
  equal(headers["webhook-timestamp"], String(Date.parse("2026-01-01T12:00:00Z") / 1000));
  const key = Uint8Array.fromBase64(secret.slice("whsec_".length));
  equal(key.length >= 24 && key.length <= 64, true);
  const signed = `${messageId}.${headers["webhook-timestamp"]}.${body}`;
  const expected = createHmac("sha256", key).update(signed).digest("base64");
  equal(headers["webhook-signature"], `v1,${expected}`);
  deepEqual(Object.keys(JSON.parse(body)), [
    "event",
    "timestamp",
    "eventId",
    "server",
    "serverId",
    "data",
  ]);
});

Deno.test("each attempt has the same id and body, and a new time and signature", async () => {
  await using receiver = fakeReceiver((_, index) =>
    new Response(null, { status: index === 0 ? 500 : 200 })
  );
  using app = loopbackApp();
  const { id } = await create(app, receiver.url);
  testWebhook(app.deps, id);
  await deliverDue(app.deps, { signal });
  app.clock.advance({ seconds: 6 });
  await deliverDue(app.deps, { signal });

  const [first, second] = receiver.received;
  equal(first!.headers["webhook-id"], second!.headers["webhook-id"]);
  equal(first!.body, second!.body);
  equal(
    Number(second!.headers["webhook-timestamp"]) - Number(first!.headers["webhook-timestamp"]),
    6,
  );
  equal(first!.headers["webhook-signature"] === second!.headers["webhook-signature"], false);
  const { status, attempts } = lastMessage(app, id);
  deepEqual([status, attempts], ["sent", 2]);
});

for (
  const { answer, headers, outcome } of [
    { answer: 200, outcome: { result: "sent", status: 200, error: null } },
    { answer: 204, outcome: { result: "sent", status: 204, error: null } },
    {
      answer: 302,
      headers: { location: "http://127.0.0.1:1/" },
      outcome: { result: "retry", status: 302, error: "HTTP 302: redirects are not followed" },
    },
    { answer: 400, outcome: { result: "retry", status: 400, error: "HTTP 400" } },
    { answer: 410, outcome: { result: "gone", status: 410, error: "HTTP 410: gone" } },
    {
      answer: 429,
      headers: { "retry-after": "120" },
      outcome: { result: "retry", status: 429, error: "HTTP 429", afterMs: 120_000 },
    },
    {
      answer: 503,
      headers: { "retry-after": "Thu, 01 Jan 2026 12:01:00 GMT" },
      outcome: { result: "retry", status: 503, error: "HTTP 503", afterMs: 60_000 },
    },
    {
      answer: 503,
      headers: { "retry-after": "soon" },
      outcome: { result: "retry", status: 503, error: "HTTP 503" },
    },
  ]
) {
  Deno.test(`the outcome of ${answer} ${JSON.stringify(headers ?? "")}`, async () => {
    const body = answer === 204 ? null : "what the receiver says";
    await using receiver = fakeReceiver(() =>
      new Response(body, { status: answer, ...(headers && { headers: headers as HeadersInit }) })
    );
    using app = loopbackApp();
    const { id } = await create(app, receiver.url);
    testWebhook(app.deps, id);
    deepEqual(await sendToWebhook(app.deps, lastMessage(app, id), signal), outcome);
  });
}

Deno.test("an endless response body does not fail the delivery", async () => {
  await using receiver = fakeReceiver(() => new Response("x".repeat(1_000_000)));
  using app = loopbackApp();
  const { id } = await create(app, receiver.url);
  testWebhook(app.deps, id);
  const { result } = await sendToWebhook(app.deps, lastMessage(app, id), signal);
  equal(result, "sent");
});

Deno.test("nothing is sent to a name that later resolves to a private address", async () => {
  await using receiver = fakeReceiver();
  const { port } = new URL(receiver.url);
  using app = testApp();
  const { id } = await create(app, `http://does-not-resolve.invalid:${port}/`);
  testWebhook(app.deps, id);
  const resolve = () => Promise.resolve(["127.0.0.1"]);
  const outcome = await attemptOnce(
    { ...app.deps, resolve } as ChannelDeps,
    webhookChannel,
    lastMessage(app, id),
    signal,
  );
  equal(outcome?.result, "retry");
  match(outcome!.error!, /resolves to an address that this service may not reach/);
  deepEqual(receiver.received, []);
});

Deno.test("an unreachable receiver does not delay others", async () => {
  const release = Promise.withResolvers<Response>();
  await using dead = fakeReceiver(() => release.promise);
  await using alive = fakeReceiver();
  using app = loopbackApp();
  const hung = await create(app, dead.url);
  const { id } = await create(app, alive.url);
  for (let i = 0; i < 20; i++) {
    testWebhook(app.deps, hung.id);
    testWebhook(app.deps, id);
  }
  const delivering = deliverDue(app.deps, { signal });
  const startMs = performance.now();
  await until("the living one hears of it", () => alive.received.length > 0);
  // The timeout of an attempt is ten seconds.
  equal(isInTime(performance.now() - startMs, 5_000), true);
  equal(dead.received.length <= 1, true);
  release.resolve(new Response(null, { status: 200 }));
  await delivering;
  equal(alive.received.length, 20);
});
