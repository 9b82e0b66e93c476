/**
 * Signal, through a server of signal-cli-rest-api
 * (https://bbernhard.github.io/signal-cli-rest-api).
 *
 * @module
 */

import { bodyOf } from "../../../events/message.ts";
import { joinUrl } from "../../../outbound/url.ts";
import { account } from "./fields.ts";
import { basic, kind, type Pattern } from "./kind.ts";

const TEXT_MAX = 1_800;

const NUMBER: Pattern = [
  /^\+\d{5,20}$/,
  "must be a phone number with its country code, e.g. +15550100",
];

export const signal = kind("signal", {
  title: "Signal",
  description: "Phones or a group, through a server of signal-cli-rest-api",
  schemes: ["signal", "signals"],
  urlForm: "signal://host/+sender/+recipient",
  fields: {
    url: {
      type: "address",
      label: "Server",
      hint: "The address of a signal-cli REST API",
      placeholder: "http://signal.lan:8080",
    },
    number: { type: "text", label: "Sender", placeholder: "+15550100", pattern: NUMBER },
    recipients: {
      type: "list",
      label: "Recipients",
      hint: "Phone numbers or ids of groups, one in each line",
      placeholder: "+15550101",
      pattern: [
        /^(\+\d{5,20}|group\.[\w+/=-]{10,120})$/,
        "must be phone numbers such as +15550100, or ids of groups",
      ],
    },
    ...account,
  },

  // The server refuses both in one message, and more than one group.
  problem: ({ recipients }) =>
    recipients.length > 1 && recipients.some((recipient) => recipient.startsWith("group."))
      ? "recipients: must be phone numbers, or one group"
      : undefined,

  request: ({ url, number, recipients, username, password }, { message }) => ({
    url: joinUrl(url, "/v2/send"),
    headers: {
      ...(username !== undefined && { authorization: basic(username, password ?? "") }),
    },
    body: {
      message: `${message.title}\n${bodyOf(message, TEXT_MAX)}`,
      text_mode: "normal",
      number,
      recipients,
    },
  }),

  fromUrl({ base, path: [number, ...recipients], username, password, param }) {
    if (number === undefined || recipients.length === 0 || param("token") !== undefined) {
      return "must be signal://user:password@host/+sender/+recipient, without a token";
    }
    return {
      url: base(),
      number,
      recipients: recipients.flatMap((part) => part.split(",")),
      ...(username !== "" && { username, password }),
    };
  },
});
