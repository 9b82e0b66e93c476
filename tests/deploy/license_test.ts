/** The vendor's tools. @module */

import { deepEqual, equal, match } from "node:assert/strict";
import config from "../../deno.json" with { type: "json" };
import { publicPoints } from "../../deploy/build/check_license_keys.ts";
import { verifyLicenseKey } from "../../services/access/license/license.ts";
import { temporaryDirectory } from "../helpers/command.ts";

const root = new URL("../../", import.meta.url);

/** The command of `deno task license`, which would start the runtime twice. */
const [, ...COMMAND] = config.tasks.license.command.split(" ");

/** Runs `deno task license ARGS`. */
async function license(...args: string[]) {
  const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: [...COMMAND, ...args],
    cwd: root,
    env: { NO_COLOR: "1" },
    stdin: "null",
  }).output();
  const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes).trim();
  return { code, stdout: text(stdout), stderr: text(stderr) };
}

Deno.test("a license of a new key pair is accepted by a program that has its public half", async () => {
  using directory = temporaryDirectory();
  const [key, keys] = [`${directory.path}/k.jwk`, `${directory.path}/keys.json`];
  equal((await license("keygen", "--key", key, "--public", keys)).code, 0);
  equal(Deno.statSync(key).mode! & 0o777, 0o600);

  const issued = await license(
    ...["issue", "--key", key, "--customer", "Harbour & Söhne", "--edition", "enterprise"],
    ...["--expires", "2999-06-30", "--limits", '{"users": 7}'],
  );

  equal(issued.code, 0, issued.stderr);
  const jwks = Deno.readTextFileSync(keys);
  equal((await publicPoints(jwks)).length, 1);
  deepEqual(await verifyLicenseKey(issued.stdout, JSON.parse(jwks)), {
    customer: "Harbour & Söhne",
    edition: "enterprise",
    expiresAt: new Date("2999-07-01T00:00:00Z"),
    limits: { users: 7 },
  });
});

Deno.test("keygen adds to the public keys that are there, and overwrites no private key", async () => {
  using directory = temporaryDirectory();
  const file = (name: string) => `${directory.path}/${name}`;
  await license("keygen", "--key", file("a.jwk"), "--public", file("keys.json"));
  await license("keygen", "--key", file("b.jwk"), "--public", file("keys.json"));
  const text = Deno.readTextFileSync(file("keys.json"));
  equal((await publicPoints(text)).length, 2);

  const before = Deno.readTextFileSync(file("a.jwk"));
  const again = await license("keygen", "--key", file("a.jwk"));
  equal(again.code, 1);
  match(again.stderr, /a private key is never overwritten/);
  equal(Deno.readTextFileSync(file("a.jwk")), before);

  const issue = ["issue", "--customer", "c", "--edition", "pro", "--days", "3"];
  for (const name of ["a.jwk", "b.jwk"]) {
    const { stdout } = await license(...issue, "--key", file(name));
    equal((await verifyLicenseKey(stdout, JSON.parse(text))).edition, "pro");
  }
});

Deno.test("issue says what is wrong, and prints no license then", async () => {
  using directory = temporaryDirectory();
  const key = `${directory.path}/k.jwk`;
  const publicKeys = (await license("keygen", "--key", key)).stdout;
  Deno.writeTextFileSync(`${directory.path}/public.jwk`, publicKeys);
  const base = { key, customer: "c", edition: "pro", days: "30" };
  for (
    const { change, error } of [
      { change: { key: undefined }, error: /--key FILE is needed/ },
      { change: { key: `${directory.path}/none` }, error: /cannot be read/ },
      { change: { key: `${directory.path}/public.jwk` }, error: /not a private Ed25519 key/ },
      { change: { customer: "" }, error: /license key's sub/ },
      { change: { edition: "gold" }, error: /license key's edition/ },
      { change: { days: "0" }, error: /--days 0 must be a whole number/ },
      { change: { expires: "2999-01-01" }, error: /one of --days N and --expires DATE/ },
      { change: { days: undefined, expires: "2999-02-30" }, error: /must be a date/ },
      { change: { days: undefined, expires: "2001-01-01" }, error: /is in the past/ },
      { change: { limits: "{" }, error: /--limits is not JSON/ },
      { change: { limits: '{"ships": 1}' }, error: /limits/ },
      { change: { limits: '{"users": -1}' }, error: /limits/ },
    ] as { change: Record<string, string | undefined>; error: RegExp }[]
  ) {
    const args = Object.entries({ ...base, ...change })
      .flatMap(([name, value]) => value === undefined ? [] : [`--${name}`, value]);
    const { code, stdout, stderr } = await license("issue", ...args);
    deepEqual([code, stdout], [1, ""], stderr);
    match(stderr, error);
  }
});
