/**
 * Mails, through the channel's own mail server or that of `SMTP_URL`.
 *
 * @module
 */

import { moment } from "../../../events/description.ts";
import type { ChannelDeps } from "../../../events/outbox_channel.ts";
import { escapeMarkup } from "../../../escape_markup.ts";
import { htmlMail, sendMail } from "../../../outbound/mail.ts";
import { isMailAddress, MAIL_ADDRESS_RULE } from "../../../outbound/mail_address.ts";
import { resolveOutbound } from "../../../outbound/url.ts";
import { bodyOf, type NotificationMessage } from "../message.ts";
import type { ChannelKind } from "./kind.ts";

interface EmailConfig {
  to: string[];
  from?: string;
  smtpUrl?: string;
}

const TEXT_MAX = 20_000;

/** Credentials in the URL are percent-encoded; `smtps` is TLS from the start. */
const SMTP_URL = /^smtps?:\/\/([^\s/@:]+:[^\s/@]+@)?[\w.-]+(:\d{1,5})?\/?$/;

export const email: ChannelKind<EmailConfig> = {
  id: "email",
  name: "Email",
  schemes: ["mailto", "mailtos", "smtp", "smtps"],
  fields: {
    to: { type: "list", pattern: [/^[^\s@]+@[^\s@]+$/, MAIL_ADDRESS_RULE] },
    from: { type: "text", isOptional: true, pattern: [/^[^\r\n]{3,200}$/, MAIL_ADDRESS_RULE] },
    smtpUrl: {
      type: "text",
      isSecret: true,
      isOptional: true,
      pattern: [SMTP_URL, "must be smtp:// or smtps://, e.g. smtps://user:password@mail.example"],
    },
  },

  problem: ({ to }) => to.every(isMailAddress) ? undefined : `to: ${MAIL_ADDRESS_RULE}`,

  async send(deps, { to, from, smtpUrl }, { id, message }, signal) {
    const { config } = deps;
    await sendMail(
      {
        serverName: config.serverName,
        smtpUrl: smtpUrl ?? config.smtpUrl,
        smtpFrom: from ?? config.smtpFrom,
        ...(smtpUrl !== undefined && { address: await addressOf(deps, smtpUrl, signal) }),
      },
      {
        to,
        subject: message.title,
        text: `${bodyOf(message, TEXT_MAX)}\n`,
        html: htmlOf(message),
        id,
        threadId: threadId(message),
      },
      signal,
    );
    return { result: "sent", status: null, error: null };
  },

  // smtp://user:password@host:port/?from=..&to=.. (Shoutrrr) and
  // mailtos://user:password@host?to=..&smtp=.. (Apprise).
  fromUrl({ scheme, username, password, host, query }) {
    const to = query.get("to")?.split(",") ?? query.get("toAddresses")?.split(",");
    const from = query.get("from") ?? query.get("fromAddress") ?? undefined;
    if (!to) return "must name the receivers: smtp://user:password@host?from=a@b&to=c@d";
    const isTls = scheme === "smtps" || scheme === "mailtos";
    const user = username === ""
      ? ""
      : `${encodeURIComponent(username)}:${encodeURIComponent(password)}@`;
    return {
      to,
      ...(from !== undefined && { from }),
      smtpUrl: `${isTls ? "smtps" : "smtp"}://${user}${query.get("smtp") ?? host}`,
    };
  },
};

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

function htmlOf({ title, lines, timestamp, link }: NotificationMessage): string {
  return htmlMail(title, [
    `<p dir="auto" style="white-space: pre-line">${escapeMarkup(lines.join("\n"))}</p>`,
    `<p>${moment(timestamp)}</p>`,
    ...(link === null ? [] : [`<p><a href="${escapeMarkup(link)}">Open Longshore</a></p>`]),
  ]);
}
