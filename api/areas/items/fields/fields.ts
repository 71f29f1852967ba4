import { may, type Principal } from '#identity/principal.ts';
import { calendarDay, flag, folded, moment, scalar } from '#kernel/filter-sql.ts';
import { resolutionSql, THERE } from '../kinds.ts';
import { customFilters } from './custom-fields.ts';
import {
  above,
  ancestor,
  collected,
  credited,
  detail,
  detailNumber,
  externalId,
  foldedDetail,
  type ItemField,
  inList,
  inProgress,
  itemId,
  labelled,
  never,
  onFile,
  onStream,
  onVisiblePlace,
  tagged,
  takenDay,
  unwatched,
  watched,
} from './field-sql.ts';

/** The filter fields of items. Smart rules, saved filters and every other area use these names. */

const filmed = ['movie', 'show', 'season', 'episode', 'video', 'recording', 'program'];
const played = [...filmed, 'track', 'audiobook', 'lesson'];
const music = ['artist', 'album', 'track'];
const printed = ['author', 'book', 'audiobook', 'comic-series', 'comic'];
const pictures = ['photo', 'video', 'photo-album'];
const hasFiles = [
  'movie',
  'episode',
  'video',
  'track',
  'photo',
  'book',
  'audiobook',
  'comic',
  'game',
  'lesson',
  'recording',
];

const text = (label: string, sql: string): ItemField => ({ kind: 'text', label, where: folded(`foyer_fold(${sql})`) });
const detailText = (label: string, types: readonly string[], ...path: string[]): ItemField => ({
  kind: 'text',
  label,
  types,
  where: foldedDetail(...path),
});
const placeText = (label: string, name: string): ItemField => ({
  kind: 'text',
  label,
  types: pictures,
  where: onVisiblePlace(foldedDetail('place', name)),
});
const whole = (label: string, sql: string): ItemField => ({
  kind: 'number',
  label,
  integer: true,
  where: scalar(sql, 'bigint'),
});
const feature = (label: string, name: string): ItemField => ({
  kind: 'number',
  label,
  types: ['track'],
  where: scalar(detailNumber('features', name), 'double precision'),
});
const tag = (label: string, kind: string): ItemField => ({ kind: 'tag', label, facet: true, where: tagged(kind) });
const mine = { mine: true } as const;
const idField = (label: string, where: ItemField['where']): ItemField => ({
  kind: 'tag',
  label,
  operators: ['eq', 'ne', 'in', 'nin', 'exists'],
  where,
});

export const itemFields: Readonly<Record<string, ItemField>> = {
  type: { kind: 'enum', label: 'Type', where: scalar('coalesce(i.own_type, i.type)', 'text'), facet: true },
  title: { ...text('Title', 'i.title'), sort: 'title', indexed: true },
  original_title: text('Original title', 'i.original_title'),
  year: { ...whole('Year', 'i.year'), sort: 'year', indexed: true, facet: true },
  decade: { ...whole('Decade', '(i.year / 10 * 10)'), facet: true },
  released_on: {
    kind: 'date',
    label: 'Released',
    where: calendarDay('i.released_on'),
    sort: 'releasedOn',
    indexed: true,
  },
  added_at: { kind: 'date', label: 'Added', where: moment('i.added_at'), sort: 'addedAt', indexed: true },
  runtime_ms: {
    kind: 'duration',
    label: 'Length',
    where: scalar('i.runtime_ms', 'bigint'),
    sort: 'runtimeMs',
    indexed: true,
  },
  rating: {
    kind: 'number',
    label: 'Rating',
    where: scalar('i.rating', 'real'),
    sort: 'rating',
    indexed: true,
    facet: true,
  },
  age_rating: { kind: 'enum', label: 'Age rating', where: scalar('i.age_rating', 'text'), facet: true },
  genre: tag('Genre', 'genre'),
  tag: tag('Tag', 'tag'),
  label: { ...tag('Label', 'label'), where: labelled },
  studio: tag('Studio', 'studio'),
  network: { ...tag('Network', 'network'), types: filmed },
  country: tag('Country', 'country'),
  language: { ...tag('Language', 'language') },
  collection: { kind: 'tag', label: 'Collection', where: collected },
  person: { kind: 'person', label: 'Person', where: credited, facet: true },
  external_id: {
    kind: 'tag',
    label: 'External id',
    shape: /^[a-z0-9_-]{1,40}:.{1,200}$/i,
    operators: ['eq', 'ne', 'in', 'nin', 'exists'],
    where: externalId,
  },
  matched: { kind: 'boolean', label: 'Matched', where: flag('i.matched'), editors: true },
  locked: {
    kind: 'boolean',
    label: 'Has locked fields',
    where: flag('cardinality(i.locked_fields) > 0'),
    editors: true,
  },
  availability: {
    kind: 'enum',
    label: 'Availability',
    values: ['available', 'unavailable', 'missing'],
    where: scalar(
      `(case when i.availability = 'missing' then 'missing' when i.file_count > 0 and not exists (
        select 1 from media_files f join storages st on st.id = f.storage_id where f.item_id = i.id
          and f.missing_since is null and ${THERE}) then 'unavailable' else 'available' end)`,
      'text',
    ),
  },
  edition: { kind: 'text', label: 'Edition', types: hasFiles, where: onFile(folded('foyer_fold(f.edition)')) },
  resolution: {
    kind: 'enum',
    label: 'Resolution',
    types: filmed,
    values: ['sd', 'hd', 'fhd', '4k', '8k'],
    facet: true,
    where: scalar(resolutionSql, 'text'),
  },
  video_codec: {
    kind: 'enum',
    label: 'Video codec',
    types: [...filmed, 'lesson'],
    where: onStream('video', scalar('st.codec', 'text')),
  },
  audio_codec: {
    kind: 'enum',
    label: 'Audio codec',
    types: played,
    where: onStream('audio', scalar('st.codec', 'text')),
  },
  audio_language: {
    kind: 'language',
    label: 'Audio language',
    types: played,
    where: onStream('audio', scalar('st.language', 'text')),
  },
  subtitle_language: {
    kind: 'language',
    label: 'Subtitle language',
    types: [...filmed, 'lesson'],
    where: onStream('subtitle', scalar('st.language', 'text')),
  },
  hdr: {
    kind: 'enum',
    label: 'HDR',
    types: filmed,
    values: ['hdr10', 'hdr10plus', 'dolby-vision', 'hlg'],
    facet: true,
    where: scalar('i.hdr', 'text'),
  },
  container: { kind: 'enum', label: 'Container', types: hasFiles, where: onFile(scalar('f.container', 'text')) },
  size_bytes: {
    kind: 'bytes',
    label: 'Size',
    where: scalar('i.size_bytes', 'bigint'),
    sort: 'sizeBytes',
    indexed: true,
  },
  bitrate: { ...whole('Bitrate', 'i.bitrate'), types: played, sort: 'bitrate' },
  file_added_at: { kind: 'date', label: 'File added', types: hasFiles, where: onFile(moment('f.added_at')) },
  parent: idField('Parent', itemId('i.parent_id')),
  ancestor: idField('Anything above', ancestor),
  index: { ...whole('Number', 'i.index_number'), sort: 'index', indexed: true },
  artist: { kind: 'person', label: 'Artist', types: music, where: above('artist', 'artists') },
  album_artist: { kind: 'person', label: 'Album artist', types: music, where: above('artist', 'albumArtists') },
  author: { kind: 'person', label: 'Author', types: printed, where: above('author', 'authors') },
  narrator: { kind: 'person', label: 'Narrator', types: ['audiobook'], where: inList('narrators') },
  publisher: detailText('Publisher', [...printed, 'game', 'course'], 'publisher'),
  series: detailText('Series', printed, 'series', 'title'),
  platform: { ...detailText('Platform', ['game'], 'platform'), facet: true },
  number: detailText('Number', ['comic', 'channel'], 'number'),
  taken_at: {
    kind: 'date',
    label: 'Taken',
    types: pictures,
    where: moment('i.taken_at'),
    sort: 'takenAt',
    indexed: true,
  },
  taken_day: {
    kind: 'enum',
    label: 'Taken on this day of a year',
    types: pictures,
    shape: /^\d{2}-\d{2}$/,
    where: takenDay,
  },
  camera: { ...detailText('Camera', pictures, 'camera'), facet: true },
  lens: { ...detailText('Lens', pictures, 'lens'), facet: true },
  place_country: { ...placeText('Country of the place', 'country'), facet: true },
  place_city: { ...placeText('City of the place', 'city'), facet: true },
  has_location: {
    kind: 'boolean',
    label: 'Has a place',
    types: pictures,
    where: onVisiblePlace(flag(`${detail('place', 'latitude')} is not null`)),
  },
  face: { kind: 'person', label: 'Face', types: pictures, where: never },
  status: {
    kind: 'enum',
    label: 'Status',
    types: ['show'],
    values: ['ended', 'continuing', 'upcoming'],
    where: scalar(detail('status'), 'text'),
  },
  progress: {
    kind: 'number',
    label: 'Progress',
    where: scalar('coalesce(s.progress, 0)', 'real'),
    sort: 'progress',
    ...mine,
  },
  watched: { kind: 'boolean', label: 'Watched', where: watched, ...mine },
  unwatched: { kind: 'boolean', label: 'Unwatched', where: unwatched, ...mine },
  play_count: { ...whole('Plays', 'coalesce(s.play_count, 0)'), sort: 'playCount', indexed: true, ...mine },
  last_played: {
    kind: 'date',
    label: 'Last played',
    where: moment('s.last_played_at'),
    sort: 'lastPlayedAt',
    indexed: true,
    ...mine,
  },
  own_rating: { kind: 'number', label: 'My rating', where: scalar('s.rating', 'real'), ...mine },
  favorite: { kind: 'boolean', label: 'Favourite', where: flag('coalesce(s.favorite, false)'), ...mine },
  in_watchlist: { kind: 'boolean', label: 'On my watchlist', where: flag('false'), ...mine }, // not stored yet
  in_progress: { kind: 'boolean', label: 'Begun', where: inProgress, ...mine },
  started_reading: {
    kind: 'boolean',
    label: 'Begun to read',
    types: printed,
    where: flag('s.reading is not null'),
    ...mine,
  },
  tempo: feature('Tempo', 'tempo'),
  tempo_confidence: feature('Sureness of the tempo', 'tempoConfidence'),
  key: { kind: 'enum', label: 'Key', types: ['track'], where: scalar(detail('features', 'key'), 'text') },
  mode: { kind: 'enum', label: 'Mode', types: ['track'], where: scalar(detail('features', 'mode'), 'text') },
  camelot: { kind: 'enum', label: 'Camelot', types: ['track'], where: scalar(detail('features', 'camelot'), 'text') },
  loudness: feature('Loudness', 'loudness'),
  energy: feature('Energy', 'energy'),
  dynamics: feature('Dynamics', 'dynamics'),
  brightness: feature('Brightness', 'brightness'),
  percussive: feature('Percussive', 'percussive'),
  vocal: feature('Vocal', 'vocal'),
  mood_calm: feature('Calm', 'moodCalm'),
  mood_happy: feature('Happy', 'moodHappy'),
  mood_sad: feature('Sad', 'moodSad'),
  mood_intense: feature('Intense', 'moodIntense'),
};

export const itemFieldNames: readonly string[] = Object.keys(itemFields);

/** The fields that the caller may use for `types`; an empty list is every type. */
export function fieldsFor(who: Principal, types: readonly string[]): Record<string, ItemField> {
  const edits = may(who, 'item:edit');
  return Object.fromEntries(
    Object.entries({ ...itemFields, ...customFilters(who) }).filter(([, field]) => {
      if (field.editors && !edits) return false;
      return !field.types || types.length === 0 || field.types.some((type) => types.includes(type));
    }),
  );
}
