/** /api/push: devices of the caller for push notifications. @module */

import * as z from "zod";
import {
  DEVICES_MAX,
  isPushToken,
  PUSH_TOKEN_MAX,
  PUSH_TOKEN_RULE,
  registerPushToken,
  unregisterPushToken,
} from "../services/messages/push/tokens.ts";
import type { Deps } from "../services/deps.ts";
import { endpoint } from "./contract/endpoint.ts";
import { Done } from "./contract/shapes.ts";

const PushTokenBody = z.object({
  token: z.string({ error: PUSH_TOKEN_RULE }).refine(isPushToken, { error: PUSH_TOKEN_RULE })
    .meta({
      minLength: 1,
      maxLength: PUSH_TOKEN_MAX,
      description: "Token that the app received from the push gateway",
    }),
}).meta({ id: "PushDevice", example: { token: "ExponentPushToken[xxxxxxxxxxxxxxxxxxxxxx]" } });

/** Accepts any form, because earlier versions registered more forms. */
const KnownTokenBody = z.object({
  token: z.string().min(1).max(PUSH_TOKEN_MAX).meta({ description: "A registered token" }),
}).meta({
  id: "RegisteredDevice",
  example: { token: "ExponentPushToken[xxxxxxxxxxxxxxxxxxxxxx]" },
});

export const pushEndpoints = (deps: Deps) => [
  endpoint("POST /api/push/register", {
    operationId: "registerDevice",
    summary: "Register a device for push",
    description: "The device receives a push notification when an alert fires, a container goes " +
      "down or an incident is created. Repeating the request has no effect. A device belongs to " +
      `the user who registered it last. A user has at most ${DEVICES_MAX} devices; another one ` +
      "replaces the oldest. Nothing is sent while `PUSH_URL` is not set.",
    role: "viewer",
    body: PushTokenBody,
    returns: Done,
  }, ({ body, caller }) => registerPushToken(deps, caller, body.token)),

  endpoint("POST /api/push/unregister", {
    operationId: "unregisterDevice",
    summary: "Unregister a device",
    description: "The response is the same for a device of another user, which stays registered.",
    role: "viewer",
    body: KnownTokenBody,
    returns: Done,
  }, ({ body, caller }) => unregisterPushToken(deps, caller, body.token)),
];
