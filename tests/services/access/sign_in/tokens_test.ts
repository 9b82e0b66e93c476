import { deepEqual, equal, rejects } from "node:assert/strict";
import { decodeJwt, decodeProtectedHeader, generateKeyPair, SignJWT, UnsecuredJWT } from "jose";
import type { UserRole } from "../../../../services/access/caller.ts";
import {
  createTokenVerifier,
  signAccessToken,
} from "../../../../services/access/sign_in/tokens.ts";
import { createSecrets } from "../../../../services/secrets/secrets.ts";
import { testClock, testSecrets } from "../../../helpers/test_app.ts";

const START_S = Date.parse("2026-01-01T00:00:00Z") / 1000;
const session = { userId: "u1", familyId: "f1" };

/** Claims of a valid token; a forged one differs in one of them. */
const CLAIMS = {
  iss: "longshore",
  aud: "longshore",
  sub: "u1",
  sid: "f1",
  role: "viewer",
  jti: "j1",
  iat: START_S,
  exp: START_S + 900,
};

function parts() {
  const clock = testClock();
  const deps = { secrets: testSecrets(), now: clock.now };
  return { clock, deps, verify: createTokenVerifier(deps) };
}

/** With the number of signatures that were verified. */
function countedParts() {
  const { clock, deps } = parts();
  let count = 0;
  const jwtKey = () => {
    count++;
    return deps.secrets.jwtKey();
  };
  const verify = createTokenVerifier({ ...deps, secrets: { ...deps.secrets, jwtKey } });
  return { clock, deps, verify, verifications: () => count };
}

function sign({ secrets, now }: ReturnType<typeof parts>["deps"], role: UserRole) {
  const terms = { id: crypto.randomUUID(), issuedAt: now(), endsAt: null };
  return signAccessToken({ secrets }, session, role, terms);
}

const refusal = { code: "unauthorized", message: "The access token is not valid or has expired" };

Deno.test("an access token has the claims of the contract and lives for 15 minutes", async () => {
  const { deps } = parts();
  const token = await sign(deps, "viewer");

  deepEqual(decodeProtectedHeader(token), { alg: "HS256", typ: "JWT" });
  const { jti, ...claims } = decodeJwt(token);
  const { jti: _, ...expected } = CLAIMS;
  deepEqual(claims, expected);
  equal(typeof jti, "string");
});

Deno.test("a verified token is cached until it expires", async () => {
  const { clock, deps, verify, verifications } = countedParts();
  const token = await sign(deps, "viewer");

  equal((await verify(token)).userId, "u1");
  const { userId, familyId } = await verify(token);
  deepEqual([userId, familyId], ["u1", "f1"]);

  clock.advance({ minutes: 14, seconds: 59, ms: 999 });
  await verify(token);
  equal(verifications(), 1);
  clock.advance({ ms: 1 });
  await rejects(verify(token), refusal);
  await rejects(verify(token), refusal);
});

Deno.test("the same claims signed by hand pass, so that the forgeries below fail for their fault", async () => {
  const { verify } = parts();
  equal((await verify(await forge({}))).familyId, "f1");
});

for (
  const { what, claims = {}, header = {} } of [
    { what: "of another issuer", claims: { iss: "elsewhere" } },
    { what: "for another audience", claims: { aud: "license" } },
    { what: "without an issuer", claims: { iss: undefined } },
    { what: "without an audience", claims: { aud: undefined } },
    { what: "without a user", claims: { sub: undefined } },
    { what: "without a login", claims: { sid: undefined } },
    { what: "with a login that is not a text", claims: { sid: 1 } },
    { what: "without an id", claims: { jti: undefined } },
    { what: "without a time", claims: { iat: undefined } },
    { what: "without an end", claims: { exp: undefined } },
    { what: "whose end is a text", claims: { exp: String(START_S + 900) } },
    { what: "that has expired", claims: { exp: START_S } },
    { what: "that is not yet good", claims: { nbf: START_S + 1 } },
    { what: "signed with HS512", header: { alg: "HS512" } },
    { what: "with a critical extension", header: { crit: ["x"], x: 1 } },
  ] as { what: string; claims?: Record<string, unknown>; header?: Record<string, unknown> }[]
) {
  Deno.test(`a token ${what} is refused`, async () => {
    const { verify } = parts();
    await rejects(async () => await verify(await forge(claims, header)), refusal);
  });
}

Deno.test("a token signed with another key is refused", async () => {
  const { deps, verify } = parts();
  const other = createSecrets({
    jwtSecret: new Uint8Array(32).fill(9),
    secretKey: new Uint8Array(32),
  });
  const token = await sign({ ...deps, secrets: other }, "admin");
  await rejects(async () => await verify(token), refusal);
});

Deno.test("an unsigned token is refused", async () => {
  const { verify } = parts();
  const unsigned = new UnsecuredJWT(CLAIMS).encode();
  await rejects(async () => await verify(unsigned), refusal);
  await rejects(async () => await verify(unsigned + "AAAA"), refusal);
});

Deno.test("a token signed with RS256 is refused", async () => {
  const { verify } = parts();
  const { privateKey } = await generateKeyPair("RS256");
  const token = await new SignJWT(CLAIMS).setProtectedHeader({ alg: "RS256" }).sign(privateKey);
  await rejects(async () => await verify(token), refusal);
});

Deno.test("a token that was tampered with anywhere is refused", async () => {
  const { deps, verify } = parts();
  const token = await sign(deps, "viewer");
  await verify(token);
  const [header, payload, signature] = token.split(".") as [string, string, string];
  const admin = btoa(JSON.stringify({ ...CLAIMS, role: "admin", sub: "u2" })).replaceAll("=", "");
  const none = btoa(JSON.stringify({ alg: "none" })).replaceAll("=", "");
  for (
    const forged of [
      `${header}.${admin}.${signature}`,
      `${none}.${payload}.${signature}`,
      `${none}.${payload}.`,
      `${header}.${payload}.`,
      `${header}.${payload}`,
      `${header}.${payload}.${flip(signature)}`,
      `${header}.${flip(payload)}.${signature}`,
      `${token}.`,
      `${token}A`,
      ` ${token}`,
      "",
      "..",
      "a.b.c",
      "A".repeat(100_000),
    ]
  ) await rejects(async () => await verify(forged), refusal);
});

Deno.test("the cache of verified tokens is bounded", async () => {
  const { deps, verify, verifications } = countedParts();
  const first = await sign(deps, "viewer");
  await verify(first);
  for (let n = 0; n < 10_000; n++) await verify(await sign(deps, "viewer"));
  const before = verifications();
  await verify(first);
  equal(verifications(), before + 1);
});

async function forge(
  claims: Record<string, unknown>,
  header: Record<string, unknown> = {},
): Promise<string> {
  const encode = (value: unknown) =>
    new TextEncoder().encode(JSON.stringify(value)).toBase64({
      alphabet: "base64url",
      omitPadding: true,
    });
  const signed = `${encode({ alg: "HS256", typ: "JWT", ...header })}.${
    encode({ ...CLAIMS, ...claims })
  }`;
  const hash = header.alg === "HS512" ? "SHA-512" : "SHA-256";
  const key = await crypto.subtle.importKey(
    "raw",
    new Uint8Array(32).fill(1),
    { name: "HMAC", hash },
    false,
    ["sign"],
  );
  const mac = await crypto.subtle.sign("HMAC", key, new TextEncoder().encode(signed));
  const signature = new Uint8Array(mac).toBase64({ alphabet: "base64url", omitPadding: true });
  return `${signed}.${signature}`;
}

/** Changes a character in the middle. */
function flip(text: string): string {
  const middle = text.length >> 1;
  return text.slice(0, middle) + (text[middle] === "A" ? "B" : "A") + text.slice(middle + 1);
}
