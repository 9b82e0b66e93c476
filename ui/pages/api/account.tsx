/**
 * The account that requests of the API page are sent with: one that signed in here, which is forgotten
 * with the page, otherwise the session of the dashboard.
 *
 * @module
 */

import { signal, useSignal } from "@preact/signals";
import { ApiError, refusalOf, UNREACHABLE } from "../../api/client.ts";
import type { MfaRequired, TokenPair } from "../../api/types.ts";
import { Button } from "../../components/button.tsx";
import { Choice } from "../../components/choice.tsx";
import { useDialog } from "../../components/dialog.tsx";
import { TextField } from "../../components/fields.tsx";
import { FormDialog } from "../../components/form.tsx";
import type { FormValues } from "../../components/form_values.ts";
import { factorOf } from "../../parts/second_factor.ts";
import { ROOT } from "../../state/root.ts";
import { accessToken, AUTH_MODE, session } from "../../state/session.ts";
import type { ComposedRequest } from "./request.ts";

/** A pasted token has no refresh token. */
type Account = Pick<TokenPair, "accessToken" | "role"> & Partial<TokenPair>;

const account = signal<Account | undefined>(undefined);

const WAYS = AUTH_MODE === "users" ? ["Password", "Token"] as const : ["API key", "Token"] as const;

type Way = (typeof WAYS)[number];

/** Signs in or out. */
export function AccountButton() {
  const dialog = useDialog();
  if (account.value) {
    return <Button onClick={signOut}>Sign out ({account.value.role})</Button>;
  }
  return (
    <>
      <Button icon="key" onClick={() => dialog.open(SignInDialog, {})}>
        {session.value ? "Use another account" : "Sign in"}
      </Button>
      {dialog.shown}
    </>
  );
}

/** Says who sends the requests. */
export function AccountNote() {
  const text = account.value
    ? "Requests are sent with the account that you signed in with here."
    : session.value
    ? "Requests are sent with your session."
    : "Sign in to send requests that need a token.";
  return <p class="muted">{text}</p>;
}

function SignInDialog({ onClose }: { onClose: () => void }) {
  const way = useSignal<Way>(WAYS[0]);
  const needed = useSignal<MfaRequired | undefined>(undefined);
  const isSecondStep = way.value === "Password" && needed.value !== undefined;
  const send = async (values: FormValues) => {
    const answer = isSecondStep
      ? await post("auth/mfa", { mfaToken: needed.value!.mfaToken, ...factorOf(values.code) })
      : await signIn(way.value, values);
    if (!("mfaRequired" in answer)) return void (account.value = answer);
    needed.value = answer;
    throw new ApiError(401, "Enter a code of your authenticator app, or a recovery code");
  };
  return (
    <FormDialog
      title="Sign in"
      submit="Sign in"
      onClose={onClose}
      onSubmit={send}
    >
      <p class="muted">
        Requests are sent with this account. Its token is kept in memory until you close or reload
        this page.
      </p>
      <Choice
        name="Sign in with"
        values={WAYS}
        value={way.value}
        onChange={(value) => way.value = value}
      />
      {isSecondStep && <TextField name="code" label="Code" required autocomplete="off" />}
      {way.value === "Password" && !isSecondStep && (
        <>
          <TextField name="email" label="Email" type="email" required autocomplete="username" />
          <TextField
            name="password"
            label="Password"
            type="password"
            required
            autocomplete="current-password"
          />
        </>
      )}
      {way.value === "API key" && <Secret name="apiKey" label="API key" />}
      {way.value === "Token" && <Secret name="token" label="Access token or API token" />}
    </FormDialog>
  );
}

const Secret = (field: { name: string; label: string }) => (
  <TextField key={field.name} {...field} type="password" required autocomplete="off" />
);

/** @throws {ApiError} With the service's sentence. */
async function signIn(
  way: Way,
  { apiKey, email, password, token }: FormValues,
): Promise<Account | MfaRequired> {
  if (way === "API key") return await post("auth/token", { apiKey: apiKey.trim() });
  if (way === "Password") return await post("auth/login", { email, password });
  const accessToken = token.trim();
  const { role } = await read(fetchWith(accessToken, "auth/me", {}));
  return { accessToken, role };
}

function signOut(): void {
  const { accessToken, refreshToken } = account.peek()!;
  account.value = undefined;
  // A pasted token is not revoked, because it may be in use elsewhere.
  if (refreshToken) post("auth/logout", undefined, accessToken).catch(() => {});
}

/**
 * Sends a request with the account's token, if there is one. An expired token is renewed once.
 *
 * @throws {ApiError} If the service cannot be reached.
 */
export async function sendComposed(
  { url, ...request }: ComposedRequest,
  signal: AbortSignal,
): Promise<Response> {
  const init = { ...request, body: request.body ?? null, signal };
  const own = account.peek();
  const response = await fetchWith(own?.accessToken ?? await accessToken(), url, init);
  if (response.status !== 401 || !own?.refreshToken) return response;
  try {
    account.value = await post("auth/refresh", { refreshToken: own.refreshToken }) as Account;
  } catch {
    account.value = undefined;
    return response;
  }
  await response.body?.cancel();
  return await fetchWith(account.peek()!.accessToken, url, init);
}

async function post(
  path: string,
  body: unknown,
  token?: string,
): Promise<Account | MfaRequired> {
  return await read(fetchWith(token, path, {
    method: "POST",
    ...body !== undefined && {
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    },
  }));
}

/** @param url Below the service's root, or with it. */
async function fetchWith(token: string | undefined, url: string, init: RequestInit) {
  const headers = new Headers(init.headers);
  if (token !== undefined) headers.set("authorization", `Bearer ${token}`);
  try {
    return await fetch(new URL(url, ROOT), { ...init, headers, credentials: "omit" });
  } catch (error) {
    throw init.signal?.aborted ? error : new ApiError(0, UNREACHABLE);
  }
}

async function read(request: Promise<Response>) {
  const response = await request;
  if (!response.ok) throw await refusalOf(response);
  // A logout has no body.
  return response.status === 204 ? undefined : await response.json();
}
