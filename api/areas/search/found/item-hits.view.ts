import { findItemSummaries, type ItemSummary } from '#areas/items/public.ts';
import type { Principal } from '#identity/principal.ts';
import type { Db } from '#platform/db.ts';
import { rowsOf } from '#platform/rows.ts';
import type { Matched, SearchHit } from '../search.schemas.ts';
import { excerpt, marksIn, type Wanted } from './marks.ts';

export interface Scored {
  id: string;
  score: number;
}

interface Texts {
  id: string;
  overview: string | null;
  people: string[];
  studios: string[];
  tags: string[];
}

const TEXTS = `select i.id, i.overview,
    array(select p.name from credits c join people p on p.id = c.person_id where c.item_id = i.id order by c.position, c.id limit 30) as people,
    array(select t.name from item_tags t where t.item_id = i.id and t.kind in ('studio', 'network')) as studios,
    array(select t.name from item_tags t where t.item_id = i.id and t.kind in ('genre', 'tag', 'collection')) as tags
  from items i where i.id = any(?::uuid[])`;

/** Hits of visible items in this order, with what matched in each. */
export async function itemHits(
  { db, who }: { db: Db; who: Principal },
  rows: readonly Scored[],
  wanted: Wanted,
): Promise<SearchHit[]> {
  if (rows.length === 0) return [];
  const ids = rows.map(({ id }) => id);
  const [summaries, texts] = await Promise.all([findItemSummaries(db, who, ids), rowsOf<Texts>(db, TEXTS, [ids])]);
  const found = new Map(texts.map((row) => [row.id, row]));
  return rows.flatMap(({ id, score }): SearchHit[] => {
    const item = summaries.get(id);
    const text = found.get(id);
    if (!item || !text) return [];
    const subtitle = subtitleOf(item);
    const image = imageOf(item);
    const shown = { title: item.title, ...(subtitle && { subtitle }), ...(image && { image }) };
    return [{ kind: kindOf(item), id, item, ...shown, ...matchedIn(item, text, wanted), score }];
  });
}

/** Channels and programmes are watched live, so they are a kind of their own. */
function kindOf({ type }: ItemSummary): SearchHit['kind'] {
  return type === 'channel' || type === 'program' ? type : 'item';
}

/** Year; show and number of an episode; artist or author. */
export function subtitleOf(item: ItemSummary): string | undefined {
  const above = item.grandparentTitle ?? item.parentTitle;
  if (item.type === 'episode') return [above ?? '', numberOf(item)].filter(Boolean).join(' · ') || undefined;
  const makers = [...(item.artists ?? []), ...(item.authors ?? [])].map(({ name }) => name);
  return makers[0] ?? above ?? item.year?.toString();
}

const numberOf = ({ parentIndex, index }: ItemSummary): string =>
  index === undefined ? '' : `S${parentIndex ?? 0} E${index}`;

/** The picture of an item in a list. */
export const imageOf = ({ artwork }: ItemSummary) => artwork.poster ?? artwork.thumb ?? artwork.logo;

interface Part {
  matched: Matched;
  field: string;
  text: string;
}

function matchedIn(item: ItemSummary, texts: Texts, wanted: Wanted): Pick<SearchHit, 'matched' | 'highlight'> {
  const parts: Part[] = [
    { matched: 'title', field: 'title', text: item.title },
    ...(item.originalTitle
      ? [{ matched: 'original-title', field: 'originalTitle', text: item.originalTitle } as const]
      : []),
    ...texts.people.map((text) => ({ matched: 'person', field: 'person', text }) as const),
    ...texts.studios.map((text) => ({ matched: 'studio', field: 'studio', text }) as const),
    ...texts.tags.map((text) => ({ matched: 'tag', field: 'tag', text }) as const),
    ...(texts.overview ? [{ matched: 'overview', field: 'overview', text: texts.overview } as const] : []),
  ];
  const marked = parts.map((part) => ({ ...part, ...marksIn(part.text, wanted) })).filter(({ covered }) => covered > 0);
  const best = marked.reduce<(typeof marked)[number] | undefined>(
    (most, one) => (most && most.covered >= one.covered ? most : one),
    undefined,
  );
  const shown = marked.filter((one) => one === best || one.matched === 'title').slice(0, 3);
  const highlight = shown.map(({ field, text, marks }) => ({ field, ...excerpt(text, marks) }));
  return { matched: best?.matched ?? 'title', ...(highlight.length > 0 && { highlight }) };
}
