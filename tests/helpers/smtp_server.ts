/** A real SMTP server on loopback that stores received mails. @module */

import { SMTPServer } from "smtp-server";

export interface ReceivedMail {
  from: string;
  to: string[];
  /** Header and body as received. */
  raw: string;
  /** Headers by their name in lower case, unfolded and with encoded words decoded (RFC 2047). */
  headers: Record<string, string>;
  /** The decoded parts by their media type. */
  parts: Record<string, string>;
}

export interface SmtpServer extends AsyncDisposable {
  /** For `SMTP_URL`. */
  url: string;
  mails: ReceivedMail[];
}

/**
 * @param options.refuse The response code for a recipient, e.g. 550; `undefined` accepts it.
 * @param options.users Accounts that may send; default: no authentication.
 * @param options.smtpUtf8 Whether it takes addresses beyond ASCII; default: yes.
 * @param options.tls Uses implicit TLS with an untrusted certificate.
 */
export async function smtpServer(
  { refuse = () => undefined, users, smtpUtf8 = true, tls = false }: {
    refuse?: (recipient: string, attempt: number) => number | undefined;
    users?: Record<string, string>;
    smtpUtf8?: boolean;
    tls?: boolean;
  } = {},
): Promise<SmtpServer> {
  const mails: ReceivedMail[] = [];
  let attempts = 0;
  const server = new SMTPServer({
    secure: tls,
    authOptional: users === undefined,
    allowInsecureAuth: true,
    disabledCommands: ["STARTTLS"],
    hideSMTPUTF8: !smtpUtf8,
    logger: false,
    onAuth({ username, password }, _session, done) {
      if (users?.[username ?? ""] === password) done(null, { user: username });
      else done(new Error("wrong"));
    },
    onRcptTo({ address }, _session, done) {
      const responseCode = refuse(address, attempts++);
      done(
        responseCode
          ? Object.assign(new Error("no <secret> of the server"), { responseCode })
          : null,
      );
    },
    onData(stream, { envelope }, done) {
      const chunks: Uint8Array[] = [];
      stream.on("data", (chunk: Uint8Array) => chunks.push(chunk));
      stream.on("end", () => {
        const raw = new TextDecoder().decode(concat(chunks));
        mails.push({
          from: (envelope.mailFrom as { address: string }).address,
          to: envelope.rcptTo.map(({ address }: { address: string }) => address),
          raw,
          ...readMail(raw),
        });
        done();
      });
    },
  });
  // Clients that disconnect because of the certificate.
  server.on("error", () => {});
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", () => resolve()));
  const { port } = server.server.address() as { port: number };
  const login = users ? Object.entries(users)[0]!.map(encodeURIComponent).join(":") + "@" : "";
  return {
    url: `${tls ? "smtps" : "smtp"}://${login}127.0.0.1:${port}`,
    mails,
    [Symbol.asyncDispose]: () => new Promise<void>((resolve) => void server.close(() => resolve())),
  };
}

function readMail(raw: string): Pick<ReceivedMail, "headers" | "parts"> {
  const { headers, body } = splitPart(raw);
  const boundary = /boundary="([^"]+)"/.exec(headers["content-type"] ?? "")?.[1];
  const parts = boundary === undefined
    ? [{ headers, body }]
    : body.split(`--${boundary}`).slice(1, -1).map((part) => splitPart(part.replace(/^\r\n/, "")));
  return {
    headers,
    parts: Object.fromEntries(parts.map((part) => [
      part.headers["content-type"]!.split(";")[0]!,
      decodedBody(part.body, part.headers["content-transfer-encoding"]),
    ])),
  };
}

function splitPart(text: string): { headers: Record<string, string>; body: string } {
  const end = text.indexOf("\r\n\r\n");
  const lines = text.slice(0, end).replace(/\r\n[ \t]/g, " ").split("\r\n");
  return {
    headers: Object.fromEntries(lines.map((line) => {
      const colon = line.indexOf(":");
      return [line.slice(0, colon).toLowerCase(), decodedWords(line.slice(colon + 1).trim())];
    })),
    body: text.slice(end + 4),
  };
}

function decodedWords(text: string): string {
  return text.replace(/\?=\s+=\?/g, "?==?").replace(
    /=\?utf-8\?([bq])\?([^?]*)\?=/gi,
    (_, way: string, word: string) =>
      way.toLowerCase() === "b" ? fromBase64(word) : fromQuoted(word.replaceAll("_", " ")),
  );
}

function decodedBody(body: string, encoding = "7bit"): string {
  const text = encoding === "base64"
    ? fromBase64(body.replace(/\s/g, ""))
    : encoding === "quoted-printable"
    ? fromQuoted(body.replace(/=\r\n/g, ""))
    : body;
  return text.replaceAll("\r\n", "\n").trimEnd();
}

const fromBase64 = (text: string) => new TextDecoder().decode(Uint8Array.fromBase64(text));

function fromQuoted(text: string): string {
  const bytes = text.replace(/%/g, "%25").replace(/=([0-9A-F]{2})/gi, "%$1");
  return decodeURIComponent(bytes);
}

function concat(chunks: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(chunks.reduce((length, chunk) => length + chunk.length, 0));
  let at = 0;
  for (const chunk of chunks) {
    whole.set(chunk, at);
    at += chunk.length;
  }
  return whole;
}
