import type { Migration } from "../../migrate.ts";

// A series is named after its container, not after its id, which changes when the container is
// recreated. Rows of 15 s are samples; the others are rolled up from the next finer resolution. In
// a row of one sample minimum, mean and maximum are equal: only the mean is stored.
export const migration: Migration = {
  name: "0002_container_samples",
  sql: `
    CREATE TABLE container_series (
      id      INTEGER PRIMARY KEY,
      host_id TEXT NOT NULL,
      name    TEXT NOT NULL,
      last_ts INTEGER NOT NULL, -- Unix seconds of the last sample
      UNIQUE (host_id, name)
    ) STRICT;
    CREATE INDEX container_series_by_last ON container_series (last_ts);

    CREATE TABLE container_samples (
      series          INTEGER NOT NULL,
      resolution      INTEGER NOT NULL CHECK (resolution IN (15, 60, 900)), -- seconds
      ts              INTEGER NOT NULL CHECK (ts % resolution = 0), -- Unix seconds
      samples         INTEGER NOT NULL CHECK (samples > 0),
      cpu_percent_min REAL,
      cpu_percent     REAL NOT NULL, -- 100 is one core
      cpu_percent_max REAL,
      memory_min      INTEGER,
      memory          INTEGER NOT NULL, -- bytes
      memory_max      INTEGER,
      -- Bytes per second; NULL: measured for the first time in a run.
      network_rx_min  INTEGER,
      network_rx      INTEGER,
      network_rx_max  INTEGER,
      network_tx_min  INTEGER,
      network_tx      INTEGER,
      network_tx_max  INTEGER,
      block_read_min  INTEGER,
      block_read      INTEGER,
      block_read_max  INTEGER,
      block_write_min INTEGER,
      block_write     INTEGER,
      block_write_max INTEGER,
      PRIMARY KEY (series, resolution, ts)
    ) STRICT, WITHOUT ROWID;
  `,
};
