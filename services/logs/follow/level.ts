/** Detects the level of a log line from the formats that programs commonly use. @module */

/** Levels from least to most severe. */
export const LOG_LEVELS = ["trace", "debug", "info", "warn", "error", "fatal"] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** Number of characters and words that are searched. Levels are at the beginning of a line. */
const HEAD_LENGTH = 256;
const WORDS_MAX = 7;

/** Fields of a JSON object may be in any order, so more of it is searched. */
const JSON_LENGTH = 4_096;

const LEVEL_BY_WORD: Readonly<Record<string, LogLevel>> = {
  trace: "trace",
  trc: "trace",
  trce: "trace",
  verbose: "trace",
  vrb: "trace",
  debug: "debug",
  dbg: "debug",
  dbug: "debug",
  info: "info",
  inf: "info",
  information: "info",
  informational: "info",
  notice: "info",
  note: "info",
  log: "info",
  warn: "warn",
  wrn: "warn",
  warning: "warn",
  error: "error",
  err: "error",
  eror: "error",
  fail: "error",
  severe: "error",
  fatal: "fatal",
  ftl: "fatal",
  critical: "fatal",
  crit: "fatal",
  panic: "fatal",
  emerg: "fatal",
  emergency: "fatal",
  alert: "fatal",
};

/** Severities of syslog (RFC 5424, section 6.2.1), from 0. */
const SYSLOG: readonly LogLevel[] = [
  "fatal",
  "fatal",
  "fatal",
  "error",
  "warn",
  "info",
  "info",
  "debug",
];

const KLOG: Readonly<Record<string, LogLevel>> = { I: "info", W: "warn", E: "error", F: "fatal" };

const JSON_FIELD = /"(?:level|severity|lvl)"\s*:\s*(?:"([A-Za-z]{1,16})"|(\d{1,2})\b)/i;
const LOGFMT_FIELD = /(?:^|[\s,])(?:level|severity|lvl)=["']?([A-Za-z]{1,16})/i;
const KLOG_LINE = /^([IWEF])\d{4} \d\d:\d\d:\d\d/;
const SYSLOG_PRIORITY = /^<(\d{1,3})>/;

// deno-lint-ignore no-control-regex
const ANSI = /\x1b\[[\d;]{0,32}m/g;

/** A word in brackets, or followed by a colon: `[error]`, `core:error]`, `warn:`, `ERROR:root:x`. */
const MARKED = /^[[(<|]*(?:[\w-]{1,32}:)?([A-Za-z]{3,13})[\])>|]*:?[\])>|]*$/;
const UPPER_CASE = /^[[(<|*-]*([A-Z]{3,13})(?![A-Za-z0-9_'’])/;

/** Returns the level of a line without its timestamp; `null` if it has none that is known. */
export function detectLevel(line: string): LogLevel | null {
  const head = line.slice(0, HEAD_LENGTH).replace(ANSI, "").trimStart();
  const first = head.charCodeAt(0);
  if (first === 0x7b) return jsonLevel(line);
  if (first === 0x3c) {
    const priority = SYSLOG_PRIORITY.exec(head)?.[1];
    if (priority !== undefined && Number(priority) < 192) return SYSLOG[Number(priority) & 7]!;
  }
  const klog = KLOG_LINE.exec(head)?.[1];
  if (klog !== undefined) return KLOG[klog]!;
  const field = LOGFMT_FIELD.exec(head)?.[1];
  return (field === undefined ? undefined : levelOfWord(field)) ?? prefixLevel(head);
}

function jsonLevel(line: string): LogLevel | null {
  const field = JSON_FIELD.exec(line.slice(0, JSON_LENGTH));
  if (!field) return null;
  const [, word, number] = field;
  if (word !== undefined) return levelOfWord(word) ?? null;
  // Pino and Bunyan number the levels from 10 to 60.
  const value = Number(number);
  return value % 10 === 0 ? LOG_LEVELS[value / 10 - 1] ?? null : null;
}

/** Searches the first words, most of which are usually a time, a process id and a module. */
function prefixLevel(head: string): LogLevel | null {
  let words = 0;
  for (const word of head.split(/\s/, WORDS_MAX * 2)) {
    if (word === "") continue;
    if (++words > WORDS_MAX) return null;
    const upper = UPPER_CASE.exec(word)?.[1];
    const level = upper === undefined ? markedLevel(word) : levelOfWord(upper);
    if (level) return level;
  }
  return null;
}

/** In lower case only with a bracket or a colon, because "error" and "note" are also prose. */
function markedLevel(word: string): LogLevel | undefined {
  if (!/[\])>|:]$/.test(word)) return undefined;
  const name = MARKED.exec(word)?.[1];
  return name === undefined ? undefined : levelOfWord(name);
}

function levelOfWord(word: string): LogLevel | undefined {
  const name = word.toLowerCase();
  return Object.hasOwn(LEVEL_BY_WORD, name) ? LEVEL_BY_WORD[name] : undefined;
}
