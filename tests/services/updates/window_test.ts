import { deepEqual, equal } from "node:assert/strict";
import { hostTimeZone } from "../../../services/input/cron.ts";
import { openedAt, parseWindow } from "../../../services/updates/window.ts";

const night = { cron: "0 3 * * *", timeZone: "Europe/Berlin", durationMinutes: 90 };

for (
  const { at, open } of [
    { at: "2026-01-31T01:59:59.999Z", open: false },
    { at: "2026-01-31T02:00:00Z", open: true },
    { at: "2026-01-31T03:29:59.999Z", open: true },
    { at: "2026-01-31T03:30:00Z", open: false },
    // In summer, three o'clock in Berlin is one hour earlier.
    { at: "2026-07-31T01:00:00Z", open: true },
  ]
) {
  Deno.test(`a window of 90 minutes from 3:00 in Berlin is ${open ? "open" : "closed"} at ${at}`, () => {
    equal(openedAt(night, new Date(at)) !== undefined, open);
  });
}

Deno.test("a window in one line lasts an hour in the host's time zone unless it says otherwise", () => {
  deepEqual(parseWindow("30 2 * * sun", "Label x"), {
    cron: "30 2 * * sun",
    timeZone: hostTimeZone(),
    durationMinutes: 60,
  });
  deepEqual(parseWindow(" 30 2  * * sun 45m ", "Label x").durationMinutes, 45);
});
