import { deepEqual, equal, match, throws } from "node:assert/strict";
import { hoursUntilFull } from "../../../services/alerts/metrics/disk_forecast.ts";
import { runAlertRound } from "../../../services/alerts/evaluator.ts";
import { listActiveAlerts } from "../../../services/alerts/events.ts";
import {
  createAlertRule,
  getAlertRule,
  type NewAlertRule,
} from "../../../services/alerts/rules.ts";
import { createWindowCount } from "../../../services/alerts/window_count.ts";
import { parsePressure } from "../../../services/metrics/host/pressure.ts";
import { findSensors, readTemperature } from "../../../services/metrics/host/temperature.ts";
import type { HostSample } from "../../../services/metrics/host/cache.ts";
import { collectEvents, type TestApp, testApp } from "../../helpers/test_app.ts";

type Metric = NewAlertRule["metric"];

/** A rule that always fires where there is a value. */
function ruleOn(app: Pick<TestApp, "deps">, metric: Metric, fields: Partial<NewAlertRule> = {}) {
  return createAlertRule(app.deps, {
    name: metric,
    metric,
    operator: ">=",
    threshold: -1e9,
    durationSeconds: 0,
    autoIncident: false,
    ...fields,
  });
}

const values = (app: Pick<TestApp, "deps">) =>
  Object.fromEntries(listActiveAlerts(app.deps).map(({ metric, value }) => [metric, value]));

async function setHost(app: TestApp, fields: Partial<HostSample>) {
  await app.deps.host.refresh(() =>
    Promise.resolve({
      ...{ cpuPercent: 1, memory: { percent: 2 }, swap: { percent: 3 }, disk: { percent: 4 } },
      ...{ load: [5, 0, 0], network: null },
      timestamp: app.deps.now().toISOString(),
      ...fields,
    } as HostSample)
  );
}

async function withFiles(
  files: Record<string, string>,
  work: (directory: string) => Promise<void>,
): Promise<void> {
  const directory = await Deno.makeTempDir({ prefix: "longshore-test-sources-" });
  try {
    for (const [path, text] of Object.entries(files)) {
      const full = `${directory}/${path}`;
      await Deno.mkdir(full.slice(0, full.lastIndexOf("/")), { recursive: true });
      await Deno.writeTextFile(full, text);
    }
    await work(directory);
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
}

const PSI = (some: string) =>
  `some avg10=9.00 avg60=${some} avg300=1.00 total=1\nfull avg10=0.00 avg60=0.50 avg300=0.00 total=0\n`;

Deno.test("parsePressure() reads the average over a minute of some tasks", () => {
  equal(parsePressure(PSI("12.34")), 12.34);
  throws(() => parsePressure("full avg10=1 avg60=2"), /no average/);
});

Deno.test("the metrics of the host are read where the host has them", async () => {
  const files = {
    "proc/pressure/cpu": PSI("1.50"),
    "proc/pressure/memory": PSI("2.50"),
    "proc/pressure/io": PSI("3.50"),
    "sys/class/thermal/thermal_zone0/temp": "41000\n",
    "sys/class/hwmon/hwmon0/temp1_input": "55500\n",
    "sys/class/hwmon/hwmon0/temp2_input": "-273000\n",
    "sys/class/hwmon/hwmon0/name": "coretemp\n",
  };
  await withFiles(files, async (directory) => {
    const config = { procPath: `${directory}/proc`, sysPath: `${directory}/sys` };
    using app = testApp({ config });
    const metrics = ["pressure_cpu", "pressure_memory", "pressure_io", "temperature_celsius"];
    for (const metric of [...metrics, "swap_percent"]) ruleOn(app, metric as Metric);
    ruleOn(app, "disk_percent", { path: directory });
    await setHost(app, {});
    await runAlertRound(app.deps);
    const { disk_percent: disk, ...others } = values(app);
    deepEqual(others, {
      pressure_cpu: 1.5,
      pressure_memory: 2.5,
      pressure_io: 3.5,
      temperature_celsius: 55.5,
      swap_percent: 3,
    });
    equal(typeof disk, "number");
  });
});

for (
  const { metric, fields, problem, state } of [
    {
      metric: "pressure_io",
      problem: "Set PROC_PATH to a mount of the host's /proc to read its pressure",
      state: "no_data",
    },
    {
      metric: "temperature_celsius",
      problem: "Set SYS_PATH to a mount of the host's /sys to read its temperatures",
      state: "no_data",
    },
    {
      metric: "network_bytes_per_second",
      problem: "Set PROC_PATH to a mount of the host's /proc to read its network",
      state: "no_data",
    },
    {
      metric: "certificate_days_remaining",
      problem: "Set SSL_DOMAINS to the domains whose certificates are checked",
      state: "no_data",
    },
    {
      metric: "disk_percent",
      fields: { path: "/nonexistent" },
      problem: "/nonexistent cannot be measured: it does not exist",
      state: "ok",
    },
    {
      metric: "disk_full_in_hours",
      problem: "There is less than an hour of history yet",
      state: "ok",
    },
  ] as { metric: Metric; fields?: Partial<NewAlertRule>; problem: string; state: string }[]
) {
  Deno.test(`a rule on ${metric} says what is missing: ${problem}`, async () => {
    using app = testApp();
    const { id } = ruleOn(app, metric, fields);
    await runAlertRound(app.deps);
    const shown = getAlertRule(app.deps, id);
    deepEqual([shown.problem, shown.state], [problem, state]);
    deepEqual(values(app), {});
  });
}

Deno.test("a host without pressure or sensors says so", async () => {
  await withFiles({ "proc/stat": "", "sys/class/thermal/cooling_device0/type": "" }, async (at) => {
    using app = testApp({ config: { procPath: `${at}/proc`, sysPath: `${at}/sys` } });
    const pressure = ruleOn(app, "pressure_cpu");
    const temperature = ruleOn(app, "temperature_celsius");
    await runAlertRound(app.deps);
    equal(
      getAlertRule(app.deps, pressure.id).problem,
      "The host does not report pressure (PSI): it does not exist",
    );
    equal(
      getAlertRule(app.deps, temperature.id).problem,
      "The host shows no temperature sensor",
    );
  });
});

Deno.test("missing data of the host is reported after its time", async () => {
  using app = testApp();
  const { id } = ruleOn(app, "pressure_cpu", { forMissingDataSeconds: 60 });
  const events = collectEvents(app);
  await runAlertRound(app.deps);
  app.clock.advance({ seconds: 60 });
  await runAlertRound(app.deps);
  await runAlertRound(app.deps);
  deepEqual(events.map(({ event }) => event), ["alert.no_data"]);
  equal(getAlertRule(app.deps, id).state, "no_data");
});

Deno.test("network_bytes_per_second leaves out interfaces within the host", async () => {
  using app = testApp({ config: { procPath: "/nonexistent" } });
  ruleOn(app, "network_bytes_per_second");
  const sample = (bytes: number) =>
    setHost(app, {
      network: [
        { name: "lo", rxBytes: bytes, txBytes: bytes },
        { name: "eth0", rxBytes: bytes, txBytes: 2 * bytes },
        { name: "docker0", rxBytes: bytes, txBytes: bytes },
        { name: "veth1a2b", rxBytes: bytes, txBytes: bytes },
      ],
    });
  await sample(1_000);
  await runAlertRound(app.deps);
  deepEqual(values(app), {});
  app.clock.advance({ seconds: 5 });
  await sample(6_000);
  await runAlertRound(app.deps);
  deepEqual(values(app), { network_bytes_per_second: 3_000 });
});

Deno.test("engine_down is 1 once the engine has had time to answer", async () => {
  using app = testApp();
  const { id } = ruleOn(app, "engine_down", { operator: "==", threshold: 1 });
  await runAlertRound(app.deps);
  equal(getAlertRule(app.deps, id).problem, "The service has just started");
  app.clock.advance({ seconds: 30 });
  await runAlertRound(app.deps);
  deepEqual(values(app), { engine_down: 1 });
  app.deps.inventory.setLive(true);
  await runAlertRound(app.deps);
  deepEqual(values(app), {});
});

Deno.test("certificate_days_remaining is that of the certificate that ends first", async () => {
  const sslDomains = [{ domain: "a.example", port: 443 }, { domain: "b.example", port: 443 }];
  using app = testApp({ now: "2026-01-01T00:00:00Z", config: { sslDomains } });
  ruleOn(app, "certificate_days_remaining", { operator: "<", threshold: 10 });
  app.deps.alerts.certificates = [
    { domain: "a.example", port: 443, expiresAt: "2026-03-01T00:00:00.000Z" },
    { domain: "b.example", port: 443, expiresAt: "2026-01-06T12:00:00.000Z" },
  ];
  await runAlertRound(app.deps);
  const [alert] = listActiveAlerts(app.deps);
  equal(alert?.value, 5);
  match(
    alert!.message,
    /^The certificate of b\.example is valid for 5 days \(limit: below 10 days\)$/,
  );
});

Deno.test("outbox_age_seconds is the age of the oldest message that waits", async () => {
  using app = testApp({ now: "2026-01-01T00:00:00Z" });
  ruleOn(app, "outbox_age_seconds", { operator: ">", threshold: 60 });
  await runAlertRound(app.deps);
  deepEqual(values(app), {});
  const created = await app.call("POST", "/api/webhooks", {
    name: "ops",
    url: "https://hooks.example.org/x",
    events: ["test"],
  });
  equal(created.status, 201);
  equal((await app.call("POST", `/api/webhooks/${created.body.id}/test`)).status < 300, true);
  app.clock.advance({ seconds: 90 });
  await runAlertRound(app.deps);
  deepEqual(values(app), { outbox_age_seconds: 90 });
});

Deno.test("sensors that cannot be read or mean nothing are left out", async () => {
  const files = {
    "class/hwmon/hwmon0/temp1_input": "not a number",
    "class/hwmon/hwmon1/temp1_input": "999999",
    "class/hwmon/hwmon2/in0_input": "41000",
  };
  await withFiles(files, async (directory) => {
    const sensors = await findSensors(directory);
    equal(sensors.length, 2);
    equal(await readTemperature(sensors), undefined);
    deepEqual(await findSensors(`${directory}/class`), []);
    equal(await readTemperature([]), undefined);
  });
});

const HOUR_S = 3_600;
const growth = (from: number, perHour: number, hours: number, noise = 0) =>
  Array.from({ length: 12 * hours + 1 }, (_, i) => ({
    ts: 1_700_000_000 + i * HOUR_S / 12,
    diskPercent: from + perHour * i / 12 + (i % 2 === 0 ? noise : -noise),
  }));

for (
  const { what, points, hours } of [
    { what: "grows by 2 % an hour from 50 %", points: growth(50, 2, 6), hours: 19 },
    { what: "grows slowly", points: growth(90, 0.001, 6), hours: 8_760 },
    { what: "does not grow", points: growth(90, 0, 6), hours: 8_760 },
    { what: "is being emptied", points: growth(90, -3, 6), hours: 8_760 },
    { what: "is full", points: growth(94, 1, 6), hours: 0 },
    { what: "has a short history", points: growth(50, 2, 6).slice(0, 12), hours: undefined },
    { what: "has no history", points: [], hours: undefined },
  ]
) {
  Deno.test(`hoursUntilFull() of a disk that ${what} is ${hours}`, () => {
    equal(hoursUntilFull(points), hours);
  });
}

Deno.test("hoursUntilFull() is steady although the use varies", () => {
  const hours = hoursUntilFull(growth(50, 2, 6, 0.5))!;
  equal(Math.abs(hours - 19) < 1, true, `${hours}`);
});

Deno.test("a window counts what is not older than it, also after the clock was set back", () => {
  const count = createWindowCount(60);
  count.add(0);
  count.add(30_000, 2);
  equal(count.total(59_000), 3);
  equal(count.total(62_000), 2);
  equal(count.total(200_000), 0);
  count.add(200_000);
  equal(count.total(100_000), 0);
});

Deno.test("a window keeps few numbers however much happens", () => {
  const count = createWindowCount(3_600);
  for (let at = 0; at < 3_600_000; at += 100) count.add(at);
  const total = count.total(3_599_999);
  equal(total >= 35_000 && total <= 36_000, true, `${total}`);
});
