import { deepEqual, equal, throws } from "node:assert/strict";
import {
  deleteProvider,
  type IdentityProvider,
  insertProvider,
  selectProvider,
  updateProvider,
} from "../../../../db/enterprise/sso/providers.ts";
import {
  insertUser,
  selectPasswordHash,
  selectUser,
  updateUserDetails,
  updateUserPassword,
} from "../../../../db/users.ts";
import { LimitError } from "../../../../services/errors.ts";
import { NAME_ID_PERSISTENT } from "../../../../services/enterprise/saml/name_id.ts";
import { findUser } from "../../../../services/enterprise/sso/provisioning.ts";
import { SignInRefusal } from "../../../../services/access/sign_in/refusal.ts";
import { setUserRole, storeUser } from "../../../../services/access/users/users.ts";
import { type TestApp, testApp } from "../../../helpers/test_app.ts";

const admin = { userId: "key", role: "admin", familyId: "f", address: "192.0.2.1" } as const;
const LOCAL = "ada@example.com";

function usersMode(authMode: "users" | "key" = "users"): TestApp {
  return testApp({ edition: "enterprise", config: { authMode } });
}

/** Stores a provider of which only its rules matter. */
function provider(app: TestApp, name: string, changes: Partial<IdentityProvider> = {}) {
  const at = app.clock.now().toISOString();
  const stored: IdentityProvider = {
    id: name,
    name,
    entity_id: `https://${name}.example/metadata`,
    sso_url: `https://${name}.example/sso`,
    slo_url: null,
    certificate: "PEM",
    binding: "HTTP-POST",
    name_id_format: null,
    attribute_mapping: {},
    auto_provision: true,
    default_role: "viewer",
    allow_unsolicited: true,
    link_existing: false,
    enabled: true,
    base_url: "http://longshore.test",
    created_at: at,
    updated_at: at,
    ...changes,
  };
  insertProvider(app.deps.db, stored);
  return {
    stored,
    set: (more: Partial<IdentityProvider>) =>
      updateProvider(app.deps.db, { ...selectProvider(app.deps.db, name)!, ...more }),
    login: (email: string, nameId: string | null = email) =>
      app.deps.db.transaction(() =>
        findUser(app.deps, selectProvider(app.deps.db, name)!, { email, persistentId: nameId })
      ),
  };
}

const localUser = (app: TestApp, email = LOCAL) =>
  storeUser(app.deps, { email, passwordHash: "hash", role: "admin" });

const refused = (work: () => unknown, reason: string) =>
  throws(work, (error) => error instanceof SignInRefusal && error.reason === reason);

Deno.test("an unknown user is created with the provider's role and no password", () => {
  using app = usersMode();
  const { user, isNew } = provider(app, "a", { default_role: "operator" }).login("Bob@Example.com");
  equal(isNew, true);
  deepEqual([user.email, user.role], ["Bob@Example.com", "operator"]);
  deepEqual(
    app.deps.db.get("SELECT email_key, password_hash FROM users WHERE id = :id", { id: user.id }),
    Object.assign(Object.create(null), { email_key: "bob@example.com", password_hash: null }),
  );
  equal(app.deps.accounts.roleOf({ userId: user.id, familyId: "f" }), "operator");
});

Deno.test("the created user is found again, without case", () => {
  using app = usersMode();
  const a = provider(app, "a");
  const { user } = a.login("Bob@Example.com");
  a.set({ auto_provision: false });
  const again = a.login("BOB@example.COM");
  deepEqual([again.user.id, again.isNew, again.email], [user.id, false, "BOB@example.COM"]);
});

Deno.test("a role that an admin gave stays, whatever the provider's default becomes", () => {
  using app = usersMode();
  const a = provider(app, "a");
  const { user } = a.login("bob@example.com");
  setUserRole(app.deps, admin, user.id, "operator");
  a.set({ default_role: "admin" });
  equal(a.login("bob@example.com").user.role, "operator");
});

Deno.test("an admin of a provider counts as another one while it is enabled", () => {
  using app = usersMode();
  const { id } = localUser(app);
  const a = provider(app, "a", { default_role: "admin" });
  a.login("bob@example.com");
  equal(app.deps.accounts.hasOtherAdmin(id), true);
  a.set({ enabled: false });
  equal(app.deps.accounts.hasOtherAdmin(id), false);
});

Deno.test("a local user is not taken over", () => {
  using app = usersMode();
  localUser(app);
  const a = provider(app, "a");
  for (const email of [LOCAL, "ADA@EXAMPLE.COM"]) refused(() => a.login(email), "existing_user");
  deepEqual(app.deps.db.all("SELECT * FROM sso_identities"), []);
});

Deno.test("a local user is linked where the provider may, and keeps role and password", () => {
  using app = usersMode();
  const { id } = localUser(app);
  const a = provider(app, "a", { link_existing: true });
  deepEqual(a.login(LOCAL).user, selectUser(app.deps.db, id));
  equal(a.login(LOCAL).user.role, "admin");
  equal(app.deps.db.get<{ h: string }>("SELECT password_hash AS h FROM users")!.h, "hash");
  // Linked accounts stay so; the setting is about accounts that are linked from now on.
  a.set({ link_existing: false });
  equal(a.login(LOCAL).user.id, id);
});

Deno.test("a local user may be linked to two providers that both may", () => {
  using app = usersMode();
  const { id } = localUser(app);
  equal(provider(app, "a", { link_existing: true }).login(LOCAL).user.id, id);
  equal(provider(app, "b", { link_existing: true }).login(LOCAL).user.id, id);
  refused(() => provider(app, "c").login(LOCAL), "existing_user");
});

for (const link_existing of [false, true]) {
  for (const enabled of [true, false]) {
    Deno.test(`a user of another provider (enabled: ${enabled}) is not taken over, link_existing ${link_existing}`, () => {
      using app = usersMode();
      const a = provider(app, "a");
      const { user } = a.login("bob@example.com");
      a.set({ enabled });
      const b = provider(app, "b", { link_existing });
      refused(() => b.login("Bob@example.com"), "other_provider");
      // A password does not change the owner of the user.
      updateUserPassword(app.deps.db, user.id, "hash");
      refused(() => b.login("bob@example.com"), "other_provider");
    });
  }
}

Deno.test("a user whose provider was deleted is like one who was there, for others", () => {
  using app = usersMode();
  const { user } = provider(app, "a").login("bob@example.com");
  deleteProvider(app.deps.db, "a");
  const b = provider(app, "b");
  refused(() => b.login("bob@example.com"), "existing_user");
  b.set({ link_existing: true });
  equal(b.login("bob@example.com").user.id, user.id);
});

Deno.test("a lasting name decides before the address does", () => {
  using app = usersMode();
  const a = provider(app, "a", { name_id_format: NAME_ID_PERSISTENT });
  const bob = a.login("bob@example.com", "n-1").user;
  equal(a.login("robert@example.com", "n-1").user.id, bob.id, "the same with another address");
  equal(a.login("eve@example.com", "n-2").isNew, true);
  refused(() => a.login("bob@example.com", "n-3"), "name_id_changed");
  equal(a.login("eve@example.com", "n-1").user.id, bob.id, "and not the owner of the address");
});

Deno.test("who comes without the lasting name is not let in by an address that has one", () => {
  using app = usersMode();
  const a = provider(app, "a", { name_id_format: NAME_ID_PERSISTENT });
  const bob = a.login("bob@example.com", "n-1").user;
  refused(() => a.login("bob@example.com", null), "name_id_changed");
  a.set({ link_existing: true });
  equal(a.login("bob@example.com", null).user.id, bob.id);
  a.set({ link_existing: false });
  equal(a.login("bob@example.com", "n-1").user.id, bob.id, "and the name is still bob's");
});

Deno.test("who never had a lasting name comes in by address, and gets the first one", () => {
  using app = usersMode();
  const a = provider(app, "a", { name_id_format: NAME_ID_PERSISTENT });
  const bob = a.login("bob@example.com", null).user;
  equal(a.login("bob@example.com", null).user.id, bob.id);
  equal(a.login("bob@example.com", "n-1").user.id, bob.id);
  refused(() => a.login("bob@example.com", "n-2"), "name_id_changed");
});

Deno.test("a lasting name is compared letter by letter", () => {
  using app = usersMode();
  const a = provider(app, "a", { name_id_format: NAME_ID_PERSISTENT });
  a.login("bob@example.com", "Name");
  refused(() => a.login("bob@example.com", "name"), "name_id_changed");
});

Deno.test("a name is another provider's own", () => {
  using app = usersMode();
  const format = { name_id_format: NAME_ID_PERSISTENT };
  const bob = provider(app, "a", format).login("bob@example.com", "n-1").user;
  const eve = provider(app, "b", format).login("eve@example.com", "n-1");
  equal(eve.isNew, true);
  equal(eve.user.id === bob.id, false);
});

Deno.test("new lasting names are learned where the provider may link existing users", () => {
  using app = usersMode();
  const a = provider(app, "a", { name_id_format: NAME_ID_PERSISTENT });
  const { user } = a.login("bob@example.com", "n-1");
  a.set({ link_existing: true });
  equal(a.login("bob@example.com", "n-2").user.id, user.id);
  a.set({ link_existing: false });
  equal(a.login("bob@example.com", "n-2").user.id, user.id);
  refused(() => a.login("bob@example.com", "n-1"), "name_id_changed");
});

Deno.test("names become lasting ones with the first login after the change", () => {
  using app = usersMode();
  const a = provider(app, "a");
  const { user } = a.login("bob@example.com", "session-name-1");
  equal(a.login("bob@example.com", "session-name-2").user.id, user.id);
  a.set({ name_id_format: NAME_ID_PERSISTENT });
  equal(a.login("bob@example.com", "n-1").user.id, user.id);
  refused(() => a.login("bob@example.com", "n-2"), "name_id_changed");
});

Deno.test("the license's number of users holds for created ones, not for those who are there", () => {
  using app = usersMode();
  app.deps.license.use({
    customer: "test",
    edition: "enterprise",
    expiresAt: new Date("2999-01-01T00:00:00Z"),
    limits: { users: 2 },
  });
  localUser(app);
  const a = provider(app, "a");
  a.login("bob@example.com");
  throws(() => a.login("eve@example.com"), LimitError);
  equal(a.login("bob@example.com").isNew, false);
});

Deno.test("the new owner of an address gets the account without the ways in of the former one", () => {
  using app = usersMode();
  const { db } = app.deps;
  const { id } = localUser(app);
  const a = provider(app, "a", { link_existing: true, name_id_format: NAME_ID_PERSISTENT });
  const b = provider(app, "b", { link_existing: true, auto_provision: false });
  a.login(LOCAL, "n-1");
  b.login(LOCAL);
  equal(selectPasswordHash(db, id), "hash");

  const { isLinked } = a.login(LOCAL, "n-2");

  equal(isLinked, true);
  equal(selectPasswordHash(db, id), null);
  const identities = db.all<{ name: string }>("SELECT name_id AS name FROM sso_identities");
  deepEqual(identities.map(({ name }) => name), ["n-2"]);
});

Deno.test("an email that a user entered is not used to find their account", () => {
  using app = usersMode();
  const { db } = app.deps;
  const { id } = localUser(app);
  updateUserDetails(db, id, { isEmailUnconfirmed: true });
  refused(() => provider(app, "a", { link_existing: true }).login(LOCAL), "email_unconfirmed");
  deepEqual(db.all("SELECT * FROM sso_identities"), []);
});

Deno.test("in key mode a user with a password is not brought back by a provider", () => {
  using app = usersMode("key");
  const { db } = app.deps;
  insertUser(db, {
    id: "u1",
    email: LOCAL,
    emailKey: LOCAL,
    passwordHash: "hash",
    role: "admin",
    createdAt: app.clock.now().toISOString(),
    lastLoginAt: null,
  });
  const a = provider(app, "a", { link_existing: true });
  refused(() => a.login(LOCAL), "account_off");
  deepEqual(db.all("SELECT * FROM sso_identities"), []);
  equal(a.login("bob@example.com").isNew, true);
});
