import type { Migration } from "../../migrate.ts";

// One row describes the host over the `resolution` seconds that start at `ts`. Rows of 15 s are
// samples; the others are rolled up from the next finer resolution. A history query reads one range
// of the primary key, whatever its resolution. In a row of one sample minimum, mean and maximum are
// equal: only the mean is stored. Averages of averages need weights: `samples`, and for the
// containers `engine_samples`, which excludes samples taken while the engine was unreachable.
export const migration: Migration = {
  name: "0001_host_samples",
  sql: `
    CREATE TABLE metric_samples (
      host_id                TEXT NOT NULL,
      resolution             INTEGER NOT NULL CHECK (resolution IN (15, 60, 900)), -- seconds
      ts                     INTEGER NOT NULL CHECK (ts % resolution = 0), -- Unix seconds
      samples                INTEGER NOT NULL CHECK (samples > 0),
      engine_samples         INTEGER NOT NULL CHECK (engine_samples BETWEEN 0 AND samples),
      cpu_percent_min        REAL,
      cpu_percent            REAL NOT NULL,
      cpu_percent_max        REAL,
      memory_percent_min     REAL,
      memory_percent         REAL NOT NULL,
      memory_percent_max     REAL,
      disk_percent_min       REAL,
      disk_percent           REAL NOT NULL,
      disk_percent_max       REAL,
      load_1_min             REAL,
      load_1                 REAL NOT NULL,
      load_1_max             REAL,
      containers_running_min REAL,
      containers_running     REAL, -- NULL: the engine was unreachable
      containers_running_max REAL,
      containers_total_min   REAL,
      containers_total       REAL,
      containers_total_max   REAL,
      PRIMARY KEY (host_id, resolution, ts)
    ) STRICT, WITHOUT ROWID;
  `,
};
