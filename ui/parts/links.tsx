/** Links to what a container serves. @module */

import type { Container } from "../api/types.ts";
import { plain } from "../base/text.ts";
import { Icon } from "../components/icon.tsx";

type Port = Container["ports"][number];

/** Ports of TLS by custom, as the service assumes. */
const TLS_PORTS: readonly number[] = [443, 8443];

/**
 * The addresses that the service knows, then published ports at the host of this page: the service
 * adds these itself if it knows its name (`PUBLIC_HOST`).
 */
export function linksOf({ links, ports }: Pick<Container, "links" | "ports">): string[] {
  const urls = links.map(({ url }) => url);
  if (links.some(({ source }) => source === "port")) return urls;
  return [...new Set([...urls, ...ports.flatMap((port) => pageUrl(port) ?? [])])];
}

/** The address of a port of all interfaces; of a loopback port only where this page is on it, too. */
function pageUrl({ ip, publicPort, type }: Port): string | undefined {
  if (publicPort === null || type !== "tcp") return undefined;
  const isEverywhere = !ip || ip === "0.0.0.0" || ip === "::";
  if (!isEverywhere && !(isLoopback(ip) && isLoopback(location.hostname))) return undefined;
  const scheme = TLS_PORTS.includes(publicPort) ? "https" : "http";
  return new URL(`${scheme}://${location.hostname}:${publicPort}`).href;
}

const isLoopback = (host: string) => /^(localhost|127\.[\d.]+|\[?::1\]?)$/.test(host);

/** Opens the first address of a container, e.g. beside its name. */
export function OpenLink({ container }: { container: Container }) {
  const [url] = linksOf(container);
  if (url === undefined) return null;
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
export function Links({ urls }: { urls: readonly string[] }) {
  return (
    <ul class="address-list">
      {urls.map((url) => (
        <li key={url}>
          <a class="wrap" href={url} target="_blank" rel="noopener noreferrer">{shownUrl(url)}</a>
        </li>
      ))}
    </ul>
  );
}

/** Without what every address has. */
const shownUrl = (url: string) => plain(url.replace(/^http:\/\//, "").replace(/\/$/, ""));
