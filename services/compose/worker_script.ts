/** The script of the worker that loads projects. @module */

/** In an executable, which runs a bundle, the script is next to the program. */
export async function workerScript(): Promise<URL> {
  if (import.meta.url.endsWith(".ts")) return new URL("./load/worker.ts", import.meta.url);
  const script = await Deno.readTextFile(new URL("compose_worker.js", import.meta.url));
  return new URL(`data:text/javascript,${encodeURIComponent(script)}`);
}
