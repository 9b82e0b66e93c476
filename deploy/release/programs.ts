/** Programs that the release tasks run, and the failures of these tasks. @module */

const root = new URL("../../", import.meta.url);

/** A failure whose message says all that the releaser needs. */
export class ReleaseError extends Error {
  override readonly name = "ReleaseError";
}

/**
 * Runs a program in the root of the checkout.
 *
 * @returns What the program printed.
 * @throws {ReleaseError} If it fails.
 */
export async function run(
  program: string,
  args: string[],
  env: Record<string, string> = {},
): Promise<string> {
  const { success, stdout, stderr } = await new Deno.Command(program, {
    args,
    env,
    cwd: root,
    stdin: "null",
  }).output();
  if (success) return new TextDecoder().decode(stdout).trim();
  const said = new TextDecoder().decode(stderr).trim().slice(-2000);
  throw new ReleaseError(`${program} ${args.join(" ")} failed: ${said}`);
}

/** The SHA-256 of a file, in hexadecimal. */
export async function sha256(path: string): Promise<string> {
  const bytes = await Deno.readFile(path);
  return new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)).toHex();
}
