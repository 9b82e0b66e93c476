/**
 * A real nginx for tests: its own directory and configuration, on loopback, ended with the test.
 *
 * @module
 */

import { until } from "./until.ts";

export interface Nginx extends AsyncDisposable {
  /** Returns its error log. */
  errors(): Promise<string>;
}

/**
 * Starts it and waits until it accepts connections.
 *
 * @param directory Where its files are; the caller removes it.
 * @param servers The content of the `http` block.
 * @param port Where one of them listens.
 */
export async function startNginx(
  { directory, servers, port }: { directory: string; servers: string; port: number },
): Promise<Nginx> {
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
    .map((name) => `${name}_temp_path ${directory}/${name};`);
  await Deno.writeTextFile(
    `${directory}/nginx.conf`,
    [
      "daemon off;",
      // One process, which is ended by its id.
      "master_process off;",
      `pid ${directory}/nginx.pid;`,
      `error_log ${directory}/error.log info;`,
      "events {}",
      "http {",
      "access_log off;",
      ...temporary,
      servers,
      "}",
    ].join("\n"),
  );
  const child = new Deno.Command("nginx", {
    args: ["-p", directory, "-c", `${directory}/nginx.conf`, "-e", `${directory}/error.log`],
    stdin: "null",
    stdout: "null",
    stderr: "null",
  }).spawn();
  let hasEnded = false;
  const ended = child.status.then(() => void (hasEnded = true));
  const errors = () => Deno.readTextFile(`${directory}/error.log`);
  const nginx: Nginx = {
    errors,
    async [Symbol.asyncDispose]() {
      if (!hasEnded) child.kill("SIGKILL");
      await ended;
    },
  };
  try {
    await until("nginx listens", async () => {
      if (hasEnded) return true;
      (await Deno.connect({ hostname: "127.0.0.1", port })).close();
      return true;
    });
    if (hasEnded) throw new Error(`nginx ended at once: ${await errors()}`);
  } catch (error) {
    await nginx[Symbol.asyncDispose]();
    throw error;
  }
  return nginx;
}
