/** Scripts of workers. @module */

/**
 * The script of a worker. An executable runs a bundle, which has the script next to it.
 *
 * @param source The module, for the sources.
 * @param bundled Name of the file next to the bundle.
 */
export async function workerScript(source: URL, bundled: string): Promise<URL> {
  if (import.meta.url.endsWith(".ts")) return source;
  const file = new URL(bundled, import.meta.url);
  // A `data:` URL costs three times as much: the whole text is its key in the runtime's caches.
  if (!Deno.build.standalone) return file;
  // A compiled program cannot load a worker from a file.
  return new URL(`data:text/javascript,${encodeURIComponent(await Deno.readTextFile(file))}`);
}
