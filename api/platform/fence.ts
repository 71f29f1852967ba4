import pg from 'pg';
import { endAtOnce } from './leave.ts';
import type { Log } from './log.ts';

/**
 * A restore puts another database in the place of this one. Each database has an epoch; a process belongs to the epoch that its
 * first connection met, and every connection asks before anything else is said on it. One of an older epoch, or while the
 * database is being exchanged, is closed again, so that nothing of the old days is written into what came in its place.
 */
export interface Standing {
  epoch: number;
  closed: boolean;
  /** 0-1, of the restore. */
  progress: number;
}

/** No connection is to be had: the database is being exchanged, or was since this process began. */
export class Fenced extends Error {
  readonly progress: number;
  constructor(progress: number) {
    super('a restore has the database');
    this.progress = progress;
  }
}

const STANDING = 'select number as epoch, closed, progress from foyer_restore.epoch';
const NOT_THERE = new Set(['42P01', '3F000']); // before the first migration there is nothing to exchange

interface Place {
  epoch?: number;
  closedAt?: number;
}

const places = new Map<string, Place>();
let replaced: () => void = () => undefined;

/** What a process does whose database was replaced: to end, so that it is started anew on the new one. */
export function whenReplaced(end: () => void): void {
  replaced = end;
}

/** At once: nothing that it still does could be kept. Who started it starts it anew. */
export function endReplaced(log: Log): never {
  log.warn('the database is replaced by a restore: this process ends, to begin anew on the new one');
  endAtOnce();
}

/** How far the restore is that keeps the database closed, as far as this process heard; undefined while none does. */
export function restoring(databaseUrl: string): number | undefined {
  const { hostname, port, pathname } = new URL(databaseUrl);
  return places.get(nameOf(hostname, port || '5432', decodeURIComponent(pathname.slice(1))))?.closedAt;
}

const nameOf = (host: string, port: string | number, database: string | undefined): string =>
  `${host.replace(/^\[|\]$/g, '')}:${port}/${database}`;

export async function standingOf(client: Pick<pg.Client, 'query'>): Promise<Standing> {
  try {
    const { rows } = await client.query<Standing>(STANDING);
    return rows[0] ?? { epoch: 0, closed: false, progress: 0 };
  } catch (error) {
    if (NOT_THERE.has((error as { code?: string }).code ?? '')) return { epoch: 0, closed: false, progress: 0 };
    throw error;
  }
}

/** To be asked on each new connection. Throws Fenced; the caller closes the connection then. */
export async function pass(client: pg.Client): Promise<void> {
  const { epoch, closed, progress } = await standingOf(client);
  const name = nameOf(client.host, client.port, client.database);
  const place: Place = places.get(name) ?? {};
  places.set(name, place);
  delete place.closedAt;
  if (closed) place.closedAt = progress;
  const isOld = place.epoch !== undefined && place.epoch !== epoch;
  if (isOld) replaced();
  if (closed || isOld) throw new Fenced(progress);
  place.epoch = epoch;
}

/** A connection that passed, or none. */
export class FencedClient extends pg.Client {
  override connect(): Promise<this>;
  override connect(done: (error: Error) => void): void;
  override connect(done?: (error: Error) => void): Promise<this> | void {
    const connected = this.#pass();
    if (!done) return connected;
    connected.then(() => (done as () => void)(), done);
  }

  async #pass(): Promise<this> {
    await super.connect();
    try {
      await pass(this);
    } catch (error) {
      await this.end().catch(() => undefined);
      throw error;
    }
    return this;
  }
}
