import { deepEqual, equal, match, ok } from "node:assert/strict";
import { login, PASSWORD, statusWith, usersApp } from "../../helpers/accounts.ts";
import type { Claims } from "../../helpers/authenticator.ts";
import {
  addPasskey as addPasskeyWith,
  PASSKEY_ORIGIN as ORIGIN,
  passkeyPage,
  PASSKEYS as PATH,
} from "../../helpers/passkeys.ts";
import { stepAt, totpCode } from "../../../services/access/factors/totp.ts";
import { decodeBase32, firstStep, secondStep } from "../../helpers/second_factor.ts";
import { collectEvents, type TestApp } from "../../helpers/test_app.ts";

const EMAIL = "viewer@example.com";

const passkeysApp = () => usersApp({ config: { serviceBaseUrl: ORIGIN } });

/** Adds a passkey to the account. */
const addPasskey = async (app: TestApp, email = EMAIL, claims: Claims = {}) =>
  await addPasskeyWith(app, (await login(app, email)).accessToken, claims);

Deno.test("a passkey is added, listed, renamed and deleted, with recovery codes for the first", async () => {
  using app = await passkeysApp();
  const elsewhere = await login(app, EMAIL);

  const { token, added, options } = await addPasskey(app);

  equal(added.status, 201, added.body.error);
  equal(options.rp.id, "longshore.example.com");
  const { id, recoveryCodes, ...rest } = added.body;
  equal(recoveryCodes.length, 10);
  equal(await statusWith(app, elsewhere.accessToken), 401);
  equal(rest.name, "Passkey 1");
  const renamed = await app.call("PUT", `${PATH}/${id}`, { name: "Key" }, { token });
  equal(renamed.body.name, "Key");
  const { body: { passkeys } } = await app.call("GET", PATH, undefined, { token });
  deepEqual(passkeys, [{ ...rest, id, name: "Key" }]);
  const { accessToken: foreign } = await login(app, "operator@example.com");
  for (const method of ["PUT", "DELETE"]) {
    const body = method === "PUT" ? { name: "Mine" } : undefined;
    const answer = await app.call(method, `${PATH}/${id}`, body, { token: foreign });
    equal(answer.status, 404);
  }
  equal((await app.call("DELETE", `${PATH}/${id}`, undefined, { token })).status, 200);
  ok("accessToken" in (await login(app, EMAIL)));
});

Deno.test("a passkey signs in alone where it recognizes its user, and is the second factor otherwise", async () => {
  using app = await passkeysApp();
  const { authenticator } = await addPasskey(app);
  const page = passkeyPage(app);

  const unverified = authenticator.use(await page.options(), { userVerified: false });
  equal((await page.signIn(unverified)).status, 401);
  const alone = await page.signIn(authenticator.use(await page.options()));

  equal(alone.status, 200, alone.body.error);
  match(alone.headers.get("set-cookie")!, /^__Secure-longshore-.*HttpOnly/);
  equal(alone.body.refreshToken, undefined);
  equal(await statusWith(app, alone.body.accessToken), 200);

  const first = await app.call("POST", "/auth/login", { email: EMAIL, password: PASSWORD }, {
    role: "public",
  });
  deepEqual(first.body.methods, ["passkey", "recoveryCode"]);
  const { mfaToken } = first.body;
  const options = await app.call("POST", "/auth/passkey/options", { mfaToken }, { role: "public" });
  equal(options.body.allowCredentials.length, 1);
  const passkey = authenticator.use(options.body, { userVerified: false });
  const second = await secondStep(app, mfaToken, { passkey });
  equal(second.status, 200, second.body.error);
  ok(second.body.refreshToken);
});

Deno.test("a passkey of an account without a password does not replace its identity provider", async () => {
  using app = await passkeysApp();
  const { authenticator } = await addPasskey(app);
  app.deps.db.run("UPDATE users SET password_hash = NULL WHERE email = :email", { email: EMAIL });
  const page = passkeyPage(app);

  const { status, body } = await page.signIn(authenticator.use(await page.options()));

  equal(status, 403);
  match(body.error, /signs in at its identity provider/);
});

for (
  const [what, claims] of Object.entries<Claims>({
    "another origin": { origin: "https://longshore.example.net" },
    "another host": { rpId: "example.com" },
    "a counter that is not above the last one": { counter: 0 },
    "another account in its handle": { userHandle: "b3RoZXI" },
  })
) {
  Deno.test(`a use of a passkey with ${what} is refused`, async () => {
    using app = await passkeysApp();
    const { authenticator } = await addPasskey(app, EMAIL, { counter: 5 });
    const page = passkeyPage(app);
    equal((await page.signIn(authenticator.use(await page.options(), claims))).status, 401);
    const right = authenticator.use(await page.options(), { counter: 6 });
    equal((await page.signIn(right)).status, 200);
  });
}

Deno.test("a challenge is valid once, for 5 minutes, for its page and for its purpose", async () => {
  using app = await passkeysApp();
  const { authenticator, credential, token, options } = await addPasskey(app);
  const page = passkeyPage(app);

  const used = authenticator.use(await page.options());
  equal((await page.signIn(used)).status, 200);
  equal((await page.signIn(used)).status, 401);
  equal((await app.call("POST", PATH, { credential }, { token })).status, 403);
  const foreign = authenticator.use(await passkeyPage(app).options());
  equal((await page.signIn(foreign)).status, 401);
  const late = await page.options();
  app.clock.advance({ minutes: 5 });
  equal((await page.signIn(authenticator.use(late))).status, 401);
  // Challenges of a registration and of a second step are for nothing else.
  const registration = await app.call("POST", `${PATH}/options`, undefined, { token });
  equal((await page.signIn(authenticator.use(registration.body))).status, 401);
  const mfaToken = await firstStep(app);
  const ownOptions = await page.options();
  const second = await secondStep(app, mfaToken, { passkey: authenticator.use(ownOptions) });
  equal(second.status, 401);
  ok(options.challenge !== registration.body.challenge);
});

Deno.test("a second step does not accept the passkey of another account", async () => {
  using app = await passkeysApp();
  await addPasskey(app);
  const { authenticator } = await addPasskey(app, "operator@example.com");
  const mfaToken = await firstStep(app);
  const options = await app.call("POST", "/auth/passkey/options", { mfaToken }, { role: "public" });
  const passkey = authenticator.use(options.body);
  equal((await secondStep(app, mfaToken, { passkey })).status, 401);
});

Deno.test("a new passkey must be for this origin and host, and new", async () => {
  using app = await passkeysApp();
  for (const claims of [{ origin: "https://evil.example" }, { rpId: "evil.example" }]) {
    equal((await addPasskey(app, EMAIL, claims)).added.status, 403);
  }
  deepEqual(app.deps.db.all("SELECT id FROM passkeys"), []);
  const { token, authenticator } = await addPasskey(app);
  const options = await app.call("POST", `${PATH}/options`, undefined, { token });
  const again = { credential: authenticator.create(options.body) };
  equal((await app.call("POST", PATH, again, { token })).status, 409);
});

Deno.test("passkeys need HTTPS and a host name, or localhost", async () => {
  for (
    const [serviceBaseUrl, status] of [
      ["http://longshore.example.com", 409],
      ["https://192.0.2.7", 409],
      ["http://localhost:3000", 200],
    ] as const
  ) {
    using app = await usersApp({ config: { serviceBaseUrl } });
    const { accessToken: token } = await login(app, EMAIL);
    const answer = await app.call("POST", `${PATH}/options`, undefined, { token });
    equal(answer.status, status, serviceBaseUrl);
  }
});

Deno.test("later than 5 minutes after a sign-in, a token alone neither adds nor removes factors", async () => {
  using app = await passkeysApp();
  const events = collectEvents(app, (kind) => kind === "account.factor_changed");
  const { token, added: { body: { id } } } = await addPasskey(app);
  app.clock.advance({ minutes: 5 });
  const remove = (proof?: Record<string, unknown>) =>
    app.call("DELETE", `${PATH}/${id}`, proof, { token });
  const totp = await app.call("POST", "/api/account/totp", undefined, { token });

  for (const proof of [{}, { password: "wrong" }, { code: "000000" }]) {
    equal((await addPasskeyWith(app, token, {}, proof)).added.status, 403);
    equal((await remove(proof)).status, 403);
  }
  const confirmation = { code: totpCode(decodeBase32(totp.body.secret), stepAt(app.clock.now())) };
  equal((await app.call("POST", "/api/account/totp/confirm", confirmation, { token })).status, 403);
  const list = await app.call("GET", PATH, undefined, { token });
  deepEqual([list.body.proof, list.body.passkeys.length, totp.body.proof], [
    "password",
    1,
    "password",
  ]);

  equal((await addPasskeyWith(app, token, {}, { password: PASSWORD })).added.status, 201);
  equal((await remove({ password: PASSWORD })).status, 200);
  deepEqual(events.map(({ data }) => "change" in data && [data.account, data.change]), [
    [EMAIL, "Passkey added"],
    [EMAIL, "Passkey added"],
    [EMAIL, "Passkey removed"],
  ]);
});

Deno.test("a recovery code proves the owner as well, once", async () => {
  using app = await passkeysApp();
  const { token, added: { body: { recoveryCodes: [recoveryCode] } } } = await addPasskey(app);
  app.clock.advance({ minutes: 5 });
  equal((await addPasskeyWith(app, token, {}, { recoveryCode })).added.status, 201);
  equal((await addPasskeyWith(app, token, {}, { recoveryCode })).added.status, 403);
});

Deno.test("a new password removes the passkeys where its user wants that", async () => {
  using app = await passkeysApp();
  const { token } = await addPasskey(app);
  const change = { currentPassword: PASSWORD, newPassword: "violet tractor under nine moons" };
  const path = "/api/account/password";
  equal((await app.call("PUT", path, { ...change, removePasskeys: true }, { token })).status, 200);
  equal((await app.call("GET", PATH, undefined, { token })).body.passkeys.length, 0);
  // No second factor is left, and no recovery code.
  equal((await login(app, EMAIL, change.newPassword)).role, "viewer");
  deepEqual(app.deps.db.all("SELECT * FROM recovery_codes"), []);
});
