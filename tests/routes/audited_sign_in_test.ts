/** Entries of the audit and compliance logs about sign-ins that are not finished, or refused. @module */

import { deepEqual, equal, ok } from "node:assert/strict";
import { PASSWORD, usersApp } from "../helpers/accounts.ts";
import { testBrowser } from "../helpers/browser_session.ts";
import { startEvilProvider } from "../helpers/evil_provider.ts";
import { addOidcProvider, evilSignIn, oidcApp } from "../helpers/oidc.ts";
import { addTotp, firstStep, secondStep } from "../helpers/second_factor.ts";
import type { TestApp } from "../helpers/test_app.ts";

type Entry = Record<string, unknown>;

const auditOf = async (app: TestApp): Promise<Entry[]> =>
  (await app.call("GET", "/api/audit?limit=10")).body.entries;

Deno.test("a right password that waits for its second factor has its own entries in the logs", async () => {
  using app = await usersApp({ edition: "enterprise" });
  const account = await addTotp(app);
  app.clock.advance({ seconds: 1 });
  const mfaToken = await firstStep(app);
  app.clock.advance({ seconds: 1 });
  await testBrowser(app).signIn({ email: account.email, password: PASSWORD });
  app.clock.advance({ seconds: 1 });
  await secondStep(app, mfaToken, { code: account.code(1) });

  const audit = (await auditOf(app)).slice(0, 3);
  deepEqual(audit.map(({ action, outcome }) => [action, outcome]), [
    ["POST /auth/mfa", "success"],
    ["POST /auth/session (first factor)", "success"],
    ["POST /auth/login (first factor)", "success"],
  ]);
  ok(audit.every(({ actor }) => actor === app.ids.viewer));
  const path = "/api/ext/service-enterprise/compliance/logs?limit=3&category=authentication";
  const { logs } = (await app.call("GET", path)).body;
  deepEqual(logs.map(({ action, detail }: Entry) => [action, detail]), [
    ["auth.mfa", "POST /auth/mfa: 200"],
    ["auth.session.first_factor", "POST /auth/session: first factor"],
    ["auth.login.first_factor", "POST /auth/login: first factor"],
  ]);
});

Deno.test("a refused user of a provider is named in the audit log as the provider proved it", async () => {
  using app = oidcApp();
  await using idp = await startEvilProvider(app.clock.now);
  const groups = { rolesClaim: "groups", roleMap: [{ value: "ops", role: "operator" }] };
  const id = await addOidcProvider(app, idp, { ...groups, defaultRole: null });
  const signIn = async (claims: Entry) => {
    app.clock.advance({ seconds: 1 });
    idp.answers.idToken = (nonce) => idp.sign({ ...idp.claims(nonce), ...claims });
    const { status } = await evilSignIn(app, idp, id);
    const [entry] = (await auditOf(app)).filter(({ action }) =>
      action === "GET /auth/oidc/callback"
    );
    return { status, ...entry } as Entry;
  };
  await signIn({ groups: ["ops"] });
  const userId = app.deps.db.get<{ id: string }>("SELECT id FROM users")!.id;

  const { status, actor, target, targets, command, outcome } = await signIn({ groups: ["none"] });
  const named = ["Acme", "ada", "ada@example.com"];
  deepEqual({ status, actor, target, targets, command, outcome }, {
    ...{ status: 403, actor: userId, target: "Acme", targets: named },
    ...{ command: "refused: no_role", outcome: "denied" },
  });
  const foreign = { sub: "eve", groups: ["none"], email: "ciso@example.com" };
  const unknown = await signIn({ ...foreign, email_verified: false });
  equal(unknown.actor, "");
  deepEqual(unknown.targets, ["Acme", "eve"]);
});
