import {
  type Due,
  endRefresh,
  findMatches,
  type MatchRow,
  makeStaleDue,
  nextRefresh,
  type RefreshOptions,
  takeDue,
  withChildren,
} from '#areas/editing/public.ts';
import { type RefreshedItem, refreshedItems } from '#areas/libraries/public.ts';
import { personAgents } from '#areas/people/public.ts';
import { describingIds } from '#platform/agents/agent.ts';
import { trimAnswers } from '#platform/agents/answers.store.ts';
import { Catalogues } from '#platform/agents/catalogues.ts';
import { SharedAnswers } from '#platform/agents/shared-answers.ts';
import type { JobPayload } from '#platform/jobs.ts';
import { rowsOf } from '#platform/rows.ts';
import { queuePeople } from '../people/queue.ts';
import { Postponed, type Work } from '../work.ts';
import { agentsFor, gather } from './gather.ts';
import { probeFiles } from './probe.ts';
import { queueDue } from './queue.ts';
import { type Refresh, writeRefreshes } from './write.ts';

const AT_ONCE = 4;
/** Items that a worker takes for a while, and writes at once unless that takes longer. */
const TAKEN = 24;
const WRITE_AFTER_MS = 1000;
const CHECKPOINT = 200;
const MOST_STALE = 5000;
const MOST_EVENTS = 100;

/** `catalogues` is for tests. */
export function createRefresh(catalogues?: (work: Work) => Catalogues) {
  return async (payload: JobPayload<'metadata.refresh'>, work: Work): Promise<object> => {
    const refreshing = new Refreshing(work, catalogues?.(work) ?? new Catalogues(work));
    try {
      if (payload.itemId !== undefined) return await refreshing.item(payload.itemId, payload);
      if (payload.libraryId === undefined) {
        await trimAnswers(work.db);
        await makeStaleDue(work.db, MOST_STALE);
      }
      return await refreshing.due(payload.libraryId);
    } finally {
      if (refreshing.any && personAgents().length > 0) await queuePeople(work, work.db);
    }
  };
}

/** Whether an error comes from the values of one item: data exceptions and constraints of SQL, or unforeseen shapes. */
function isOfValues(error: unknown): boolean {
  if (error instanceof TypeError || error instanceof RangeError) return true;
  const { code } = error as { code?: unknown };
  return typeof code === 'string' && /^2[23]/.test(code);
}

/** Whether sources may describe the item, and any of them can. */
function isOpen(item: RefreshedItem, match: MatchRow | undefined, options: RefreshOptions): boolean {
  if (item.closed) return false;
  if (match?.state === 'local-only' && !options.identify) return false;
  return agentsFor(item, options).length > 0 || options.mode !== undefined;
}

/** Rows of items that are refreshed together. */
interface Read {
  items: ReadonlyMap<string, RefreshedItem>;
  matches: ReadonlyMap<string, MatchRow>;
  answers: SharedAnswers;
}

class Refreshing {
  readonly #work: Work;
  readonly #catalogues: Catalogues;
  #emitted = 0;
  #refreshed = 0;
  #failed = new Set<string>();

  constructor(work: Work, catalogues: Catalogues) {
    this.#work = work;
    this.#catalogues = catalogues;
  }

  /** Whether it refreshed an item. */
  get any(): boolean {
    return this.#refreshed > 0;
  }

  /** One item, perhaps with everything in it, containers first. Continues behind its checkpoint. */
  async item(id: string, { children, options = {} }: JobPayload<'metadata.refresh'>): Promise<object> {
    const { db } = this.#work;
    const all = children === false ? [id] : await withChildren(db, [id]);
    const from = (this.#work.checkpoint as { done: number } | null)?.done ?? 0;
    for (let at = from; at < all.length; at += CHECKPOINT) {
      const page = await this.#dueOf(all.slice(at, at + CHECKPOINT), options as RefreshOptions);
      await this.#all(page);
      const done = Math.min(all.length, at + CHECKPOINT);
      await this.#work.keep(db, { done }, { done, total: all.length, unit: 'items' });
    }
    await this.#queueRest(id);
    return this.#result();
  }

  /** Every item that is due. Throws `Postponed` while agents failed for some. */
  async due(libraryId: string | undefined): Promise<object> {
    const { db, signal } = this.#work;
    for (;;) {
      signal.throwIfAborted();
      const taken = await takeDue(db, libraryId, TAKEN);
      if (taken.length === 0) break;
      await this.#all(taken);
      await this.#work.report(db, { done: this.#refreshed, unit: 'items' });
    }
    const next = await nextRefresh(db, libraryId);
    if (next && !(await this.#isQueued(libraryId)))
      throw new Postponed(new Date(Math.max(next.getTime(), Date.now() + 1000)));
    return this.#result();
  }

  /** Has the items refreshed later for which agents failed, and those in a container that got another identity. */
  async #queueRest(itemId: string): Promise<void> {
    const { db } = this.#work;
    const row = await db('items').where({ id: itemId }).first('library_id');
    const next = row && (await nextRefresh(db, row.library_id));
    if (next && !(await this.#isQueued(row.library_id)))
      await queueDue(this.#work, db, { libraryId: row.library_id, runAt: next });
  }

  /** Whether another job will refresh the items that are due later. */
  async #isQueued(libraryId: string | undefined): Promise<boolean> {
    const rows = await rowsOf(
      this.#work.db,
      `select from jobs where kind = 'metadata.refresh' and state in ('waiting', 'delayed') and id <> ?
         and payload ->> 'itemId' is null and (payload ->> 'libraryId')::uuid is not distinct from ? limit 1`,
      [this.#work.jobId, libraryId ?? null],
    );
    return rows.length > 0;
  }

  #result(): object {
    return { refreshed: this.#refreshed, failed: [...this.#failed] };
  }

  async #dueOf(ids: readonly string[], options: RefreshOptions): Promise<Due[]> {
    return rowsOf(
      this.#work.db,
      `select i.id as item_id, i.library_id, ?::jsonb as options, 0 as tries, coalesce(m.generation, 1) as generation,
         (i.parent_id is not null)::int + (i.grandparent_id is not null)::int as depth
       from items i left join item_matches m on m.item_id = i.id where i.id = any(?::uuid[])`,
      [JSON.stringify(options), ids],
    );
  }

  /** Containers first, whose new identities their children need. */
  async #all(all: readonly Due[]): Promise<void> {
    const levels = Map.groupBy(all, ({ depth }) => depth);
    for (const depth of [...levels.keys()].sort((a, b) => a - b)) {
      const level = levels.get(depth) ?? [];
      for (let at = 0; at < level.length; at += TAKEN) await this.#some(level.slice(at, at + TAKEN));
    }
  }

  /** Gathers of a few items at once, and writes the gathered ones together: all of them, or those of a second. */
  async #some(some: readonly Due[]): Promise<void> {
    const read = await this.#read(some);
    const left = [...some];
    let gathered: Refresh[] = [];
    let since = Date.now();
    const written = async (): Promise<void> => {
      const ready = gathered;
      gathered = [];
      since = Date.now();
      await this.#write(ready);
    };
    const one = async (): Promise<void> => {
      for (let due = left.shift(); due; due = left.shift()) {
        this.#work.signal.throwIfAborted();
        const current = due;
        const refresh = await this.#one(current, read).catch((error: unknown) => this.#putOff(current, error));
        if (refresh) gathered.push(refresh);
        if (Date.now() - since > WRITE_AFTER_MS) await written();
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, one));
    await written();
  }

  async #read(some: readonly Due[]): Promise<Read> {
    const ids = some.map((due) => due.item_id);
    const items = await refreshedItems(this.#work, ids);
    const matches = await findMatches(this.#work.db, ids);
    return { items, matches, answers: new SharedAnswers() };
  }

  /** Writes refreshes together; one by one when values of one of them are refused. */
  async #write(refreshes: readonly Refresh[]): Promise<void> {
    const [first] = refreshes;
    if (!first) return;
    try {
      this.#emitted += await writeRefreshes(this.#work, refreshes, Math.max(0, MOST_EVENTS - this.#emitted));
      this.#refreshed += refreshes.length;
    } catch (error) {
      if (refreshes.length === 1) await this.#putOff(first.due, error);
      else if (isOfValues(error)) for (const one of refreshes) await this.#write([one]);
      else throw error;
    }
  }

  /** Values that Postgres or a parser refuses delay their item, and no other. */
  async #putOff(due: Due, error: unknown): Promise<undefined> {
    if (!isOfValues(error)) throw error;
    const { db, log } = this.#work;
    log.error({ err: error, itemId: due.item_id }, 'what agents gave of an item cannot be stored');
    const agents = due.options.agents ?? describingIds;
    for (const agent of agents) this.#failed.add(agent);
    await endRefresh(db, due, agents);
  }

  /** Undefined for an item that nothing may describe. */
  async #one({ ...due }: Due, { items, matches, answers }: Read): Promise<Refresh | undefined> {
    const { db, signal } = this.#work;
    const item = items.get(due.item_id);
    const match = matches.get(due.item_id);
    if (item && due.options.probe) await probeFiles(this.#work, item.id);
    if (!item || !isOpen(item, match, due.options)) {
      await endRefresh(db, due, []);
      return undefined;
    }
    if (item.allLocked) due.options = { ...due.options, artwork: 'none' };
    const ids = due.options.identify ? await this.#localIds(item, match) : item.wanted.ids;
    const sources = { db, catalogues: this.#catalogues, signal, answers };
    const gathered = await gather(sources, item, { ids, options: due.options });
    for (const agent of gathered.failed) this.#failed.add(agent);
    return { item, due, gathered };
  }

  /** The ids that files name, without those of agents; an identity that a person chose or locked stays. */
  async #localIds(item: RefreshedItem, match: MatchRow | undefined): Promise<Record<string, string>> {
    const isChosen = match?.state === 'matched' && match.matched_by === 'person';
    if (item.byContainer || isChosen || item.idsLocked) return { ...item.wanted.ids };
    const rows = await rowsOf<{ ids: Record<string, string> | null }>(
      this.#work.db,
      `select fields -> 'externalIds' as ids from item_layers where item_id = ? and source in ('nfo', 'embedded', 'file-name')`,
      [item.id],
    );
    return Object.assign({}, ...rows.map(({ ids }) => ids));
  }
}
