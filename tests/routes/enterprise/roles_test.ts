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
  const { what, change, error } of [
    { what: "no name", change: { name: undefined }, error: /^body\.name: / },
    { what: "an empty name", change: { name: "  " }, error: /^body\.name: / },
    { what: "a long name", change: { name: "n".repeat(101) }, error: /^body\.name: .*100/ },
    { what: "a name with a NUL", change: { name: "a\0b" }, error: /^body\.name: .*NUL/ },
    {
      what: "a long description",
      change: { description: "d".repeat(1_001) },
      error: /^body\.description: .*1000/,
    },
    { what: "a broken priority", change: { priority: 1.5 }, error: /^body\.priority: / },
    { what: "a priority as text", change: { priority: "1" }, error: /^body\.priority: / },
    { what: "an endless priority", change: { priority: 1e9 }, error: /^body\.priority: / },
    {
      what: "permissions that are not an array",
      change: { permissions: { containers: ["read"] } },
      error: /^body\.permissions: /,
    },
    {
      what: "a permission as text",
      change: { permissions: ["containers:read"] },
      error: /^body\.permissions\.0: /,
    },
    {
      what: "an unknown resource",
      change: { permissions: [{ resource: "rockets", actions: ["read"] }] },
      error: /^body\.permissions\.0\.resource: must be one of \*, containers, /,
    },
    {
      what: "a capitalized resource",
      change: { permissions: [{ resource: "Containers", actions: ["read"] }] },
      error: /^body\.permissions\.0\.resource: must be one of /,
    },
    {
      what: "a property of every object",
      change: { permissions: [{ resource: "constructor", actions: ["name"] }] },
      error: /^body\.permissions\.0\.resource: must be one of /,
    },
    {
      what: "an unknown action",
      change: {
        permissions: [night.permissions[0], { resource: "stacks", actions: ["read", "launch"] }],
      },
      error:
        /^body\.permissions\.1\.actions\.1: "launch" is not an action of stacks; known actions: read, /,
    },
    {
      what: "another resource's action",
      change: { permissions: [{ resource: "networks", actions: ["exec"] }] },
      error: /"exec" is not an action of networks; known actions: read, write, \*/,
    },
    {
      what: "a property of every function",
      change: { permissions: [{ resource: "*", actions: ["toString"] }] },
      error: /"toString" is not an action of any resource/,
    },
    {
      what: "no action",
      change: { permissions: [{ resource: "stacks", actions: [] }] },
      error: /^body\.permissions\.0\.actions: /,
    },
    {
      what: "an action that is not a string",
      change: { permissions: [{ resource: "stacks", actions: [null] }] },
      error: /^body\.permissions\.0\.actions\.0: /,
    },
    {
      what: "too many actions",
      change: { permissions: [{ resource: "stacks", actions: Array(51).fill("read") }] },
      error: /^body\.permissions\.0\.actions: .*50/,
    },
    {
      what: "too many permissions",
      change: { permissions: Array(101).fill({ resource: "stacks", actions: ["read"] }) },
      error: /^body\.permissions: .*100/,
    },
  ]
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
  equal(answer.body.error, "Custom roles need the Enterprise edition");
});
