import { deepEqual, equal, rejects, throws } from "node:assert/strict";
import { exportJWK, generateKeyPair, SignJWT } from "jose";
import { LimitError } from "../../../../services/errors.ts";
import { createLicense, verifyLicenseKey } from "../../../../services/access/license/license.ts";
import {
  assertBelowLimit,
  LIMITED_RESOURCES,
  limitOf,
} from "../../../../services/access/license/limits.ts";

const { privateKey, publicKey } = await generateKeyPair("EdDSA", { extractable: true });
const keys = { keys: [{ ...await exportJWK(publicKey), kid: "test", alg: "EdDSA" }] };
const EXPIRY = "2026-06-01T00:00:00.000Z";

function licenseKey(claims: Record<string, unknown> = {}): Promise<string> {
  return new SignJWT({ edition: "pro", ...claims })
    .setProtectedHeader({ alg: "EdDSA", kid: "test" })
    .setSubject("Harbour Ltd")
    .setExpirationTime(Date.parse(EXPIRY) / 1000)
    .sign(privateKey);
}

Deno.test("verifyLicenseKey() reads a signed key", async () => {
  deepEqual(await verifyLicenseKey(await licenseKey({ limits: { users: 40 } }), keys), {
    customer: "Harbour Ltd",
    edition: "pro",
    expiresAt: new Date(EXPIRY),
    limits: { users: 40 },
  });
});

Deno.test("verifyLicenseKey() refuses a key of another signer", async () => {
  const otherKeys = await generateKeyPair("EdDSA");
  const key = await new SignJWT({ edition: "enterprise" })
    .setProtectedHeader({ alg: "EdDSA", kid: "test" }).setSubject("x").setExpirationTime("1y")
    .sign(otherKeys.privateKey);
  await rejects(verifyLicenseKey(key, keys), /not signed by a known key/);
});

Deno.test("verifyLicenseKey() refuses HMAC with the public key as its secret", async () => {
  const secret = new TextEncoder().encode(keys.keys[0]!.x);
  const key = await new SignJWT({ edition: "enterprise" })
    .setProtectedHeader({ alg: "HS256", kid: "test" }).setSubject("x").setExpirationTime("1y")
    .sign(secret);
  await rejects(verifyLicenseKey(key, keys), /not signed by a known key/);
});

for (
  const { wrong, claims, message } of [
    { wrong: "an unknown edition", claims: { edition: "gold" }, message: /license key's edition/ },
    { wrong: "the edition ce", claims: { edition: "ce" }, message: /license key's edition/ },
    {
      wrong: "a limit of an unknown resource",
      claims: { limits: { ships: 1 } },
      message: /limits/,
    },
  ]
) {
  Deno.test(`verifyLicenseKey() refuses ${wrong}`, async () => {
    await rejects(verifyLicenseKey(await licenseKey(claims), keys), message);
  });
}

Deno.test("verifyLicenseKey() says that a build without keys knows none", async () => {
  await rejects(verifyLicenseKey(await licenseKey(), { keys: [] }), /has no license keys/);
});

for (
  const { at, edition, graceUntil } of [
    { at: "2026-05-31T23:59:59Z", edition: "pro", graceUntil: null },
    { at: "2026-06-01T00:00:00Z", edition: "pro", graceUntil: "2026-06-15T00:00:00.000Z" },
    { at: "2026-06-14T23:59:59Z", edition: "pro", graceUntil: "2026-06-15T00:00:00.000Z" },
    { at: "2026-06-15T00:00:00Z", edition: "ce", graceUntil: null },
  ]
) {
  Deno.test(`a license that expires on ${EXPIRY} is ${edition} at ${at}`, async () => {
    const license = createLicense(() => new Date(at));
    license.use(await verifyLicenseKey(await licenseKey(), keys));
    equal(license.edition, edition);
    equal(license.graceUntil, graceUntil);
  });
}

Deno.test("limitOf() takes the license's own number before the edition's", async () => {
  const license = createLicense(() => new Date("2026-01-01T00:00:00Z"));
  equal(limitOf(license, "users"), 5);
  license.use(await verifyLicenseKey(await licenseKey({ limits: { users: 40 } }), keys));
  equal(limitOf(license, "users"), 40);
  equal(limitOf(license, "webhooks"), Infinity);
});

Deno.test("assertBelowLimit() names the resource and the numbers", () => {
  const license = createLicense(() => new Date("2026-01-01T00:00:00Z"));
  assertBelowLimit(license, "alert_rules", 49);
  throws(() => assertBelowLimit(license, "alert_rules", 50), (error) => {
    return error instanceof LimitError && error.current === 50 && error.max === 50 &&
      error.message ===
        "Edition limit reached (alert rules): the Community Edition allows 50; delete one or upgrade";
  });
  for (const resource of LIMITED_RESOURCES) {
    const max = limitOf(license, resource);
    throws(() => assertBelowLimit(license, resource, max), (error) => {
      return error instanceof LimitError && !error.message.includes("_");
    });
  }
});

Deno.test("a license is found by any of several keys, whatever names it gives", async () => {
  const other = await generateKeyPair("EdDSA", { extractable: true });
  const others = { ...await exportJWK(other.publicKey), alg: "EdDSA" };
  const { kid: _, ...unnamed } = keys.keys[0]!;
  for (const known of [[others, unnamed], [unnamed, others], [{ ...unnamed, kid: "renamed" }]]) {
    equal((await verifyLicenseKey(await licenseKey(), { keys: known })).edition, "pro");
  }
});

for (
  const { at, edition, active } of [
    { at: "2016-01-01T00:00:00Z", edition: "ce", active: false },
    { at: "2025-12-30T23:59:59Z", edition: "ce", active: false },
    { at: "2025-12-31T00:00:00Z", edition: "enterprise", active: true },
    { at: "2026-01-01T00:00:00Z", edition: "enterprise", active: true },
    { at: "2026-01-30T23:59:59Z", edition: "enterprise", active: true },
    { at: "2026-01-31T00:00:00Z", edition: "ce", active: false },
  ]
) {
  Deno.test(`a trial that was started on 2026-01-01 is ${edition} at ${at}`, () => {
    const license = createLicense(() => new Date(at), new Date("2026-01-01T00:00:00Z"));
    equal(license.edition, edition);
    deepEqual(license.trial, {
      startedAt: "2026-01-01T00:00:00.000Z",
      endsAt: "2026-01-31T00:00:00.000Z",
      active,
    });
    equal(license.expiresAt, active ? "2026-01-31T00:00:00.000Z" : null);
  });
}

Deno.test("the limits of an ended license do not narrow a trial", async () => {
  const at = new Date("2026-07-01T00:00:00Z");
  const license = createLicense(() => at, at);
  license.use(await verifyLicenseKey(await licenseKey({ limits: { users: 7 } }), keys));
  equal(license.edition, "enterprise");
  equal(limitOf(license, "users"), Infinity);
});
