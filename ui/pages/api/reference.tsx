/** The API: every operation, to read and to try. It opens without a session, too. @module */

import { useSignal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import type { ApiError } from "../../api/client.ts";
import { Page } from "../../components/page.tsx";
import { SearchField, searchFilter, Summary, useSearch } from "../../components/search.tsx";
import { Badge, Failure, Loading, NoMatch } from "../../components/states.tsx";
import { addStyles } from "../../components/styles.ts";
import { href, query } from "../../state/router.ts";
import { AccountButton, AccountNote } from "./account.tsx";
import { type ApiDocument, type Group, type Operation, readDocument } from "./document.ts";
import { Groups } from "./groups.tsx";
import { OperationRow } from "./operation.tsx";
import { schemaWriter } from "./schema.ts";
import styles from "./reference.css" with { type: "text" };
import { Paragraphs } from "./text.tsx";

addStyles(styles);

export default function ApiDocs() {
  const document = useSignal<ApiDocument | undefined>(undefined);
  const error = useSignal<ApiError | undefined>(undefined);
  const round = useSignal(0);
  useEffect(() => {
    const end = new AbortController();
    error.value = undefined;
    readDocument(end.signal).then((read) => document.value = read).catch((problem) => {
      if (!end.signal.aborted) error.value = problem;
    });
    return () => end.abort();
  }, [round.value]);
  return (
    <Page
      title="API"
      lead={document.value && <Badge>{document.value.version}</Badge>}
      actions={<AccountButton />}
    >
      {error.value
        ? <Failure error={error.value} onRetry={() => round.value++} />
        : document.value
        ? <Reference document={document.value} />
        : <Loading name="API document" />}
    </Page>
  );
}

const wordsOf = ({ words }: Operation) => words;

function Reference({ document: { description, groups, resolve } }: { document: ApiDocument }) {
  const writer = useMemo(() => schemaWriter(resolve), [resolve]);
  const all = useMemo(() => groups.flatMap(({ operations }) => operations), [groups]);
  const found = new Set(useSearch(all, wordsOf));
  const shown = groups.filter(({ operations }) => operations.some((each) => found.has(each)));
  const filter = searchFilter("operations");
  useLinkedOperation();
  return (
    <div class="api">
      <Groups groups={shown} />
      <div class="api-content">
        <div class="filters" role="search" aria-label="Filters">
          <SearchField name="Filter operations" placeholder="E.g. containers or post alerts" />
          <Summary shown={found.size} total={all.length} noun="operation" />
        </div>
        {!query.value.get("q") && (
          <div class="api-intro">
            <Paragraphs text={description} />
            <p>
              OpenAPI document: <a href={href("/openapi.json")}>/openapi.json</a>
            </p>
            <AccountNote />
          </div>
        )}
        {filter && found.size === 0 && <NoMatch {...filter} />}
        {groups.map((group) => (
          <section key={group.id} id={group.id} hidden={!shown.includes(group)}>
            <GroupHead group={group} />
            <div class="operations">
              {group.operations.map((operation) => (
                <OperationRow
                  key={operation.id}
                  operation={operation}
                  hidden={!found.has(operation)}
                  resolve={resolve}
                  writer={writer}
                />
              ))}
            </div>
          </section>
        ))}
      </div>
    </div>
  );
}

const GroupHead = ({ group: { name, edition, description } }: { group: Group }) => (
  <header>
    <h2>{name}</h2>
    {edition && <Badge>{edition}</Badge>}
    <p class="muted">{description}</p>
  </header>
);

/** Opens the operation that the address names, e.g. `#stopContainer`. */
function useLinkedOperation(): void {
  useEffect(() => {
    const openLinked = () => {
      const target = document.getElementById(location.hash.slice(1));
      if (!(target instanceof HTMLDetailsElement)) return target?.scrollIntoView();
      target.open = true;
      target.querySelector("summary")!.scrollIntoView();
    };
    openLinked();
    addEventListener("hashchange", openLinked);
    return () => removeEventListener("hashchange", openLinked);
  }, []);
}
