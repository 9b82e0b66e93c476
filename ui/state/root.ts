/** The addresses of the service, which may be below a path of a proxy, and of its API. @module */

import { hostOf } from "../paths.ts";

/** All scripts are in `assets/` of the service. */
export const ROOT = new URL("../", import.meta.url);

/**
 * Name of the host of the fleet whose pages the document has; `undefined` for this server's own. Pages
 * of another host are another document, so that nothing of one host is taken for another's.
 */
export const HOST = globalThis.location &&
  hostOf("/" + location.pathname.slice(ROOT.pathname.length));

/** Sign-in, accounts, the fleet and what goes from host to host are this server's on every page. */
const OF_HOST = /^api\/(?!(account|fleet)\b|backup\/snapshots\/\w+\/send$)/;

/** The address of a path of the API, e.g. `api/containers`, at a host: that which the document shows. */
export const apiUrl = (path: string, host = HOST): URL =>
  new URL(
    host !== undefined && OF_HOST.test(path) ? `api/fleet/hosts/${host}/${path}` : path,
    ROOT,
  );
