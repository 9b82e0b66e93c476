/** The same behaviour of every storage behind a network, with real servers and real restic. */

import { deepEqual, equal, rejects } from "node:assert/strict";
import { createHash } from "node:crypto";
import { type Storage, StorageError } from "../../../../services/backup/restic/storage.ts";
import { createRestStorage } from "../../../../services/backup/storages/rest.ts";
import { createS3Storage } from "../../../../services/backup/storages/s3.ts";
import { LOOPBACK_ALLOWED } from "../../../helpers/fake_system.ts";
import {
  type FaultRule,
  REST_USER,
  S3_KEY,
  startFaultyProxy,
  startRest,
  startS3,
  type TargetServer,
} from "../../../helpers/target_servers.ts";
import { testConfig } from "../../../helpers/test_app.ts";

const { signal } = new AbortController();

const deps = {
  config: testConfig(LOOPBACK_ALLOWED),
  now: () => new Date(),
  requestLimits: { totalMs: 60_000, pauseMs: 1 },
};

const S3 = { bucket: "backups", prefix: "a/repo", region: "us-east-1", caCertificate: null };

const s3At = (endpoint: string, change = {}, limits = deps.requestLimits): Storage =>
  createS3Storage({ ...deps, requestLimits: limits }, { ...S3, ...S3_KEY, endpoint, ...change });

const restAt = (url: string, change = {}, limits = deps.requestLimits): Storage =>
  createRestStorage({ ...deps, requestLimits: limits }, {
    url: `${url}/a/repo`,
    ...REST_USER,
    caCertificate: null,
    ...change,
  });

interface Kind {
  name: string;
  start(): Promise<TargetServer>;
  startForRestic(): Promise<TargetServer>;
  open(url: string, change?: object, limits?: typeof deps.requestLimits): Storage;
  /** Of the repository in the requests of the server, e.g. `/a/repo/`. */
  path: string;
  resticUrl(url: string): string;
  resticEnv: Record<string, string>;
}

const KINDS: Kind[] = [
  {
    name: "S3",
    start: startS3,
    startForRestic: () => startS3({ allowMismatchedSignatures: true }),
    open: s3At,
    path: "/backups/a/repo/",
    resticUrl: (url) => `s3:${url}/backups/a/repo`,
    resticEnv: {
      AWS_ACCESS_KEY_ID: S3_KEY.accessKeyId,
      AWS_SECRET_ACCESS_KEY: S3_KEY.secretAccessKey,
    },
  },
  {
    name: "REST",
    start: () => startRest({ isPrivate: true }),
    startForRestic: () => startRest({ isPrivate: true }),
    open: restAt,
    path: "/a/repo/",
    resticUrl: (url) => {
      const { host } = new URL(url);
      const { username, userPassword } = REST_USER;
      return `rest:http://${username}:${encodeURIComponent(userPassword)}@${host}/a/repo/`;
    },
    resticEnv: {},
  },
];

const bytesOf = (text: string) => new TextEncoder().encode(text);
const idOf = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex");

const listed = async (storage: Storage, kind: Parameters<Storage["list"]>[0] = "data") =>
  (await Array.fromAsync(storage.list(kind, signal)))
    .sort((a, b) => a.name.localeCompare(b.name));

const isReason = (reason: StorageError["reason"], message = /./) => (error: unknown) =>
  error instanceof StorageError && error.reason === reason && message.test(error.message);

/** Fails the first `times` requests that begin like `start`. */
function failing(fault: ReturnType<FaultRule>, start: string, times: number): FaultRule {
  let left = times;
  return (request) => request.startsWith(start) && left-- > 0 ? fault : undefined;
}

for (const kind of KINDS) {
  const { name, start, open, path } = kind;
  const put = name === "S3" ? "PUT" : "POST";

  Deno.test(`${name}: files are written, listed, read in parts and removed`, async () => {
    await using server = await start();
    const storage = open(server.url);
    const pack = crypto.getRandomValues(new Uint8Array(65_000));
    const id = idOf(pack);

    deepEqual(await listed(storage), []);
    deepEqual(await listed(storage, "config"), []);
    await storage.write("data", id, pack, signal);
    await storage.write("data", id, pack, signal);
    await storage.write("keys", idOf(bytesOf("{}")), bytesOf("{}"), signal);

    deepEqual(await listed(storage), [{ name: id, size: 65_000 }]);
    deepEqual(await listed(storage, "keys"), [{ name: idOf(bytesOf("{}")), size: 2 }]);
    deepEqual(await listed(storage, "locks"), []);
    deepEqual(await storage.read("data", id, signal), pack);
    const range = { offset: 64_990, length: 10 };
    deepEqual(await storage.read("data", id, signal, range), pack.slice(-10));
    await rejects(
      storage.read("data", id, signal, { offset: 64_995, length: 10 }),
      isReason("damaged"),
    );
    await rejects(storage.read("data", idOf(bytesOf("no")), signal), isReason("not_found"));

    await storage.remove("data", id, signal);
    await storage.remove("data", id, signal);
    deepEqual(await listed(storage), []);
  });

  Deno.test(`${name}: a config is never replaced`, async () => {
    await using server = await start();
    const storage = open(server.url);

    await storage.write("config", "config", bytesOf("first"), signal);
    await storage.write("config", "config", bytesOf("first"), signal);
    const other = storage.write("config", "config", bytesOf("other"), signal);

    await rejects(other, isReason("exists", /already has config with other content/));
    deepEqual(await storage.read("config", "config", signal), bytesOf("first"));
    deepEqual(await listed(storage, "config"), [{ name: "config", size: 5 }]);
  });

  Deno.test(`${name}: restic finds what is written, and its files are found`, async () => {
    await using server = await kind.startForRestic();
    const storage = open(server.url);
    const restic = resticOf(kind, server.url);

    await restic("init");
    await restic("backup", import.meta.dirname!);
    const packs = (await restic("list", "packs")).trim().split("\n").sort();
    deepEqual((await listed(storage)).map(({ name }) => name), packs);
    for (const { name, size } of await listed(storage)) {
      const bytes = await storage.read("data", name, signal);
      equal(idOf(bytes), name);
      equal(bytes.length, size);
      await storage.remove("data", name, signal);
      await storage.write("data", name, bytes, signal);
    }
    await restic("check", "--read-data");
  });

  Deno.test(`${name}: requests are repeated after a failure that passes`, async () => {
    await using server = await start();
    const pack = crypto.getRandomValues(new Uint8Array(50_000));
    const id = idOf(pack);
    const faults: FaultRule[] = [];
    await using proxy = await startFaultyProxy(
      server.url,
      (request) => faults.map((rule) => rule(request)).find((fault) => fault !== undefined),
    );
    const storage = open(proxy.url);

    for (const fault of [500, 503, "cut"] as const) {
      faults.splice(0, 9, failing(fault, `${put} ${path}data`, 2), failing(fault, "GET", 2));
      await storage.write("data", id, pack, signal);
      deepEqual(await storage.read("data", id, signal), pack);
      deepEqual(await listed(storage), [{ name: id, size: 50_000 }]);
      faults.splice(0, 9, failing(fault, "DELETE", 2));
      await storage.remove("data", id, signal);
    }
  });

  Deno.test(`${name}: requests end in time, with a message without secrets`, async () => {
    await using server = await start();
    let fault: ReturnType<FaultRule> = "hang";
    await using proxy = await startFaultyProxy(server.url, () => fault);
    const storage = open(proxy.url, {}, { totalMs: 300, pauseMs: 1 });
    const host = new URL(proxy.url).host;

    const slow = await storage.read("config", "config", signal).catch((error) => error);
    equal(slow.message, `${host} did not answer in time; check that it works`);
    equal(slow.reason, "unreachable");
    fault = 503;
    await rejects(
      open(proxy.url).read("config", "config", signal),
      isReason("unreachable", new RegExp(`^${host} answered with status 503 several times`)),
    );
    fault = 302;
    await rejects(listed(storage), isReason("failed", /redirects elsewhere/));
    fault = 507;
    await rejects(
      storage.write("config", "config", bytesOf("x"), signal),
      isReason("full", /no room left/),
    );
  });

  Deno.test(`${name}: an aborted request ends with the signal's reason`, async () => {
    await using server = await start();
    const stop = new AbortController();
    await using proxy = await startFaultyProxy(server.url, () => {
      stop.abort(new Error("stopped"));
      return "hang";
    });
    await rejects(open(proxy.url).read("config", "config", stop.signal), /^Error: stopped$/);
  });

  Deno.test(`${name}: a target on this host is refused without OUTBOUND_ALLOW`, async () => {
    const strict = { ...deps, config: testConfig({}) };
    const storage = name === "S3"
      ? createS3Storage(strict, { ...S3, ...S3_KEY, endpoint: "http://127.0.0.1:9" })
      : createRestStorage(strict, { url: "http://127.0.0.1:9", ...REST_USER, caCertificate: null });
    await rejects(listed(storage), isReason("unreachable", /OUTBOUND_ALLOW/));
  });
}

Deno.test("S3: wrong credentials, a missing bucket and changed bytes are named", async () => {
  await using server = await startS3();
  const pack = bytesOf("pack");
  const id = idOf(pack);

  await rejects(
    listed(s3At(server.url, { secretAccessKey: "another secret" })),
    isReason("forbidden", /correct secretAccessKey/),
  );
  await rejects(
    listed(s3At(server.url, { accessKeyId: "UNKNOWN" }), "config"),
    isReason("forbidden", /correct accessKeyId/),
  );
  for (
    const ask of [
      (storage: Storage) => listed(storage),
      (storage: Storage) => storage.read("data", id, signal),
      (storage: Storage) => storage.write("data", id, pack, signal),
      (storage: Storage) => storage.remove("data", id, signal),
    ]
  ) {
    await rejects(
      ask(s3At(server.url, { bucket: "missing" })),
      isReason("failed", /bucket missing: the bucket does not exist; create it/),
    );
  }
  await using proxy = await startFaultyProxy(
    server.url,
    (request) => request.startsWith("PUT") ? "change upload" : undefined,
  );
  await rejects(s3At(proxy.url).write("data", id, pack, signal), isReason("damaged"));
});

Deno.test("S3: a write that the server confirms and loses is not listed", async () => {
  await using server = await startS3();
  await using proxy = await startFaultyProxy(
    server.url,
    (request) => request.startsWith("PUT") ? "lose" : undefined,
  );
  const pack = bytesOf("pack");
  await s3At(proxy.url).write("data", idOf(pack), pack, signal);
  deepEqual(await listed(s3At(proxy.url)), []);
});

Deno.test("S3: Amazon's hosts take the bucket in their name", async () => {
  // The server would verify a signature of the path with the bucket.
  await using server = await startS3({ allowMismatchedSignatures: true });
  const { port } = new URL(server.url);
  const storage = createS3Storage({ ...deps, resolve: () => Promise.resolve(["127.0.0.1"]) }, {
    ...S3,
    ...S3_KEY,
    endpoint: `http://s3.eu-central-1.amazonaws.com:${port}`,
  });
  const pack = bytesOf("pack");
  await storage.write("data", idOf(pack), pack, signal);
  deepEqual(await listed(storage), await listed(s3At(server.url)));
  equal((await listed(storage)).length, 1);
});

Deno.test("S3: lists of several pages are read to their end, and other objects are not files", async () => {
  const ids = ["1", "2", "3"].map((each) => each.repeat(64));
  const keyOf = (id: string) => `a/repo/data/${id.slice(0, 2)}/${id}`;
  const pages: Record<string, string> = {
    "": page("b+/=", keyOf(ids[0]!), `a/repo/data/${ids[1]}`, "a/repo/data/11/x"),
    "b+/=": page("c", keyOf(ids[1]!), `b/repo/data/33/${ids[2]}`),
    c: page(undefined, keyOf(ids[2]!)).replace("true", "false"),
  };
  await using server = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen() {} }, (request) => {
    const { searchParams } = new URL(request.url);
    equal(searchParams.get("prefix"), "a/repo/data/");
    return new Response(pages[searchParams.get("continuation-token") ?? ""]);
  });
  const storage = s3At(`http://127.0.0.1:${server.addr.port}`);
  deepEqual(await listed(storage), ids.map((name) => ({ name, size: 7 })));
});

Deno.test("S3: a checksum that the server keeps is read, and nothing else", async () => {
  const pack = bytesOf("pack");
  const sha256 = createHash("sha256").update(pack).digest();
  for (
    const { header, expected } of [
      { header: sha256.toString("base64"), expected: idOf(pack) },
      { header: `${sha256.toString("base64")}-2`, expected: undefined },
      { header: "x", expected: undefined },
    ]
  ) {
    await using server = Deno.serve(
      { port: 0, hostname: "127.0.0.1", onListen() {} },
      () => new Response(null, { headers: { "x-amz-checksum-sha256": header } }),
    );
    const storage = s3At(`http://127.0.0.1:${server.addr.port}`);
    equal(await storage.checksum!("data", idOf(pack), signal), expected);
  }
});

for (
  const { code, status, reason, message } of [
    {
      code: "PermanentRedirect",
      status: 301,
      reason: "failed",
      message: /the bucket is in another region; set region to eu-central-1$/,
    },
    { code: "AccessDenied", status: 403, reason: "forbidden", message: /allow .+ s3:GetObject/ },
    { code: "RequestTimeTooSkewed", status: 403, reason: "forbidden", message: /clock/ },
    { code: "XMinioStorageFull", status: 507, reason: "full", message: /disks are full/ },
    { code: "Strange", status: 418, reason: "failed", message: /status 418; .+ \(Strange\)$/ },
    { code: "<b>secret</b>", status: 418, reason: "failed", message: /status 418; [a-z ]+$/ },
  ] as const
) {
  Deno.test(`S3: an answer with the code ${code} says what to do`, async () => {
    await using server = Deno.serve(
      { port: 0, hostname: "127.0.0.1", onListen() {} },
      () =>
        new Response(`<Error><Code>${code}</Code><Region>eu-central-1</Region></Error>`, {
          status,
        }),
    );
    const storage = s3At(`http://127.0.0.1:${server.addr.port}`);
    await rejects(storage.read("config", "config", signal), isReason(reason, message));
  });
}

Deno.test("REST: a server that is append-only refuses removal by name, except of locks", async () => {
  await using server = await startRest({ isAppendOnly: true });
  const storage = restAt(server.url);
  const bytes = bytesOf("x");
  const id = idOf(bytes);
  for (const kind of ["data", "locks"] as const) await storage.write(kind, id, bytes, signal);
  await storage.write("data", id, bytes, signal);

  await storage.remove("locks", id, signal);
  await rejects(storage.remove("data", id, signal), isReason("forbidden", /append-only/));
});

Deno.test("REST: missing and wrong credentials are named", async () => {
  await using server = await startRest({ isPrivate: true });
  await rejects(
    listed(restAt(server.url, { username: null })),
    isReason("forbidden", /; set username and userPassword$/),
  );
  await rejects(
    listed(restAt(server.url, { userPassword: "wrong" })),
    isReason("forbidden", /; correct username and userPassword$/),
  );
});

Deno.test("REST: a server of version 1 lists names, whose sizes are asked for", async () => {
  const id = idOf(bytesOf("12345"));
  await using server = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen() {} }, (request) => {
    const { pathname } = new URL(request.url);
    if (pathname === "/a/repo/data/") return Response.json([id, "other", "0".repeat(64)]);
    if (pathname !== `/a/repo/data/${id}`) return new Response(null, { status: 404 });
    return new Response(request.method === "HEAD" ? null : "12345", {
      headers: { "content-length": "5" },
    });
  });
  const storage = restAt(`http://127.0.0.1:${server.addr.port}`);
  deepEqual(await listed(storage), [{ name: id, size: 5 }]);
});

for (const answer of ["<html>", "{}", '[{"name": 5}]', '[{"name": "x", "size": -1}]']) {
  Deno.test(`REST: a list like ${answer} is refused`, async () => {
    await using server = Deno.serve(
      { port: 0, hostname: "127.0.0.1", onListen() {} },
      () => new Response(answer),
    );
    await rejects(
      listed(restAt(`http://127.0.0.1:${server.addr.port}`)),
      isReason("failed", /check that it speaks restic's REST protocol/),
    );
  });
}

for (
  const { what, answer } of [
    { what: "a page that names itself as the next", answer: page("same") },
    { what: "a page without the next", answer: page(undefined) },
    { what: "another document", answer: "<html><body>Welcome</body></html>" },
    { what: "a document type", answer: `<!DOCTYPE x [<!ENTITY a "b">]>${page("x")}` },
  ]
) {
  Deno.test(`S3: a list with ${what} is refused`, async () => {
    await using server = Deno.serve(
      { port: 0, hostname: "127.0.0.1", onListen() {} },
      () => new Response(answer),
    );
    await rejects(listed(s3At(`http://127.0.0.1:${server.addr.port}`)), isReason("failed"));
  });
}

function page(next: string | undefined, ...keys: string[]): string {
  const contents = keys.map((key) => `<Contents><Key>${key}</Key><Size>7</Size></Contents>`);
  return `<ListBucketResult><IsTruncated>true</IsTruncated>${contents.join("")}${
    next === undefined ? "" : `<NextContinuationToken>${next}</NextContinuationToken>`
  }</ListBucketResult>`;
}

function resticOf({ resticUrl, resticEnv }: Kind, url: string) {
  return async (...args: string[]): Promise<string> => {
    const { code, stdout, stderr } = await new Deno.Command("restic", {
      args: ["--no-cache", "-r", resticUrl(url), ...args],
      env: { ...resticEnv, RESTIC_PASSWORD: "secret" },
      stdin: "null",
    }).output();
    const text = new TextDecoder();
    if (code !== 0) throw new Error(`restic ${args[0]}: ${text.decode(stderr)}`);
    return text.decode(stdout);
  };
}
