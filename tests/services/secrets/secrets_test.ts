import { deepEqual, equal, match, notEqual, throws } from "node:assert/strict";
import { createLog, silentLog } from "../../../services/log.ts";
import { KeyFileError } from "../../../services/errors.ts";
import { createSecrets, loadSecrets, SealError } from "../../../services/secrets/secrets.ts";

const given = { jwtSecret: null, secretKey: null };

/** A directory that goes with the test. */
function dataDirectory(): Disposable & { path: string } {
  const path = Deno.makeTempDirSync({ prefix: "longshore-secrets-" });
  return { path, [Symbol.dispose]: () => Deno.removeSync(path, { recursive: true }) };
}

async function sign(secrets: ReturnType<typeof createSecrets>): Promise<string> {
  const signature = await crypto.subtle.sign("HMAC", await secrets.jwtKey(), new Uint8Array(1));
  return new Uint8Array(signature).toHex();
}

Deno.test("the first start makes both key files, for this user only, and leaves nothing else", () => {
  using data = dataDirectory();

  loadSecrets({ dataDir: data.path, ...given }, silentLog);

  const names = [...Deno.readDirSync(data.path)].map(({ name }) => name).sort();
  deepEqual(names, ["jwt.secret", "secret.key"]);
  for (const name of names) {
    const path = `${data.path}/${name}`;
    equal(Deno.statSync(path).mode! & 0o777, 0o600);
    match(Deno.readTextFileSync(path), /^[\w-]{43}\n$/);
  }
});

Deno.test("a later start signs and opens with the same keys", async () => {
  using data = dataDirectory();
  const first = loadSecrets({ dataDir: data.path, ...given }, silentLog);
  const sealed = first.seal("s3cret", "a test");

  const second = loadSecrets({ dataDir: data.path, ...given }, silentLog);

  equal(second.open(sealed, "a test"), "s3cret");
  equal(await sign(second), await sign(first));
  equal(await second.fingerprint("x"), await first.fingerprint("x"));
});

Deno.test("given secrets are taken as UTF-8 bytes, and no file is made", async () => {
  using data = dataDirectory();
  const [jwtSecret, secretKey] = ["ü".repeat(16), "ö".repeat(16)];

  const secrets = loadSecrets({ dataDir: data.path, jwtSecret, secretKey }, silentLog);

  deepEqual([...Deno.readDirSync(data.path)], []);
  const bytes = createSecrets({
    jwtSecret: new TextEncoder().encode(jwtSecret),
    secretKey: new TextEncoder().encode(secretKey),
  });
  equal(await sign(secrets), await sign(bytes));
  equal(secrets.open(bytes.seal("x", "p"), "p"), "x");
});

for (
  const { what, text } of [
    { what: "nothing", text: "" },
    { what: "a key that was cut", text: "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\n" },
    { what: "something else", text: "-----BEGIN PRIVATE KEY-----\n" },
    { what: "a longer key", text: "A".repeat(86) },
  ]
) {
  Deno.test(`a key file that holds ${what} stops the start and says what to do`, () => {
    using data = dataDirectory();
    Deno.writeTextFileSync(`${data.path}/secret.key`, text, { mode: 0o600 });

    throws(
      () => loadSecrets({ dataDir: data.path, ...given }, silentLog),
      (error) => {
        equal(error instanceof KeyFileError, true);
        match(
          String(error),
          /secret\.key does not contain a key made by this service.*restore it.*or delete it/,
        );
        return true;
      },
    );
    equal(Deno.readTextFileSync(`${data.path}/secret.key`), text, "the file is left as it is");
  });
}

Deno.test("a key file that is a directory, or cannot be made, is a sentence too", () => {
  using data = dataDirectory();
  Deno.mkdirSync(`${data.path}/jwt.secret`);
  throws(() => loadSecrets({ dataDir: data.path, ...given }, silentLog), KeyFileError);
  throws(() => loadSecrets({ dataDir: `${data.path}/none`, ...given }, silentLog), KeyFileError);
});

Deno.test("a key file that others can read is closed to them, with a warning", () => {
  using data = dataDirectory();
  loadSecrets({ dataDir: data.path, ...given }, silentLog);
  Deno.chmodSync(`${data.path}/secret.key`, 0o644);
  const lines: string[] = [];
  const log = createLog({ level: "warn", format: "text", now: () => new Date(0) }, (line) => {
    lines.push(line);
  });

  loadSecrets({ dataDir: data.path, ...given }, log);

  equal(Deno.statSync(`${data.path}/secret.key`).mode! & 0o777, 0o600);
  equal(lines.length, 1);
  match(lines[0]!, /readable by other users/);
});

Deno.test("a sealed text shows nothing of the secret and is another each time", () => {
  const secrets = createSecrets({ jwtSecret: new Uint8Array(32), secretKey: new Uint8Array(32) });
  const one = secrets.seal("hunter2 hunter2", "webhook 1");
  const two = secrets.seal("hunter2 hunter2", "webhook 1");
  notEqual(one, two);
  equal(one.includes("hunter"), false);
  for (const text of ["", "ünïcödé", "x".repeat(100_000)]) {
    equal(secrets.open(secrets.seal(text, "p"), "p"), text);
  }
});

const sealed = createSecrets({
  jwtSecret: new Uint8Array(32),
  secretKey: new Uint8Array(32),
}).seal("secret", "webhook 1");

for (
  const { what, text = sealed, purpose = "webhook 1", key = 0 } of [
    { what: "for another purpose", purpose: "webhook 2" },
    { what: "under another key", key: 1 },
    {
      what: "with a changed byte",
      text: `${sealed.slice(0, -2)}${sealed.at(-2) === "A" ? "B" : "A"}A`,
    },
    { what: "with a cut end", text: sealed.slice(0, -4) },
    { what: "of nothing but a version", text: "v1." },
    { what: "of another version", text: sealed.replace("v1.", "v2.") },
    { what: "that was never sealed", text: "secret" },
  ]
) {
  Deno.test(`a sealed text ${what} is not opened`, () => {
    const secrets = createSecrets({
      jwtSecret: new Uint8Array(32),
      secretKey: new Uint8Array(32).fill(key),
    });
    throws(() => secrets.open(text, purpose), SealError);
  });
}
