/**
 * The notification socket of a supervisor. It is a process of its own, because the tests run without
 * `--unstable-net`.
 *
 * @module
 */

import { until } from "./until.ts";

export interface NotifySocket extends AsyncDisposable {
  /** The value of `NOTIFY_SOCKET`. */
  path: string;
  /** Number of received notifications with this text. */
  count(state: string): number;
}

const PROGRAM = `
const [path] = Deno.args;
const receiver = Deno.listenDatagram({ transport: "unixpacket", path });
console.log("listening");
for (;;) {
  const [data] = await receiver.receive();
  console.log(new TextDecoder().decode(data));
}`;

export async function startNotifySocket(): Promise<NotifySocket> {
  const directory = await Deno.makeTempDir();
  const path = `${directory}/notify`;
  const child = new Deno.Command(Deno.execPath(), {
    args: [
      ...[
        "run",
        "--no-config",
        "--no-lock",
        "--unstable-net",
        "--allow-net",
        "--allow-read",
        "--allow-write",
      ],
      ...[`data:application/typescript,${encodeURIComponent(PROGRAM)}`, path],
    ],
    stdout: "piped",
    stderr: "inherit",
  }).spawn();
  let text = "";
  const reading = (async () => {
    for await (const part of child.stdout.pipeThrough(new TextDecoderStream())) text += part;
  })();
  await until("the socket listens", () => text.includes("listening"));
  return {
    path,
    count: (state) => text.split("\n").filter((line) => line === state).length,
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL");
      await child.status;
      await reading;
      await Deno.remove(directory, { recursive: true });
    },
  };
}
