/** Address of a status page. @module */

import type { StatusPage } from "../../../api/types.ts";
import { plain } from "../../../base/text.ts";
import { href } from "../../../state/router.ts";

/** A link to the page itself, which opens in a new tab; only text if it is not public. */
export function Address({ page: { slug, custom_domain: domain, is_public: isPublic } }: {
  page: Pick<StatusPage, "slug" | "custom_domain" | "is_public">;
}) {
  const path = href(`/status/${encodeURIComponent(slug)}`);
  const shown = domain === null ? path : plain(domain);
  if (!isPublic) return <span class="cut muted">{shown}</span>;
  return <a class="cut" href={path} target="_blank" rel="noopener">{shown}</a>;
}
