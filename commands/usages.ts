/** The help texts of the commands, separate so that help does not load the commands. @module */

export const BACKUP = `longshore backup FILE [--force]

Writes both databases, the keys and the license to FILE, a tar archive that only its owner may read:
it contains the keys. The service may be running. An existing FILE is replaced only with --force.
While the command runs, DATA_DIR has copies of the databases. Secrets from the environment
(SECRET_KEY, JWT_SECRET, LICENSE_KEY, API_KEY) are not in the backup.`;

export const RESTORE = `longshore restore FILE
       longshore restore --from LOCATION [--host NAME] [--snapshot ID]

Replaces the databases, keys and license in DATA_DIR with those of a backup. The service must be
stopped. The whole file is checked first; if it is damaged or from a newer version, nothing is
changed. The replaced files are kept in DATA_DIR, in a directory named replaced-DATE. If the backup
has no license, the installed one stays.

With --from, it is the newest backup of Longshore in the repository of a backup target: a directory,
s3:https://host/bucket/path or rest:https://host/path. The password comes from RESTIC_PASSWORD, the
terminal or standard input; other secrets from AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and
AWS_DEFAULT_REGION, or RESTIC_REST_USERNAME and RESTIC_REST_PASSWORD.`;

export const BACKUP_VOLUMES = `longshore backup-volumes STACK [--target NAME] [--mode MODE]
       longshore backup-volumes --volume NAME ... [--target NAME] [--mode MODE]

Stores a snapshot of a stack's volumes, directories, sources and environment, or of volumes, in a
restic repository, and waits for it. Without --target, it goes to the default target; the first one
is created in DATA_DIR/snapshots. It is on this host: keep the password of its repository, which
\`longshore backup-key show\` prints, somewhere else.

--mode MODE             stop, pause, hooks or live: how containers are kept from writing meanwhile
--note TEXT             shown in lists of snapshots
--include-shared-users  stop containers of other stacks that use the same volumes, too
--with-images           store the images of the stack as well, for a host without their registry
--keep-stopped          leave the stack stopped after a success, to move it to another host
--json                  print the result as JSON

It uses the running service with the API token in LONGSHORE_TOKEN.`;

export const SNAPSHOTS = `longshore snapshots list [--stack NAME] [--target NAME] [--json]
       longshore snapshots restore ID [--volume NAME ...] [--as NAME] [--target NAME]
       longshore snapshots restore ID --replace [--volume NAME ...] [--target NAME]
       longshore snapshots restore ID --file PATH ... [--as NAME | --replace] [--target NAME]
       longshore snapshots restore ID --stack [--as NAME | --replace] [--target NAME]
       longshore snapshots drill STACK [--snapshot ID] [--target NAME] [--json]

Lists the snapshots of stacks and volumes at all targets, or restores volumes from one: into new
volumes, or with --replace into those of the same name: the containers that use them are stopped,
what is there is kept as a snapshot of its own, and it comes back if the containers fail afterwards.
Without --target, the snapshot is one at the default target.

With --file, only these files of a volume come back, e.g. /volumes/shop_data/config.json.

With --stack, the whole stack comes back: sources, images, networks, volumes and directories. Its
containers are started and judged; if they fail, nothing of a new stack stays, and a replaced one
returns.

drill tries out the restore of the stack's newest backup: its containers are started on new volumes
in a private network, judged, and everything is removed again. The stack itself is left alone.

It uses the running service with the API token in LONGSHORE_TOKEN.`;

export const BACKUP_KEY = `longshore backup-key show [--target NAME]

Prints the password of a backup target's repository to standard output, and the location of the
repository to standard error. Without --target, it is that of the default target. restic needs this
password to open the repository, and so does another installation. The service may be running.`;

export const SELF_UPDATE = `longshore self-update FILE [--key FILE] [--force]
                            [--executable FILE]

Verifies the executable FILE of a release and installs it in place of this one. SHA256SUMS and
SHA256SUMS.sig of the release must be in the same directory. The present executable is kept, with the
ending .previous. The service is not restarted.

--key FILE         trust this SSH public key (Ed25519), instead of the release keys of this build
--force            install a version that is not newer
--executable FILE  replace this executable instead

With the systemd unit of deploy/, the first start backs up the data. If the service does not get
ready in two starts, the third one runs the previous executable with the data of before the update.`;

export const USER = `longshore user add EMAIL [--role ROLE] [--generate]
       longshore user list
       longshore user passwd EMAIL [--generate]
       longshore user role EMAIL ROLE
       longshore user remove EMAIL
       longshore user login-link EMAIL
       longshore user mfa-reset EMAIL

ROLE is viewer (default), operator or admin. A password is read from the terminal, or from the
first line of standard input; with --generate one is created and printed once. A changed password
revokes all sessions of that user. The service may be running. A login link signs the user in
once, within 10 minutes, also where passwords are off. mfa-reset removes the authenticator app, the
passkeys and the recovery codes of a user who has lost them, and revokes the sessions.

Accounts are used in users mode. A server in key mode changes to it in its settings; accounts can be
created before.`;

export const SETUP = `longshore setup --email EMAIL [--name NAME] [--generate]
       longshore setup --key

Does what the setup in the browser does, on a host without one: creates the first account, which is
an admin, or the API key of a server without accounts. A password is read as for
\`longshore user add\`; with --generate one is created and printed once. The service must have been
started once, and may be running.`;

export const KEY = `longshore key new

Creates a new API key for key mode and prints it once. The former key ends, and its sessions are
revoked. A running service needs no restart. A key that is set by
API_KEY is changed there.`;

export const TOKEN = `longshore token create NAME [--role ROLE] [--user EMAIL]
                       [--permissions LIST] [--stacks LIST] [--containers LIST] [--hosts LIST]
                       [--host-labels LIST] [--days DAYS]
       longshore token list
       longshore token revoke NAME|ID

create prints a new API token to standard output, once. ROLE is viewer (default), operator or admin.
In users mode --user names the owner, whose rights the token never exceeds; it may be left out while
there is one account. The lists are separated by
commas and limit the token further; in names of stacks, containers and hosts of the fleet, * matches
any characters, and a label of hosts is KEY or KEY=VALUE:

  longshore token create CI --role operator --permissions containers:restart --stacks shop

Without --days it does not expire. A running service accepts a new token at once, and refuses a
revoked one within a second.`;

export const LICENSE = `longshore license show
       longshore license install FILE

install checks the license key in FILE (- is standard input) and stores it in DATA_DIR. A running
service applies it within ten seconds.`;

export const LOGS = `longshore logs [-n LINES] [--since TIME] [-t] NAME...
       longshore logs -f [-n LINES] [--since TIME] [-t] [--level LEVELS] [--search TEXT] NAME...
       longshore logs [-f] [OPTIONS] --stack NAME

Prints the last lines of containers, with -f also new ones. A lost connection is opened again, and
continues with the next line. With several containers each line begins with the container's name.

-n, --tail LINES  number of last lines of each container (default 100, with -f 200)
--since TIME      only lines from this time on: ISO 8601 or Unix seconds, with -f also 15m
-t, --timestamps  begin each line with its time
--level LEVELS    only lines with one of these levels, such as warn,error,fatal
--search TEXT     only lines that contain the text

LONGSHORE_TOKEN is an API token (longshore token create) with the permission containers:logs, and
stacks:read for --stack without -f; without it, API_KEY is used. The service is the one that runs on DATA_DIR, or that at LONGSHORE_URL.`;

export const STACK = `longshore stack validate FILE [--env-file FILE] [--profiles LIST] [--json]
       longshore stack plan FILE [--name NAME] [--remove-orphans]
       longshore stack deploy FILE [--name NAME] [--pull POLICY] [--recreate POLICY] [--remove-orphans]
                              [--data CHOICE] [--rehearse]
       longshore stack down FILE [--name NAME] [--volumes]

validate checks a Compose file, and prints each problem with its line and column. Needs no service and no
engine; with LONGSHORE_TOKEN the service says where it can deploy relative mounts, else STACK_ROOTS. The
exit status is 0 if the file can be deployed, and 1 if not.

-f, --file FILE  a further Compose file, which overrides those before it; may be repeated, and may replace
                 the argument FILE
--env-file FILE  variables of the file (default: .env in its directory)
--profiles LIST  active profiles, such as dev,debug; * for all
--json           print the normalised model

plan shows what a deploy would change. deploy stores the file, and those that it names, in the running
service, and deploys them; if that fails, it prints the last log lines and the last health check of each
container that failed, and the exit status is 1. down removes the containers and networks. They take
--file, --env-file and --profiles, too.

A stack with mounts of relative paths must be in a directory that the service may read, below one of
STACK_ROOTS (default /opt/stacks), and is deployed from there.

--name NAME        name of the stack (default: that in the file, or of its directory)
--pull POLICY      always, missing or never (default: pull_policy of each service, or missing)
--recreate POLICY  changed (default), always or never
--remove-orphans   also remove containers of services that are not in the file
--data CHOICE      undo: keep the data of the volumes before, and bring it back if the deploy fails; keep:
                   leave it as the new containers wrote it; by default as labels and settings say
--rehearse         try the new containers out on a copy of the data first
--volumes          also remove the volumes with all data

LONGSHORE_TOKEN is an API token (longshore token create) with the permissions stacks:read,
stacks:write and stack_sources:read; without it, API_KEY is used. The service is the one that runs on
DATA_DIR, or that at LONGSHORE_URL.

Variables of the shell are not used.`;

export const GIT = `longshore git add URL [OPTIONS] [--json]
       longshore git status [--json]

add lets the running service follow a Git repository: the Compose files of its newest commit become
versions of stacks. It fetches the repository at once, prints the stacks, and the address and the secret
of the webhook, which is not shown again. status shows all repositories with their stacks.

--name NAME      name of the repository (default: the end of URL)
--branch NAME    branch to follow (default: the default branch of the server)
--path PATH      Compose file, such as stacks/*/compose.yaml (default: none; attach stacks later)
--stack NAME     name of the stack; * for the text of * in --path (default: *)
--deploy MODE    manual (default), plan or auto
--username NAME  user name of a password; without it, the secret is a token
--secret         read a token or password from the terminal or standard input
--signers FILE   accept only commits that a key of this file has signed (allowed_signers of ssh-keygen)
--json           print the response of the API

Nothing is added if the repository cannot be fetched. The exit status is 1 if its commit is refused.

LONGSHORE_TOKEN is an API token (longshore token create) of the role admin with the permissions
git:read, git:write and, with --path, stacks:write; without it, API_KEY is used. The service is the one
that runs on DATA_DIR, or that at LONGSHORE_URL.`;

export const TAKEOVER =
  `longshore takeover [--stack NAME]... [--accept-recreate] [--dry-run] [--json]

Finds the stacks that other programs have deployed, with their Compose files on the host or in the
volumes of these programs, and stores their sources in the running service. No container is started,
stopped or recreated, and no file is written. Without --stack, all stacks are taken over whose files
a deploy would find unchanged. The exit status is 1 if a stack was refused.

-s, --stack NAME   only this stack; may be repeated
--accept-recreate  also a stack with --stack that the next deploy recreates
--dry-run          only show what was found
--json             print the response of GET /api/takeover, or the result of the takeover

LONGSHORE_TOKEN is an API token (longshore token create) of the role admin with the permissions
stacks:write and system:read; without it, API_KEY is used. The service is the one that runs on
DATA_DIR, or that at LONGSHORE_URL.`;

export const UPDATES = `longshore updates [--check] [--json]

Shows the images in use, whether their registries have newer ones, and the containers that use them,
as of the last check. With --check the registries are asked first. --json prints the response of
GET /api/updates.

LONGSHORE_TOKEN is an API token (longshore token create) with the permission containers:read, and for
--check containers:update and system:read; without it, API_KEY is used. The service is the one that
runs on DATA_DIR, or that at LONGSHORE_URL.`;

export const UPDATE =
  `longshore update NAME [--image IMAGE] [--pull WHEN] [--data CHOICE] [--rehearse]
       [--plan]

Pulls the image of a container and replaces the container. If the new one exits, restarts or does not
become healthy, the old one returns, the last log lines and the last health check of the new one are
printed, and the exit status is 1. An image that came from no registry is used as it is on the host.

--image IMAGE  another tag or digest; another repository needs the role admin or containers:rebuild
--pull WHEN    always, missing or never; by default always, except for images that came from no
               registry
--data CHOICE  undo: keep the data of its volumes before, and bring it back if the update fails; keep:
               leave it as the new version wrote it; by default as labels and settings say
--rehearse     try the new image out on a copy of the data first
--plan         only print what would happen

The service continues if this command is interrupted. LONGSHORE_TOKEN is an API token (longshore token
create) with the permissions containers:update and containers:read; without it, API_KEY is used. The
service is the one that runs on DATA_DIR, or that at LONGSHORE_URL.`;

export const IP_ALLOWLIST = `longshore ip-allowlist off

Stops enforcing the IP allowlist, for operators who locked themselves out. Then every address may use
the service; the rules are kept. A running service applies it to the next request.`;

export const COMPLIANCE = `longshore compliance verify [FILE] [--head HASH]

Verifies the compliance log of the data directory, whose service may be running, or of FILE: a copy
of state.sqlite (such as one from a backup) or an export as JSON, JSON Lines or CSV.
Nothing is written to FILE or next to it. The exit status is 0 when every entry is as it was written,
and 1 when it is not; the first entry that does not match is printed.

Anyone who can write to the file could write a complete new log, and an export can begin and end
anywhere. Keep the head hash that this command prints (also in GET /compliance/stats) elsewhere, and
pass it with --head: the log then has to end with that entry.`;

export const FLEET =
  `longshore fleet invite [--name NAME | --pattern PATTERN] [--label KEY=VALUE ...]
                       [--count N] [--expires 30m|12h|7d] [--accept] [--address URL] [--json]
       longshore fleet add TOKEN [--name NAME] [--label KEY=VALUE ...]
       longshore fleet add URL --token TOKEN [--name NAME] [--label KEY=VALUE ...]
       longshore fleet answer FILE [--label KEY=VALUE ...] [--address URL]
       longshore fleet list [--json]
       longshore fleet accept NAME
       longshore fleet status [--json]
       longshore fleet leave
       longshore fleet export --host NAME > FILE
       longshore fleet import FILE

invite prints one line for the shell of a new host, and one for a host without Longshore. --address is the address of this server as the
host can reach it; default: SERVICE_BASE_URL. With --count, several hosts may use the line; their
names must match --pattern, e.g. 'edge-*'. With --accept, no admin has to accept them.

add adds a host that waits for this server (\`longshore join --listen\`), which dials it from then on.
URL is the address of the host; default: the one in TOKEN. With http://, FLEET_INSECURE=on is needed,
and for this machine itself OUTBOUND_ALLOW.

answer adds the host of a request (\`longshore join --request\`) and writes FILE.answer for it: for hosts
without a network to this server yet.

list shows the hosts with their states, and accept accepts one that waits. status shows the membership of
this host in the fleet of another server: whether the link is open, since when, and why it is not; leave
ends it. The service may be running.

export writes what was left for a host that is away (GET /api/fleet/pending) to its standard output,
sealed for that host. import takes such a file on the host, whose service then runs each request once.`;

export const JOIN = `longshore join TOKEN [--yes] [--name NAME]
       longshore join --listen [--name NAME] [--address URL]
       longshore join --request FILE [--name NAME]
       longshore join --answer FILE [--yes]

Joins the fleet of the server that has made TOKEN with \`longshore fleet invite\`. Shows the address and
the fingerprint of that server, and asks unless --yes is given. --name is the name of this host in the
fleet; default: SERVER_NAME. The service may be running; otherwise it connects at its next start. A
host that is in the fleet of that server stays as it is.

With --listen, the server dials this host: prints one line for the shell of the server, which works once
within 30 minutes. --address is the address of this host as the server can reach it; default:
SERVICE_BASE_URL. Needs a running service. \`longshore fleet leave\` ends the waiting as well.

Without a network between the two, --request writes a file with the public keys of this host. Carry it
to the server, which answers it with \`longshore fleet answer\`, and use that file with --answer.`;
