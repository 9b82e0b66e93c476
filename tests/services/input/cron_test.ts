import { deepEqual, equal, throws } from "node:assert/strict";
import {
  assertCron,
  createNextDue,
  hostTimeZone,
  nextDue,
  normalizeTimeZone,
} from "../../../services/input/cron.ts";
import { AppError } from "../../../services/errors.ts";

/** The next due times after a moment. */
function dueTimes(expression: string, timezone: string, after: string, count: number): string[] {
  const times: string[] = [];
  let at = new Date(after);
  for (let n = 0; n < count; n++) {
    at = nextDue(expression, timezone, at);
    times.push(at.toISOString().replace(":00.000Z", "Z"));
  }
  return times;
}

// 2026-01-01 is a Thursday.
for (
  const { what, cron, after = "2026-01-01T12:00:00Z", due } of [
    { what: "every minute", cron: "* * * * *", due: ["2026-01-01T12:01Z", "2026-01-01T12:02Z"] },
    { what: "an hour of the day", cron: "0 3 * * *", due: ["2026-01-02T03:00Z"] },
    {
      what: "a list",
      cron: "5,10,40 12 * * *",
      due: ["2026-01-01T12:05Z", "2026-01-01T12:10Z", "2026-01-01T12:40Z", "2026-01-02T12:05Z"],
    },
    { what: "a range", cron: "0 22-23 * * *", due: ["2026-01-01T22:00Z", "2026-01-01T23:00Z"] },
    { what: "a step", cron: "*/20 * * * *", due: ["2026-01-01T12:20Z", "2026-01-01T12:40Z"] },
    {
      what: "a step in a range, which keeps its end",
      cron: "1-30/10 12 * * *",
      due: ["2026-01-01T12:01Z", "2026-01-01T12:11Z", "2026-01-01T12:21Z", "2026-01-02T12:01Z"],
    },
    {
      what: "lists of ranges and steps",
      cron: "0-2,30-40/5 13 * * *",
      due: [
        ...["2026-01-01T13:00Z", "2026-01-01T13:01Z", "2026-01-01T13:02Z"],
        ...["2026-01-01T13:30Z", "2026-01-01T13:35Z", "2026-01-01T13:40Z"],
      ],
    },
    { what: "Sunday as 0", cron: "0 0 * * 0", due: ["2026-01-04T00:00Z", "2026-01-11T00:00Z"] },
    { what: "Sunday as 7", cron: "0 0 * * 7", due: ["2026-01-04T00:00Z", "2026-01-11T00:00Z"] },
    {
      what: "a range that ends on Sunday",
      cron: "0 0 * * 5-7",
      due: ["2026-01-02T00:00Z", "2026-01-03T00:00Z", "2026-01-04T00:00Z", "2026-01-09T00:00Z"],
    },
    {
      what: "names of days, in either case",
      cron: "0 0 * * SAT-sun",
      due: ["2026-01-03T00:00Z", "2026-01-04T00:00Z", "2026-01-10T00:00Z"],
    },
    {
      what: "names of months",
      cron: "0 0 1 jan,Jul *",
      due: ["2026-07-01T00:00Z", "2027-01-01T00:00Z"],
    },
    {
      what: "either day field where both are restricted",
      cron: "0 0 13 * 5",
      due: ["2026-01-02T00:00Z", "2026-01-09T00:00Z", "2026-01-13T00:00Z", "2026-01-16T00:00Z"],
    },
    {
      what: "both day fields where one begins with a star",
      cron: "0 0 */2 * 5",
      due: ["2026-01-09T00:00Z", "2026-01-23T00:00Z", "2026-02-13T00:00Z"],
    },
    {
      what: "29 February, years ahead",
      cron: "0 0 29 2 *",
      due: ["2028-02-29T00:00Z", "2032-02-29T00:00Z"],
    },
    {
      what: "the 31st, where there is one",
      cron: "0 0 31 * *",
      due: ["2026-01-31T00:00Z", "2026-03-31T00:00Z"],
    },
    { what: "a time that is now, not again", cron: "0 12 * * *", due: ["2026-01-02T12:00Z"] },
    {
      what: "a time within this minute's seconds",
      cron: "1 12 * * *",
      after: "2026-01-01T12:00:59.999Z",
      due: ["2026-01-01T12:01Z"],
    },
    { what: "tabs and more blanks", cron: " 0\t3  * * * ", due: ["2026-01-02T03:00Z"] },
  ]
) {
  Deno.test(`nextDue() reads ${what} (${cron})`, () => {
    assertCron(cron);
    deepEqual(dueTimes(cron, "UTC", after, due.length), due);
  });
}

// Clocks in Berlin: 2026-03-29 02:00 -> 03:00 and 2026-10-25 03:00 -> 02:00; in New York:
// 2026-03-08 02:00 -> 03:00 and 2026-11-01 02:00 -> 01:00; on Lord Howe half an hour only.
for (
  const { what, zone, cron, after, due } of [
    {
      what: "a time that does not exist is skipped",
      zone: "Europe/Berlin",
      cron: "30 2 * * *",
      after: "2026-03-28T00:00:00Z",
      due: ["2026-03-28T01:30Z", "2026-03-30T00:30Z"],
    },
    {
      what: "a time that does not exist is skipped",
      zone: "America/New_York",
      cron: "30 2 * * *",
      after: "2026-03-07T00:00:00Z",
      due: ["2026-03-07T07:30Z", "2026-03-09T06:30Z"],
    },
    {
      what: "a time that does not exist is skipped, though its whole day is meant",
      zone: "America/New_York",
      cron: "0 2 8 3 *",
      after: "2026-01-01T00:00:00Z",
      due: ["2027-03-08T07:00Z"],
    },
    {
      what: "a time that occurs twice runs once, the first time",
      zone: "Europe/Berlin",
      cron: "30 2 * * *",
      after: "2026-10-24T12:00:00Z",
      due: ["2026-10-25T00:30Z", "2026-10-26T01:30Z"],
    },
    {
      what: "a time that occurs twice runs once, the first time",
      zone: "America/New_York",
      cron: "30 1 * * *",
      after: "2026-10-31T12:00:00Z",
      due: ["2026-11-01T05:30Z", "2026-11-02T06:30Z"],
    },
    {
      what: "it has run also when it is asked in the second hour",
      zone: "Europe/Berlin",
      cron: "30 2 * * *",
      after: "2026-10-25T01:10:00Z",
      due: ["2026-10-26T01:30Z"],
    },
    {
      what: "steps in the hour that occurs twice run once",
      zone: "Europe/Berlin",
      cron: "*/30 * * * *",
      after: "2026-10-24T23:45:00Z",
      due: ["2026-10-25T00:00Z", "2026-10-25T00:30Z", "2026-10-25T02:00Z"],
    },
    {
      what: "steps go over the hour that does not exist",
      zone: "Europe/Berlin",
      cron: "*/30 * * * *",
      after: "2026-03-29T00:15:00Z",
      due: ["2026-03-29T00:30Z", "2026-03-29T01:00Z", "2026-03-29T01:30Z"],
    },
    {
      what: "the hour after the change is the new one",
      zone: "Europe/Berlin",
      cron: "0 3 * * *",
      after: "2026-03-28T12:00:00Z",
      due: ["2026-03-29T01:00Z", "2026-03-30T01:00Z"],
    },
    {
      what: "the hour after the doubled one is not doubled",
      zone: "Europe/Berlin",
      cron: "0 3 * * *",
      after: "2026-10-24T12:00:00Z",
      due: ["2026-10-25T02:00Z", "2026-10-26T02:00Z"],
    },
    {
      what: "half an hour that does not exist",
      zone: "Australia/Lord_Howe",
      cron: "15 2 * * *",
      after: "2026-10-02T16:00:00Z",
      due: ["2026-10-04T15:15Z"],
    },
    {
      what: "a day that does not exist",
      zone: "Pacific/Apia",
      cron: "0 12 30 12 *",
      after: "2011-12-01T00:00:00Z",
      due: ["2012-12-29T22:00Z"],
    },
    {
      what: "an offset of quarters of an hour",
      zone: "Asia/Kathmandu",
      cron: "0 6 * * *",
      after: "2026-01-01T00:00:00Z",
      due: ["2026-01-01T00:15Z", "2026-01-02T00:15Z"],
    },
    {
      what: "the day of the week is the zone's",
      zone: "Asia/Tokyo",
      cron: "0 1 * * mon",
      after: "2026-01-03T00:00:00Z",
      due: ["2026-01-04T16:00Z"],
    },
  ]
) {
  Deno.test(`nextDue() in ${zone}: ${what} (${cron})`, () => {
    deepEqual(dueTimes(cron, zone, after, due.length), due);
  });
}

Deno.test("remembered times are those that are searched, every minute of a change", () => {
  const remembered = createNextDue();
  const crons = ["15,45 1-3 * * *", "*/7 2 * * sun", "0 * * * *"];
  for (const cron of crons) {
    const found = dueTimes(cron, "Europe/Berlin", "2026-10-24T20:00:00Z", 12).map((time) =>
      Date.parse(time)
    );
    const start = Date.parse("2026-10-24T20:00:00Z");
    for (let minute = 0; minute < 10 * 60; minute++) {
      const after = start + minute * 60_000;
      const expected = found.find((time) => time > after);
      if (expected === undefined) break;
      equal(nextDue(cron, "Europe/Berlin", new Date(after)).getTime(), expected);
      equal(remembered(cron, "Europe/Berlin", new Date(after)).getTime(), expected);
    }
  }
});

for (
  const [cron, reason] of [
    ["", "five fields are expected"],
    ["* * * *", "five fields are expected (minute, hour, day of month, month, day of week), not 4"],
    ["0 0 3 * * *", "not 6"],
    ["0 0 3 * * * 2026", "not 7"],
    ["@daily", "nicknames are not supported"],
    ["@reboot", "nicknames are not supported"],
    ["60 * * * *", 'the minute "60" is not valid'],
    ["99 99 * * *", 'the minute "99" is not valid'],
    ["0 24 * * *", 'the hour "24" is not valid'],
    ["0 0 0 * *", 'the day of month "0" is not valid'],
    ["0 0 32 * *", 'the day of month "32" is not valid'],
    ["0 0 * 0 *", 'the month "0" is not valid'],
    ["0 0 * 13 *", 'the month "13" is not valid'],
    ["0 0 * * 8", 'the day of week "8" is not valid'],
    ["0 0 * * someday", 'the day of week "someday" is not valid'],
    ["0 0 * monday *", 'the month "monday" is not valid'],
    ["jan * * * *", 'the minute "jan" is not valid'],
    ["0 0 L * *", 'the day of month "L" is not valid'],
    ["0 0 15W * *", 'the day of month "15W" is not valid'],
    ["0 0 * * 5#2", 'the day of week "5#2" is not valid'],
    ["0 0 * * 5L", 'the day of week "5L" is not valid'],
    ["0 0 ? * *", 'the day of month "?" is not valid'],
    ["*/0 * * * *", 'the minute "*/0" is not valid'],
    ["*/60 * * * *", 'the minute "*/60" is not valid'],
    ["*/61 * * * *", 'the minute "*/61" is not valid'],
    ["0 */24 * * *", 'the hour "*/24" is not valid'],
    ["0 0 1-5/32 * *", 'the day of month "1-5/32" is not valid'],
    ["0 0 * */13 *", 'the month "*/13" is not valid'],
    ["*/ * * * *", 'the minute "*/" is not valid'],
    ["*/1.5 * * * *", 'the minute "*/1.5" is not valid'],
    ["5/15 * * * *", 'the minute "5/15" is not valid'],
    ["*/5/5 * * * *", 'the minute "*/5/5" is not valid'],
    ["30-10 * * * *", 'the minute "30-10" is not valid'],
    ["0 0 * * fri-mon", 'the day of week "fri-mon" is not valid'],
    ["1-2-3 * * * *", 'the minute "1-2-3" is not valid'],
    ["1- * * * *", 'the minute "1-" is not valid'],
    ["-1 * * * *", 'the minute "-1" is not valid'],
    ["1,,2 * * * *", 'the minute "1,,2" is not valid'],
    ["1, * * * *", 'the minute "1," is not valid'],
    ["** * * * *", 'the minute "**" is not valid'],
    ["1* * * * *", 'the minute "1*" is not valid'],
    ["0x1 * * * *", 'the minute "0x1" is not valid'],
    ["+1 * * * *", 'the minute "+1" is not valid'],
    ["1e1 * * * *", 'the minute "1e1" is not valid'],
    ["007 * * * *", 'the minute "007" is not valid'],
    ["\u0661 * * * *", 'the minute "\u0661" is not valid'],
    ["* * * * *\n* * * * *", "not 9"],
    ["0 0 30 2 *", "it matches no day of any year"],
    ["0 0 31 2,4,6,9,11 *", "it matches no day of any year"],
  ] as const
) {
  Deno.test(`assertCron() refuses ${JSON.stringify(cron)}`, () => {
    throws(
      () => assertCron(cron),
      (error) =>
        error instanceof AppError && error.code === "invalid" &&
        error.message.startsWith("body.cronExpression: ") && error.message.includes(reason),
    );
  });
}

for (
  const [given, stored] of [
    ["Europe/Berlin", "Europe/Berlin"],
    ["europe/berlin", "Europe/Berlin"],
    ["Asia/Kolkata", "Asia/Kolkata"],
    ["UTC", "UTC"],
    ["Etc/GMT+5", "Etc/GMT+5"],
  ] as const
) {
  Deno.test(`normalizeTimeZone() takes ${given}`, () => equal(normalizeTimeZone(given), stored));
}

for (const given of ["Mars/Olympus", "+02:00", "Etc/Unknown", "Europe", "", "local", "../etc"]) {
  Deno.test(`normalizeTimeZone() refuses ${JSON.stringify(given)}`, () => {
    throws(
      () => normalizeTimeZone(given),
      new RegExp("body.timezone: .* is not an IANA time zone"),
    );
  });
}

Deno.test("hostTimeZone() is one that a schedule can have", () => {
  equal(normalizeTimeZone(hostTimeZone()), hostTimeZone());
});
