/** A real link between the two applications of a fleet, which is lost at one of its messages. @module */

import { admit, dialLink } from "../../services/fleet/link/channel.ts";
import { createConnection } from "../../services/fleet/link/connection.ts";
import { createLink } from "../../services/fleet/link/link.ts";
import { createKeyPair } from "../../services/fleet/link/noise.ts";
import { HUB, MEMBER, type TestFleet } from "./fleet.ts";
import { createSocketPair } from "./socket_pair.ts";

const [memberKeys, hubKeys] = [await createKeyPair(), await createKeyPair()];

/** Joins hub and member with a real link that is lost at message `last`, counted in both directions. */
export async function connectUntil(fleet: TestFleet, last: number) {
  const sockets = createSocketPair();
  const [member, hub] = sockets.map((each) => createConnection(each));
  const [dialed, { channel }] = await Promise.all([
    dialLink(member!, { keys: memberKeys, hubKey: hubKeys.publicKey }),
    admit(hub!, { keys: hubKeys, findInvite: () => undefined }),
  ]);
  const clock = { wallMs: () => fleet.hub.clock.now().getTime(), steadyMs: () => 0 };
  const onControl = () => {};
  const { accept } = fleet.member.deps.passing;
  const atMember = createLink(dialed, { peer: HUB, isClient: true, accept, onControl, clock });
  const link = createLink(channel, { peer: MEMBER, isClient: false, onControl, clock });
  await Promise.all([link.probe(), atMember.probe()]);
  let sent = 0;
  for (const socket of sockets) {
    socket.alter = (data) => {
      if (sent++ !== last) return data.buffer;
      socket.close(1006, "killed");
      return undefined;
    };
  }
  fleet.link = link;
  return { link, isCut: () => sent > last };
}
