/** The dialog of a repository. @module */

import { useSignal } from "@preact/signals";
import type { GitRepository, GitRepositoryWithSecret } from "../../api/types.ts";
import { fieldsOf, SelectField, TextArea, TextField } from "../../components/fields.tsx";
import { EditDialog, type EditProps, saveItem } from "../../components/form.tsx";
import type { FormValues } from "../../components/form_values.ts";
import { StatusFields, statusOf } from "./status_fields.tsx";
import { LINE_PROBLEM, lineOf, parseLine } from "./mapping.ts";

type Mapping = GitRepository["mapping"][number];

const AUTHS = [
  { value: "none", name: "None" },
  { value: "token", name: "Token" },
  { value: "basic", name: "User name and password" },
];

const SIGNATURES = [
  { value: "off", name: "Not checked" },
  { value: "range", name: "All new commits" },
  { value: "head", name: "The newest commit" },
];

export function RepositoryForm(
  { item: repository, ...dialog }: EditProps<GitRepository, GitRepositoryWithSecret>,
) {
  const auth = useSignal<GitRepository["auth"]>(repository?.auth ?? "none");
  const { text, area } = fieldsOf(repository);
  return (
    <EditDialog
      noun="repository"
      item={repository}
      save={(values) =>
        saveItem("/api/git/repositories", repository, bodyOf(auth.value, values, repository))}
      {...dialog}
      wide
    >
      <div class="field-row">
        {text("Name", "name", { required: true, maxLength: 100 })}
        {text("Branch", "branch", { hint: "Empty: the default branch", maxLength: 200 })}
      </div>
      {text("Address", "url", {
        required: true,
        maxLength: 2_048,
        placeholder: "https://git.example.com/ada/stacks.git",
      })}
      <div class="field-row">
        <SelectField label="Credentials" name="auth" options={AUTHS} choice={auth} />
        {auth.value === "basic" &&
          text("User name", "username", { required: true, autocomplete: "off", maxLength: 255 })}
        {auth.value !== "none" && (
          <TextField
            label={auth.value === "token" ? "Token" : "Password"}
            name="secret"
            type="password"
            hint={repository?.auth === auth.value
              ? "Stored encrypted; empty: keep the stored one"
              : "Stored encrypted"}
            autocomplete="new-password"
            maxLength={1_000}
          />
        )}
      </div>
      <TextArea
        label="Stacks"
        name="mapping"
        code
        value={repository?.mapping.map(lineOf).join("\n")}
        check={(given) =>
          given.split("\n").every((line) => line.trim() === "" || parseLine(line))
            ? undefined
            : LINE_PROBLEM}
        placeholder="stacks/*/compose.yaml * auto"
        hint="One line for each: path of the Compose file, name of the stack, then manual, plan or auto, a directory of the host for relative paths, hosts:site=kiel for hosts with this label only, and env:NAME=value"
      />
      <div class="field-row">
        {text("Poll every", "pollMinutes", {
          type: "number",
          min: 0,
          max: 1_440,
          placeholder: "5",
          hint: "Minutes; 0: only by the webhook",
        })}
        <SelectField
          label="Signatures"
          name="signatures"
          options={SIGNATURES}
          value={repository?.signatures === "required" ? repository.signatureScope : "off"}
        />
      </div>
      {area("Allowed signers", "allowedSigners", {
        hint: "As in the file allowed_signers: ada@example.org ssh-ed25519 AAAA…",
        code: true,
      })}
      <TextField
        label="Age identity"
        name="ageIdentity"
        type="password"
        hint={repository?.ageIdentity
          ? "Opens files encrypted with SOPS. Stored encrypted; empty: keep the stored one"
          : "AGE-SECRET-KEY-1…, opens files encrypted with SOPS. Stored encrypted"}
        autocomplete="new-password"
        maxLength={200}
      />
      <StatusFields status={repository?.status} />
      {area("Certificate authority", "caCertificate", {
        hint: "PEM. For a server whose certificate is not from a public authority",
        code: true,
      })}
    </EditDialog>
  );
}

/** @param before Has what a line does not say. */
const mappingOf = (text: string, before: readonly Mapping[]): Mapping[] =>
  text.split("\n").flatMap((line) => {
    const mapping = parseLine(line);
    if (!mapping) return [];
    const profiles = before.find(({ path }) => path === mapping.path)?.profiles ?? null;
    return [{ ...mapping, profiles }];
  });

/** An empty secret keeps the stored one. */
function bodyOf(
  auth: GitRepository["auth"],
  values: FormValues,
  repository: GitRepository | undefined,
) {
  const { name, url, secret, ageIdentity, signatures } = values;
  return {
    name,
    url: url.trim(),
    // A tag or a commit is kept unless a branch is given.
    ...(values.branch !== "" || repository?.branch ? { branch: values.branch || null } : {}),
    auth,
    username: auth === "basic" ? values.username : null,
    ...(secret && { secret }),
    ...(ageIdentity && { ageIdentity }),
    status: statusOf(values),
    caCertificate: values.caCertificate.trim() || null,
    ...(values.pollMinutes !== undefined && { pollMinutes: values.pollMinutes }),
    signatures: signatures === "off" ? "off" as const : "required" as const,
    ...(signatures !== "off" && { signatureScope: signatures }),
    allowedSigners: values.allowedSigners,
    mapping: mappingOf(values.mapping, repository?.mapping ?? []),
  };
}
