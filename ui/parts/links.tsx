/** Links to what a container serves. @module */

import type { Container } from "../api/types.ts";
import { count, plain } from "../base/text.ts";
import { Icon } from "../components/icon.tsx";
import { Badge } from "../components/states.tsx";
import { now } from "../components/time.tsx";
import { HOST } from "../state/root.ts";

export type PageLink = Pick<Container["links"][number], "url" | "certificateExpiresAt">;

type Port = Container["ports"][number];

/** Ports of TLS by custom, as the service assumes. */
const TLS_PORTS: readonly number[] = [443, 8443];

/**
 * The addresses that the service knows, then published ports at the host of this page: the service
 * adds these itself if it knows its name (`PUBLIC_HOST`).
 */
export function linksOf({ links, ports }: Pick<Container, "links" | "ports">): PageLink[] {
  if (links.some(({ source }) => source === "port")) return links;
  const known = new Set(links.map(({ url }) => url));
  const others = new Set(ports.flatMap((port) => pageUrl(port) ?? [])).difference(known);
  return [...links, ...[...others].map((url) => ({ url, certificateExpiresAt: null }))];
}

/**
 * The address of a port of all interfaces; of a loopback port only where this page is on it, too. A
 * host of the fleet is not at the address of this page.
 */
function pageUrl({ ip, publicPort, type }: Port): string | undefined {
  if (publicPort === null || type !== "tcp" || HOST !== undefined) return undefined;
  const isEverywhere = !ip || ip === "0.0.0.0" || ip === "::";
  if (!isEverywhere && !(isLoopback(ip) && isLoopback(location.hostname))) return undefined;
  const scheme = TLS_PORTS.includes(publicPort) ? "https" : "http";
  return new URL(`${scheme}://${location.hostname}:${publicPort}`).href;
}

const isLoopback = (host: string) => /^(localhost|127\.[\d.]+|\[?::1\]?)$/.test(host);

/** Opens the first address of a container, e.g. beside its name. */
export function OpenLink({ container }: { container: Container }) {
  const [link] = linksOf(container);
  if (!link) return null;
  const { url } = link;
  return (
    <a
      class="open-link"
      href={url}
      target="_blank"
      rel="noopener noreferrer"
      aria-label={`Open ${plain(container.name)} at ${shownUrl(url)}`}
    >
      <Icon name="external" />
    </a>
  );
}

/** All addresses of a container. */
export function Links({ links }: { links: readonly PageLink[] }) {
  return (
    <ul class="address-list">
      {links.map(({ url, certificateExpiresAt }) => (
        <li key={url}>
          <a class="wrap" href={url} target="_blank" rel="noopener noreferrer">{shownUrl(url)}</a>
          {" "}
          {certificateExpiresAt && <CertificateEnd at={certificateExpiresAt} />}
        </li>
      ))}
    </ul>
  );
}

const DAY_MS = 24 * 60 * 60 * 1000;

/** From here on a certificate should have been renewed, in days. */
export const RENEWAL_DAYS = 14;

function CertificateEnd({ at }: { at: string }) {
  const days = Math.floor((Date.parse(at) - now.value) / DAY_MS);
  const text = days < 0 ? "The certificate has expired" : `certificate: ${count(days, "day")} left`;
  return days <= RENEWAL_DAYS
    ? <Badge tone={days < 0 ? "bad" : "warn"}>{text}</Badge>
    : <span class="muted">{text}</span>;
}

/** Without what every address has. */
const shownUrl = (url: string) => plain(url.replace(/^http:\/\//, "").replace(/\/$/, ""));
