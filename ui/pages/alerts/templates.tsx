/** Rules to begin with, which are created with one click. @module */

import { api } from "../../api/client.ts";
import type { AlertRule, AlertTemplate } from "../../api/types.ts";
import { Button } from "../../components/button.tsx";
import { Listing } from "../../components/listing.tsx";
import { Section } from "../../components/page.tsx";
import { useRead } from "../../components/reading.ts";
import type { Column } from "../../components/columns.tsx";
import { plain } from "../../base/text.ts";
import { withResult } from "../../state/toasts.ts";
import { WithSeverity } from "./active.tsx";
import { withTarget } from "./rule_text.ts";

export function Templates({ rules, onCreated, onClose }: {
  /** Those that exist. */
  rules: readonly AlertRule[];
  onCreated: () => void;
  onClose: () => void;
}) {
  const { data, error, reload } = useRead("GET /api/alerts/templates", {});
  const names = new Set(rules.map(({ name }) => name));
  const create = ({ rule }: AlertTemplate) =>
    void withResult(
      `Created ${plain(rule.name)}`,
      () => api("POST /api/alerts/rules", { body: rule }),
    ).then((isDone) => isDone && onCreated());
  return (
    <Section
      title="Templates"
      actions={rules.length > 0 && <Button onClick={onClose}>Close templates</Button>}
    >
      <Listing
        name="Templates"
        columns={columns(names, create)}
        rows={data.value?.templates}
        reading={{ error, reload }}
        empty="This version has no templates."
      />
    </Section>
  );
}

const columns = (
  existing: ReadonlySet<string>,
  onCreate: (template: AlertTemplate) => void,
): readonly Column<AlertTemplate>[] => [
  {
    title: "Rule",
    cell: ({ rule, description }) => (
      <WithSeverity name={rule.name} severity={rule.severity ?? "warning"}>
        {plain(description)}
      </WithSeverity>
    ),
  },
  {
    title: "Condition",
    cell: ({ rule, condition }) => plain(withTarget(condition, rule.scope)),
    wide: true,
  },
  {
    title: "Action",
    cell: (template) =>
      existing.has(template.rule.name)
        ? <span class="muted">Created</span>
        : <Button onClick={() => onCreate(template)}>Use</Button>,
    width: "w-s",
  },
];
