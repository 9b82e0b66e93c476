/** Links in messages to subscribers. @module */

import type { StatusPage } from "../../../db/pro/status_pages/pages.ts";
import type { StoredSubscriber } from "../../../db/pro/status_pages/subscribers.ts";
import type { Config } from "../../config/config.ts";

/** The path prefix of the status page endpoints. */
const API = "/api/ext/service-pro/status-pages";

interface SubscriberLinks {
  /** The status page itself. */
  page: string;
  verify(token: string): string;
  unsubscribe(token: string): string;
}

/** The links for a subscriber; `SERVICE_BASE_URL` overrides the address of the subscription. */
export function subscriberLinks(
  { serviceBaseUrl }: Pick<Config, "serviceBaseUrl">,
  { id, slug, custom_domain }: Pick<StatusPage, "id" | "slug" | "custom_domain">,
  { link_base }: Pick<StoredSubscriber, "link_base">,
): SubscriberLinks {
  const base = serviceBaseUrl ?? link_base;
  const scheme = base.startsWith("https:") ? "https" : "http";
  return {
    page: custom_domain === null ? `${base}/status/${slug}` : `${scheme}://${custom_domain}/`,
    verify: (token) => `${base}${API}/${id}/subscribers/verify/${token}`,
    unsubscribe: (token) => `${base}${API}/unsubscribe/${token}`,
  };
}
