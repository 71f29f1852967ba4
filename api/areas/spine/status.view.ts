import { may } from '#identity/principal.ts';
import { limitsItems, visibleLibraryIds } from '#identity/visibility.ts';
import type { Call } from '#kernel/endpoint.ts';
import type { Db } from '#platform/db.ts';
import { rowsOf } from '#platform/rows.ts';
import { trustedKeysOf } from '#platform/spine/manifest.ts';
import { listPacks, openImport, type PackRow, readSpineState } from '#platform/spine/packs.store.ts';
import { bytesOfWorks } from '#platform/spine/partitions.store.ts';
import { counted, type SpinePack, type SpineStatus } from './spine.schemas.ts';

const HOUR = 3_600_000;
/** Ids of open data by which an item is known. */
const PROVIDERS = ['wikidata', 'musicbrainz', 'musicbrainzReleaseGroup', 'openlibrary'];
const IDENTIFIED_TYPES = ['movie', 'show', 'artist', 'album', 'book', 'audiobook'];

const sum = (works: Readonly<Record<string, number>>): number =>
  Object.values(works).reduce((all, one) => all + one, 0);

export const worksIn = ({ works }: Pick<PackRow, 'works'>): number => sum(works);

export function toPack(row: PackRow): SpinePack {
  return {
    ...{ id: row.id, name: row.name, version: row.version, kinds: row.kinds as SpinePack['kinds'] },
    ...{ languages: row.languages, works: worksIn(row), sizeBytes: row.size_bytes },
    signedBy: { keyId: row.key_id, name: row.key_name },
    ...{ builtAt: row.built_at.toISOString(), sources: row.sources, sha256: row.sha256 },
    importedAt: row.imported_at.toISOString(),
    ...(row.imported_by && { importedBy: row.imported_by }),
  };
}

/** The loaded packs; with `library:manage` also how they are kept up to date. */
export async function readStatus(call: Call): Promise<SpineStatus> {
  const { db, who } = call;
  const packs = await listPacks(db);
  const works = Object.fromEntries(
    counted.map((kind) => [kind, packs.reduce((all, pack) => all + (pack.works[kind] ?? 0), 0)]),
  ) as SpineStatus['works'];
  const status = { installed: packs.length > 0, packs: packs.map(toPack), works, sizeBytes: await bytesOfWorks(db) };
  return may(who, 'library:manage') ? { ...status, ...(await upkeepOf(call)) } : status;
}

async function upkeepOf(call: Call): Promise<Partial<SpineStatus>> {
  const { db, who, deps } = call;
  const state = await readSpineState(db);
  const job = await openImport(db);
  const url = deps.settings.get('spine.url');
  const added = await db('settings').where({ key: 'spine.trustedKeys' }).first('updated_at');
  const at = (added?.updated_at ?? new Date(0)).toISOString();
  const { available } = state ?? {};
  return {
    ...(!limitsItems(who.sees) && { coverage: await coverageOf(call) }),
    ...(job && { importing: { jobId: job.id, progress: job.progress, phase: phaseOf(job.checkpoint) } }),
    ...(available && {
      available: {
        ...{ version: available.version, sizeBytes: available.sizeBytes, delta: available.base !== undefined },
        publishedAt: new Date(available.publishedAt).toISOString(),
      },
    }),
    ...(state?.last_check_at && { lastCheckAt: state.last_check_at.toISOString() }),
    ...(url !== null && { source: { url, auto: deps.settings.get('spine.auto') } }),
    trustedKeys: trustedKeysOf(deps.settings.get('spine.trustedKeys')).map(({ id, name }) => ({
      id,
      name,
      addedAt: at,
    })),
  };
}

type Phase = NonNullable<SpineStatus['importing']>['phase'];
const phaseOf = (checkpoint: unknown): Phase => (checkpoint as { phase?: Phase } | null)?.phase ?? 'fetching';

interface Counted {
  id: string;
  name: string;
  items: number;
  identified: number;
}

const rollups = new WeakMap<object, { at: number; rows: Counted[] }>();

/** Of the libraries that the caller sees, counted at most once an hour. */
async function coverageOf({ db, who, deps, now }: Call): Promise<NonNullable<SpineStatus['coverage']>> {
  const kept = rollups.get(deps.db);
  const isOld = !kept || now.getTime() - kept.at > HOUR;
  const rows = isOld ? await count(db) : kept.rows;
  if (isOld) rollups.set(deps.db, { at: now.getTime(), rows });
  const seen = new Set(
    await visibleLibraryIds(
      db,
      who,
      rows.map(({ id }) => id),
    ),
  );
  return rows
    .filter(({ id }) => seen.has(id))
    .map(({ id, name, items, identified }) => ({
      ...{ libraryId: id, name, items, identified },
      percent: items === 0 ? 100 : Math.round((identified / items) * 1000) / 10,
    }));
}

const count = (db: Db): Promise<Counted[]> =>
  rowsOf<Counted>(
    db,
    `select l.id, l.name, count(i.id)::int as items,
        count(i.id) filter (where jsonb_exists_any(i.external_ids, ?::text[]))::int as identified
       from libraries l left join items i on i.library_id = l.id and i.trashed_at is null and i.type = any(?::text[])
      where l.deleted_at is null group by l.id, l.name order by l.name, l.id`,
    [PROVIDERS, IDENTIFIED_TYPES],
  );
