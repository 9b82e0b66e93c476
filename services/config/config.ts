/**
 * The configuration: every variable with its meaning, default and validation. Only this file reads
 * environment variables.
 *
 * @module
 */

import {
  absolutePath,
  adminPassword,
  anyText,
  type Cidr,
  cidr,
  cidrOrHost,
  email,
  httpUrl,
  integer,
  list,
  mailSender,
  oneOf,
  origin,
  type ProbedEndpoint,
  probedEndpoint,
  secretOf,
  smtpUrl,
  sslDomain,
  type TlsDomain,
  unixSocket,
} from "./values.ts";
import { DEFAULT_EXEC_ALLOWLIST } from "./exec_defaults.ts";
import { LOG_LEVELS, type LogFormat, type LogLevel } from "../log.ts";
import { nearest } from "../input/nearest.ts";
import { REDACTED, withoutCredentials } from "../redact.ts";
import { systemReason } from "../system_reason.ts";

export interface Config {
  host: string;
  port: number;
  tlsCertFile: string | null;
  tlsKeyFile: string | null;
  serverName: string;
  dataDir: string;
  /** `unix:///path`, or `null` to search the usual places. */
  dockerHost: string | null;
  procPath: string | null;
  authMode: "key" | "users";
  apiKey: string | null;
  adminEmail: string;
  adminPassword: string | null;
  jwtSecret: string | null;
  secretKey: string | null;
  metricsToken: string | null;
  mtlsVerifySecret: string | null;
  serviceBaseUrl: string | null;
  licenseKey: string | null;
  endpoints: ProbedEndpoint[];
  sslDomains: TlsDomain[];
  trustedProxies: Cidr[];
  corsOrigins: string[];
  /** Per client address; 0 turns the limit off. */
  rateLimitPerMinute: number;
  /** Entries of allowed commands; one that ends in ` *` allows any further arguments. */
  execAllowlist: string[];
  outboundAllow: string[];
  smtpUrl: string | null;
  smtpFrom: string | null;
  pushUrl: string | null;
  maxSseClients: number;
  logLevel: LogLevel;
  logFormat: LogFormat;
  /** More license keys, for tests; only read when running from source. */
  licenseKeysFile: string | null;
}

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

/** A variable has an invalid value; the message is one sentence for the operator. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
}

interface Variable<Value> {
  /** Shown by `longshore config`. */
  meaning: string;
  /** The text for an unset variable; without one, the value is `null`. */
  fallback?: string | ((surroundings: Surroundings, env: Env) => string);
  /** How the default is shown, if the fallback is not clear enough. */
  fallbackShown?: string;
  /** Never shown; can also be read from the file in `NAME_FILE`. */
  secret?: true;
  /** Throws an `Error` whose message says what is allowed, e.g. `must be 1 to 65535`. */
  parse: (text: string) => Value;
}

export type Env = Readonly<Record<string, string | undefined>>;

/** Minimum length of a signing secret, in bytes (RFC 7518, 3.2: as long as the hash). */
const JWT_SECRET_BYTES_MIN = 32;

/** Recommended minimum length of other secrets, in characters. */
const ADVISED_LENGTH_MIN = 16;

const VARIABLES: { [Key in keyof Config]-?: Variable<Config[Key]> & { name: string } } = {
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
  dataDir: {
    name: "DATA_DIR",
    meaning: "Directory of databases, keys and license",
    fallback: (_, env) => env.STATE_DIRECTORY?.split(":")[0] || "./data",
    fallbackShown: "$STATE_DIRECTORY, else ./data",
    parse: anyText,
  },
  dockerHost: {
    name: "DOCKER_HOST",
    meaning: "The engine's socket as unix:///path",
    fallbackShown: "found: Docker, rootless Docker, Podman",
    parse: unixSocket,
  },
  procPath: {
    name: "PROC_PATH",
    meaning: "A mount of the host's /proc, e.g. /host/proc inside a container",
    parse: absolutePath,
  },
  authMode: {
    name: "AUTH_MODE",
    meaning: "key: one API key; users: accounts with roles",
    fallback: "key",
    parse: oneOf(["key", "users"]),
  },
  apiKey: {
    name: "API_KEY",
    meaning: "The key of key mode",
    fallbackShown: "made at the first start",
    secret: true,
    parse: secretOf(1, "characters"),
  },
  adminEmail: {
    name: "ADMIN_EMAIL",
    meaning: "First user of users mode",
    fallback: "admin@localhost",
    parse: email,
  },
  adminPassword: {
    name: "ADMIN_PASSWORD",
    meaning: "Password of the first user",
    fallbackShown: "made at the first start",
    secret: true,
    parse: adminPassword,
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
    fallback: DEFAULT_EXEC_ALLOWLIST.join(";"),
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
  maxSseClients: {
    name: "MAX_SSE_CLIENTS",
    meaning: "Most clients of GET /api/stream at a time",
    fallback: "10000",
    parse: integer(1, 1_000_000),
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
};

const KEYS = Object.keys(VARIABLES) as (keyof Config)[];

/**
 * Reads the configuration. An empty variable counts as unset, as `NAME=` means in an env file or a
 * compose file.
 *
 * @throws {ConfigError} One sentence that names variable, value and what is allowed.
 */
export function readConfig(env: Env, surroundings: Surroundings): Config {
  const config: Record<string, unknown> = {};
  for (const key of KEYS) {
    const variable: Variable<unknown> & { name: string } = VARIABLES[key];
    const text = textOf(variable, env, surroundings) ?? fallbackOf(variable, env, surroundings);
    config[key] = text === undefined ? null : parseValue(variable, text);
  }
  const result = config as unknown as Config;
  if ((result.tlsCertFile === null) !== (result.tlsKeyFile === null)) {
    throw new ConfigError("TLS_CERT_FILE and TLS_KEY_FILE must be set together");
  }
  if (surroundings.packed) result.licenseKeysFile = null;
  return result;
}

/** Returns warnings about risky settings, each a sentence for the log. */
export function configWarnings(config: Config): string[] {
  const { apiKey, secretKey, metricsToken, mtlsVerifySecret } = config;
  const secrets = {
    API_KEY: apiKey,
    SECRET_KEY: secretKey,
    METRICS_TOKEN: metricsToken,
    MTLS_VERIFY_SECRET: mtlsVerifySecret,
  };
  const short = Object.entries(secrets)
    .filter(([, value]) => value !== null && value.length < ADVISED_LENGTH_MIN)
    .map(([name]) => `${name} has less than ${ADVISED_LENGTH_MIN} characters and can be guessed`);
  return config.tlsCertFile !== null || isLoopback(config.host) ? short : [
    ...short,
    `plain HTTP on ${config.host}: tokens can be read on the network; use a proxy with TLS and ` +
    "HOST=127.0.0.1, or set TLS_CERT_FILE and TLS_KEY_FILE",
  ];
}

const isLoopback = (host: string) => /^(localhost|127(\.\d{1,3}){3}|\[?::1\]?)$/i.test(host);

/** Variables of other programs that may be in the env file. */
const FOREIGN_VARIABLES =
  /^(LONGSHORE_RUNTIME_DIR|(STATE|CACHE)_DIRECTORY|HOME|PATH|TMPDIR|TZ|LANG|LC_\w+|NO_COLOR|XDG_\w+|DENO_\w+|NODE_\w+|SSL_CERT_(FILE|DIR))$/;

/**
 * Returns a warning for each unknown variable of an env file, with the name that may be meant.
 */
export function unknownVariables(env: Env): string[] {
  const known = Object.values(VARIABLES).flatMap((
    { name, secret }: { name: string; secret?: true },
  ) => secret ? [name, `${name}_FILE`] : [name]);
  return Object.keys(env)
    .filter((name) => !known.includes(name) && !FOREIGN_VARIABLES.test(name))
    .map((name) => {
      const meant = nearest(name, known);
      return `unknown variable ${name}${meant === undefined ? "" : `, did you mean ${meant}?`}`;
    });
}

/** One row of `longshore config`. */
export interface ConfigRow {
  name: string;
  value: string;
  /** Whether the value was set rather than taken from the default. */
  set: boolean;
  default: string;
  meaning: string;
}

/** Returns every variable with its current value; secrets are redacted. */
export function describeConfig(env: Env, surroundings: Surroundings): ConfigRow[] {
  return KEYS.filter((key) => key !== "licenseKeysFile" || !surroundings.packed).map((key) => {
    const variable: Variable<unknown> & { name: string } = VARIABLES[key];
    const given = textOf(variable, env, surroundings);
    const fallback = fallbackOf(variable, env, surroundings);
    return {
      name: variable.name,
      value: given === undefined ? fallback ?? "" : redactValue(variable, given),
      set: given !== undefined,
      default: variable.fallbackShown ?? fallback ?? "unset",
      meaning: variable.meaning,
    };
  });
}

function textOf(
  { name, secret }: { name: string; secret?: true },
  env: Env,
  { readTextFile }: Surroundings,
): string | undefined {
  const text = env[name]?.trim() || undefined;
  const file = secret ? env[`${name}_FILE`]?.trim() || undefined : undefined;
  if (file === undefined) return text;
  if (text !== undefined) throw new ConfigError(`${name} and ${name}_FILE are both set; keep one`);
  try {
    return readTextFile(file).trim() || undefined;
  } catch (error) {
    const reason = systemReason(error);
    throw new ConfigError(`${name}_FILE=${file} cannot be read: ${reason}`, { cause: error });
  }
}

/** Returns a value without secrets and credentials in URLs. */
function redactValue({ secret }: { secret?: true }, text: string): string {
  return secret ? REDACTED : withoutCredentials(text);
}

function fallbackOf(
  { fallback }: Variable<unknown>,
  env: Env,
  surroundings: Surroundings,
): string | undefined {
  return typeof fallback === "function" ? fallback(surroundings, env) : fallback;
}

function parseValue<Value>(variable: Variable<Value> & { name: string }, text: string): Value {
  try {
    return variable.parse(text);
  } catch (error) {
    const given = variable.secret ? "" : `=${redactValue(variable, text)}`;
    throw new ConfigError(`${variable.name}${given} ${(error as Error).message}`, { cause: error });
  }
}
