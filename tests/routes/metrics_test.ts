import { gunzipSync } from "node:zlib";
import { deepEqual, equal, match, ok } from "node:assert/strict";
import { sampleHost } from "../../services/metrics/host/metrics.ts";
import { createMetricsExporter } from "../../services/prometheus/export.ts";
import { recordContainerSamples } from "../../services/metrics/container_history.ts";
import { recordHostSample } from "../../services/metrics/history.ts";
import type { Container } from "../../services/containers/inventory.ts";
import type { ContainerStats } from "../../services/containers/stats_cache.ts";
import { composeLabels, containerOf, idOf, setContainers } from "../helpers/fake_containers.ts";
import { fakeEngine } from "../helpers/fake_engine.ts";
import { readExposition } from "../helpers/exposition.ts";
import { promtoolComplaints } from "../helpers/promtool.ts";
import { isEngineRequired } from "../helpers/real_engine.ts";
import { missingProgram } from "../helpers/sandbox.ts";
import { type TestApp, testApp, type TestAppOptions } from "../helpers/test_app.ts";

const TOKEN = "metrics token! of the tests";

const STATS: ContainerStats = {
  ...{ cpuPercent: 12.5, cpuSeconds: 7.5, memoryUsage: 10_000, memoryLimit: 40_000 },
  ...{ memoryPercent: 25, networkRx: 1_024, networkTx: 512, blockRead: 111, blockWrite: 30 },
  ...{ pids: 3, read: "2026-01-01T00:00:00.000Z" },
  counters: {
    cpuUserSeconds: 5,
    cpuSystemSeconds: 2.5,
    cpuPeriods: 10,
    cpuThrottledPeriods: 4,
    cpuThrottledSeconds: 0.5,
    memoryWithCache: 12_000,
    memoryRss: 8_000,
    memoryCache: 3_000,
    memorySwap: 0,
    memoryMax: 13_000,
    memoryFailures: 2,
    memoryMappedFile: 1_000,
    memoryActiveFile: 2_000,
    memoryInactiveFile: 1_000,
    memoryKernel: 300,
    pageFaults: 40,
    majorPageFaults: 1,
    interfaces: [{
      name: "eth0",
      receive: { bytes: 1_024, packets: 8, errors: 1, dropped: 2 },
      transmit: { bytes: 512, packets: 4, errors: 3, dropped: 4 },
    }],
    devices: [{ device: "8:0", readBytes: 111, writtenBytes: 30, reads: 7, writes: 5 }],
  },
};

const WEB = containerOf({
  name: "web",
  image: "registry.example:5000/shop/web:1",
  labels: { ...composeLabels("shop", "web"), secret: "not for everybody" },
  health: "healthy",
  restartCount: 2,
});
const LIMITED = containerOf({
  name: "limited",
  details: {
    ...WEB.details,
    limits: { memoryBytes: 64_000, memorySwapBytes: null, cpus: 0.5, pids: null },
  },
});
const ENDED = containerOf({ name: "ended", state: "exited", exitCode: 137 });

/** An application with these containers in its snapshot and a sample of each running one. */
function following(containers: Container[], options: TestAppOptions = {}): TestApp {
  const app = testApp(options);
  const { stats } = app.deps;
  setContainers(app, ...containers);
  for (const { id, state } of containers) if (state === "running") stats.put(id, STATS);
  return app;
}

async function scrape(app: TestApp) {
  const { status, body } = await app.call("GET", "/metrics", undefined, { role: "viewer" });
  equal(status, 200);
  return readExposition(body);
}

Deno.test("GET /metrics names containers as cAdvisor does", async () => {
  using app = following([WEB, LIMITED, ENDED]);
  const { find, value } = await scrape(app);

  deepEqual(find("container_memory_working_set_bytes", { name: "web" }), [{
    name: "container_memory_working_set_bytes",
    labels: {
      id: `/docker/${idOf("web")}`,
      name: "web",
      image: "registry.example:5000/shop/web:1",
      container_label_com_docker_compose_project: "shop",
      container_label_com_docker_compose_service: "web",
    },
    value: 10_000,
  }]);
  const web = { name: "web" };
  equal(value("container_cpu_usage_seconds_total", { ...web, cpu: "total" }), 7.5);
  equal(value("container_cpu_user_seconds_total", web), 5);
  equal(value("container_cpu_system_seconds_total", web), 2.5);
  equal(value("container_memory_usage_bytes", web), 12_000);
  equal(value("container_memory_rss", web), 8_000);
  equal(value("container_memory_cache", web), 3_000);
  equal(value("container_threads", web), 3);
  equal(value("container_last_seen", web), Date.parse("2026-01-01T00:00:00Z") / 1000);
  equal(value("container_start_time_seconds", web), Date.parse("2026-01-01T00:00:00Z") / 1000);
  equal(value("container_spec_memory_limit_bytes", web), 0);
  const eth0 = { ...web, interface: "eth0" };
  equal(value("container_network_receive_bytes_total", eth0), 1_024);
  equal(value("container_network_transmit_bytes_total", eth0), 512);
  equal(value("container_network_receive_errors_total", eth0), 1);
  equal(value("container_network_transmit_packets_dropped_total", eth0), 4);
  const disk = { ...web, device: "8:0" };
  equal(value("container_fs_reads_bytes_total", disk), 111);
  equal(value("container_fs_writes_bytes_total", disk), 30);
  equal(value("container_fs_reads_total", disk), 7);
  equal(value("container_fs_writes_total", disk), 5);

  deepEqual(find("container_cpu_cfs_throttled_seconds_total").map(({ labels }) => labels.name), [
    "limited",
  ]);
  equal(value("container_spec_memory_limit_bytes", { name: "limited" }), 64_000);
  equal(
    value("container_spec_cpu_quota", { name: "limited" }) /
      value("container_spec_cpu_period", { name: "limited" }),
    0.5,
  );
});

Deno.test("GET /metrics has only Longshore's own metrics for containers that are not running", async () => {
  using app = following([WEB, ENDED]);
  const { find, value } = await scrape(app);

  const ended = { name: "ended" };
  deepEqual(find("container_last_seen", ended), []);
  equal(value("longshore_container_running", ended), 0);
  equal(value("longshore_container_exit_code", ended), 137);
  equal(value("longshore_container_running", { name: "web" }), 1);
  equal(value("longshore_container_unhealthy", { name: "web" }), 0);
  equal(value("longshore_container_restarts_total", { name: "web" }), 2);
  deepEqual(find("longshore_container_exit_code", { name: "web" }), []);
  equal(value("longshore_containers", { state: "running" }), 1);
  equal(value("longshore_containers", { state: "exited" }), 1);
  equal(value("longshore_containers", { state: "paused" }), 0);
  equal(value("longshore_containers_by_health", { health: "healthy" }), 1);
  equal(value("longshore_stacks", { status: "healthy" }), 1);
});

Deno.test("GET /metrics shows no label of a container except its stack and service", async () => {
  using app = following([WEB]);
  const { body } = await app.call("GET", "/metrics");
  ok(!body.includes("not for everybody"));
});

Deno.test("GET /metrics escapes unusual names", async () => {
  using app = following([
    containerOf({
      name: "odd",
      image: 'a"b\\c\nd{}=,',
      labels: composeLabels("x".repeat(10_000), "web"),
    }),
  ]);
  const [series] = (await scrape(app)).find("container_last_seen");
  equal(series!.labels.image, 'a"b\\c\nd{}=,');
  equal(series!.labels.container_label_com_docker_compose_project!.length, 255);
});

Deno.test("GET /metrics omits only what the engine does not report", async () => {
  using app = following([WEB]);
  const counters = { ...STATS.counters!, memoryRss: null, memoryWithCache: NaN };
  app.deps.stats.put(WEB.id, { ...STATS, counters });
  const { find } = await scrape(app);
  deepEqual(find("container_memory_rss"), []);
  deepEqual(find("container_memory_usage_bytes"), []);
  equal(find("container_memory_cache").length, 1);
});

Deno.test("a removed container disappears from GET /metrics immediately", async () => {
  using app = following([WEB, LIMITED]);
  equal((await scrape(app)).find("container_last_seen").length, 2);

  app.deps.inventory.remove(LIMITED.id, app.deps.inventory.readNumber());
  app.deps.stats.remove(LIMITED.id);

  const { series } = await scrape(app);
  ok(series.some(({ labels }) => labels.name === "web"));
  ok(!series.some(({ labels }) => labels.name === "limited"));
});

Deno.test("GET /metrics omits containers while the event stream is down", async () => {
  using app = following([WEB]);
  app.deps.inventory.setLive(false);
  const { find, value } = await scrape(app);
  deepEqual(find("container_last_seen"), []);
  deepEqual(find("longshore_containers"), []);
  equal(value("longshore_inventory_live"), 0);
  equal(value("longshore_engine_up"), 0);
});

Deno.test("GET /metrics names the host as node_exporter does", async () => {
  using app = testApp({ now: new Date().toISOString(), config: { serverName: "host-1" } });
  const { cpuCount, memory, disk, load, kernel } = await sampleHost(app.deps);
  const { find, value } = await scrape(app);

  const idle = find("node_cpu_seconds_total", { mode: "idle" });
  deepEqual(idle.map(({ labels }) => labels.cpu), kernel!.cores.map((_, at) => String(at)));
  equal(idle.length, cpuCount);
  ok(idle.every(({ value }) => value > 0));
  equal(value("node_load1"), load[0]);
  equal(value("node_load5"), load[1]);
  equal(value("node_load15"), load[2]);
  equal(value("node_memory_MemTotal_bytes"), memory.total);
  equal(value("node_memory_MemAvailable_bytes"), memory.available);
  const [size] = find("node_filesystem_size_bytes");
  equal(size!.value, disk.total);
  deepEqual(Object.keys(size!.labels).sort(), ["device", "fstype", "mountpoint"]);
  equal(size!.labels.mountpoint, "/");
  equal(value("node_filesystem_avail_bytes"), disk.free);
  const booted = value("node_boot_time_seconds");
  ok(Math.abs(Date.now() / 1000 - Deno.osUptime() - booted) < 5);
  equal(find("node_uname_info")[0]!.labels.nodename, "host-1");
});

Deno.test("the boot time of the host is the same in every scrape", async () => {
  using app = testApp({ now: new Date().toISOString() });
  await sampleHost(app.deps);
  const first = (await scrape(app)).value("node_boot_time_seconds");
  app.clock.advance({ seconds: 1 });
  await sampleHost(app.deps);
  app.clock.advance({ seconds: 1 });
  equal((await scrape(app)).value("node_boot_time_seconds"), first);
});

Deno.test("GET /metrics counts requests by the pattern of their path", async () => {
  using app = testApp();
  await app.call("GET", "/livez");
  await app.call("GET", "/api/users/a", undefined, { role: "public" });
  await app.call("GET", "/api/alerts/unknown/one");
  await app.call("PUT", "/api/alerts/rules/one", {});
  await app.call("PUT", "/api/alerts/rules/two", {});
  await app.call("GET", "/api/system/docker", undefined, { role: "public" });

  const { find, value, types } = await scrape(app);

  const total = "longshore_http_requests_total";
  equal(value(total, { method: "GET", route: "/livez", status: "2xx" }), 1);
  equal(value(total, { method: "GET", route: "/api/system/docker", status: "4xx" }), 1);
  equal(value(total, { route: "other", method: "GET", status: "4xx" }), 2);
  ok(!find(total).some(({ labels }) => labels.route!.includes("one")));
  const duration = "longshore_http_request_duration_seconds";
  equal(types.get(duration), "histogram");
  const livez = { group: "/livez" };
  equal(value(`${duration}_count`, livez), 1);
  equal(value(`${duration}_bucket`, { ...livez, le: "+Inf" }), 1);
  const buckets = find(`${duration}_bucket`, livez).map(({ value }) => value);
  deepEqual(buckets, buckets.toSorted((a, b) => a - b));
  ok(buckets.length <= 12);
  equal(value(`${duration}_count`, { group: "other" }), 2);
});

Deno.test("GET /metrics has metrics of the service itself", async () => {
  using app = testApp();
  app.deps.workers.set("w", {
    name: "w",
    lastRoundAt: "2026-01-01T00:00:05.000Z",
    lastError: "secret reason",
    lastErrorAt: "2026-01-01T00:00:10.000Z",
  });
  app.deps.vitals.recordTimerLag(250);

  const { find, value, types, series } = await scrape(app);

  equal(find("longshore_build_info")[0]!.value, 1);
  equal(find("longshore_license_info", { edition: "ce" }).length, 1);
  equal(value("longshore_sse_clients"), 0);
  equal(value("longshore_users"), 0);
  equal(value("longshore_outbox_messages"), 0);
  equal(value("longshore_records_limit", { resource: "webhooks" }), 50);
  equal(value("longshore_worker_failing", { worker: "w" }), 1);
  equal(
    value("longshore_worker_last_round_timestamp_seconds", { worker: "w" }),
    Date.parse("2026-01-01T00:00:05Z") / 1000,
  );
  equal(value("longshore_event_loop_lag_seconds"), 0.25);
  ok(value("longshore_process_resident_memory_bytes") > 1e6);
  ok(value("longshore_database_size_bytes", { database: "state" }) > 0);
  equal(types.get("longshore_audit_entries_total"), "counter");
  ok(!JSON.stringify(series).includes("secret reason"));
});

Deno.test("GET /metrics has more than 37 metrics, and counters end in _total", async () => {
  using app = following([WEB, LIMITED, ENDED]);
  await sampleHost(app.deps);
  const { types, helps, series } = await scrape(app);

  ok(new Set(series.map(({ name }) => name)).size > 37);
  for (const [name, type] of types) {
    match(name, /^(container|machine|node|longshore)_/);
    equal(name.endsWith("_total"), type === "counter", name);
    ok(helps.get(name)!.length > 3, name);
  }
});

const missing = missingProgram("promtool");
Deno.test({
  name: "promtool check metrics has nothing to complain of in GET /metrics",
  ignore: missing !== undefined && !isEngineRequired(),
  async fn() {
    if (missing) throw new Error(missing);
    using app = following([WEB, LIMITED, ENDED], { now: new Date().toISOString() });
    await sampleHost(app.deps);
    await app.call("GET", "/livez");
    deepEqual(await promtoolComplaints((await app.call("GET", "/metrics")).body), []);
  },
});

Deno.test("GET /metrics is compressed for a client that accepts it", async () => {
  using app = following([WEB]);
  const answer = await app.app(
    new Request("http://longshore/metrics", {
      headers: { authorization: "Made-Up viewer", "accept-encoding": "gzip" },
    }),
    "192.0.2.1",
  );
  equal(answer.headers.get("content-encoding"), "gzip");
  equal(answer.headers.get("vary"), "accept-encoding");
  const compressed = new Uint8Array(await answer.arrayBuffer());
  const plain = gunzipSync(compressed).toString();
  ok(readExposition(plain).find("container_last_seen").length === 1);
  ok(compressed.length < plain.length / 4);
});

Deno.test("GET /metrics sends no request to the engine", async () => {
  await using fake = fakeEngine();
  using app = following([WEB], { engine: fake.engine });
  await scrape(app);
  app.clock.advance({ minutes: 5 });
  await scrape(app);
  deepEqual(fake.requests, []);
});

Deno.test("GET /metrics leaves out old samples, but keeps the series of a paused container", async () => {
  const paused = { ...LIMITED, state: "paused" as const };
  using app = following([WEB, paused]);
  app.deps.stats.put(paused.id, STATS);
  app.clock.advance({ minutes: 5 });

  const { find } = await scrape(app);

  const names = (metric: string) => find(metric).map(({ labels }) => labels.name);
  deepEqual(names("container_cpu_usage_seconds_total"), [paused.name]);
  deepEqual(names("container_memory_working_set_bytes"), [paused.name]);
});

Deno.test("an export is reused for a second unless something changes", async () => {
  using app = following([WEB]);
  const read = createMetricsExporter(app.deps);
  const first = await read();
  equal(await read(), first);

  app.deps.stats.put(WEB.id, { ...STATS, cpuSeconds: 8 });
  const second = await read();
  ok(second !== first);
  app.clock.advance({ seconds: 1 });
  ok(await read() !== second);
});

Deno.test("a failing database affects nothing else in GET /metrics", async () => {
  using app = following([WEB]);
  const { db } = app.deps;
  app.deps.db = {
    ...db,
    get: () => {
      throw new Error("disk I/O error");
    },
  };
  const { find } = await scrape(app);
  app.deps.db = db;
  equal(find("container_last_seen").length, 1);
  deepEqual(find("longshore_users"), []);
});

Deno.test("GET /metrics is sent in the exposition format", async () => {
  using app = testApp();
  const { headers } = await app.call("GET", "/metrics");
  equal(headers.get("content-type"), "text/plain; version=0.0.4; charset=utf-8");
  equal(headers.get("cache-control"), "no-store");
});

Deno.test("without METRICS_TOKEN, GET /metrics accepts an access token of any role", async () => {
  using app = testApp();
  equal((await app.call("GET", "/metrics", undefined, { role: "public" })).status, 401);
  equal((await app.call("GET", "/metrics", undefined, { token: TOKEN })).status, 401);
  equal((await app.call("GET", "/metrics", undefined, { role: "viewer" })).status, 200);
});

Deno.test("with METRICS_TOKEN, GET /metrics accepts only that token", async () => {
  using app = testApp({ config: { metricsToken: TOKEN, apiKey: "lsk_key" } });
  const { body } = await app.call("POST", "/auth/token", { apiKey: "lsk_key" }, { role: "public" });
  const status = async (authorization?: string) =>
    (await app.call("GET", "/metrics", undefined, {
      role: "public",
      headers: authorization === undefined ? {} : { authorization },
    })).status;

  equal(await status(`Bearer ${TOKEN}`), 200);
  equal(await status(`bearer  ${TOKEN}`), 200);
  equal(await status(), 401);
  equal(await status(`Bearer ${TOKEN}x`), 401);
  equal(await status(`Bearer ${TOKEN.slice(0, -1)}`), 401);
  equal(await status("Bearer "), 401);
  equal(await status(`Basic ${TOKEN}`), 401);
  equal(await status(`Bearer ${body.accessToken}`), 401);
});

Deno.test("METRICS_TOKEN opens GET /metrics only", async () => {
  using app = testApp({ config: { metricsToken: "simple-token" } });
  for (const path of ["/api/metrics/history", "/api/overview", "/api/health"]) {
    const { status, body } = await app.call("GET", path, undefined, { token: "simple-token" });
    ok(path === "/api/health" ? !("version" in body) : status === 401, path);
  }
});

Deno.test("GET /api/metrics/history returns the last 24 hours by default", async () => {
  using app = following([WEB, ENDED]);
  await sampleHost(app.deps);
  recordHostSample(app.deps, {});
  app.clock.advance({ minutes: 1 });

  const { status, body } = await app.call("GET", "/api/metrics/history", undefined, {
    role: "viewer",
  });

  equal(status, 200);
  deepEqual([body.hours, body.resolutionSeconds, body.history.length], [24, 120, 1]);
  const [point] = body.history;
  deepEqual(Object.keys(point), [
    "timestamp",
    "cpuPercent",
    "memoryPercent",
    "diskPercent",
    "load1",
    "containersRunning",
    "containersTotal",
  ]);
  deepEqual([point.timestamp, point.containersRunning, point.containersTotal], [
    "2026-01-01T00:00:00.000Z",
    1,
    2,
  ]);
  deepEqual(body.summary.containersTotal, { min: 2, avg: 2, max: 2 });
  equal((await app.call("GET", "/api/metrics/history?hours=168")).body.resolutionSeconds, 900);
});

for (const hours of ["0", "169", "-1", "1.5", "abc", "", "1e2", "9999999999999999"]) {
  Deno.test(`GET /api/metrics/history refuses hours=${hours || "(nothing)"}`, async () => {
    using app = testApp();
    const { status, body } = await app.call("GET", `/api/metrics/history?hours=${hours}`);
    equal(status, 400);
    match(body.error, /^query\.hours: /);
  });
}

for (
  const { query, error } of [
    { query: "range=1y", error: /^query\.range: must be a number with m, h or d/ },
    { query: "range=24h&hours=3", error: /only one of hours, range and from/ },
    { query: "from=yesterday", error: /^query\.from: / },
    { query: "from=2026-01-02&to=2026-01-01", error: /^query\.to: must not be before from/ },
  ]
) {
  Deno.test(`GET /api/metrics/history refuses ${query}`, async () => {
    using app = testApp();
    const { status, body } = await app.call("GET", `/api/metrics/history?${query}`);
    equal(status, 400);
    match(body.error, error);
  });
}

Deno.test("GET /api/metrics/history accepts a range, and times as ISO 8601 or Unix seconds", async () => {
  using app = testApp({ now: "2026-01-31T00:00:00Z" });
  const windowFor = async (query: string) => {
    const { body } = await app.call("GET", `/api/metrics/history?${query}`);
    return [body.from, body.to, body.hours, body.resolutionSeconds];
  };
  const end = "2026-01-31T00:00:00.000Z";
  deepEqual(await windowFor("range=30d"), ["2026-01-01T00:00:00.000Z", end, 720, 3_600]);
  deepEqual(await windowFor("from=2026-01-30T22:00:00Z"), ["2026-01-30T22:00:00.000Z", end, 2, 15]);
  const at = Date.parse("2026-01-10T00:00:00Z") / 1000;
  deepEqual(await windowFor(`from=${at}&to=${at + 3_600}`), [
    "2026-01-10T00:00:00.000Z",
    "2026-01-10T01:00:00.000Z",
    1,
    900,
  ]);
});

Deno.test("GET /api/containers/:id/metrics/history returns points and a summary", async () => {
  await using fake = fakeEngine();
  using app = following([WEB], { engine: fake.engine });
  recordContainerSamples(app.deps, {});
  const { status, body } = await app.call(
    "GET",
    `/api/containers/${WEB.name}/metrics/history?hours=1`,
    undefined,
    { role: "viewer" },
  );
  equal(status, 200);
  equal(body.name, WEB.name);
  deepEqual(body.history.map(({ memory }: { memory: number }) => memory), [STATS.memoryUsage]);
  equal(body.summary.cpuPercent.max, STATS.cpuPercent);
  equal((await app.call("GET", "/api/containers/none/metrics/history")).status, 404);
});

Deno.test("GET /api/metrics/history is 304 for a client with a current copy", async () => {
  using app = testApp();
  const { headers } = await app.call("GET", "/api/metrics/history");
  const again = await app.call("GET", "/api/metrics/history", undefined, {
    headers: { "if-none-match": headers.get("etag")! },
  });
  equal(again.status, 304);
});
