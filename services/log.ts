/** The log: one line per event on standard error, as JSON or as text for a person. @module */

export const LOG_LEVELS = ["debug", "info", "warn", "error"] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];
export type LogFormat = "json" | "text";

export type LogFields = Record<string, unknown>;

/** Writes lines of its level and above. Fields are not redacted: never log a secret. */
export interface Log {
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
  /** Writes a line of the level `info` at every LOG_LEVEL. */
  always(message: string, fields?: LogFields): void;
}

const encoder = new TextEncoder();

/**
 * Creates the process's log.
 *
 * @param write Writes a finished line; default: to standard error.
 */
export function createLog(
  { level, format, now }: { level: LogLevel; format: LogFormat; now: () => Date },
  write: (line: string) => void = writeToStderr,
): Log {
  const least = LOG_LEVELS.indexOf(level);
  const line = format === "json" ? jsonLine : textLine;
  const writeAt = (own: LogLevel) => (message: string, fields: LogFields = {}) =>
    write(line(now(), own, message, fields));
  const at = (own: LogLevel) => LOG_LEVELS.indexOf(own) >= least ? writeAt(own) : () => {};
  return {
    debug: at("debug"),
    info: at("info"),
    warn: at("warn"),
    error: at("error"),
    always: writeAt("info"),
  };
}

/** A log that writes nothing. */
export const silentLog: Log = { debug() {}, info() {}, warn() {}, error() {}, always() {} };

/** Returns an error as fields of a log line: its message, the messages of its causes, its stack. */
export function errorFields(error: unknown): LogFields {
  const messages: string[] = [];
  for (let cause = error; cause !== undefined; cause = (cause as Error)?.cause) {
    messages.push(cause instanceof Error ? cause.message : String(cause));
    if (!(cause instanceof Error) || messages.length === 5) break;
  }
  return {
    error: messages.join(": "),
    ...(error instanceof Error && error.stack !== undefined && { stack: error.stack }),
  };
}

function jsonLine(time: Date, level: LogLevel, message: string, fields: LogFields): string {
  return json({ time: time.toISOString(), level, message, ...fields });
}

function textLine(time: Date, level: LogLevel, message: string, fields: LogFields): string {
  const rest = Object.entries(fields)
    .filter(([name, value]) => value !== undefined && (name !== "stack" || level === "error"))
    .map(([name, value]) => `${name}=${quoteText(value)}`);
  return [time.toISOString(), level.toUpperCase().padEnd(5), message, ...rest].join(" ");
}

/** Quotes a text unless it is one plain word, so that it cannot look like another field or line. */
function quoteText(value: unknown): string {
  return typeof value === "string" && /^[^\s"=\p{C}]+$/u.test(value) ? value : json(value);
}

/** A value that cannot be serialized must not fail the caller. */
function json(value: unknown): string {
  try {
    return JSON.stringify(value, (_, part) => typeof part === "bigint" ? String(part) : part) ??
      "undefined";
  } catch (error) {
    return JSON.stringify(`not serializable: ${error instanceof Error ? error.message : error}`);
  }
}

function writeToStderr(line: string): void {
  // A closed standard error (a vanished terminal or log pipe) must not end the service.
  try {
    Deno.stderr.writeSync(encoder.encode(line + "\n"));
  } catch { /* there is nowhere to report it */ }
}
