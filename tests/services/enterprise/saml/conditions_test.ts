import { deepEqual, equal, throws } from "node:assert/strict";
import {
  assertConditions,
  CLOCK_SKEW_MS,
  type Conditions,
  findValidConfirmation,
  hasBegun,
  hasEnded,
  readInstant,
  resolveInResponseTo,
  type SubjectConfirmation,
} from "../../../../services/enterprise/saml/conditions.ts";
import { SamlError, type SamlReason } from "../../../../services/enterprise/saml/error.ts";

const NOW = new Date("2026-05-01T12:00:00Z");
const after = (ms: number) => new Date(NOW.getTime() + ms);

const refusal = (reason: SamlReason) => (error: unknown) => {
  equal(error instanceof SamlError ? error.reason : error, reason);
  return true;
};

Deno.test("the skew is five minutes, its edges are to the millisecond", () => {
  equal(CLOCK_SKEW_MS, 300_000);
  deepEqual(
    [after(300_001), after(300_000), undefined].map((from) => hasBegun(from, NOW)),
    [false, true, true],
  );
  deepEqual([after(-300_000), after(-299_999)].map((to) => hasEnded(to, NOW)), [true, false]);
});

for (
  const { what, change, reason } of [
    { what: "right ones", change: {}, reason: undefined },
    { what: "no begin", change: { notBefore: undefined }, reason: undefined },
    { what: "no end", change: { notOnOrAfter: undefined }, reason: "conditions_missing" },
    { what: "a late begin", change: { notBefore: after(300_001) }, reason: "not_yet_valid" },
    { what: "an early end", change: { notOnOrAfter: after(-300_000) }, reason: "expired" },
    { what: "no audience", change: { audiences: [] }, reason: "audience_missing" },
    { what: "an empty restriction", change: { audiences: [[]] }, reason: "audience" },
    { what: "another audience", change: { audiences: [["b"]] }, reason: "audience" },
    { what: "another case", change: { audiences: [["A"]] }, reason: "audience" },
    { what: "one of several", change: { audiences: [["b", "a"]] }, reason: undefined },
    { what: "two that agree", change: { audiences: [["a"], ["b", "a"]] }, reason: undefined },
    { what: "two of which one agrees", change: { audiences: [["a"], ["b"]] }, reason: "audience" },
    { what: "unknown ones", change: { unknown: ["Condition"] }, reason: "condition_unknown" },
  ] as { what: string; change: Partial<Conditions>; reason: SamlReason | undefined }[]
) {
  Deno.test(`conditions: ${what} ${reason ? `are refused, ${reason}` : "hold"}`, () => {
    const conditions = {
      notBefore: NOW,
      notOnOrAfter: after(60_000),
      audiences: [["a"]],
      unknown: [],
      ...change,
    };
    const check = () => assertConditions(conditions, { audience: "a", now: NOW });
    if (reason) throws(check, refusal(reason));
    else deepEqual(check(), after(60_000));
  });
}

const right: SubjectConfirmation = {
  recipient: "https://sp.test/acs",
  notBefore: undefined,
  notOnOrAfter: after(60_000),
  inResponseTo: undefined,
};

for (
  const { what, confirmations, reason } of [
    { what: "none", confirmations: [], reason: "subject_confirmation_missing" },
    { what: "another recipient", confirmations: [{ recipient: "x" }], reason: "recipient" },
    { what: "no recipient", confirmations: [{ recipient: undefined }], reason: "recipient" },
    {
      what: "one that has ended",
      confirmations: [{ notOnOrAfter: after(-300_000) }],
      reason: "subject_confirmation_times",
    },
    {
      what: "one without an end",
      confirmations: [{ notOnOrAfter: undefined }],
      reason: "subject_confirmation_times",
    },
    {
      what: "one that has not begun",
      confirmations: [{ notBefore: after(300_001) }],
      reason: "subject_confirmation_times",
    },
    { what: "one that has begun", confirmations: [{ notBefore: NOW }], reason: undefined },
    {
      what: "the first of two wrong ones",
      confirmations: [{ notOnOrAfter: undefined }, { recipient: "x" }],
      reason: "subject_confirmation_times",
    },
    { what: "a right one after a wrong one", confirmations: [{ recipient: "x" }, {}] },
  ] as { what: string; confirmations: Partial<SubjectConfirmation>[]; reason?: SamlReason }[]
) {
  Deno.test(`confirmations: ${what} ${reason ? `is refused, ${reason}` : "holds"}`, () => {
    const all = confirmations.map((each) => ({ ...right, ...each }));
    const check = () => findValidConfirmation(all, { acsUrl: "https://sp.test/acs", now: NOW });
    if (reason) throws(check, refusal(reason));
    else equal(check(), all.at(-1));
  });
}

Deno.test("a request is answered only if what is signed says so", () => {
  const signed = { isResponseSigned: true };
  const unsigned = { isResponseSigned: false };
  deepEqual(
    [
      resolveInResponseTo("a", "a", unsigned),
      resolveInResponseTo("a", undefined, unsigned),
      resolveInResponseTo(undefined, "a", signed),
      resolveInResponseTo(undefined, undefined, unsigned),
    ],
    ["a", "a", "a", null],
  );
  throws(() => resolveInResponseTo(undefined, "a", unsigned), refusal("in_response_to_unsigned"));
  for (const either of [signed, unsigned]) {
    throws(() => resolveInResponseTo("a", "b", either), refusal("in_response_to_mismatch"));
    throws(() => resolveInResponseTo("a", "", either), refusal("in_response_to_mismatch"));
  }
});

Deno.test("instants are read to the millisecond", () => {
  deepEqual(
    ["2026-05-01T12:00:00Z", "2026-05-01T12:00:00.5Z", "2026-05-01T12:00:00.1239999Z"]
      .map((text) => readInstant(text).toISOString()),
    ["2026-05-01T12:00:00.000Z", "2026-05-01T12:00:00.500Z", "2026-05-01T12:00:00.123Z"],
  );
});

for (
  const text of [
    "",
    "now",
    "2026-05-01",
    "2026-05-01T12:00:00",
    "2026-05-01T12:00Z",
    "2026-05-01T12:00:00z",
    "2026-05-01T12:00:00+00:00",
    "2026-05-01T24:00:00Z",
    "2026-05-01T12:00:60Z",
    "2026-02-29T12:00:00Z",
    "2026-13-01T12:00:00Z",
    "+012026-05-01T12:00:00Z",
    "2026-05-01T12:00:00.Z",
    " 2026-05-01T12:00:00Z",
    "2026-05-01T12:00:00Z\n",
    "1777636800000",
  ]
) {
  Deno.test(`${JSON.stringify(text)} is not a valid time`, () => {
    throws(() => readInstant(text), refusal("timestamp"));
  });
}
