/** One snapshot: what it is, its files, and the difference to another one. @module */

import type { BackupSnapshot } from "../../api/types.ts";
import { bytes, plain } from "../../base/text.ts";
import { Button, LinkButton } from "../../components/button.tsx";
import { deleteItem } from "../../components/deletion.ts";
import { useDialog } from "../../components/dialog.tsx";
import { CodeFact, Fact, Facts, TimeFact } from "../../components/facts.tsx";
import { Menu } from "../../components/menu.tsx";
import { Page, Section } from "../../components/page.tsx";
import { useRead } from "../../components/reading.ts";
import { Badge, Empty, Failure, Loading } from "../../components/states.tsx";
import { JobList } from "../../parts/job_list.tsx";
import { stackPath } from "../../paths.ts";
import { HOST } from "../../state/root.ts";
import { href, navigate, query } from "../../state/router.ts";
import { hasRole } from "../../state/session.ts";
import { Differences } from "./differences.tsx";
import { Files } from "./files.tsx";
import { downloadOwn } from "./own.tsx";
import { RestoreDialog } from "./restore.tsx";
import { SendDialog } from "./send.tsx";
import { isRestorable, reasonOf, shortId } from "./snapshot_text.ts";
import { DELETION } from "./snapshots.tsx";

export default function Snapshot({ id = "" }: Record<string, string | undefined>) {
  const target = query.value.get("target") ?? undefined;
  const { data, error, reload } = useRead("GET /api/backup/snapshots/{id}", {
    path: { id },
    query: { ...target !== undefined && { target } },
  });
  const fleet = useRead("GET /api/fleet/hosts", {}).data.value?.hosts ?? [];
  const hosts = fleet.map(({ name }) => name).filter((name) => name !== HOST);
  const dialog = useDialog();
  const snapshot = data.value;
  const title = `Snapshot ${shortId(id)}`;
  if (error.value?.status === 404) return <NotFound />;
  if (error.value && !snapshot) {
    return (
      <Page title={title}>
        <Failure error={error.value} onRetry={reload} />
      </Page>
    );
  }
  if (!snapshot) return <Loading name="Snapshot" />;
  const mayWrite = hasRole("admin", "backup:write");
  return (
    <Page
      title={title}
      lead={<Badge>{reasonOf(snapshot)}</Badge>}
      actions={mayWrite && (
        <>
          {isRestorable(snapshot) && (
            <Button
              icon="restart"
              onClick={() => dialog.open(RestoreDialog, { snapshot })}
            >
              Restore
            </Button>
          )}
          {snapshot.hasLongshore && HOST === undefined && hasRole("admin") && (
            <Button
              icon="down"
              onClick={() => void downloadOwn(snapshot)}
            >
              Download
            </Button>
          )}
          {(snapshot.isOwn || hosts.length > 0 && !snapshot.hasLongshore) && (
            <Menu
              name="More actions"
              items={() => [
                ...hosts.length > 0 && !snapshot.hasLongshore
                  ? [{
                    name: "Send to a host",
                    onSelect: () => dialog.open(SendDialog, { snapshot, hosts }),
                  }]
                  : [],
                ...snapshot.isOwn
                  ? [deleteItem(snapshot, DELETION, () => navigate("/backups/snapshots"))]
                  : [],
              ]}
            />
          )}
        </>
      )}
    >
      <JobList group="Backups" />
      <Section title="Content" wide>
        <Description snapshot={snapshot} />
      </Section>
      {hasRole("admin", "files:read") && !snapshot.hasLongshore && (
        <>
          <Files snapshot={snapshot} />
          <Differences snapshot={snapshot} />
        </>
      )}
      {dialog.shown}
    </Page>
  );
}

function Description({ snapshot }: { snapshot: BackupSnapshot }) {
  const { id, time, stack, volumes, directories, hasLongshore } = snapshot;
  const { note, hostname, target, size } = snapshot;
  return (
    <Facts>
      {stack !== null && (
        <Fact name="Stack">
          <a href={href(stackPath({ name: stack }))}>{plain(stack)}</a>
        </Fact>
      )}
      {hasLongshore && <Fact name="Longshore">Databases, keys and license</Fact>}
      {volumes.length > 0 && <Names name="Volumes" names={volumes} />}
      {directories.length > 0 && <Names name="Directories" names={directories} />}
      <TimeFact name="Made" at={time} />
      <Fact name="Size">{bytes(size)}</Fact>
      {note !== null && (
        <Fact name="Note">
          <span class="wrap">{plain(note)}</span>
        </Fact>
      )}
      <Fact name="Host">{plain(hostname)}</Fact>
      <Fact name="Target">{plain(target)}</Fact>
      <CodeFact name="ID">{id}</CodeFact>
    </Facts>
  );
}

function Names({ name, names }: { name: string; names: readonly string[] }) {
  return (
    <Fact name={name}>
      <span class="wrap">{names.map(plain).join(", ")}</span>
    </Fact>
  );
}

function NotFound() {
  return (
    <Page title="Snapshot not found">
      <Empty action={<LinkButton to="/backups/snapshots">Show all snapshots</LinkButton>}>
        It was deleted, or it is at another target.
      </Empty>
    </Page>
  );
}
