/** Every variable of the configuration with its meaning, default and validation. @module */

import {
  absolutePath,
  adminPassword,
  anyText,
  cidr,
  cidrOrHost,
  directory,
  email,
  engineAddress,
  hostOrAddress,
  httpUrl,
  integer,
  labels,
  list,
  mailSender,
  oneOf,
  origin,
  presence,
  probedEndpoint,
  proxyUrl,
  releaseUrl,
  secretOf,
  smtpUrl,
  sslDomain,
  subdirectory,
} from "./values.ts";
import { LOG_LEVELS } from "../log.ts";
import type { OidcProviderConfig } from "./oidc.ts";

/** Facts about the process besides its variables. */
export interface Surroundings {
  hostname: string;
  /** Whether standard error is a terminal. */
  terminal: boolean;
  /** Whether this is the executable rather than the source. */
  packed: boolean;
  /** Reads a `NAME_FILE`; throws if it cannot be read. */
  readTextFile: (path: string) => string;
}

export type Env = Readonly<Record<string, string | undefined>>;

/** Limits of the time between two checks of an image, in hours. */
export const INTERVAL_HOURS = { min: 1, max: 168 } as const;

/** A variable of the configuration, with its parser and its displayed form. */
export interface Variable {
  name: string;
  /** Shown by `longshore config`. */
  meaning: string;
  /** The text for an unset variable; without one, the value is `null`. */
  fallback?: string | ((surroundings: Surroundings, env: Env) => string);
  /** Displayed form of the default, if the fallback is not clear enough. */
  fallbackShown?: string;
  /** Never shown; can also be read from the file in `NAME_FILE`. */
  secret?: true;
  /** Throws an `Error` whose message says what is allowed, e.g. `must be 1 to 65535`. */
  parse: (text: string) => unknown;
}

/** Minimum length of a signing secret, in bytes (RFC 7518, 3.2: as long as the hash). */
const JWT_SECRET_BYTES_MIN = 32;

/** Read-only diagnostics. An entry that ends in ` *` allows further arguments; all others are exact. */
const DEFAULT_EXEC_ALLOWLIST =
  "cat /etc/hostname; cat /etc/hosts; cat /etc/os-release; cat /etc/resolv.conf; date; date -u; " +
  "df; df -h; free; free -m; hostname; id; ip addr; ip route; ls; ls *; netstat -tln; " +
  "netstat -tlnp; nginx -t; nginx -v; ps; ps aux; ps -ef; pwd; ss -tln; ss -tlnp; top -b -n 1; " +
  "uname -a; uptime; whoami";

export const VARIABLES = {
  host: {
    name: "HOST",
    meaning: "Listen address",
    fallback: "0.0.0.0",
    parse: anyText,
  },
  port: { name: "PORT", meaning: "Listen port", fallback: "3000", parse: integer(0, 65_535) },
  tlsCertFile: {
    name: "TLS_CERT_FILE",
    meaning: "Certificate chain (PEM) to serve HTTPS directly",
    parse: anyText,
  },
  tlsKeyFile: {
    name: "TLS_KEY_FILE",
    meaning: "Private key (PEM) of TLS_CERT_FILE",
    parse: anyText,
  },
  serverName: {
    name: "SERVER_NAME",
    meaning: "Name of this server, shown to clients",
    fallback: ({ hostname }) => hostname,
    fallbackShown: "the host's name",
    parse: anyText,
  },
  publicHost: {
    name: "PUBLIC_HOST",
    meaning: "Host name or address of this host for links to published ports",
    fallbackShown: "unset: the host of the page",
    parse: hostOrAddress,
  },
  dataDir: {
    name: "DATA_DIR",
    meaning: "Directory of databases, keys and license",
    fallback: (_, env) => env.STATE_DIRECTORY?.split(":")[0] || "./data",
    fallbackShown: "$STATE_DIRECTORY, else ./data",
    parse: anyText,
  },
  dockerHost: {
    name: "DOCKER_HOST",
    meaning: "The engine as unix:///path or tcp://host:port",
    fallbackShown: "found: Docker, rootless Docker, Podman",
    parse: engineAddress,
  },
  dockerTlsVerify: {
    name: "DOCKER_TLS_VERIFY",
    meaning: "Any value: TLS with a client certificate to DOCKER_HOST=tcp://host:port",
    parse: presence,
  },
  dockerCertPath: {
    name: "DOCKER_CERT_PATH",
    meaning: "Directory of ca.pem, cert.pem and key.pem for DOCKER_TLS_VERIFY",
    fallbackShown: "~/.docker",
    parse: absolutePath,
  },
  procPath: {
    name: "PROC_PATH",
    meaning: "A mount of the host's /proc, e.g. /host/proc inside a container",
    parse: absolutePath,
  },
  /** The runtime refuses to read `/sys` itself. */
  sysPath: {
    name: "SYS_PATH",
    meaning: "A mount of the host's /sys, e.g. /host/sys inside a container",
    parse: absolutePath,
  },
  authMode: {
    name: "AUTH_MODE",
    meaning: "key: one API key; users: accounts with roles",
    fallbackShown: "chosen at the setup",
    parse: oneOf(["key", "users"]),
  },
  apiKey: {
    name: "API_KEY",
    meaning: "The key of key mode",
    fallbackShown: "made at the setup",
    secret: true,
    parse: secretOf(1, "characters"),
  },
  adminEmail: {
    name: "ADMIN_EMAIL",
    meaning: "First user of users mode",
    fallbackShown: "chosen at the setup",
    parse: email,
  },
  adminPassword: {
    name: "ADMIN_PASSWORD",
    meaning: "Password of the first user",
    fallbackShown: "made at the first start",
    secret: true,
    parse: adminPassword,
  },
  passwordLogin: {
    name: "PASSWORD_LOGIN",
    meaning: "on, or off: users sign in at identity providers or with passkeys only",
    fallback: "on",
    parse: oneOf(["on", "off"]),
  },
  mfaRequired: {
    name: "MFA_REQUIRED",
    meaning: "off, admins or all: who must have a second factor in users mode",
    fallback: "off",
    parse: oneOf(["off", "admins", "all"]),
  },
  jwtSecret: {
    name: "JWT_SECRET",
    meaning: "Signs the access tokens",
    fallbackShown: "made, DATA_DIR/jwt.secret",
    secret: true,
    parse: secretOf(JWT_SECRET_BYTES_MIN, "bytes"),
  },
  secretKey: {
    name: "SECRET_KEY",
    meaning: "Encrypts stored secrets",
    fallbackShown: "made, DATA_DIR/secret.key",
    secret: true,
    parse: secretOf(1, "bytes"),
  },
  metricsToken: {
    name: "METRICS_TOKEN",
    meaning: "Bearer token of GET /metrics",
    fallbackShown: "unset: an access token is asked for",
    secret: true,
    parse: secretOf(1, "characters"),
  },
  mtlsVerifySecret: {
    name: "MTLS_VERIFY_SECRET",
    meaning: "Secret between the reverse proxy and the mTLS verify endpoint",
    secret: true,
    parse: secretOf(1, "characters"),
  },
  serviceBaseUrl: {
    name: "SERVICE_BASE_URL",
    meaning: "Public address, for SSO metadata and links in mails",
    fallbackShown: "from the Host header",
    parse: httpUrl,
  },
  licenseKey: {
    name: "LICENSE_KEY",
    meaning: "License key",
    fallbackShown: "DATA_DIR/license.key",
    secret: true,
    parse: anyText,
  },
  endpoints: {
    name: "ENDPOINTS",
    meaning: "HTTP endpoints to probe: Name|URL|ExpectedStatus, comma-separated",
    fallback: "",
    parse: (text) => list(text).map(probedEndpoint),
  },
  sslDomains: {
    name: "SSL_DOMAINS",
    meaning: "Domains whose certificates are checked: host or host:port, comma-separated",
    fallback: "",
    parse: (text) => list(text).map(sslDomain),
  },
  trustedProxies: {
    name: "TRUSTED_PROXIES",
    meaning: "CIDRs whose X-Forwarded-For and X-Real-IP are believed, comma-separated",
    fallback: "",
    parse: (text) => list(text).map(cidr),
  },
  corsOrigins: {
    name: "CORS_ORIGINS",
    meaning: "Exact origins of browser pages that may call, comma-separated",
    fallback: "",
    parse: (text) => list(text).map(origin),
  },
  rateLimitPerMinute: {
    name: "RATE_LIMIT_PER_MINUTE",
    meaning: "Requests per minute and client address; 0 turns it off",
    fallback: "600",
    parse: integer(0, 1_000_000),
  },
  execAllowlist: {
    name: "EXEC_ALLOWLIST",
    meaning: "Commands that exec may run, ;-separated; an entry that ends in ' *' allows arguments",
    fallback: DEFAULT_EXEC_ALLOWLIST,
    fallbackShown: "read-only diagnostics",
    parse: (text) => list(text, ";"),
  },
  outboundAllow: {
    name: "OUTBOUND_ALLOW",
    meaning:
      "CIDRs or hosts that webhooks and the like may reach although private, comma-separated",
    fallback: "",
    parse: (text) => list(text).map(cidrOrHost),
  },
  smtpUrl: {
    name: "SMTP_URL",
    meaning: "Mail server as smtp://user:password@host:port or smtps://…",
    secret: true,
    parse: smtpUrl,
  },
  smtpFrom: {
    name: "SMTP_FROM",
    meaning: "Sender of mails, e.g. Status <status@example.com>",
    fallbackShown: "longshore@SERVER_NAME",
    parse: mailSender,
  },
  pushUrl: {
    name: "PUSH_URL",
    meaning: "Push gateway that speaks the Expo push API",
    fallbackShown: "unset: off",
    parse: httpUrl,
  },
  registryAuthFile: {
    name: "REGISTRY_AUTH_FILE",
    meaning: "Credentials of image registries, in the format of Docker's config.json",
    parse: absolutePath,
  },
  registryVia: {
    name: "REGISTRY_VIA",
    meaning: "How registries are asked for updates: direct, or engine with its mirrors and proxy",
    fallback: "direct",
    parse: oneOf(["direct", "engine"]),
  },
  bindAllow: {
    name: "BIND_ALLOW",
    meaning: "Directories of the host that Compose files may mount, comma-separated",
    fallbackShown: "unset: all",
    parse: (text) => list(text).map(directory),
  },
  stackRoots: {
    name: "STACK_ROOTS",
    meaning: "Directories of the host with the directories of stacks, comma-separated",
    fallback: "/opt/stacks",
    parse: (text) => list(text).map(subdirectory),
  },
  volumesPath: {
    name: "VOLUMES_PATH",
    meaning: "The engine's directory of volumes, from which backups read files directly",
    fallbackShown: "unset: volumes are read through the engine",
    parse: subdirectory,
  },
  helperImage: {
    name: "HELPER_IMAGE",
    meaning: "Image with sh, rm, find and tar, whose containers empty volumes and list their files",
    fallbackShown: "unset: the image of the application, if it has these programs",
    parse: anyText,
  },
  backupDirs: {
    name: "BACKUP_DIRS",
    meaning:
      "Directories that backup targets may be in besides DATA_DIR/snapshots, comma-separated",
    fallback: "",
    parse: (text) => list(text).map(subdirectory),
  },
  maxConnections: {
    name: "MAX_CONNECTIONS",
    meaning: "Most connections at a time; fewer where file descriptors run short",
    fallback: "12000",
    parse: integer(16, 1_000_000),
  },
  maxSseClients: {
    name: "MAX_SSE_CLIENTS",
    meaning: "Most clients of GET /api/stream at a time",
    fallback: "10000",
    parse: integer(1, 1_000_000),
  },
  terminal: {
    name: "TERMINAL",
    meaning: "off, or admin: admins may open terminals in containers",
    fallback: "off",
    parse: oneOf(["off", "admin"]),
  },
  terminalIdleMinutes: {
    name: "TERMINAL_IDLE_MINUTES",
    meaning: "Minutes without input after which a terminal is closed",
    fallback: "15",
    parse: integer(1, 1_440),
  },
  hostLabels: {
    name: "HOST_LABELS",
    meaning: "Labels of this host as name=value, comma-separated; they choose mappings of Git " +
      "repositories",
    fallback: "",
    parse: labels,
  },
  fleetInsecure: {
    name: "FLEET_INSECURE",
    meaning: "on: links of a fleet without TLS, to this host and private networks only",
    fallback: "off",
    parse: oneOf(["on", "off"]),
  },
  releaseUrl: {
    name: "RELEASE_URL",
    meaning: "Directory of the files of a release, for the line that installs a new host of the " +
      "fleet; VERSION in it stands for the version of this server",
    fallbackShown: "unset",
    parse: releaseUrl,
  },
  httpsProxy: {
    name: "HTTPS_PROXY",
    meaning: "HTTP proxy on the way to addresses with https, as http://host:port",
    fallbackShown: "unset: directly",
    secret: true,
    parse: proxyUrl,
  },
  httpProxy: {
    name: "HTTP_PROXY",
    meaning: "HTTP proxy on the way to addresses with http, as http://host:port",
    fallbackShown: "unset: directly",
    secret: true,
    parse: proxyUrl,
  },
  noProxy: {
    name: "NO_PROXY",
    meaning: "Hosts, domains and networks that are reached without a proxy, comma-separated",
    fallback: "",
    parse: (text) => list(text),
  },
  fleetAllow: {
    name: "FLEET_ALLOW",
    meaning: "What the hub's users may do on this host at most: read, operate or admin",
    fallback: "operate",
    parse: oneOf(["read", "operate", "admin"]),
  },
  fleetTerminal: {
    name: "FLEET_TERMINAL",
    meaning:
      "off, or on: admins of the hub may run commands and open terminals, with FLEET_ALLOW=admin",
    fallback: "off",
    parse: oneOf(["off", "on"]),
  },
  ui: {
    name: "UI",
    meaning: "The dashboard: on or off",
    fallback: "on",
    parse: oneOf(["on", "off"]),
  },
  imageUploadMaxBytes: {
    name: "IMAGE_UPLOAD_MAX_BYTES",
    meaning: "Largest archive of POST /api/images/load, in bytes",
    fallback: String(10 * 1024 ** 3),
    parse: integer(1, Number.MAX_SAFE_INTEGER),
  },
  /** Wins over the stored setting. */
  updateCheck: {
    name: "UPDATE_CHECK",
    meaning: "Periodic checks for image updates: on or off",
    fallbackShown: "the setting: off",
    parse: oneOf(["on", "off"]),
  },
  updateCheckIntervalHours: {
    name: "UPDATE_CHECK_INTERVAL_HOURS",
    meaning: "Hours between two checks of an image",
    fallbackShown: "the setting: 6",
    parse: integer(INTERVAL_HOURS.min, INTERVAL_HOURS.max),
  },
  logLevel: {
    name: "LOG_LEVEL",
    meaning: LOG_LEVELS.join(", "),
    fallback: "info",
    parse: oneOf(LOG_LEVELS),
  },
  logFormat: {
    name: "LOG_FORMAT",
    meaning: "text or json",
    fallback: ({ terminal }) => terminal ? "text" : "json",
    fallbackShown: "text on a terminal, else json",
    parse: oneOf(["text", "json"]),
  },
  licenseKeysFile: {
    name: "LICENSE_KEYS_FILE",
    meaning: "More license keys (JWKS); only when running from source",
    parse: anyText,
  },
} satisfies Record<string, Variable>;

/** The value of each variable; `null` for one that is not set and has no fallback. */
type Values = {
  [Key in keyof typeof VARIABLES]:
    | ReturnType<(typeof VARIABLES)[Key]["parse"]>
    | ((typeof VARIABLES)[Key] extends { fallback: unknown } ? never : null);
};

export interface Config extends Values {
  /** Providers of the variables `OIDC_…`. */
  oidcProviders: readonly OidcProviderConfig[];
}
