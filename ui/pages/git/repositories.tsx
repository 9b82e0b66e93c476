/** Git: repositories whose commits become versions of stacks. @module */

import { api } from "../../api/client.ts";
import type { GitRepository, GitRepositoryWithSecret } from "../../api/types.ts";
import { plain } from "../../base/text.ts";
import { Link } from "../../components/button.tsx";
import type { Column } from "../../components/columns.tsx";
import { useDialog } from "../../components/dialog.tsx";
import type { MenuItem } from "../../components/menu.tsx";
import { useRead } from "../../components/reading.ts";
import { ResourcePage } from "../../components/resource.tsx";
import { SecretDialog } from "../../components/secret_dialog.tsx";
import { Reason, State, Text } from "../../components/states.tsx";
import { Time } from "../../components/time.tsx";
import { stackPath } from "../../paths.ts";
import { HOST } from "../../state/root.ts";
import { sentenceOf, showAlert, showStatus, withResult } from "../../state/toasts.ts";
import { hasRole } from "../../state/session.ts";
import { AttachDialog } from "./attach.tsx";
import { RepositoryForm } from "./form.tsx";
import { GIT_STATES, shortCommit } from "./states.ts";

export default function Repositories() {
  const reading = useRead("GET /api/git/repositories", {});
  const dialog = useDialog();
  const showSecret = ({ name, webhookPath, webhookSecret }: GitRepositoryWithSecret) => {
    if (webhookSecret === null) return;
    dialog.open(SecretDialog, {
      title: "Webhook created",
      label: "Secret",
      secret: webhookSecret,
      children: `Let the server of ${plain(name)} send pushes to ${
        HOST === undefined ? location.origin : `the address of ${HOST} with the path `
      }${webhookPath} with this secret.`,
    });
  };
  const labels = Object.entries(reading.data.value?.labels ?? {})
    .map(([name, value]) => `${name}=${value}`);
  const problems = reading.data.value?.repositories.flatMap((each) => each.problems) ?? [];
  return (
    <ResourcePage
      title="Git"
      name="Repositories"
      noun="repository"
      reading={reading}
      rows={reading.data.value?.repositories}
      columns={COLUMNS}
      write={["admin", "git:write"]}
      form={RepositoryForm}
      onSaved={showSecret}
      dialog={dialog}
      actions={(repository, { edit, remove, mayWrite }) => [
        ...edit,
        ...mayWrite ? ownActions(repository, reading.reload, showSecret) : [],
        ...hasRole("admin", "stacks:write")
          ? [{
            name: "Attach a stack",
            onSelect: () =>
              dialog.open(AttachDialog, {
                repositoryId: repository.id,
                onSaved: reading.reload,
              }),
          }]
          : [],
        ...remove,
      ]}
      deletion={{
        consequence: ({ name, stacks }) =>
          `Longshore forgets the repository ${
            plain(name)
          }. Its stacks (${stacks.length}) keep their ` +
          "sources and containers, and follow nothing any more.",
        work: ({ id }) => api("DELETE /api/git/repositories/{id}", { path: { id } }),
      }}
      defaultSort="name"
      hasTallRows
      empty="No repositories yet. A commit of a repository becomes a version of each stack that it changes."
      above={(labels.length > 0 || problems.length > 0) && (
        <div class="stacked">
          {labels.length > 0 && (
            <p class="summary">Labels of this host: {labels.map(plain).join(", ")}</p>
          )}
          {problems.length > 0 && (
            <div class="note" role="note" aria-label="Problems of mappings">
              <ul>{problems.map((problem) => <li key={problem}>{plain(problem)}</li>)}</ul>
            </div>
          )}
        </div>
      )}
    />
  );
}

function ownActions(
  { id, name }: GitRepository,
  onDone: () => void,
  onSecret: (saved: GitRepositoryWithSecret) => void,
): readonly MenuItem[] {
  const path = { id };
  const fetch = () =>
    withResult(
      `Fetched ${plain(name)}`,
      () => api("POST /api/git/repositories/{id}/fetch", { path }),
    );
  const renew = async () => {
    try {
      const body = { renewWebhookSecret: true };
      onSecret(await api("PUT /api/git/repositories/{id}", { path, body }));
    } catch (error) {
      showAlert(sentenceOf(error));
    }
  };
  return [
    { name: "Fetch", onSelect: () => void fetch().then(onDone) },
    { name: "Test", onSelect: () => void test(id, name) },
    { name: "New webhook secret", onSelect: () => void renew() },
  ];
}

/** A server that does not answer is a result of the test, not a refusal. */
async function test(id: string, name: string): Promise<void> {
  try {
    const { ok, error } = await api("POST /api/git/repositories/{id}/test", { path: { id } });
    if (ok) showStatus(`Tested ${plain(name)}: it answers`);
    else showAlert(`Test of ${plain(name)} failed: ${plain(error ?? "no reason given")}`);
  } catch (error) {
    showAlert(sentenceOf(error));
  }
}

const COLUMNS: readonly Column<GitRepository>[] = [
  {
    title: "Name",
    cell: ({ name, url }) => (
      <>
        <Text>{name}</Text>
        <p class="hint">{plain(url)}</p>
      </>
    ),
    sort: ({ name }) => name,
  },
  {
    title: "Commit",
    cell: ({ head, refused }) => (
      <>
        <Text>{head?.message ?? "–"}</Text>
        {head && <p class="hint">{shortCommit(head)}, {plain(head.author)}</p>}
        <Reason>{refused?.reason}</Reason>
      </>
    ),
    sort: ({ head }) => head?.committedAt,
  },
  {
    title: "Stacks",
    cell: ({ stacks }) => (
      <>
        {stacks.map(({ name, state }) => (
          <div key={name} class="inline">
            <Link to={stackPath({ name })}>{plain(name)}</Link> <State {...GIT_STATES[state]} />
          </div>
        ))}
      </>
    ),
    sort: ({ stacks }) => stacks.length,
  },
  {
    title: "Last check",
    cell: ({ checkedAt, error }) => (
      <>
        <Time at={checkedAt} />
        <Reason>{error}</Reason>
      </>
    ),
    sort: ({ checkedAt }) => checkedAt,
    width: "w-l",
    wide: true,
  },
];
