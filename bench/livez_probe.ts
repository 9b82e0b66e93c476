/**
 * A thread that requests `GET /livez` continuously and reports the latencies at the end.
 *
 * @module
 */

/** Pause between two requests, in milliseconds. */
const PAUSE_MS = 5;

const scope = globalThis as unknown as {
  onmessage: (event: MessageEvent) => void;
  postMessage(message: unknown): void;
};
const latencies: number[] = [];
let ended = false;

scope.onmessage = ({ data }) => {
  if (data === "end") ended = true;
  else void probe(data);
};

async function probe(target: Deno.ConnectOptions): Promise<void> {
  const connection = await Deno.connect(target);
  const request = new TextEncoder().encode("GET /livez HTTP/1.1\r\nhost: localhost\r\n\r\n");
  const buffer = new Uint8Array(4_096);
  while (!ended) {
    const asked = performance.now();
    await connection.write(request);
    await connection.read(buffer);
    latencies.push(performance.now() - asked);
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
  connection.close();
  latencies.sort((a, b) => a - b);
  scope.postMessage({ p50: latencies[Math.floor(latencies.length / 2)], most: latencies.at(-1) });
}
