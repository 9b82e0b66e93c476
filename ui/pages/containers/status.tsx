/** How a container is doing: its state, health, image, figures and last log lines. @module */

import type { ContainerDetail } from "../../api/types.ts";
import { Chart } from "../../components/chart.tsx";
import { LinkButton } from "../../components/button.tsx";
import { Fact, Facts } from "../../components/facts.tsx";
import { Section } from "../../components/page.tsx";
import { useRead } from "../../components/reading.ts";
import { Badge, State } from "../../components/states.tsx";
import { Time } from "../../components/time.tsx";
import { bytes, imageName, percent, plain, plainLines } from "../../base/text.ts";
import { RANGES } from "../../parts/history.ts";
import { useImageUpdates } from "../../parts/image_updates.ts";
import { Links, linksOf } from "../../parts/links.tsx";
import { rangeText } from "../../parts/range.tsx";
import { healthOf } from "../../state/live.ts";
import { withoutColors } from "../logs/ansi.ts";
import { useContainerHistory } from "./history.ts";
import type { TabProps } from "./tab.ts";

const HOUR = RANGES[1];
const CHART_PX = 96;

const LOG_LINES = 8;
const LOG_LINE_MAX = 300;

/** Characters of a health check's output: its end says why it failed. */
const OUTPUT_MAX = 400;

export function Status({ container }: TabProps) {
  const links = linksOf(container);
  return (
    <>
      <Section title="Status" wide>
        <Facts>
          <StateFact container={container} />
          <HealthFact container={container} />
          <ImageFact container={container} />
          {links.length > 0 && (
            <Fact name="Addresses">
              <Links links={links} />
            </Fact>
          )}
          {container.description !== null && (
            <Fact name="Description">{plain(container.description)}</Fact>
          )}
          {container.group !== null && <Fact name="Group">{plain(container.group)}</Fact>}
        </Facts>
      </Section>
      <Charts container={container} />
      <LastLines container={container} />
    </>
  );
}

function StateFact(
  { container: { state, startedAt, finishedAt, exitCode, crashLooping, warning } }: TabProps,
) {
  const isUp = state === "running" || state === "paused";
  const changedAt = isUp ? startedAt : finishedAt;
  return (
    <Fact name="State">
      <State state={state} />
      {changedAt && (
        <span class="muted">
          {isUp ? ", started " : ", ended "}
          <Time at={changedAt} />
        </span>
      )}
      {!isUp && state !== "created" && exitCode !== null && (
        <span class="muted">, exit code {exitCode}</span>
      )}
      {crashLooping && <p class="hint problem">It exits and is restarted again and again</p>}
      {warning && <p class="hint problem">{plain(warning)}</p>}
    </Fact>
  );
}

function HealthFact({ container }: TabProps) {
  const health = healthOf(container);
  const last = container.healthLog.at(-1);
  if (health === null) return null;
  return (
    <Fact name="Health">
      <State state={health} />
      {last && (
        <span class="muted">
          , checked <Time at={last.endedAt ?? last.startedAt} />
        </span>
      )}
      {last?.output.trim() && (
        <pre class={last.exitCode === 0 ? "hint" : "hint problem"}>
          {plainLines(last.output.trim().slice(-OUTPUT_MAX))}
        </pre>
      )}
    </Fact>
  );
}

function ImageFact({ container: { id, image, previousImage } }: TabProps) {
  const update = useImageUpdates()?.find(({ containers }) =>
    containers.some((each) => each.id === id)
  );
  return (
    <Fact name="Image">
      <span class="wrap">{imageName(image)}</span>
      {update && (
        <>
          {" "}
          <Badge tone="warn">Update</Badge>
          {update.firstSeenAt && (
            <span class="muted">
              , first seen <Time at={update.firstSeenAt} />
            </span>
          )}
        </>
      )}
      {previousImage && (
        <span class="muted">
          , updated <Time at={previousImage.replacedAt} />
        </span>
      )}
    </Fact>
  );
}

/** The last hour. */
function Charts({ container }: { container: ContainerDetail }) {
  const { points, times, latest } = useContainerHistory(container, HOUR);
  const chart = (
    title: string,
    field: "cpuPercent" | "memory",
    format: (value: number | null) => string,
  ) => (
    <Section
      title={title}
      // The chart's name says it, too.
      actions={<span class="muted" aria-hidden="true">{format(latest?.[field] ?? null)}</span>}
    >
      <Chart
        name={`${title}, ${rangeText(HOUR)}`}
        times={times}
        seconds={HOUR.seconds}
        series={[{
          name: title,
          values: points.map((point) => point[field]),
        }]}
        format={format}
        binary={field === "memory"}
        height={CHART_PX}
      />
    </Section>
  );
  return (
    <>
      {chart("CPU", "cpuPercent", percent)}
      {chart("Memory", "memory", bytes)}
    </>
  );
}

function LastLines({ container: { id, state } }: TabProps) {
  const { data, error } = useRead(
    "GET /api/containers/{id}/logs",
    // One that never ran has no log.
    state === "created" ? undefined : { path: { id }, query: { tail: LOG_LINES } },
  );
  const lines = data.value?.lines;
  if (error.value || !lines?.length) return null;
  return (
    <Section
      title="Last log lines"
      wide
      actions={<LinkButton to={`/containers/${id.slice(0, 12)}/logs`}>Show logs</LinkButton>}
    >
      <pre class="wrap">{lines.map(textOf).join("\n")}</pre>
    </Section>
  );
}

/** The text of a line, without the time before it. */
const textOf = (line: string): string =>
  plain(withoutColors(line.slice(line.indexOf(" ") + 1)).slice(0, LOG_LINE_MAX));
