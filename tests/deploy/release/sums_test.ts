import { equal, match } from "node:assert/strict";
import { sign, writeSums } from "../../../deploy/release/release.ts";

Deno.test("checksums and their signature pass the tools that users check them with", async () => {
  const directory = await Deno.makeTempDir({ prefix: "longshore-test-release-" });
  try {
    await Deno.writeTextFile(`${directory}/longshore`, "an executable");
    await writeSums(directory);
    await command("ssh-keygen", ["-q", "-t", "ed25519", "-N", "", "-f", `${directory}/key`]);
    const publicKey = await Deno.readTextFile(`${directory}/key.pub`);
    await Deno.writeTextFile(`${directory}/signers`, `release@example.org ${publicKey}`);

    await sign(`${directory}/SHA256SUMS`, `${directory}/key`);

    match(await command("sha256sum", ["-c", "SHA256SUMS"], directory), /^longshore: OK$/m);
    const verify = ["-Y", "verify", "-f", "signers", "-I", "release@example.org", "-n", "file"];
    const sums = await Deno.readTextFile(`${directory}/SHA256SUMS`);
    match(
      await command("ssh-keygen", [...verify, "-s", "SHA256SUMS.sig"], directory, sums),
      /^Good "file" signature/,
    );
    equal(
      await command("ssh-keygen", [...verify, "-s", "SHA256SUMS.sig"], directory, `${sums} `),
      "failed",
    );
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
});

/** @returns What it printed, or `failed`. */
async function command(program: string, args: string[], cwd?: string, input = "") {
  const child = new Deno.Command(program, {
    args,
    ...(cwd !== undefined && { cwd }),
    stdin: "piped",
    stdout: "piped",
    stderr: "null",
  }).spawn();
  const writer = child.stdin.getWriter();
  await writer.write(new TextEncoder().encode(input));
  await writer.close();
  const { success, stdout } = await child.output();
  return success ? new TextDecoder().decode(stdout) : "failed";
}
