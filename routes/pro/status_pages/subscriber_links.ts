/**
 * The links in mails to subscribers: confirm and unsubscribe. Browsers get a page, other clients get
 * JSON.
 *
 * @module
 */

import * as z from "zod";
import type { Deps } from "../../../services/deps.ts";
import { AppError } from "../../../services/errors.ts";
import {
  pageToUnsubscribe,
  unsubscribe,
  verifySubscriber,
} from "../../../services/pro/status_pages/subscribers.ts";
import { prefersHtml } from "../../pipeline/accept.ts";
import { JSON_HEADERS } from "../../pipeline/response_cache.ts";
import {
  type Contract,
  type Endpoint,
  type PathParams,
  rawEndpoint,
  type Route,
} from "../../contract/endpoint.ts";
import { doneWith, ErrorBody } from "../../contract/shapes.ts";
import { type LinkPage, linkPage } from "./link_page.ts";

const encoder = new TextEncoder();

const Result = doneWith({
  message: z.string().meta({
    description: "For the user who followed the link",
    example: "You are unsubscribed",
  }),
}).meta({ id: "SubscriptionResult" });

const CONFIRMED = "Your subscription is confirmed";
const CONFIRMED_BEFORE = "Your subscription was confirmed before";
const UNSUBSCRIBED = "You are unsubscribed";

const ACTIVE_TEXT =
  "You will be notified of changes on this status page. Each message has a link to " +
  "unsubscribe.";
const ENDED_TEXT = "You will no longer be notified of changes on this status page.";
const INVALID_TEXT = "If the link is from an email, check that you opened the complete link.";

const HTML = { "text/html": z.string() };

const invalid = (description: string) => ({
  404: { description, returns: ErrorBody, alternatives: HTML },
});

const INVALID = invalid("The link is not valid");

export const subscriberLinkEndpoints = (deps: Deps) => {
  const subscriberLink = {
    // An unsubscribe token starts with the subscriber's id.
    target: ({ token }: { token: string }) => token.split(".", 1)[0]!,
    async json({ token }: { token: string }) {
      await unsubscribe(deps, token);
      return { message: UNSUBSCRIBED };
    },
  };

  return [
    linkEndpoint(deps, "GET /status-pages/unsubscribe/:token", {
      operationId: "unsubscribe",
      summary: "Unsubscribe from a status page",
      description:
        "The link in each notification. Repeating the request has no effect. If `Accept` " +
        "prefers HTML, a page asks for confirmation with a `POST`, because mail scanners " +
        "follow links.",
      actsOnGet: true,
      returns: Result,
      replies: INVALID,
    }, {
      ...subscriberLink,
      async html(params) {
        const page = await pageToUnsubscribe(deps, params.token);
        if (!page) return { page, title: UNSUBSCRIBED, text: ENDED_TEXT };
        return { page, title: "Unsubscribe?", text: ENDED_TEXT, button: "Unsubscribe" };
      },
    }),

    linkEndpoint(deps, "POST /status-pages/unsubscribe/:token", {
      operationId: "unsubscribeWithOneClick",
      summary: "Unsubscribe with one click",
      description:
        "Used by mail programs that support `List-Unsubscribe-Post` (RFC 8058) and by the " +
        "confirmation page.",
      unaudited: true,
      returns: Result,
      replies: INVALID,
    }, {
      ...subscriberLink,
      async html(params) {
        return {
          page: await unsubscribe(deps, params.token),
          title: UNSUBSCRIBED,
          text: ENDED_TEXT,
        };
      },
    }),

    linkEndpoint(deps, "GET /status-pages/:pageId/subscribers/verify/:token", {
      operationId: "confirmSubscription",
      summary: "Confirm a subscription",
      description:
        "The link in the confirmation mail. Repeating the request has no effect. If `Accept` " +
        "prefers HTML, the response is a page.",
      actsOnGet: true,
      returns: Result.extend({
        message: z.string().meta({ example: CONFIRMED }),
        status: z.literal("verified"),
        already_verified: z.boolean().meta({ example: false }),
      }).meta({ id: "SubscriptionConfirmation" }),
      replies: invalid("The link is not valid, or the subscription has ended"),
    }, {
      target: ({ pageId }) => pageId,
      json(params) {
        const { already } = verifySubscriber(deps, params.pageId, params.token);
        const message = already ? CONFIRMED_BEFORE : CONFIRMED;
        return { status: "verified" as const, already_verified: already, message };
      },
      html(params) {
        const { already, page } = verifySubscriber(deps, params.pageId, params.token);
        return { page, title: already ? CONFIRMED_BEFORE : CONFIRMED, text: ACTIVE_TEXT };
      },
    }),
  ];
};

/**
 * An endpoint that answers browsers with a page, and other clients with JSON of the contract's
 * shape.
 */
function linkEndpoint<Path extends Route, Returns extends z.ZodType>(
  { brand }: Pick<Deps, "brand">,
  route: Path,
  contract: Omit<Contract<PathParams<Path>, z.ZodUndefined, z.ZodUndefined, Returns>, "role">,
  respond: {
    /** The target in the logs; never a token, which is a secret. */
    target(params: z.output<PathParams<Path>>): string;
    json(params: z.output<PathParams<Path>>): z.input<Returns> | Promise<z.input<Returns>>;
    html(params: z.output<PathParams<Path>>): LinkPage | Promise<LinkPage>;
  },
): Endpoint {
  return rawEndpoint(route, {
    ...contract,
    role: "public",
    anyAddress: true,
    ignoresUnknown: true,
    produces: "application/json",
    alternatives: HTML,
  }, async ({ params, request, note }) => {
    note.target = respond.target(params);
    if (!prefersHtml(request)) {
      const body = contract.returns.parse(await respond.json(params));
      return {
        status: 200,
        headers: { ...JSON_HEADERS, vary: "accept" },
        body: encoder.encode(JSON.stringify(body)),
      };
    }
    try {
      return linkPage(await respond.html(params), { branding: brand.current });
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== "not_found") throw error;
      const page = { page: undefined, title: error.message, text: INVALID_TEXT };
      return linkPage(page, { branding: brand.current, status: 404 });
    }
  });
}
