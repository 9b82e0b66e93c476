/** The dialog of a target. @module */

import { useSignal } from "@preact/signals";
import type { BackupTarget, EstablishedBackupTarget } from "../../api/types.ts";
import { fieldsOf, SelectField, TextField } from "../../components/fields.tsx";
import { EditDialog, type EditProps, saveItem } from "../../components/form.tsx";
import type { FormValues } from "../../components/form_values.ts";

type Kind = BackupTarget["kind"];

const KINDS = [
  { value: "directory", name: "Directory of this host" },
  { value: "s3", name: "S3 (Amazon, MinIO, Garage, …)" },
  { value: "rest", name: "REST server (rest-server, rclone, NAS)" },
];

const PLACES: Record<Kind, { label: string; placeholder: string; hint: string }> = {
  directory: {
    label: "Directory",
    placeholder: "/mnt/backups/longshore",
    hint: "Below DATA_DIR/snapshots or one of BACKUP_DIRS. Empty: DATA_DIR/snapshots",
  },
  s3: {
    label: "Address",
    placeholder: "https://s3.eu-central-1.amazonaws.com/bucket/path",
    hint: "Of the server, followed by the bucket and a path in it. The bucket must exist",
  },
  rest: {
    label: "Address",
    placeholder: "https://nas.example.com:8000/longshore",
    hint: "Of the repository",
  },
};

export function TargetForm(
  { item: target, ...dialog }: EditProps<BackupTarget, EstablishedBackupTarget>,
) {
  const kind = useSignal<Kind>(target?.kind ?? "directory");
  const { text, check } = fieldsOf(target);
  const { label, ...place } = PLACES[kind.value];
  const stored = target?.kind === kind.value ? target : undefined;
  return (
    <EditDialog
      noun="target"
      item={target}
      save={(values) => saveItem("/api/backup/targets", target, bodyOf(kind.value, values, target))}
      {...dialog}
      wide
    >
      <div class="field-row">
        {text("Name", "name", { required: true, maxLength: 100 })}
        <SelectField label="Kind" name="kind" options={KINDS} choice={kind} />
      </div>
      <TextField
        key={kind.value}
        label={label}
        name="location"
        value={stored?.location.replace(/^(s3|rest):/, "")}
        required={kind.value !== "directory"}
        maxLength={1_000}
        {...place}
      />
      <ServerFields key={`${kind.value} fields`} kind={kind.value} stored={stored} />
      <Secret
        label="Password of the repository"
        name="password"
        isStored={stored !== undefined}
        hint="For a repository that exists. Empty: one is made for a new repository"
      />
      {check("Default target", "default")}
    </EditDialog>
  );
}

/** The credentials of a server. */
function ServerFields({ kind, stored }: { kind: Kind; stored: BackupTarget | undefined }) {
  const { text, area } = fieldsOf(stored);
  if (kind === "directory") return null;
  return (
    <>
      <div class="field-row">
        {kind === "s3"
          ? text("Access key ID", "accessKeyId", {
            required: true,
            autocomplete: "off",
            maxLength: 200,
          })
          : text("User name", "username", {
            hint: "Empty: none",
            autocomplete: "off",
            maxLength: 255,
          })}
        {kind === "s3"
          ? <Secret label="Secret access key" name="secretAccessKey" isStored={!!stored} />
          : <Secret label="User's password" name="userPassword" isStored={!!stored?.username} />}
      </div>
      {kind === "s3" &&
        text("Region", "region", {
          hint: "Empty: us-east-1",
          placeholder: "eu-central-1",
          maxLength: 40,
        })}
      {area("Certificate authority", "caCertificate", {
        hint: "PEM. For a server whose certificate is not from a public authority",
        code: true,
      })}
    </>
  );
}

function Secret({ label, name, isStored, hint = "Stored encrypted" }: {
  label: string;
  name: string;
  isStored: boolean;
  hint?: string;
}) {
  return (
    <TextField
      label={label}
      name={name}
      type="password"
      hint={isStored ? "Stored encrypted; empty: keep the stored one" : hint}
      autocomplete="new-password"
      maxLength={1_000}
    />
  );
}

/** An empty secret keeps the stored one, or is none. */
function bodyOf(kind: Kind, values: FormValues, target: BackupTarget | undefined) {
  const { name, password, secretAccessKey, userPassword } = values;
  const location = values.location.trim();
  return {
    name,
    location: kind === "directory" || location.startsWith(`${kind}:`)
      ? location
      : `${kind}:${location}`,
    // The first target becomes the default by itself.
    ...(target || values.default) && { default: values.default },
    ...(password && { password }),
    accessKeyId: values.accessKeyId || null,
    ...(secretAccessKey && { secretAccessKey }),
    region: values.region || null,
    username: values.username || null,
    ...(userPassword && { userPassword }),
    caCertificate: values.caCertificate?.trim() || null,
  };
}
