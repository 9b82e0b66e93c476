import { deepEqual, equal, match } from "node:assert/strict";
import { runHere, temporaryDirectory } from "../helpers/command.ts";
import { licenseKeyFor, writeLicenseKeys } from "../helpers/licenses.ts";
import { startLongshore } from "../helpers/longshore.ts";
import { until } from "../helpers/until.ts";

Deno.test(
  "an installed license is shown, and a running service applies it",
  async () => {
    using directory = temporaryDirectory();
    const LICENSE_KEYS_FILE = writeLicenseKeys(directory.path);
    const file = `${directory.path}/license.txt`;
    Deno.writeTextFileSync(file, `${await licenseKeyFor()}\n`);
    await using longshore = await startLongshore({ env: { LICENSE_KEYS_FILE } });
    const env = { LICENSE_KEYS_FILE, DATA_DIR: longshore.dataDir };

    const before = await runHere(["license", "show"], { env });
    equal(before.code, 0);
    match(before.stdout, /^Edition {4}ce\nLimits {5}webhooks 50, /);
    const installed = await runHere(["license", "install", file], { env });
    equal(installed.code, 0, installed.stderr);
    match(installed.stdout, /^Installed: pro for Harbour Ltd until \d{4}-/);
    equal(Deno.statSync(`${longshore.dataDir}/license.key`).mode! & 0o777, 0o600);
    match((await runHere(["license", "show"], { env })).stdout, /^Customer {3}Harbour Ltd$/m);

    await until("the service has it", async () => {
      return (await longshore.call("GET", "/api/edition")).body.edition === "pro";
    });

    const enterprise = await licenseKeyFor({ edition: "enterprise" });
    const piped = await runHere(["license", "install", "-"], { env, stdin: enterprise });
    equal(piped.code, 0, piped.stderr);
    await until("the service has that one", async () => {
      return (await longshore.call("GET", "/api/edition")).body.edition === "enterprise";
    });
  },
);

Deno.test("an invalid license is refused with one sentence and not installed", async () => {
  using directory = temporaryDirectory();
  const { path } = directory;
  Deno.mkdirSync(`${path}/data`);
  const env = { DATA_DIR: `${path}/data`, LICENSE_KEYS_FILE: writeLicenseKeys(path) };
  const write = (name: string, text: string) => Deno.writeTextFileSync(`${path}/${name}`, text);
  write("bad", "nonsense");
  write("ended", await licenseKeyFor({ days: -20 }));
  write("good", await licenseKeyFor());
  write("large", "x".repeat(70_000));
  for (
    const { file, changes = {}, says } of [
      { file: "bad", says: /not signed by a known key/ },
      { file: "ended", says: /The license expired on / },
      { file: "large", says: /too large to be a license/ },
      { file: "none", says: /none cannot be read/ },
      { file: "good", changes: { LICENSE_KEYS_FILE: "" }, says: /has no license keys/ },
      {
        file: "good",
        changes: { LICENSE_KEY: "x" },
        says: /LICENSE_KEY is set in the environment/,
      },
      { file: "good", changes: { DATA_DIR: `${path}/none` }, says: /cannot be written/ },
    ]
  ) {
    const { code, stdout, stderr } = await runHere(["license", "install", `${path}/${file}`], {
      env: { ...env, ...changes },
    });
    deepEqual([code, stdout], [1, ""], file);
    match(stderr, /^longshore: [^\n]+\n$/);
    match(stderr, says);
  }
  deepEqual([...Deno.readDirSync(`${path}/data`)], []);
});

Deno.test("license show says why a license is not valid", async () => {
  using directory = temporaryDirectory();
  Deno.writeTextFileSync(`${directory.path}/license.key`, "nonsense");
  const { code, stdout } = await runHere(["license", "show"], {
    env: { DATA_DIR: directory.path, LICENSE_KEYS_FILE: writeLicenseKeys(directory.path) },
  });
  equal(code, 0);
  match(stdout, /^Problem {4}The license key is not signed by a known key$/m);
});
