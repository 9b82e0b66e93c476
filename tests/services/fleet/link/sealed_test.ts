import { deepEqual, rejects } from "node:assert/strict";
import {
  type Bytes,
  createHandshake,
  createKeyPair,
  IK,
} from "../../../../services/fleet/link/noise.ts";
import { createSeal, KIND, SealedError } from "../../../../services/fleet/link/sealed.ts";

async function createSeals(rekeyMessages?: number) {
  const [keys, hubKeys] = [await createKeyPair(), await createKeyPair()];
  const prologue: Bytes = new Uint8Array();
  const member = createHandshake(IK, {
    isInitiator: true,
    prologue,
    keys,
    peerKey: hubKeys.publicKey,
  });
  const hub = createHandshake(IK, { isInitiator: false, prologue, keys: hubKeys });
  await hub.read(await member.write());
  await member.read(await hub.write());
  return [await member.finish(), await hub.finish()].map((each) => createSeal(each, rekeyMessages));
}

Deno.test("A sealed message is opened by the peer, also after the keys have changed", async () => {
  const [member, hub] = await createSeals(3);
  for (let count = 0; count < 10; count++) {
    const content = crypto.getRandomValues(new Uint8Array(count));
    deepEqual(await hub!.open(await member!.seal(KIND.frame, content)), {
      kind: KIND.frame,
      content,
    });
  }
});

Deno.test("A repeated, missing, altered or too long message is refused", async () => {
  for (const change of ["repeat", "skip", "alter", "append"]) {
    const [member, hub] = await createSeals();
    const first = await member!.seal(KIND.control, new Uint8Array(5));
    const second = await member!.seal(KIND.control, new Uint8Array(5));
    if (change !== "skip") await hub!.open(first);
    if (change === "alter") second[3]! ^= 1;
    const given = change === "repeat" ? first : second;
    const bytes = change === "append" ? new Uint8Array(65_536) : given;
    await rejects(hub!.open(bytes), SealedError, change);
  }
});

Deno.test("A message of an unknown kind is refused", async () => {
  const [member, hub] = await createSeals();
  const sealed = await member!.seal(9 as 0, new Uint8Array());
  await rejects(hub!.open(sealed), /unknown kind/);
});
