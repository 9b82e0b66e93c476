/** The response to a request that was sent from the API page. @module */

import type { Signal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { Badge } from "../../components/states.tsx";
import { count, milliseconds, plainLines } from "../../base/text.ts";

export interface Answer {
  status: number;
  /** The media type. */
  type: string;
  requestId: string | null;
  /** From the request to the last part, in milliseconds. */
  ms: number;
  /** Of a stream the end, of anything else the beginning; `undefined` if it is not text. */
  text: string | undefined;
  isTruncated: boolean;
}

/** Limits of the text that is kept, in characters. Of a stream, all of it is shown. */
const TEXT_MAX = 1_000_000;
const STREAM_MAX = 100_000;

const TEXT_TYPE = /^text\/|json|xml|openmetrics/;

const STREAM_TYPE = "text/event-stream";

/** Reads a response and reports it with each part that arrives. */
export async function readAnswer(
  response: Response,
  started: number,
  onPart: (answer: Answer) => void,
): Promise<void> {
  const answer: Answer = {
    status: response.status,
    type: response.headers.get("content-type")?.split(";")[0] ?? "",
    requestId: response.headers.get("x-request-id"),
    ms: 0,
    text: "",
    isTruncated: false,
  };
  const report = () => onPart({ ...answer, ms: performance.now() - started });
  if (answer.type !== "" && !TEXT_TYPE.test(answer.type)) {
    await response.body?.cancel();
    answer.text = undefined;
    return report();
  }
  report();
  const reader = response.body?.getReader();
  const decoder = new TextDecoder();
  while (reader) {
    const { done, value } = await reader.read();
    if (done) break;
    add(answer, decoder.decode(value, { stream: true }));
    report();
    if (answer.isTruncated && answer.type !== STREAM_TYPE) return await reader.cancel();
  }
  report();
}

function add(answer: Answer, part: string): void {
  const isStream = answer.type === STREAM_TYPE;
  const text = answer.text + part;
  answer.isTruncated ||= text.length > (isStream ? STREAM_MAX : TEXT_MAX);
  answer.text = isStream ? text.slice(-STREAM_MAX) : text.slice(0, TEXT_MAX);
}

export function AnswerView({ answer }: { answer: Signal<Answer | undefined> }) {
  if (!answer.value) return null;
  const { status, type, requestId, ms, text, isTruncated } = answer.value;
  const facts = [
    milliseconds(ms),
    type,
    text !== undefined && count(text.length, "character"),
    requestId && `request ${requestId}`,
  ];
  return (
    <>
      <p>
        <Badge tone={status < 400 ? "good" : "bad"}>{status}</Badge>{" "}
        <span class="muted">{facts.filter(Boolean).join(" · ")}</span>{" "}
        {isTruncated && <Badge tone="warn">Truncated</Badge>}
      </p>
      {text === undefined
        ? <p class="muted">The body is not text. Use curl to save it.</p>
        : <Body text={text} type={type} />}
    </>
  );
}

function Body({ text, type }: { text: string; type: string }) {
  const body = useRef<HTMLPreElement>(null);
  // A stream shows what came last.
  useLayoutEffect(() => {
    if (type === STREAM_TYPE) body.current!.scrollTop = body.current!.scrollHeight;
  }, [text]);
  return (
    <pre ref={body} class="output" role="region" aria-label="Response body" tabIndex={0}>
      {text === "" ? "No body" : type.includes("json") ? highlighted(pretty(text)) : plainLines(text)}
    </pre>
  );
}

function pretty(text: string): string {
  try {
    return plainLines(JSON.stringify(JSON.parse(text), null, 2));
  } catch {
    return plainLines(text);
  }
}

const TOKENS = /("(?:[^"\\]|\\.)*")(\s*:)?|\b(-?\d[\d.eE+-]*|true|false|null)\b/g;

/** JSON with colors for keys, texts and other values. */
function highlighted(json: string): ComponentChildren[] {
  const parts: ComponentChildren[] = [];
  let end = 0;
  for (const match of json.matchAll(TOKENS)) {
    const [all, string, colon = ""] = match;
    const kind = colon ? "json-key" : string === undefined ? "json-value" : "json-text";
    parts.push(json.slice(end, match.index), <span class={kind}>{string ?? all}</span>, colon);
    end = match.index + all.length;
  }
  return [...parts, json.slice(end)];
}
