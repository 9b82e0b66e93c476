/**
 * The help texts of the commands, separate so that help does not load the commands.
 *
 * @module
 */

export const BACKUP_USAGE = `longshore backup FILE [--force]

Writes both databases, the keys and the license to FILE, a tar archive that only its owner may read:
it contains the keys. The service may be running. An existing FILE is replaced only with --force.
While the command runs, DATA_DIR has copies of the databases. Secrets from the environment
(SECRET_KEY, JWT_SECRET, LICENSE_KEY, API_KEY) are not in the backup.`;

export const RESTORE_USAGE = `longshore restore FILE

Replaces the databases, keys and license in DATA_DIR with those of a backup. The service must be
stopped. The whole file is checked first; if it is damaged or from a newer version, nothing is
changed. The replaced files are kept in DATA_DIR, in a directory named replaced-DATE. If the backup
has no license, the installed one stays.`;

export const USER_USAGE = `longshore user add EMAIL [--role ROLE] [--generate]
       longshore user list
       longshore user passwd EMAIL [--generate]
       longshore user role EMAIL ROLE
       longshore user remove EMAIL

ROLE is viewer (default), operator or admin. A password is read from the terminal, or from the
first line of standard input; with --generate one is created and printed once. A changed password
revokes all sessions of that user. The service may be running.

Accounts are used in users mode (AUTH_MODE=users); they can be created before it is turned on.`;

export const KEY_USAGE = `longshore key new

Creates a new API key for key mode (AUTH_MODE=key) and prints it once. The former key is no longer
accepted, and its sessions are revoked. A running service needs no restart. A key that is set by
API_KEY is changed there.`;

export const LICENSE_USAGE = `longshore license show
       longshore license install FILE

install checks the license key in FILE (- is standard input) and stores it in DATA_DIR. A running
service applies it within ten seconds.`;

export const IP_ALLOWLIST_USAGE = `longshore ip-allowlist off

Stops enforcing the IP allowlist, for operators who locked themselves out. Then every address may use
the service; the rules are kept. A running service applies it to the next request.`;

export const COMPLIANCE_USAGE = `longshore compliance verify [FILE] [--head HASH]

Verifies the compliance log of the data directory, whose service may be running, or of FILE: a copy
of state.sqlite (such as one from a backup) or an export as JSON, JSON Lines or CSV.
Nothing is written to FILE or next to it. The exit status is 0 when every entry is as it was written,
and 1 when it is not; the first entry that does not match is printed.

Anyone who can write to the file could write a complete new log, and an export can begin and end
anywhere. Keep the head hash that this command prints (also in GET /compliance/stats) elsewhere, and
pass it with --head: the log then has to end with that entry.`;
