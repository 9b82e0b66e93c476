/** Pushover (https://pushover.net/api). @module */

import { truncate } from "../../../events/text.ts";
import { bodyOf, type Severity } from "../../../events/message.ts";
import { joinUrl } from "../../../outbound/url.ts";
import { apiUrl } from "./fields.ts";
import { kind, type Pattern } from "./kind.ts";

const API = "https://api.pushover.net";

/** An emergency is repeated until it is acknowledged. */
const PRIORITY: Record<Severity, string> = { critical: "2", warning: "0", info: "-1" };
const REPEAT_SECONDS = "60";
const REPEAT_FOR_SECONDS = "3600";

/** Limits of the platform, in characters. */
const TITLE_MAX = 250;
const MESSAGE_MAX = 1_024;
const URL_MAX = 512;

export const pushover = kind("pushover", {
  title: "Pushover",
  description: "Phones; critical messages are repeated until someone acknowledges them",
  schemes: ["pushover", "pover"],
  urlForm: "pushover://:token@user-key",
  fields: {
    token: {
      type: "text",
      label: "Application token",
      isSecret: true,
      pattern: key("the API token of an application"),
    },
    userKey: {
      type: "text",
      label: "User or group key",
      isSecret: true,
      pattern: key("the key of a user or group"),
    },
    device: {
      type: "text",
      label: "Device",
      hint: "Empty: all devices of the user",
      isOptional: true,
      pattern: [/^[\w,-]{1,200}$/, "must be the name of a device"],
    },
    apiUrl,
  },

  request({ token, userKey, device, apiUrl }, { message }) {
    const { link, severity, timestamp, title } = message;
    const isEmergency = severity === "critical";
    const form = new URLSearchParams({
      token,
      user: userKey,
      ...(device !== undefined && { device }),
      title: truncate(title, TITLE_MAX),
      message: bodyOf({ ...message, link: null }, MESSAGE_MAX),
      priority: PRIORITY[severity],
      ...(isEmergency && { retry: REPEAT_SECONDS, expire: REPEAT_FOR_SECONDS }),
      timestamp: String(Math.floor(Date.parse(timestamp) / 1000)),
      ...(link !== null && link.length <= URL_MAX && { url: link, url_title: "Open Longshore" }),
    });
    return {
      url: joinUrl(apiUrl ?? API, "/1/messages.json"),
      headers: { "content-type": "application/x-www-form-urlencoded" },
      body: String(form),
    };
  },

  // pushover://shoutrrr:token@user?devices=name (Shoutrrr) and pover://user@token/device (Apprise).
  fromUrl({ scheme, username, password, host, path, param }) {
    const [token, userKey, device] = scheme === "pover"
      ? [host, username, path[0]]
      : [password, host, param("devices")];
    if (token === "" || userKey === "") return undefined;
    return { token, userKey, ...(device !== undefined && { device }) };
  },
});

function key(what: string): Pattern {
  return [/^[A-Za-z0-9]{20,40}$/, `must be ${what}, about 30 letters and digits`];
}
