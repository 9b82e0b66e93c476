/**
 * Notifications to a real datagram socket. The sender runs with the permissions of the built
 * service in a process of its own, because the tests themselves run without `--unstable-net`.
 *
 * @module
 */

import { deepEqual, equal, rejects } from "node:assert/strict";
import { notifySystemd, watchdogPeriodMs } from "../../commands/systemd_notify.ts";

/** Unlike that of any other run at the same time. */
const NAME = `longshore-test-${crypto.randomUUID()}`;

const MODULE = new URL("../../commands/systemd_notify.ts", import.meta.url).href;

for (
  const { kind, listen, told } of [
    { kind: "a path", listen: (directory: string) => `${directory}/notify`, told: undefined },
    { kind: "an abstract name", listen: () => `\0${NAME}`, told: `@${NAME}` },
  ]
) {
  Deno.test(`a notification arrives at ${kind} as one datagram`, async () => {
    const directory = await Deno.makeTempDir();
    try {
      deepEqual(await exchange(listen(directory), told, ["READY=1", "STATUS=on 1\n2"]), {
        code: 0,
        received: "READY=1\nSTATUS=on 1 2",
      });
    } finally {
      await Deno.remove(directory, { recursive: true });
    }
  });
}

Deno.test("without a socket nothing is sent", async () => {
  await notifySystemd(undefined, "READY=1");
  await notifySystemd("", "READY=1");
});

Deno.test("a socket of another kind is refused by name", async () => {
  await rejects(notifySystemd("vsock:2:1234", "READY=1"), {
    message: "Not a notification socket: vsock:2:1234",
  });
});

Deno.test("the watchdog is fed at half its time", () => {
  equal(watchdogPeriodMs("30000000"), 15_000);
  equal(watchdogPeriodMs("1"), 1);
  for (const none of [undefined, "", "0", "-1", "soon", "1e9"]) {
    equal(watchdogPeriodMs(none), undefined);
  }
});

/** Listens at `path`, sends `states` to `told` (the same by default), and receives one datagram. */
async function exchange(path: string, told: string | undefined, states: string[]) {
  const program = `
    import { notifySystemd } from ${JSON.stringify(MODULE)};
    const receiver = Deno.listenDatagram({ transport: "unixpacket", path: ${
    JSON.stringify(path)
  } });
    await notifySystemd(${JSON.stringify(told ?? path)}, ...${JSON.stringify(states)});
    const [data] = await receiver.receive();
    console.log(new TextDecoder().decode(data));
    receiver.close();`;
  const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: [
      "run",
      "--no-config",
      "--no-lock",
      "--no-prompt",
      "--unstable-net",
      "--allow-net",
      "--allow-read",
      "--allow-write",
      `data:application/typescript,${encodeURIComponent(program)}`,
    ],
  }).output();
  const received = new TextDecoder().decode(stdout).trimEnd();
  return code === 0 ? { code, received } : { code, received: new TextDecoder().decode(stderr) };
}
