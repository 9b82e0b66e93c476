/**
 * Sends mails through the server that the operator named.
 *
 * @module
 */

import type { Config } from "../../config/config.ts";
import { isMailAddress } from "./subscriber_address.ts";

/** For connecting, for the greeting, and for each answer after that, in milliseconds. */
const CONNECT_MS = 10_000;
const ANSWER_MS = 20_000;

/** For the whole mail. */
const MAIL_MS = 60_000;

/** Longest subject; the mail itself holds everything. */
const SUBJECT_MAX = 200;

export interface Mail {
  /** One address; see `isMailAddress()`. */
  to: string;
  subject: string;
  text: string;
  html: string;
  /** The same at each attempt, so that a mailbox can tell a repeat. */
  id: string;
  /** Ends the subscription that the mail is sent for. */
  unsubscribeUrl?: string;
}

/** A mail that was not sent. The message is a sentence for the user, without the server's words. */
export class MailError extends Error {
  override readonly name = "MailError";

  constructor(
    message: string,
    /** The server's answer, e.g. 550; `null` where there was none. */
    readonly status: number | null,
    /** Whether the same mail may be taken later. */
    readonly isPassing: boolean,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/**
 * Hands a mail to the server.
 *
 * @param signal Ends the wait; nobody knows then whether the mail was sent.
 * @throws {MailError}
 */
export async function sendMail(
  { smtpUrl, smtpFrom, serverName }: Pick<Config, "smtpUrl" | "smtpFrom" | "serverName">,
  { to, subject, text, html, id, unsubscribeUrl }: Mail,
  signal: AbortSignal,
): Promise<void> {
  if (smtpUrl === null) throw new MailError("SMTP_URL is not set", null, false);
  if (!isMailAddress(to)) throw new MailError("The address is no mail address", null, false);
  const { createTransport } = await import("nodemailer");
  const from = senderOf(smtpFrom, serverName);
  const transport = createTransport({
    url: smtpUrl,
    connectionTimeout: CONNECT_MS,
    greetingTimeout: CONNECT_MS,
    socketTimeout: ANSWER_MS,
  });
  const sending = transport.sendMail({
    from,
    // As an object, for a text would be read as a list of addresses.
    to: { name: "", address: to },
    subject: oneLine(subject),
    text,
    html,
    messageId: `<${id}@${domainOf(from)}>`,
    headers: {
      // RFC 3834: nobody is to answer that they are on holiday.
      "Auto-Submitted": "auto-generated",
      // RFC 8058, which takes https only.
      ...(unsubscribeUrl?.startsWith("https:") &&
        { "List-Unsubscribe-Post": "List-Unsubscribe=One-Click" }),
    },
    ...(unsubscribeUrl !== undefined && { list: { unsubscribe: unsubscribeUrl } }),
    disableFileAccess: true,
    disableUrlAccess: true,
  }).catch((error: unknown) => {
    throw asMailError(error);
  });
  await inTime(sending, signal);
}

async function inTime(sending: Promise<unknown>, signal: AbortSignal): Promise<void> {
  const ended = Promise.withResolvers<never>();
  const abort = () => ended.reject(signal.reason);
  const timer = setTimeout(
    () => ended.reject(new MailError("The mail server took too long", null, true)),
    MAIL_MS,
  );
  signal.addEventListener("abort", abort, { once: true });
  // Whichever comes second is no news any more.
  sending.catch(() => {});
  ended.promise.catch(() => {});
  try {
    signal.throwIfAborted();
    await Promise.race([sending, ended.promise]);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", abort);
  }
}

const UNTRUSTED = "The mail server's certificate is not valid, or it does not speak TLS";

/** Codes of the library, https://nodemailer.com/errors */
const FAILURES: Readonly<Record<string, string>> = {
  EAUTH: "The mail server does not take the user and password of SMTP_URL",
  ENOAUTH: "The mail server does not take the user and password of SMTP_URL",
  ECONNECTION: "The mail server cannot be reached",
  ESOCKET: "The mail server cannot be reached",
  EDNS: "The name of the mail server has no address",
  ETIMEDOUT: "The mail server took too long",
  ETLS: UNTRUSTED,
  EPROTOCOL: "The mail server did not answer with SMTP",
};

/** A server that cannot be used now may be repaired; what it refuses for good (5yz) stays so. */
function asMailError(cause: unknown): MailError {
  const { code, responseCode, message } = cause as Error & { code?: string; responseCode?: number };
  const status = responseCode ?? null;
  // The library has one code for every failure of a socket.
  const isTls = code === "ESOCKET" && /certificate|ssl|tls/i.test(message);
  const known = isTls ? UNTRUSTED : code === undefined ? undefined : FAILURES[code];
  if (known !== undefined) return new MailError(known, status, true, { cause });
  const isFinal = status !== null && status >= 500;
  const what = code === "EENVELOPE" ? "sender or recipient" : "mail";
  return new MailError(
    status === null
      ? "The mail could not be handed to the mail server"
      : `The mail server refused the ${what} (${status})`,
    status,
    !isFinal,
    { cause },
  );
}

/** What `SMTP_FROM` says; without it, an address at this server's name. */
function senderOf(smtpFrom: string | null, serverName: string): string {
  if (smtpFrom !== null) return oneLine(smtpFrom);
  const address = `longshore@${serverName}`;
  return isMailAddress(address) ? address : "longshore@localhost";
}

/** The domain of the last address in a sender such as `Status <status@example.com>`. */
function domainOf(from: string): string {
  return /@([A-Za-z0-9.-]+)>?\s*$/.exec(from)?.[1] ?? "localhost";
}

/** A header is one line, whatever a title holds. */
function oneLine(text: string): string {
  const line = text.replace(/[\p{Cc}\u2028\u2029]+/gu, " ").trim();
  return line.length <= SUBJECT_MAX ? line : `${line.slice(0, SUBJECT_MAX).toWellFormed()}...`;
}
