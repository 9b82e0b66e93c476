/** Credentials of targets: which a location needs, and how they are stored. @module */

import type { StoredTarget } from "../../../db/backup_targets.ts";
import { AppError } from "../../errors.ts";
import { assertCertificates } from "../../outbound/certificates.ts";
import { openOrConflict, type Secrets } from "../../secrets/secrets.ts";
import type { Location } from "./location.ts";

/** Credentials for the server of a location, as in requests. */
export interface Credentials {
  accessKeyId: string | null;
  secretAccessKey: string | null;
  region: string | null;
  username: string | null;
  userPassword: string | null;
  /** PEM. */
  caCertificate: string | null;
}

/** Secrets of a target, which are stored encrypted. */
export interface TargetSecrets {
  /** Of the repository. */
  password: string;
  secretAccessKey: string | null;
  userPassword: string | null;
}

/** Fields that a kind of location may have. */
const FIELDS: Record<Location["kind"], readonly (keyof Credentials)[]> = {
  directory: [],
  s3: ["accessKeyId", "secretAccessKey", "region", "caCertificate"],
  rest: ["username", "userPassword", "caCertificate"],
};

/** @throws {AppError} `invalid` for missing fields, and for those of other kinds of locations. */
export function checkCredentials(location: Location, given: Credentials): Credentials {
  const problem = (field: keyof Credentials, text: string) =>
    new AppError("invalid", `body.${field}: ${text}`);
  const { accessKeyId, secretAccessKey, region, username, userPassword, caCertificate } = given;
  const credentials = {
    accessKeyId,
    secretAccessKey,
    region,
    username,
    userPassword,
    caCertificate,
  };
  for (const [field, value] of Object.entries(credentials)) {
    const name = field as keyof Credentials;
    if (value === null || FIELDS[location.kind].includes(name)) continue;
    throw problem(name, `is not for ${TITLES[location.kind]}; omit it`);
  }
  if (location.kind === "s3") {
    if (accessKeyId === null) throw problem("accessKeyId", "is required for an S3 target");
    if (secretAccessKey === null) throw problem("secretAccessKey", "is required for an S3 target");
  }
  if (userPassword !== null && username === null) {
    throw problem("username", "is required with userPassword");
  }
  if (username !== null && userPassword === null) {
    throw problem("userPassword", "is required with username");
  }
  if (caCertificate !== null) assertCertificates(caCertificate, "body.caCertificate");
  return credentials;
}

const TITLES: Record<Location["kind"], string> = {
  directory: "a directory",
  s3: "an S3 target",
  rest: "a REST target",
};

/** The location is part of the purpose, so that secrets cannot be moved to another one. */
const purposeOf = ({ id, location }: Pick<StoredTarget, "id" | "location">) =>
  `backup target ${id} ${location} secrets`;

export function sealSecrets(
  secrets: Secrets,
  target: Pick<StoredTarget, "id" | "location">,
  values: TargetSecrets,
): string {
  return secrets.seal(JSON.stringify(values), purposeOf(target));
}

/** @throws {AppError} `conflict` if they cannot be decrypted. */
export function openSecrets(
  secrets: Secrets,
  target: Pick<StoredTarget, "id" | "location" | "name" | "sealedSecrets">,
): TargetSecrets {
  return openOrConflict(
    () => JSON.parse(secrets.open(target.sealedSecrets, purposeOf(target))) as TargetSecrets,
    `delete the target ${target.name} and add it again with its password`,
  );
}
