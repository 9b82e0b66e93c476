import { equal, match, notEqual, ok, rejects } from "node:assert/strict";
import { AppError } from "../../../../services/errors.ts";
import { passwordProblem } from "../../../../services/input/password_rule.ts";
import { createPasswords, makePassword } from "../../../../services/access/passwords/passwords.ts";
import { leastProcessorMsOf } from "../../../helpers/in_time.ts";

const PASSWORD = "correct horse battery";

const passwords = createPasswords();

Deno.test("a hash is salted, includes its cost and matches only its password", async () => {
  const [one, two] = [await passwords.hash(PASSWORD), await passwords.hash(PASSWORD)];
  match(one, /^\$argon2id\$v=19\$m=19456,t=2,p=1\$[\w+/]{22}\$[\w+/]{43}$/);
  notEqual(one, two);
  equal(await passwords.verify(PASSWORD, one), true);
  equal(await passwords.verify(PASSWORD + " ", one), false);
  equal(await passwords.verify("", one), false);
});

// Password "password", salt "somesalt": a test vector of the reference implementation
// (P-H-C/phc-winner-argon2, src/test.c).
Deno.test("a hash with a different cost is verified with its own parameters", async () => {
  const stored = "$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHQ" +
    "$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc";
  equal(await passwords.verify("password", stored), true);
  equal(await passwords.verify("passwort", stored), false);
});

Deno.test("a composed and a decomposed spelling are the same password", async () => {
  const stored = await passwords.hash("p\u00e4ssw\u00f6rter-viele");
  equal(await passwords.verify("pa\u0308sswo\u0308rter-viele", stored), true);
});

Deno.test("verify() takes as long without a stored hash, and never matches", async () => {
  const stored = await passwords.hash(PASSWORD);
  const best = (hash: string | null) =>
    leastProcessorMsOf(async () => equal(await passwords.verify("wrong wrong wrong", hash), false));
  const [known, unknown] = [await best(stored), await best(null)];
  ok(unknown > known / 4, `known ${known} ms, unknown ${unknown} ms`);
});

Deno.test("verify() throws for a damaged stored hash and for one with an excessive cost", async () => {
  for (
    const stored of [
      "",
      "plain",
      "$argon2id$v=19$m=19456,t=2,p=1$$",
      "$argon2id$v=19$m=9999999,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc",
      "$argon2i$v=19$m=19456,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc",
    ]
  ) await rejects(passwords.verify(PASSWORD, stored), /damaged/);
});

Deno.test("hashing leaves the event loop free", async () => {
  const HASHES = 20;
  let running = true;
  let turns = 0;
  const loop = (async () => {
    for (; running; turns++) await new Promise((resolve) => setTimeout(resolve, 0));
  })();

  await Promise.all(Array.from({ length: HASHES }, () => passwords.verify(PASSWORD, null)));
  running = false;
  await loop;

  // Hashing on the loop itself would leave it a turn or two between one hash and the next.
  ok(turns > 3 * HASHES, `${turns} turns of the loop`);
});

Deno.test("more than a hundred waiting calls are refused, and later calls succeed", async () => {
  const tries = Array.from({ length: 130 }, () => passwords.verify(PASSWORD, null, refuseAll));
  const results = await Promise.allSettled(tries);

  const refused = results.filter((result) =>
    result.status === "rejected" && result.reason instanceof AppError &&
    result.reason.code === "unavailable"
  );
  equal(refused.length, 130 - 2 - 100);
  equal(await passwords.verify("x", await passwords.hash(PASSWORD)), false);
});

Deno.test("nothing is hashed when `begin` throws", async () => {
  const hash = await leastProcessorMsOf(() => passwords.verify(PASSWORD, null), 3);
  const refusal = await leastProcessorMsOf(() =>
    rejects(passwords.verify(PASSWORD, null, refuseAll), /not now/)
  );
  ok(refusal < hash / 4, `a hash takes ${hash} ms, a refusal ${refusal} ms`);
});

Deno.test("made passwords are acceptable and differ", () => {
  equal(passwordProblem(makePassword()), undefined);
  notEqual(makePassword(), makePassword());
});

function refuseAll(): never {
  throw new Error("not now");
}
