/**
 * How the commands are called, apart from what they do: help does not load them.
 *
 * @module
 */

export const BACKUP_USAGE = `longshore backup FILE [--force]

Writes both databases, the keys and the license into FILE, a tar archive that only its owner may
read: whoever has it has the keys. The service may run meanwhile. An existing FILE is kept, unless
--force says otherwise. Copies of the databases are in DATA_DIR meanwhile. Secrets that the environment gives (SECRET_KEY, JWT_SECRET, LICENSE_KEY,
API_KEY) are not in it.`;

export const RESTORE_USAGE = `longshore restore FILE

Puts the databases, keys and license of a backup in the place of those in DATA_DIR. The service has
to be stopped. The file is checked in full first; where it is damaged or of a newer version, nothing
is changed. The replaced files are kept in DATA_DIR, in a directory named replaced-DATE. A license
that is installed stays where the backup holds none.`;

export const USER_USAGE = `longshore user add EMAIL [--role ROLE] [--generate]
       longshore user list
       longshore user passwd EMAIL [--generate]
       longshore user role EMAIL ROLE
       longshore user remove EMAIL

ROLE is viewer (unless given), operator or admin. A password is read from the terminal, or from the
first line of standard input; with --generate one is created and printed once. A changed password
revokes all sessions of that user. The service may run meanwhile.

The accounts count in users mode (AUTH_MODE=users); they can be prepared before it is turned on.`;

export const KEY_USAGE = `longshore key new

Creates a new API key for key mode (AUTH_MODE=key) and prints it once. The former key is no longer
accepted, and its sessions are revoked. The service may run meanwhile; it needs no restart. A key
that API_KEY sets is changed there.`;

export const LICENSE_USAGE = `longshore license show
       longshore license install FILE

install checks the license key in FILE (- is standard input) and keeps it in DATA_DIR. A running
service applies it within ten seconds.`;

export const IP_ALLOWLIST_USAGE = `longshore ip-allowlist off

Stops enforcing the IP allowlist, for those who locked themselves out. Every address may use the
service then; the rules are kept. The service may run meanwhile: it holds for the next request.`;

export const COMPLIANCE_USAGE = `longshore compliance verify [FILE] [--head HASH]

Verifies the compliance log: of the data directory, where the service may run meanwhile, or of FILE,
which is a copy of state.sqlite (such as one from a backup) or an export: JSON, JSON Lines or CSV.
Nothing is written to FILE or next to it. The exit status is 0 when every entry is as it was written,
and 1 when it is not; the first entry that does not match is printed.

Anyone who can write to the file could write a complete new log, and an export can begin and end
anywhere. Keep the head hash that this command prints (also in GET /compliance/stats) elsewhere, and
pass it with --head: the log then has to end with that entry.`;
