/** The hub of this host: the state of the link, and what the hub may do here. @module */

import { api } from "../../api/client.ts";
import type { EndedFleetMembership, FleetMembership } from "../../api/types.ts";
import { Button } from "../../components/button.tsx";
import type { Access } from "../../components/deletion.ts";
import { confirm } from "../../components/dialog.tsx";
import { CodeFact, Fact, Facts, TimeFact } from "../../components/facts.tsx";
import { Section } from "../../components/page.tsx";
import { useRead, useReloadEvery } from "../../components/reading.ts";
import { State } from "../../components/states.tsx";
import { now, Time } from "../../components/time.tsx";
import { capital, plain } from "../../base/text.ts";
import { hasRole, seesServer } from "../../state/session.ts";
import { withResult } from "../../state/toasts.ts";
import { labelText, TONES } from "./form.tsx";

const WRITE: Access = ["admin", "fleet:write"];

/** Time between two readings, in milliseconds. */
const REREAD_MS = 15_000;

/** Words for `FLEET_ALLOW`. */
const ALLOWS: Record<FleetMembership["allows"], string> = {
  read: "Its users may read everything and change nothing.",
  operate: "Its users may do what operators may: start, stop, restart and update.",
  admin: "Its admins may do what admins of this host may, except for accounts, tokens and the " +
    "fleet itself.",
};

/** Nothing on a server that is in no fleet. */
export function Hub() {
  const mayRead = hasRole("viewer", "fleet:read") && seesServer();
  const { data, reload } = useRead("GET /api/fleet/membership", mayRead ? {} : undefined);
  if (!data.value) return null;
  const { membership, waitsUntil, ended } = data.value;
  if (membership) return <Membership membership={membership} reload={reload} />;
  // It ends without a change that clients learn.
  if (waitsUntil === null || Date.parse(waitsUntil) < now.value) {
    return ended && <Ended ended={ended} reload={reload} />;
  }
  return (
    <Section
      title="Hub"
      wide
      actions={hasRole(...WRITE) && (
        <Button onClick={() => void forget("The token was deleted", reload)}>Stop waiting</Button>
      )}
    >
      <p>
        A hub can add this host with the token of{" "}
        <code>longshore join --listen</code>, which expires <Time at={waitsUntil} />.
      </p>
    </Section>
  );
}

/** The hub has ended the membership. */
function Ended({ ended, reload }: { ended: EndedFleetMembership; reload: () => void }) {
  const { hub, name, reason, endedAt } = ended;
  return (
    <Section
      title="Hub"
      wide
      actions={hasRole(...WRITE) && (
        <Button onClick={() => void forget("The entry was deleted", reload)}>Dismiss</Button>
      )}
    >
      <div class="note warn" role="status">
        <p>
          {plain(hub)} ended the membership of this host as {plain(name)} (<Time at={endedAt} />):
          {" "}
          {plain(reason)}. It can do nothing here any more. To come back, join again with a new
          invite of that server.
        </p>
      </div>
    </Section>
  );
}

/** The hub refuses this host, which goes on dialing: the hub may be restored from a newer backup. */
function Unknown({ hub, since }: { hub: string; since: string }) {
  return (
    <div class="note warn" role="status">
      <p>
        {plain(hub)}{" "}
        does not know this host any more (<Time at={since} />): it was removed there, or that server
        was restored from a backup of before this host joined. Leave the fleet, and join again with
        a new invite.
      </p>
    </div>
  );
}

function Membership({ membership, reload }: { membership: FleetMembership; reload: () => void }) {
  // Changes are reported, but not that the hub is silent.
  useReloadEvery(REREAD_MS, reload);
  const { hub, hubFingerprint, address, dials, name, labels, fingerprint } = membership;
  const { isPending, allows, runsPrograms, joinedAt, state, since, reason, nextTryAt } = membership;
  const { unknownSince } = membership;
  const isDown = state === "away" || state === "never";
  return (
    <Section
      title="Hub"
      wide
      actions={hasRole(...WRITE) && (
        <Button onClick={() => void leave(hub, reload)}>Leave the fleet</Button>
      )}
    >
      {unknownSince !== null && <Unknown hub={hub} since={unknownSince} />}
      <Facts>
        <Fact name="Link">
          <State state={state} tone={TONES[state]} />
          {isDown && reason !== null && <p class="hint">{plain(capital(reason))}.</p>}
          {isPending && (
            <p class="hint">
              An admin of {plain(hub)} has to accept this host. Until then, the hub sends nothing.
            </p>
          )}
        </Fact>
        {since !== null && <TimeFact name="Since" at={since} />}
        {isDown && nextTryAt !== null && <TimeFact name="Next attempt" at={nextTryAt} />}
        <Fact name="Hub">
          {plain(hub)}
          <p class="hint">
            {dials === "host"
              ? `This host connects to ${plain(address ?? "")}`
              : `It connects to this host${address === null ? "" : ` from ${plain(address)}`}`}
          </p>
        </Fact>
        <Fact name="Name there">{plain(name)}</Fact>
        <Fact name="Labels there">{plain(labelText(labels)) || "–"}</Fact>
        <Fact name="Rights">
          {ALLOWS[allows]} {runsPrograms && "They may also run commands and open terminals."}
          <p class="hint">
            <code>FLEET_ALLOW={allows}</code>
            {runsPrograms && (
              <>
                , <code>FLEET_TERMINAL=on</code>
              </>
            )}
          </p>
        </Fact>
        <TimeFact name="Joined" at={joinedAt} />
        <CodeFact name="Hub's key">{hubFingerprint}</CodeFact>
        <CodeFact name="Own key">{fingerprint}</CodeFact>
      </Facts>
    </Section>
  );
}

async function leave(hub: string, onDone: () => void) {
  const name = plain(hub);
  const consequence = `${name} manages this host no longer, and this host reports its events ` +
    "itself. Nothing else on it changes. To come back, it has to join again.";
  if (!await confirm({ verb: "Leave", name: `the fleet of ${name}`, consequence })) return;
  await withResult(`Left the fleet of ${name}`, () => api("DELETE /api/fleet/membership"));
  onDone();
}

/** Deletes what is left of a membership, or the token for one. */
async function forget(result: string, onDone: () => void) {
  await withResult(result, () => api("DELETE /api/fleet/membership"));
  onDone();
}
