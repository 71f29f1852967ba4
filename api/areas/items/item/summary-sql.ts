import { containersSql } from '#platform/item-types.ts';
import { resolutionSql, THERE } from '../kinds.ts';

/**
 * ItemSummary as JSON written by Postgres, so that a page is sent without parsing. Reads `items as i`, the caller's
 * state `s`, the parents `p` and `g`, and counts of a container `c`. Agents and scans write details and artwork, so
 * members that do not match the schema are left out.
 */

const UUID = `'^[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$'`;

const isKind = (value: string, kind: string): string => `jsonb_typeof(${value}) = '${kind}'`;
const isInt = (value: string): string => `(${isKind(value, 'number')} and (${value})::text !~ '[.]')`;
const isId = (value: string): string => `(${isKind(value, 'string')} and (${value} #>> '{}') ~* ${UUID})`;
const valid = (condition: string, value: string): string => `case when ${condition} then ${value} end`;
const text = (value: string): string => `to_json(${value})`;
const quoted = (value: string): string => `'"' || ${value} || '"'`;

/** Members of an object as text, for `concat`, without null values. `before` precedes the first member. */
const members = (all: Record<string, string>, before = ''): string =>
  Object.entries(all)
    .map(([name, value], i) => `'${i === 0 ? before : ','}"${name}":'::text || (${value})`)
    .join(', ');
const pairs = (members: Record<string, string>): string =>
  Object.entries(members)
    .map(([name, value]) => `'${name}', ${value}`)
    .join(', ');

/** ISO 8601 in UTC with milliseconds. */
const isoSql = (column: string): string => `to_char(${column} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;

function pictureSql(name: string): string {
  const at = (member: string): string => `i.artwork -> '${name}' -> '${member}'`;
  const shape = [
    isId(at('id')),
    ...['kind', 'version'].map((member) => isKind(at(member), 'string')),
    ...['width', 'height'].map((member) => isInt(at(member))),
    `jsonb_typeof(${at('blurhash')}) in ('string', 'null')`,
  ];
  const members = ['id', 'kind', 'width', 'height', 'blurhash', 'version'].map((one): [string, string] => [
    one,
    at(one),
  ]);
  return valid(shape.join(' and '), `'"${name}":' || json_build_object(${pairs(Object.fromEntries(members))})::text`);
}

const ARTWORK = `case when i.artwork = '{}' then '{}'
  else '{' || concat_ws(',', ${['poster', 'backdrop', 'thumb', 'logo'].map(pictureSql).join(', ')}) || '}' end`;

/** A list of `{id?, name}`. */
function namedSql(value: string): string {
  const good = `${isKind('one', 'object')} and ${isKind("one -> 'name'", 'string')}
    and (one -> 'id' is null or ${isId("one -> 'id'")})`;
  return `case when ${isKind(value, 'array')} then (
    select case when bool_and(coalesce(${good}, false)) is not false
      then json_strip_nulls(coalesce(json_agg(json_build_object('id', one -> 'id', 'name', one -> 'name')), '[]')) end
    from jsonb_array_elements(${value}) as one) end`;
}

const AIRS_BEFORE = valid(
  `${isInt("i.airs_before -> 'season'")} and (i.airs_before -> 'episode' is null or ${isInt("i.airs_before -> 'episode'")})`,
  `concat('{', ${members({ season: `i.airs_before -> 'season'`, episode: `i.airs_before -> 'episode'` })}, '}')`,
);

const AVAILABILITY = `case when i.availability = 'missing' then '"missing"'
  when i.file_count > 0 and not exists (select 1 from media_files f join storages st on st.id = f.storage_id
    where f.item_id = i.id and f.missing_since is null and ${THERE}) then '"unavailable"' end`;

const EDITIONS = `case when i.file_count > 1 then (select count(distinct coalesce(f.edition, '')) from media_files f
  where f.item_id = i.id and not f.ignored) end`;

/** `page 12 of 40` of a reading position `page:12`. */
const PROGRESS_LABEL = `'page ' || substring(s.reading ->> 'value' from '^page:([0-9]+)$')
  || case when ${isKind("i.details -> 'pages'", 'number')} then ' of ' || (i.details ->> 'pages') else '' end`;

const CONTAINER = `i.type = any(${containersSql})`;

const STATE = members({
  watched: `case when ${CONTAINER} then c.leaves > 0 and c.unwatched = 0 else coalesce(s.watched, false) end`,
  progress: `case when not ${CONTAINER} then least(1, greatest(0, coalesce(s.progress, 0)))::float4::text::float8
    when c.leaves > 0 then (c.leaves - c.unwatched)::float8 / c.leaves else 0 end`,
  positionMs: 'coalesce(s.position_ms, 0)',
  playCount: 'coalesce(s.play_count, 0)',
  lastPlayedAt: quoted(isoSql('s.last_played_at')),
  rating: 's.rating',
  favorite: 'coalesce(s.favorite, false)',
  inWatchlist: 'false',
});

const ABOUT = members({
  id: quoted('i.id'),
  libraryId: quoted('i.library_id'),
  type: text('coalesce(i.own_type, i.type)'),
  baseType: `case when i.own_type is not null then ${text('i.type')} end`,
  title: text('i.title'),
  sortTitle: text('i.sort_title'),
  originalTitle: text('i.original_title'),
  year: 'i.year',
  releasedOn: quoted('i.released_on'),
  parentId: quoted('i.parent_id'),
  parentTitle: text('p.title'),
  grandparentId: quoted('i.grandparent_id'),
  grandparentTitle: text('g.title'),
  index: 'i.index_number',
  indexEnd: 'i.index_end',
  parentIndex: 'i.parent_index',
  airsBefore: AIRS_BEFORE,
  addedAt: quoted(isoSql('i.added_at')),
  runtimeMs: 'i.runtime_ms',
  ageRating: text('i.age_rating'),
  rating: 'round(i.rating::numeric, 1)::float8',
  userState: `concat('{', ${STATE}, '}')`,
  availability: AVAILABILITY,
  childCount: valid(CONTAINER, 'c.children'),
  unwatchedCount: valid(CONTAINER, 'c.unwatched'),
  editionCount: EDITIONS,
  resolution: text(resolutionSql),
  hdr: text('i.hdr'),
  takenAt: quoted(isoSql('i.taken_at')),
  progressLabel: text(PROGRESS_LABEL),
});

const string = (name: string): string => valid(isKind(`i.details -> '${name}'`, 'string'), `i.details -> '${name}'`);

const DETAILS = {
  artists: namedSql(`i.details -> 'artists'`),
  authors: namedSql(`i.details -> 'authors'`),
  aspect: valid(isKind(`i.details -> 'aspect'`, 'number'), `i.details -> 'aspect'`),
  live: valid(isKind(`i.details -> 'live'`, 'boolean'), `i.details -> 'live'`),
  platform: string('platform'),
  number: string('number'),
  pages: valid(isInt(`i.details -> 'pages'`), `i.details -> 'pages'`),
};

/** Text of a summary; editors get more members. Null members are left out, except in pictures. */
export function summarySql(edit: boolean): string {
  const forEditors = { matched: 'i.matched', lockedFields: 'to_json(i.locked_fields)' };
  const more = members({ ...(edit && forEditors), artwork: ARTWORK }, ',');
  const details = `case when i.details <> '{}' then concat(${members(DETAILS, ',')}) end`;
  return `concat('{', ${ABOUT}, ${details}, ${more}, '}')`;
}
