/** A log that is followed live: search, levels, time, and its lines. @module */

import { useEffect, useMemo, useRef } from "preact/hooks";
import { useSignal } from "@preact/signals";
import { api } from "../../api/client.ts";
import { Button } from "../../components/button.tsx";
import { Empty, Failure, NoMatch } from "../../components/states.tsx";
import { capital, count, plain } from "../../base/text.ts";
import { apiUrl } from "../../state/root.ts";
import { query, setQuery } from "../../state/router.ts";
import { withResult } from "../../state/toasts.ts";
import { type Entry, LEVELS, searchPattern } from "./buffer.ts";
import { type Following, useFollowing } from "./following.ts";
import { Lines, type LinesProps } from "./lines.tsx";

const SINCE = [
  { value: "5m", name: "5 minutes" },
  { value: "15m", name: "15 minutes" },
  { value: "1h", name: "1 hour" },
  { value: "6h", name: "6 hours" },
  { value: "24h", name: "24 hours" },
  { value: "7d", name: "7 days" },
];

/** Lines of each container that are read first, unless since a time. */
const TAIL = 1_000;

/** A stream of lines. */
export interface LogStream {
  /** Its path below the root. */
  stream: string;
  parameters?: readonly [name: string, value: string][];
}

interface LogViewProps extends LogStream {
  /** Another stream, whose lines are merged into this one's. */
  also?: LogStream | undefined;
  /** Whether lines come from several containers, whose names are shown. */
  isMerged?: boolean;
  /** The container whose whole log the service offers as a file. */
  container?: { id: string; name: string };
}

export function LogView({ also, isMerged = false, container, ...first }: LogViewProps) {
  const params = query.value;
  const q = params.get("q") ?? "";
  const isRegex = params.get("regex") === "1";
  const level = params.get("level") ?? "";
  const since = params.get("since") ?? "";
  const isWrapped = params.get("wrap") !== "0";
  const hasTimes = params.get("timestamps") === "1";
  const paths = [first, ...also ? [also] : []].map(({ stream, parameters = [] }) => {
    const search = new URLSearchParams([
      ...parameters.map(([name, value]) => [name, value]),
      since === "" ? ["tail", String(TAIL)] : ["since", since],
    ]);
    return `${stream}?${search}`;
  });
  const following = useFollowing(paths, isMerged);
  const { buffer, version, error, retry } = following;
  const follow = useSignal(true);

  const [pattern, problem] = useMemo(() => tryPattern(q, isRegex), [q, isRegex]);
  const marks = useMemo(() => pattern && new RegExp(pattern.source, "gi"), [pattern]);
  useEffect(() => {
    buffer.setFilter({ search: pattern, level });
    version.value++;
  }, [buffer, pattern, level]);

  const view = useRef<HTMLDivElement>(null);
  const failure = error.value && <Failure error={error.value} onRetry={retry} />;
  // Lines that were read before stay.
  if (failure && buffer.size === 0) return failure;
  const isFiltered = pattern !== undefined || level !== "";
  const download = () =>
    void (container && !isFiltered
      ? withResult(
        `Downloading the log of ${plain(container.name)}`,
        () => downloadLog(container, since),
      )
      : saveText(buffer.shown, isMerged, container?.name ?? "logs"));
  const jump = () => {
    follow.value = true;
    // The button goes away.
    view.current!.querySelector<HTMLElement>("[role=log]")!.focus();
  };
  return (
    <div ref={view} class="log-view">
      <div class="filters" role="search" aria-label="Search and filters">
        <input
          type="search"
          aria-label="Search logs"
          placeholder={isRegex ? "Regular expression" : "Text in lines"}
          aria-invalid={problem ? "true" : undefined}
          aria-describedby={problem ? "log-problem" : undefined}
          spellcheck={false}
          value={q}
          onInput={(event) => setQuery({ q: event.currentTarget.value })}
        />
        <Check
          label="Regex"
          checked={isRegex}
          onChange={(on) => setQuery({ regex: on ? "1" : undefined })}
        />
        <select
          aria-label="Level"
          value={level}
          onChange={(event) => setQuery({ level: event.currentTarget.value })}
        >
          <option value="">All levels</option>
          {LEVELS.slice(1).map((each) => (
            <option key={each} value={each}>
              {each === "fatal" ? "Fatal" : `${capital(each)} and above`}
            </option>
          ))}
        </select>
        <select
          aria-label="Since"
          value={since}
          onChange={(event) => setQuery({ since: event.currentTarget.value })}
        >
          <option value="">Last {TAIL.toLocaleString("en")} lines</option>
          {SINCE.map(({ value, name }) => <option key={value} value={value}>{name}</option>)}
        </select>
        <Check
          label="Wrap lines"
          checked={isWrapped}
          onChange={(on) => setQuery({ wrap: on ? undefined : "0" })}
        />
        <Check
          label="Timestamps"
          checked={hasTimes}
          onChange={(on) => setQuery({ timestamps: on ? "1" : undefined })}
        />
        <Check label="Follow" checked={follow.value} onChange={(on) => follow.value = on} />
      </div>
      {problem && <p id="log-problem" class="problem">{problem}</p>}
      {failure}
      <FollowedLines
        following={following}
        isFiltered={isFiltered}
        marks={marks}
        isWrapped={isWrapped}
        hasTimes={hasTimes}
        hasNames={isMerged}
        follow={follow}
      />
      <div class="log-foot">
        <LineCount following={following} isFiltered={isFiltered} />
        <div class="page-actions">
          {!follow.value && <Button icon="down" onClick={jump}>Jump to latest</Button>}
          <Button onClick={download}>Download</Button>
        </div>
      </div>
    </div>
  );
}

interface FollowedProps {
  following: Following;
  isFiltered: boolean;
}

/** Draws each new line, unlike the rest of the view. */
function FollowedLines(
  { following: { buffer, version, state }, isFiltered, ...shown }:
    & FollowedProps
    & Pick<LinesProps, "marks" | "isWrapped" | "hasTimes" | "hasNames" | "follow">,
) {
  const isOpening = state.value === "opening";
  return (
    <Lines entries={buffer.shown} version={version.value} busy={isOpening} {...shown}>
      {!isOpening && buffer.count === 0 && (
        isFiltered && buffer.size > 0
          ? (
            <NoMatch
              things="lines"
              onClear={() => setQuery({ q: undefined, level: undefined })}
            />
          )
          : <Empty>No lines yet. New ones appear here by themselves.</Empty>
      )}
    </Lines>
  );
}

function LineCount({ following: { buffer, version, state }, isFiltered }: FollowedProps) {
  void version.value;
  return (
    <>
      <span role="status" aria-live="off" aria-label="Line count">
        {count(buffer.count, "line")}
      </span>
      {isFiltered && <span class="muted">of {buffer.size.toLocaleString("en")}</span>}
      {state.value === "reconnecting" && <span class="muted">Reconnecting</span>}
    </>
  );
}

function Check({ label, checked, onChange }: {
  label: string;
  checked: boolean;
  onChange: (checked: boolean) => void;
}) {
  return (
    <label class="check">
      <input
        type="checkbox"
        checked={checked}
        onChange={(event) => onChange(event.currentTarget.checked)}
      />
      {label}
    </label>
  );
}

/** The pattern, or what is wrong with it. */
function tryPattern(q: string, isRegex: boolean): [pattern?: RegExp | undefined, problem?: string] {
  try {
    return [searchPattern(q, isRegex)];
  } catch (error) {
    return [undefined, (error as SyntaxError).message];
  }
}

/** Lets the browser download the log, whose size has no limit. */
async function downloadLog({ id }: { id: string }, since: string): Promise<void> {
  const { ticket } = await api("POST /api/stream/ticket");
  const url = apiUrl(`api/containers/${encodeURIComponent(id)}/logs/download`);
  url.searchParams.set("ticket", ticket);
  url.searchParams.set("timestamps", "true");
  if (since !== "") url.searchParams.set("since", since);
  save(url.href, "");
}

/** Saves the shown lines, since the service has no file of several logs or of a search. */
function saveText(entries: readonly Entry[], isMerged: boolean, name: string): void {
  const lines = entries.filter(({ note }) => note === undefined).map((entry) =>
    [entry.timestamp, ...isMerged ? [entry.container] : [], entry.text].join(" ") + "\n"
  );
  const url = URL.createObjectURL(new Blob(lines, { type: "text/plain" }));
  save(url, `${name}.log`);
  URL.revokeObjectURL(url);
}

function save(url: string, name: string): void {
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
}
