import { deepEqual, equal } from "node:assert/strict";
import { deleteUser, insertUser } from "../../../db/users.ts";
import {
  insertRoleAssignment,
  selectPermissionsOfUser,
  selectRoleUsers,
} from "../../../db/enterprise/role_assignments.ts";
import {
  deleteRole,
  insertRole,
  replacePermissions,
  selectPermissionsOfRole,
  selectRole,
} from "../../../db/enterprise/roles.ts";
import { openTestDatabase } from "../../helpers/test_app.ts";

const AT = "2026-01-01T00:00:00.000Z";
const NIGHT = {
  id: "night",
  name: "Night",
  name_key: "night",
  description: "",
  priority: 0,
  hosts: null,
  host_labels: null,
  created_at: AT,
  updated_at: AT,
};
const START = { resource: "containers", action: "start" };

function databaseWithAda() {
  const db = openTestDatabase();
  insertUser(db, {
    id: "ada",
    email: "ada@example.com",
    emailKey: "ada@example.com",
    passwordHash: null,
    role: "viewer",
    createdAt: AT,
    lastLoginAt: null,
  });
  insertRole(db, NIGHT);
  replacePermissions(db, "night", [START]);
  const assignment = { role_id: "night", assigned_at: AT, assigned_by: "key" };
  insertRoleAssignment(db, { ...assignment, user_id: "ada" });
  insertRoleAssignment(db, { ...assignment, user_id: "key" });
  return db;
}

Deno.test("deleting a user by any means deletes the assignments", () => {
  const db = databaseWithAda();
  deleteUser(db, "ada");
  deepEqual(selectPermissionsOfUser(db, "ada"), []);
  equal(selectRole(db, "night")?.user_count, 1);
  deepEqual(selectRoleUsers(db, "night", { limit: 10, offset: 0 }), [
    { user_id: "key", email: null, assigned_at: AT, assigned_by: "key" },
  ]);
  db.close();
});

Deno.test("deleting a role deletes its permissions and assignments", () => {
  const db = databaseWithAda();
  deleteRole(db, "night");
  deepEqual(selectPermissionsOfRole(db, "night"), []);
  deepEqual(selectPermissionsOfUser(db, "ada"), []);
  insertRole(db, NIGHT);
  deepEqual(selectRole(db, "night"), {
    id: "night",
    name: "Night",
    description: "",
    priority: 0,
    hosts: null,
    host_labels: null,
    created_at: AT,
    updated_at: AT,
    permission_count: 0,
    user_count: 0,
  });
  db.close();
});

Deno.test("permissions of a user are found by an index", () => {
  const db = databaseWithAda();
  db.transaction(() => {
    for (let n = 0; n < 500; n++) {
      insertRole(db, { ...NIGHT, id: `role ${n}`, name_key: `role ${n}` });
      replacePermissions(db, `role ${n}`, [START, { resource: "sla", action: "read" }]);
      const assignment = { role_id: `role ${n}`, assigned_at: AT, assigned_by: "key" };
      for (let user = 0; user < 4; user++) {
        insertRoleAssignment(db, { ...assignment, user_id: `user ${(n + user) % 100}` });
      }
    }
  });
  const plan = db.all<{ detail: string }>(
    `EXPLAIN QUERY PLAN SELECT DISTINCT resource, action
     FROM custom_role_assignments JOIN custom_role_permissions USING (role_id)
     WHERE user_id = 'ada'`,
  ).map(({ detail }) => detail);
  deepEqual(plan.filter((step) => step.startsWith("SCAN")), []);
  db.close();
});
