/** Sends mails through the configured SMTP server. @module */

import type { SendMailOptions, SMTPConnectionOptions } from "nodemailer";
import type SMTPTransport from "nodemailer/lib/smtp-transport";
import type { Config } from "../config/config.ts";
import { withTimeLimit } from "../deadline.ts";
import { isMailAddress } from "./mail_address.ts";
import { needsSmtpUtf8, supportsSmtpUtf8 } from "./smtp_utf8.ts";

/** Time limits of connecting and the greeting, and of each response, in milliseconds. */
const CONNECT_TIMEOUT_MS = 10_000;
const RESPONSE_TIMEOUT_MS = 20_000;

/** Time limit of the whole mail, in milliseconds. */
const MAIL_TIMEOUT_MS = 60_000;

/** Limit of a header value, in characters. */
const SUBJECT_MAX = 200;

/** Refused receivers that an error names. */
const NAMED_MAX = 5;

export interface Mail {
  /** See `isMailAddress()`. */
  to: string | readonly string[];
  subject: string;
  text: string;
  html: string;
  /** The same in each attempt, so that a mailbox can detect a repeat. */
  id: string;
  /** The link that ends the subscription. */
  unsubscribeUrl?: string;
  /** The id of the first mail of its thread. */
  threadId?: string;
}

/** The sender and its mail server. */
interface MailSender extends Pick<Config, "smtpUrl" | "smtpFrom" | "serverName"> {
  /** The address to connect to; without it, the host of `smtpUrl` is resolved. */
  address?: string;
}

/** A mail could not be sent. The message is for users and contains no text of the server. */
export class MailError extends Error {
  override readonly name = "MailError";

  constructor(
    message: string,
    /** The server's reply code, e.g. 550; `null` without a reply. */
    readonly status: number | null,
    /** Whether a later attempt may succeed. */
    readonly isTemporary: boolean,
    /** Receivers that the server refused. If they are not all of the mail's, the others got it. */
    readonly refused: readonly string[] = [],
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/**
 * Sends a mail.
 *
 * @param signal Ends the wait; whether the mail was sent is then unknown.
 * @throws {MailError} Also if the server refused some of the receivers and accepted the others.
 */
export async function sendMail(
  { smtpUrl, smtpFrom, serverName, address }: MailSender,
  { to, subject, text, html, id, unsubscribeUrl, threadId }: Mail,
  signal: AbortSignal,
): Promise<void> {
  if (smtpUrl === null) throw new MailError("SMTP_URL is not set", null, false);
  const addresses = [to].flat();
  if (addresses.length === 0 || !addresses.every(isMailAddress)) {
    throw new MailError("The mail address is not valid", null, false);
  }
  const { default: SMTPTransport } = await import("nodemailer/lib/smtp-transport");
  const from = senderOf(smtpFrom, serverName);
  const server = new SMTPTransport({
    url: address === undefined ? smtpUrl : withAddress(smtpUrl, address),
    ...(address !== undefined && { tls: { servername: new URL(smtpUrl).hostname } }),
    // The library's own default is an address literal, which some relays refuse.
    ...(HOST_NAME.test(serverName) && { name: serverName }),
    connectionTimeout: CONNECT_TIMEOUT_MS,
    greetingTimeout: CONNECT_TIMEOUT_MS,
    socketTimeout: RESPONSE_TIMEOUT_MS,
  });
  const threadReference = `<${threadId}@${domainOf(from)}>`;
  const mail = {
    from,
    subject: oneLine(subject),
    text,
    html,
    messageId: `<${id}@${domainOf(from)}>`,
    headers: {
      // RFC 3834: suppresses automatic replies.
      "Auto-Submitted": "auto-generated",
      // RFC 8058, which requires HTTPS.
      ...(unsubscribeUrl?.startsWith("https:") &&
        { "List-Unsubscribe-Post": "List-Unsubscribe=One-Click" }),
    },
    ...(threadId !== undefined && threadId !== id &&
      { references: threadReference, inReplyTo: threadReference }),
    ...(unsubscribeUrl !== undefined && { list: { unsubscribe: unsubscribeUrl } }),
    disableFileAccess: true,
    disableUrlAccess: true,
  };
  await withTimeLimit({
    timeoutMs: MAIL_TIMEOUT_MS,
    timeoutError: () => new MailError(TIMED_OUT, null, true),
    signal,
  }, () => deliver(server, mail, addresses));
}

/** @throws {MailError} As `sendMail()`. */
async function deliver(
  server: SMTPTransport,
  mail: SendMailOptions & { from: string },
  addresses: readonly string[],
): Promise<void> {
  const { createTransport } = await import("nodemailer");
  const sender = addressIn(mail.from);
  const unsupported = await findUnsupported(server.options, [sender, ...addresses]);
  if (unsupported.includes(sender)) {
    const error = `The mail server does not support SMTPUTF8, which the sender ${sender} needs`;
    throw new MailError(error, null, false);
  }
  const to = addresses.filter((address) => !unsupported.includes(address))
    // Objects, because a string is parsed as a list of addresses.
    .map((address) => ({ name: "", address }));
  const { rejectedErrors = [] } = to.length === 0
    ? {}
    : await createTransport(server).sendMail({ ...mail, to }).catch(rejectionsOf);
  const refused = [...unsupported.map(unsupportedReceiver), ...rejectedErrors];
  if (refused.length > 0) throw refusedError(refused);
}

/**
 * Returns the addresses that the mail server cannot take, because they need SMTPUTF8.
 *
 * @throws {MailError} If the server cannot be reached.
 */
async function findUnsupported(
  server: SMTPConnectionOptions,
  addresses: readonly string[],
): Promise<string[]> {
  const international = addresses.filter(needsSmtpUtf8);
  if (international.length === 0) return [];
  const isSupported = await supportsSmtpUtf8(server).catch((error) => {
    throw asMailError(error);
  });
  return isSupported ? [] : international;
}

/** The URL with the address instead of the host: the library prefers the URL's host to another one. */
function withAddress(smtpUrl: string, address: string): string {
  const url = new URL(smtpUrl);
  url.hostname = address.includes(":") ? `[${address}]` : address;
  return url.href;
}

/** Labels of letters, digits and hyphens. */
const HOST_NAME = /^[a-z0-9-]{1,63}(\.[a-z0-9-]{1,63}){0,8}$/i;

const TIMED_OUT = "The mail server timed out";
const UNAUTHORIZED = "The mail server rejected the user or password of SMTP_URL";
const UNREACHABLE = "The mail server cannot be reached";
const UNTRUSTED = "The mail server's certificate is not valid, or it does not support TLS";

/** Error codes of nodemailer (https://nodemailer.com/errors). */
const FAILURES: Readonly<Record<string, string>> = {
  EAUTH: UNAUTHORIZED,
  ENOAUTH: UNAUTHORIZED,
  ECONNECTION: UNREACHABLE,
  ESOCKET: UNREACHABLE,
  EDNS: "The host name of the mail server cannot be resolved",
  ETIMEDOUT: TIMED_OUT,
  ETLS: UNTRUSTED,
  EPROTOCOL: "The mail server did not respond with SMTP",
};

/** A refused receiver. */
interface Refusal {
  /** The refused address, or its object. */
  recipient?: string | undefined;
  responseCode?: number | undefined;
  /** Why the mail was not sent to the server. */
  problem?: string;
}

/** An error of nodemailer. */
interface SmtpError extends Error, Refusal {
  code?: string | undefined;
  /** One for each refused receiver. */
  rejectedErrors?: SmtpError[] | undefined;
}

/** An unusable server may be repaired, so that these errors are temporary; a 5yz reply is final. */
function asMailError(cause: SmtpError): MailError {
  const { code, responseCode, message } = cause;
  const status = responseCode ?? null;
  if (code === "EPROTOCOL" && status !== null) {
    const error = `The mail server refused the connection (${status})`;
    return new MailError(error, status, true, [], { cause });
  }
  // The library has one code for all socket errors.
  const isTls = code === "ESOCKET" && /certificate|ssl|tls/i.test(message);
  const known = isTls ? UNTRUSTED : code === undefined ? undefined : FAILURES[code];
  if (known !== undefined) return new MailError(known, status, true, [], { cause });
  const what = code === "EENVELOPE" ? "sender" : "mail";
  return new MailError(
    status === null
      ? "The mail could not be sent to the mail server"
      : `The mail server refused the ${what} (${status})`,
    status,
    status === null || status < 500,
    [],
    { cause },
  );
}

/**
 * Returns the error of a mail of which the server refused all receivers.
 *
 * @throws {MailError} For any other error.
 */
function rejectionsOf(error: SmtpError): SmtpError {
  if (error.rejectedErrors?.length) return error;
  throw asMailError(error);
}

const unsupportedReceiver = (recipient: string): Refusal => ({
  recipient,
  problem: "needs SMTPUTF8, which it does not support",
});

/** Temporary if a later attempt may succeed for one of the receivers. */
function refusedError(refusals: readonly Refusal[]): MailError {
  const named = refusals.slice(0, NAMED_MAX).map(({ recipient, responseCode, problem }) =>
    `${recipient} (${problem ?? responseCode ?? "no reply"})`
  );
  if (refusals.length > NAMED_MAX) named.push(`and ${refusals.length - NAMED_MAX} more`);
  const isFinal = ({ responseCode = 0, problem }: Refusal) =>
    problem !== undefined || responseCode >= 500;
  return new MailError(
    `Refused by the mail server: ${named.join(", ")}`,
    refusals[0]!.responseCode ?? null,
    !refusals.every(isFinal),
    refusals.flatMap(({ recipient }) => recipient ?? []),
    { cause: refusals[0] },
  );
}

/** `SMTP_FROM`, or else an address at this server's name. */
function senderOf(smtpFrom: string | null, serverName: string): string {
  if (smtpFrom !== null) return oneLine(smtpFrom);
  const address = `longshore@${serverName}`;
  return isMailAddress(address) ? address : "longshore@localhost";
}

/** The address in a sender such as `Status <status@example.com>`. */
const addressIn = (from: string) => /<([^<>]*)>\s*$/.exec(from)?.[1] ?? from;

/** The domain of the last address in a sender such as `Status <status@example.com>`. */
function domainOf(from: string): string {
  return /@([A-Za-z0-9.-]+)>?\s*$/.exec(from)?.[1] ?? "localhost";
}

/** Replaces line breaks and truncates, for use in a header. */
function oneLine(text: string): string {
  const line = text.replace(/[\p{Cc}\u2028\u2029]+/gu, " ").trim();
  return line.length <= SUBJECT_MAX ? line : `${line.slice(0, SUBJECT_MAX).toWellFormed()}...`;
}
