import { deepEqual, equal, match } from "node:assert/strict";
import { join } from "node:path";
import { createSecrets } from "../../../services/secrets/secrets.ts";
import { temporaryDirectory } from "../../helpers/command.ts";
import { LOOPBACK_ALLOWED } from "../../helpers/fake_system.ts";
import {
  REST_USER,
  S3_KEY,
  startFaultyProxy,
  startRest,
  startS3,
} from "../../helpers/target_servers.ts";
import { type TestApp, testApp } from "../../helpers/test_app.ts";
import { until } from "../../helpers/until.ts";

const TARGETS = "/api/backup/targets";

/** An application with `DATA_DIR` and one of BACKUP_DIRS in a directory of their own. */
async function targetsApp(more: Record<string, unknown> = {}) {
  const directory = temporaryDirectory();
  const dataDir = join(directory.path, "data");
  const backups = join(directory.path, "backups");
  for (const path of [dataDir, backups]) await Deno.mkdir(path);
  const app = testApp({
    now: "2026-01-01T12:00:00Z",
    config: { ...LOOPBACK_ALLOWED, dataDir, backupDirs: [backups], ...more },
  });
  return {
    app,
    dataDir,
    backups,
    create: (body: unknown) => app.call("POST", TARGETS, body),
    [Symbol.dispose]() {
      app[Symbol.dispose]();
      directory[Symbol.dispose]();
    },
  };
}

async function restic(repository: string, password: string, ...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await new Deno.Command("restic", {
    args: ["--no-cache", "-r", repository, ...args],
    env: { RESTIC_PASSWORD: password },
    stdin: "null",
  }).output();
  const text = new TextDecoder();
  if (code !== 0) throw new Error(`restic ${args[0]}: ${text.decode(stderr)}`);
  return text.decode(stdout);
}

const secretsIn = (app: TestApp) => JSON.stringify(app.deps.db.all("SELECT * FROM backup_targets"));

Deno.test("POST /api/backup/targets creates a repository that restic opens with the made password", async () => {
  using t = await targetsApp();
  const { status, body: { newPassword, ...target } } = await t.create({ name: "local" });

  equal(status, 201);
  match(newPassword, /^[\w-]{43}$/);
  equal(typeof target.room, "number");
  deepEqual(target, {
    id: target.id,
    name: "local",
    location: join(t.dataDir, "snapshots"),
    kind: "directory",
    password: "********",
    accessKeyId: null,
    secretAccessKey: null,
    region: null,
    username: null,
    userPassword: null,
    caCertificate: null,
    default: true,
    room: target.room,
    lastTestAt: null,
    lastTestError: null,
    lastCheckAt: null,
    lastCheckError: null,
    createdAt: "2026-01-01T12:00:00.000Z",
    updatedAt: "2026-01-01T12:00:00.000Z",
  });
  equal((await restic(target.location, newPassword, "list", "snapshots")).trim(), "");
  const { status: found, body: { room: _, ...again } } = await t.app.call(
    "GET",
    `${TARGETS}/${target.id}`,
  );
  equal(found, 200);
  deepEqual({ ...again, room: target.room }, target);
  equal(secretsIn(t.app).includes(newPassword), false);
});

Deno.test("a repository that exists is joined with its password only", async () => {
  using t = await targetsApp();
  const location = join(t.backups, "old");
  await restic(location, "the password", "init");

  const without = await t.create({ name: "old", location });
  deepEqual([without.status, without.body.error], [
    400,
    "body.password: is required, because the location has a repository",
  ]);
  const wrong = await t.create({ name: "old", location, password: "another" });
  deepEqual([wrong.status, wrong.body.error], [
    400,
    "The password does not open the repository; correct it",
  ]);
  deepEqual((await t.app.call("GET", TARGETS)).body, { targets: [] });

  const joined = await t.create({ name: "old", location, password: "the password" });
  deepEqual([joined.status, joined.body.newPassword], [201, null]);
});

Deno.test("targets on servers are created, tested and deleted, and their repositories stay", async () => {
  await using s3 = await startS3();
  await using rest = await startRest({ isPrivate: true });
  using t = await targetsApp();
  const targets = [
    { name: "s3", location: `s3:${s3.url}/backups/a/b`, ...S3_KEY, region: "eu-central-1" },
    { name: "rest", location: `rest:${rest.url}/repo`, ...REST_USER },
  ];
  for (const target of targets) {
    const created = await t.create(target);
    equal(created.status, 201, JSON.stringify(created.body));
    const { id, newPassword } = created.body;
    const tested = await t.app.call("POST", `${TARGETS}/${id}/test`);
    deepEqual([tested.body.ok, tested.body.error], [true, null]);
    const { lastTestAt } = (await t.app.call("GET", `${TARGETS}/${id}`)).body;
    equal(lastTestAt, "2026-01-01T12:00:00.000Z");

    equal((await t.app.call("DELETE", `${TARGETS}/${id}`)).status, 200);
    equal((await t.app.call("GET", `${TARGETS}/${id}`)).status, 404);
    const again = await t.create({ ...target, password: newPassword });
    deepEqual([again.status, again.body.newPassword], [201, null]);
  }
  equal(secretsIn(t.app).includes(REST_USER.userPassword), false);
});

Deno.test("a target that fails while it is created is not stored, and the next attempt creates it", async () => {
  await using s3 = await startS3();
  let isFailing = true;
  await using proxy = await startFaultyProxy(
    s3.url,
    (request) => isFailing && request.startsWith("PUT") ? 403 : undefined,
  );
  using t = await targetsApp();
  const target = { name: "s3", location: `s3:${proxy.url}/backups/x`, ...S3_KEY };

  const failed = await t.create(target);
  equal(failed.status, 502);
  match(failed.body.error, /access denied; allow the access key s3:PutObject$/);
  deepEqual((await t.app.call("GET", TARGETS)).body, { targets: [] });
  isFailing = false;
  equal((await t.create(target)).status, 201);
});

Deno.test("POST …/:id/test says what is wrong, and the list shows it", async () => {
  await using rest = await startRest();
  const faults: 401[] = [];
  await using proxy = await startFaultyProxy(rest.url, () => faults[0]);
  using t = await targetsApp();
  const { body: { id } } = await t.create({ name: "rest", location: `rest:${proxy.url}/` });

  faults.push(401);
  const { body } = await t.app.call("POST", `${TARGETS}/${id}/test`);
  const host = new URL(proxy.url).host;
  deepEqual([body.ok, body.error], [
    false,
    `${host} refuses the user; set username and userPassword`,
  ]);
  const [listed] = (await t.app.call("GET", TARGETS)).body.targets;
  equal(listed.lastTestError, body.error);
});

Deno.test("POST …/:id/test says that the repository is gone, e.g. because a share is not mounted", async () => {
  using t = await targetsApp();
  const location = join(t.backups, "share");
  const { body: { id } } = await t.create({ name: "share", location });
  await Deno.remove(location, { recursive: true });
  await Deno.mkdir(location);
  const { body } = await t.app.call("POST", `${TARGETS}/${id}/test`);
  deepEqual([body.ok, body.error], [
    false,
    "The location has no repository; add the target again to create one",
  ]);
  equal((await t.app.call("GET", `${TARGETS}/${id}`)).body.lastTestError, body.error);
});

Deno.test("credentials stay with their server", async () => {
  await using rest = await startRest({ isPrivate: true });
  await using other = await startFaultyProxy(rest.url, () => undefined);
  using t = await targetsApp();
  const location = `rest:${rest.url}/repo`;
  const { body: { id, newPassword } } = await t.create({ name: "rest", location, ...REST_USER });
  const change = (body: unknown) => t.app.call("PUT", `${TARGETS}/${id}`, body);
  const elsewhere = `rest:${other.url}/repo`;

  for (
    const { sent, error } of [
      { sent: {}, error: "body.userPassword: is required with username" },
      {
        sent: { userPassword: "********" },
        error: "body.userPassword: give it again, the address changed",
      },
      {
        sent: { userPassword: REST_USER.userPassword, password: "********" },
        error: "body.password: give it again, the address changed",
      },
      {
        sent: { userPassword: REST_USER.userPassword },
        error: "body.password: is required, because the location has a repository",
      },
    ]
  ) {
    const answer = await change({ location: elsewhere, ...sent });
    deepEqual([answer.status, answer.body.error], [400, error]);
  }
  deepEqual(other.requests.filter((request) => !request.startsWith("HEAD")), []);

  const { userPassword } = REST_USER;
  const moved = await change({ location: elsewhere, userPassword, password: newPassword });
  deepEqual([moved.status, moved.body.location], [200, elsewhere]);
  const path = await change({ location: `rest:${other.url}/new`, userPassword: "********" });
  deepEqual([path.status, path.body.newPassword], [200, null]);
  equal((await change({ userPassword: "********", name: "renamed" })).body.name, "renamed");
});

Deno.test("an unchanged target is renamed and made the default without its server", async () => {
  using t = await targetsApp();
  const { body: first } = await t.create({ name: "first" });
  const second = await t.create({ name: "second", location: join(t.backups, "2"), default: true });
  await Deno.remove(t.backups, { recursive: true });
  const defaults = async () =>
    (await t.app.call("GET", TARGETS)).body.targets
      .map(({ name, default: is }: Record<string, unknown>) => `${name} ${is}`);
  deepEqual(await defaults(), ["first false", "second true"]);

  const { id, newPassword: _, ...body } = second.body;
  for (const field of ["room", "kind", "createdAt", "updatedAt"]) delete body[field];
  for (const field of Object.keys(body)) if (field.startsWith("last")) delete body[field];
  const renamed = await t.app.call("PUT", `${TARGETS}/${id}`, { ...body, name: "z" });
  deepEqual([renamed.status, renamed.body.name], [200, "z"], JSON.stringify(renamed.body));
  await t.app.call("PUT", `${TARGETS}/${first.id}`, { default: true });
  deepEqual(await defaults(), ["first true", "z false"]);
  const taken = await t.app.call("PUT", `${TARGETS}/${id}`, { name: "first" });
  deepEqual([taken.status, taken.body.error], [409, "Backup target first already exists"]);
});

Deno.test("a directory outside of DATA_DIR/snapshots and BACKUP_DIRS is refused", async () => {
  using t = await targetsApp();
  await Deno.mkdir(join(t.backups, "theirs"));
  await Deno.writeTextFile(join(t.backups, "theirs", "file"), "");
  await Deno.symlink(t.dataDir, join(t.backups, "link"));
  const outside =
    /^body\.location: Directory \S+ must be below DATA_DIR\/snapshots or one of BACKUP_DIRS/;
  for (
    const { location, error } of [
      { location: t.dataDir, error: outside },
      { location: join(t.dataDir, "other"), error: outside },
      { location: `${t.dataDir}/snapshots/../x`, error: outside },
      { location: `${t.dataDir}/snapshots-2`, error: outside },
      { location: "/etc/longshore", error: outside },
      { location: `${t.backups}/link/new`, error: outside },
      { location: `${t.backups}/theirs`, error: /has other files; choose an empty or a new/ },
      { location: "relative", error: /must be an absolute path, s3:https:/ },
      { location: "/", error: /whole file system/ },
    ]
  ) {
    const { status, body } = await t.create({ name: "x", location });
    equal(status, 400, location);
    match(body.error, error);
  }
  equal((await t.create({ name: "x", location: `${t.backups}/new/deep` })).status, 201);
});

Deno.test("BACKUP_DIRS that include DATA_DIR do not open it", async () => {
  using t = await targetsApp();
  using all = await targetsApp({ backupDirs: ["/tmp", t.dataDir], dataDir: t.dataDir });
  for (const location of [t.dataDir, join(t.dataDir, "x"), join(t.dataDir, "..")]) {
    const { status, body } = await all.create({ name: "x", location });
    equal(status, 400);
    match(body.error, /^body\.location: Directory \S+ must be below/);
  }
});

for (
  const { what, body, error } of [
    {
      what: "credentials of another kind",
      body: { accessKeyId: "x" },
      error: "body.accessKeyId: is not for a directory; omit it",
    },
    {
      what: "S3 without keys",
      body: { location: "s3:https://s3.example.com/bucket" },
      error: "body.accessKeyId: is required for an S3 target",
    },
    {
      what: "S3 without a bucket",
      body: { location: "s3:https://s3.example.com/", ...S3_KEY },
      error: "body.location: must have the name of a bucket after the host",
    },
    {
      what: "a password in the location",
      body: { location: "rest:https://user:pw@nas.example.com/" },
      error: /^body\.location: contains a user name or password, which is not allowed; it must be/,
    },
    {
      what: "a path that is encoded",
      body: { location: "rest:https://nas.example.com/a%2f..%2fb" },
      error: /^body\.location: the path may have letters/,
    },
    {
      what: "a query",
      body: { location: "rest:https://nas.example.com/?create=true" },
      error: "body.location: must not have a query or a fragment",
    },
    {
      what: "cloud metadata",
      body: { location: "rest:http://169.254.169.254/latest" },
      error: /^body\.location: .* may not reach; an operator can list it in OUTBOUND_ALLOW$/,
    },
    {
      what: "a redacted password",
      body: { password: "********" },
      error: 'body.password: "********" keeps a stored value, and there is none',
    },
    {
      what: "a certificate that is none",
      body: { location: "rest:https://nas.example.com/", caCertificate: "x" },
      error: "body.caCertificate: must be certificates in PEM and nothing else",
    },
  ]
) {
  Deno.test(`POST /api/backup/targets refuses ${what}`, async () => {
    using t = await targetsApp();
    const answer = await t.create({ name: "x", ...body });
    equal(answer.status, 400);
    if (typeof error === "string") equal(answer.body.error, error);
    else match(answer.body.error, error);
  });
}

Deno.test("two targets cannot have the same repository, in any spelling", async () => {
  using t = await targetsApp();
  const location = join(t.backups, "a");
  equal((await t.create({ name: "a", location })).status, 201);
  const { status, body } = await t.create({ name: "b", location: `${t.backups}//x/../a/` });
  deepEqual([status, body.error], [409, "Backup target a already has this location"]);
});

Deno.test("secrets that cannot be decrypted say what to do", async () => {
  using t = await targetsApp();
  const { body: { id } } = await t.create({ name: "a" });
  t.app.deps.secrets = createSecrets({
    jwtSecret: new Uint8Array(32),
    secretKey: crypto.getRandomValues(new Uint8Array(32)),
  });
  const { body } = await t.app.call("POST", `${TARGETS}/${id}/test`);
  match(body.error, /delete the target a and add it again with its password$/);
});

Deno.test("a repository is checked, pruned and unlocked by jobs, and the list shows the check", async () => {
  using t = await targetsApp();
  const { body: { id, location, newPassword } } = await t.create({ name: "local" });
  const run = async (action: string, body: unknown) => {
    const { status, body: job } = await t.app.call("POST", `${TARGETS}/${id}/${action}`, body);
    equal(status, 202, JSON.stringify(job));
    return await until(`${action} has ended`, async () => {
      const { body: now } = await t.app.call("GET", `/api/jobs/${job.id}`);
      return now.endedAt !== null && now;
    });
  };
  await restic(location, newPassword, "backup", import.meta.filename!);

  const checked = await run("check", { readDataSubset: "1/1" });
  deepEqual([checked.status, checked.result.problemCount, checked.result.snapshots], [
    "succeeded",
    0,
    1,
  ]);
  const forgotten = await run("forget", { last: 1 });
  deepEqual([forgotten.status, forgotten.result], ["succeeded", { kept: 0, removed: 0 }]);
  const pruned = await run("prune", { dryRun: true });
  deepEqual([pruned.status, pruned.result.bytesFreed], ["succeeded", 0]);
  const unlocked = await run("unlock", {});
  deepEqual([unlocked.status, unlocked.result], ["succeeded", { removed: 0 }]);

  for await (const { name } of Deno.readDir(join(location, "index"))) {
    await Deno.remove(join(location, "index", name));
  }
  const damaged = await run("check", {});
  equal(damaged.status, "failed");
  match(damaged.error, /problems? found, the first: /);
  const [target] = (await t.app.call("GET", TARGETS)).body.targets;
  deepEqual([target.lastCheckAt, target.lastCheckError], [
    "2026-01-01T12:00:00.000Z",
    damaged.error,
  ]);
});
