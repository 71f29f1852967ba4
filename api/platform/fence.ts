import pg from 'pg';
import { endAtOnce } from './leave.ts';
import type { Log } from './log.ts';

/**
 * A restore replaces this database by another. Each database has an epoch; a process belongs to the epoch of its first
 * connection, and every new connection checks it first. A connection of an older epoch, or one opened during the
 * exchange, is closed, so that processes of the old database never write to the new one.
 */
export interface Standing {
  epoch: number;
  closed: boolean;
  /** Progress of the restore, 0-1. */
  progress: number;
}

/** No connection is allowed: the database is being exchanged, or was exchanged since this process started. */
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

/** What a process does when its database was replaced: it exits, to be restarted on the new one. */
export function whenReplaced(end: () => void): void {
  replaced = end;
}

/** Exits at once, because nothing that it still does could be stored. Its supervisor restarts it. */
export function endReplaced(log: Log): never {
  log.warn('a restore replaced the database: this process exits, to be restarted on the new one');
  endAtOnce();
}

/** Progress of the restore that keeps the database closed, as far as this process knows; undefined without one. */
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

/** Checks each new connection. Throws Fenced; the caller then closes the connection. */
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

/** A connection that passed the check. */
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
