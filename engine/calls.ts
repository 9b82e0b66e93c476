/**
 * Every call that Longshore makes of the engine's API. The types of the client admit no other, and
 * `docs/socket-proxy.md` lists them by feature.
 *
 * @module
 */

/** A call, for the sentence about a socket proxy that refuses it. */
interface CallUse {
  /** Continues "refuses to". */
  purpose: string;
  /** Option of the common socket proxies that opens the path; all but GET and HEAD need `POST`, too. */
  option: string;
}

/** Uses by method and path. `{id}` is one segment, `{name}` may contain slashes. */
export const CALLS = {
  "GET /_ping": use("check the engine", "PING"),
  "GET /version": use("read the engine's version", "VERSION"),
  "GET /info": use("describe the engine", "INFO"),
  "GET /events": use("follow events", "EVENTS"),
  "GET /system/df": use("compute the disk usage", "SYSTEM"),
  "POST /build/prune": use("remove the build cache", "BUILD"),

  "GET /containers/json": use("list containers", "CONTAINERS"),
  "GET /containers/{id}/json": use("read containers", "CONTAINERS"),
  "GET /containers/{id}/stats": use("measure containers", "CONTAINERS"),
  "GET /containers/{id}/top": use("list processes", "CONTAINERS"),
  "GET /containers/{id}/changes": use("list changed files", "CONTAINERS"),
  "GET /containers/{id}/logs": use("read logs", "CONTAINERS"),
  "POST /containers/create": use("create containers", "CONTAINERS"),
  "POST /containers/{id}/start": use("start containers", "CONTAINERS"),
  "POST /containers/{id}/stop": use("stop containers", "CONTAINERS"),
  "POST /containers/{id}/restart": use("restart containers", "CONTAINERS"),
  "POST /containers/{id}/pause": use("pause containers", "CONTAINERS"),
  "POST /containers/{id}/unpause": use("resume containers", "CONTAINERS"),
  "POST /containers/{id}/kill": use("send signals to containers", "CONTAINERS"),
  "POST /containers/{id}/rename": use("rename containers", "CONTAINERS"),
  "POST /containers/{id}/wait": use("wait for the end of containers", "CONTAINERS"),
  "POST /containers/{id}/update": use("change limits of containers", "CONTAINERS"),
  "DELETE /containers/{id}": use("remove containers", "CONTAINERS"),
  "HEAD /containers/{id}/archive": use("read files of the host", "CONTAINERS"),
  "GET /containers/{id}/archive": use("read files of the host", "CONTAINERS"),
  "PUT /containers/{id}/archive": use("write files of the host", "CONTAINERS"),
  "POST /containers/{id}/attach": use("connect terminals to containers", "CONTAINERS"),
  "POST /containers/{id}/resize": use("resize terminals of containers", "CONTAINERS"),
  "POST /containers/{id}/exec": use("prepare commands in containers", "CONTAINERS"),
  "POST /exec/{id}/start": use("run commands in containers", "EXEC"),
  "POST /exec/{id}/resize": use("resize terminals of commands", "EXEC"),
  "GET /exec/{id}/json": use("read the end of commands", "EXEC"),

  "GET /images/json": use("list images", "IMAGES"),
  "GET /images/{name}/json": use("read images", "IMAGES"),
  "GET /images/{name}/history": use("list the layers of images", "IMAGES"),
  "GET /images/{name}/get": use("export images", "IMAGES"),
  "POST /images/{name}/tag": use("name images", "IMAGES"),
  "POST /images/create": use("pull or import images", "IMAGES"),
  "POST /images/load": use("load images", "IMAGES"),
  "POST /images/prune": use("remove untagged images", "IMAGES"),
  "DELETE /images/{name}": use("remove images", "IMAGES"),
  "GET /distribution/{name}/json": use("ask registries about images", "DISTRIBUTION"),

  "GET /networks": use("list networks", "NETWORKS"),
  "GET /networks/{id}": use("read networks", "NETWORKS"),
  "POST /networks/create": use("create networks", "NETWORKS"),
  "POST /networks/{id}/connect": use("connect containers to networks", "NETWORKS"),
  "POST /networks/{id}/disconnect": use("disconnect containers from networks", "NETWORKS"),
  "DELETE /networks/{id}": use("remove networks", "NETWORKS"),

  "GET /volumes": use("list volumes", "VOLUMES"),
  "POST /volumes/create": use("create volumes", "VOLUMES"),
  "DELETE /volumes/{name}": use("remove volumes", "VOLUMES"),

  "GET /swarm": use("describe the swarm", "SWARM"),
  "POST /swarm/update": use("change the swarm's join tokens", "SWARM"),
  "GET /nodes": use("list nodes of the swarm", "NODES"),
  "GET /nodes/{id}": use("read nodes of the swarm", "NODES"),
  "POST /nodes/{id}/update": use("change nodes of the swarm", "NODES"),
  "GET /services": use("list services of the swarm", "SERVICES"),
  "GET /services/{id}": use("read services of the swarm", "SERVICES"),
  "GET /services/{id}/logs": use("read logs of services", "SERVICES"),
  "POST /services/create": use("create services of the swarm", "SERVICES"),
  "POST /services/{id}/update": use("change services of the swarm", "SERVICES"),
  "DELETE /services/{id}": use("remove services of the swarm", "SERVICES"),
  "GET /tasks": use("list tasks of the swarm", "TASKS"),
  "GET /secrets": use("list secrets of the swarm", "SECRETS"),
  "POST /secrets/create": use("create secrets of the swarm", "SECRETS"),
  "DELETE /secrets/{id}": use("remove secrets of the swarm", "SECRETS"),
  "GET /configs": use("list configs of the swarm", "CONFIGS"),
  "POST /configs/create": use("create configs of the swarm", "CONFIGS"),
  "DELETE /configs/{id}": use("remove configs of the swarm", "CONFIGS"),
} satisfies Record<`${Method} /${string}`, CallUse>;

export type Method = "GET" | "HEAD" | "POST" | "PUT" | "DELETE";

/** Method and path of a call, e.g. `GET /containers/{id}/json`. */
export type CallName = keyof typeof CALLS;

/** The path of a call with any text for its variable parts. */
type Filled<Path extends string> = Path extends `${infer Start}{${string}}${infer Rest}`
  ? `${Start}${string}${Filled<Rest>}`
  : Path;

/** The path of a call with a method. */
export type CallPath<M extends Method> = CallName extends infer Name
  ? Name extends `${M} ${infer Path}` ? Filled<Path> : never
  : never;

/** Method and path as arguments. */
export type CallTarget = { [M in Method]: [method: M, path: CallPath<M>] }[Method];

function use(purpose: string, option: string): CallUse {
  return { purpose, option };
}

/**
 * The sentence about a call that a socket proxy refuses.
 *
 * @param path Without version and query.
 */
export function describeRefusal(method: Method, path: string): string {
  const found = Object.entries(CALLS).find(([name]) => isCall(name, `${method} ${path}`));
  if (!found) return `The socket proxy refuses ${method} requests to this path: allow it there`;
  const [name, { purpose, option }] = found;
  const options = isRead(method) ? `option ${option}` : `options ${option} and POST`;
  return `The socket proxy refuses to ${purpose}: allow ${name} (${options})`;
}

const isRead = (method: Method) => method === "GET" || method === "HEAD";

/** @param made Method and path. */
function isCall(name: string, made: string): boolean {
  const [start = "", variable, end = ""] = name.split(/[{}]/);
  if (variable === undefined) return made === name;
  const filled = made.slice(start.length, made.length - end.length);
  return made.startsWith(start) && made.endsWith(end) && filled !== "" &&
    (variable === "name" || !filled.includes("/"));
}
