/** /status-pages/:pageId/subscribers: receivers of notifications about a status page. @module */

import * as z from "zod";
import { mayDo } from "../../../services/access/caller.ts";
import type { Deps } from "../../../services/deps.ts";
import {
  isMailAddress,
  MAIL_ADDRESS_MAX,
  MAIL_ADDRESS_RULE,
} from "../../../services/outbound/mail_address.ts";
import { OUTBOUND_URL_MAX } from "../../../services/outbound/url.ts";
import {
  createSubscriber,
  listSubscribers,
  removeSubscriber,
  SUBSCRIBERS_MAX,
} from "../../../services/pro/status_pages/subscribers.ts";
import { baseUrl } from "../../pipeline/request_url.ts";
import { endpoint } from "../../contract/endpoint.ts";
import { Done, paged, pagingQuery, Timestamp } from "../../contract/shapes.ts";
import { UNKNOWN_PAGE } from "./shapes.ts";

const ONE_ADDRESS = "must have either email or webhook_url";

const NewSubscriber = z.object({
  email: z.string({ error: MAIL_ADDRESS_RULE })
    .refine(isMailAddress, { error: MAIL_ADDRESS_RULE }).optional()
    .meta({ format: "email", maxLength: MAIL_ADDRESS_MAX }),
  webhook_url: z.string().min(1).max(OUTBOUND_URL_MAX).optional().meta({
    description: "http or https; private and other special addresses are refused unless " +
      "`OUTBOUND_ALLOW` lists them",
  }),
}).refine(({ email, webhook_url }) => (email === undefined) !== (webhook_url === undefined), {
  error: ONE_ADDRESS,
}).meta({ id: "NewSubscriber", example: { email: "ada@example.com" } });

const Subscriber = z.object({
  id: z.string(),
  email: z.string().optional(),
  webhook_url: z.string().optional(),
  status: z.enum(["pending", "verified"]),
  created_at: Timestamp,
}).meta({ id: "Subscriber" });

export const statusPageSubscriberEndpoints = (deps: Deps) => [
  endpoint("GET /status-pages/:pageId/subscribers", {
    operationId: "listSubscribers",
    summary: "List subscribers of a status page",
    description: "Newest first. Addresses are visible only to users who can change status pages.",
    role: "viewer",
    permission: "status_pages:read",
    query: z.object(pagingQuery(100)),
    returns: paged({ subscribers: z.array(Subscriber) }).meta({ id: "SubscriberPage" }),
    failures: UNKNOWN_PAGE,
  }, ({ params, query, caller }) =>
    listSubscribers(deps, params.pageId, {
      ...query,
      redacted: !mayDo(caller, "admin", "status_pages:write"),
    })),

  endpoint(
    "POST /status-pages/:pageId/subscribers",
    {
      operationId: "createSubscriber",
      summary: "Add a status page subscriber",
      description:
        "A confirmation link is sent to an email address; a webhook is confirmed with the " +
        `token. At most ${SUBSCRIBERS_MAX} per page.`,
      role: "admin",
      permission: "status_pages:write",
      body: NewSubscriber,
      returns: Subscriber.extend({
        verify_token: z.string().meta({
          description:
            "For `GET /status-pages/{pageId}/subscribers/verify/{token}`; shown only in " +
            "this response",
        }),
        secret: z.string().optional().meta({
          description: "Signs the notifications of a webhook (Standard Webhooks); shown only in " +
            "this response",
          example: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
        }),
      }).meta({ id: "CreatedSubscriber" }),
      status: 201,
      failures: {
        ...UNKNOWN_PAGE,
        409: "The address is already subscribed, or SMTP_URL is not set",
      },
    },
    ({ params, body, request }) =>
      createSubscriber(deps, params.pageId, body, baseUrl(deps.config, request)),
  ),

  endpoint("DELETE /status-pages/:pageId/subscribers/:subId", {
    operationId: "deleteSubscriber",
    summary: "Delete a subscriber",
    description: "Also deletes pending notifications.",
    role: "admin",
    permission: "status_pages:write",
    returns: Done,
    failures: { 404: "The status page or the subscriber does not exist" },
  }, ({ params }) => removeSubscriber(deps, params.pageId, params.subId)),
];
