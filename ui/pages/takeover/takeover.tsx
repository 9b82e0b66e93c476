/** Takeover: stacks that other programs have deployed become managed here, without a container touched. @module */

import { useEffect } from "preact/hooks";
import { useSignal } from "@preact/signals";
import { api } from "../../api/client.ts";
import type { Takeover, TakeoverStack } from "../../api/types.ts";
import { Button } from "../../components/button.tsx";
import { Listing } from "../../components/listing.tsx";
import type { MenuItem } from "../../components/menu.tsx";
import { Page } from "../../components/page.tsx";
import { useRead } from "../../components/reading.ts";
import { Failure, Loading, withBreaks } from "../../components/states.tsx";
import { JobList } from "../../parts/job_list.tsx";
import { count } from "../../base/text.ts";
import { jobEnd } from "../../state/jobs.ts";
import { addJob } from "../../state/live.ts";
import { sentenceOf, showAlert } from "../../state/toasts.ts";
import { addStyles } from "../../components/styles.ts";
import styles from "./takeover.css" with { type: "text" };
import { COLUMNS, unreadFile } from "./columns.tsx";
import { Directories, Loose, Managed, Managers } from "./others.tsx";
import { type Result, ResultNote } from "./result.tsx";
import { SourceDialog } from "./source_dialog.tsx";
import { unreadAdvice } from "./unread.ts";

addStyles(styles);

type Choice = NonNullable<Parameters<typeof takeOver>[1]>;

export default function TakeOver() {
  const { data, error, reload } = useRead("GET /api/takeover", {});
  const known = useSignal<Takeover | undefined>(undefined);
  const isFailed = useSignal(false);
  const answer = data.value;
  useEffect(() => {
    if (!answer) return;
    if (!("job" in answer)) {
      known.value = answer;
      return;
    }
    isFailed.value = false;
    addJob(answer.job);
    jobEnd(answer.job.id).then(reload, (problem) => {
      isFailed.value = true;
      showAlert(sentenceOf(problem));
    });
  }, [answer]);
  const scan = () => {
    void api("GET /api/takeover", { query: { refresh: true } })
      .then(reload, (problem) => showAlert(sentenceOf(problem)));
  };
  const report = known.value;
  return (
    <Page
      title="Take over"
      lead={report && <Summary stacks={report.stacks} />}
      actions={<Button icon="restart" onClick={scan}>Scan again</Button>}
    >
      <p class="takeover-lead">
        Stacks that other programs have deployed. Taking one over stores its sources here: no
        container is started, stopped or recreated, and no file is written.
      </p>
      <JobList group="Takeover" />
      {error.value
        ? <Failure error={error.value} onRetry={reload} />
        : report
        ? <Report report={report} onChange={reload} />
        : !isFailed.value && <Loading name="Stacks" />}
    </Page>
  );
}

const isUnchanged = ({ plan }: TakeoverStack) => plan?.changesNothing ?? false;

function Summary({ stacks }: { stacks: readonly TakeoverStack[] }) {
  const unchanged = stacks.filter(isUnchanged).length;
  const text = stacks.length === 0
    ? "No stack of another program"
    : `${count(stacks.length, "stack")}, ${unchanged} unchanged`;
  return <span class="summary" role="status" aria-label={text}>{text}</span>;
}

function Report({ report, onChange }: { report: Takeover; onChange: () => void }) {
  const { stacks } = report;
  const usual = () => new Set(stacks.filter(isUnchanged).map(({ name }) => name));
  const selected = useSignal<ReadonlySet<string>>(usual());
  useEffect(() => {
    selected.value = usual();
  }, [stacks]);
  const isBusy = useSignal(false);
  const result = useSignal<Result | undefined>(undefined);
  const choosing = useSignal<TakeoverStack | undefined>(undefined);
  const names = stacks.filter(({ name, unit }) => selected.value.has(name) && unit === null)
    .map(({ name }) => name);

  const run = async (names: readonly string[], choice?: Choice) => {
    isBusy.value = true;
    try {
      result.value = await takeOver(names, choice);
      onChange();
    } finally {
      isBusy.value = false;
    }
  };
  const menuOf = (stack: TakeoverStack): MenuItem[] =>
    stack.unit === null ? [{ name: "Choose source", onSelect: () => choosing.value = stack }] : [];
  return (
    <>
      {result.value && <ResultNote result={result.value} />}
      <Unread stacks={stacks} />
      <Listing
        name="Stacks to take over"
        columns={COLUMNS}
        rows={stacks}
        reading={{ error: { value: undefined }, reload: onChange }}
        empty="Every stack on this host is managed here."
        keyOf={({ name }) => name}
        selected={selected}
        actions={menuOf}
        hasTallRows
        defaultSort="stack"
      />
      {stacks.length > 0 && (
        <div class="takeover-bar">
          <span class="muted">Containers stay as they are until the next deploy.</span>
          <Button
            kind="primary"
            disabled={names.length === 0}
            busy={isBusy.value}
            onClick={() => void run(names).catch((problem) => showAlert(sentenceOf(problem)))}
          >
            Take over {count(names.length, "stack")}
          </Button>
        </div>
      )}
      <Managers managers={report.managers} />
      <Directories directories={report.directories} onDone={onChange} />
      {report.unlisted.map((root) => (
        <p key={root} class="hint">
          Directories below {withBreaks(root)}{" "}
          are not listed: mount it into the container of Longshore at the same path.
        </p>
      ))}
      <Loose containers={report.containers} />
      <Managed managed={report.managed} onDone={onChange} />
      {choosing.value && (
        <SourceDialog
          stack={choosing.value}
          onClose={() => choosing.value = undefined}
          onChoose={(choice) => run([choosing.value!.name], choice)}
        />
      )}
    </>
  );
}

/** Advice for files that are elsewhere on the host. */
function Unread({ stacks }: { stacks: readonly TakeoverStack[] }) {
  const { data: keys } = useRead("GET /api/compose/keys", {});
  const files = stacks.flatMap((stack) => unreadFile(stack) ?? []);
  if (files.length === 0 || !keys.value) return null;
  return <p class="takeover-lead hint">{withBreaks(unreadAdvice(files, keys.value.roots))}</p>;
}

/** Starts a takeover and waits for its end. */
async function takeOver(
  stacks: readonly string[],
  choice: {
    source?: { kind: "host" | "mount" | "generated"; path: string | null; through?: string };
    acceptRecreate: boolean;
  } = { acceptRecreate: false },
): Promise<Result> {
  const { source, acceptRecreate } = choice;
  const job = await api("POST /api/takeover", {
    body: {
      stacks: [...stacks],
      ...(source && { sources: { [stacks[0]!]: source } }),
      acceptRecreate,
    },
  });
  addJob(job);
  await jobEnd(job.id);
  const { result } = await api("GET /api/jobs/{id}", { path: { id: job.id } });
  return result as Result;
}
