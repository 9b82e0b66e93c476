/** The program: gives its process to the command. @module */

import { EXIT } from "./commands/program.ts";
import { run } from "./commands/run.ts";

/** Unlike `console.log`, this fails when the terminal is gone. */
function writeToTerminal(text: string): void {
  const bytes = new TextEncoder().encode(text);
  for (let at = 0; at < bytes.length;) at += Deno.stdout.writeSync(bytes.subarray(at));
}

if (import.meta.main) {
  // Keys, databases and backups are private.
  Deno.umask(0o077);
  const stop = new AbortController();
  for (const name of ["SIGINT", "SIGTERM"] as const) {
    // A second signal does not wait.
    Deno.addSignalListener(
      name,
      () => stop.signal.aborted ? Deno.exit(EXIT.failure) : stop.abort(),
    );
  }
  const status = await run({
    args: Deno.args,
    env: Deno.env.toObject(),
    surroundings: {
      hostname: Deno.hostname(),
      terminal: Deno.stderr.isTerminal(),
      // The executable runs a bundle, which is JavaScript.
      packed: !import.meta.url.endsWith(".ts"),
      readTextFile: (path) => Deno.readTextFileSync(path),
    },
    input: Deno.stdin,
    print: (line) => console.log(line),
    terminal: Deno.stdout.isTerminal() ? writeToTerminal : undefined,
    note: (line) => console.error(line),
    signal: stop.signal,
  });
  Deno.exit(status);
}
