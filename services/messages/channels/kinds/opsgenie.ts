/** Opsgenie: Alert API (https://docs.opsgenie.com/docs/alert-api). @module */

import { truncate } from "../../../events/text.ts";
import { bodyOf, problemKey, type Severity } from "../../../events/message.ts";
import { joinUrl } from "../../../outbound/url.ts";
import { apiUrl } from "./fields.ts";
import { kind, token } from "./kind.ts";

const API: Readonly<Record<string, string>> = {
  us: "https://api.opsgenie.com",
  eu: "https://api.eu.opsgenie.com",
};

const PRIORITY: Record<Severity, string> = { critical: "P1", warning: "P3", info: "P5" };

/** Limits of the platform, in characters. */
const MESSAGE_MAX = 130;
const ALIAS_MAX = 512;
const DESCRIPTION_MAX = 15_000;

export const opsgenie = kind("opsgenie", {
  title: "Opsgenie",
  description: "An API integration, of which an alert is opened and closed",
  isOnCall: true,
  schemes: ["opsgenie"],
  urlForm: "opsgenie://api-key?region=eu",
  fields: {
    apiKey: { type: "text", label: "API key", isSecret: true, pattern: token },
    region: { type: "text", label: "Region", isOptional: true, options: ["us", "eu"] },
    apiUrl,
  },

  request({ apiKey, region = "us", apiUrl = API[region]! }, { message }) {
    const { link, phase, server, severity, title } = message;
    const alias = problemKey(message, ALIAS_MAX);
    const headers = { authorization: `GenieKey ${apiKey}` };
    if (phase === "end") {
      const url = new URL(joinUrl(apiUrl, `/v2/alerts/${encodeURIComponent(alias)}/close`));
      url.searchParams.set("identifierType", "alias");
      return { url: url.href, headers, body: { source: server, note: withoutTags(title) } };
    }
    return {
      url: joinUrl(apiUrl, "/v2/alerts"),
      headers,
      body: {
        message: truncate(title, MESSAGE_MAX),
        alias,
        description: withoutTags(bodyOf(message, DESCRIPTION_MAX / 2)),
        priority: PRIORITY[severity],
        source: server,
        ...(link !== null && { details: { link } }),
      },
    };
  },

  // opsgenie://api.opsgenie.com/key (Shoutrrr) and opsgenie://key/receiver (Apprise).
  fromUrl({ host, path, param }) {
    const apiKey = host.includes(".") ? path[0] : host;
    if (!apiKey) return undefined;
    return { apiKey, region: param("region") ?? (host.includes(".eu.") ? "eu" : "us") };
  },
});

/** Descriptions and notes may have HTML: a zero-width space keeps tags from beginning. */
const withoutTags = (text: string) => text.replace(/<(?=\S)/g, "<\u200b");
