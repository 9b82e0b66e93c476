/** Contents of single files: read from any byte on, and replaced at once. @module */

import { Buffer } from "node:buffer";
import { AppError } from "../../errors.ts";
import type { ByteString } from "../restic/entry.ts";
import { FILE_BYTES_MAX, showPath } from "./limits.ts";
import { type ListedFile, STAT, toListed } from "./listing.ts";
import { EXIT, failureOf, FUNCTIONS, pairOf, runScript, type Shell, unexpected } from "./shell.ts";

/** Longest wait for the description of a file, in milliseconds: opening a FIFO may take for ever. */
const OPEN_MS = 30_000;

/** An open file. */
export interface OpenFile {
  info: ListedFile;
  /** First byte of `content`. */
  start: number;
  /** Up to the size that the file had. It fails if the file became shorter. */
  content: AsyncGenerator<Uint8Array, void>;
  /** Closes the file, also while content is being read. May be called again. */
  close(): void;
}

/** First byte that a position means: a negative one counts from the end of the file. */
export const startIn = (size: number, from: number): number =>
  from < 0 ? Math.max(0, size + from) : Math.min(size, from);

/**
 * The file that is checked is the one that is open, whatever a container puts at its name meanwhile.
 * `$3` is the first byte to read.
 */
const READ = `${FUNCTIONS} find_file "$1" "$2"
exists "$name" || exit ${EXIT.isMissing}
is_file "$name" || exit ${EXIT.isNotFile}
exec 3< "$name"
[ "$(stat -L -c %d:%i /proc/self/fd/3)" = "$(stat -c %d:%i "$name")" ] || exit ${EXIT.isNotFile}
stat -L -c '%f %s %Y %u %g' /proc/self/fd/3
size=$(stat -L -c %s /proc/self/fd/3); start=$3
[ "$start" -ge 0 ] || start=$((size + start)); [ "$start" -ge 0 ] || start=0
if [ "$start" -eq 0 ]; then head -c "$size" <&3
elif [ "$start" -lt "$size" ]; then tail -c "+$((start + 1))" <&3 | head -c "$((size - start))"
fi`;

/**
 * Opens a regular file.
 *
 * @param from First byte; a negative one counts from the end.
 * @throws {AppError} `not_found`; `conflict` for what is not a regular file, or behind a symbolic link.
 */
export async function openContent(
  shell: Shell,
  path: ByteString,
  { from = 0, signal }: { from?: number; signal: AbortSignal },
): Promise<OpenFile> {
  const args = [...pairOf(path), String(from)];
  const ending = new AbortController();
  const timer = setTimeout(() => ending.abort(unexpected(shell)), OPEN_MS);
  const output = shell.run({
    ...{ text: READ, args },
    isReadOnly: true,
    signal: AbortSignal.any([signal, ending.signal]),
  });
  try {
    const head = await readHead(shell, path, output);
    const start = startIn(head.info.size, from);
    const left = head.info.size - start;
    return {
      ...{ info: head.info, start },
      content: contentOf(path, { ...head, output, left }),
      close() {
        ending.abort();
        void output.return(undefined as never).catch(() => {});
      },
    };
  } catch (error) {
    await output.return(undefined as never);
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

type Output = ReturnType<Shell["run"]>;

const HEAD_MAX = 200;
const LINE_END = 0x0a;

/** Reads the line before the content. */
async function readHead(
  shell: Shell,
  path: ByteString,
  output: Output,
): Promise<{ info: ListedFile; rest: Uint8Array }> {
  let bytes = new Uint8Array(0);
  for (;;) {
    const { done, value } = await output.next();
    if (done) throw value.exitCode === 0 ? unexpected(shell) : failureOf(shell, path, value);
    bytes = Buffer.concat([bytes, value]);
    const end = bytes.indexOf(LINE_END);
    if (end < 0 && bytes.length <= HEAD_MAX) continue;
    const found = STAT.exec(Buffer.from(bytes.subarray(0, end)).toString("latin1"));
    const info = found && toListed(path.slice(path.lastIndexOf("/") + 1), found);
    if (info?.type !== "file" || info.size > FILE_BYTES_MAX) throw unexpected(shell);
    return { info, rest: bytes.subarray(end + 1) };
  }
}

async function* contentOf(
  path: ByteString,
  { rest, output, left }: { rest: Uint8Array; output: Output; left: number },
): AsyncGenerator<Uint8Array, void> {
  try {
    for (let piece: Uint8Array | undefined = rest; left > 0 && piece;) {
      const taken = piece.subarray(0, left);
      left -= taken.length;
      if (taken.length > 0) yield taken;
      if (left === 0) break;
      const { done, value } = await output.next();
      piece = done ? undefined : value;
    }
  } finally {
    await output.return(undefined as never);
  }
  if (left > 0) throw shortened(path);
}

export const shortened = (path: ByteString) =>
  new AppError("conflict", `Path ${showPath(path)} became shorter while it was read`);

/** A state that a file must have to be replaced. */
export interface Condition {
  /** SHA-256 of its content in hexadecimal digits, one of these; or `exists`, or `missing`. */
  content: readonly string[] | "exists" | "missing";
}

/** New content of a file. */
export interface NewContent {
  stream: ReadableStream<Uint8Array>;
  /** In bytes. With another number, the file stays as it was. */
  size: number;
  condition?: Condition | undefined;
}

/**
 * `$3` is the name of the temporary file, `$4` the size, `$5` the condition. Owner and mode are given to
 * the open file, as a container may put a link at its name meanwhile.
 */
const WRITE = `${FUNCTIONS} find_file "$1" "$2"
check() {
  case $3 in
  any) ;;
  exists) exists "$name" || exit ${EXIT.hasChanged} ;;
  missing) exists "$name" && exit ${EXIT.isNotNew} ;;
  *)
    is_file "$name" || exit ${EXIT.hasChanged}
    sum=$(sha256sum < "$name"); sum=\${sum%% *}
    case " $3 " in *" $sum "*) ;; *) exit ${EXIT.hasChanged} ;; esac ;;
  esac
  if exists "$name"; then is_file "$name" || exit ${EXIT.isNotFile}; fi
}
check "$1" "$2" "$5"
temporary=./$3
set -C; umask 077
trap 'rm -f -- "$temporary"' EXIT
exec 4> "$temporary"
cat >&4
[ "$(stat -L -c %s /proc/self/fd/4)" = "$4" ] || exit ${EXIT.isIncomplete}
check "$1" "$2" "$5"
if exists "$name"; then
  owner=$(stat -c %u:%g "$name"); mode=$(stat -c %a "$name")
  while [ "\${#mode}" -gt 3 ]; do mode=\${mode#?}; done
else owner=$(stat -c %u:%g .); mode=644
fi
chown "$owner" /proc/self/fd/4; chmod "$mode" /proc/self/fd/4
exec 4>&-
mv -f -- "$temporary" "$name"
stat -c '%f %s %Y %u %g' "$name"`;

/**
 * Writes a file next to its place and moves it there, so that readers see the old content or the new
 * one. An existing file keeps its owner and permission bits but no set-id bits; a new one has the
 * owner of its directory. What a crash left of it has a name that begins with `.longshore-`.
 *
 * @throws {AppError} As `openContent()`; `precondition_failed`; the error of the stream.
 */
export async function replaceContent(
  shell: Shell,
  path: ByteString,
  { stream, size, condition }: NewContent,
  signal: AbortSignal,
): Promise<ListedFile> {
  const { content } = condition ?? { content: "any" };
  const end = await runScript(shell, {
    text: WRITE,
    args: [
      ...pairOf(path),
      `.longshore-${crypto.randomUUID()}`,
      String(size),
      typeof content === "string" ? content : content.join(" "),
    ],
    isReadOnly: false,
    input: stream,
    signal,
  });
  if (end.exitCode !== 0) throw failureOf(shell, path, end);
  const found = STAT.exec(end.output.trimEnd());
  const info = found && toListed(path.slice(path.lastIndexOf("/") + 1), found);
  if (!info) throw unexpected(shell);
  return info;
}
