/** First steps of an operator, and which of them are done. @module */

import { countAlertRules } from "../../db/alert_rules.ts";
import { selectApiTokens } from "../../db/api_tokens.ts";
import { countAuditEntries } from "../../db/audit_entries.ts";
import { selectNotificationChannels } from "../../db/notification_channels.ts";
import { deleteSetting, selectSetting, upsertSetting } from "../../db/settings.ts";
import { selectStoredStacks } from "../../db/stack_versions.ts";
import type { Container } from "../containers/inventory.ts";
import type { ReadDeps } from "../containers/reads.ts";
import type { Deps } from "../deps.ts";
import { containersIfReachable } from "../live/overview.ts";
import { readUpdateSettings } from "../updates/settings.ts";

const HIDDEN = "get_started_hidden";

/** Whether the dashboard shows the first steps; on, until an admin has hidden them. */
export const isGuideShown = ({ db }: Pick<Deps, "db">): boolean =>
  selectSetting(db, HIDDEN) === undefined;

/** Shows the first steps on the dashboard, or hides them, for all admins. */
export function showGuide({ db }: Pick<Deps, "db">, shown: boolean): void {
  if (shown) deleteSetting(db, HIDDEN);
  else upsertSetting(db, HIDDEN, "true");
}

/** In the order in which they are useful. */
export const STEPS = [
  "takeover",
  "channel",
  "alerts",
  "update-checks",
  "access",
  "backup",
] as const;

export interface Step {
  id: (typeof STEPS)[number];
  done: boolean;
  /** One sentence. */
  why: string;
}

/** The steps, with what they are good for here. */
export async function setupProgress(
  deps: ReadDeps & Pick<Deps, "accounts" | "config" | "db">,
): Promise<Step[]> {
  const { accounts, db } = deps;
  return [
    takeoverStep(db, await containersIfReachable(deps)),
    {
      id: "channel",
      done: selectNotificationChannels(db).length > 0,
      why: "Email or chat tells you when a container is down",
    },
    {
      id: "alerts",
      done: countAlertRules(db) > 0,
      why: "Rules warn before a disk or the memory is full",
    },
    {
      id: "update-checks",
      done: readUpdateSettings(deps).enabled,
      why: "Shows which images have updates; asks the registries of the images that are in use",
    },
    {
      id: "access",
      done: accounts.mode === "users" || selectApiTokens(db).length > 0,
      why: "An account for each person, or a token for each script, can be revoked on its own",
    },
    {
      id: "backup",
      done: countAuditEntries(db, { action: "backup", outcome: "success" }) > 0,
      why: "One download has the settings, the keys and the Compose files of this server",
    },
  ];
}

function takeoverStep(db: Deps["db"], containers: readonly Container[] | undefined): Step {
  const id = "takeover";
  if (!containers) {
    return { id, done: false, why: "The stacks are unknown until the engine can be reached" };
  }
  const foreign = foreignStacks(db, containers);
  if (foreign === 0) {
    return { id, done: true, why: "Longshore has the Compose files of all stacks" };
  }
  const [what, files] = foreign === 1 ? ["stack runs", "file"] : ["stacks run", "files"];
  return {
    id,
    done: false,
    why: `${foreign} ${what} whose Compose ${files} Longshore does not have yet; ` +
      "no container is touched",
  };
}

/** Compose projects on the engine without stored sources. */
function foreignStacks(db: Deps["db"], containers: readonly Container[]): number {
  const stored = new Set(selectStoredStacks(db).map(({ stack }) => stack));
  const projects = containers
    .flatMap(({ composeProject, self }) => composeProject === null || self ? [] : [composeProject]);
  return new Set(projects.filter((project) => !stored.has(project))).size;
}
