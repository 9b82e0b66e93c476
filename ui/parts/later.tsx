/** Deploys and updates that are left for a host that is away. @module */

import { type ApiError, refusalOf, send } from "../api/client.ts";
import { Button } from "../components/button.tsx";
import { apiUrl, HOST } from "../state/root.ts";
import { withResult } from "../state/toasts.ts";

/** Time that a request waits unless the user chooses another one. */
export const WAIT = "7d";

/** Leaves a request at the hub, or sends it if the host is back. @throws {ApiError} */
export async function leave(url: URL, body: unknown, wait = WAIT): Promise<void> {
  url.searchParams.set("later", wait);
  const response = await send(url, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw await refusalOf(response);
}

/** Whether a request has failed because the host of the page is away. */
export const isAway = (error: ApiError | undefined): boolean =>
  HOST !== undefined && error?.status === 503;

/**
 * Leaves the request of a dialog whose plan cannot be read because the host is away.
 *
 * @param props.path E.g. `api/stacks/shop/deploy`.
 */
export function LaterButton({ path, body, onDone }: {
  path: string;
  body: unknown;
  onDone: () => void;
}) {
  const start = async () => {
    const done = `Host ${HOST} does it when it is back, within 7 days`;
    if (await withResult(done, () => leave(apiUrl(path), body))) onDone();
  };
  return <Button kind="primary" onClick={() => void start()}>When it is back</Button>;
}
