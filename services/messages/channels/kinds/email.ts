/** Mails, through the channel's own mail server or that of `SMTP_URL`. @module */

import { moment } from "../../../events/text.ts";
import type { ChannelDeps } from "../../../events/outbox_channel.ts";
import { outcomeOfError } from "../../../events/outbox_outcome.ts";
import { type Branding, mailBrandOf } from "../../../access/brand_cache.ts";
import { MailError, sendMail } from "../../../outbound/mail.ts";
import { htmlMail, mailButton, mailNote, mailText } from "../../../outbound/mail_html.ts";
import { isMailAddress, MAIL_ADDRESS_RULE } from "../../../outbound/mail_address.ts";
import { resolveOutbound } from "../../../outbound/url.ts";
import { bodyOf, type NotificationMessage } from "../../../events/message.ts";
import { kind } from "./kind.ts";

const TEXT_MAX = 20_000;

const SENDER_RULE = "must be a mail address, e.g. ada@example.com or Ada <ada@example.com>";

/** Credentials in the URL are percent-encoded; `smtps` is TLS from the start. */
const SMTP_URL = /^smtps?:\/\/([^\s/@:]+:[^\s/@]+@)?[\w.-]+(:\d{1,5})?\/?$/;

export const email = kind("email", {
  title: "Email",
  description: "Mails, through a mail server of the channel's own or that of SMTP_URL",
  schemes: ["mailto", "mailtos", "smtp", "smtps"],
  urlForm: "smtp://user:password@host?from=a@b&to=c@d",
  fields: {
    to: {
      type: "list",
      label: "Recipients",
      hint: "One address in each line",
      placeholder: "ann@example.com",
      pattern: [/^[^\s@]+@[^\s@]+$/, MAIL_ADDRESS_RULE],
    },
    from: {
      type: "text",
      label: "Sender",
      hint: "Empty: SMTP_FROM of the service",
      isOptional: true,
      pattern: [/^[^\r\n]{3,200}$/, SENDER_RULE],
    },
    smtpUrl: {
      type: "mailServer",
      label: "Mail server",
      hint: "Empty: SMTP_URL of the service",
      placeholder: "smtps://user:password@mail.example.com",
      isSecret: true,
      isOptional: true,
      pattern: [SMTP_URL, "must be smtp:// or smtps://, e.g. smtps://user:password@mail.example"],
    },
  },

  problem({ to, from }) {
    if (!to.every(isMailAddress)) return `to: ${MAIL_ADDRESS_RULE}`;
    const [, address = from] = /<([^<>]*)>\s*$/.exec(from ?? "") ?? [];
    return address === undefined || isMailAddress(address) ? undefined : `from: ${SENDER_RULE}`;
  },

  lacks: (config, { smtpUrl }) =>
    config.smtpUrl === undefined && smtpUrl === null
      ? "No mail server is set: give config.smtpUrl or set SMTP_URL"
      : undefined,

  async send(deps, { to, from, smtpUrl }, { id, message }, signal) {
    const { config } = deps;
    const sender = {
      serverName: config.serverName,
      smtpUrl: smtpUrl ?? config.smtpUrl,
      smtpFrom: from ?? config.smtpFrom,
      ...(smtpUrl !== undefined && { address: await addressOf(deps, smtpUrl, signal) }),
    };
    const mail = {
      to: message.receivers ?? to,
      subject: message.title,
      text: `${bodyOf(message, TEXT_MAX)}\n`,
      html: htmlOf(message, deps.brand.current),
      id,
      threadId: threadId(message),
    };
    try {
      await sendMail(sender, mail, signal);
      return { result: "sent", status: null, error: null };
    } catch (error) {
      if (!(error instanceof MailError) || error.refused.length === 0) throw error;
      return { ...outcomeOfError(error)!, receivers: error.refused };
    }
  },

  // smtp://user:password@host:port/?from=..&to=.. (Shoutrrr), where a + is meant as it is, and
  // mailtos://user:password@host/receiver?smtp=.. (Apprise), where the sender gets it by default.
  fromUrl({ scheme, username, password, host, path, param }) {
    const isMailto = scheme.startsWith("mailto");
    const own = isMailto && username !== "" ? `${username}@${host}` : undefined;
    const named = path.length > 0 ? path.join(",") : param("to", "toaddresses");
    const to = (named ?? own)?.replaceAll(" ", "+").split(",");
    const from = param("from", "fromaddress") ?? own;
    if (!to) return undefined;
    const isTls = scheme === "smtps" || scheme === "mailtos" || host.endsWith(":465") ||
      param("encryption")?.toLowerCase() === "implicittls";
    const user = username === ""
      ? ""
      : `${encodeURIComponent(username)}:${encodeURIComponent(password)}@`;
    return {
      to,
      ...(from !== undefined && { from }),
      smtpUrl: `${isTls ? "smtps" : "smtp"}://${user}${param("smtp") ?? host}`,
    };
  },
});

/** The checked address of the channel's own mail server. */
async function addressOf(
  { config }: Pick<ChannelDeps, "config">,
  smtpUrl: string,
  signal: AbortSignal,
): Promise<string> {
  const { hostname } = new URL(smtpUrl);
  const [address] = await resolveOutbound({ config }, hostname, "internal", signal);
  return address!;
}

/** The same for all mails of a thread, so that mail programs show them together. */
const threadId = ({ thread }: NotificationMessage) =>
  `thread.${thread.replace(/[^\w.-]/g, "-").slice(0, 100)}`;

function htmlOf(
  { title, lines, timestamp, link }: NotificationMessage,
  branding: Branding | undefined,
): string {
  const brand = mailBrandOf(branding);
  return htmlMail(title, [
    mailText(lines.join("\n")),
    ...(link === null ? [] : [mailButton(link, `Open ${brand.name}`)]),
    mailNote(moment(timestamp)),
  ], brand);
}
