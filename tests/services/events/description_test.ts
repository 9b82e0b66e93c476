import { equal, match, ok } from "node:assert/strict";
import { describeEvent } from "../../../services/events/description.ts";
import type { Tone } from "../../../services/events/kinds/kind.ts";
import type { EventMap } from "../../../services/events/kinds/mod.ts";
import { bodyOf } from "../../../services/events/message.ts";
import { leastProcessorMsOf } from "../../helpers/in_time.ts";

const END = "2026-01-31 12:00:00 UTC";
const ICONS: Record<Tone, string> = { problem: "🔴", warning: "🟠", good: "🟢", news: "🔵" };

/** The headline after the tone, and the text below it. */
function textOf(event: string, data: object, max = 4_096): string {
  const { tone, headline, lines } = describeEvent({ event, data });
  const body = bodyOf({ lines, timestamp: "2026-01-31T12:00:00.000Z", link: null }, max);
  return `${ICONS[tone]} host-1: ${headline}\n${body}`;
}

const alert = {
  rule: "CPU",
  ruleId: "r1",
  alertId: "a1",
  metric: "cpu_percent",
  operator: "gt",
  threshold: 90,
  value: 95,
  message: "CPU is at 95 % (limit: above 90 %)",
};

const incident = {
  id: "i1",
  title: "Shop is slow",
  severity: "major",
  status: "investigating",
  source: "manual",
};

const update = { container: "web", id: "c1", image: "nginx:1.27", digest: null, jobId: "j1" };

const deploy = { stack: "shop", version: 3, reason: "web exited with code 1", jobId: "j1" };

const EXPECTED: { [Kind in keyof EventMap]: { data: EventMap[Kind]; lines: string[] } } = {
  "account.new_sign_in": {
    data: {
      account: "ada@example.com",
      userId: "u1",
      sessionId: "f1",
      address: "198.51.100.7",
      userAgent: "Mozilla/5.0 Firefox/150.0",
    },
    lines: [
      "🟠 host-1: New sign-in: ada@example.com",
      "Address: 198.51.100.7",
      "Browser: Mozilla/5.0 Firefox/150.0",
    ],
  },
  "account.factor_changed": {
    data: {
      account: "ada@example.com",
      userId: "u1",
      change: "Passkey added",
      address: "198.51.100.7",
    },
    lines: [
      "🟠 host-1: Second factor changed: ada@example.com",
      "Change: Passkey added",
      "Address: 198.51.100.7",
    ],
  },
  "account.access_changed": {
    data: {
      account: "ada@example.com",
      userId: "u1",
      change: "API token ci created",
      address: "198.51.100.7",
    },
    lines: [
      "🟠 host-1: Access changed: ada@example.com",
      "Change: API token ci created",
      "Address: 198.51.100.7",
    ],
  },
  "alert.fired": {
    data: alert,
    lines: ["🔴 host-1: Alert: CPU", "CPU is at 95 % (limit: above 90 %)"],
  },
  "alert.resolved": {
    data: alert,
    lines: ["🟢 host-1: Alert resolved: CPU", "CPU is at 95 % (limit: above 90 %)"],
  },
  "alert.no_data": {
    data: {
      rule: "Busy",
      ruleId: "r1",
      metric: "container_cpu_percent",
      severity: "warning",
      container: "web",
      message: "CPU of web: no data for 1 min: web was not measured",
    },
    lines: [
      "🟠 host-1: Alert without data: Busy (web)",
      "CPU of web: no data for 1 min: web was not measured",
    ],
  },
  "container.down": {
    data: { container: "web", id: "c1", reason: "exited", exitCode: 0 },
    lines: ["🔴 host-1: Container down: web", "Exited (exit code 0)"],
  },
  "container.up": { data: { container: "web", id: "c1" }, lines: ["🟢 host-1: Container up: web"] },
  "container.unhealthy": {
    data: { container: "web", id: "c1", healthOutput: "curl: (7)\nrefused" },
    lines: ["🟠 host-1: Container unhealthy: web", "curl: (7)", "refused"],
  },
  "container.healthy": {
    data: { container: "web", id: "c1" },
    lines: ["🟢 host-1: Container healthy: web"],
  },
  "container.removed": {
    data: { container: "web", id: "c1" },
    lines: ["🟢 host-1: Container removed: web"],
  },
  "container.oom": {
    data: { container: "web", id: "c1" },
    lines: ["🔴 host-1: Container out of memory: web"],
  },
  "container.crash_looping": {
    data: { container: "web", id: "c1", reason: "exited", exitCode: 1 },
    lines: ["🔴 host-1: Crash loop: web", "Exited (exit code 1)"],
  },
  "container.stable": {
    data: { container: "web", id: "c1", outcome: "running", exits: 20, durationSeconds: 619 },
    lines: [
      "🟢 host-1: Crash loop ended: web",
      "The container has been running for 10 minutes",
      "Exits: 20",
      "Lasted 10 min 19 s",
    ],
  },
  "engine.down": {
    data: { error: "connection refused", containers: 50 },
    lines: ["🔴 host-1: Container engine down", "Containers: 50", "connection refused"],
  },
  "engine.up": {
    data: { downtimeSeconds: 90, containers: 49, stopped: ["db"] },
    lines: [
      "🟠 host-1: Container engine up",
      "Was down for 1 min 30 s",
      "Running containers: 49",
      "Not running any more: db",
    ],
  },
  "engine.unreadable": {
    data: { error: "The engine fails to list its containers" },
    lines: [
      "🔴 host-1: Containers cannot be listed",
      "The container engine responds",
      "The engine fails to list its containers",
    ],
  },
  "engine.readable": {
    data: { unreadableSeconds: 90 },
    lines: ["🟢 host-1: Containers can be listed again", "Were unknown for 1 min 30 s"],
  },
  "host.disk_full_soon": {
    data: { path: "/", percent: 88.5, hoursLeft: 12, fullAt: "2026-01-01T12:00:00.000Z" },
    lines: [
      "🟠 host-1: Disk full soon: /",
      "Used: 88.5 %",
      "Full at: 2026-01-01 12:00:00 UTC",
    ],
  },
  "incident.created": {
    data: incident,
    lines: ["🔴 host-1: Incident: Shop is slow", "Severity: major", "Status: investigating"],
  },
  "incident.updated": {
    data: {
      ...incident,
      status: "identified",
      previousStatus: "investigating",
      message: "A\n\n\nB",
    },
    lines: [
      "🟠 host-1: Incident updated: Shop is slow",
      "Status: investigating -> identified",
      "A",
      "",
      "B",
    ],
  },
  "incident.resolved": { data: incident, lines: ["🟢 host-1: Incident resolved: Shop is slow"] },
  "monitor.down": {
    data: { monitor: "Shop", monitorId: "m1", outageId: "o1", cause: "HTTP 500" },
    lines: ["🔴 host-1: Monitor down: Shop", "HTTP 500"],
  },
  "monitor.up": {
    data: { monitor: "Shop", monitorId: "m1", outageId: "o1", downtimeSeconds: 7_512.4 },
    lines: ["🟢 host-1: Monitor up: Shop", "Was down for 2 h 5 min"],
  },
  "sla.breached": {
    data: {
      sla: "Gold",
      slaId: "s1",
      periodId: "p1",
      breachId: "b1",
      actualUptime: 99.89,
      targetUptime: 99.9,
      downtimeSeconds: 2_640,
    },
    lines: [
      "🔴 host-1: SLA breached: Gold",
      "Uptime: 99.89 %",
      "Target: 99.9 %",
      "Downtime: 44 min",
    ],
  },
  "remediation.executed": {
    data: {
      rule: "Restart",
      ruleId: "r1",
      action: "restart_container",
      target: "web",
      status: "failure",
      error: "No such container",
    },
    lines: [
      "🟠 host-1: Remediation: Restart",
      "restart_container of web",
      "Result: failure",
      "No such container",
    ],
  },
  "remediation.disabled": {
    data: { rule: "Restart", ruleId: "r1", reason: "It fired 5 times in an hour" },
    lines: ["🟠 host-1: Remediation rule disabled: Restart", "It fired 5 times in an hour"],
  },
  "backup.succeeded": {
    data: {
      backup: "shop",
      place: "NAS",
      jobId: "j1",
      snapshot: "40dc1520fa6a".padEnd(64, "0"),
      size: 12_533,
      downtimeMs: 2_329,
    },
    lines: ["🟢 host-1: Backed up: shop", "Target: NAS", "Snapshot: 40dc1520"],
  },
  "backup.failed": {
    data: { backup: "shop", place: "NAS", jobId: "j1", reason: "The target is full" },
    lines: ["🟠 host-1: Backup failed: shop", "Target: NAS", "The target is full"],
  },
  "host.joined": {
    data: {
      host: "edge-7",
      hostId: "h1",
      address: "198.51.100.7",
      machine: "edge-7, Linux x86_64",
      isPending: true,
    },
    lines: [
      "🔵 host-1: Host joined: edge-7",
      "Address: 198.51.100.7",
      "Machine: edge-7, Linux x86_64",
      "It waits until an admin accepts it",
    ],
  },
  "host.away": {
    data: { host: "edge-7", hostId: "h1", address: "198.51.100.7", since: "2026-01-31T11:58:00Z" },
    lines: ["🔴 host-1: Host away: edge-7", "Last address: 198.51.100.7"],
  },
  "host.back": {
    data: { host: "edge-7", hostId: "h1" },
    lines: ["🟢 host-1: Host back: edge-7"],
  },
  "update.blocked": {
    data: {
      ...{ host: "edge-7", hostId: "h1", container: "web", image: "nginx:1", digest: "sha256:a" },
      ...{ platform: "linux/amd64", reason: "Unhealthy after 30 s" },
    },
    lines: [
      "🟠 host-1: Image blocked for the fleet: edge-7",
      "Image: nginx:1",
      "Reason: Unhealthy after 30 s",
      "Platform: linux/amd64",
    ],
  },
  "update.block_lifted": {
    data: {
      host: "edge-7",
      image: "nginx:1",
      digest: "sha256:a",
      platform: "linux/amd64",
      by: "u1",
    },
    lines: ["🔵 host-1: Image allowed again: edge-7", "Image: nginx:1", "Platform: linux/amd64"],
  },
  "fleet.run_ended": {
    data: {
      jobId: "j1",
      action: "prune",
      status: "failed",
      hosts: 3,
      done: 2,
      failed: ["edge-7"],
    },
    lines: ["🟠 host-1: Run on hosts ended: prune", "Done: 2 of 3 hosts", "Not done: edge-7"],
  },
  "host.duplicate": {
    data: {
      host: "edge-7",
      hostId: "h1",
      address: "198.51.100.8",
      otherAddress: "198.51.100.7",
    },
    lines: [
      "🟠 host-1: Two machines have the key of one host: edge-7",
      "Refused: 198.51.100.8",
      "Other address: 198.51.100.7",
      "Let the copy leave the fleet and join it again",
    ],
  },
  "backup.overdue": {
    data: {
      backup: "shop",
      stack: "shop",
      schedule: "Nightly",
      scheduleId: "s1",
      lastAt: "2026-01-01T03:05:00.000Z",
    },
    lines: [
      "🟠 host-1: Backup overdue: shop",
      "Schedule: Nightly",
      "Last backup: 2026-01-01 03:05:00 UTC",
    ],
  },
  "drill.failed": {
    data: {
      stack: "shop",
      place: "NAS",
      snapshot: "40dc1520",
      reason: "shop-web-1 exited with code 9",
      jobId: "j1",
    },
    lines: [
      "🟠 host-1: Drill failed: shop",
      "Target: NAS",
      "Snapshot: 40dc1520",
      "shop-web-1 exited with code 9",
    ],
  },
  "schedule.failed": {
    data: {
      schedule: "Nightly",
      scheduleId: "s1",
      container: "web",
      action: "restart",
      error: "The engine is away",
    },
    lines: ["🟠 host-1: Schedule failed: Nightly", "restart of web", "The engine is away"],
  },
  "status_page.updated": {
    data: {
      page: "Acme",
      pageId: "p1",
      component: "API",
      incident: null,
      oldStatus: "operational",
      newStatus: "major_outage",
      message: null,
    },
    lines: ["🔵 host-1: Status page: Acme, API", "Status: operational -> major outage"],
  },
  "certificate.expiring": {
    data: { domain: "a.test", port: 443, daysRemaining: 7, expiresAt: "2026-02-07T00:00:00.000Z" },
    lines: [
      "🟠 host-1: Certificate expires soon: a.test:443",
      "Days left: 7",
      "Ends: 2026-02-07 00:00:00 UTC",
    ],
  },
  "image.update_available": {
    data: {
      image: "docker.io/library/nginx:1.27",
      currentImage: "docker.io/library/nginx:1.27",
      digest: `sha256:${"1".repeat(64)}`,
      firstSeenAt: "2026-02-07T00:00:00.000Z",
      containers: ["web", "proxy"],
    },
    lines: [
      "🔵 host-1: Update available: docker.io/library/nginx:1.27",
      "Containers: web, proxy",
    ],
  },
  "update.started": {
    data: { ...update, reason: null },
    lines: ["🔵 host-1: Update started: web", "Image: nginx:1.27"],
  },
  "update.succeeded": {
    data: { ...update, reason: "web is healthy" },
    lines: ["🟢 host-1: Updated: web", "Image: nginx:1.27", "web is healthy"],
  },
  "update.rolled_back": {
    data: { ...update, reason: "web exited with code 1" },
    lines: ["🟠 host-1: Update rolled back: web", "Image: nginx:1.27", "web exited with code 1"],
  },
  "update.failed": {
    data: { ...update, reason: "Image nginx:1.27 does not exist" },
    lines: [
      "🟠 host-1: Update failed: web",
      "Image: nginx:1.27",
      "Image nginx:1.27 does not exist",
    ],
  },
  "update.needs_attention": {
    data: { ...update, reason: "web exited with code 1" },
    lines: [
      "🔴 host-1: Update needs attention: web",
      "Image: nginx:1.27",
      "web exited with code 1",
    ],
  },
  "git.planned": {
    data: {
      stack: "shop",
      repository: "Stacks",
      version: 4,
      changes: ["recreate web"],
      commit: "0123456789abcdef",
      author: "Ada <ada@example.com>",
      message: "A newer web",
    },
    lines: [
      "🔵 host-1: Commit planned: shop",
      "Commit: 0123456789",
      "Author: Ada <ada@example.com>",
      "Message: A newer web",
      "Changes: recreate web",
    ],
  },
  "git.fetch_failed": {
    data: { repository: "Stacks", reason: "The server answered 503" },
    lines: [
      "🟠 host-1: Git fetch failed: Stacks",
      "The server answered 503",
    ],
  },
  "git.commit_refused": {
    data: {
      repository: "Stacks",
      stack: "shop",
      reason: "The commit is not signed",
      commit: "0123456789abcdef",
      author: "Ada <ada@example.com>",
      message: "A newer web",
    },
    lines: [
      "🟠 host-1: Commit refused: Stacks",
      "Stack: shop",
      "Commit: 0123456789",
      "Author: Ada <ada@example.com>",
      "Message: A newer web",
      "The commit is not signed",
    ],
  },
  "service.degraded": {
    data: {
      ...{ service: "shop_web", id: "s1", stack: "shop" },
      ...{ running: 1, desired: 3, reason: "No such image" },
    },
    lines: ["🟠 host-1: Service degraded: shop_web", "Running tasks: 1 of 3", "No such image"],
  },
  "service.recovered": {
    data: { service: "shop_web", id: "s1", stack: "shop", degradedSeconds: 90, wasRemoved: false },
    lines: [
      "🟢 host-1: Service recovered: shop_web",
      "All tasks run",
      "Was degraded for 1 min 30 s",
    ],
  },
  "service.update_rolled_back": {
    data: {
      ...{ service: "shop_web", id: "s1", stack: "shop" },
      ...{ image: "nginx:1.27", reason: "task failed" },
    },
    lines: [
      "🟠 host-1: Service update rolled back: shop_web",
      "Image: nginx:1.27",
      "task failed",
    ],
  },
  "node.down": {
    data: { node: "edge-1", id: "n1", role: "worker", reason: "heartbeat failure" },
    lines: ["🔴 host-1: Node down: edge-1", "Role: worker", "heartbeat failure"],
  },
  "node.up": {
    data: { node: "edge-1", id: "n1", downtimeSeconds: 60, wasRemoved: false },
    lines: ["🟢 host-1: Node up: edge-1", "Was down for 1 min"],
  },
  "deploy.succeeded": {
    data: { ...deploy, reason: null },
    lines: ["🟢 host-1: Stack deployed: shop", "Version: 3"],
  },
  "deploy.rolled_back": {
    data: deploy,
    lines: ["🟠 host-1: Deploy rolled back: shop", "Version: 3", "web exited with code 1"],
  },
  "deploy.failed": {
    data: deploy,
    lines: ["🟠 host-1: Deploy failed: shop", "Version: 3", "web exited with code 1"],
  },
  "deploy.needs_attention": {
    data: deploy,
    lines: ["🔴 host-1: Deploy needs attention: shop", "Version: 3", "web exited with code 1"],
  },
  "stack.down_failed": {
    data: { stack: "shop", reason: "Volume shop_data is in use", jobId: "j1" },
    lines: ["🟠 host-1: Stack not removed: shop", "Volume shop_data is in use"],
  },
  "test": {
    data: { message: "Test of the channel On-call" },
    lines: ["🔵 host-1: Test: messages arrive", "Test of the channel On-call"],
  },
};

for (const [event, { data, lines }] of Object.entries(EXPECTED)) {
  Deno.test(`the text for ${event}`, () => {
    equal(textOf(event, data), [...lines, END].join("\n"));
  });
}

Deno.test("an event of an unknown kind is listed field by field", () => {
  equal(
    textOf("deploy.finished", {
      title: "Shop 2.1",
      by: "ann",
      steps: [1, 2],
      none: null,
      ok: true,
    }),
    "🔵 host-1: deploy.finished: Shop 2.1\nby: ann\nsteps: [1,2]\nok: true\n" +
      END,
  );
});

Deno.test("a custom event without the field for the headline is listed field by field", () => {
  equal(
    textOf("alert.fired", { message: "disk is full" }),
    "🔵 host-1: alert.fired\nmessage: disk is full\n" + END,
  );
});

Deno.test("an unknown uptime is left out", () => {
  const data = { ...EXPECTED["sla.breached"].data, actualUptime: null };
  equal(
    textOf("sla.breached", data),
    `🔴 host-1: SLA breached: Gold\nTarget: 99.9 %\nDowntime: 44 min\n${END}`,
  );
});

Deno.test("inherited properties are not fields", () => {
  equal(textOf("constructor", {}), "🔵 host-1: constructor\n" + END);
  match(
    textOf("toString", JSON.parse('{"__proto__": "x"}')),
    /^🔵 host-1: toString\n__proto__: x\n/,
  );
});

Deno.test("the first 20 fields are listed with the number of the others", () => {
  const data = Object.fromEntries(Array.from({ length: 23 }, (_, i) => [`f${i}`, i]));
  const lines = textOf("x", data).split("\n");
  equal(lines.length, 1 + 20 + 1 + 1);
  equal(lines[21], "and 3 more fields");
});

Deno.test("a name cannot start a new line or change the text direction", () => {
  const [headline, end] = textOf("container.up", {
    container: "web\n\r\u2028\x00\x1b[31m🔴 Container\tdown: db\u202Egpj",
  }).split("\n");
  equal(headline, "🟢 host-1: Container up: web [31m🔴 Container down: dbgpj");
  equal(end, END);
});

Deno.test("a right-to-left name is isolated", () => {
  equal(
    textOf("container.up", { container: "שרת-1" }).split("\n")[0],
    "🟢 host-1: Container up: \u2068שרת-1\u2069",
  );
});

for (
  const { what, text } of [
    { what: "letters", text: "x".repeat(10_000) },
    { what: "emoji", text: "👩‍👩‍👧".repeat(5_000) },
    { what: "lone surrogates", text: "\uD83D".repeat(10_000) },
    { what: "spaces and line breaks", text: " \n".repeat(500_000) },
    { what: "one line of spaces", text: "a" + " ".repeat(1_000_000) + "b" },
  ]
) {
  Deno.test(`long text is truncated to the limit: ${what}`, async () => {
    for (const max of [4_096, 1_000]) {
      for (
        const [event, data] of [
          ["alert.fired", { rule: text, message: text }],
          ["deploy", { title: text, a: text, b: text, [text]: text }],
        ] as const
      ) {
        const message = textOf(event, data, max);
        ok(message.slice(message.indexOf("\n") + 1).length <= max, `${message.length}`);
        ok(message.isWellFormed());
        ok(message.endsWith(`\n${END}`));
        ok(message.split("\n")[0]!.length < 700);
      }
    }
    const data = { title: text, a: text, b: text, [text]: text };
    ok(await leastProcessorMsOf(() => textOf("deploy", data, 4_096), 3) < 500);
  });
}

Deno.test("deeply nested data is truncated like any text", () => {
  let deep: unknown = [];
  for (let i = 0; i < 100_000; i++) deep = [deep];
  match(textOf("x", { deep, a: 1 }), /^🔵 host-1: x\ndeep: \[+\.\.\.\na: 1\n/);
});
