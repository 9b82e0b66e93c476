/**
 * URLs that stand for the config of a channel, in the forms of Shoutrrr
 * (https://shoutrrr.nickfedor.com) and Apprise (https://appriseit.com): `ntfy://host/topic`.
 *
 * @module
 */

import { AppError } from "../../errors.ts";
import { OUTBOUND_URL_MAX } from "../../outbound/url.ts";
import type { ChannelConfig, ChannelUrl } from "./kinds/kind.ts";
import { CHANNEL_KINDS } from "./kinds/mod.ts";

/**
 * Reads the URL of a channel.
 *
 * @throws {AppError} `invalid`
 */
export function parseChannelUrl(
  text: string,
): { kind: (typeof CHANNEL_KINDS)[number]; config: ChannelConfig } {
  const parts = text.length <= OUTBOUND_URL_MAX ? partsOf(text) : undefined;
  if (!parts) throw invalid("is not a URL such as ntfy://host/topic");
  const kind = CHANNEL_KINDS.find(({ schemes }) => schemes.includes(parts.scheme));
  if (!kind) {
    const schemes = CHANNEL_KINDS.flatMap(({ schemes }) => schemes).sort().join(", ");
    throw invalid(`has none of the known schemes: ${schemes}`);
  }
  const config = kind.fromUrl(parts);
  if (config === undefined) throw invalid(`must be ${kind.urlForm}`);
  if (typeof config === "string") throw invalid(config);
  return { kind, config };
}

/** A standard parser would treat the parts of an unknown scheme differently. */
function partsOf(text: string): ChannelUrl | undefined {
  const [, scheme, user, host, path = "", search = ""] =
    /^([a-z][a-z+]*):\/\/(?:([^/?#]*)@)?([^/?#@]*)([^?]*)(?:\?(.*))?$/i.exec(text) ?? [];
  if (scheme === undefined || host === undefined) return undefined;
  try {
    const [username = "", ...password] = (user ?? "").split(":");
    const query = new URLSearchParams(search);
    const keysOf = (name: string) => [...query.keys()].filter((key) => key.toLowerCase() === name);
    const param = (...names: string[]) =>
      names.flatMap(keysOf).map((key) => query.get(key)!).find(Boolean);
    const isPlain = /^(yes|true|1)$/i.test(param("disabletls") ?? "") || /\+http$/i.test(scheme);
    const protocol = isPlain ? "http" : "https";
    keysOf("disabletls").forEach((key) => query.delete(key));
    return {
      scheme: scheme.toLowerCase(),
      username: decodeURIComponent(username),
      password: decodeURIComponent(password.join(":")),
      host,
      path: path.split("/").filter(Boolean).map(decodeURIComponent),
      query,
      param,
      base: (...path) => [`${protocol}://${host}`, ...path.map(encodeURIComponent)].join("/"),
    };
  } catch {
    return undefined; // a percent sign that begins no character
  }
}

const invalid = (problem: string) => new AppError("invalid", `body.url: ${problem}`);
