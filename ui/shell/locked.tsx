/**
 * A page of an edition that the license does not include: what it does, and how to try it.
 *
 * @module
 */

import { useSignal } from "@preact/signals";
import { api } from "../api/client.ts";
import { Button, Link } from "../components/button.tsx";
import { Page } from "../components/page.tsx";
import { Badge } from "../components/states.tsx";
import { DESCRIPTIONS } from "../pages/descriptions.ts";
import type { PageInfo } from "../pages/mod.ts";
import { EDITION_NAMES, readEdition } from "../state/edition.ts";
import { hasRole } from "../state/session.ts";
import { withResult } from "../state/toasts.ts";

export function Locked({ page }: { page: PageInfo }) {
  const isBusy = useSignal(false);
  const start = async () => {
    isBusy.value = true;
    await withResult("Started the trial", async () => {
      await api("POST /api/edition/trial");
      await readEdition();
    });
    isBusy.value = false;
  };
  return (
    <Page title={page.title} lead={<Badge>{EDITION_NAMES[page.edition ?? "ce"]}</Badge>}>
      <div class="locked">
        <p>{DESCRIPTIONS[page.title]}</p>
        <div class="actions">
          {hasRole("admin") && (
            <Button kind="primary" busy={isBusy.value} onClick={start}>Start trial</Button>
          )}
          <Link to="/license">License</Link>
        </div>
      </div>
    </Page>
  );
}
