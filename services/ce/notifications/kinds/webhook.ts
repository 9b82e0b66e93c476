/**
 * A request of the user's own making.
 *
 * @module
 */

import { bodyOf } from "../message.ts";
import { parseTemplate, renderTemplate, TemplateError } from "../template.ts";
import type { ChannelKind } from "./kind.ts";

interface WebhookConfig {
  url: string;
  method?: string;
  headers?: Record<string, string>;
  template?: string;
  contentType?: string;
}

const JSON_TYPE = "application/json";

const TEXT_MAX = 8_000;

export const webhook: ChannelKind<WebhookConfig> = {
  id: "webhook",
  name: "Webhook",
  schemes: ["generic", "json", "jsons"],
  fields: {
    url: { type: "address", isSecret: true },
    method: {
      type: "text",
      isOptional: true,
      pattern: [/^(POST|PUT|PATCH|GET)$/, "must be POST, PUT, PATCH or GET"],
    },
    headers: { type: "headers", isSecret: true, isOptional: true },
    template: { type: "template", isOptional: true },
    contentType: {
      type: "text",
      isOptional: true,
      pattern: [/^[\w.+-]{1,60}\/[\w.+-]{1,60}(; ?charset=utf-8)?$/, "must be a media type"],
    },
  },

  problem({ template = "" }) {
    try {
      parseTemplate(template);
      return undefined;
    } catch (error) {
      if (error instanceof TemplateError) return `template, ${error.message}`;
      throw error;
    }
  },

  request(
    { url, method = "POST", headers, template, contentType = JSON_TYPE },
    { id, message },
  ) {
    const { data, event, eventId, link, phase, server, severity, timestamp, title } = message;
    const values = {
      id,
      title,
      text: bodyOf(message, TEXT_MAX),
      severity,
      resolved: phase === "end",
      link,
      event: { event, eventId, timestamp, server, data },
    };
    return {
      url,
      method,
      headers: { ...headers, "content-type": contentType },
      body: template === undefined
        ? JSON.stringify(values)
        : renderTemplate(parseTemplate(template), values, contentType),
    };
  },

  // generic://host/path (Shoutrrr) and json://host/path (Apprise).
  fromUrl({ base, path, query }) {
    const url = new URL(base(...path));
    url.search = String(query);
    return { url: url.href };
  },
};
