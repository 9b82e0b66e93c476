/** The question before an update: what it would do, and how the new container is judged. @module */

import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { api, ApiError } from "../../api/client.ts";
import type { ContainerUpdatePlan, Job } from "../../api/types.ts";
import { Button } from "../../components/button.tsx";
import { Dialog } from "../../components/dialog.tsx";
import { Fact, Facts } from "../../components/facts.tsx";
import { Failure, Loading } from "../../components/states.tsx";
import { duration, imageName, plain } from "../../base/text.ts";
import { beginJob } from "../../state/jobs.ts";
import { isAway, LaterButton } from "../../parts/later.tsx";
import { type DataChoice, DataFact, DataField, PlanNotes } from "./data.tsx";
import { RehearsalFacts, RehearsalField } from "./rehearsal.tsx";

/**
 * @param props.container With its image, another tag of that can be entered.
 * @param props.tags References of newer versions to choose from.
 */
export function UpdateDialog(
  { container: { id, name, image: current }, tags = [], onClose, onStarted }: {
    container: { id: string; name: string; image?: string };
    tags?: readonly string[];
    onClose: () => void;
    onStarted?: () => void;
  },
) {
  const image = useSignal<string | undefined>(undefined);
  const force = useSignal(false);
  const data = useSignal<DataChoice | undefined>(undefined);
  const rehearse = useSignal<boolean | undefined>(undefined);
  const { plan, error, reload } = usePlan(id, {
    image: image.value,
    data: data.value,
    rehearse: rehearse.value,
  });
  const blocking = plan?.obstacles.filter(({ canForce }) => !(canForce && force.value)) ?? [];
  const bodyOf = () => ({
    ...(image.value && { image: image.value }),
    ...(data.value && { data: data.value }),
    ...(plan?.newDigest && { digest: plan.newDigest }),
    force: force.value,
    ...(rehearse.value !== undefined && { rehearse: rehearse.value }),
  });
  const update = async () => {
    const isStarted = await beginJob(
      `The update of ${plain(name)}`,
      () =>
        api("POST /api/containers/{id}/update", {
          path: { id },
          body: bodyOf(),
        }) as Promise<Job>,
    );
    // Obstacles of now are part of a new plan.
    if (!isStarted) return reload();
    onClose();
    onStarted?.();
  };
  return (
    <Dialog title={`Update ${plain(name)}`} onClose={onClose} wide>
      {tags.length > 0 && (
        <label class="field">
          Version
          <select onChange={(event) => image.value = event.currentTarget.value || undefined}>
            <option value="">The current tag</option>
            {tags.map((tag) => <option key={tag} value={tag}>{plain(tag)}</option>)}
          </select>
        </label>
      )}
      {tags.length === 0 && current !== undefined && (
        <TagField
          image={current}
          onChange={(reference) => image.value = reference}
        />
      )}
      {error
        ? <Failure error={error} onRetry={reload} />
        : plan
        ? <Plan plan={plan} />
        : <Loading name="Plan" />}
      <DataField
        isUndone={(data.value ?? plan?.data.choice) === "undo"}
        onChange={(choice) => data.value = choice}
      />
      <RehearsalField
        isChosen={rehearse.value ?? (plan ? plan.rehearsal !== null : false)}
        onChange={(isChosen) => rehearse.value = isChosen}
      />
      {plan?.obstacles.some(({ canForce }) => canForce) && (
        <label class="check">
          <input
            type="checkbox"
            checked={force.value}
            onChange={(event) => force.value = event.currentTarget.checked}
          />
          Update nevertheless
        </label>
      )}
      <div class="actions">
        <button type="button" class="button plain" data-autofocus onClick={onClose}>Cancel</button>
        {isAway(error)
          ? (
            <LaterButton
              path={`api/containers/${encodeURIComponent(id)}/update`}
              body={bodyOf()}
              onDone={onClose}
            />
          )
          : (
            <Button
              kind="primary"
              disabled={!plan || blocking.length > 0 || plan.rehearsal?.obstacle != null}
              onClick={() => void update()}
            >
              Update
            </Button>
          )}
      </div>
    </Dialog>
  );
}

/** Another tag of the same repository; nothing for a container that was created from an image's id. */
function TagField({ image, onChange }: {
  image: string;
  onChange: (reference: string | undefined) => void;
}) {
  const [, repository, current] = REFERENCE.exec(image) ?? [];
  if (repository === undefined) return null;
  return (
    <label class="field">
      Tag
      <input
        placeholder={current ?? "latest"}
        maxLength={128}
        autocomplete="off"
        autocapitalize="none"
        spellcheck={false}
        onChange={({ currentTarget: { value } }) => {
          const tag = value.trim();
          onChange(tag === "" || tag === current ? undefined : `${repository}:${tag}`);
        }}
      />
    </label>
  );
}

/** Repository and tag of a reference; no image id. */
const REFERENCE = /^(?!sha256:)([^@]*?)(?::([\w.-]+))?(?:@.*)?$/;

function usePlan(
  id: string,
  { image, data, rehearse }: {
    image: string | undefined;
    data: DataChoice | undefined;
    rehearse: boolean | undefined;
  },
) {
  const plan = useSignal<ContainerUpdatePlan | undefined>(undefined);
  const error = useSignal<ApiError | undefined>(undefined);
  const round = useSignal(0);
  useEffect(() => {
    const end = new AbortController();
    plan.value = error.value = undefined;
    api("POST /api/containers/{id}/update", {
      path: { id },
      query: { plan: true },
      body: {
        ...(image !== undefined && { image }),
        ...(data && { data }),
        ...(rehearse !== undefined && { rehearse }),
      },
    }, { signal: end.signal }).then((result) => {
      if ("obstacles" in result) plan.value = result;
    }).catch((problem) => {
      if (end.signal.aborted) return;
      if (!(problem instanceof ApiError)) throw problem;
      error.value = problem;
    });
    return () => end.abort();
  }, [id, image, data, rehearse, round.value]);
  return { plan: plan.value, error: error.value, reload: () => round.value++ };
}

/** E.g. `working directory` for `workingDirectory`. */
const words = (setting: string): string =>
  setting.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);

function Plan({ plan }: { plan: ContainerUpdatePlan }) {
  const { currentImageId, newImageId, recreated, watched, replaced, verification } = plan;
  const { method, holdSeconds, deadlineSeconds } = verification;
  const single = replaced?.flatMap(({ setting, names }) => names.length > 0 ? [] : [setting]) ?? [];
  return (
    <>
      <PlanNotes plan={plan} />
      <Facts>
        <Fact name="Image">
          <span class="wrap">{plain(plan.image)}</span>
        </Fact>
        <Fact name="Change">
          {newImageId === currentImageId
            ? "The container already runs this image"
            : `From ${imageName(currentImageId)} to ${
              newImageId === null ? "the current image of the registry" : imageName(newImageId)
            }`}
        </Fact>
        {recreated.length > 0 && (
          <Fact name="Recreated with it">{recreated.map(plain).join(", ")}</Fact>
        )}
        {watched.length > 0 && <Fact name="Must stay healthy">{watched.map(plain).join(", ")}
        </Fact>}
        <RehearsalFacts rehearsal={plan.rehearsal} />
        {replaced?.filter(({ names }) => names.length > 0).map(({ setting, names }) => (
          <Fact key={setting} name={`New ${words(setting)}`}>
            <span class="wrap">{names.map(plain).join("\n")}</span>
          </Fact>
        ))}
        {single.length > 0 && <Fact name="From the new image">{single.map(words).join(", ")}</Fact>}
        <DataFact data={plan.data} />
        <Fact name="Success">
          {method === "health" ? "Healthy" : "Running without a restart"} for{" "}
          {duration(holdSeconds)}, within {duration(deadlineSeconds)}
        </Fact>
      </Facts>
      <p class="muted">
        The old container is kept until then. If the new one fails, the old one returns by itself.
      </p>
    </>
  );
}
