/**
 * A page of an edition that the license does not include: what it does, and how to try it.
 *
 * @module
 */

import { useEffect } from "preact/hooks";
import type { Edition } from "../api/types.ts";
import { LinkButton } from "../components/button.tsx";
import { Page } from "../components/page.tsx";
import { Badge } from "../components/states.tsx";
import { plain } from "../base/text.ts";
import { Time } from "../components/time.tsx";
import { DESCRIPTIONS } from "../parts/descriptions.ts";
import type { PageInfo } from "../pages/mod.ts";
import { StartTrial } from "../parts/start_trial.tsx";
import { edition, EDITION_NAMES, readEdition } from "../state/edition.ts";
import { HOST } from "../state/root.ts";
import { hasRole } from "../state/session.ts";

export function Locked({ page }: { page: PageInfo }) {
  useEffect(() => {
    // Another administrator may have unlocked it.
    readEdition().catch(() => {});
  }, []);
  const current = edition.value!;
  const canStartTrial = current.edition === "ce" && current.trial === null;
  return (
    <Page title={page.title} lead={<Badge>{EDITION_NAMES[page.edition ?? "ce"]}</Badge>}>
      <div class="locked">
        <p>{DESCRIPTIONS[page.title]}</p>
        <Reason edition={current} />
        {HOST === undefined
          ? (
            <div class="actions">
              {hasRole("admin") && <StartTrial kind="primary" disabled={!canStartTrial} />}
              <LinkButton to="/license">License</LinkButton>
            </div>
          )
          : <p>Licenses are installed on the host {HOST} itself.</p>}
      </div>
    </Page>
  );
}

/** Why the page is locked, and whether the trial is available. */
function Reason({ edition: { edition, problem, trial } }: { edition: Edition }) {
  if (edition !== "ce") return <p>The {EDITION_NAMES[edition]} license does not include it.</p>;
  return (
    <>
      {problem !== null && <p>{plain(problem)}.</p>}
      {trial
        ? (
          <p class="inline">
            The trial ended <Time at={trial.endsAt} />.
          </p>
        )
        : <p>The trial unlocks every feature for 30 days, without a license key.</p>}
    </>
  );
}
