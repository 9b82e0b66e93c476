/** A request of the user's own making. @module */

import { bodyOf } from "../../../events/message.ts";
import { parseTemplate, renderTemplate, TemplateError } from "../../template.ts";
import { kind } from "./kind.ts";

const JSON_TYPE = "application/json";

const TEXT_MAX = 8_000;

export const webhook = kind("webhook", {
  title: "Webhook",
  description: "A request of your own making, with a template",
  schemes: ["generic", "generic+http", "generic+https", "json", "jsons"],
  urlForm: "generic://host/path",
  fields: {
    url: { type: "address", label: "URL", isSecret: true },
    method: {
      type: "text",
      label: "Method",
      isOptional: true,
      options: ["POST", "PUT", "PATCH", "GET"],
    },
    headers: { type: "headers", label: "Headers", isSecret: true, isOptional: true },
    template: {
      type: "template",
      label: "Template",
      hint: "Fields: id, title, text, severity, resolved, link, event. Empty: all as JSON",
      placeholder: '{"text": "{{ title }}"}',
      isOptional: true,
    },
    contentType: {
      type: "text",
      label: "Content type",
      hint: "Values in the template are escaped for it",
      placeholder: "application/json",
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

  // generic://host/path and generic+https://host/path (Shoutrrr), and json://host/path (Apprise).
  fromUrl({ base, path, query, param }) {
    const url = new URL(base(...path));
    const headers: Record<string, string> = {};
    const fields: Record<string, string> = {};
    for (const [name, value] of query) {
      if (name.startsWith("@")) headers[name.slice(1)] = value;
      else if (name.startsWith("$")) fields[name.slice(1)] = value;
      else if (name.startsWith("_")) url.searchParams.append(name.slice(1), value);
      else if (!OWN_PARAMETERS.has(name.toLowerCase())) url.searchParams.append(name, value);
    }
    const template = param("template");
    if (template !== undefined && !/^json$/i.test(template)) {
      return "has another template than json";
    }
    const keys = [param("titlekey") ?? "title", param("messagekey") ?? "message"] as const;
    const body = { [keys[0]]: "{{ title }}", [keys[1]]: "{{ text }}", ...fields };
    const method = param("method", "requestmethod");
    const contentType = param("contenttype");
    return {
      url: url.href,
      ...(method !== undefined && { method: method.toUpperCase() }),
      ...(contentType !== undefined && { contentType }),
      ...(Object.keys(headers).length > 0 && { headers }),
      ...(template !== undefined && { template: JSON.stringify(body) }),
    };
  },
});

/** Parameters of such a URL that the receiver does not get. */
const OWN_PARAMETERS = new Set([
  ...["contenttype", "messagekey", "method", "requestmethod", "template", "title", "titlekey"],
]);
