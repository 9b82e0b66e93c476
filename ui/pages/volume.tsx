/** One volume: what it is, and its files. @module */

import type { Volume } from "../api/types.ts";
import { bytes, plain } from "../base/text.ts";
import { Link, LinkButton } from "../components/button.tsx";
import { CodeFact, Fact, Facts, TimeFact } from "../components/facts.tsx";
import { Page, Section } from "../components/page.tsx";
import { useRead } from "../components/reading.ts";
import { Empty, Failure, Loading } from "../components/states.tsx";
import { Files } from "../parts/files/files.tsx";
import { UsedBy } from "../parts/used_by.tsx";
import { stackPath } from "../paths.ts";
import { containers } from "../state/live.ts";
import { hasRole } from "../state/session.ts";
import { LastBackup } from "./backups/last_backup.tsx";

export default function OneVolume({ id = "" }: Record<string, string | undefined>) {
  const name = decodeURIComponent(id);
  const { data, error, reload } = useRead("GET /api/volumes", {});
  const volume = data.value?.volumes.find((each) => each.name === name);
  if (volume) {
    return (
      <Page title={plain(name)}>
        <Section title="Volume" wide>
          <Description volume={volume} />
        </Section>
        {hasRole("viewer", "backup:read") && (
          <Section title="Backup" wide>
            <Backup volume={volume} />
          </Section>
        )}
        {hasRole("admin", "files:read") && (
          <Section title="Files" wide>
            <Files key={name} place={{ kind: "volumes", ref: name }} root="Volume" />
          </Section>
        )}
      </Page>
    );
  }
  if (error.value) {
    return (
      <Page title={plain(name)}>
        <Failure error={error.value} onRetry={reload} />
      </Page>
    );
  }
  return data.value ? <NotFound /> : <Loading name="Volume" />;
}

function Description({ volume }: { volume: Volume }) {
  const { driver, size, createdAt, containers, mountpoint } = volume;
  return (
    <Facts>
      <Fact name="Containers">
        {containers.length > 0 ? <UsedBy names={containers} /> : "None"}
      </Fact>
      <Fact name="Size">{bytes(size)}</Fact>
      <TimeFact name="Created" at={createdAt} />
      <Fact name="Driver">{plain(driver)}</Fact>
      <CodeFact name="Directory">{mountpoint}</CodeFact>
    </Facts>
  );
}

/** A volume that a stack has or uses is backed up with all of the stack. */
function Backup({ volume: { name, labels, containers: users } }: { volume: Volume }) {
  const user = containers.value?.find((each) =>
    users.includes(each.name) && each.composeProject !== null
  );
  const stack = user?.composeProject ?? labels["com.docker.compose.project"];
  if (stack === undefined) return <LastBackup subject={{ volume: name }} />;
  return (
    <>
      <p>
        With the stack <Link to={stackPath({ name: stack })}>{plain(stack)}</Link>.
      </p>
      <LastBackup subject={{ stack }} />
    </>
  );
}

function NotFound() {
  return (
    <Page title="Volume not found">
      <Empty action={<LinkButton to="/volumes">Show all volumes</LinkButton>}>
        It was removed, or it is on another host.
      </Empty>
    </Page>
  );
}
