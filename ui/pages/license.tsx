/** The edition: what the license includes, and how much of it is used. @module */

import { useSignal } from "@preact/signals";
import { api } from "../api/client.ts";
import type { Edition } from "../api/types.ts";
import { Button } from "../components/button.tsx";
import { confirm } from "../components/dialog.tsx";
import { Fact, Facts, TimeFact } from "../components/facts.tsx";
import { TextArea } from "../components/fields.tsx";
import { Form } from "../components/form.tsx";
import { Icon } from "../components/icon.tsx";
import { Page, Section } from "../components/page.tsx";
import { Badge, Loading, Meter } from "../components/states.tsx";
import { addStyles } from "../components/styles.ts";
import { capital, plain } from "../base/text.ts";
import { Time } from "../components/time.tsx";
import { edition, EDITION_NAMES, readEdition } from "../state/edition.ts";
import { hasRole } from "../state/session.ts";
import { showStatus, withResult } from "../state/toasts.ts";
import styles from "./license.css" with { type: "text" };
import { StartTrial } from "../parts/start_trial.tsx";

addStyles(styles);

export default function License() {
  const current = edition.value;
  return (
    <Page title="License">
      {current
        ? (
          <div class="stacked">
            <div class="summary-grid">
              <EditionSection edition={current} />
              {hasRole("admin") && <Key edition={current} />}
            </div>
            <Usage edition={current} />
          </div>
        )
        : <Loading name="Edition" />}
    </Page>
  );
}

function EditionSection({ edition }: { edition: Edition }) {
  const isTrial = edition.trial?.active ?? false;
  const state = isTrial
    ? <Badge tone="warn">Trial</Badge>
    : edition.graceUntil
    ? <Badge tone="warn">Grace period</Badge>
    : edition.edition !== "ce" && <Badge tone="good">Active</Badge>;
  return (
    <Section title="Edition">
      <p class="edition">
        <strong>{EDITION_NAMES[edition.edition]}</strong> {state}
      </p>
      {[edition.problem, edition.warning].map((text) =>
        text && (
          <div key={text} class="note danger">
            <Icon name="alert" />
            <p>{plain(text)}</p>
          </div>
        )
      )}
      <Facts>
        {edition.customer !== null && <Fact name="Customer">{plain(edition.customer)}</Fact>}
        {!isTrial && <TimeFact name="Expires" at={edition.expiresAt} none="Never" />}
        {edition.graceUntil && <TimeFact name="Grace period ends" at={edition.graceUntil} />}
        {edition.protectedUntil && <TimeFact name="Protected until" at={edition.protectedUntil} />}
        <Fact name="Trial">
          {edition.trial ? <TrialEnd trial={edition.trial} /> : "Not started"}
        </Fact>
      </Facts>
    </Section>
  );
}

function TrialEnd({ trial }: { trial: NonNullable<Edition["trial"]> }) {
  return (
    <span class="inline">
      {Date.parse(trial.endsAt) > Date.now() ? "Ends" : "Ended"} <Time at={trial.endsAt} />
    </span>
  );
}

/** Installs and removes the license, and starts the trial. */
function Key({ edition }: { edition: Edition }) {
  const round = useSignal(0);
  const isLicensed = (edition.edition !== "ce" && !edition.trial?.active) ||
    edition.problem !== null;
  return (
    <Section title="License">
      <Form
        key={round.value}
        submit="Install license"
        onSubmit={async ({ key }) => {
          await api("POST /api/edition/license", { body: { key } });
          showStatus("Installed the license");
          round.value++;
          await readEdition();
        }}
      >
        <TextArea
          label="License key"
          name="key"
          hint="Verified offline, and in force immediately. It replaces the installed one."
          required
        />
      </Form>
      {isLicensed && (
        <p class="aside">
          <span>Without the license, the Community Edition remains.</span>
          <Button onClick={() => void remove(edition)}>Remove license</Button>
        </p>
      )}
      {!edition.trial && !isLicensed && (
        <p class="aside">
          <span>Or try everything of the Enterprise Edition for 30 days, without a key.</span>
          <StartTrial />
        </p>
      )}
    </Section>
  );
}

async function remove({ edition, customer }: Edition) {
  const name = `the ${EDITION_NAMES[edition]} license`;
  const consequence =
    `${capital(name)}${
      customer ? ` of ${plain(customer)}` : ""
    } is removed from this server. Nothing else is deleted; features beyond the remaining edition ` +
    "are unavailable until a license is installed again.";
  if (!await confirm({ verb: "Remove", name, consequence })) return;
  await withResult("Removed the license", async () => {
    await api("DELETE /api/edition/license");
    await readEdition();
  });
}

function Usage({ edition }: { edition: Edition }) {
  const limits = Object.entries(edition.limits) as [keyof Edition["limits"], number | null][];
  return (
    <Section title="Limits">
      <ul class="limits">
        {limits.map(([resource, limit]) => {
          const used = edition.usage[resource];
          const name = capital(resource.replaceAll("_", " "));
          const text = limit === null
            ? `${used ?? 0} · unlimited`
            : limit === 0
            ? "Not included"
            : `${used ?? 0} of ${limit}`;
          return (
            <li key={resource}>
              <span>{name}</span>
              <span class="muted">{text}</span>
              {limit !== null && limit > 0 && (
                <Meter name={name} value={100 * (used ?? 0) / limit} text={text} />
              )}
            </li>
          );
        })}
      </ul>
    </Section>
  );
}
