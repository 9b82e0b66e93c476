import { deepEqual, equal, ok, rejects } from "node:assert/strict";
import manifest from "../../../deno.json" with { type: "json" };
import { installScript } from "../../../deploy/release/install_script.ts";
import { temporaryDirectory } from "../../helpers/command.ts";
import { createKey } from "../../helpers/ssh_keys.ts";

const root = new URL("../../../", import.meta.url).pathname;

Deno.test("release install-script prints the script with this version, the address and the key of a file", async () => {
  using directory = temporaryDirectory();
  const key = await createKey(directory.path);

  const { code, stdout } = await new Deno.Command(Deno.execPath(), {
    args: [
      ...["run", "--frozen", "-A", "deploy/release/release.ts", "install-script"],
      ...["--key", `${key.path}.pub`, "--url", "https://example.org/vVERSION"],
    ],
    cwd: root,
  }).output();

  equal(code, 0);
  const lines = new TextDecoder().decode(stdout).split("\n");
  ok(lines.includes(`version=${manifest.version}`));
  ok(lines.includes("url=${LONGSHORE_RELEASE_URL:-https://example.org/vVERSION}"));
  const [algorithm, encoded] = key.publicKey.split(" ");
  ok(lines.includes(`keys='${algorithm} ${encoded}'`));
  deepEqual(lines.filter((line) => /@[A-Z]+@/.test(line)), []);
});

for (
  const { wrong, change, message } of [
    { wrong: "an address", change: { url: "https://x/$(id)" }, message: /not an address/ },
    {
      wrong: "a key",
      change: { keys: ["ssh-ed25519 'AAAA"] },
      message: /Not an Ed25519 public key/,
    },
    { wrong: "a version", change: { version: "1.0'" }, message: /not a version/ },
  ]
) {
  Deno.test(`installScript() refuses ${wrong} that a shell would read as code`, async () => {
    await rejects(installScript({ version: "1.0.0", url: "", keys: [], ...change }), message);
  });
}
