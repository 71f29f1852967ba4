// A list and the watches that follow it. All ways in which a watch ends are distinguished here.
import type { IncomingMessage } from 'node:http';
import { createInterface } from 'node:readline';
import { Refusal, refusalOf, Unreached } from './faults.ts';
import type { KubeObject } from './kube.ts';
import type { Rest } from './rest.ts';

const PAGE = 500;
/** The API server ends a watch after this, so that connections move between its replicas. */
const WATCH_SECONDS = 300;

export interface Listed {
  objects: KubeObject[];
  version: string;
}

interface List {
  metadata: { resourceVersion?: string; continue?: string };
  items: Omit<KubeObject, 'apiVersion' | 'kind'>[] | null;
}

export interface Followed {
  apiVersion: string;
  kind: string;
  path: string;
  labelSelector: string | undefined;
  fieldSelector: string | undefined;
}

/** Lists in pages, consistent with one resource version. */
export async function listAll(rest: Rest, followed: Followed, signal: AbortSignal): Promise<Listed> {
  const { apiVersion, kind, path, labelSelector, fieldSelector } = followed;
  const objects: KubeObject[] = [];
  let page: List;
  let next: string | undefined;
  do {
    const query = { limit: PAGE, labelSelector, fieldSelector, continue: next };
    page = await rest.read<List>({ method: 'GET', path, query, signal });
    // Items of a list have no apiVersion and kind.
    for (const item of page.items ?? []) objects.push({ ...item, apiVersion, kind } as KubeObject);
    next = page.metadata.continue;
  } while (next);
  return { objects, version: page.metadata.resourceVersion ?? '' };
}

export interface WatchEvent {
  type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK';
  object: KubeObject;
}

export interface WatchFrom {
  version: string;
  /** After this time without data the connection is considered dead: a bookmark arrives about once a minute. */
  idleMs: number;
  signal: AbortSignal;
  /** The API server accepted the watch: it sends all events after the version. */
  opened?(): void;
}

/** Yields events until the API server ends the watch. Throws Refusal, also for an ERROR event with HTTP 200, or Unreached. */
export async function* watch(rest: Rest, followed: Followed, from: WatchFrom): AsyncGenerator<WatchEvent> {
  const seconds = Math.round(WATCH_SECONDS * (1 + Math.random()));
  const { path, labelSelector, fieldSelector } = followed;
  const query = {
    watch: 1,
    resourceVersion: from.version,
    allowWatchBookmarks: true,
    timeoutSeconds: seconds,
    labelSelector,
    fieldSelector,
  };
  const body = await rest.stream({ method: 'GET', path, query, signal: from.signal, idleMs: from.idleMs });
  from.opened?.();
  try {
    for await (const line of linesOf(body)) yield eventOf(line, path);
  } catch (error) {
    throw error instanceof Refusal ? error : new Unreached((error as Error).message, { cause: error });
  } finally {
    body.destroy();
  }
}

async function* linesOf(body: IncomingMessage): AsyncGenerator<string> {
  // readline does not forward errors of its input
  let fault: Error | undefined;
  const lines = createInterface({ input: body, crlfDelay: Number.POSITIVE_INFINITY });
  body.on('error', (error) => {
    fault = error;
    lines.close();
  });
  for await (const line of lines) if (line) yield line;
  if (fault) throw fault;
}

function eventOf(line: string, path: string): WatchEvent {
  const event = JSON.parse(line) as { type: string; object: KubeObject };
  if (event.type !== 'ERROR') return event as WatchEvent;
  const { code = 500, details } = event.object as { code?: number; details?: { retryAfterSeconds?: number } };
  const retryAfter = details?.retryAfterSeconds;
  const body = JSON.stringify(event.object);
  throw refusalOf(path, code, { body, ...(retryAfter && { retryAfter: String(retryAfter) }) });
}
