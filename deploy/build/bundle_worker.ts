/**
 * Bundles the script of each worker into one file next to the program, see
 * `services/config/worker_script.ts`.
 *
 * @module
 */

/** Scripts by the names of their files next to the program. */
const WORKERS = {
  "compose_worker.js": "services/compose/load/worker.ts",
  "git_worker.js": "services/git/fetch/worker.ts",
  "repository_worker.js": "services/backup/restic/worker.ts",
};

/** Packages for browsers need no `require`, for which a script without a file has no address. */
const FLAGS = ["bundle", "--quiet", "--frozen", "--platform", "browser"];

/**
 * Bundles the scripts of all workers, with the configuration and the lock file of the directory `root`.
 *
 * @throws {Error} With the messages of the bundler.
 */
export async function bundleWorkers(directory: string, root: string): Promise<void> {
  for (const [name, module] of Object.entries(WORKERS)) {
    const { success, stderr } = await new Deno.Command(Deno.execPath(), {
      args: [...FLAGS, "--output", `${directory}/${name}`, module],
      cwd: root,
      stdout: "null",
      stderr: "piped",
    }).output();
    if (!success) throw new Error(new TextDecoder().decode(stderr));
  }
}
