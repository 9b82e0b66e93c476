import { deepEqual, equal, throws } from "node:assert/strict";
import { emitExpiryNotices } from "../../../services/probes/certificate_notices.ts";
import type { CertificateCheck } from "../../../services/probes/tls.ts";
import type { AppEvent } from "../../../services/events/events.ts";
import type { Recorder } from "../../../services/events/recorder.ts";
import { openTestDatabase, type TestApp, testApp } from "../../helpers/test_app.ts";

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
  emitExpiryNotices({ ...app.deps, recorders: [recorder] }, checks);
  return events;
}

Deno.test("a notice is sent once at each of 30, 14, 7, 3 and 1 days", () => {
  using app = testApp({ now: "2026-04-01T06:00:00Z" });
  const sent: number[] = [];
  while (app.clock.now() < new Date("2026-06-05T00:00:00Z")) {
    for (const { event, data } of round(app, seen(app))) {
      equal(event, "certificate.expiring");
      sent.push((data as { daysRemaining: number }).daysRemaining);
    }
    app.clock.advance({ ms: DAY_MS / 2 });
  }
  deepEqual(sent, [30, 14, 7, 3, 1]);
});

Deno.test("the event has the domain, port and expiry of the certificate", () => {
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

Deno.test("several thresholds passed at once send one notice, also after expiry", () => {
  using app = testApp({ now: "2026-07-01T00:00:00Z" });
  equal(round(app, seen(app)).length, 1);
  equal(round(app, seen(app)).length, 0);
});

Deno.test("sent notices are remembered after a restart", () => {
  const db = openTestDatabase();
  for (const expected of [1, 0]) {
    using app = testApp({ db, now: "2026-05-20T00:00:00Z" });
    equal(round(app, seen(app)).length, expected);
  }
  db.close();
});

Deno.test("a renewed certificate, another port and another domain have their own notices", () => {
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

Deno.test("no notice is sent for an unreachable server or a certificate with time left", () => {
  using app = testApp({ now: "2026-05-20T00:00:00Z" });
  const away = { daysRemaining: null, expiresAt: null, fingerprint: null, valid: false };
  deepEqual(
    round(app, { ...seen(app), ...away }, seen(app, { expiresAt: "2026-06-21T00:00:00.000Z" })),
    [],
  );
});

Deno.test("a notice that cannot be stored is sent in the next round", () => {
  using app = testApp({ now: "2026-05-20T00:00:00Z" });
  const broken = {
    edition: "ce" as const,
    record: () => {
      throw new Error("disk full");
    },
  };
  throws(
    () => emitExpiryNotices({ ...app.deps, recorders: [broken] }, [seen(app)]),
    /disk full/,
  );
  equal(round(app, seen(app)).length, 1);
});

Deno.test("notices of certificates that expired a year ago are deleted", () => {
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
