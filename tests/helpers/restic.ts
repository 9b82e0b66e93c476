/** The real restic, on a repository in a directory. @module */

import { PASSWORD } from "./repository.ts";

/** Runs `restic ARGS` and returns what it prints. */
export async function restic(
  repository: string,
  args: readonly string[],
  { cwd = repository }: { cwd?: string } = {},
): Promise<string> {
  const { success, stdout, stderr } = await new Deno.Command("restic", {
    args: ["--repo", repository, "--no-cache", ...args],
    cwd,
    clearEnv: true,
    env: { RESTIC_PASSWORD: PASSWORD, PATH: "/usr/bin:/bin", HOME: cwd },
    stdout: "piped",
    stderr: "piped",
  }).output();
  const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
  if (!success) throw new Error(`restic ${args.join(" ")}: ${text(stderr)}`);
  return text(stdout);
}
