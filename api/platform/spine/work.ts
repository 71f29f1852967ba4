// One row of a pack: a work as the catalogues of open data know it.
import { z } from 'zod';

export const workKinds = ['movie', 'show', 'season', 'episode', 'artist', 'album', 'track', 'book', 'person'] as const;
export type WorkKind = (typeof workKinds)[number];

/** Providers of ids, in the order in which the first one names a work. */
export const idSchemes = [
  ...([
    'wikidata',
    'musicbrainzReleaseGroup',
    'musicbrainz',
    'openlibrary',
    'imdb',
    'tmdb',
    'tvdb',
    'anilist',
  ] as const),
  'viaf',
] as const;

/** Longest row in bytes. */
export const MAX_ROW_BYTES = 64 * 1024;

/** No control characters and no half characters, and nothing around it. */
const isPlain = (text: string): boolean => {
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code < 32 || (code >= 127 && code < 160)) return false;
  }
  return text.isWellFormed();
};
const text = (max: number) => z.string().min(1).max(max).refine(isPlain, 'plain text');
const Id = z.string().regex(/^[\w.-]{1,64}$/);

const Ids = z
  .strictObject({
    ...(Object.fromEntries(idSchemes.map((name) => [name, Id.optional()])) as Record<
      (typeof idSchemes)[number],
      z.ZodOptional<typeof Id>
    >),
    isbn: z
      .array(z.string().regex(/^[\dX]{10,13}$/))
      .max(20)
      .optional(),
  })
  .refine((ids) => idSchemes.some((name) => ids[name] !== undefined), 'at least one id besides the ISBN');
export type WorkIds = z.output<typeof Ids>;

const FewIds = z.record(Id, Id).refine((ids) => Object.keys(ids).length <= 10, 'at most ten ids');
const Day = z.string().regex(/^\d{4}-\d{2}-\d{2}$/);
const Index = z.int().min(0).max(100_000);
const Language = z.string().regex(/^[A-Za-z]{2,3}(-[A-Za-z\d]{1,8}){0,3}$/);

/** A row that is a work. Its members are those of SpineWork; `former` lists ids of works that were merged into it. */
export const Work = z.strictObject({
  kind: z.enum(workKinds),
  ids: Ids,
  title: text(500),
  originalTitle: text(500).optional(),
  aliases: z
    .array(z.strictObject({ title: text(500), language: Language.optional() }))
    .max(50)
    .default([]),
  year: z.int().min(-3000).max(2200).optional(),
  releasedOn: Day.optional(),
  runtimeMs: z.int().min(0).max(1e9).optional(),
  countries: z
    .array(z.string().regex(/^[A-Z]{2}$/))
    .max(20)
    .default([]),
  languages: z.array(Language).max(20).default([]),
  genres: z.array(text(100)).max(20).default([]),
  creators: z
    .array(z.strictObject({ name: text(200), role: text(40), ids: FewIds.default({}) }))
    .max(50)
    .default([]),
  parent: z.strictObject({ kind: z.enum(workKinds), ids: Ids, title: text(500), index: Index.optional() }).optional(),
  series: z.strictObject({ title: text(500), index: text(20).optional() }).optional(),
  description: text(1000).optional(),
  imageHint: text(300).optional(),
  links: z
    .partialRecord(
      z.enum(['official', 'article']),
      z
        .string()
        .max(2000)
        .regex(/^https?:\/\//)
        .refine(isPlain),
    )
    .optional(),
  former: z
    .array(z.string().regex(/^[A-Za-z]{2,40}:[\w.-]{1,64}$/))
    .max(50)
    .optional(),
});
export type Work = z.output<typeof Work>;

/** A row of a delta that withdraws a work of the version that it names. */
const Gone = z.strictObject({ gone: z.string().max(150) });

const Row = z.union([Work, Gone]);
export type Row = z.output<typeof Row>;

/** The row does not have the shape of a work. */
export class BadRow extends Error {}

/** Throws `BadRow`. */
export function readRow(line: string): Row {
  if (line.length > MAX_ROW_BYTES) throw new BadRow('a row is too long');
  const given = jsonOf(line);
  const isGone = given !== null && typeof given === 'object' && 'gone' in given;
  const parsed = (isGone ? Gone : Work).safeParse(given);
  if (parsed.success) return parsed.data;
  const at = parsed.error.issues[0]?.path.join('.') || 'the row';
  throw new BadRow(`a row breaks the schema at ${at.slice(0, 200)}`);
}

function jsonOf(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    throw new BadRow('a row is no JSON');
  }
}

/** The name of a work in its pack: its kind, and the first of its ids. */
export function keyOf({ kind, ids }: { kind: string; ids: WorkIds }): string {
  const scheme = idSchemes.find((name) => ids[name] !== undefined);
  return `${kind}/${scheme}:${scheme && ids[scheme]}`;
}

export const rowKey = (row: Row): string => ('gone' in row ? row.gone : keyOf(row));

/** All ids of a work as `scheme:value`, those of works that became part of it among them. */
export const idsOf = ({ ids: { isbn = [], ...ids }, former = [] }: Pick<Work, 'ids' | 'former'>): string[] => [
  ...Object.entries(ids).flatMap(([scheme, id]) => (id === undefined ? [] : [`${scheme}:${id}`])),
  ...isbn.map((one) => `isbn:${one}`),
  ...former,
];
