import { deepEqual, equal, match } from "node:assert/strict";
import { reloadLicense } from "../../../../services/access/license/watcher.ts";
import { createLicense } from "../../../../services/access/license/license.ts";
import { loadLicense, storeLicenseKey } from "../../../../services/access/license/source.ts";
import { silentLog } from "../../../../services/log.ts";
import { temporaryDirectory } from "../../../helpers/command.ts";
import { licenseKeyFor, writeLicenseKeys } from "../../../helpers/licenses.ts";
import { testConfig } from "../../../helpers/test_app.ts";

const now = () => new Date("2026-01-01T00:00:00Z");

function installation(dataDir: string, changes = {}) {
  const config = testConfig({ dataDir, licenseKeysFile: writeLicenseKeys(dataDir), ...changes });
  return { config, license: createLicense(now), log: silentLog };
}

Deno.test("a license file that is put in place, replaced or removed by hand is noticed", async () => {
  using directory = temporaryDirectory();
  const deps = installation(directory.path);
  let seen = await reloadLicense(deps, "");
  equal(deps.license.edition, "ce");

  storeLicenseKey(deps.config, await licenseKeyFor({ now: now() }));
  seen = await reloadLicense(deps, seen);
  equal(deps.license.edition, "pro");

  storeLicenseKey(deps.config, await licenseKeyFor({ now: now(), edition: "enterprise" }));
  seen = await reloadLicense(deps, seen);
  equal(deps.license.edition, "enterprise");

  Deno.writeTextFileSync(`${directory.path}/license.key`, "half a li");
  seen = await reloadLicense(deps, seen);
  equal(deps.license.edition, "ce");
  match(deps.license.problem!, /not signed by a known key/);

  Deno.removeSync(`${directory.path}/license.key`);
  await reloadLicense(deps, seen);
  deepEqual([deps.license.edition, deps.license.problem], ["ce", null]);
});

Deno.test("a license file that came and went between two looks leaves no license behind", async () => {
  using directory = temporaryDirectory();
  const deps = installation(directory.path);
  const seen = await reloadLicense(deps, "");

  storeLicenseKey(deps.config, await licenseKeyFor({ now: now() }));
  await loadLicense(deps.license, deps.config, silentLog);
  equal(deps.license.edition, "pro");
  Deno.removeSync(`${directory.path}/license.key`);
  await reloadLicense(deps, seen);

  equal(deps.license.edition, "ce");
});

Deno.test("a license of the environment stays, whatever file comes", async () => {
  using directory = temporaryDirectory();
  const deps = installation(directory.path, { licenseKey: await licenseKeyFor({ now: now() }) });
  await loadLicense(deps.license, deps.config, silentLog);
  storeLicenseKey(deps.config, "something else");
  await reloadLicense(deps, "");
  equal(deps.license.edition, "pro");
});

Deno.test("a file that is not a license does not stop the start and is reported", async () => {
  using directory = temporaryDirectory();
  const deps = installation(directory.path);
  const path = `${directory.path}/license.key`;
  Deno.mkdirSync(path);
  await loadLicense(deps.license, deps.config, silentLog);
  match(deps.license.problem!, /license\.key cannot be read/);
  Deno.removeSync(path);

  Deno.writeTextFileSync(path, "x".repeat(70_000));
  await loadLicense(deps.license, deps.config, silentLog);
  match(deps.license.problem!, /too large/);

  Deno.writeTextFileSync(path, " \n");
  await loadLicense(deps.license, deps.config, silentLog);
  equal(deps.license.problem, null);
});

for (const text of ["no JSON", "{}", "null"]) {
  Deno.test(`LICENSE_KEYS_FILE with ${text} is told`, async () => {
    using directory = temporaryDirectory();
    const deps = installation(directory.path);
    Deno.writeTextFileSync(deps.config.licenseKeysFile!, text);
    storeLicenseKey(deps.config, await licenseKeyFor({ now: now() }));
    await loadLicense(deps.license, deps.config, silentLog);
    match(deps.license.problem!, /LICENSE_KEYS_FILE=.* cannot be used/);
  });
}
