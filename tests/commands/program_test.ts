import { deepEqual, equal, match, ok } from "node:assert/strict";
import { COMMANDS } from "../../commands/mod.ts";
import { contentOf, runCommand, runHere, temporaryDirectory } from "../helpers/command.ts";

/** One sentence for the operator, and no stack. */
const SENTENCE = /^longshore: [^\n]+\n$/;

Deno.test("help lists every command", async () => {
  for (const args of [["help"], ["--help"], ["-h"]]) {
    const { code, stdout } = await runHere(args);
    equal(code, 0);
    for (const [name, { summary }] of Object.entries(COMMANDS)) {
      match(stdout, new RegExp(`^  ${name} +${summary.replace(/[()]/g, "\\$&")}$`, "m"));
    }
  }
});

Deno.test("COMMAND --help prints the usage and does nothing else", async () => {
  await Promise.all(
    Object.entries(COMMANDS).map(async ([name, { summary }]) => {
      // Running the command would fail in this environment.
      const { code, stdout } = await runHere([name, "--help"], { env: { PORT: "none" } });
      equal(code, 0, name);
      ok(stdout.startsWith(`${summary}.\n\nUsage: longshore `), stdout);
    }),
  );
  equal((await runHere(["help", "user"])).stdout, (await runHere(["user", "-h"])).stdout);
});

for (
  const [args, says, see = `${args[0]} --help`] of [
    [["nonsense"], "Unknown command nonsense", "help"],
    [["constructor"], "Unknown command constructor", "help"],
    [["help", "nonsense"], "Unknown command nonsense", "help"],
    [["serve", "now"], "serve takes no arguments, but got: now"],
    [["version", "-v"], "version takes no arguments, but got: -v"],
    [["--env-file"], "--env-file needs a file", "help"],
    [["backup"], "backup needs FILE"],
    [["backup", "a", "b"], "backup takes no more arguments, but got: b"],
    [["backup", "a", "--fast"], "backup: Unknown option '--fast'"],
    [["restore"], "restore needs either FILE or --from"],
    [
      ["restore", "a", "--host", "b"],
      "restore takes --host and --snapshot only with --from",
    ],
    [["user"], "user needs one of add, list, passwd, role, remove, login-link, mfa-reset"],
    [
      ["user", "sing"],
      "user needs one of add, list, passwd, role, remove, login-link, mfa-reset, not sing",
    ],
    [["user", "add"], "user add needs EMAIL"],
    [["user", "role", "a@b"], "user role needs ROLE"],
    [["user", "role", "a@b", "king"], "ROLE must be one of viewer, operator, admin, not king"],
    [["user", "add", "a@b", "--role"], "user add: Option '--role <value>' argument missing"],
    [["license"], "license needs one of show, install"],
    [["license", "install"], "license install needs FILE"],
  ] as const
) {
  Deno.test(`longshore ${args.join(" ")} is wrong usage`, async () => {
    const { code, stdout, stderr } = await runHere(args);
    deepEqual([code, stdout, stderr], [2, "", `longshore: ${says}. See: longshore ${see}\n`]);
  });
}

Deno.test("version prints the version", async () => {
  for (const arg of ["version", "--version"]) {
    const { code, stdout } = await runCommand([arg]);
    equal(code, 0);
    match(
      stdout,
      /^longshore \d+\.\d+\.\d+ \(deno [\d.]+, (source|bundled|standalone), [\w-]+\)\n$/,
    );
  }
});

Deno.test("openapi prints the API document", async () => {
  const { code, stdout } = await runCommand(["openapi"]);
  equal(code, 0);
  const { openapi, paths } = JSON.parse(stdout);
  equal(openapi, "3.1.0");
  ok("/api/edition/license" in paths);
});

Deno.test("config shows the values in use and no secrets", async () => {
  using directory = temporaryDirectory();
  Deno.writeTextFileSync(`${directory.path}/key`, "the key from a file\n");
  const { code, stdout } = await runHere(["config"], {
    env: {
      PORT: "4000",
      SECRET_KEY: "never shown, in no case",
      API_KEY_FILE: `${directory.path}/key`,
    },
  });
  equal(code, 0);
  match(stdout, /^PORT +4000 +3000 +Listen port$/m);
  match(stdout, /^SECRET_KEY +\*{8} /m);
  match(stdout, /^API_KEY +\*{8} /m);
  equal(/never shown|from a file/.test(stdout), false);
});

Deno.test("an unusable value is refused with one sentence and exit status 1", async () => {
  for (const args of [[], ["serve"], ["config"], ["backup", "x"], ["healthcheck"]]) {
    const { code, stderr } = await runHere(args, { env: { PORT: "http" } });
    equal(code, 1);
    match(stderr, SENTENCE);
    match(stderr, /^longshore: PORT=http /);
  }
});

for (
  const { env, says } of [
    { env: { PROC_PATH: "/missing" }, says: "PROC_PATH=/missing must be a mount of the host's" },
    {
      env: { TLS_CERT_FILE: "deno.json", TLS_KEY_FILE: "deno.json" },
      says: "TLS_CERT_FILE=deno.json and TLS_KEY_FILE=deno.json cannot be used: No certificates",
    },
    { env: { HOST: "203.0.113.9" }, says: "Cannot listen on 203.0.113.9:0 (HOST and PORT): " },
    { env: { EXEC_ALLOWLIST: "*" }, says: "EXEC_ALLOWLIST: Entry *: No program given" },
  ]
) {
  Deno.test(`the start is refused with one sentence: ${says}`, async () => {
    using directory = temporaryDirectory();
    const dataDir = `${directory.path}/data`;
    const { code, stderr } = await runCommand([], {
      env: { HOST: "127.0.0.1", PORT: "0", DATA_DIR: dataDir, ...env },
    });
    equal(code, 1);
    match(stderr, SENTENCE);
    ok(stderr.startsWith(`longshore: ${says}`), stderr);
    deepEqual(contentOf(directory.path), {});
  });
}

Deno.test("the environment overrides --env-file in any position", async () => {
  using directory = temporaryDirectory();
  const file = `${directory.path}/longshore.env`;
  Deno.writeTextFileSync(file, `PORT=4001\nSERVER_NAME="from the file"\n# HOST=1\n`);
  for (const args of [["--env-file", file, "config"], ["config", `--env-file=${file}`]]) {
    const { stdout } = await runHere(args, { env: { PORT: "4002" } });
    match(stdout, /^PORT +4002 /m);
    match(stdout, /^SERVER_NAME +from the file /m);
  }
  Deno.writeTextFileSync(file, "PORTS=4001\n");
  const misspelled = await runHere(["--env-file", file, "version"]);
  equal(
    misspelled.stderr,
    `longshore: warning: ${file}: unknown variable PORTS, did you mean PORT?\n`,
  );
  const missing = await runHere(["--env-file", `${file}.none`, "config"]);
  equal(missing.code, 1);
  match(missing.stderr, SENTENCE);
});
