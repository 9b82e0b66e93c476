import { deepEqual, equal, throws } from "node:assert/strict";
import { noticeExpiringCertificates } from "../../../../services/ce/probes/certificate_notices.ts";
import type { CertificateCheck } from "../../../../services/ce/probes/tls.ts";
import type { AppEvent } from "../../../../services/events/events.ts";
import type { Recorder } from "../../../../services/events/recorder.ts";
import { openTestDatabase, type TestApp, testApp } from "../../../helpers/test_app.ts";

const DAY_MS = 24 * 60 * 60 * 1000;
const EXPIRES_AT = "2026-06-01T00:00:00.000Z";

function seen(app: TestApp, changes: Partial<CertificateCheck> = {}): CertificateCheck {
  const expiresAt = changes.expiresAt ?? EXPIRES_AT;
  return {
    domain: "shop.test",
    port: 443,
    valid: true,
    daysRemaining: Math.floor((Date.parse(expiresAt) - app.clock.now().getTime()) / DAY_MS),
    issuer: "CN=A",
    subject: "CN=shop.test",
    altNames: ["shop.test"],
    validFrom: "2025-01-01T00:00:00.000Z",
    expiresAt,
    fingerprint: "AA:BB",
    error: null,
    ...changes,
  };
}

/** The events of one round. */
function round(app: TestApp, ...checks: CertificateCheck[]): AppEvent[] {
  const events: AppEvent[] = [];
  const recorder: Recorder = { edition: "ce", record: (_, event) => void events.push(event) };
  noticeExpiringCertificates({ ...app.deps, recorders: [recorder] }, checks);
  return events;
}

Deno.test("a certificate is told about once at each of 30, 14, 7, 3 and 1 days", () => {
  using app = testApp({ now: "2026-04-01T06:00:00Z" });
  const told: number[] = [];
  while (app.clock.now() < new Date("2026-06-05T00:00:00Z")) {
    for (const { event, data } of round(app, seen(app))) {
      equal(event, "certificate.expiring");
      told.push((data as { daysRemaining: number }).daysRemaining);
    }
    app.clock.advance({ ms: DAY_MS / 2 });
  }
  deepEqual(told, [30, 14, 7, 3, 1]);
});

Deno.test("the event says which certificate ends when", () => {
  using app = testApp({ now: "2026-05-20T06:00:00Z" });
  const [event] = round(app, seen(app));
  deepEqual({ ...event, eventId: "" }, {
    event: "certificate.expiring",
    timestamp: "2026-05-20T06:00:00.000Z",
    eventId: "",
    server: "test-host",
    serverId: app.deps.server.id,
    data: { domain: "shop.test", port: 443, daysRemaining: 11, expiresAt: EXPIRES_AT },
  });
});

Deno.test("several thresholds passed at once are told about once, also when it has expired", () => {
  using app = testApp({ now: "2026-07-01T00:00:00Z" });
  equal(round(app, seen(app)).length, 1);
  equal(round(app, seen(app)).length, 0);
});

Deno.test("what was told survives a restart", () => {
  const db = openTestDatabase();
  for (const expected of [1, 0]) {
    using app = testApp({ db, now: "2026-05-20T00:00:00Z" });
    equal(round(app, seen(app)).length, expected);
  }
  db.close();
});

Deno.test("a renewed certificate, another port and another domain are told about on their own", () => {
  using app = testApp({ now: "2026-05-20T00:00:00Z" });
  const all = [
    seen(app),
    seen(app, { fingerprint: "CC:DD" }),
    seen(app, { port: 8443 }),
    seen(app, { domain: "www.shop.test" }),
  ];
  equal(round(app, ...all).length, 4);
  equal(round(app, ...all).length, 0);
});

Deno.test("a server that was not reached, and one with time left, are not told about", () => {
  using app = testApp({ now: "2026-05-20T00:00:00Z" });
  const away = { daysRemaining: null, expiresAt: null, fingerprint: null, valid: false };
  deepEqual(
    round(app, { ...seen(app), ...away }, seen(app, { expiresAt: "2026-06-21T00:00:00.000Z" })),
    [],
  );
});

Deno.test("what cannot be written down is not told, and comes in the next round", () => {
  using app = testApp({ now: "2026-05-20T00:00:00Z" });
  const broken = {
    edition: "ce" as const,
    record: () => {
      throw new Error("disk full");
    },
  };
  throws(
    () => noticeExpiringCertificates({ ...app.deps, recorders: [broken] }, [seen(app)]),
    /disk full/,
  );
  equal(round(app, seen(app)).length, 1);
});

Deno.test("certificates that ended a year ago are forgotten", () => {
  using app = testApp({ now: "2026-05-20T00:00:00Z" });
  round(app, seen(app));
  const count = () =>
    app.deps.db.get<{ n: number }>("SELECT count(*) AS n FROM certificate_notices")!.n;
  app.clock.set("2027-05-31T00:00:00Z");
  round(app);
  equal(count(), 1);
  app.clock.set("2027-06-02T00:00:00Z");
  round(app);
  equal(count(), 0);
});
