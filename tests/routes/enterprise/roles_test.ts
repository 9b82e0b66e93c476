import { deepEqual, equal, match } from "node:assert/strict";
import { ROLES_MAX } from "../../../services/enterprise/roles/roles.ts";
import { ROLES } from "../../helpers/custom_roles.ts";
import { testApp } from "../../helpers/test_app.ts";

const night = {
  name: "Night shift",
  description: "May restart what hangs",
  priority: 10,
  permissions: [
    { resource: "containers", actions: ["read", "restart"] },
    { resource: "stacks", actions: ["read"] },
  ],
};

Deno.test("POST /roles stores a role and shows it with its counts", async () => {
  using app = testApp({ edition: "enterprise", now: "2026-01-01T12:00:00Z" });

  const created = await app.call("POST", ROLES, night);

  equal(created.status, 201);
  const { id, ...rest } = created.body;
  match(id, /^[0-9a-f-]{36}$/);
  deepEqual(rest, {
    ...night,
    permission_count: 3,
    user_count: 0,
    hosts: null,
    host_labels: null,
    created_at: "2026-01-01T12:00:00.000Z",
    updated_at: "2026-01-01T12:00:00.000Z",
  });
  const shown = await app.call("GET", `${ROLES}/${id}`);
  deepEqual([shown.status, shown.body], [200, created.body]);
});

Deno.test("a role needs only a name", async () => {
  using app = testApp({ edition: "enterprise" });
  const { status, body } = await app.call("POST", ROLES, { name: "  Empty " });
  equal(status, 201);
  const { name, description, priority, permissions, permission_count } = body;
  deepEqual({ name, description, priority, permissions, permission_count }, {
    name: "Empty",
    description: "",
    priority: 0,
    permissions: [],
    permission_count: 0,
  });
});

Deno.test("repeated permissions are stored once, and * is stored unchanged", async () => {
  using app = testApp({ edition: "enterprise" });
  const { body } = await app.call("POST", ROLES, {
    ...night,
    permissions: [
      { resource: "stacks", actions: ["read", "stop", "read"] },
      { resource: "*", actions: ["read"] },
      { resource: "stacks", actions: ["stop"] },
      { resource: "containers", actions: ["*"] },
    ],
  });
  deepEqual(body.permissions, [
    { resource: "*", actions: ["read"] },
    { resource: "containers", actions: ["*"] },
    { resource: "stacks", actions: ["read", "stop"] },
  ]);
  equal(body.permission_count, 4);
});

for (
  const [what, change, error] of [
    ["no name", { name: undefined }, /^body\.name: /],
    ["an empty name", { name: "  " }, /^body\.name: /],
    ["a long name", { name: "n".repeat(101) }, /^body\.name: .*100/],
    ["a name with a NUL", { name: "a\0b" }, /^body\.name: .*control characters/],
    ["a long description", { description: "d".repeat(1_001) }, /^body\.description: .*1000/],
    ["a broken priority", { priority: 1.5 }, /^body\.priority: /],
    ["a priority as text", { priority: "1" }, /^body\.priority: /],
    ["an endless priority", { priority: 1e9 }, /^body\.priority: /],
    [
      "permissions that are not an array",
      { permissions: { containers: ["read"] } },
      /^body\.permissions: /,
    ],
    ["a permission as text", { permissions: ["containers:read"] }, /^body\.permissions\.0: /],
    [
      "an unknown resource",
      { permissions: [{ resource: "rockets", actions: ["read"] }] },
      /^body\.permissions\.0\.resource: must be one of \*, containers, /,
    ],
    [
      "a capitalized resource",
      { permissions: [{ resource: "Containers", actions: ["read"] }] },
      /^body\.permissions\.0\.resource: must be one of /,
    ],
    [
      "a property of every object",
      { permissions: [{ resource: "constructor", actions: ["name"] }] },
      /^body\.permissions\.0\.resource: must be one of /,
    ],
    [
      "an unknown action",
      {
        permissions: [night.permissions[0], { resource: "stacks", actions: ["read", "launch"] }],
      },
      /^body\.permissions\.1\.actions\.1: "launch" is not an action of stacks; known actions: read, /,
    ],
    [
      "another resource's action",
      { permissions: [{ resource: "networks", actions: ["exec"] }] },
      /"exec" is not an action of networks; known actions: read, write, \*/,
    ],
    [
      "a property of every function",
      { permissions: [{ resource: "*", actions: ["toString"] }] },
      /"toString" is not an action of any resource/,
    ],
    [
      "no action",
      { permissions: [{ resource: "stacks", actions: [] }] },
      /^body\.permissions\.0\.actions: /,
    ],
    [
      "an action that is not a string",
      { permissions: [{ resource: "stacks", actions: [null] }] },
      /^body\.permissions\.0\.actions\.0: /,
    ],
    [
      "too many actions",
      { permissions: [{ resource: "stacks", actions: Array(51).fill("read") }] },
      /^body\.permissions\.0\.actions: .*50/,
    ],
    [
      "too many permissions",
      { permissions: Array(101).fill({ resource: "stacks", actions: ["read"] }) },
      /^body\.permissions: .*100/,
    ],
  ] as const
) {
  Deno.test(`POST and PUT of a role refuse ${what}`, async () => {
    using app = testApp({ edition: "enterprise" });
    const refused = await app.call("POST", ROLES, { ...night, ...change });
    equal(refused.status, 400);
    match(refused.body.error, error);
    if (Object.values(change)[0] === undefined) return;

    const { id } = (await app.call("POST", ROLES, night)).body;
    const unchanged = await app.call("PUT", `${ROLES}/${id}`, change);
    equal(unchanged.status, 400);
    match(unchanged.body.error, error);
    deepEqual((await app.call("GET", `${ROLES}/${id}`)).body.permissions, night.permissions);
  });
}

Deno.test("the name of another role, in whatever case, is 409; a role can keep its own", async () => {
  using app = testApp({ edition: "enterprise" });
  const { id } = (await app.call("POST", ROLES, night)).body;
  const other = (await app.call("POST", ROLES, { name: "Übersicht" })).body.id;

  const again = await app.call("POST", ROLES, { name: "night SHIFT" });
  deepEqual([again.status, again.body], [409, {
    error: "A role named night SHIFT already exists",
  }]);
  equal((await app.call("POST", ROLES, { name: "U\u0308BERSICHT" })).status, 409);
  equal((await app.call("PUT", `${ROLES}/${other}`, { name: "NIGHT SHIFT" })).status, 409);
  equal((await app.call("PUT", `${ROLES}/${id}`, { name: "NIGHT SHIFT" })).status, 200);
});

Deno.test("PUT changes the fields that are given, and replaces permissions as a whole", async () => {
  using app = testApp({ edition: "enterprise", now: "2026-01-01T12:00:00Z" });
  const role = (await app.call("POST", ROLES, night)).body;
  app.clock.set("2026-01-02T12:00:00Z");

  const renamed = await app.call("PUT", `${ROLES}/${role.id}`, { name: "Late shift" });
  const updated_at = "2026-01-02T12:00:00.000Z";
  deepEqual([renamed.status, renamed.body], [200, { ...role, name: "Late shift", updated_at }]);

  const permissions = [{ resource: "sla", actions: ["read"] }];
  const changed = await app.call("PUT", `${ROLES}/${role.id}`, { permissions, priority: -3 });
  const expected = {
    ...role,
    name: "Late shift",
    priority: -3,
    permissions,
    permission_count: 1,
    updated_at,
  };
  deepEqual(changed.body, expected);

  const none = await app.call("PUT", `${ROLES}/${role.id}`, { permissions: [] });
  deepEqual(none.body, { ...expected, permissions: [], permission_count: 0 });
  deepEqual((await app.call("PUT", `${ROLES}/${role.id}`, {})).body, none.body);
});

Deno.test("roles are listed by priority, highest first, then by name, in pages", async () => {
  using app = testApp({ edition: "enterprise" });
  for (
    const [name, priority] of [["b", 1], ["C", 1], ["a", 1], ["last", -5], ["first", 100]] as const
  ) equal((await app.call("POST", ROLES, { ...night, name, priority })).status, 201);

  const all = (await app.call("GET", ROLES)).body;
  deepEqual(all.roles.map(({ name }: { name: string }) => name), ["first", "a", "b", "C", "last"]);
  deepEqual([all.total, all.limit, all.offset], [5, 100, 0]);
  deepEqual(Object.keys(all.roles[0]).sort(), [
    "created_at",
    "description",
    "host_labels",
    "hosts",
    "id",
    "name",
    "permission_count",
    "priority",
    "updated_at",
    "user_count",
  ]);
  const page = (await app.call("GET", `${ROLES}?limit=2&offset=1`)).body;
  deepEqual(page.roles.map(({ name }: { name: string }) => name), ["a", "b"]);
  deepEqual([page.total, page.limit, page.offset], [5, 2, 1]);
  equal((await app.call("GET", `${ROLES}?limit=501`)).status, 400);
});

Deno.test("DELETE deletes a role, and is 404 the second time", async () => {
  using app = testApp({ edition: "enterprise" });
  const { id } = (await app.call("POST", ROLES, night)).body;
  const gone = await app.call("DELETE", `${ROLES}/${id}`);
  deepEqual([gone.status, gone.body], [200, { ok: true }]);
  for (
    const [method, body] of [["GET"], ["PUT", { name: "x" }], ["DELETE"]] as [string, unknown?][]
  ) {
    const answer = await app.call(method, `${ROLES}/${id}`, body);
    deepEqual([answer.status, answer.body], [404, { error: `Role ${id} does not exist` }]);
  }
  equal((await app.call("POST", ROLES, night)).status, 201, "its name is free again");
});

Deno.test("a role over the limit is refused with 409", async () => {
  using app = testApp({ edition: "enterprise" });
  app.deps.db.transaction(() => {
    for (let n = 0; n < ROLES_MAX; n++) {
      app.deps.db.run(
        `INSERT INTO custom_roles
           (id, name, name_key, description, priority, created_at, updated_at)
         VALUES (:id, :id, :id, '', 0, '', '')`,
        { id: `role ${n}` },
      );
    }
  });
  const answer = await app.call("POST", ROLES, night);
  deepEqual([answer.status, answer.body], [409, {
    error: `Limit of ${ROLES_MAX} roles reached; delete one first`,
  }]);
});

Deno.test("custom roles need the Enterprise license", async () => {
  using app = testApp({ edition: "pro" });
  const answer = await app.call("GET", ROLES);
  equal(answer.status, 402);
  equal(answer.body.error, "Custom roles need the Enterprise edition (roles)");
});
