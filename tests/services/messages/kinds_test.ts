import { deepEqual, equal, match, ok } from "node:assert/strict";
import { emit } from "../../../services/events/emit.ts";
import { CHANNEL_KINDS } from "../../../services/messages/channels/kinds/mod.ts";

import { fakeReceiver } from "../../helpers/fake_receiver.ts";
import { PLATFORMS, servePlatform } from "../../helpers/notification_platforms.ts";
import { deliverHeld } from "../../helpers/outbox_delivery.ts";
import { smtpServer } from "../../helpers/smtp_server.ts";
import { testApp, type TestAppOptions } from "../../helpers/test_app.ts";

const CHANNELS = "/api/notifications/channels";

const channelApp = (options: TestAppOptions = {}) =>
  testApp({
    ...options,
    config: {
      serverName: "host-1",
      serviceBaseUrl: "https://longshore.example.com/ops",
      outboundAllow: ["127.0.0.1"],
      ...options.config,
    },
  });
type App = ReturnType<typeof channelApp>;

const deliver = deliverHeld;

async function create(app: App, kind: string, config: object, change = {}): Promise<string> {
  const { status, body } = await app.call("POST", CHANNELS, {
    name: kind,
    kind,
    config,
    ...change,
  });
  equal(status, 201, JSON.stringify(body));
  return body.id;
}

const down = { container: "web", id: "c1", reason: "exited", exitCode: 3 } as const;

// deno-lint-ignore no-explicit-any
type Json = any;

Deno.test("every kind with requests has a server that speaks its protocol", () => {
  const kinds = CHANNEL_KINDS.filter(({ request }) => request).map(({ id }) => id);
  deepEqual(Object.keys(PLATFORMS).sort(), kinds.sort());
});

for (const [kind, each] of Object.entries(PLATFORMS)) {
  Deno.test(`${kind} accepts the beginning and the end of a problem`, async () => {
    using app = channelApp();
    const { receiver, problems, url } = servePlatform(each);
    await using _ = receiver;
    const id = await create(app, kind, each.config(url));
    emit(app.deps, "container.down", down);
    await deliver(app);
    emit(app.deps, "container.up", { container: "web", id: "c1" });
    await deliver(app);
    deepEqual(problems, []);
    const { body } = await app.call("GET", `${CHANNELS}/${id}/deliveries`);
    deepEqual(body.deliveries.map(({ status, title }: Json) => [status, title]), [
      ["sent", "host-1: Container up: web"],
      ["sent", "host-1: Container down: web"],
    ]);
    const [first, second] = receiver.received;
    ok(first!.path.startsWith(each.path), first!.path);
    ok(second!.path.startsWith(each.endPath ?? each.path), second!.path);
    equal(first!.method, each.method ?? "POST");
  });
}

Deno.test("the platforms that know threads join the messages about one problem", async () => {
  using app = channelApp();
  const fields: Record<string, (body: Json) => unknown> = {
    telegram: (body) => body.reply_parameters?.message_id,
    matrix: (body) => body["m.relates_to"]?.event_id,
  };
  for (const [kind, read] of Object.entries(fields)) {
    const { receiver, url } = servePlatform(PLATFORMS[kind]!);
    await using _ = receiver;
    const id = await create(app, kind, PLATFORMS[kind]!.config(url));
    emit(app.deps, "container.down", down);
    await deliver(app);
    emit(app.deps, "container.up", { container: "web", id: "c1" });
    await deliver(app);
    app.clock.advance({ minutes: 5 });
    emit(app.deps, "container.down", down);
    await deliver(app);
    const references = receiver.received.map(({ body }) => read(JSON.parse(body)));
    deepEqual(references, [undefined, kind === "telegram" ? 365 : "$first", undefined]);
    await app.call("DELETE", `${CHANNELS}/${id}`);
  }
});

Deno.test("pagerduty resolves what it triggered", async () => {
  using app = channelApp();
  const { receiver, url } = servePlatform(PLATFORMS.pagerduty!);
  await using _ = receiver;
  await create(app, "pagerduty", PLATFORMS.pagerduty!.config(url));
  emit(app.deps, "container.oom", { container: "web", id: "c1" });
  emit(app.deps, "alert.fired", {
    rule: "CPU",
    ruleId: "r1",
    alertId: "a1",
    metric: "cpu_percent",
    operator: "gt",
    threshold: 90,
    value: 95,
    message: "CPU is at 95 % (limit: above 90 %)",
  });
  await deliver(app);
  emit(app.deps, "container.up", { container: "web", id: "c1" });
  await deliver(app);
  const sent = receiver.received.map(({ body }) => JSON.parse(body));
  deepEqual(
    sent.map(({ event_action, dedup_key, payload }) => [event_action, dedup_key, payload.severity]),
    [
      ["trigger", "host-1 a1", "warning"],
      ["trigger", "host-1 container web", "critical"],
      ["resolve", "host-1 container web", "info"],
    ],
  );
});

Deno.test("pagerduty resolves what it triggered also beyond the limit of messages", async () => {
  using app = channelApp();
  const { receiver, url } = servePlatform(PLATFORMS.pagerduty!);
  await using _ = receiver;
  await create(app, "pagerduty", PLATFORMS.pagerduty!.config(url));
  const monitor = (id: string) => ({ monitor: id, monitorId: id, outageId: id });
  for (let n = 0; n < 20; n++) emit(app.deps, "monitor.down", { ...monitor(`${n}`), cause: "x" });
  await deliver(app);
  app.clock.advance({ seconds: 15 });
  emit(app.deps, "monitor.down", { ...monitor("late"), cause: "x" });
  emit(app.deps, "monitor.up", { ...monitor("0"), downtimeSeconds: 1 });
  await deliver(app);
  const actions = Map.groupBy(
    receiver.received.map(({ body }) => JSON.parse(body)),
    ({ event_action }) => event_action,
  );
  equal(actions.get("resolve")?.length, 1);
  match(actions.get("resolve")![0].payload.summary, /Monitor up: 0$/);
});

Deno.test("pagerduty resolves a problem that ends during a silence or maintenance", async () => {
  using app = channelApp();
  const { receiver, url } = servePlatform(PLATFORMS.pagerduty!);
  await using _ = receiver;
  await create(app, "pagerduty", PLATFORMS.pagerduty!.config(url));
  const outage = (id: string) => ({ monitor: id, monitorId: id, outageId: id });
  const fails = (id: string) => emit(app.deps, "monitor.down", { ...outage(id), cause: "x" });
  const works = (id: string) => emit(app.deps, "monitor.up", { ...outage(id), downtimeSeconds: 1 });
  fails("a");
  fails("b");
  await deliver(app);
  const endsAt = new Date(app.deps.now().getTime() + 3_600_000).toISOString();
  await app.call("POST", "/api/silences", { matchers: { event: "monitor.*" }, endsAt });
  works("a");
  fails("c");
  works("c");
  await app.call("POST", "/api/maintenance", { enabled: true });
  works("b");
  app.clock.advance({ seconds: 15 });
  await deliver(app);
  deepEqual(
    receiver.received.slice(2).map(({ body }) => JSON.parse(body))
      .map(({ dedup_key, event_action }) => [event_action, dedup_key]),
    [["resolve", "host-1 a"], ["resolve", "host-1 b"]],
  );
});

Deno.test("pagerduty resolves the alert of a summary when all problems have ended", async () => {
  using app = channelApp();
  const { receiver, url } = servePlatform(PLATFORMS.pagerduty!);
  await using _ = receiver;
  await create(app, "pagerduty", PLATFORMS.pagerduty!.config(url));
  const outage = (id: number) => ({ monitor: `${id}`, monitorId: `${id}`, outageId: `${id}` });
  const works = (id: number) => emit(app.deps, "monitor.up", { ...outage(id), downtimeSeconds: 1 });
  for (let n = 0; n < 25; n++) emit(app.deps, "monitor.down", { ...outage(n), cause: "x" });
  await deliver(app);
  app.clock.advance({ ms: 60_000 });
  await deliver(app);
  const actions = () =>
    receiver.received.map(({ body }) => JSON.parse(body))
      .filter(({ dedup_key }) => dedup_key === "host-1 summaries")
      .map(({ event_action, payload }) => [event_action, payload.summary]);
  const trigger = ["trigger", "[Warning] host-1: 5 more notifications"];
  for (let n = 0; n < 24; n++) works(n);
  await deliver(app);
  deepEqual(actions(), [trigger]);
  works(24);
  await deliver(app);
  deepEqual(actions(), [trigger, ["resolve", "[Info] host-1: all problems have ended"]]);
});

Deno.test("email sends both parts, as one thread, to each receiver", async () => {
  await using smtp = await smtpServer();
  using app = channelApp({ config: { smtpUrl: smtp.url, smtpFrom: "Longshore <a@example.com>" } });
  await create(app, "email", { to: ["ada@example.com", "bob@example.com"] });
  emit(app.deps, "container.down", { ...down, container: "web" });
  emit(app.deps, "container.up", { container: "web", id: "c1" });
  await deliver(app);
  // The end came before the beginning was sent, which is not sent any more.
  equal(smtp.mails.length, 1);
  emit(app.deps, "schedule.failed", {
    schedule: "<b>nightly</b>",
    scheduleId: "s1",
    container: "web",
    action: "restart",
    error: "<script>alert(1)</script>",
  });
  await deliver(app);
  const [up, failed] = smtp.mails;
  deepEqual(up!.to, ["ada@example.com", "bob@example.com"]);
  equal(up!.headers.subject, "[Info] host-1: Container up: web");
  equal(up!.headers["in-reply-to"], "<thread.container-web@example.com>");
  match(up!.parts["text/plain"]!, /https:\/\/longshore\.example\.com\/ops\/containers\/web/);
  ok(!failed!.parts["text/html"]!.includes("<script>"));
});

Deno.test("email through its own mail server connects to the checked address only", async () => {
  await using smtp = await smtpServer({ users: { ada: "s3cret" } });
  const { port } = new URL(smtp.url);
  using app = channelApp({ config: { outboundAllow: [] } });
  const config = {
    to: ["ada@example.com"],
    smtpUrl: `smtp://ada:s3cret@127.0.0.1:${port}`,
  };
  const refused = await app.call("POST", CHANNELS, { name: "Mail", kind: "email", config });
  equal(refused.status, 400);
  match(refused.body.error, /^body\.config\.smtpUrl: 127\.0\.0\.1 is .* OUTBOUND_ALLOW$/);

  using open = channelApp();
  const id = await create(open, "email", config);
  await open.call("POST", `${CHANNELS}/${id}/test`);
  await deliver(open);
  equal(smtp.mails.length, 1);
  // An address that was allowed once is checked again at each attempt.
  open.deps.config.outboundAllow.length = 0;
  await open.call("POST", `${CHANNELS}/${id}/test`);
  await deliver(open);
  const { body } = await open.call("GET", `${CHANNELS}/${id}`);
  match(body.lastError, /OUTBOUND_ALLOW/);
  deepEqual(body.config, { to: ["ada@example.com"], smtpUrl: "********" });
  equal(smtp.mails.length, 1);
});

for (
  const { refusals, status, error, left } of [
    {
      refusals: { "bob@example.com": 451 },
      status: "queued",
      error: "Refused by the mail server: bob@example.com (451)",
      left: ["bob@example.com"],
    },
    {
      refusals: { "bob@example.com": 452, "eve@example.com": 550 },
      status: "queued",
      error: "Refused by the mail server: bob@example.com (452), eve@example.com (550)",
      left: ["bob@example.com"],
    },
    {
      refusals: { "bob@example.com": 550 },
      status: "failed",
      error: "Refused by the mail server: bob@example.com (550)",
    },
  ] as { refusals: Record<string, number>; status: string; error: string; left?: string[] }[]
) {
  Deno.test(`a mail of which receivers are refused is ${status}: ${error}`, async () => {
    let isRepaired = false;
    await using smtp = await smtpServer({
      refuse: (to) => isRepaired && refusals[to]! < 500 ? undefined : refusals[to],
    });
    using app = channelApp();
    const to = ["ada@example.com", "bob@example.com", "eve@example.com"];
    const id = await create(app, "email", { to, smtpUrl: smtp.url });
    await app.call("POST", `${CHANNELS}/${id}/test`);
    await deliver(app);
    const read = async () =>
      (await app.call("GET", `${CHANNELS}/${id}/deliveries`)).body.deliveries[0];
    const delivery = await read();
    deepEqual([delivery.status, delivery.error], [status, error]);
    deepEqual(smtp.mails.map((mail) => mail.to), [to.filter((each) => !refusals[each])]);

    isRepaired = true;
    app.clock.advance({ minutes: 1 });
    await deliver(app);
    deepEqual(smtp.mails.slice(1).map((mail) => mail.to), left ? [left] : []);
    const isComplete = Object.values(refusals).every((code) => code < 500);
    equal((await read()).status, isComplete ? "sent" : "failed");
  });
}

Deno.test("a mail server that is busy from the first reply on is named as such", async () => {
  const server = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const busy = (async () => {
    using connection = await server.accept();
    await connection.write(new TextEncoder().encode("421 busy\r\n"));
  })();
  using app = channelApp();
  const smtpUrl = `smtp://127.0.0.1:${(server.addr as Deno.NetAddr).port}`;
  const id = await create(app, "email", { to: ["ada@example.com"], smtpUrl });
  await app.call("POST", `${CHANNELS}/${id}/test`);
  await deliver(app);
  await busy;
  server.close();
  const { body } = await app.call("GET", `${CHANNELS}/${id}/deliveries`);
  equal(body.deliveries[0].error, "The mail server refused the connection (421)");
  equal(body.deliveries[0].status, "queued");
});

Deno.test("a space of Google Chat gets a message a second, from all its channels", async () => {
  using app = channelApp();
  const { receiver, url, problems } = servePlatform(PLATFORMS.googlechat!);
  await using _ = receiver;
  const { url: space } = PLATFORMS.googlechat!.config(url) as { url: string };
  await create(app, "googlechat", { url: space });
  await create(app, "googlechat", { url: `${space}&threadKey=2` }, { name: "Other" });
  for (const name of ["a", "b"]) {
    emit(app.deps, "container.oom", { container: name, id: name });
  }
  const arrived: number[] = [];
  for (let second = 0; second < 5; second++) {
    await deliver(app);
    arrived.push(receiver.received.length);
    app.clock.advance({ seconds: 1 });
  }
  deepEqual(arrived, [1, 2, 3, 4, 4]);
  deepEqual(problems, []);
});

Deno.test("a receiver has a message once it answered, however long its body takes", async () => {
  using app = channelApp();
  const end = Promise.withResolvers<void>();
  await using receiver = fakeReceiver(() =>
    new Response(new ReadableStream({ pull: () => end.promise }), { status: 200 })
  );
  const id = await create(app, "webhook", { url: receiver.url });
  const slack = await create(app, "slack", { url: `${receiver.url}/services/T/B/X` });
  emit(app.deps, "container.down", down);
  await deliver(app);
  end.resolve();
  for (const channel of [id, slack]) {
    const { body } = await app.call("GET", `${CHANNELS}/${channel}/deliveries`);
    deepEqual(body.deliveries.map(({ status }: Json) => status), ["sent"], channel);
  }
  equal(receiver.received.length, 2);
});

Deno.test("every kind shows the severity, the server, the image and a link that works", async () => {
  for (const [kind, platform] of Object.entries(PLATFORMS)) {
    using app = channelApp();
    const { receiver, url } = servePlatform(platform);
    await using _ = receiver;
    await create(app, kind, platform.config(url));
    emit(app.deps, "container.down", { ...down, image: "registry.example.com/team_a/web:1.27" });
    await deliver(app);
    const [first] = receiver.received;
    const body = /^\{/.test(first!.body) ? JSON.parse(first!.body) : first!.body;
    const shown = platform.shown(body, first!);
    match(shown, /^\W*Warning\W+host-1: Container down: web/, kind);
    // The template of the webhook has only what it names.
    if (kind === "webhook") continue;
    match(shown.replaceAll("\u200b", ""), /registry\.example\.com\/team_a\/web:1\.27/, kind);
    const link = "https://longshore.example.com/ops/containers/web";
    ok(decodeURIComponent(first!.body).includes(link), `${kind}: ${first!.body}`);
  }
});

Deno.test("email without a mail server is refused", async () => {
  using app = channelApp();
  const { status, body } = await app.call("POST", CHANNELS, {
    name: "Mail",
    kind: "email",
    config: { to: ["ada@example.com"] },
  });
  equal(status, 409);
  match(body.error, /SMTP_URL/);
});

for (
  const { status, headers = {}, body = {}, result } of [
    { status: 400, result: "failed" },
    { status: 401, result: "failed" },
    { status: 404, result: "failed" },
    { status: 413, result: "failed" },
    { status: 422, result: "failed" },
    { status: 403, result: "queued" },
    { status: 429, headers: { "retry-after": "120" }, result: "queued" },
    { status: 500, result: "queued" },
    { status: 302, headers: { location: "http://127.0.0.1/" }, result: "queued" },
  ] as { status: number; headers?: Record<string, string>; body?: object; result: string }[]
) {
  Deno.test(`a response with ${status} leaves the message ${result}`, async () => {
    using app = channelApp();
    await using receiver = fakeReceiver(() => Response.json(body, { status, headers }));
    const id = await create(app, "gotify", { url: receiver.url, token: "t" });
    emit(app.deps, "container.down", down);
    await deliver(app);
    const deliveries = (await app.call("GET", `${CHANNELS}/${id}/deliveries`)).body.deliveries;
    equal(deliveries[0].status, result);
    match(deliveries[0].error, new RegExp(`^HTTP ${status}: `));
    equal(receiver.received.length, 1);
  });
}

Deno.test("410 disables the channel", async () => {
  using app = channelApp();
  await using receiver = fakeReceiver(() => new Response(null, { status: 410 }));
  const id = await create(app, "gotify", { url: receiver.url, token: "t" });
  emit(app.deps, "container.down", down);
  await deliver(app);
  const { body } = await app.call("GET", `${CHANNELS}/${id}`);
  equal(body.enabled, false);
});
