/** SSH keys and signatures, made by the real `ssh-keygen`. @module */

export interface SshKey {
  /** The file of the private key. */
  path: string;
  /** The content of the `.pub` file. */
  publicKey: string;
}

/** Creates a key pair in the directory. */
export async function createKey(directory: string, type = "ed25519"): Promise<SshKey> {
  const path = `${directory}/key-${crypto.randomUUID()}`;
  await sshKeygen("-q", "-t", type, "-N", "", "-f", path);
  return { path, publicKey: await Deno.readTextFile(`${path}.pub`) };
}

/** Signs a text. @returns The content of the `.sig` file. */
export async function signText(
  { path }: SshKey,
  text: string,
  { namespace = "file", hash = "sha512" }: { namespace?: string; hash?: string } = {},
): Promise<string> {
  const file = `${path}-${crypto.randomUUID()}`;
  await Deno.writeTextFile(file, text);
  await sshKeygen("-Y", "sign", "-f", path, "-n", namespace, "-O", `hashalg=${hash}`, file);
  return await Deno.readTextFile(`${file}.sig`);
}

async function sshKeygen(...args: string[]): Promise<void> {
  const { success, stderr } = await new Deno.Command("ssh-keygen", { args }).output();
  if (!success) throw new Error(`ssh-keygen: ${new TextDecoder().decode(stderr)}`);
}
