import { equal, match, notEqual, ok, rejects } from "node:assert/strict";
import { AppError } from "../../../../services/errors.ts";
import {
  hashPassword,
  isAcceptablePassword,
  makePassword,
  verifyPassword,
} from "../../../../services/ce/auth/passwords.ts";
import { leastDurationOf } from "../../../helpers/in_time.ts";

const PASSWORD = "correct horse battery";

for (
  const { what, password, fits } of [
    { what: "eleven characters", password: "a".repeat(11), fits: false },
    { what: "twelve characters", password: "a".repeat(12), fits: true },
    { what: "twelve units that are six characters", password: "🐳".repeat(6), fits: false },
    { what: "twelve characters beyond the basic plane", password: "🐳".repeat(12), fits: true },
    { what: "256 bytes", password: "a".repeat(256), fits: true },
    { what: "257 bytes", password: "a".repeat(257), fits: false },
    { what: "129 characters of two bytes each", password: "ü".repeat(129), fits: false },
  ]
) {
  Deno.test(`${what} are ${fits ? "a password" : "no password"}`, () => {
    equal(isAcceptablePassword(password), fits);
  });
}

Deno.test("a hash is salted, names its cost and tells right from wrong", async () => {
  const [one, two] = [await hashPassword(PASSWORD), await hashPassword(PASSWORD)];
  match(one, /^\$argon2id\$v=19\$m=19456,t=2,p=1\$[\w+/]{22}\$[\w+/]{43}$/);
  notEqual(one, two);
  equal(await verifyPassword(PASSWORD, one), true);
  equal(await verifyPassword(PASSWORD + " ", one), false);
  equal(await verifyPassword("", one), false);
});

// Password "password", salt "somesalt": a test vector of the reference implementation
// (P-H-C/phc-winner-argon2, src/test.c).
Deno.test("a hash of another cost, made elsewhere, is verified by its own parameters", async () => {
  const stored = "$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHQ" +
    "$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc";
  equal(await verifyPassword("password", stored), true);
  equal(await verifyPassword("passwort", stored), false);
});

Deno.test("one and the same password typed composed and decomposed is one", async () => {
  const stored = await hashPassword("p\u00e4ssw\u00f6rter-viele");
  equal(await verifyPassword("pa\u0308sswo\u0308rter-viele", stored), true);
});

Deno.test("an account that does not exist costs a whole hash, and nothing opens it", async () => {
  const stored = await hashPassword(PASSWORD);
  const timeOf = async (hash: string | null) => {
    const start = performance.now();
    equal(await verifyPassword("wrong wrong wrong", hash), false);
    return performance.now() - start;
  };
  const best = async (hash: string | null) =>
    Math.min(await timeOf(hash), await timeOf(hash), await timeOf(hash), await timeOf(hash));
  const [known, unknown] = [await best(stored), await best(null)];
  ok(unknown > known / 4, `known ${known} ms, unknown ${unknown} ms`);
});

Deno.test("a damaged or outrageous stored hash is an error, not a match", async () => {
  for (
    const stored of [
      "",
      "plain",
      "$argon2id$v=19$m=19456,t=2,p=1$$",
      "$argon2id$v=19$m=9999999,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc",
      "$argon2i$v=19$m=19456,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc",
    ]
  ) await rejects(verifyPassword(PASSWORD, stored), /damaged/);
});

Deno.test("hashing leaves the event loop free", async () => {
  const HASHES = 20;
  let running = true;
  let turns = 0;
  const loop = (async () => {
    for (; running; turns++) await new Promise((resolve) => setTimeout(resolve, 0));
  })();

  await Promise.all(Array.from({ length: HASHES }, () => verifyPassword(PASSWORD, null)));
  running = false;
  await loop;

  // Hashing on the loop itself would leave it a turn or two between one hash and the next.
  ok(turns > 3 * HASHES, `${turns} turns of the loop`);
});

Deno.test("more than a hundred that wait are too many, and the places become free again", async () => {
  const tries = Array.from({ length: 130 }, () => verifyPassword(PASSWORD, null, refuseAll));
  const results = await Promise.allSettled(tries);

  const refused = results.filter((result) =>
    result.status === "rejected" && result.reason instanceof AppError &&
    result.reason.code === "unavailable"
  );
  equal(refused.length, 130 - 2 - 100);
  equal(await verifyPassword("x", await hashPassword(PASSWORD)), false);
});

Deno.test("whom `begin` refuses does not cost a hash", async () => {
  const hash = await leastDurationOf(() => verifyPassword(PASSWORD, null), 3);
  const refusal = await leastDurationOf(() =>
    rejects(verifyPassword(PASSWORD, null, refuseAll), /not now/)
  );
  ok(refusal < hash / 4, `a hash takes ${hash} ms, a refusal ${refusal} ms`);
});

Deno.test("made passwords are acceptable and differ", () => {
  ok(isAcceptablePassword(makePassword()));
  notEqual(makePassword(), makePassword());
});

function refuseAll(): never {
  throw new Error("not now");
}
