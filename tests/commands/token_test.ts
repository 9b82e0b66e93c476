import { equal, match } from "node:assert/strict";
import { runHere } from "../helpers/command.ts";
import { startLongshore } from "../helpers/longshore.ts";
import { until } from "../helpers/until.ts";

const users = {
  AUTH_MODE: "users",
  ADMIN_EMAIL: "admin@example.com",
  ADMIN_PASSWORD: "correct horse battery",
};

Deno.test("a running service accepts a new token at once, and a revoked one no longer", async () => {
  await using longshore = await startLongshore();
  const env = { DATA_DIR: longshore.dataDir };
  const run = (args: string[]) => runHere(["token", ...args], { env });
  const created = await run([
    "create",
    "CI",
    "--role",
    "operator",
    "--permissions",
    "system:read,containers:read",
    "--stacks",
    "shop",
    "--days",
    "30",
  ]);
  equal(created.code, 0, created.stderr);
  match(created.stdout, /^lst_[\w-]{49}\n$/);
  match(created.stderr, /Save it now/);

  const token = created.stdout.trim();
  const me = () => longshore.call("GET", "/auth/me", undefined, { token });
  equal((await me()).body.role, "operator");
  const { stdout } = await run(["list"]);
  match(stdout, /^ID +NAME +OWNER +ROLE +LIMITS +EXPIRES +LAST USED$/m);
  match(
    stdout,
    /^\S+ +CI +key +operator +permissions=system:read,containers:read stacks=shop +\d{4}\S+Z +\S+$/m,
  );
  equal(stdout.includes(token), false);

  const [, id = ""] = /^(\S+) +CI /m.exec(stdout) ?? [];
  equal((await run(["revoke", id])).stdout, "CI was revoked.\n");
  await until("the token is refused", async () => (await me()).status === 401);
  const unknown = await run(["revoke", id]);
  equal(unknown.code, 1);
  match(unknown.stderr, /API token \S+ does not exist/);
});

Deno.test("a token is revoked by its name, unless several have it", async () => {
  await using longshore = await startLongshore();
  const run = (...args: string[]) =>
    runHere(["token", ...args], { env: { DATA_DIR: longshore.dataDir } });
  for (const name of ["one", "two", "two"]) equal((await run("create", name)).code, 0);
  equal((await run("revoke", "one")).stdout, "one was revoked.\n");
  const several = await run("revoke", "two");
  equal(several.code, 1);
  match(several.stderr, /2 API tokens have the name two: use an ID from/);
  equal((await run("list")).stdout.match(/ two /g)?.length, 2);
});

Deno.test("in users mode a token has an owner, whose role it does not exceed", async () => {
  await using longshore = await startLongshore({ env: users });
  const env = { ...users, DATA_DIR: longshore.dataDir };
  const run = (...args: string[]) => runHere(["token", "create", "x", ...args], { env });
  equal((await run()).code, 0);
  match((await run("--user", "bob@example.com")).stderr, /No user has the email bob@example\.com/);
  await runHere(["user", "add", "bob@example.com", "--generate"], { env });
  match((await run()).stderr, /There are several accounts: --user EMAIL is required/);
  match(
    (await run("--user", "bob@example.com", "--role", "admin")).stderr,
    /cannot have a role above/,
  );
  equal((await run("--user", "Bob@Example.com")).code, 0);
});

for (
  const [args, error] of [
    [["create"], /needs NAME/],
    [["create", " "], /NAME must be one line/],
    [["create", "x", "--role", "root"], /--role must be one of/],
    [["create", "x", "--permissions", "containers:fly"], /invalid name: containers:fly/],
    [["create", "x", "--stacks", "a,,b"], /--stacks has an invalid name/],
    [["create", "x", "--days", "0"], /--days must be a number from 1 to 3650/],
    [["delete"], /needs one of create, list, revoke/],
  ] as const
) {
  Deno.test(`token ${args.join(" ")} is wrong usage`, async () => {
    const { code, stderr } = await runHere(["token", ...args]);
    equal(code, 2);
    match(stderr, error);
  });
}
