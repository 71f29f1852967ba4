// What may wait until a page has its first content: on a slow line it would take the place of that.
import type { QueryClient } from '@tanstack/query-core';

/** Time without a request under way after which the page has what it first needed. */
const QUIET_MS = 150;
/** The latest time, for a page that never stops requesting. */
const LATEST_MS = 3000;

/** Calls `run` once, when no query has been under way for a moment; the result takes it back. */
export function whenCalm(client: QueryClient, run: () => void): () => void {
  let quiet: ReturnType<typeof setTimeout> | undefined;
  const stops: (() => void)[] = [];
  function stop(): void {
    clearTimeout(quiet);
    clearTimeout(latest);
    for (const end of stops) end();
  }
  function go(): void {
    stop();
    run();
  }
  function look(): void {
    clearTimeout(quiet);
    if (client.isFetching() === 0) quiet = setTimeout(go, QUIET_MS);
  }
  const latest = setTimeout(go, LATEST_MS);
  stops.push(client.getQueryCache().subscribe(look));
  look();
  return stop;
}
