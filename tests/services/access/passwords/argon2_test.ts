import { deepEqual, equal, rejects } from "node:assert/strict";
import { type Cost, createArgon2 } from "../../../../services/access/passwords/argon2.ts";

const encoder = new TextEncoder();
const HASH_BYTES = 32;

// The reference implementation's own vectors (P-H-C/phc-winner-argon2, src/test.c).
for (
  const { password, salt, cost, hash } of [
    {
      password: "password",
      salt: "somesalt",
      cost: { memoryKib: 65_536, passes: 2, lanes: 1 },
      hash: "CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc=",
    },
    {
      password: "password",
      salt: "somesalt",
      cost: { memoryKib: 256, passes: 2, lanes: 2 },
      hash: "bQk8UB/VmZZF4Oo79iDXuL5/0ttZwg2f/5U52iv1cDc=",
    },
  ]
) {
  Deno.test(`the hash of ${password} at ${JSON.stringify(cost)} is the reference's`, async () => {
    deepEqual(await hashOf(password, salt, cost), Uint8Array.fromBase64(hash));
  });
}

for (
  const cost of [
    { memoryKib: 19_456, passes: 2, lanes: 1 },
    { memoryKib: 4_096, passes: 3, lanes: 4 },
    { memoryKib: 8, passes: 1, lanes: 1 },
  ]
) {
  Deno.test(`a hash at ${JSON.stringify(cost)} equals WebCrypto's`, async () => {
    const [password, salt] = ["correct hörse battery", "sixteen byte salt"];
    deepEqual(await hashOf(password, salt, cost), await webCryptoHash(password, salt, cost));
  });
}

Deno.test("a worker that failed computes the next hash", async () => {
  const argon2 = createArgon2();
  try {
    const [password, salt] = [encoder.encode("password"), encoder.encode("somesalt")];
    const hash = (memoryKib: number) =>
      argon2.hash(password, salt, { memoryKib, passes: 1, lanes: 1 }, HASH_BYTES);
    await rejects(hash(1), /Argon2id failed/);
    deepEqual(
      await hash(64),
      await webCryptoHash("password", "somesalt", { memoryKib: 64, passes: 1, lanes: 1 }),
    );
  } finally {
    argon2.close();
  }
});

Deno.test("a worker that died is replaced", async () => {
  const { Worker } = globalThis;
  let started = 0;
  globalThis.Worker = class extends Worker {
    constructor(url: string | URL, options?: WorkerOptions) {
      super(started++ === 0 ? "data:text/javascript,throw new Error('died')" : url, options);
    }
  };
  const argon2 = createArgon2();
  try {
    const hash = () =>
      argon2.hash(
        encoder.encode("password"),
        encoder.encode("somesalt"),
        { memoryKib: 64, passes: 1, lanes: 1 },
        HASH_BYTES,
      );
    await rejects(hash(), /died/);
    equal((await hash()).length, HASH_BYTES);
  } finally {
    argon2.close();
    globalThis.Worker = Worker;
  }
});

async function hashOf(password: string, salt: string, cost: Cost): Promise<Uint8Array> {
  const argon2 = createArgon2();
  try {
    return await argon2.hash(encoder.encode(password), encoder.encode(salt), cost, HASH_BYTES);
  } finally {
    argon2.close();
  }
}

async function webCryptoHash(password: string, salt: string, cost: Cost): Promise<Uint8Array> {
  const key = await crypto.subtle.importKey(
    "raw-secret" as "raw",
    encoder.encode(password),
    "Argon2id",
    false,
    ["deriveBits"],
  );
  const params = {
    name: "Argon2id",
    nonce: encoder.encode(salt),
    memory: cost.memoryKib,
    passes: cost.passes,
    parallelism: cost.lanes,
    version: 0x13,
  };
  return new Uint8Array(await crypto.subtle.deriveBits(params, key, HASH_BYTES * 8));
}
