/** Matrix (https://spec.matrix.org/latest/client-server-api/#sending-events-to-a-room). @module */

import { escapeMarkup } from "../../../text/escape_markup.ts";
import { bodyOf } from "../../../events/message.ts";
import { joinUrl } from "../../../outbound/url.ts";
import { kind, outcomeOf, parseJson, token, withoutMentions } from "./kind.ts";

/** An event may have 64 KB, and the text is in it twice, once with escapes of up to 6 characters. */
const TEXT_MAX = 6_000;

interface MatrixAnswer {
  event_id: unknown;
  retry_after_ms: unknown;
}

export const matrix = kind("matrix", {
  title: "Matrix",
  description: "A room of a homeserver",
  schemes: ["matrix", "matrixs"],
  urlForm: "matrix://:token@host/!room:host",
  fields: {
    url: { type: "address", label: "Homeserver", placeholder: "https://matrix.example.org" },
    accessToken: { type: "text", label: "Access token", isSecret: true, pattern: token },
    roomId: {
      type: "text",
      label: "Room ID",
      placeholder: "!abc:example.org",
      pattern: [/^![^\s/]{1,254}$/, "must be the id of a room, e.g. !abc:example.org"],
    },
  },

  // The id of the delivery as transaction id: the server ignores a repeat.
  request({ url, accessToken, roomId }, { id, message, reference }) {
    const title = withoutMentions(message.title);
    const text = bodyOf(message, TEXT_MAX, withoutMentions);
    const path = ["rooms", roomId, "send", "m.room.message", id].map(encodeURIComponent).join("/");
    return {
      url: joinUrl(url, `/_matrix/client/v3/${path}`),
      method: "PUT",
      headers: { authorization: `Bearer ${accessToken}` },
      body: {
        msgtype: "m.notice",
        body: `${title}\n${text}`,
        format: "org.matrix.custom.html",
        formatted_body: `<strong>${escapeMarkup(title)}</strong><br>${
          escapeMarkup(text).replaceAll("\n", "<br>")
        }`,
        "m.mentions": {},
        ...(reference !== undefined && {
          "m.relates_to": {
            rel_type: "m.thread",
            event_id: reference,
            is_falling_back: true,
            "m.in_reply_to": { event_id: reference },
          },
        }),
      },
    };
  },

  outcome(answer, now) {
    const { event_id, retry_after_ms } = parseJson<MatrixAnswer>(answer.text);
    return {
      ...outcomeOf(answer, now, {
        pauseMs: typeof retry_after_ms === "number" ? retry_after_ms : undefined,
      }),
      ...(typeof event_id === "string" && { reference: event_id.slice(0, 255) }),
    };
  },

  // matrix://:token@host/?rooms=id (Shoutrrr) and matrix://token@host/id (Apprise).
  fromUrl({ base, username, password, path, param }) {
    const accessToken = password || username;
    const roomId = param("rooms", "room") ?? path[0];
    if (accessToken === "" || roomId === undefined || roomId.includes(",")) {
      return "must be matrix://:access-token@host/?rooms=room-id, with one room";
    }
    return { url: base(), accessToken, roomId };
  },
});
