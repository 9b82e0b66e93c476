import { deepEqual, equal, match } from "node:assert/strict";
import { insertRoleAssignment } from "../../../../db/enterprise/role_assignments.ts";
import { selectOutboxMessages } from "../../../../db/outbox_messages.ts";
import { selectPushTokensOfUser } from "../../../../db/push_tokens.ts";
import { pushChannel, pushRecorder } from "../../../../services/messages/push/channel.ts";
import {
  openPushToken,
  registerPushToken,
  unregisterPushToken,
} from "../../../../services/messages/push/tokens.ts";
import { removeUser } from "../../../../services/access/users/users.ts";
import type { Deps } from "../../../../services/deps.ts";
import { emit } from "../../../../services/events/emit.ts";
import { type AppEvent, createEnvelope } from "../../../../services/events/events.ts";
import { takeEvents } from "../../../../services/fleet/events/take.ts";
import { addHost } from "../../../helpers/event_link.ts";
import { deliverDue } from "../../../helpers/outbox_delivery.ts";
import { usersApp } from "../../../helpers/accounts.ts";
import { type PushGateway, pushGateway } from "../../../helpers/push_gateway.ts";
import { keptLog, type TestApp, testApp } from "../../../helpers/test_app.ts";

const NOW = "2026-01-01T12:00:00.000Z";

const DOWN = { container: "web", id: "c1", reason: "exited", exitCode: 137 } as const;

/** An app that sends its push notifications to the gateway. */
function appWith(gateway: PushGateway | null, changes: Partial<Deps["config"]> = {}): TestApp {
  const app = testApp({
    now: NOW,
    config: { pushUrl: gateway?.url ?? null, serverName: "host1", ...changes },
  });
  return Object.assign(app, { deps: pushOnly(app.deps) });
}

const pushOnly = (deps: Deps): Deps =>
  Object.assign(deps, { recorders: [pushRecorder], channels: [pushChannel] });

/** The push token of a device. */
const tokenOf = (name: string) => `ExponentPushToken[${name}]`;

const register = ({ deps }: TestApp, name: string, userId = "key") =>
  registerPushToken(deps, { userId }, tokenOf(name));

/** The tokens of a user's devices, most recently registered first. */
const tokensOf = ({ deps }: TestApp, userId = "key") =>
  selectPushTokensOfUser(deps.db, userId).map((device) => openPushToken(deps.secrets, device));

const deliver = ({ deps }: TestApp) => deliverDue(deps, { signal: new AbortController().signal });

/** All messages to devices, newest first. */
const outboxOf = ({ deps }: TestApp, targetId: string) =>
  selectOutboxMessages(deps.db, { channel: "push", targetId }, { limit: 10, offset: 0 });

const queued = ({ deps }: TestApp) =>
  deps.db.get<{ n: number }>(
    "SELECT count(*) AS n FROM outbox_messages WHERE status = 'queued'",
  )!.n;

const deviceOf = ({ deps }: TestApp, name: string) =>
  selectPushTokensOfUser(deps.db, "key")
    .find((device) => openPushToken(deps.secrets, device) === tokenOf(name))!.id;

Deno.test("a stopped container is pushed to every device", async () => {
  await using gateway = pushGateway();
  using app = appWith(gateway);
  for (const name of ["phone", "tablet"]) await register(app, name);

  const { eventId } = emit(app.deps, "container.down", DOWN);
  await deliver(app);

  deepEqual(gateway.messages.map(({ to }) => to).sort(), ["phone", "tablet"].map(tokenOf));
  deepEqual({ ...gateway.messages[0], to: "" }, {
    to: "",
    title: "web is down",
    body: "host1: the container exited with code 137",
    data: {
      type: "container.down",
      event: "container.down",
      timestamp: NOW,
      eventId,
      server: "host1",
      serverId: app.deps.server.id,
      containerId: "c1",
    },
    sound: "default",
    priority: "high",
  });
});

Deno.test("a fired alert is pushed, a resolved one is not", async () => {
  await using gateway = pushGateway();
  using app = appWith(gateway);
  await register(app, "phone");
  const alert = {
    rule: "CPU",
    ruleId: "r1",
    alertId: "a1",
    metric: "cpu_percent",
    operator: ">",
    threshold: 90,
    value: 97,
    message: `CPU is 97 ${"x".repeat(400)}`,
  };

  emit(app.deps, "alert.fired", alert);
  emit(app.deps, "alert.resolved", alert);
  emit(app.deps, "container.up", { container: "web", id: "c1" });
  await deliver(app);

  equal(gateway.messages.length, 1);
  const { title, body, data } = gateway.messages[0]!;
  deepEqual([title, data.ruleId, data.alertId], ["Alert: CPU", "r1", "a1"]);
  equal(body.length, 300);
  match(body, /^host1: CPU is 97 x+\.\.\.$/);
});

Deno.test("a created incident is pushed", async () => {
  await using gateway = pushGateway();
  using app = appWith(gateway);
  await register(app, "phone");
  const incident = { id: "i1", title: "Disk full", severity: "critical" };
  const event = {
    event: "incident.created",
    ...createEnvelope(app.deps),
    data: incident,
  } as AppEvent;
  app.deps.db.transaction(() => pushRecorder.record(app.deps, event, event, undefined));
  await deliver(app);
  const { title, body, data } = gateway.messages[0]!;
  deepEqual([title, body, data.incidentId], [
    "Incident: Disk full",
    "host1: severity critical",
    "i1",
  ]);
});

Deno.test("nothing is queued without a gateway, without devices or during maintenance", async () => {
  await using gateway = pushGateway();
  for (const what of ["gateway", "devices", "maintenance"]) {
    using app = appWith(what === "gateway" ? null : gateway);
    if (what !== "devices") await register(app, "phone");
    if (what === "maintenance") {
      await app.call("POST", "/api/maintenance", { enabled: true });
    }
    emit(app.deps, "container.down", DOWN);
    equal(queued(app), 0, what);
  }
});

Deno.test("a device that the gateway no longer knows is deleted with its queued messages", async () => {
  await using gateway = pushGateway();
  using app = appWith(gateway);
  for (const name of ["old", "phone"]) await register(app, name);
  const old = deviceOf(app, "old");
  gateway.unregistered.add(tokenOf("old"));

  emit(app.deps, "container.down", DOWN);
  emit(app.deps, "container.down", DOWN);
  await deliver(app);

  deepEqual(tokensOf(app), [tokenOf("phone")]);
  deepEqual(gateway.messages.map(({ to }) => to), ["phone", "phone"].map(tokenOf));
  deepEqual(outboxOf(app, old).map(({ status }) => status), ["failed", "failed"]);
  equal(queued(app), 0);
});

for (
  const { what, answer, status, error, waitS } of [
    {
      what: "429 with Retry-After",
      answer: () => new Response("", { status: 429, headers: { "retry-after": "90" } }),
      status: 429,
      error: "The gateway answered 429",
      waitS: 90,
    },
    {
      what: "429 with a date",
      answer: () =>
        new Response("", {
          status: 429,
          headers: { "retry-after": "Thu, 01 Jan 2026 12:02:00 GMT" },
        }),
      status: 429,
      error: "The gateway answered 429",
      waitS: 120,
    },
    {
      what: "503",
      answer: () => new Response("", { status: 503 }),
      status: 503,
      error: "The gateway answered 503",
      waitS: 6,
    },
    {
      what: "a redirect",
      answer: () => Response.redirect("http://127.0.0.1:1/"),
      status: 302,
      error: "The gateway answered 302",
      waitS: 6,
    },
    {
      what: "the rate limit of a device",
      answer: () =>
        Response.json({
          data: [{ status: "error", details: { error: "MessageRateExceeded" } }],
        }),
      status: 200,
      error: "The gateway's rate limit for this device is exceeded",
      waitS: 6,
    },
    {
      what: "an unknown code",
      answer: () =>
        Response.json({ data: [{ status: "error", details: { error: "constructor" } }] }),
      status: 200,
      error: "The gateway refused the message",
      waitS: 6,
    },
    ...["", "{}", "null", '{"data":[]}', '{"data":[null]}', '{"data":5}', "<html>"].map((text) => ({
      what: `the answer ${text || "of nothing"}`,
      answer: () => new Response(text),
      status: 200,
      error: "The response is not from an Expo push API",
      waitS: 6,
    })),
  ]
) {
  Deno.test(`a message is retried after ${what}`, async () => {
    await using gateway = pushGateway();
    using app = appWith(gateway);
    await register(app, "phone");
    gateway.answerOnce(answer);

    emit(app.deps, "container.down", DOWN);
    await deliver(app);
    const [message] = outboxOf(app, deviceOf(app, "phone"));
    deepEqual(
      [message!.status, message!.attempts, message!.lastStatus, message!.lastError],
      ["queued", 1, status, error],
    );
    const waits = (Date.parse(message!.nextAttemptAt!) - Date.parse(NOW)) / 1000;
    equal(waits >= waitS * 0.7 && waits <= waitS, true, `${waits} s`);

    app.clock.advance({ seconds: waitS });
    await deliver(app);
    deepEqual(gateway.messages.map(({ to }) => to), ["phone"].map(tokenOf));
    equal(queued(app), 0);
  });
}

for (
  const { what, answer, error } of [
    {
      what: "400",
      answer: () => Response.json({ errors: [{ code: "VALIDATION_ERROR" }] }, { status: 400 }),
      error: "The gateway answered 400",
    },
    {
      what: "wrong credentials",
      answer: () =>
        Response.json({ data: [{ status: "error", details: { error: "InvalidCredentials" } }] }),
      error: "The gateway's credentials are invalid",
    },
  ]
) {
  Deno.test(`a message fails after ${what}, and the device stays registered`, async () => {
    await using gateway = pushGateway();
    using app = appWith(gateway);
    await register(app, "phone");
    gateway.answerOnce(answer);
    emit(app.deps, "container.down", DOWN);
    await deliver(app);
    const [message] = outboxOf(app, deviceOf(app, "phone"));
    deepEqual([message!.status, message!.lastError], ["failed", error]);

    emit(app.deps, "container.down", DOWN);
    await deliver(app);
    equal(gateway.messages.length, 1);
  });
}

Deno.test("an unreachable gateway is retried", async () => {
  const gateway = pushGateway();
  await gateway[Symbol.asyncDispose]();
  using app = appWith(gateway);
  await register(app, "phone");
  emit(app.deps, "container.down", DOWN);
  await deliver(app);
  const [message] = outboxOf(app, deviceOf(app, "phone"));
  deepEqual([message!.status, message!.lastStatus], ["queued", null]);
  match(message!.lastError!, /refused the connection$/);
});

Deno.test("one push says that hosts are away, whatever a host says about a fleet of its own", async () => {
  await using gateway = pushGateway();
  using app = appWith(gateway);
  await register(app, "phone");
  const away = (host: string) => ({ host, hostId: host, address: "", since: NOW });
  takeEvents(app.deps, addHost(app, "edge-7"), [{
    ...{ sequence: 1, id: crypto.randomUUID(), mode: "new", rootId: null, stack: null },
    event: {
      ...{ event: "host.away", eventId: crypto.randomUUID(), timestamp: NOW },
      data: away("attic"),
    },
  }]);
  for (const host of ["shop-1", "shop-2"]) emit(app.deps, "host.away", away(host));
  await deliver(app);
  deepEqual(gateway.messages.map(({ title }) => title), [
    "Host attic is away",
    "Host shop-1 is away",
  ]);
});

Deno.test("queued messages do not reach the next user of a device", async () => {
  await using gateway = pushGateway();
  using app = appWith(gateway);
  await register(app, "phone");
  emit(app.deps, "container.down", DOWN);
  await register(app, "phone", "other user");
  await deliver(app);
  deepEqual([gateway.messages, queued(app)], [[], 0]);
});

Deno.test("queued messages of an unregistered device are not sent", async () => {
  await using gateway = pushGateway();
  using app = appWith(gateway);
  await register(app, "phone");
  emit(app.deps, "container.down", DOWN);
  await unregisterPushToken(app.deps, { userId: "key" }, tokenOf("phone"));
  await deliver(app);
  deepEqual([gateway.requests.length, queued(app)], [0, 0]);
});

Deno.test("a user whose custom role is limited to hosts gets no more pushes", async () => {
  await using gateway = pushGateway();
  const { log, lines } = keptLog();
  using app = testApp({ edition: "enterprise", log, config: { pushUrl: gateway.url } });
  pushOnly(app.deps);
  const { body: role } = await app.call("POST", "/api/ext/service-enterprise/roles", {
    ...{ name: "Edge", permissions: [], hosts: ["edge-*"] },
  });
  await register(app, "phone");
  insertRoleAssignment(app.deps.db, {
    ...{ user_id: "key", role_id: role.id, assigned_by: "key", assigned_at: NOW },
  });

  emit(app.deps, "container.down", DOWN);
  await deliver(app);
  deepEqual(gateway.messages, []);
  deepEqual(tokensOf(app), []);
  match(
    lines.find((line) => line.includes("registration deleted"))!,
    /The user is limited to hosts/,
  );
});

Deno.test("in users mode only devices of existing accounts get messages", async () => {
  await using gateway = pushGateway();
  using app = await usersApp({ now: NOW, config: { pushUrl: gateway.url } });
  pushOnly(app.deps);
  await register(app, "viewers", app.ids.viewer);
  await register(app, "admins", app.ids.admin);
  await register(app, "keys", "key");
  emit(app.deps, "container.down", DOWN);
  removeUser(app.deps, { ...CALLER, userId: app.ids.admin }, app.ids.viewer);
  await deliver(app);
  deepEqual(gateway.messages.map(({ to }) => to), ["admins"].map(tokenOf));
});

const CALLER = { userId: "", role: "admin", familyId: "", address: "192.0.2.1" } as const;

Deno.test("a user name and password of the gateway are sent as basic authentication", async () => {
  await using gateway = pushGateway();
  using app = appWith(gateway, { pushUrl: gateway.url.replace("//", "//push:s3cret@") });
  await register(app, "phone");
  emit(app.deps, "container.down", DOWN);
  await deliver(app);
  equal(gateway.requests[0]!.headers.get("authorization"), `Basic ${btoa("push:s3cret")}`);
});
