import { equal, match } from "node:assert/strict";
import { runHere } from "../helpers/command.ts";
import { startLongshore } from "../helpers/longshore.ts";

Deno.test("backup-key show prints the password of a target beside a running service", async () => {
  await using longshore = await startLongshore();
  const run = (...args: string[]) =>
    runHere(["backup-key", "show", ...args], { env: { DATA_DIR: longshore.dataDir } });
  match((await run()).stderr, /There are no backup targets/);

  const create = async (name: string) => {
    const location = `${longshore.dataDir}/snapshots/${name}`;
    const { body } = await longshore.call("POST", "/api/backup/targets", { name, location });
    equal(typeof body.newPassword, "string", JSON.stringify(body));
    return body.newPassword;
  };
  const [first, second] = [await create("first"), await create("second")];

  const shown = await run();
  equal(shown.stdout, `${first}\n`);
  match(shown.stderr, /first: .*\/snapshots\/first$/m);
  equal((await run("--target", "second")).stdout, `${second}\n`);
  const unknown = await run("--target", "third");
  equal(unknown.code, 1);
  match(unknown.stderr, /No backup target has the name third; there are: first, second/);

  const { body } = await longshore.call("GET", "/api/audit?limit=10");
  const entries = body.entries.map(({ action, target }: Record<string, string>) =>
    `${action} ${target}`
  );
  equal(entries.includes("longshore backup-key show second"), true, entries.join());
  const { stderr } = await runHere(["backup-key", "show"], {
    env: { DATA_DIR: longshore.dataDir, SECRET_KEY: "another" },
  });
  match(stderr, /add it again with its password\. If the service has SECRET_KEY/);
});
