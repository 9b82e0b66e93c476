/**
 * The summary of a container: what runs, since when, with which limits, ports and labels.
 *
 * @module
 */

import { useRef } from "preact/hooks";
import { useSignal } from "@preact/signals";
import type { ContainerDetail } from "../../api/types.ts";
import { Button, Link } from "../../components/button.tsx";
import type { Column } from "../../components/columns.tsx";
import { Icon } from "../../components/icon.tsx";
import { Section } from "../../components/page.tsx";
import { Table } from "../../components/table.tsx";
import { bytes, count, plain, plainLines } from "../../base/text.ts";
import { Time } from "../../components/time.tsx";
import { Fact, Facts, TimeFact } from "../../components/facts.tsx";
import { stackOf } from "../../state/live.ts";
import { Status } from "./status.tsx";
import type { TabProps } from "./tab.ts";
import { WholeText } from "./texts.tsx";

/** Characters of a command that are shown at first: about five lines. */
const COMMAND_MAX = 200;

export function Summary({ container }: TabProps) {
  const { ports, labels, healthLog, error, oomKilled, limits, stats } = container;
  const stack = stackOf(container);
  const isUp = container.state === "running" || container.state === "paused";
  return (
    <div class="summary-grid">
      {error !== "" && <p class="note danger">The engine could not start it: {plain(error)}</p>}
      {oomKilled && !isUp && (
        <p class="note danger">
          It ran out of memory. Its limit is {bytes(container.limits.memoryBytes)}.
        </p>
      )}
      <Status container={container} />
      <Section title="Container">
        <Facts>
          <Fact name="ID">
            <code>{container.id.slice(0, 12)}</code>
          </Fact>
          <TimeFact name="Created" at={container.createdAt} />
          <Fact name="Restarts">{container.restartCount}</Fact>
          <Fact name="Restart policy">{restartPolicy(container.restartPolicy)}</Fact>
          <Fact name="Command">
            <Command text={commandOf(container)} />
          </Fact>
          <Fact name="User">{plain(container.user) || "root"}</Fact>
          {stack !== null && (
            <Fact name="Stack">
              <Link to={`/stacks/${encodeURIComponent(stack)}`}>{plain(stack)}</Link>
              {container.composeService !== null && ` / ${plain(container.composeService)}`}
            </Fact>
          )}
        </Facts>
      </Section>
      <Section title="Resources">
        <Facts>
          <Fact name="CPU limit">{limitOf(limits.cpus, (cpus) => count(cpus, "core"))}</Fact>
          <Fact name="Memory limit">{limitOf(limits.memoryBytes, bytes)}</Fact>
          <Fact name="Process limit">{limitOf(limits.pids, String)}</Fact>
          <Fact name="Network received">{bytes(stats?.networkRx)}</Fact>
          <Fact name="Network sent">{bytes(stats?.networkTx)}</Fact>
          <Fact name="Disk read">{bytes(stats?.blockRead)}</Fact>
          <Fact name="Disk written">{bytes(stats?.blockWrite)}</Fact>
        </Facts>
      </Section>
      {ports.length > 0 && (
        <Section title="Ports">
          <Table
            name="Ports"
            columns={[
              { title: "Port", cell: (port) => `${port.privatePort}/${port.type}` },
              { title: "Address", cell: addressOf },
            ]}
            rows={distinct(ports)}
            keyOf={(port) => JSON.stringify(port)}
          />
        </Section>
      )}
      {Object.keys(labels).length > 0 && <Labels labels={labels} />}
      {healthLog.length > 0 && (
        <Section title="Health checks" wide>
          <Table
            name="Health checks"
            columns={[
              { title: "Time", cell: (check) => <Time at={check.startedAt} />, width: "w-m" },
              { title: "Exit code", cell: (check) => check.exitCode, numeric: true, width: "w-s" },
              {
                title: "Output",
                cell: (check) => <pre class="wrap">{plainLines(check.output)}</pre>,
              },
            ]}
            rows={healthLog.toReversed()}
            keyOf={(check) => `${check.startedAt} ${check.endedAt}`}
          />
        </Section>
      )}
    </div>
  );
}

/** Prefix of the labels that Compose adds for itself. */
const COMPOSE = "com.docker.compose.";

/** Labels of Compose are folded: people look for their own. */
function Labels({ labels }: Pick<ContainerDetail, "labels">) {
  const isOpen = useSignal(false);
  const all = Object.entries(labels);
  const isOwn = ([name]: [string, string]) => !name.startsWith(COMPOSE);
  const own = all.filter(isOwn);
  const compose = all.filter((label) => !isOwn(label));
  return (
    <Section title="Labels">
      <Table
        name="Labels"
        hasTallRows
        columns={LABEL_COLUMNS}
        rows={isOpen.value ? [...own, ...compose] : own}
        keyOf={([name]) => name}
      />
      {compose.length > 0 && (
        <button
          type="button"
          class="button quiet"
          aria-expanded={isOpen.value}
          onClick={() => isOpen.value = !isOpen.value}
        >
          <Icon name="chevron" />
          {count(compose.length, "label")} of Compose
        </button>
      )}
    </Section>
  );
}

const LABEL_COLUMNS: readonly Column<[string, string]>[] = [
  {
    title: "Name",
    cell: ([name]) => (
      <code>
        <WholeText>{name}</WholeText>
      </code>
    ),
  },
  { title: "Value", cell: ([, value]) => <WholeText>{value}</WholeText> },
];

function restartPolicy({ name, maximumRetryCount }: ContainerDetail["restartPolicy"]): string {
  if (name === "" || name === "no") return "None";
  return name === "on-failure" && maximumRetryCount > 0
    ? `${name}, ${maximumRetryCount} times`
    : name;
}

/** A script can be a command, and have thousands of characters. */
function Command({ text }: { text: string }) {
  const isWhole = useSignal(text.length <= COMMAND_MAX);
  const code = useRef<HTMLElement>(null);
  const showMore = () => {
    isWhole.value = true;
    // The button goes, and would take the focus with it.
    code.current?.focus();
  };
  return (
    <>
      <code class="wrap" tabIndex={-1} ref={code}>
        {isWhole.value ? text : `${text.slice(0, COMMAND_MAX)}…`}
      </code>
      {!isWhole.value && (
        <div>
          <Button kind="quiet" onClick={showMore}>Show more</Button>
        </div>
      )}
    </>
  );
}

const commandOf = ({ entrypoint, command }: ContainerDetail): string =>
  plain(
    [...entrypoint, ...command].map((word) => /[\s"]/.test(word) ? JSON.stringify(word) : word)
      .join(" "),
  ) || "–";

const limitOf = (limit: number | null, text: (limit: number) => string) =>
  limit === null ? "None" : text(limit);

/** A port that is published for IPv4 and IPv6 is listed once. */
function distinct(ports: ContainerDetail["ports"]): ContainerDetail["ports"] {
  const wildcard = (ip: string | null) => ip === "::" || ip === "0.0.0.0" ? null : ip;
  const entries = ports.map((port) => ({ ...port, ip: wildcard(port.ip) }));
  return [...new Map(entries.map((port) => [JSON.stringify(port), port])).values()];
}

function addressOf({ ip, publicPort }: ContainerDetail["ports"][number]): string {
  if (publicPort === null) return "Not published";
  return `${ip ?? "All addresses"}, port ${publicPort}`;
}
