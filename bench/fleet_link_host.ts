/** The member's end of a link, in a thread of its own: it echoes what streams bring, or reads it only. @module */

import { dialLink } from "../services/fleet/link/channel.ts";
import { dial } from "../services/fleet/link/dial.ts";
import { createLink } from "../services/fleet/link/link.ts";
import { createKeyPair } from "../services/fleet/link/noise.ts";
import type { LinkStream } from "../services/fleet/link/stream.ts";
import { testApp } from "../tests/helpers/test_app.ts";

const ECHOED = 1;

const scope = globalThis as unknown as {
  onmessage: (event: MessageEvent<{ address: string; hubKey: Uint8Array<ArrayBuffer> }>) => void;
};

scope.onmessage = async ({ data: { address, hubKey } }) => {
  const { deps } = testApp({ config: { fleetInsecure: "on" } });
  const connection = await dial(deps, address, new AbortController().signal);
  const channel = await dialLink(connection, { keys: await createKeyPair(), hubKey });
  createLink(channel, {
    ...{ peer: "hub", isClient: true, accept, onControl: () => {} },
    clock: { wallMs: () => Date.now(), steadyMs: () => performance.now() },
  });
};

/** The first byte of a stream says what becomes of it. */
async function accept(stream: LinkStream): Promise<void> {
  const buffer = new Uint8Array(32 * 1024);
  let isEchoed: boolean | undefined;
  for (let count = await stream.read(buffer); count !== null; count = await stream.read(buffer)) {
    isEchoed ??= buffer[0] === ECHOED;
    if (isEchoed) await stream.write(buffer.subarray(0, count));
  }
  await stream.closeWrite();
}
