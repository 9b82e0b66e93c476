/**
 * Verifies signatures that `ssh-keygen -Y sign` made with an Ed25519 key.
 *
 * The format is SSHSIG, https://github.com/openssh/openssh-portable/blob/master/PROTOCOL.sshsig
 *
 * @module
 */

/** A signature or a key that is not accepted; the message is a sentence. */
export class SignatureError extends Error {
  override readonly name = "SignatureError";
}

const ALGORITHM = "ssh-ed25519";
const MAGIC = new TextEncoder().encode("SSHSIG");
const VERSION = 1;
const KEY_BYTES = 32;
const SIGNATURE_BYTES = 64;

/** By their name in the format. */
const HASHES: Readonly<Record<string, string>> = { sha256: "SHA-256", sha512: "SHA-512" };

const ARMOR = /^-----BEGIN SSH SIGNATURE-----\n([\w+/=\n]+)\n-----END SSH SIGNATURE-----\n?$/;

type Bytes = Uint8Array<ArrayBuffer>;

/**
 * Verifies the signature of `message`.
 *
 * @param signature The content of the `.sig` file.
 * @param trust The public keys, each as in a `.pub` file, and the namespace (`ssh-keygen -n`).
 * @throws {SignatureError} If it is not a valid signature by one of the keys.
 */
export async function verifySshSignature(
  message: Bytes,
  signature: string,
  trust: { keys: readonly string[]; namespace: string },
): Promise<void> {
  const keys = trust.keys.map(parsePublicKey);
  const { publicKey, namespace, hash, bytes } = parseSignature(signature);
  if (namespace !== trust.namespace) {
    throw new SignatureError(`the signature is for "${namespace}", not for "${trust.namespace}"`);
  }
  const known = keys.find((key) => isEqual(key, publicKey));
  if (!known) throw new SignatureError("it was signed with a key that is not trusted");
  const digest = new Uint8Array(await crypto.subtle.digest(HASHES[hash]!, message));
  // The reserved field, which is part of the signed text, is empty.
  const signed = joinBytes(MAGIC, ...[namespace, "", hash, digest].map(sshString));
  const key = await crypto.subtle.importKey("raw", known, "Ed25519", false, ["verify"]);
  if (!await crypto.subtle.verify("Ed25519", key, bytes, signed)) {
    throw new SignatureError("the signature does not fit the content");
  }
}

/**
 * Returns the 32 bytes of a public key.
 *
 * @param text A line such as `ssh-ed25519 AAAA... comment`.
 * @throws {SignatureError} If it is not an Ed25519 key.
 */
function parsePublicKey(text: string): Bytes {
  const [algorithm, encoded = ""] = text.trim().split(" ");
  if (algorithm !== ALGORITHM) {
    throw new SignatureError(`the key is not an Ed25519 key (${ALGORITHM} AAAA...)`);
  }
  return readPublicKey(decodeBase64(encoded));
}

function parseSignature(armored: string) {
  const encoded = ARMOR.exec(armored)?.[1];
  if (encoded === undefined) throw new SignatureError("it is not an SSH signature");
  const reader = readFields(decodeBase64(encoded.replaceAll("\n", "")));
  if (!isEqual(reader.take(MAGIC.length), MAGIC) || reader.number() !== VERSION) {
    throw new SignatureError("it is not an SSH signature of version 1");
  }
  const publicKey = readPublicKey(reader.field());
  const [namespace, reserved, hash] = [reader.text(), reader.text(), reader.text()];
  const signature = readFields(reader.field());
  reader.end();
  if (reserved !== "") throw new SignatureError("the signature has an unknown extension");
  if (!Object.hasOwn(HASHES, hash)) throw new SignatureError(`unknown hash algorithm ${hash}`);
  if (signature.text() !== ALGORITHM) throw new SignatureError("it is not an Ed25519 signature");
  const bytes = signature.field();
  signature.end();
  if (bytes.length !== SIGNATURE_BYTES) throw new SignatureError("the signature is damaged");
  return { publicKey, namespace, hash, bytes };
}

function readPublicKey(bytes: Bytes): Bytes {
  const reader = readFields(bytes);
  if (reader.text() !== ALGORITHM) throw new SignatureError("the key is not an Ed25519 key");
  const key = reader.field();
  reader.end();
  if (key.length !== KEY_BYTES) throw new SignatureError("the key is damaged");
  return key;
}

/** Reads the fields of SSH's binary format (RFC 4251, section 5). */
function readFields(bytes: Bytes) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let at = 0;
  const take = (length: number): Bytes => {
    if (length > bytes.length - at) throw new SignatureError("it ends too early");
    return bytes.slice(at, at += length);
  };
  const number = () => {
    const from = at;
    take(4);
    return view.getUint32(from);
  };
  const field = () => take(number());
  return {
    take,
    number,
    field,
    text: () => new TextDecoder().decode(field()),
    end() {
      if (at !== bytes.length) throw new SignatureError("it has trailing data");
    },
  };
}

function sshString(value: string | Bytes): Bytes {
  const bytes = typeof value === "string" ? new TextEncoder().encode(value) : value;
  const length = new Uint8Array(4);
  new DataView(length.buffer).setUint32(0, bytes.length);
  return joinBytes(length, bytes);
}

function joinBytes(...parts: Bytes[]): Bytes {
  const joined = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    joined.set(part, at);
    at += part.length;
  }
  return joined;
}

function decodeBase64(text: string): Bytes {
  try {
    return Uint8Array.fromBase64(text, { lastChunkHandling: "strict" });
  } catch {
    throw new SignatureError("it is not valid base64");
  }
}

function isEqual(a: Bytes, b: Bytes): boolean {
  return a.length === b.length && a.every((byte, index) => byte === b[index]);
}
