/**
 * The log: one line per event on standard error, as JSON or as text for a person.
 *
 * @module
 */

export const LOG_LEVELS = ["debug", "info", "warn", "error"] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];
export type LogFormat = "json" | "text";

export type LogFields = Record<string, unknown>;

/** Writes lines of its level and above; `fields` are added as they are, so never give it a secret. */
export interface Log {
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
}

const encoder = new TextEncoder();

/**
 * Makes the process's log.
 *
 * @param write Where a finished line goes; standard error unless given.
 */
export function createLog(
  { level, format, now }: { level: LogLevel; format: LogFormat; now: () => Date },
  write: (line: string) => void = writeToStderr,
): Log {
  const least = LOG_LEVELS.indexOf(level);
  const line = format === "json" ? jsonLine : textLine;
  const at = (own: LogLevel) => (message: string, fields: LogFields = {}) => {
    if (LOG_LEVELS.indexOf(own) >= least) write(line(now(), own, message, fields));
  };
  return { debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") };
}

/** A log that says nothing. */
export const silentLog: Log = { debug() {}, info() {}, warn() {}, error() {} };

/** An error as fields of a log line: its message with those of its causes, and the stack. */
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
    .map(([name, value]) => `${name}=${shown(value)}`);
  return [time.toISOString(), level.toUpperCase().padEnd(5), message, ...rest].join(" ");
}

/** A text as it is where it is one plain word, for else it could pass for another field or line. */
function shown(value: unknown): string {
  return typeof value === "string" && /^[^\s"=\p{C}]+$/u.test(value) ? value : json(value);
}

/** What cannot be written as JSON must not cost the line, let alone the work that it tells of. */
function json(value: unknown): string {
  try {
    return JSON.stringify(value, (_, part) => typeof part === "bigint" ? String(part) : part) ??
      "undefined";
  } catch (error) {
    return JSON.stringify(`not shown: ${error instanceof Error ? error.message : error}`);
  }
}

function writeToStderr(line: string): void {
  // A closed standard error (a vanished terminal or log pipe) must not end the service.
  try {
    Deno.stderr.writeSync(encoder.encode(line + "\n"));
  } catch { /* nobody is left to tell */ }
}
