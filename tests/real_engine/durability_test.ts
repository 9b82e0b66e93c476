/** The program is killed at random moments: the next start has every acknowledged write. @module */

import { deepEqual, equal } from "node:assert/strict";
import { startLongshore } from "../helpers/longshore.ts";

const ROUNDS = 6;
const ADMIN = { email: "admin@localhost", password: "correct horse battery" };

Deno.test("kill -9 at any moment loses no acknowledged write", async () => {
  const dataDir = await Deno.makeTempDir({ prefix: "longshore-test-durable-" });
  const options = {
    dataDir,
    env: { AUTH_MODE: "users", ADMIN_EMAIL: ADMIN.email, ADMIN_PASSWORD: ADMIN.password },
  };
  try {
    // The last acknowledged role of each of a few users is what has to be there.
    const acknowledged = new Map<string, string>();
    for (let round = 0; round < ROUNDS; round++) {
      await using program = await startLongshore(options);
      const login = await program.call("POST", "/auth/login", ADMIN, { token: null });
      const token = login.body.accessToken;
      equal(login.status, 200);
      const { body } = await program.call("GET", "/auth/users", undefined, { token });
      for (const [id, role] of acknowledged) {
        equal(body.users.find((user: { id: string }) => user.id === id)?.role, role);
      }

      if (round < 3) {
        const created = await program.call("POST", "/auth/users", {
          email: `user-${round}@example.org`,
          password: "another long password",
          role: "viewer",
        }, { token });
        equal(created.status, 201);
        acknowledged.set(created.body.id, "viewer");
      }
      // Writes continue while the process is killed; unacknowledged ones may be stored or not.
      const uncertain = new Map<string, string[]>();
      let killed = false;
      const writing = (async () => {
        for (let n = 0; !killed; n++) {
          const ids = [...acknowledged.keys()];
          const id = ids[n % ids.length]!;
          const role = ["viewer", "operator", "admin"][n % 3]!;
          uncertain.set(id, [role]);
          try {
            const answer = await program.call("PUT", `/auth/users/${id}/role`, { role }, { token });
            equal(answer.status, 200);
            acknowledged.set(id, role);
            uncertain.delete(id);
          } catch (error) {
            if (!killed && !(error instanceof TypeError)) throw error;
            return;
          }
        }
      })();
      await new Promise((resolve) => setTimeout(resolve, 40 + 37 * round));
      const kill = program.kill9();
      killed = true;
      await kill;
      await writing;
      for (const id of uncertain.keys()) acknowledged.delete(id);
      if (acknowledged.size === 0) break;
    }
    const names = [...Deno.readDirSync(dataDir)].map(({ name }) => name);
    deepEqual(names.filter((name) => /damaged|tmp/.test(name)), []);
  } finally {
    await Deno.remove(dataDir, { recursive: true });
  }
});
