import { equal } from "node:assert/strict";
import { isQuiet } from "../../../services/messages/quiet_hours.ts";

const hours = (from: string, to: string, timeZone = "UTC") => ({
  from,
  to,
  timeZone,
  exceptSeverity: null,
});

for (
  const { quiet, at, is } of [
    { quiet: hours("09:00", "17:00"), at: "2026-01-01T08:59:59.999Z", is: false },
    { quiet: hours("09:00", "17:00"), at: "2026-01-01T09:00:00Z", is: true },
    { quiet: hours("09:00", "17:00"), at: "2026-01-01T16:59:59.999Z", is: true },
    { quiet: hours("09:00", "17:00"), at: "2026-01-01T17:00:00Z", is: false },
    { quiet: hours("22:00", "07:00"), at: "2026-01-01T21:59:00Z", is: false },
    { quiet: hours("22:00", "07:00"), at: "2026-01-01T22:00:00Z", is: true },
    { quiet: hours("22:00", "07:00"), at: "2026-01-01T00:00:00Z", is: true },
    { quiet: hours("22:00", "07:00"), at: "2026-01-01T07:00:00Z", is: false },
    // In winter Berlin is one hour ahead of UTC, in summer two.
    { quiet: hours("22:00", "07:00", "Europe/Berlin"), at: "2026-01-01T05:59:00Z", is: true },
    { quiet: hours("22:00", "07:00", "Europe/Berlin"), at: "2026-01-01T06:00:00Z", is: false },
    { quiet: hours("22:00", "07:00", "Europe/Berlin"), at: "2026-07-01T04:59:00Z", is: true },
    { quiet: hours("22:00", "07:00", "Europe/Berlin"), at: "2026-07-01T05:00:00Z", is: false },
    { quiet: hours("22:00", "07:00", "Asia/Kolkata"), at: "2026-01-01T16:29:00Z", is: false },
    { quiet: hours("22:00", "07:00", "Asia/Kolkata"), at: "2026-01-01T16:30:00Z", is: true },
  ]
) {
  const { from, to, timeZone } = quiet;
  Deno.test(`${at} is ${is ? "" : "not "}within ${from} to ${to} in ${timeZone}`, () => {
    equal(isQuiet(quiet, new Date(at)), is);
  });
}
