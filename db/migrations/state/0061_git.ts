import type { Migration } from "../../migrate.ts";

// A stack outlives its repository here: the sources that were fetched stay with it.
export const migration: Migration = {
  name: "0061_git",
  sql: `
    CREATE TABLE git_repositories (
      id                TEXT PRIMARY KEY,
      name              TEXT NOT NULL UNIQUE,
      url               TEXT NOT NULL,
      ref_kind          TEXT NOT NULL CHECK (ref_kind IN ('head', 'branch', 'tag', 'commit')),
      ref_name          TEXT NOT NULL,
      auth              TEXT NOT NULL CHECK (auth IN ('none', 'token', 'basic')),
      username          TEXT,
      ca_certificate    TEXT, -- PEM
      sealed_secrets    TEXT NOT NULL, -- encrypted JSON
      poll_minutes      INTEGER NOT NULL, -- 0: off
      signatures        TEXT NOT NULL CHECK (signatures IN ('off', 'required')),
      signature_scope   TEXT NOT NULL CHECK (signature_scope IN ('range', 'head')),
      allowed_signers   TEXT NOT NULL,
      mapping           TEXT NOT NULL, -- JSON
      hook_token        TEXT NOT NULL UNIQUE,
      head              TEXT, -- JSON; the last accepted commit
      refused           TEXT, -- JSON; the last refused commit
      problems          TEXT NOT NULL DEFAULT '[]', -- JSON; of the mapping
      checked_at        TEXT, -- ISO 8601, UTC
      fetched_at        TEXT,
      error             TEXT,
      created_at        TEXT NOT NULL,
      updated_at        TEXT NOT NULL
    ) STRICT;

    CREATE TABLE git_stacks (
      stack             TEXT PRIMARY KEY,
      repository_id     TEXT NOT NULL,
      path              TEXT NOT NULL,
      deploy            TEXT NOT NULL CHECK (deploy IN ('manual', 'plan', 'auto')),
      directory         TEXT,
      profiles          TEXT, -- JSON
      sealed_env        TEXT, -- encrypted
      is_mapped         INTEGER NOT NULL CHECK (is_mapped IN (0, 1)),
      version           INTEGER, -- the last one made of a commit
      commit_id         TEXT,
      behind            INTEGER, -- commits since the deployed one
      is_rewritten      INTEGER NOT NULL DEFAULT 0 CHECK (is_rewritten IN (0, 1)),
      is_orphaned       INTEGER NOT NULL DEFAULT 0 CHECK (is_orphaned IN (0, 1)),
      problem           TEXT,
      deployed_version  INTEGER,
      deployed_commit   TEXT,
      failed_version    INTEGER,
      planned_version   INTEGER,
      seen_job          TEXT -- the last deploy whose end is recorded here
    ) STRICT;
    CREATE INDEX git_stacks_by_repository ON git_stacks (repository_id);
  `,
};
