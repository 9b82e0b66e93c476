/**
 * The addresses of the dashboard's pages. The service answers each with the HTML page, and
 * `ui/pages/mod.ts` says what the page shows.
 *
 * @module
 */

/** `:name` is one segment; a group in parentheses lists the possible values of one. */
export const PATHS = [
  "/",
  "/sign-in",
  "/setup",
  "/docs",
  "/containers",
  "/containers/:id",
  "/containers/:id/:tab(stats|logs|terminal|exec|processes|environment|mounts|files|networks|changes|events|inspect)",
  "/logs",
  "/stacks",
  "/stacks/new",
  "/stacks/:id",
  "/stacks/:id/:tab(source|files|logs|versions)",
  "/takeover",
  "/git",
  "/images",
  "/updates",
  "/registries",
  "/networks",
  "/volumes",
  "/volumes/:id",
  "/host",
  "/hosts",
  "/swarm",
  "/alerts",
  "/probes",
  "/notifications",
  "/webhooks",
  "/schedules",
  "/integrations",
  "/uptime",
  "/uptime/:id",
  "/incidents",
  "/incidents/:id",
  "/status-pages",
  "/status-pages/:id",
  "/status-pages/:id/:tab(incidents|maintenance|subscribers)",
  "/sla",
  "/sla/:id",
  "/remediation",
  "/chat",
  "/users",
  "/sessions",
  "/tokens",
  "/audit",
  "/license",
  "/settings",
  "/backups",
  "/backups/:tab(snapshots|targets|server)",
  "/backups/snapshots/:id",
  "/about",
  "/sso",
  "/roles",
  "/ip-allowlist",
  "/mtls",
  "/branding",
  "/encryption",
  "/compliance",
  "/account",
] as const;

export type Path = (typeof PATHS)[number];

/** A page's address with the values of its parameters. */
export interface Match {
  path: Path;
  params: Record<string, string>;
  /** Name of the host of the fleet whose page it is; missing for this server's own. */
  host?: string;
}

/** Address of a host's page: the host, and the page's path there. */
const OF_HOST = /^\/hosts\/([A-Za-z0-9][\w.-]{0,62})(\/.*)?$/;

/** The name of the host of the fleet whose page is at a path. */
export const hostOf = (pathname: string): string | undefined => OF_HOST.exec(pathname)?.[1];

/** Paths of pages that a host of the fleet does not have: they are about this server and those who use it. */
const OF_SERVER = new RegExp(
  `^/(${
    [
      ...["sign-in", "setup", "docs", "hosts", "users", "sessions", "tokens", "account", "sso"],
      ...["roles", "ip-allowlist", "mtls", "branding", "encryption", "compliance", "audit"],
      ...["license", "settings", "backups/server", "status-pages"],
    ].join("|")
  })(?=[/?#]|$)`,
);

/** Whether a path, with or without its query, is a page of this server that its hosts do not have. */
export const isOfServer = (path: string): boolean => OF_SERVER.test(path);

/** Whether a page needs a document of its own, whose Content-Security-Policy allows a terminal. */
export const isTerminal = (match: Match | undefined): boolean => match?.params.tab === "terminal";

const PATTERNS = PATHS.map((path) => ({
  path,
  pattern: new RegExp(
    `^${
      path.replace(/\/$/, "").replace(/:(\w+)(\([^)]*\))?/g, (_, name, values) => {
        return `(?<${name}>${values === undefined ? "[^/]+" : values.slice(1, -1)})`;
      })
    }/?$`,
  ),
}));

/** The page at a path, also of a host such as `/hosts/edge-7/containers`; `undefined` without one. */
export function matchPath(pathname: string): Match | undefined {
  const [, host, path = "/"] = OF_HOST.exec(pathname) ?? [];
  if (host === undefined) return matchOwn(pathname);
  const match = isOfServer(path) ? undefined : matchOwn(path);
  return match && { ...match, host };
}

function matchOwn(pathname: string): Match | undefined {
  for (const { path, pattern } of PATTERNS) {
    const match = pattern.exec(pathname);
    if (match) return { path, params: { ...match.groups } };
  }
  return undefined;
}

/** The page of a stack. A Compose project and a Swarm stack can have the same name. */
export const stackPath = (
  { name, kind }: { name: string; kind?: "compose" | "swarm" },
  tab?: "source",
): string =>
  // "/stacks/new" is another page.
  `/stacks/${name === "new" ? "%6eew" : encodeURIComponent(name)}${tab ? `/${tab}` : ""}${
    kind === "swarm" ? "?kind=swarm" : ""
  }`;

/** The page of a volume. */
export const volumePath = (name: string): string => `/volumes/${encodeURIComponent(name)}`;
