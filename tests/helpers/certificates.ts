/** Certificates made for a test by `openssl`, and TLS servers that present them. @module */

import type { AddressInfo, LookupFunction } from "node:net";
import { createSecureContext, createServer, type TLSSocket } from "node:tls";

/** A certificate chain with its private key, both PEM. */
export interface Identity {
  cert: string;
  key: string;
}

export interface Issue {
  /** The subject's common name. */
  name: string;
  /** As `openssl` writes it, e.g. `DNS:a.test,IP:127.0.0.1`; default: no names. */
  altNames?: string;
  /** Default: a day ago. */
  from?: Date;
  /** Default: in 100 days. */
  to?: Date;
  /** Whether it may sign others. */
  authority?: boolean;
  /** E.g. `clientAuth`. */
  extendedKeyUsage?: string;
}

export interface Authority extends Identity {
  /** Signs a certificate; the result does not include the authority's. */
  issue(what: Issue): Promise<Identity>;
  /** Signs an authority below this one. */
  issueAuthority(what: Issue): Promise<Authority>;
}

const DAY_MS = 24 * 60 * 60 * 1000;

export const daysFromNow = (days: number) => new Date(Date.now() + days * DAY_MS);

/** A self-signed certificate. */
export async function selfSigned(what: Issue): Promise<Identity> {
  return await withFolder(async (folder) => await signed(folder, what));
}

/** Creates a root certificate authority. */
export async function createAuthority(name: string): Promise<Authority> {
  return asAuthority(await selfSigned({ name, authority: true }));
}

function asAuthority(identity: Identity): Authority {
  const issue = (what: Issue) =>
    withFolder(async (folder) => {
      await Deno.writeTextFile(`${folder}/ca.pem`, identity.cert);
      await Deno.writeTextFile(`${folder}/ca.key`, identity.key);
      return await signed(folder, what, "ca");
    });
  return {
    ...identity,
    issue,
    issueAuthority: async (what) => asAuthority(await issue({ ...what, authority: true })),
  };
}

/** Signs with `openssl ca`, the one command of version 3.0 that takes any dates. */
async function signed(folder: string, what: Issue, signer?: string): Promise<Identity> {
  const { name, altNames, authority = false, extendedKeyUsage } = what;
  const { from = daysFromNow(-1), to = daysFromNow(100) } = what;
  await Deno.writeTextFile(`${folder}/index.txt`, "");
  await Deno.writeTextFile(
    `${folder}/ca.cnf`,
    [
      "[ca]\ndefault_ca = d\n[d]",
      `database = ${folder}/index.txt\nnew_certs_dir = ${folder}\nrand_serial = yes`,
      "default_md = sha256\npolicy = p\nx509_extensions = x",
      "[p]\ncommonName = supplied\n[x]",
      `basicConstraints = critical,CA:${authority ? "TRUE" : "FALSE"}`,
      ...(altNames === undefined ? [] : [`subjectAltName = ${altNames}`]),
      ...(extendedKeyUsage === undefined ? [] : [`extendedKeyUsage = ${extendedKeyUsage}`]),
    ].join("\n") + "\n",
  );
  const files = { key: `${folder}/own.key`, csr: `${folder}/own.csr`, cert: `${folder}/own.pem` };
  await openssl("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes")(
    ["-keyout", files.key, "-out", files.csr, "-subj", `/CN=${name}`],
  );
  await openssl("ca", "-batch", "-notext", "-config", `${folder}/ca.cnf`)([
    ...(signer === undefined
      ? ["-selfsign", "-keyfile", files.key]
      : ["-cert", `${folder}/${signer}.pem`, "-keyfile", `${folder}/${signer}.key`]),
    ...["-startdate", asnTime(from), "-enddate", asnTime(to)],
    ...["-in", files.csr, "-out", files.cert],
  ]);
  const [cert, key] = await Promise.all([
    Deno.readTextFile(files.cert),
    Deno.readTextFile(files.key),
  ]);
  return { cert, key };
}

function openssl(...command: string[]) {
  return async (args: string[]): Promise<void> => {
    const { success, stderr } = await new Deno.Command("openssl", {
      args: [...command, ...args],
      stdout: "null",
      stderr: "piped",
    }).output();
    if (!success) throw new Error(`openssl ${command[0]}: ${new TextDecoder().decode(stderr)}`);
  };
}

/** `YYYYMMDDHHMMSSZ`. */
function asnTime(date: Date): string {
  return date.toISOString().replace(/\.\d+/, "").replace(/[-:T]/g, "");
}

async function withFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = await Deno.makeTempDir({ prefix: "longshore-certificates-" });
  try {
    return await work(folder);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** Resolves every name to the loopback address. */
export const lookupLoopback: LookupFunction = (_host, options, callback) => {
  if (options.all) callback(null, [{ address: "127.0.0.1", family: 4 }]);
  else callback(null, "127.0.0.1", 4);
};

export interface TlsServer extends AsyncDisposable {
  port: number;
  /** Server names that clients requested, in order; empty for a client without one. */
  names: string[];
}

/**
 * Serves TLS on loopback.
 *
 * @param others Certificates by requested server name.
 * @param onSocket Handles an open connection; default: sends nothing.
 */
export async function tlsServer(
  identity: Identity,
  { others = {}, onSocket = () => {} }: {
    others?: Record<string, Identity>;
    onSocket?: (socket: TLSSocket) => void;
  } = {},
): Promise<TlsServer> {
  const names: string[] = [];
  const sockets = new Set<TLSSocket>();
  const server = createServer({
    ...identity,
    SNICallback(name, callback) {
      names.push(name);
      callback(null, createSecureContext(others[name] ?? identity));
    },
  }, (socket) => {
    sockets.add(socket);
    socket.on("error", () => {}).once("close", () => sockets.delete(socket));
    onSocket(socket);
  });
  server.on("tlsClientError", () => {}); // a client that rejects the certificate
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    port: (server.address() as AddressInfo).port,
    names,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
