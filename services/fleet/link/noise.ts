/**
 * Handshakes of the Noise Protocol Framework, revision 34 (https://noiseprotocol.org/noise.html),
 * with WebCrypto's X25519, AES-256-GCM and SHA-256.
 *
 * @module
 */

export type Bytes = Uint8Array<ArrayBuffer>;

export interface KeyPair {
  privateKey: CryptoKey;
  /** 32 bytes. */
  publicKey: Bytes;
}

type Dh = "ee" | "es" | "se" | "ss";
type Token = "e" | "s" | "psk" | Dh;

interface Pattern {
  name: string;
  /** Whether the initiator knows the responder's static key before. */
  isResponderKnown: boolean;
  /** Messages in turn; the first is the initiator's. */
  messages: readonly (readonly Token[])[];
}

/** Both keys are known: an enrolled host and its hub (section 7.5). */
export const IK: Pattern = {
  name: "Noise_IK_25519_AESGCM_SHA256",
  isResponderKnown: true,
  messages: [["e", "es", "s", "ss"], ["e", "ee", "se"]],
};

/** Keys are exchanged, and both sides prove that they know a secret (section 9). */
export const XXPSK3: Pattern = {
  name: "Noise_XXpsk3_25519_AESGCM_SHA256",
  isResponderKnown: false,
  messages: [["e"], ["e", "ee", "s", "es"], ["s", "se", "psk"]],
};

/** One message to a known key, from anyone (section 7.4): its sender is proved otherwise. */
export const N: Pattern = {
  name: "Noise_N_25519_AESGCM_SHA256",
  isResponderKnown: true,
  messages: [["e", "es"]],
};

/** Sizes in bytes (sections 4 and 12). */
export const KEY_BYTES = 32;
const HASH_BYTES = 32;
export const TAG_BYTES = 16;

/** Maximum length of a message in bytes, with its tag (section 3). */
export const MESSAGE_MAX = 65_535;

/** The last nonce is for new keys (section 4.2). A link re-keys long before a number is inexact. */
const NONCE_MAX = Number.MAX_SAFE_INTEGER;

/** The beginning of an X25519 private key in PKCS #8 (RFC 8410, section 7). */
const PKCS8 = Uint8Array.fromHex("302e020100300506032b656e04220420");

const EMPTY: Bytes = new Uint8Array();
const encoder = new TextEncoder();

/** A message of the peer is not what it must be: a wrong key, or altered or foreign bytes. */
export class HandshakeError extends Error {
  override readonly name = "HandshakeError";
}

/** One direction of a finished handshake. */
export interface CipherState {
  encrypt(plain: Bytes): Promise<Bytes>;
  /** @throws {HandshakeError} If the bytes are not the next message of the peer. */
  decrypt(sealed: Bytes): Promise<Bytes>;
  /** Replaces the key by one that does not lead back to it (section 4.2, REKEY). */
  rekey(): Promise<void>;
}

export interface Finished {
  send: CipherState;
  receive: CipherState;
  /** Static key of the peer. */
  peerKey: Bytes;
}

/** Steps of a handshake; each side alternates `write` and `read` until `finish` is possible. */
export type Handshake = ReturnType<typeof createHandshake>;

export async function createKeyPair(): Promise<KeyPair> {
  const { privateKey, publicKey } = await crypto.subtle.generateKey(
    { name: "X25519" },
    true,
    ["deriveBits"],
  ) as CryptoKeyPair;
  return {
    privateKey,
    publicKey: new Uint8Array(await crypto.subtle.exportKey("raw", publicKey)),
  };
}

/** @returns The 32 bytes of a private key. */
export async function exportPrivateKey({ privateKey }: KeyPair): Promise<Bytes> {
  const encoded = new Uint8Array(await crypto.subtle.exportKey("pkcs8", privateKey));
  return encoded.slice(-KEY_BYTES);
}

/** @param bytes The 32 bytes of a private key. */
export async function importKeyPair(bytes: Bytes): Promise<KeyPair> {
  const privateKey = await crypto.subtle.importKey(
    "pkcs8",
    concat(PKCS8, bytes),
    { name: "X25519" },
    true,
    ["deriveBits"],
  );
  const { x } = await crypto.subtle.exportKey("jwk", privateKey);
  return { privateKey, publicKey: Uint8Array.fromBase64(x!, { alphabet: "base64url" }) };
}

/**
 * Begins a handshake.
 *
 * @param options.prologue Bytes that both sides must have in common.
 * @param options.keys Static keys of this side; the initiator of {@linkcode N} has none.
 * @param options.peerKey The responder's static key, of an initiator with {@linkcode IK} or {@linkcode N}.
 * @param options.psk 32 secret bytes, with {@linkcode XXPSK3}; needed at the third message only.
 * @param options.ephemeral For published test vectors only.
 */
export function createHandshake(
  pattern: Pattern,
  { isInitiator, prologue, keys, peerKey, psk, ephemeral }: {
    isInitiator: boolean;
    prologue: Bytes;
    keys?: KeyPair;
    peerKey?: Bytes;
    psk?: Bytes;
    ephemeral?: KeyPair;
  },
) {
  const hasPsk = pattern.messages.some((tokens) => tokens.includes("psk"));
  let state: SymmetricState | undefined;
  let own = ephemeral;
  let peerEphemeral: Bytes | undefined;
  let secret = psk;
  let at = 0;

  async function begin(): Promise<SymmetricState> {
    const created = new SymmetricState(pattern.name);
    await created.mixHash(prologue);
    const known = isInitiator ? peerKey : keys!.publicKey;
    if (pattern.isResponderKnown) await created.mixHash(known!);
    return created;
  }

  function nextTokens(isWriter: boolean): readonly Token[] {
    const tokens = pattern.messages[at];
    if (!tokens || isWriter !== ((at % 2 === 0) === isInitiator)) {
      throw new TypeError("Not the turn of this side");
    }
    at++;
    return tokens;
  }

  /** The first letter is of the initiator's key, the second one of the responder's. */
  async function mixDh(token: Dh): Promise<void> {
    const [mine, theirs] = isInitiator ? [token[0], token[1]] : [token[1], token[0]];
    const local = mine === "e" ? own! : keys!;
    const remote = theirs === "e" ? peerEphemeral! : peerKey!;
    await state!.mixKey(await sharedSecret(local, remote));
  }

  async function mix(token: Token): Promise<void> {
    if (token === "psk") await state!.mixKeyAndHash(secret!);
    else await mixDh(token as Dh);
  }

  return {
    /** Secret of the third message, for a responder that learns the invite from the first one. */
    setSecret(given: Bytes): void {
      secret = given;
    },

    /** The next message of this side, with a payload. */
    async write(payload: Bytes = EMPTY): Promise<Bytes> {
      const tokens = nextTokens(true);
      state ??= await begin();
      const parts: Bytes[] = [];
      for (const token of tokens) {
        if (token === "e") {
          own ??= await createKeyPair();
          parts.push(own.publicKey);
          await state.mixHash(own.publicKey);
          if (hasPsk) await state.mixKey(own.publicKey);
        } else if (token === "s") parts.push(await state.encryptAndHash(keys!.publicKey));
        else await mix(token);
      }
      parts.push(await state.encryptAndHash(payload));
      return concat(...parts);
    },

    /**
     * The payload of the peer's next message.
     *
     * @throws {HandshakeError}
     */
    async read(message: Bytes): Promise<Bytes> {
      const tokens = nextTokens(false);
      state ??= await begin();
      let rest = message;
      const take = (length: number) => {
        if (rest.length < length) throw new HandshakeError("A handshake message is too short");
        const taken = rest.subarray(0, length);
        rest = rest.subarray(length);
        return taken;
      };
      if (message.length > MESSAGE_MAX) throw new HandshakeError("A message is too long");
      for (const token of tokens) {
        if (token === "e") {
          peerEphemeral = take(KEY_BYTES).slice();
          await state.mixHash(peerEphemeral);
          if (hasPsk) await state.mixKey(peerEphemeral);
        } else if (token === "s") {
          peerKey = await state.decryptAndHash(take(KEY_BYTES + (state.hasKey ? TAG_BYTES : 0)));
        } else await mix(token);
      }
      return await state.decryptAndHash(rest);
    },

    /** Static key of the peer, as soon as it was read or given. */
    get peerKey(): Bytes | undefined {
      return peerKey;
    },

    /** Ciphers of the messages that follow the handshake. */
    async finish(): Promise<Finished> {
      if (at < pattern.messages.length) throw new TypeError("The handshake is not finished");
      const [first, second] = await state!.split();
      const [send, receive] = isInitiator ? [first, second] : [second, first];
      return { send, receive, peerKey: peerKey! };
    },
  };
}

/** The hash and keys of a handshake so far (section 5.2). */
class SymmetricState {
  #chainingKey: Bytes;
  #hash: Bytes;
  #cipher: Cipher | undefined;

  constructor(name: string) {
    // Names of 32 bytes or less would be used as they are; `XXpsk3` has exactly 32.
    const bytes = encoder.encode(name);
    if (bytes.length > HASH_BYTES) throw new TypeError("The name of the protocol is too long");
    this.#hash = new Uint8Array(HASH_BYTES);
    this.#hash.set(bytes);
    this.#chainingKey = this.#hash;
  }

  get hasKey(): boolean {
    return this.#cipher !== undefined;
  }

  async mixHash(data: Bytes): Promise<void> {
    this.#hash = new Uint8Array(await crypto.subtle.digest("SHA-256", concat(this.#hash, data)));
  }

  async mixKey(input: Bytes): Promise<void> {
    const [chainingKey, key] = await derive(this.#chainingKey, input, 2);
    this.#chainingKey = chainingKey!;
    this.#cipher = await Cipher.create(key!);
  }

  async mixKeyAndHash(input: Bytes): Promise<void> {
    const [chainingKey, hashed, key] = await derive(this.#chainingKey, input, 3);
    this.#chainingKey = chainingKey!;
    await this.mixHash(hashed!);
    this.#cipher = await Cipher.create(key!);
  }

  async encryptAndHash(plain: Bytes): Promise<Bytes> {
    const sealed = this.#cipher ? await this.#cipher.encrypt(plain, this.#hash) : plain;
    await this.mixHash(sealed);
    return sealed;
  }

  async decryptAndHash(sealed: Bytes): Promise<Bytes> {
    const plain = this.#cipher ? await this.#cipher.decrypt(sealed, this.#hash) : sealed.slice();
    await this.mixHash(sealed);
    return plain;
  }

  async split(): Promise<[Cipher, Cipher]> {
    const [first, second] = await derive(this.#chainingKey, EMPTY, 2);
    return [await Cipher.create(first!), await Cipher.create(second!)];
  }
}

/** A key with the number of its next message (section 5.1). */
class Cipher implements CipherState {
  #key: CryptoKey;
  #nonce = 0;

  private constructor(key: CryptoKey) {
    this.#key = key;
  }

  static async create(key: Bytes): Promise<Cipher> {
    return new Cipher(await importAesKey(key));
  }

  async encrypt(plain: Bytes, additionalData: Bytes = EMPTY): Promise<Bytes> {
    const algorithm = { name: "AES-GCM", iv: this.#nextNonce(), additionalData };
    return new Uint8Array(await crypto.subtle.encrypt(algorithm, this.#key, plain));
  }

  async decrypt(sealed: Bytes, additionalData: Bytes = EMPTY): Promise<Bytes> {
    const algorithm = { name: "AES-GCM", iv: this.#nextNonce(), additionalData };
    try {
      return new Uint8Array(await crypto.subtle.decrypt(algorithm, this.#key, sealed));
    } catch (cause) {
      throw new HandshakeError("A message is not sealed with the expected key", { cause });
    }
  }

  async rekey(): Promise<void> {
    const algorithm = { name: "AES-GCM", iv: nonceBytes(2n ** 64n - 1n), additionalData: EMPTY };
    const zeros = new Uint8Array(KEY_BYTES);
    const sealed = await crypto.subtle.encrypt(algorithm, this.#key, zeros);
    this.#key = await importAesKey(new Uint8Array(sealed, 0, KEY_BYTES));
  }

  #nextNonce(): Bytes {
    if (this.#nonce === NONCE_MAX) throw new HandshakeError("The link has no more numbers");
    return nonceBytes(BigInt(this.#nonce++));
  }
}

const importAesKey = (key: Bytes) =>
  crypto.subtle.importKey("raw", key, "AES-GCM", false, ["encrypt", "decrypt"]);

/** 32 zero bits, then the number with the high byte first (section 12.3). */
function nonceBytes(number: bigint): Bytes {
  const bytes = new Uint8Array(12);
  new DataView(bytes.buffer).setBigUint64(4, number);
  return bytes;
}

/** @throws {HandshakeError} For a key that leads to no secret (section 12.1). */
async function sharedSecret({ privateKey }: KeyPair, publicKey: Bytes): Promise<Bytes> {
  try {
    const imported = await crypto.subtle.importKey("raw", publicKey, { name: "X25519" }, true, []);
    const algorithm = { name: "X25519", public: imported };
    return new Uint8Array(await crypto.subtle.deriveBits(algorithm, privateKey, 8 * KEY_BYTES));
  } catch (cause) {
    throw new HandshakeError("A public key cannot be used", { cause });
  }
}

/** Noise's HKDF (section 4.3), which is RFC 5869's with the chaining key as salt. */
async function derive(chainingKey: Bytes, input: Bytes, count: number): Promise<Bytes[]> {
  const key = await crypto.subtle.importKey("raw", input, "HKDF", false, ["deriveBits"]);
  const algorithm = { name: "HKDF", hash: "SHA-256", salt: chainingKey, info: EMPTY };
  const bits = await crypto.subtle.deriveBits(algorithm, key, 8 * HASH_BYTES * count);
  const derived = new Uint8Array(bits);
  return Array.from(
    { length: count },
    (_, at) => derived.slice(at * HASH_BYTES, (at + 1) * HASH_BYTES),
  );
}

export function concat(...parts: readonly Uint8Array[]): Bytes {
  const joined = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    joined.set(part, at);
    at += part.length;
  }
  return joined;
}
