/** Users and logins for tests. @module */

import { equal } from "node:assert/strict";
import type { TokenPair } from "../../services/access/sign_in/sessions.ts";
import { storeUser } from "../../services/access/users/users.ts";
import type { UserRole } from "../../services/access/caller.ts";
import { TEST_API_KEY, type TestApp, testApp, type TestAppOptions } from "./test_app.ts";

/** The password of every test user. */
export const PASSWORD = "correct horse battery";

/** An application in users mode with `admin@`, `operator@` and `viewer@example.com`. */
export async function usersApp(options: TestAppOptions = {}): Promise<
  TestApp & { ids: Record<UserRole, string> }
> {
  const app = testApp({ ...options, config: { authMode: "users", ...options.config } });
  const hash = await app.deps.passwords.hash(PASSWORD);
  const add = (role: UserRole) =>
    storeUser(app.deps, { email: `${role}@example.com`, passwordHash: hash, role }).id;
  return Object.assign(app, {
    ids: { admin: add("admin"), operator: add("operator"), viewer: add("viewer") },
  });
}

/** Logs in by email and password. */
export async function login(app: TestApp, email: string, password = PASSWORD): Promise<TokenPair> {
  const body = { email, password };
  const answer = await app.call("POST", "/auth/login", body, { role: "public" });
  equal(answer.status, 200, answer.body.error);
  return answer.body;
}

/** Logs in by the API key of the tests. */
export async function loginByKey(app: TestApp): Promise<TokenPair> {
  const body = { apiKey: TEST_API_KEY };
  const answer = await app.call("POST", "/auth/token", body, { role: "public" });
  equal(answer.status, 200, answer.body.error);
  return answer.body;
}

/** The status of a request with this access token. */
export async function statusWith(app: TestApp, token: string): Promise<number> {
  return (await app.call("GET", "/auth/me", undefined, { token })).status;
}

/** Uses a refresh token. */
export function refresh(app: TestApp, refreshToken: string, address?: string) {
  return app.call("POST", "/auth/refresh", { refreshToken }, {
    role: "public",
    ...(address !== undefined && { address }),
  });
}
