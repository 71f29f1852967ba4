// Lookups of works over all loaded packs.
import { folded } from '../agents/score.ts';
import type { Db } from '../db.ts';
import { rowsOf } from '../rows.ts';
import { idsOf, type Work } from './work.ts';

/** A work with the pack whose version of it is the newest. */
export interface FoundWork {
  work: Work;
  packId: string;
}

interface FoundRow {
  doc: Work;
  pack_id: string;
}

/** Rows of one lookup; more works with one title cannot be distinguished. */
const MOST = 200;
const MOST_CHILDREN = 5000;
/** A search by likeness of a short common word reads much of the index. */
const ALIKE_MS = 1000;

const SELECT = `select w.doc, p.id as pack_id from spine_works w join spine_packs p on p.number = w.pack`;
const NEWEST = 'p.built_at desc, w.key';

/** Works that have one of the ids, as `scheme:value`. */
export async function worksByIds(db: Db, ids: readonly string[], kind?: string): Promise<FoundWork[]> {
  if (ids.length === 0) return [];
  const rows = await rowsOf<FoundRow>(
    db,
    `${SELECT} where w.ids && ?::text[] and (?::text is null or w.kind = ?) order by ${NEWEST} limit ${MOST}`,
    [[...ids], kind ?? null, kind ?? null],
  );
  return merged(rows);
}

export interface Title {
  titles: readonly string[];
  kind?: string | undefined;
  year?: number | undefined;
}

/** Works with one of the titles, or with an alias of it; those of about the year first. */
export async function worksByTitle(db: Db, { titles, kind, year }: Title): Promise<FoundWork[]> {
  const names = [...new Set(titles.map(folded))].filter((name) => name !== '');
  if (names.length === 0) return [];
  const rows = await rowsOf<FoundRow>(
    db,
    `${SELECT} where w.names && ?::text[] and (?::text is null or w.kind = ?)
      order by abs(w.year - ?::int) nulls last, ${NEWEST} limit ${MOST}`,
    [names, kind ?? null, kind ?? null, year ?? null],
  );
  return merged(rows);
}

/** Works with a title like the given one. A search that takes too long finds none. */
export async function worksAlike(db: Db, title: string, kind?: string): Promise<FoundWork[]> {
  const name = folded(title);
  if (name.length < 3) return [];
  const search = async (tx: Db): Promise<FoundRow[]> => {
    await tx.raw(`set local statement_timeout = ${ALIKE_MS}`);
    await tx.raw('set local pg_trgm.word_similarity_threshold = 0.7');
    return rowsOf<FoundRow>(
      tx,
      `${SELECT} where ?::text <% w.words and (?::text is null or w.kind = ?)
        order by word_similarity(?::text, w.words) desc, ${NEWEST} limit ${MOST}`,
      [name, kind ?? null, kind ?? null, name],
    );
  };
  try {
    return merged(await db.transaction(search));
  } catch (error) {
    if ((error as { code?: string }).code === '57014') return [];
    throw error;
  }
}

/** Direct parts of a work, by its place there. */
export async function worksIn(db: Db, parent: Work): Promise<FoundWork[]> {
  const keys = idsOf(parent).map((id) => `${parent.kind}/${id}`);
  const rows = await rowsOf<FoundRow>(
    db,
    `${SELECT} where w.parent = any(?::text[]) order by w.place nulls last, ${NEWEST} limit ${MOST_CHILDREN}`,
    [keys],
  );
  return merged(rows);
}

/** One work for all rows of a kind that share an id. Of two fields that of the row in front counts. */
function merged(rows: readonly FoundRow[]): FoundWork[] {
  const byId = new Map<string, FoundWork>();
  const all: FoundWork[] = [];
  for (const { doc, pack_id: packId } of rows) {
    const ids = idsOf(doc).map((id) => `${doc.kind}/${id}`);
    const known = ids.map((id) => byId.get(id)).find((one) => one !== undefined);
    const found = known ?? { work: doc, packId };
    if (known) known.work = combined(known.work, doc);
    else all.push(found);
    for (const id of ids) byId.set(id, found);
  }
  return all;
}

function combined(newer: Work, older: Work): Work {
  const given = Object.entries(newer).filter(([, value]) => !(Array.isArray(value) && value.length === 0));
  return { ...older, ...Object.fromEntries(given), ids: { ...older.ids, ...newer.ids } } as Work;
}

const LONGEST_SCAN_MS = 120_000;
const MOST_FILMS = 500;

/** Films of all packs with a first release in these days. It reads every film of the years, so only jobs use it. */
export async function filmsOfDays(db: Db, { from, to }: { from: string; to: string }): Promise<Work[]> {
  const years = [...new Set([from, to].map((day) => Number(day.slice(0, 4))))];
  return db.transaction(async (tx) => {
    await tx.raw(`set local statement_timeout = ${LONGEST_SCAN_MS}`);
    const rows = await rowsOf<FoundRow>(
      tx,
      `${SELECT} where w.kind = 'movie' and w.year = any(?::int[]) and w.doc ->> 'releasedOn' between ? and ?
        order by w.doc ->> 'releasedOn' desc, ${NEWEST} limit ${MOST_FILMS}`,
      [years, from, to],
    );
    return merged(rows).map(({ work }) => work);
  });
}
