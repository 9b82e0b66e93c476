import { deepEqual, equal, match, rejects, throws } from "node:assert/strict";
import {
  admit,
  type Channel,
  dialEnrolment,
  dialLink,
  withinHandshake,
} from "../../../../services/fleet/link/channel.ts";
import { createConnection } from "../../../../services/fleet/link/connection.ts";
import {
  type Control,
  decodeControl,
  encodeControl,
} from "../../../../services/fleet/link/control.ts";
import { createLink } from "../../../../services/fleet/link/link.ts";
import { AWAY_MS, BEAT_MS } from "../../../../services/fleet/link/open_link.ts";
import { createKeyPair } from "../../../../services/fleet/link/noise.ts";
import { KIND } from "../../../../services/fleet/link/sealed.ts";
import type { Accept } from "../../../../services/fleet/link/stream.ts";
import { createSocketPair } from "../../../helpers/socket_pair.ts";
import { until } from "../../../helpers/until.ts";

const [memberKeys, hubKeys] = [await createKeyPair(), await createKeyPair()];
const bytes = (text: string) => new TextEncoder().encode(text);

/** The other end of a link may still seal a message when a test ends. */
const test = (name: string, fn: () => Promise<void> | void) =>
  Deno.test({ name, fn, sanitizeOps: false });

async function connect() {
  const sockets = createSocketPair();
  const [member, hub] = sockets.map((each) => createConnection(each)) as [Connection, Connection];
  const [dialed, { channel }] = await Promise.all([
    dialLink(member, { keys: memberKeys, hubKey: hubKeys.publicKey }),
    admit(hub, { keys: hubKeys, findInvite: () => undefined }),
  ]);
  return { sockets, channels: [dialed, channel] as const };
}
type Connection = ReturnType<typeof createConnection>;

/** Both ends of a link; time passes for each on its own. */
async function linked({ accept }: { accept?: Accept } = {}) {
  const { sockets, channels } = await connect();
  await channels[0].sendControl({ type: "hello", version: "1", challenge: null });
  await channels[1].receiveControl("hello");
  const times = { hub: 1_000, member: 5_000 };
  const controls: Control[] = [];
  const open = (channel: Channel, side: "hub" | "member") =>
    createLink(channel, {
      peer: side,
      isClient: side === "member",
      accept: side === "member" ? accept : undefined,
      onControl: (message) => controls.push(message),
      clock: { wallMs: () => times[side], steadyMs: () => times[side] },
    });
  const [member, hub] = [open(channels[0], "member"), open(channels[1], "hub")];
  return { sockets, channels, member, hub, times, controls };
}

test("A link carries streams of the hub to the member, and control messages", async () => {
  const { member, hub, controls } = await linked({
    async accept(stream) {
      const into = new Uint8Array(100);
      const count = await stream.read(into);
      await stream.write(into.subarray(0, count!).reverse());
      await stream.closeWrite();
    },
  });
  const stream = await hub.open(AbortSignal.timeout(10_000));
  await stream.write(bytes("abc"));
  const into = new Uint8Array(10);
  equal(await stream.read(into), 3);
  deepEqual(into.subarray(0, 3), bytes("cba"));
  equal(await stream.read(into), null);

  member.tell({ type: "leave" });
  await until("the control message", () => controls.length === 1);
  deepEqual(controls, [{ type: "leave" }]);
  hub.close("enough");
  equal(await member.closed, "enough");
  await rejects(hub.open(AbortSignal.timeout(1)), /enough/);
});

test("A link measures the clock of its peer, and ends when the peer is silent", async () => {
  const { hub, member, times, sockets } = await linked();
  await hub.probe();
  equal(hub.clock.offset, 4_000);
  await member.probe();
  equal(member.clock.offset, -4_000);

  sockets[0].alter = () => undefined;
  times.hub += BEAT_MS;
  hub.tick();
  equal(hub.silentMs, BEAT_MS);
  times.hub += AWAY_MS - BEAT_MS;
  hub.tick();
  equal(await hub.closed, "the peer does not answer");
  await rejects(hub.probe());
});

test("A link ends when the clock of the peer shows no time", async () => {
  const { hub, times } = await linked();
  times.member = 1e308;
  await rejects(hub.probe(), /echo has a wrong field|beat has a wrong field/);
  equal(Number.isSafeInteger(Math.round(hub.clock.offset)), true);
});

test("A link ends when the peer sends beats and does not read the answers", async () => {
  const { hub, member, sockets } = await linked();
  await member.probe();
  sockets[1].bufferedAmount = 1024 * 1024;
  for (let count = 0; count < 20; count++) void member.probe().catch(() => {});
  match(await hub.closed, /does not read answers/);
});

test("part() ends the streams at once, also with a peer that does not read", async () => {
  const { hub, sockets } = await linked({ accept: () => new Promise(() => {}) });
  const stream = await hub.open(AbortSignal.timeout(10_000));
  await hub.probe();
  sockets[1].bufferedAmount = 1024 * 1024;
  hub.part({ type: "refused", reason: "removed", isFinal: true }, "removed");
  await rejects(stream.read(new Uint8Array(1)), /removed/);
  sockets[1].bufferedAmount = 0;
  equal(await hub.closed, "removed");
});

test("A member that opens streams at the hub is disconnected with the reason", async () => {
  const { hub, member } = await linked();
  await member.open(AbortSignal.timeout(10_000));
  equal(await hub.closed, "This side accepts no streams");
  equal(await member.closed, "This side accepts no streams");
});

for (
  const { sent, alter, reason } of [
    { sent: "garbage", alter: () => new Uint8Array(100).buffer, reason: /not sealed|not at this/ },
    { sent: "a repeated message", alter: undefined, reason: /not at this place/ },
    { sent: "text", alter: () => "text", reason: /not binary/ },
    {
      sent: "a message that is too long",
      alter: () => new ArrayBuffer(65_536),
      reason: /too long/,
    },
  ]
) {
  test(`A link ends with the reason after ${sent}`, async () => {
    const { hub, member, sockets } = await linked();
    let last: Uint8Array<ArrayBuffer> | undefined;
    sockets[0].alter = alter ?? ((data) => (last ??= data).slice().buffer);
    member.tell({ type: "leave" });
    member.tell({ type: "leave" });
    match(await hub.closed, reason);
  });
}

test("A peer that sends faster than it is read is disconnected", async () => {
  const [first, second] = createSocketPair();
  const connection = createConnection(second);
  for (let count = 0; count < 2; count++) first.send(new Uint8Array(40_000));
  match(await connection.closed, /faster/);
});

test("A member does not talk to a hub with another key", async () => {
  const other = await createKeyPair();
  const [member, hub] = createSocketPair().map((each) => createConnection(each)) as [
    Connection,
    Connection,
  ];
  const dialing = dialLink(member, { keys: memberKeys, hubKey: other.publicKey });
  const admitting = withinHandshake(
    hub,
    () => admit(hub, { keys: hubKeys, findInvite: () => undefined }),
  );
  await Promise.all([rejects(dialing), rejects(admitting, { name: "HandshakeError" })]);
});

const invite = { id: "i1", secret: new Uint8Array(32).fill(7) };

function enrol({ found = invite.secret, isOtherHub = false, given = invite } = {}) {
  const [member, hub] = createSocketPair().map((each) => createConnection(each)) as [
    Connection,
    Connection,
  ];
  return Promise.allSettled([
    withinHandshake(member, () =>
      dialEnrolment(member, {
        keys: memberKeys,
        invite: given,
        assertHub: () => isOtherHub ? Promise.reject(new Error("other hub")) : Promise.resolve(),
      })),
    withinHandshake(hub, () =>
      admit(hub, {
        keys: hubKeys,
        findInvite: (id) => id === invite.id ? found : undefined,
      })),
  ]);
}

test("An enrolment proves the invite, and gives each side the key of the other", async () => {
  const [member, hub] = await enrol();
  if (member.status !== "fulfilled" || hub.status !== "fulfilled") throw new Error("refused");
  deepEqual(member.value.peerKey, hubKeys.publicKey);
  deepEqual(hub.value.channel.peerKey, memberKeys.publicKey);
  equal(hub.value.inviteId, "i1");
});

test("An enrolment fails with a wrong secret, an unknown invite and another hub", async () => {
  for (
    const { options, reason } of [
      { options: { found: new Uint8Array(32) }, reason: /not sealed with the expected key/ },
      { options: { given: { ...invite, id: "i2" } }, reason: /unknown, used or expired/ },
    ]
  ) {
    const [, hub] = await enrol(options);
    equal(hub.status, "rejected");
    match(String((hub as PromiseRejectedResult).reason), reason);
  }
  const [member] = await enrol({ isOtherHub: true });
  match(String((member as PromiseRejectedResult).reason), /other hub/);
});

test("A hub refuses what is not a handshake, and a plain link", async () => {
  for (const first of [[], [3, 1, 2], [2, 1], [1], [0x7b, 0x7d]]) {
    const [member, hub] = createSocketPair();
    const connection = createConnection(hub);
    member.send(Uint8Array.from(first));
    await rejects(
      withinHandshake(
        connection,
        () => admit(connection, { keys: hubKeys, findInvite: () => undefined }),
      ),
      { name: "HandshakeError" },
    );
  }
});

test("A handshake ends when its time is over", async () => {
  const connection = createConnection(createSocketPair()[1]);
  const admitting = admit(connection, { keys: hubKeys, findInvite: () => undefined });
  await rejects(withinHandshake(connection, () => admitting, AbortSignal.abort()));
  equal(await connection.closed, "the handshake took too long");
  await rejects(admitting);
});

test("A channel refuses a frame where a control message must come first", async () => {
  const { channels: [member, hub] } = await connect();
  await member.send(KIND.frame, new Uint8Array(12));
  await rejects(hub.receiveControl("hello"), /must first send hello/);
});

test("control characters of a peer reach no terminal", () => {
  const enrol = {
    type: "enrol",
    name: "edge-7",
    version: "1.0.0-rc.1+b",
    machine: "a\x1b[2Jb",
  } as const;
  const noteKey = "A".repeat(43);
  const read = decodeControl(encodeControl({ ...enrol, noteKey })) as Control<"enrol">;
  equal(read.machine, "a [2Jb");
  throws(
    () => decodeControl(encodeControl({ ...enrol, noteKey, version: "\x1b[2J" })),
    /wrong field/,
  );
});
