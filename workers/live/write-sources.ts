// Writes sources and channels of a scan, in batches.
import {
  type ChannelItem,
  changeChannelItems,
  deleteChannelItems,
  emitChannels,
  insertChannelItems,
} from '#areas/libraries/public.ts';
import {
  type ChannelRow,
  deriveFromSources,
  Numbers,
  numberAt,
  numberOrder,
  sealStream,
  streamOf,
  type TunerRow,
  takenNumbers,
  tidyNumber,
  wholeOf,
  withoutSources,
} from '#areas/live-tv/public.ts';
import type { Db } from '#platform/db.ts';
import { newId } from '#platform/ids.ts';
import type { Keys } from '#platform/keys.ts';
import { rowsOf } from '#platform/rows.ts';
import type { Work } from '../work.ts';
import type { Entry } from './entries.ts';
import type { KnownSource, Matched } from './match.ts';

const BATCH = 1000;
/** More entries come in disabled: a person chooses those to watch. */
const MOST_ENABLED = 500;
const MOST_NAME = 100;
/** A source that so many scans in a row did not find is pruned. */
const PRUNED_AFTER = 3;

export interface Known extends KnownSource {
  channel_id: string;
  address: string;
  position: number;
}

interface Placed extends Matched<Known> {
  number: string;
}

type ChannelChange = Pick<ChannelRow, 'id' | 'number' | 'number_order' | 'name' | 'kind' | 'group_name' | 'age_rating'>;

/** The rows of one tuner. */
export class SourceWriter {
  added = 0;
  readonly #tuner: TunerRow;
  readonly #keys: Keys;
  readonly #work: Work;
  readonly #new: string[] = [];
  readonly #changed = new Set<string>();

  constructor(tuner: TunerRow, keys: Keys, work: Work) {
    this.#tuner = tuner;
    this.#keys = keys;
    this.#work = work;
  }

  async known(): Promise<Known[]> {
    return this.#work
      .db('live_sources')
      .where({ tuner_id: this.#tuner.id })
      .select('id', 'remote_key', 'channel_id', 'address', 'position');
  }

  /** Each batch is a transaction of its own: an interrupted scan resumes, because it finds the rows. */
  async writeAll(chosen: readonly Matched<Known>[]): Promise<void> {
    const { db, signal } = this.#work;
    const enabled = chosen.length <= MOST_ENABLED;
    const placed = chosen.map((one, index) => ({ ...one, number: this.#numberOf(one.entry, index) }));
    for (let at = 0; at < placed.length; at += BATCH) {
      signal.throwIfAborted();
      const batch = placed.slice(at, at + BATCH);
      await db.transaction(async (tx) => {
        await tx.raw('select id from libraries where id = ? for no key update', [this.#tuner.library_id]);
        const numbers = new Numbers(await takenNumbers(tx, this.#tuner.library_id));
        await this.#update(tx, batch, numbers);
        await this.#insert(tx, { batch, numbers, enabled });
      });
      await this.#work.report(db, { done: at + batch.length, total: placed.length, unit: 'items' });
    }
  }

  #numberOf({ number }: Entry, index: number): string {
    return (this.#tuner.numbering === 'source' && tidyNumber(number)) || numberAt(index);
  }

  async #insert(
    tx: Db,
    { batch, numbers, enabled }: { batch: readonly Placed[]; numbers: Numbers; enabled: boolean },
  ): Promise<void> {
    const fresh = batch.filter(({ source }) => source === undefined);
    if (fresh.length === 0) return;
    const channels = fresh.map(({ entry, number }) => {
      const own = enabled && !entry.drm ? numbers.takeOr(number) : undefined;
      return { ...this.#channelOf(entry, own ?? number), id: newId(), enabled: own !== undefined };
    });
    await insertChannelItems(tx, this.#tuner.library_id, channels.map(itemOf));
    await tx('live_channels').insert(channels.map((one) => ({ ...one, library_id: this.#tuner.library_id })));
    const sources = fresh.map((one, i) => this.#sourceOf(one, { id: newId(), channelId: channels[i]?.id ?? '' }));
    await tx('live_sources').insert(sources);
    this.added += fresh.length;
    this.#new.push(...channels.map(({ id }) => id));
  }

  #channelOf(entry: Entry, number: string): Omit<ChannelChange, 'id'> & { hd: boolean; drm: boolean } {
    return {
      ...{ number, number_order: numberOrder(number), name: clean(entry.name, MOST_NAME), age_rating: null },
      ...{ kind: entry.radio ? ('radio' as const) : ('tv' as const), group_name: cut(entry.group, 200) },
      ...{ hd: entry.quality === 'hd' || entry.quality === 'uhd', drm: entry.drm },
    };
  }

  #sourceOf({ entry, key, source }: Matched<Known>, { id, channelId }: { id: string; channelId: string }) {
    const kept = source && streamOf(this.#keys, source) === entry.url ? source.address : undefined;
    return {
      ...{ id, channel_id: channelId, tuner_id: this.#tuner.id, remote_key: key },
      remote_number: clean(entry.number ?? '', 100),
      remote_name: clean(entry.name, 500),
      ...{ remote_group: cut(entry.group, 500), tvg_id: cut(entry.guideId, 500), logo_url: cut(entry.logo, 2048) },
      address: kept ?? sealStream(this.#keys, id, entry.url),
      quality: entry.quality ?? null,
      drm: entry.drm,
    };
  }

  async #update(tx: Db, batch: readonly Placed[], numbers: Numbers): Promise<void> {
    const old = batch.flatMap((one) => (one.source ? [{ ...one, source: one.source }] : []));
    if (old.length === 0) return;
    const rows = old.map((one) => this.#sourceOf(one, { id: one.source.id, channelId: one.source.channel_id }));
    await tx.raw(
      `update live_sources s set remote_key = r.remote_key, remote_number = r.remote_number, remote_name = r.remote_name,
         remote_group = r.remote_group, tvg_id = r.tvg_id, logo_url = r.logo_url, address = r.address, quality = r.quality,
         drm = r.drm, missed_scans = 0
       from jsonb_to_recordset(?::jsonb) as r(id uuid, remote_key text, remote_number text, remote_name text, remote_group text,
         tvg_id text, logo_url text, address text, quality text, drm boolean) where s.id = r.id`,
      [JSON.stringify(rows)],
    );
    await this.#updateChannels(tx, old, numbers);
  }

  /** A channel follows its first source, but for the fields that a person set. */
  async #updateChannels(tx: Db, old: readonly (Placed & { source: Known })[], numbers: Numbers): Promise<void> {
    const leading = await rowsOf<ChannelRow & { source_id: string }>(
      tx,
      `select c.*, f.id as source_id from live_channels c join lateral (select s.id from live_sources s
         where s.channel_id = c.id order by s.position, s.id limit 1) f on true where f.id = any(?::uuid[])`,
      [old.map(({ source }) => source.id)],
    );
    const bySource = new Map(old.map((one) => [one.source.id, one]));
    const changes = leading.flatMap((row) => {
      const one = bySource.get(row.source_id);
      return one ? [this.#changeOf(row, one, numbers)] : [];
    });
    if (changes.length === 0) return;
    const differing = await rowsOf<{ id: string }>(
      tx,
      `update live_channels c set number = r.number, number_order = r.number_order, name = r.name, kind = r.kind, group_name = r.group_name
       from jsonb_to_recordset(?::jsonb) as r(id uuid, number text, number_order int, name text, kind text, group_name text)
       where c.id = r.id and (c.number, c.name, c.kind, c.group_name) is distinct from (r.number, r.name, r.kind, r.group_name)
       returning c.id`,
      [JSON.stringify(changes)],
    );
    const ids = new Set(differing.map(({ id }) => id));
    await changeChannelItems(tx, this.#tuner.library_id, changes.filter(({ id }) => ids.has(id)).map(itemOf));
    for (const id of ids) this.#changed.add(id);
  }

  #changeOf(row: ChannelRow, { entry, number }: Placed, numbers: Numbers): ChannelChange {
    const isLocked = (field: string): boolean => row.locked_fields.includes(field);
    const found = this.#channelOf(entry, number);
    const moves = !isLocked('number') && number !== row.number && (!row.enabled || numbers.take(number));
    const own = moves ? number : row.number;
    return {
      ...{ id: row.id, number: own, number_order: numberOrder(own), age_rating: row.age_rating },
      name: isLocked('name') ? row.name : found.name,
      kind: isLocked('kind') ? row.kind : found.kind,
      group_name: isLocked('group') ? row.group_name : found.group_name,
    };
  }

  /** Counts missing sources, drops those that are not chosen or pruned, and emits the events of the scan. Returns the number missing. */
  async settle(of: {
    known: readonly string[];
    seen: readonly string[];
    left: readonly string[];
    prune: boolean;
  }): Promise<number> {
    const { db } = this.#work;
    const here = new Set([...of.seen, ...of.left]);
    const missing = of.known.filter((id) => !here.has(id));
    return db.transaction(async (tx) => {
      await tx.raw('select id from libraries where id = ? for no key update', [this.#tuner.library_id]);
      await tx('live_sources').whereIn('id', missing).increment('missed_scans', 1);
      const gone = await this.#drop(tx, { left: of.left, missing: of.prune ? missing : [] });
      const channels = await tx('live_sources').where({ tuner_id: this.#tuner.id }).distinct().pluck('channel_id');
      for (const id of await deriveFromSources(tx, channels)) this.#changed.add(id);
      await this.#announce(tx);
      return missing.filter((id) => !gone.has(id)).length;
    });
  }

  async #drop(
    tx: Db,
    { left, missing }: { left: readonly string[]; missing: readonly string[] },
  ): Promise<Set<string>> {
    const rows = await rowsOf<{ id: string; channel_id: string }>(
      tx,
      `delete from live_sources where id = any(?::uuid[]) or (id = any(?::uuid[]) and missed_scans >= ?) returning id, channel_id`,
      [[...left], [...missing], PRUNED_AFTER],
    );
    const empty = await withoutSources(
      tx,
      rows.map((row) => row.channel_id),
    );
    await deleteChannelItems(tx, this.#tuner.library_id, empty);
    for (const id of empty) this.#changed.delete(id);
    return new Set(rows.map(({ id }) => id));
  }

  async #announce(tx: Db): Promise<void> {
    const libraryId = this.#tuner.library_id;
    const added = new Set(this.#new);
    const updated = [...this.#changed].filter((id) => !added.has(id));
    await emitChannels(tx, 'item.added', { libraryId, ids: this.#new });
    await emitChannels(tx, 'item.updated', { libraryId, ids: updated });
  }
}

/** Text that Postgres takes: no NUL, and no half of a character at the cut. */
const clean = (text: string, most: number): string => text.replaceAll('\0', '').slice(0, most).toWellFormed();
const cut = (text: string | undefined, most: number): string | null => (text === undefined ? null : clean(text, most));

const itemOf = ({ id, name, number, age_rating }: ChannelChange): ChannelItem => {
  return { id, title: name, number: wholeOf(number), ageRating: age_rating };
};
