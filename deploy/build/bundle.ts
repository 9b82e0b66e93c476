/**
 * Bundles a program into a directory. What it imports on first use is in files of its own, so that a
 * start does not read it.
 *
 * The bundle is not minified: the bundler's minification drops `using` where the variable is used
 * once. Names also stay readable in stack traces, and the price is 6 % of an idle service's memory.
 *
 *     deno run -A bundle.ts MODULE DIRECTORY
 *
 * @module
 */

import { bundleWorkers } from "./bundle_worker.ts";

/**
 * Bundles `module`, with the configuration and the lock file of the directory `root`.
 *
 * @throws {Error} With the messages of the bundler.
 */
export async function bundle(module: string, directory: string, root: string): Promise<void> {
  const { success, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["bundle", "--quiet", "--frozen", "--code-splitting", "--outdir", directory, module],
    cwd: root,
    stdout: "null",
    stderr: "piped",
  }).output();
  if (!success) throw new Error(new TextDecoder().decode(stderr));
}

if (import.meta.main) {
  const [module, directory] = Deno.args;
  if (module === undefined || directory === undefined) {
    console.error("usage: bundle.ts MODULE DIRECTORY");
    Deno.exit(2);
  }
  await bundle(module, directory, Deno.cwd());
  await bundleWorkers(directory, Deno.cwd());
}
