import { deepEqual, equal, rejects } from "node:assert/strict";
import {
  type Bytes,
  createHandshake,
  createKeyPair,
  exportPrivateKey,
  HandshakeError,
  IK,
  importKeyPair,
  N,
  XXPSK3,
} from "../../../../services/fleet/link/noise.ts";

const hex = (text: string): Bytes => Uint8Array.fromHex(text);

interface Vector {
  source: string;
  pattern: typeof IK;
  prologue: string;
  initiator: { keys: string; ephemeral: string };
  responder: { keys: string; ephemeral: string };
  psk?: string;
  /** Payload and message; after the handshake, the initiator begins again. */
  messages: [string, string][];
}

/** Published vectors: vectors.txt of github.com/flynn/noise, cacophony.txt of the Noise wiki. */
const FLYNN = {
  source: "flynn/noise",
  prologue: "6e6f74736563726574",
  initiator: {
    keys: "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f",
    ephemeral: "202122232425262728292a2b2c2d2e2f303132333435363738393a3b3c3d3e3f",
  },
  responder: {
    keys: "0102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f20",
    ephemeral: "4142434445464748494a4b4c4d4e4f505152535455565758595a5b5c5d5e5f60",
  },
};

const VECTORS: Vector[] = [{
  ...FLYNN,
  pattern: N,
  messages: [
    [
      "",
      "358072d6365880d1aeea329adf9121383851ed21a28e3b75e965d0d2cd166254ceb26e62698f0a9d16577f5fcb929fb3",
    ],
    [
      "79656c6c6f777375626d6172696e65",
      "374a734846ea8b76251255d17bae5b5313087ff42afa23ed42a5b5bf325804",
    ],
    [
      "7375626d6172696e6579656c6c6f77",
      "922037b8012e37d18adb6827375085f06f034888ea3f625dfc91d424334290",
    ],
  ],
}, {
  ...FLYNN,
  pattern: IK,
  messages: [
    [
      "",
      "358072d6365880d1aeea329adf9121383851ed21a28e3b75e965d0d2cd16625419d6fab175300a577115c701c41ed681373f0432f81d3bf8676bd05216cd1919e61b75ccef0c0cf0b216fcdf371d0859ab50373f8c7b70a239f8cc8318e6075b",
    ],
    [
      "",
      "64b101b1d0be5a8704bd078f9895001fc03e8e9f9522f188dd128d9846d48466bb50a12b50b0b1b43fc6725181315302",
    ],
    [
      "79656c6c6f777375626d6172696e65",
      "80a75e75c8e8d2e9c2a6c7bc6e550c4997d6d2b45429a530821c4aa5d36f27",
    ],
    [
      "7375626d6172696e6579656c6c6f77",
      "b8475410da62a98493d33a1e669f8f56dd8f61d449b53bd375299c3435424a",
    ],
  ],
}, {
  ...FLYNN,
  pattern: XXPSK3,
  psk: "2176657279736563726574766572797365637265747665727973656372657421",
  messages: [
    [
      "",
      "358072d6365880d1aeea329adf9121383851ed21a28e3b75e965d0d2cd1662545b2f4adfa73e9ba5320d7dad00152ab9",
    ],
    [
      "",
      "64b101b1d0be5a8704bd078f9895001fc03e8e9f9522f188dd128d9846d48466bb1259f77345353d70dcef1e97d161dd9c3324e72b46203ebe87dcb40159eb666198ef90bf6d0b1a0e76374ae604ac12c54156a8210758dea8c50d8720b4533f",
    ],
    [
      "",
      "a702c30239110afbb8afacb639f961e5c2574c3fe59ee6069c0f5f5414ea2493bf47ccd868daf2dc792d2a6493790f4a804d0508de91173260899064d056c042",
    ],
    [
      "79656c6c6f777375626d6172696e65",
      "187cadad4158250d0af49c2aea3bedc34aee2cc962336fbe649527ca78e48c",
    ],
    [
      "7375626d6172696e6579656c6c6f77",
      "91de652b73884e25506003fe72969748b9092a4518be9c6e4911a52b60375f",
    ],
  ],
}, {
  source: "cacophony",
  pattern: IK,
  prologue: "4a6f686e2047616c74",
  initiator: {
    keys: "e61ef9919cde45dd5f82166404bd08e38bceb5dfdfded0a34c8df7ed542214d1",
    ephemeral: "893e28b9dc6ca8d611ab664754b8ceb7bac5117349a4439a6b0569da977c464a",
  },
  responder: {
    keys: "4a3acbfdb163dec651dfa3194dece676d437029c62a408b4c5ea9114246e4893",
    ephemeral: "bbdb4cdbd309f1a1f2e1456967fe288cadd6f712d65dc7b7793d5e63da6b375b",
  },
  messages: [
    [
      "4c756477696720766f6e204d69736573",
      "ca35def5ae56cec33dc2036731ab14896bc4c75dbb07a61f879f8e3afa4c79444e417bc55c7a8166c993356c1be41ef67818a292426f301556c7f26b21d25ddb097153891a9a956cff47b83e63ad8d701c1342c209cff1ca5ecd43402762ac249e3bd3a4c0a145fe07cb5dae28ea13a3",
    ],
    [
      "4d757272617920526f746862617264",
      "95ebc60d2b1fa672c1f46a8aa265ef51bfe38e7ccb39ec5be34069f144808843af2ccf9972e22afc67aeafcd25162f7f98c363b7762e3e4cb7d272e39f27a5",
    ],
    ["462e20412e20486179656b", "66acfc92e3197de166809e6d4d5d003dcc819a84bc3522ca53c9d9"],
    ["4361726c204d656e676572", "71f89aa6533a6de70b0826864dd75f60806ee40170c16290189eb3"],
    [
      "4a65616e2d426170746973746520536179",
      "4795a3423550c8bf00386bd496a3e2c76c10669d2a75ab8f79b5094c5412a25705",
    ],
    [
      "457567656e2042f6686d20766f6e2042617765726b",
      "aa0bb39097555c918e40be82abc2b909eb79d9eb87adb07e268fc37323a6cf904fd01fb391",
    ],
  ],
}];

async function bothSides({ pattern, prologue, initiator, responder, psk }: Vector) {
  const side = async (isInitiator: boolean) => {
    const { keys, ephemeral } = isInitiator ? initiator : responder;
    const responderKeys = await importKeyPair(hex(responder.keys));
    return createHandshake(pattern, {
      isInitiator,
      prologue: hex(prologue),
      keys: await importKeyPair(hex(keys)),
      ephemeral: await importKeyPair(hex(ephemeral)),
      ...(pattern.isResponderKnown && isInitiator && { peerKey: responderKeys.publicKey }),
      ...(psk !== undefined && { psk: hex(psk) }),
    });
  };
  return [await side(true), await side(false)] as const;
}

for (const vector of VECTORS) {
  const { source, pattern, messages } = vector;
  Deno.test(`A handshake has the bytes of the published vector ${pattern.name}, ${source}`, async () => {
    const sides = await bothSides(vector);
    const count = pattern.messages.length;
    for (const [at, [payload, message]] of messages.slice(0, count).entries()) {
      equal((await sides[at % 2]!.write(hex(payload))).toHex(), message);
      equal((await sides[1 - at % 2]!.read(hex(message))).toHex(), payload);
    }

    const [first, second] = [await sides[0].finish(), await sides[1].finish()];
    for (const [at, [payload, message]] of messages.entries()) {
      if (at < count) continue;
      const [from, to] = (at - count) % 2 === 0 ? [first, second] : [second, first];
      equal((await from.send.encrypt(hex(payload))).toHex(), message);
      equal((await to.receive.decrypt(hex(message))).toHex(), payload);
    }
    equal(
      first.peerKey.toHex(),
      (await importKeyPair(hex(vector.responder.keys))).publicKey.toHex(),
    );
  });
}

Deno.test("A handshake fails with a wrong key, secret, prologue or altered byte", async () => {
  const [keys, other] = [await createKeyPair(), await createKeyPair()];
  const prologue = hex("01");
  const secret = new Uint8Array(32);

  const initiator = createHandshake(IK, {
    isInitiator: true,
    prologue,
    keys,
    peerKey: other.publicKey,
  });
  const message = await initiator.write();
  const asResponder = (change: object) =>
    createHandshake(IK, { isInitiator: false, prologue, keys: other, ...change }).read(message);
  equal((await asResponder({})).length, 0);
  await rejects(asResponder({ keys }), HandshakeError);
  await rejects(asResponder({ prologue: hex("02") }), HandshakeError);
  message[40]! ^= 1;
  await rejects(asResponder({}), HandshakeError);
  await rejects(
    createHandshake(IK, { isInitiator: false, prologue, keys }).read(message.subarray(0, 60)),
    HandshakeError,
  );

  const invited = createHandshake(XXPSK3, { isInitiator: true, prologue, keys, psk: secret });
  const hub = createHandshake(XXPSK3, { isInitiator: false, prologue, keys: other });
  await hub.read(await invited.write());
  await invited.read(await hub.write());
  hub.setSecret(new Uint8Array(32).fill(1));
  await rejects(hub.read(await invited.write()).then(() => hub.finish()), HandshakeError);
});

Deno.test("A handshake refuses a public key that leads to a known secret", async () => {
  const keys = await createKeyPair();
  const handshake = createHandshake(IK, {
    isInitiator: true,
    prologue: hex(""),
    keys,
    peerKey: new Uint8Array(32),
  });
  await rejects(handshake.write(), HandshakeError);
});

Deno.test("A private key is the same after it was exported and imported", async () => {
  const keys = await createKeyPair();
  const again = await importKeyPair(await exportPrivateKey(keys));
  deepEqual(again.publicKey, keys.publicKey);
});
