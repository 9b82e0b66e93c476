import { equal } from "node:assert/strict";
import { engineTime } from "../../../services/containers/engine_time.ts";

for (
  const { time, shown } of [
    { time: "2026-01-31T12:00:00.123456789+01:00", shown: "2026-01-31T11:00:00.123Z" },
    { time: 1_760_000_000, shown: "2025-10-09T08:53:20.000Z" },
    { time: "9999-12-31T23:59:59Z", shown: "9999-12-31T23:59:59.000Z" },
    { time: 1, shown: "1970-01-01T00:00:01.000Z" },
    { time: "9999-12-31T23:59:59-05:00", shown: null },
    { time: 253_402_318_799, shown: null },
    { time: 1e300, shown: null },
    { time: "+275760-09-13T00:00:00Z", shown: null },
    { time: "0001-01-01T00:00:00Z", shown: null },
    { time: "0001-01-01T00:00:00-05:00", shown: null },
    { time: -62_135_596_800, shown: null },
    { time: 0, shown: null },
    { time: NaN, shown: null },
    { time: "yesterday", shown: null },
    { time: "", shown: null },
    { time: undefined, shown: null },
  ]
) {
  Deno.test(`engineTime() of ${time} is ${shown}`, () => equal(engineTime(time), shown));
}
