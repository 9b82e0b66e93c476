/**
 * Addresses of this service that subscribers are sent.
 *
 * @module
 */

import type { StatusPage } from "../../../db/pro/status_pages/pages.ts";
import type { StoredSubscriber } from "../../../db/pro/status_pages/subscribers.ts";
import type { Config } from "../../config/config.ts";

/** Where the endpoints of status pages are served. */
const API = "/api/ext/service-pro/status-pages";

export interface SubscriberLinks {
  /** The page that people read. */
  page: string;
  verify(token: string): string;
  unsubscribe(token: string): string;
}

/** The links for one subscriber; `SERVICE_BASE_URL` wins over where it was subscribed. */
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
