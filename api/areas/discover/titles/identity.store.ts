// The identity table: every id by which a title is known.
import type { ListedTitle, TitleKind } from '#platform/agents/listed-title.ts';
import type { Db } from '#platform/db.ts';
import { newId } from '#platform/ids.ts';
import { rowsOf } from '#platform/rows.ts';

/** Schemes in the order in which the first one names a title. An item of this server has `item` while nothing identifies it. */
export const schemes = ['wikidata', 'imdb', 'tmdb', 'tvdb', 'item'] as const;
const FORMS: Readonly<Record<string, RegExp>> = {
  ...{ wikidata: /^Q\d{1,12}$/, imdb: /^tt\d{5,10}$/, tmdb: /^\d{1,12}$/, tvdb: /^\d{1,12}$/ },
  item: /^[0-9a-f-]{36}$/,
};

export type Ids = Readonly<Record<string, string>>;

/** The ids that name a title, in the forms of their schemes. */
export const namingIds = (ids: Ids): [scheme: string, value: string][] =>
  schemes.flatMap((scheme) => {
    const value = ids[scheme];
    return value !== undefined && FORMS[scheme]?.test(value) ? [[scheme, value] as [string, string]] : [];
  });

/** The id of a title in answers; undefined without any id. */
export function titleIdOf(kind: TitleKind, ids: Ids): string | undefined {
  const [first] = namingIds(ids);
  return first && `${kind}:${first.join(':')}`;
}

export interface NamedId {
  kind: TitleKind;
  scheme: string;
  value: string;
}

/** The parts of a title id. `spine:<scheme>.<value>` names a work by an id that it has in its pack. */
export function partsOf(titleId: string): NamedId {
  const [kind = '', scheme = '', ...rest] = titleId.split(':');
  const value = rest.join(':');
  if (scheme !== 'spine') return { kind: kind as TitleKind, scheme, value };
  const at = value.indexOf('.');
  return { kind: kind as TitleKind, scheme: value.slice(0, at), value: value.slice(at + 1) };
}

/** A title to remember. */
export interface Learned {
  title: ListedTitle;
  ageYears: number | null;
  /** The provider of its poster. */
  posterFrom?: string | undefined;
}

interface IdRow extends NamedId {
  title_id: string;
}

/** Remembers titles with their ids, and returns the id of the row of each. Titles that an id shows to be one become one. */
export async function learnTitles(db: Db, all: readonly Learned[]): Promise<string[]> {
  if (all.length === 0) return [];
  return db.transaction(async (tx) => {
    await tx.raw(`select pg_advisory_xact_lock(hashtext('foyer.discover'))`);
    const index = new Index(
      await knownRows(
        tx,
        all.map(({ title }) => title),
      ),
    );
    const ids: string[] = [];
    for (const one of all) ids.push(await learn(tx, index, one));
    return ids;
  });
}

/** All ids of every title that one of these may be. */
async function knownRows(db: Db, titles: readonly ListedTitle[]): Promise<IdRow[]> {
  const wanted = titles.flatMap(({ kind, ids }) => namingIds(ids).map(([scheme, value]) => ({ kind, scheme, value })));
  return rowsOf<IdRow>(
    db,
    `select kind, scheme, value, title_id from discover_ids where title_id in (
       select d.title_id from discover_ids d join jsonb_to_recordset(?::jsonb) as w(kind text, scheme text, value text)
         using (kind, scheme, value))`,
    [JSON.stringify(wanted)],
  );
}

/** Rows of the identity table in memory, while titles are learned. */
class Index {
  readonly #byId = new Map<string, string>();
  readonly #ofTitle = new Map<string, NamedId[]>();

  constructor(rows: readonly IdRow[]) {
    for (const row of rows) this.add(row.title_id, row);
  }

  find = ({ kind, scheme, value }: NamedId): string | undefined => this.#byId.get(`${kind}:${scheme}:${value}`);

  add(titleId: string, { kind, scheme, value }: NamedId): void {
    this.#byId.set(`${kind}:${scheme}:${value}`, titleId);
    this.#ofTitle.set(titleId, [...(this.#ofTitle.get(titleId) ?? []), { kind, scheme, value }]);
  }

  /** Whether two titles have different ids of one scheme. */
  differ(a: string, b: string): boolean {
    const ids = new Map((this.#ofTitle.get(a) ?? []).map(({ scheme, value }) => [scheme, value]));
    return (this.#ofTitle.get(b) ?? []).some(({ scheme, value }) => (ids.get(scheme) ?? value) !== value);
  }

  /** The title has another id of that scheme. */
  conflicts(titleId: string, { scheme, value }: NamedId): boolean {
    return (this.#ofTitle.get(titleId) ?? []).some((one) => one.scheme === scheme && one.value !== value);
  }

  move(from: string, to: string): void {
    for (const id of this.#ofTitle.get(from) ?? []) this.add(to, id);
    this.#ofTitle.delete(from);
  }
}

async function learn(db: Db, index: Index, one: Learned): Promise<string> {
  const { kind } = one.title;
  const ids = namingIds(one.title.ids).map(([scheme, value]) => ({ kind, scheme, value }));
  const [first, ...others] = [...new Set(ids.flatMap((id) => index.find(id) ?? []))].sort();
  const titleId = first ?? newId();
  for (const other of others) {
    if (index.differ(titleId, other)) continue;
    await mergeInto(db, titleId, other);
    index.move(other, titleId);
  }
  await writeTitle(db, titleId, one);
  for (const id of ids) {
    if (index.find(id) !== undefined || index.conflicts(titleId, id)) continue;
    await db('discover_ids').insert({ ...id, title_id: titleId });
    index.add(titleId, id);
  }
  return titleId;
}

/** Lists and details of the other title are made again; its offers stay. */
async function mergeInto(db: Db, titleId: string, other: string): Promise<void> {
  await db('discover_ids').where({ title_id: other }).update({ title_id: titleId });
  await db.raw(
    `update discover_offers o set title_id = :to where title_id = :from and not exists (
       select from discover_offers t where t.title_id = :to and t.country = o.country and t.service_id = o.service_id and t.kind = o.kind)`,
    { to: titleId, from: other },
  );
  await db('discover_titles').where({ id: other }).delete();
}

async function writeTitle(db: Db, id: string, { title, ageYears, posterFrom }: Learned): Promise<void> {
  const { kind, year, poster, adult = false } = title;
  await db('discover_titles')
    .insert({
      ...{ id, kind, title: title.title.slice(0, 500), year: year ?? null, age_years: ageYears, adult },
      ...{ poster_path: poster ?? null, poster_provider: poster === undefined ? null : (posterFrom ?? null) },
    })
    .onConflict('id')
    .merge({
      title: db.raw('excluded.title'),
      year: db.raw('coalesce(excluded.year, discover_titles.year)'),
      age_years: db.raw('least(excluded.age_years, discover_titles.age_years)'),
      adult: db.raw('excluded.adult or discover_titles.adult'),
      poster_path: db.raw('coalesce(excluded.poster_path, discover_titles.poster_path)'),
      poster_provider: db.raw('coalesce(excluded.poster_provider, discover_titles.poster_provider)'),
      used_at: db.raw('now()'),
    });
}

/** The row of a title by one of its ids. */
export async function findTitle(db: Db, { kind, scheme, value }: NamedId): Promise<string | undefined> {
  const row = await db('discover_ids').where({ kind, scheme, value }).first('title_id');
  return row?.title_id;
}

/** The ids of titles, one of each scheme. */
export async function idsOfTitles(db: Db, titleIds: readonly string[]): Promise<Map<string, Record<string, string>>> {
  const rows = await db('discover_ids')
    .whereRaw('title_id = any(?::uuid[])', [[...titleIds]])
    .orderBy(['title_id', 'scheme', 'value'])
    .select('title_id', 'scheme', 'value');
  const found = new Map<string, Record<string, string>>();
  for (const { title_id: id, scheme, value } of rows) {
    const ids = found.get(id) ?? {};
    ids[scheme] ??= value;
    found.set(id, ids);
  }
  return found;
}

/** Films and shows of the libraries with an id that the table lacks. */
export async function titlesToLearn(db: Db, most: number): Promise<string[]> {
  const rows = await rowsOf<{ id: string }>(
    db,
    `select i.id from items i where i.type in ('movie', 'show') and i.trashed_at is null and i.extra_of is null
       and exists (select from jsonb_each_text(i.external_ids) as x(scheme, value)
         where x.scheme in ('wikidata', 'imdb', 'tmdb', 'tvdb') and x.value ~ '^(Q|tt|)\\d{1,12}$' and not exists (
           select from discover_ids d where d.kind = i.type and d.scheme = x.scheme and d.value = x.value))
       order by i.id desc limit ?`,
    [most],
  );
  return rows.map(({ id }) => id);
}
