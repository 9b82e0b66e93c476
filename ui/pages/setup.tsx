/** Setup of a new server: the first account, or the API key. @module */

import { useSignal } from "@preact/signals";
import { ApiError, refusalOf, UNREACHABLE } from "../api/client.ts";
import type { Setup as SetupBody, SetupResult } from "../api/types.ts";
import { Button } from "../components/button.tsx";
import { Choice } from "../components/choice.tsx";
import { TextField } from "../components/fields.tsx";
import { Form } from "../components/form.tsx";
import { Mark } from "../components/mark.tsx";
import { PRODUCT } from "../base/product.ts";
import { useTitle } from "../components/page.tsx";
import { SecretField } from "../components/secret_dialog.tsx";
import { addStyles } from "../components/styles.ts";
import { ROOT } from "../state/root.ts";
import { call, DOOR } from "../state/session.ts";
import styles from "../parts/sign_in/sign_in.css" with { type: "text" };
import { AccountFields, accountOf } from "./users/first_account.tsx";

addStyles(styles);

const WAYS = ["Accounts", "One API key"] as const;
type Way = (typeof WAYS)[number];

const HINTS: Record<Way, string> = {
  "Accounts": "Everyone signs in with an email address and a password. You get the first account.",
  "One API key": "For a server that only you use. You can change to accounts later.",
};

export default function Setup() {
  useTitle("Set up");
  const key = useSignal<string | undefined>(undefined);
  return (
    <div class="sign-in">
      <div class="sign-in-card">
        <Mark />
        <h1 tabIndex={-1}>Set up {PRODUCT}</h1>
        {DOOR !== "/setup"
          ? <Done />
          : key.value === undefined
          ? <SetupForm onKey={(created) => key.value = created} />
          : <CreatedKey apiKey={key.value} />}
      </div>
    </div>
  );
}

function SetupForm({ onKey }: { onKey: (key: string) => void }) {
  const way = useSignal<Way>("Accounts");
  return (
    <Form
      part={way.value}
      submit={way.value === "Accounts" ? "Create account" : "Create key"}
      onSubmit={async (values) => {
        const { key } = await setUp({
          code: values.code,
          ...(way.value === "Accounts" ? { account: accountOf(values) } : { key: true }),
        });
        if (key === undefined) openDashboard();
        else onKey(key);
      }}
    >
      <TextField
        label="Setup code"
        name="code"
        value={codeOfLink()}
        placeholder="K7QF-2MXA-9RTD"
        autocomplete="off"
        hint="Printed when the service started, and in the file initial-credentials of its data"
        pattern="\s*([0-9A-Za-z]{4}[\- ]?){3}\s*"
        required
      />
      <Choice
        name="Sign-in"
        values={WAYS}
        value={way.value}
        onChange={(each) => way.value = each}
      />
      <p class="hint">{HINTS[way.value]}</p>
      {way.value === "Accounts" && <AccountFields />}
    </Form>
  );
}

function CreatedKey({ apiKey }: { apiKey: string }) {
  return (
    <div class="form">
      <p>Save the key now. It is not shown again, and it gives root access to this host.</p>
      <SecretField label="API key" secret={apiKey} />
      <Button kind="primary" onClick={openDashboard}>Open the dashboard</Button>
    </div>
  );
}

function Done() {
  return (
    <div class="form">
      <p class="muted">This server is set up already.</p>
      <Button kind="primary" onClick={openDashboard}>Open the dashboard</Button>
    </div>
  );
}

async function setUp(body: SetupBody): Promise<SetupResult> {
  let response: Response;
  try {
    response = await call("POST", "auth/setup", body);
  } catch {
    throw new ApiError(0, UNREACHABLE);
  }
  if (!response.ok) throw await refusalOf(response);
  return await response.json();
}

/** The code in the address that the service printed. A fragment is never sent to a server. */
const codeOfLink = () => location.hash.slice(1);

/** Loads the page again, which then knows how people sign in. */
const openDashboard = () => location.assign(ROOT);
