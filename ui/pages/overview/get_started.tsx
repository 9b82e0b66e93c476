/** First steps of an admin: each is done in place, or on the page that its button opens. @module */

import { useSignal } from "@preact/signals";
import { api } from "../../api/client.ts";
import type { SetupStep } from "../../api/types.ts";
import { count, plain } from "../../base/text.ts";
import { Button, LinkButton } from "../../components/button.tsx";
import { confirm } from "../../components/dialog.tsx";
import { Icon } from "../../components/icon.tsx";
import { Section } from "../../components/page.tsx";
import { useRead, useReloadAfter } from "../../components/reading.ts";
import { showGetStarted } from "../../state/get_started.ts";
import { engineReachable, jobs, overview } from "../../state/live.ts";
import { AUTH_MODE, hasRole } from "../../state/session.ts";
import { showAlert, showStatus, withResult } from "../../state/toasts.ts";

type Id = SetupStep["id"];

const TITLES: Record<Id, string> = {
  takeover: "Take over what runs",
  channel: "Get messages",
  alerts: "Turn on the recommended alert rules",
  "update-checks": "Turn on update checks",
  access: "Accounts or tokens",
  backup: "Back up",
};

/** The pages on which steps are done. */
const PLACES: Partial<Record<Id, [label: string, path: string]>> = {
  takeover: ["Take over", "/takeover"],
  channel: ["Add a channel", "/notifications"],
  access: AUTH_MODE === "users" ? ["Add accounts", "/users"] : ["Create a token", "/tokens"],
  backup: ["Back up", "/backups/server"],
};

/** Resources whose changes, also by other clients, do a step or undo it. */
const SOURCES = [
  ...["/api/stacks", "/api/takeover", "/api/notifications/channels", "/api/alerts/rules"],
  ...["/api/updates/settings", "/api/tokens", "/api/backup"],
];

export function GetStarted() {
  const { data, reload } = useRead("GET /api/setup/progress", {}, SOURCES);
  const stacks = overview.value?.stacks;
  const names = stacks?.first.map(({ name }) => name);
  const ended = [...jobs.value.values()].filter(({ endedAt }) => endedAt).map(({ id }) => id);
  useReloadAfter(JSON.stringify([engineReachable.value, stacks?.total, names, ended]), reload);
  const steps = data.value;
  const isDone = steps?.every(({ done }) => done) ?? false;
  if (!steps || isDone) return null;
  const hide = () => withResult("Hidden; the account menu has it", () => showGetStarted(false));
  const actions = hasRole("admin", "settings:write") &&
    <Button kind="quiet" onClick={() => void hide()}>Hide</Button>;
  return (
    <Section title="Get started" wide actions={actions}>
      <ol class="steps-to-do">
        {steps.map((step) => (
          <li key={step.id} class={step.done ? "done" : undefined}>
            <Icon name={step.done ? "check" : "stop"} />
            <div>
              <strong>{TITLES[step.id]}</strong>
              {step.done && ", done"}
              {!step.done && <p class="muted">{plain(step.why)}</p>}
            </div>
            {!step.done && <StepAction id={step.id} onDone={reload} />}
          </li>
        ))}
      </ol>
    </Section>
  );
}

function StepAction({ id, onDone }: { id: Id; onDone: () => void }) {
  const isBusy = useSignal(false);
  const [label, path] = PLACES[id] ?? [];
  if (path !== undefined) return <LinkButton to={path}>{label}</LinkButton>;
  const work = id === "alerts" ? createRules : turnOnChecks;
  const run = async () => {
    isBusy.value = true;
    await work();
    isBusy.value = false;
    onDone();
  };
  return <Button busy={isBusy.value} onClick={() => void run()}>Turn on</Button>;
}

async function createRules(): Promise<void> {
  const { templates } = await api("GET /api/alerts/templates");
  const isMeant = await confirm({
    verb: "Turn on",
    name: count(templates.length, "alert rule"),
    consequence: templates.map(({ rule }) => rule.name).join(", "),
  });
  if (!isMeant) return;
  try {
    for (const { rule } of templates) await api("POST /api/alerts/rules", { body: rule });
    showStatus(`Created ${count(templates.length, "alert rule")}`);
  } catch (error) {
    showAlert((error as Error).message);
  }
}

const turnOnChecks = () =>
  withResult(
    "Turned on update checks",
    () => api("PUT /api/updates/settings", { body: { enabled: true } }),
  );
