import type { RealEngine } from "./real_engine.ts";

/**
 * Runs commands of `docker-compose` for a project whose file is in the directory.
 *
 * @returns A function that throws what a failed command printed.
 */
export function composeCommand({ socketPath }: RealEngine, project: string, directory: string) {
  return async (...args: string[]): Promise<void> => {
    const { success, stderr } = await new Deno.Command("docker-compose", {
      args: ["--project-name", project, ...args],
      cwd: directory,
      env: { DOCKER_HOST: `unix://${socketPath}`, DOCKER_CONFIG: "/nonexistent" },
      stdin: "null",
      stdout: "null",
      stderr: "piped",
    }).output();
    if (!success) throw new Error(new TextDecoder().decode(stderr));
  };
}
