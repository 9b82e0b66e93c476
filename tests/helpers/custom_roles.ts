/** Custom roles for tests. @module */

import { equal } from "node:assert/strict";
import { login, usersApp } from "./accounts.ts";
import type { Answer, TestApp } from "./test_app.ts";

export const ROLES = "/api/ext/service-enterprise/roles";

/** Creates a role, as an admin. @param permissions E.g. `containers:start`. @returns Its id. */
export async function createRole(
  app: TestApp,
  name: string,
  permissions: readonly string[],
): Promise<string> {
  const created = await app.call("POST", ROLES, { name, permissions: groups(permissions) });
  equal(created.status, 201, created.body.error);
  return created.body.id;
}

/** Creates a role and assigns it, as an admin. @returns Its id. */
export async function grant(
  app: TestApp,
  userId: string,
  permissions: readonly string[],
): Promise<string> {
  const role = await createRole(app, permissions.join(" "), permissions);
  const assigned = await app.call("POST", `${ROLES}/${role}/users`, { user_id: userId });
  equal(assigned.status, 200, assigned.body.error);
  return role;
}

/** `["a:b", "a:c"]` in the form of a request body. */
export const groups = (permissions: readonly string[]) =>
  permissions.map((permission) => {
    const [resource, action] = permission.split(":");
    return { resource, actions: [action] };
  });

/** An application in which the viewer has one custom role with these permissions. */
export async function appWithRights(...permissions: string[]): Promise<
  Awaited<ReturnType<typeof usersApp>> & {
    /** Calls as the viewer. */
    asViewer(method: string, path: string, body?: unknown): Promise<Answer>;
  }
> {
  const app = await usersApp({ edition: "enterprise" });
  if (permissions.length > 0) await grant(app, app.ids.viewer, permissions);
  const { accessToken: token } = await login(app, "viewer@example.com");
  return Object.assign(app, {
    asViewer: (method: string, path: string, body?: unknown) =>
      app.call(method, path, body, { token }),
  });
}
