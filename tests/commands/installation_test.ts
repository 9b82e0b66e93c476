import { deepEqual, equal, match } from "node:assert/strict";
import { defaultDataDir } from "../../commands/installation.ts";
import { findRunningService, LOCK_FILE } from "../../commands/running_service.ts";
import { contentOf, runHere, temporaryDirectory } from "../helpers/command.ts";
import { startLongshore } from "../helpers/longshore.ts";

Deno.test("/var/lib/longshore is used only if ./data does not exist", () => {
  using directory = temporaryDirectory();
  const [local, system] = [`${directory.path}/data`, `${directory.path}/var`];
  equal(defaultDataDir(local, system), local);
  Deno.mkdirSync(system);
  equal(defaultDataDir(local, system), system);
  Deno.mkdirSync(local);
  equal(defaultDataDir(local, system), local);
});

Deno.test("commands beside a running service know its mode without its environment", async () => {
  await using longshore = await startLongshore({
    env: { AUTH_MODE: "users", ADMIN_PASSWORD: "correct horse battery" },
  });
  const { dataDir } = longshore;
  const add = (email: string) =>
    runHere(["user", "add", email, "--generate"], { env: { DATA_DIR: dataDir } });

  const beside = await add("a@example.com");

  equal(beside.code, 0);
  equal(beside.stderr.includes("key mode"), false);
  await longshore.stop();
  const alone = await add("b@example.com");
  equal(alone.stderr.includes("key mode"), false);
  equal(contentOf(dataDir)["longshore.lock"], "");
});

for (
  const { name, variables, isFound } of [
    {
      name: "variables of any length",
      variables: { SERVER_NAME: "x".repeat(8_000) },
      isFound: true,
    },
    { name: "no variables", variables: undefined, isFound: true },
    { name: "a variable that is not text", variables: { SERVER_NAME: 1 }, isFound: false },
    { name: "variables that are a list", variables: ["x"], isFound: false },
  ]
) {
  Deno.test(`a running service with ${name} is ${isFound ? "found" : "left out"}`, () => {
    using directory = temporaryDirectory();
    const service = { pid: 1, authMode: null, address: "http://localhost:3000", given: [] };
    const path = `${directory.path}/${LOCK_FILE}`;
    Deno.writeTextFileSync(path, JSON.stringify({ ...service, variables }));
    using lock = Deno.openSync(path);
    lock.lockSync(true);
    const expected = isFound ? { ...service, variables: variables ?? {} } : undefined;
    deepEqual(findRunningService(directory.path), expected);
  });
}

Deno.test("license commands need the LICENSE_KEY that the running service has", async () => {
  await using longshore = await startLongshore({ env: { LICENSE_KEY: "a.b.c" } });
  const env = { DATA_DIR: longshore.dataDir };
  const { code, stderr } = await runHere(["license", "show"], { env });
  equal(code, 1);
  match(stderr, /^longshore: The running service \(process \d+\) has LICENSE_KEY in its env/);
  equal((await runHere(["license", "show"], { env: { ...env, LICENSE_KEY: "x" } })).code, 0);
});

Deno.test("a command without a data directory says what it needs and creates none", async () => {
  using directory = temporaryDirectory();
  const dataDir = `${directory.path}/data`;
  for (
    const args of [
      ["user", "list"],
      ["license", "show"],
      ["backup", `${directory.path}/b.tar`],
      ["ip-allowlist", "off"],
      ["compliance", "verify"],
      ["key", "new"],
    ]
  ) {
    const { code, stderr } = await runHere(args, { env: { DATA_DIR: dataDir } });
    equal(code, 1, args.join(" "));
    match(stderr, /^longshore: DATA_DIR=\S+ has no state\.sqlite: [^\n]+\n$/);
  }
  deepEqual([...Deno.readDirSync(directory.path)], []);
});
