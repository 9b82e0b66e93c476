/** One stack: its services, its sources with their versions, and its log. @module */

import { useSignal } from "@preact/signals";
import { api } from "../../api/client.ts";
import type { StackPlan } from "../../api/types.ts";
import { Button, LinkButton } from "../../components/button.tsx";
import { Menu } from "../../components/menu.tsx";
import { Page } from "../../components/page.tsx";
import { useRead, useReloadAfter } from "../../components/reading.ts";
import { Badge, Denied, Empty, Failure, Loading, State } from "../../components/states.tsx";
import { Tabs } from "../../components/tabs.tsx";
import { plain } from "../../base/text.ts";
import { query } from "../../state/router.ts";
import { LogView } from "../logs/view.tsx";
import { hasRole } from "../../state/session.ts";
import { sentenceOf, showAlert } from "../../state/toasts.ts";
import { StackUpdateDialog } from "../updates/stack_update.tsx";
import { stackActions, STATUS_TONES, statusOf, useReloadOnStates } from "./actions.ts";
import { GitSource } from "../git/source.tsx";
import { Files } from "../../parts/files/files.tsx";
import { JobList } from "../../parts/job_list.tsx";
import { useReloadOnEnd } from "../../state/jobs.ts";
import { LastBackup } from "../backups/last_backup.tsx";
import { StackHistory } from "./history.tsx";
import { moreActions } from "./more_actions.tsx";
import { PlanSection } from "./plan.tsx";
import { Services } from "./services.tsx";
import { Source } from "./source.tsx";
import { Versions } from "./versions.tsx";

const ICONS = { start: "play", stop: "stop", restart: "restart" } as const;

const SOURCES = "stack_sources:read";

const TABS = [
  { name: "Services", path: undefined, role: "viewer", permission: SOURCES },
  { name: "Source", path: "source", role: "operator", permission: SOURCES },
  { name: "Files", path: "files", role: "admin", permission: "files:read" },
  { name: "Logs", path: "logs", role: "viewer", permission: SOURCES },
  { name: "Versions", path: "versions", role: "operator", permission: SOURCES },
] as const;

export default function Detail({ id = "", tab }: Record<string, string | undefined>) {
  const name = decodeURIComponent(id);
  const kind = query.value.get("kind") === "swarm" ? "swarm" as const : undefined;
  const { data, error, reload } = useRead("GET /api/stacks/{name}", {
    path: { name },
    query: { ...(kind && { kind }) },
  });
  useReloadOnStates(reload);
  useReloadOnEnd({ targetType: "stack", target: name }, reload);
  const isUpdating = useSignal(false);
  const plan = useSignal<StackPlan | undefined>(undefined);
  useReloadAfter(data.value, () => plan.value = undefined);
  const stack = data.value;
  const tabs = TABS.filter(({ role, permission, path }) =>
    hasRole(role, permission) && (path !== "files" || kind === undefined)
  );
  const open = TABS.find(({ path }) => path === tab) ?? TABS[0];
  if (!tabs.includes(open)) return <Denied role={open.role} />;
  if (error.value?.status === 404) return <NotFound />;
  if (error.value && !stack) {
    return (
      <Page title={plain(name)}>
        <Failure error={error.value} onRetry={reload} />
      </Page>
    );
  }
  if (!stack) return <Loading name="Stack" />;
  const suffix = kind ? `?kind=${kind}` : "";
  const more = moreActions(stack, reload);
  return (
    <Page
      title={plain(stack.name)}
      lead={
        <>
          <State state={statusOf(stack)} tone={STATUS_TONES[stack.status]} />
          {stack.kind === "swarm" && <Badge>Swarm</Badge>}
        </>
      }
      actions={
        <>
          {stackActions(stack, reload).map(({ action, verb, run }) => (
            <Button key={action} icon={ICONS[action]} onClick={run}>{verb}</Button>
          ))}
          {stack.kind === "compose" && stack.containerCount > 0 &&
            hasRole("operator", "stacks:update") && (
            <Button onClick={() => isUpdating.value = true}>Update</Button>
          )}
          {open.path === undefined && stack.hasSources &&
            hasRole("operator", "stack_sources:read") && (
            <Button onClick={() => readPlan(name).then((read) => plan.value = read)}>Plan</Button>
          )}
          {more.length > 0 && <Menu name="More actions" items={() => more} />}
        </>
      }
    >
      {isUpdating.value && (
        <StackUpdateDialog
          name={name}
          onClose={() => isUpdating.value = false}
        />
      )}
      <JobList group="Stacks" target={{ targetType: "stack", target: name }} />
      <Tabs
        name="Stack"
        current={open.name}
        tabs={tabs.map(({ name, path }) => ({
          name,
          to: `/stacks/${id}${path ? `/${path}` : ""}${suffix}`,
        }))}
      >
        {open.path === "logs"
          ? <LogView stream={`api/stacks/${encodeURIComponent(name)}/logs/stream`} isMerged />
          : open.path === "source"
          ? <Source key={String(stack.hasSources)} stack={stack} onAdopted={reload} />
          : open.path === "files"
          ? <Files place={{ kind: "stacks", ref: name }} root={plain(name)} />
          : open.path === "versions"
          ? <Versions name={name} hasSources={stack.hasSources} />
          : (
            <>
              {stack.kind === "compose" && <LastBackup subject={{ stack: name }} />}
              {stack.kind === "compose" && hasRole("operator", SOURCES) && (
                <GitSource stack={name} onChange={reload} />
              )}
              <Services stack={stack} />
              {plan.value && <PlanSection plan={plan.value} />}
              <StackHistory name={name} />
            </>
          )}
      </Tabs>
    </Page>
  );
}

/** The plan of the stored sources, or `undefined` with a message. */
async function readPlan(name: string): Promise<StackPlan | undefined> {
  try {
    return await api("POST /api/stacks/{name}/plan", { path: { name }, body: {} });
  } catch (error) {
    showAlert(sentenceOf(error));
    return undefined;
  }
}

function NotFound() {
  return (
    <Page title="Stack not found">
      <Empty action={<LinkButton to="/stacks">Show all stacks</LinkButton>}>
        A stack exists as long as it has containers, services or stored sources.
      </Empty>
    </Page>
  );
}
