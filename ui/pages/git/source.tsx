/** The Git source of a stack: its commit, what is not deployed, and edits. @module */

import { api } from "../../api/client.ts";
import type { StackGit } from "../../api/types.ts";
import { plain } from "../../base/text.ts";
import { Button } from "../../components/button.tsx";
import { confirm, Dialog, useDialog } from "../../components/dialog.tsx";
import { CodeFact, Fact, Facts, TimeFact } from "../../components/facts.tsx";
import { Section } from "../../components/page.tsx";
import { useRead } from "../../components/reading.ts";
import { Failure, Loading, Reason, State } from "../../components/states.tsx";
import { hasRole } from "../../state/session.ts";
import { withResult } from "../../state/toasts.ts";
import { DeployDialog, deployStack } from "../stacks/deploy.tsx";
import { Diff } from "../stacks/diff.tsx";
import { AttachDialog } from "./attach.tsx";
import { behindText, DEPLOYS, GIT_STATES, shortCommit } from "./states.ts";

/** Nothing for a stack that follows no repository. */
export function GitSource({ stack, onChange }: { stack: string; onChange: () => void }) {
  const { data, reload } = useRead("GET /api/stacks/{name}/git", { path: { name: stack } });
  const dialog = useDialog();
  const changed = () => {
    reload();
    onChange();
  };
  const git = data.value?.git;
  if (!git) return null;
  const mayChange = hasRole("admin", "stacks:write");
  return (
    <Section
      title="Git"
      actions={mayChange && (
        <div class="actions">
          <Actions
            stack={stack}
            git={git}
            onChange={changed}
            dialog={dialog}
          />
          {hasRole("admin", "git:read") && (
            <Button onClick={() => dialog.open(AttachDialog, { stack, git, onSaved: changed })}>
              Change
            </Button>
          )}
        </div>
      )}
    >
      <GitFacts git={git} />
      {dialog.shown}
    </Section>
  );
}

function GitFacts({ git }: { git: StackGit }) {
  const { repository, commit, path, state, behind, deploy, problem, deployedCommit } = git;
  return (
    <Facts>
      <Fact name="State">
        <State {...GIT_STATES[state]} /> <span class="muted">{behindText(behind)}</span>
        <Reason>{problem ?? repository.error}</Reason>
      </Fact>
      <Fact name="Repository">{plain(repository.name)}</Fact>
      <CodeFact name="File">{path}</CodeFact>
      {commit && (
        <>
          <Fact name="Commit">{shortCommit(commit)} {plain(commit.message)}</Fact>
          <Fact name="Author">
            {plain(commit.author)}
            {commit.signer !== null && `, signed by ${plain(commit.signer)}`}
          </Fact>
          <TimeFact name="Committed" at={commit.committedAt} />
        </>
      )}
      <CodeFact name="Deployed">{deployedCommit?.slice(0, 10) ?? null}</CodeFact>
      <Fact name="New commits">{DEPLOYS.find(({ value }) => value === deploy)!.name}</Fact>
      <TimeFact name="Checked" at={repository.checkedAt} />
    </Facts>
  );
}

function Actions({ stack, git, onChange, dialog }: {
  stack: string;
  git: StackGit;
  onChange: () => void;
  dialog: ReturnType<typeof useDialog>;
}) {
  const { repository, state, version, deployedVersion, drift } = git;
  const path = { name: stack };
  const fetch = () =>
    withResult(
      `Fetched ${plain(repository.name)}`,
      () => api("POST /api/git/repositories/{id}/fetch", { path: { id: repository.id } }),
    );
  const deploy = async () => {
    const expectedVersion = version!;
    if (deployedVersion === null) await deployStack(stack, { expectedVersion });
    else dialog.open(DeployDialog, { name: stack, expectedVersion });
  };
  const compare = (title: string, name: string, from: number, to: number) => () =>
    dialog.open(VersionDiff, { title: `${title} of ${plain(stack)}`, name, stack, from, to });
  const discard = async () => {
    const isSure = await confirm({
      verb: "Discard",
      name: stack,
      consequence: "The last commit becomes the current version again. The edit stays in the " +
        "versions.",
    });
    return isSure && await withResult(
      `Discarded the edit of ${plain(stack)}`,
      () => api("POST /api/stacks/{name}/git/discard", { path }),
    );
  };
  const detach = async () => {
    const isSure = await confirm({
      verb: "Detach",
      name: stack,
      isSafe: true,
      consequence:
        "The stack keeps its sources and containers, and no longer follows the repository.",
    });
    return isSure && await withResult(
      `Detached ${plain(stack)}`,
      () => api("DELETE /api/stacks/{name}/git", { path }),
    );
  };
  const run = (work: () => Promise<unknown>) => () => void work().then(onChange);
  return (
    <>
      {hasRole("admin", "git:write") && <Button onClick={run(fetch)}>Fetch</Button>}
      {["behind", "failed", "rewritten"].includes(state) && (
        <>
          {deployedVersion !== null && (
            <Button
              onClick={compare("Changes", "Deployed to newest sources", deployedVersion, version!)}
            >
              Show changes
            </Button>
          )}
          <Button kind="primary" onClick={run(deploy)}>Deploy</Button>
        </>
      )}
      {drift && (
        <>
          <Button onClick={compare("Edit", "Commit to current sources", drift.from, drift.to)}>
            Show edit
          </Button>
          <Button onClick={run(discard)}>Discard edit</Button>
        </>
      )}
      <Button onClick={run(detach)}>Detach</Button>
    </>
  );
}

function VersionDiff({ title, name, stack, from, to, onClose }: {
  title: string;
  /** Of the comparison. */
  name: string;
  stack: string;
  from: number;
  to: number;
  onClose: () => void;
}) {
  const { data, error } = useRead("GET /api/stacks/{name}/versions/{version}/diff/{other}", {
    path: { name: stack, version: from, other: to },
  });
  return (
    <Dialog title={title} onClose={onClose} wide>
      {error.value
        ? <Failure error={error.value} />
        : data.value
        ? <Diff name={name} diff={data.value.diff} />
        : <Loading name="Diff" />}
      <div class="actions">
        <Button onClick={onClose}>Close</Button>
      </div>
    </Dialog>
  );
}
