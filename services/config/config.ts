/**
 * Reads the configuration from the environment, and describes it. Only this file reads environment
 * variables.
 *
 * @module
 */

import { nearest } from "../input/nearest.ts";
import { REDACTED, withoutCredentials } from "../text/redact.ts";
import { systemReason } from "../text/system_reason.ts";
import { OIDC_FIELDS, OIDC_NUMBERS, oidcPrefix, oidcProviderOf } from "./oidc.ts";
import { type Config, type Env, type Surroundings, type Variable, VARIABLES } from "./variables.ts";

export type { Config, Env, Surroundings };

/** A variable has an invalid value; the message is one sentence for the operator. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
}

/** Recommended minimum length of other secrets, in characters. */
const ADVISED_LENGTH_MIN = 16;

const KEYS = Object.keys(VARIABLES) as (keyof typeof VARIABLES)[];

/**
 * Reads the configuration. An empty variable counts as unset, as `NAME=` means in an env file or a
 * compose file.
 *
 * @throws {ConfigError} One sentence that names variable, value and what is allowed.
 */
export function readConfig(env: Env, surroundings: Surroundings): Config {
  const config: Record<string, unknown> = {};
  for (const key of KEYS) {
    const variable: Variable = VARIABLES[key];
    const text = textOf(variable, env, surroundings) ?? fallbackOf(variable, env, surroundings);
    config[key] = text === undefined ? null : parseValue(variable, text);
  }
  config.oidcProviders = OIDC_NUMBERS.map((number) => readOidcProvider(number, env, surroundings))
    .filter((provider) => provider !== undefined);
  const result = config as unknown as Config;
  if ((result.tlsCertFile === null) !== (result.tlsKeyFile === null)) {
    throw new ConfigError("TLS_CERT_FILE and TLS_KEY_FILE must be set together");
  }
  if (surroundings.packed) result.licenseKeysFile = null;
  return result;
}

function readOidcProvider(number: number, env: Env, surroundings: Surroundings) {
  const values: Record<string, unknown> = {};
  let isSet = false;
  for (const [field, variable] of oidcVariables(number)) {
    const given = textOf(variable, env, surroundings);
    const text = given ?? fallbackOf(variable, env, surroundings);
    values[field] = text === undefined ? null : parseValue(variable, text);
    isSet ||= given !== undefined;
  }
  try {
    return oidcProviderOf(number, values as Parameters<typeof oidcProviderOf>[1], isSet);
  } catch (error) {
    throw new ConfigError((error as Error).message, { cause: error });
  }
}

/** The variables of a provider by field. */
const oidcVariables = (number: number): [string, Variable][] =>
  Object.entries(OIDC_FIELDS).map(([field, { suffix, ...variable }]) => [
    field,
    { name: oidcPrefix(number) + suffix, ...variable },
  ]);

/** Every variable, also of providers that are not set. */
const everyVariable = (): Variable[] => [
  ...Object.values<Variable>(VARIABLES),
  ...OIDC_NUMBERS.flatMap(oidcVariables).map(([, variable]) => variable),
];

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
  const known = everyVariable()
    .flatMap(({ name, secret }) => secret ? [name, `${name}_FILE`] : [name]);
  return Object.keys(env)
    .filter((name) => !known.includes(name) && !FOREIGN_VARIABLES.test(name))
    .map((name) => {
      const meant = nearest(name, known);
      return `unknown variable ${name}${meant === undefined ? "" : `, did you mean ${meant}?`}`;
    });
}

/** One row of `longshore config`. */
interface ConfigRow {
  name: string;
  value: string;
  /** Whether the value was set rather than taken from the default. */
  set: boolean;
  default: string;
  meaning: string;
}

/** Returns every variable with its current value; secrets are redacted. */
export function describeConfig(env: Env, surroundings: Surroundings): ConfigRow[] {
  const single = KEYS.filter((key) => key !== "licenseKeysFile" || !surroundings.packed)
    .map((key): Variable => VARIABLES[key]);
  const ofProviders = OIDC_NUMBERS.flatMap((number) => {
    const variables = oidcVariables(number).map(([, variable]) => variable);
    return number === 1 ||
        variables.some(({ name, secret }) => env[name] || (secret && env[`${name}_FILE`]))
      ? variables
      : [];
  });
  return [...single, ...ofProviders].map((variable) => {
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
  { name, secret }: Variable,
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
function redactValue({ secret }: Variable, text: string): string {
  return secret ? REDACTED : withoutCredentials(text);
}

function fallbackOf(
  { fallback }: Variable,
  env: Env,
  surroundings: Surroundings,
): string | undefined {
  return typeof fallback === "function" ? fallback(surroundings, env) : fallback;
}

function parseValue(variable: Variable, text: string): unknown {
  try {
    return variable.parse(text);
  } catch (error) {
    const given = variable.secret ? "" : `=${redactValue(variable, text)}`;
    throw new ConfigError(`${variable.name}${given} ${(error as Error).message}`, { cause: error });
  }
}
