/**
 * States of a page besides its content: loading, nothing there, nothing found, failures, states and
 * measured values.
 *
 * @module
 */

import type { ComponentChildren } from "preact";
import { type ApiError, LACKING } from "../api/client.ts";
import type { UserRole } from "../api/types.ts";
import { HOST } from "../state/root.ts";
import { includesRole, roleAtHost } from "../state/session.ts";
import { Button } from "./button.tsx";
import { Icon } from "./icon.tsx";
import { capital, plain } from "../base/text.ts";

/** A region that is being loaded. */
export function Loading({ name }: { name: string }) {
  return (
    <div class="loading" role="region" aria-label={name} aria-busy="true">
      <span class="skeleton" />
      <span class="skeleton" />
      <span class="skeleton" />
    </div>
  );
}

/** Nothing there: a sentence, and what helps. */
export function Empty({ children, action }: {
  children: ComponentChildren;
  action?: ComponentChildren;
}) {
  return (
    <div class="empty">
      <p>{children}</p>
      {action}
    </div>
  );
}

/** Nothing matches the filters. */
export function NoMatch({ things, onClear }: { things: string; onClear: () => void }) {
  return <Empty action={<Button onClick={onClear}>Clear filters</Button>}>No {things} match</Empty>;
}

/** A reading that failed. */
export function Failure({ error, onRetry }: { error: ApiError; onRetry?: () => void }) {
  if (error.status === LACKING) return <p class="note" role="status">{error.message}</p>;
  return (
    <div class="note danger" role="alert">
      <Icon name="alert" />
      <p>{error.message}</p>
      {onRetry && <Button onClick={onRetry}>Try again</Button>}
    </div>
  );
}

/** The user's role is too low for the page. */
export function Denied({ role }: { role: UserRole }) {
  const isOfHost = !includesRole(roleAtHost.value, role);
  return (
    <div class="page">
      <h1 tabIndex={-1}>Access denied</h1>
      <p>
        This page needs the role {role}. {isOfHost
          ? `Host ${HOST} allows users of this server the role ${roleAtHost.value} at most (FLEET_ALLOW).`
          : "Ask an administrator of this server."}
      </p>
    </div>
  );
}

export type Tone = "good" | "warn" | "bad" | "idle" | "busy";

const TONES: Record<string, Tone> = {
  running: "good",
  healthy: "good",
  up: "good",
  paused: "warn",
  starting: "busy",
  degraded: "warn",
  restarting: "warn",
  removing: "busy",
  unhealthy: "bad",
  dead: "bad",
  down: "bad",
};

export const toneOf = (state: string): Tone => TONES[state] ?? "idle";

/** A state with a dot: the color repeats what the word says. */
export const State = ({ state, tone }: { state: string; tone?: Tone }) => (
  <span class={`state ${tone ?? toneOf(state)}`}>
    {state === "ok" ? "OK" : capital(state)}
  </span>
);

/** Why something failed, below its state and in full: it must not need a pointer that hovers. */
export const Reason = ({ children }: { children: string | null | undefined }) =>
  children != null && <p class="hint problem">{plain(children)}</p>;

/** A short word in a frame. */
export function Badge({ children, tone = "idle" }: { children: ComponentChildren; tone?: Tone }) {
  return <span class={`badge ${tone}`}>{children}</span>;
}

/** Text from a container, with invisible characters as escapes; `null` is a dash. */
export function Text({ children }: { children: string | null }) {
  if (children === null) return <span class="muted">–</span>;
  return <span class="cut">{plain(children)}</span>;
}

/** Text that breaks at its slashes and colons, or `at` others, where it has to, such as an image. */
export const withBreaks = (text: string, at = /(?<=\/)|(?=:)/): ComponentChildren =>
  plain(text).split(at).map((part, index) => [part, <wbr key={index} />]);

/**
 * A value between 0 and 100 percent. It warns from 80 and alarms from 90 percent; a value of what is
 * left does so from 20 and 10 percent downwards.
 */
export function Meter({ name, value, text, isLeft }: {
  name: string;
  value: number;
  text: string;
  isLeft?: boolean;
}) {
  const used = isLeft ? 100 - value : value;
  const tone = used >= 90 ? "bad" : used >= 80 ? "warn" : "good";
  const set = (bar: HTMLElement | null) => {
    if (bar) bar.style.width = `${Math.max(0, Math.min(100, value))}%`;
  };
  return (
    <div
      class={`meter ${tone}`}
      role="meter"
      aria-label={name}
      aria-valuemin={0}
      aria-valuemax={100}
      aria-valuenow={Math.round(value * 10) / 10}
      aria-valuetext={text}
    >
      <span ref={set} />
    </div>
  );
}
