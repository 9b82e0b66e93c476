/** The verification of the compliance log's hashes, and its result. @module */

import type { ComponentChildren } from "preact";
import { useSignal } from "@preact/signals";
import { api } from "../../../api/client.ts";
import type { ChainVerification } from "../../../api/types.ts";
import { Button } from "../../../components/button.tsx";
import { Icon } from "../../../components/icon.tsx";
import { count, plain } from "../../../base/text.ts";
import { sentenceOf, showAlert } from "../../../state/toasts.ts";

/**
 * @param onDone Called afterwards, because the verification itself is recorded.
 * @param onShow Shows the entry at which the chain is broken.
 */
export function useVerification(onDone: () => void, onShow: (id: string) => void): {
  isBusy: boolean;
  start: () => void;
  result: ComponentChildren;
} {
  const isBusy = useSignal(false);
  const result = useSignal<ChainVerification | undefined>(undefined);
  const verify = async () => {
    isBusy.value = true;
    result.value = undefined;
    try {
      result.value = await api("POST /api/ext/service-enterprise/compliance/verify-chain", {
        body: {},
      });
      onDone();
    } catch (error) {
      showAlert(sentenceOf(error));
    }
    isBusy.value = false;
  };
  return {
    isBusy: isBusy.value,
    start: () => void verify(),
    result: result.value && <Result result={result.value} onShow={onShow} />,
  };
}

function Result({ result, onShow }: {
  result: ChainVerification;
  onShow: (id: string) => void;
}) {
  const { verified, entries_checked: checked, broken_at_id: brokenAt, reason } = result;
  const entries = count(checked, "entry", "entries");
  return verified
    ? (
      <div class="note good" role="status">
        <Icon name="check" />
        <p>
          The chain is intact: {entries}{" "}
          verified. Compare the hash of the head with a copy that you keep elsewhere.
        </p>
      </div>
    )
    : (
      <div class="note danger" role="alert">
        <Icon name="alert" />
        <p class="wrap">
          The chain is broken after {entries}. {plain(reason ?? "")}
        </p>
        {brokenAt !== null && <Button onClick={() => onShow(brokenAt)}>Show entry</Button>}
      </div>
    );
}
