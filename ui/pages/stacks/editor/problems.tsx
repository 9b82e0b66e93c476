/** Problems of the sources of a stack. @module */

import { useEffect } from "preact/hooks";
import { useSignal } from "@preact/signals";
import { api, ApiError } from "../../../api/client.ts";
import { count, plain } from "../../../base/text.ts";
import type { TextProblem } from "../../../parts/editor/code_mirror.ts";
import { type Draft, sourcesOf } from "./draft.ts";

export interface Problem extends TextProblem {
  /** One of the further files, or `null` for the Compose file. */
  file: string | null;
}

export interface Validation {
  problems: readonly Problem[];
  /** Names of the active services. */
  services: readonly string[];
}

/** Delay between the last keystroke and the check, in milliseconds. */
const DELAY_MS = 400;

/**
 * Checks a draft while it is written; `undefined` before the first result, and without a text.
 *
 * @param directory Of a stack on disk.
 */
export function useValidation(draft: Draft, directory?: string): Validation | undefined {
  const result = useSignal<Validation | undefined>(undefined);
  useEffect(() => {
    if (draft.compose.trim() === "") return void (result.value = undefined);
    const end = new AbortController();
    const timer = setTimeout(async () => {
      try {
        result.value = await validate(
          { ...sourcesOf(draft), ...(directory !== undefined && { directory }) },
          end.signal,
        );
      } catch (error) {
        if (end.signal.aborted) return;
        if (!(error instanceof ApiError)) throw error;
        result.value = { problems: problemsOf(error), services: [] };
      }
    }, DELAY_MS);
    return () => {
      clearTimeout(timer);
      end.abort();
    };
  }, [draft, directory]);
  return result.value;
}

async function validate(
  body: ReturnType<typeof sourcesOf> & { directory?: string },
  signal: AbortSignal,
): Promise<Validation> {
  const { errors, warnings, services } = await api("POST /api/stacks/validate", { body }, {
    signal,
  });
  const toProblems = (issues: typeof errors, severity: Problem["severity"]) =>
    issues.map(({ file, line, column, path, message }) => ({
      severity,
      file,
      line,
      column,
      text: [path, message].filter(Boolean).join(" "),
    }));
  return {
    problems: [...toProblems(errors, "error"), ...toProblems(warnings, "warning")],
    services,
  };
}

/** The problems of a refusal, each with its place where the service names it. */
export function problemsOf({ issues, message }: ApiError): Problem[] {
  const problem = { severity: "error", file: null, line: 1, column: 1 } as const;
  if (issues.length === 0) return [{ ...problem, text: message }];
  return issues.map(({ path, message }) => {
    const [, line, column, text] = /^(\d+):(\d+) (.*)$/s.exec(message) ?? [];
    if (text === undefined) return { ...problem, text: `${path}: ${message}` };
    const [, file = null] = /^body\.files\.(.*)$/s.exec(path) ?? [];
    return { ...problem, file, line: Number(line), column: Number(column), text };
  });
}

/** The problems as a list, which leads to their lines. */
export function Problems({ problems, services, onOpen }: Validation & {
  onOpen: (problem: Problem) => void;
}) {
  const errors = problems.filter(({ severity }) => severity === "error").length;
  const warnings = problems.length - errors;
  const summary = [
    errors > 0 ? count(errors, "error") : `No errors in ${count(services.length, "service")}`,
    ...(warnings > 0 ? [count(warnings, "warning")] : []),
  ].join(", ");
  return (
    <div class="problems">
      <p role="status">{summary}</p>
      {problems.length > 0 && (
        <ul aria-label="Problems">
          {problems.map((each, at) => (
            <li key={at}>
              <span class={`badge ${each.severity === "error" ? "bad" : "warn"}`}>
                {each.severity === "error" ? "Error" : "Warning"}
              </span>
              <button type="button" class="button quiet" onClick={() => onOpen(each)}>
                {each.file !== null && `${plain(each.file)}, `}Line {each.line}
              </button>
              <span class="wrap">{plain(each.text)}</span>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
